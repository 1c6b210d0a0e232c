/** From a URL to the place it names, before any address is known. */
import { EgressError } from './failures.ts'

export type Scheme = 'http' | 'https'

export interface Target {
  /** scheme://host[:port], what connections are pooled by. */
  origin: string
  secure: boolean
  /** Lower-case name or canonical address, without the brackets of IPv6. */
  host: string
  port: number
  /** Path and query as they go on the wire. */
  path: string
}

/** RFC 1035: 253 characters, and a dot at the end. */
const HOST_LENGTH_MAX = 254

const refuse = (message: string) => new EgressError('EGRESS_REFUSED_URL', message)

/** Reads a URL as browsers do (WHATWG), which also brings every spelling of an IPv4 address to dotted decimals. */
export function parseTarget(text: string, schemes: readonly Scheme[] = ['https']): Target {
  const url = URL.parse(text)
  if (!url) throw refuse('The URL cannot be read; write it as https://host/path')
  if (!schemes.includes(url.protocol.slice(0, -1) as Scheme)) {
    throw refuse(`The URL must begin with ${schemes.map((scheme) => `${scheme}://`).join(' or ')}`)
  }
  if (url.username !== '' || url.password !== '') throw refuse('The URL must not contain a user name or password')
  const secure = url.protocol === 'https:'
  const { hostname } = url
  if (hostname.length > HOST_LENGTH_MAX) throw refuse('The host name of the URL is too long')
  return {
    origin: url.origin,
    secure,
    host: hostname.startsWith('[') ? hostname.slice(1, -1) : hostname,
    port: url.port === '' ? (secure ? 443 : 80) : Number(url.port),
    path: url.pathname + url.search
  }
}
