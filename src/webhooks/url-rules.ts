/** Which URLs may be registered: https, no port, no user, no surprises. Whether the address is public is the egress guard's business. */
import type { Egress } from '../egress/index.ts'
import { invalidBecause } from '../http/problems.ts'

export const URL_LENGTH_MAX = 200

const refuse = (url: string, why: string) =>
  invalidBecause('UrlValidationFailed', why, { parameters: { url: [url.slice(0, URL_LENGTH_MAX)] } })

/** The form in which two spellings of one URL are equal. */
export function checkUrlRules(url: string): string {
  if (url.length === 0 || url.length > URL_LENGTH_MAX)
    throw refuse(url, `the URL must have 1 to ${URL_LENGTH_MAX} characters`)
  // The parser would quietly drop these.
  if (/[\s\p{Cc}\\]/u.test(url) || !URL.canParse(url)) throw refuse(url, 'this is not a URL')
  const parsed = new URL(url)
  if (parsed.protocol !== 'https:') throw refuse(url, 'the URL must use https')
  const authority = /^https:\/*([^/?#]*)/i.exec(url)?.[1] ?? ''
  if (authority.includes('@')) throw refuse(url, 'the URL must not contain a user name or password')
  // The parser hides :443, so the text decides: a port is a port.
  if (/:\d*$/.test(authority.replace(/\[[^\]]*\]/, ''))) throw refuse(url, 'the URL must not contain a port')
  parsed.hash = ''
  return parsed.href
}

/** Also asks the egress guard, which resolves the name. */
export async function checkedUrl(egress: Pick<Egress, 'check'>, url: string): Promise<string> {
  const key = checkUrlRules(url)
  const verdict = await egress.check(key, { schemes: ['https'] })
  if (!verdict.ok) throw refuse(url, `the URL is not publicly reachable: ${verdict.message}`)
  return key
}
