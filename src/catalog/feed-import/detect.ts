/** What a file is by its first bytes, and what to say when it is not what the feed claims. */
import { fieldIndexOf } from './columns.ts'
import { FeedError } from './rows.ts'

export type FeedFormat = 'CSV' | 'TSV' | 'XML'

/** So many bytes are enough to tell. */
export const HEAD_BYTES = 4096

const GZIP = Buffer.of(0x1f, 0x8b)
export const isGzip = (head: Buffer) => head.subarray(0, 2).equals(GZIP)

const bytes = (hex: string) => Buffer.from(hex, 'hex')

/** Files that are no text, with what to do about them. */
const BINARY_FORMATS: readonly (readonly [start: Buffer, what: string, advice: string])[] = [
  [bytes('504b0304'), 'a ZIP archive or an Excel workbook', 'Export it as CSV, or compress it with gzip instead.'],
  [bytes('d0cf11e0'), 'an Excel workbook', 'Export it as CSV.'],
  [bytes('25504446'), 'a PDF document', 'Export the products as CSV.'],
  [bytes('377abcaf'), 'a 7z archive', 'Compress it with gzip, or not at all.'],
  [bytes('425a68'), 'a bzip2 archive', 'Compress it with gzip, or not at all.'],
  [bytes('fd377a585a'), 'an xz archive', 'Compress it with gzip, or not at all.'],
  [bytes('28b52ffd'), 'a zstd archive', 'Compress it with gzip, or not at all.'],
  [bytes('1f8b'), 'compressed twice', 'Compress it once.']
]

/** Throws unless the first (unpacked) bytes of a file may belong to the format. */
export function checkFormat(head: Buffer, format: FeedFormat) {
  for (const [start, what, advice] of BINARY_FORMATS) {
    if (head.subarray(0, start.length).equals(start)) throw wrongFormat(`is ${what}. ${advice}`)
  }
  if (isUtf16(head)) throw new FeedError('NOT_UTF8', 'The file is in UTF-16. Save it as UTF-8.', { byte: 0 })

  const text = head
    .toString('utf8')
    .replace(/^\uFEFF/, '')
    .trimStart()
  const seen = textFormat(text)
  if (seen === undefined || seen === format) return
  if (seen === 'HTML') throw wrongFormat('is a web page (HTML), such as a login or error page. Check the feed address.')
  if (seen === 'JSON')
    throw wrongFormat(`is JSON, but the feed says ${format}. Publish the products as CSV, TSV or XML.`)
  throw wrongFormat(
    `looks like ${seen}, but the feed says ${format}. Change feed_format to ${seen}, or publish ${format}.`
  )
}

const wrongFormat = (rule: string) => new FeedError('WRONG_FORMAT', `The file ${rule}`)

/** By its byte order mark, or by every second byte being zero as in plain words. */
function isUtf16(head: Buffer): boolean {
  const [first, second, third, fourth] = head
  if ((first === 0xff && second === 0xfe) || (first === 0xfe && second === 0xff)) return true
  return head.length >= 4 && ((first === 0 && third === 0) || (second === 0 && fourth === 0))
}

function textFormat(text: string): FeedFormat | 'HTML' | 'JSON' | undefined {
  if (/^<(?:!doctype html|html)\b/i.test(text)) return 'HTML'
  if (text.startsWith('<')) return 'XML'
  if (/^(?:\{\s*["}]|\[\s*[{["\]])/.test(text)) return 'JSON'
  const header = /^[^\r\n]*/.exec(text)![0]
  const fieldsBy = (separator: string) =>
    header.split(separator).filter((name) => fieldIndexOf(name.replaceAll('"', '')) !== undefined).length
  const byComma = fieldsBy(',')
  const byTab = fieldsBy('\t')
  // One name alone fits either; several names decide.
  if (Math.max(byComma, byTab) < 2) return undefined
  return byTab > byComma ? 'TSV' : 'CSV'
}
