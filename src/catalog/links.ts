/** Product and image URLs. */
import { URL_CHARS_MAX } from './product-fields.ts'

// What nearly every feed holds: a lower-case host with a letter domain and only characters that need no encoding.
// Each alternative starts with a character that the one before it cannot contain, so that a match is linear.
const PLAIN_URL = /^https?:\/\/(?:[a-z0-9-]+\.)+[a-z]{2,63}(?:[/?#][!#-;=?-[\]_a-z~]*)?$/

/** Whether WHATWG URL parsing would accept the text as an absolute http or https URL, without white space in it. */
function isHttpUrl(text: string): boolean {
  if (PLAIN_URL.test(text)) return true
  if (/[\s\u0000-\u001f\u007f]/.test(text)) return false
  const url = URL.parse(text)
  return url !== null && (url.protocol === 'https:' || url.protocol === 'http:') && /^https?:\/\/[^/\\]/i.test(text)
}

export interface LinkProblem {
  code: 'INVALID_URL' | 'NOT_HTTPS' | 'TOO_LONG'
  /** Continues the sentence "link "x" …". */
  rule: string
}

/** A product page must use https. */
export function explainLink(text: string): LinkProblem | undefined {
  if (text.startsWith('https://') && text.length <= URL_CHARS_MAX && isHttpUrl(text)) return undefined
  const problem = explainImageLink(text)
  if (problem) return problem
  if (/^https:/i.test(text)) return undefined
  return { code: 'NOT_HTTPS', rule: 'does not use https. Give the https:// address of the page.' }
}

/** An image may be fetched over http or https. */
export function explainImageLink(text: string): LinkProblem | undefined {
  if (text.length > URL_CHARS_MAX) {
    return { code: 'TOO_LONG', rule: `is longer than ${URL_CHARS_MAX} characters. Use a shorter address.` }
  }
  if (isHttpUrl(text)) return undefined
  if (/\s/.test(text)) return { code: 'INVALID_URL', rule: 'contains white space. Write a space in an address as %20.' }
  if (/^www\./i.test(text)) return { code: 'INVALID_URL', rule: `is not a URL. Write "https://${text.slice(0, 60)}".` }
  return { code: 'INVALID_URL', rule: 'is not a URL. Write the full address, beginning with https://.' }
}

/** File name endings of formats that are certainly not JPG, GIF, WEBP or PNG; anything else is told by the image itself. */
const OTHER_FORMATS: ReadonlySet<string> = new Set(
  'avif bmp eps heic heif htm html ico jp2 mov mp4 pdf psd svg svgz tif tiff webm'.split(' ')
)

/** The ending of an image address that names a format we cannot show, or undefined. */
export function otherImageFormat(url: string): string | undefined {
  if (url.endsWith('.jpg') || url.endsWith('.png') || url.endsWith('.webp')) return undefined
  const dot = url.lastIndexOf('.')
  if (dot < url.length - 5) return undefined
  const ending = url.slice(dot + 1).toLowerCase()
  return OTHER_FORMATS.has(ending) ? ending : undefined
}
