/** OAuth 1.0a request signatures by RFC 5849: parse, base string, sign, verify. Pure; knows no HTTP framework. */
import { createHmac, randomBytes, timingSafeEqual } from 'node:crypto'

/** A request as its client saw it. */
export interface SignableRequest {
  method: string
  /** `http` or `https`. */
  scheme: string
  /** Host with its port if one was given: the Host header, or what a trusted proxy or the configuration says. */
  host: string
  /** Path and query exactly as they arrived. */
  rawUrl: string
  contentType?: string | undefined
  rawBody?: Buffer | string | null | undefined
}

export const SIGNATURE_METHODS = { 'HMAC-SHA1': 'sha1', 'HMAC-SHA256': 'sha256' } as const
export type SignatureMethod = keyof typeof SIGNATURE_METHODS

/** How far a client's clock may be off in either direction. Not specified; see decisions/0017. */
export const TIMESTAMP_WINDOW_SECONDS = 300
/** A callback may be long; nothing else is. */
const PARAMETER_LENGTH_MAX = 2000

export interface OAuthCredentials {
  consumerKey: string
  /** Absent on the first leg (request_token). */
  token?: string
  signatureMethod: SignatureMethod
  signature: string
  timestamp: number
  nonce: string
  /** Every oauth_ parameter as sent, decoded, with the signature. */
  parameters: Map<string, string>
}

// Text is handled as "binary strings" (one character per byte) between decoding and encoding, so that a value that is
// not valid UTF-8 is still signed byte for byte.
const fromUtf8 = (text: string) => Buffer.from(text, 'utf8').toString('latin1')
const toUtf8 = (binary: string) => Buffer.from(binary, 'latin1').toString('utf8')

const UNRESERVED_ONLY = /^[A-Za-z0-9\-._~]*$/
const encodeByte = (char: string) => `%${char.charCodeAt(0).toString(16).toUpperCase().padStart(2, '0')}`
const encodeBinary = (binary: string) =>
  UNRESERVED_ONLY.test(binary) ? binary : binary.replace(/[^A-Za-z0-9\-._~]/g, encodeByte)
const decodeBinary = (text: string) =>
  text.includes('%')
    ? text.replace(/%([0-9A-Fa-f]{2})/g, (_, hex: string) => String.fromCharCode(Number.parseInt(hex, 16)))
    : text

/** RFC 3986: only `A-Z a-z 0-9 - . _ ~` stay literal. */
export const percentEncode = (text: string) => encodeBinary(fromUtf8(text))

type Pair = readonly [name: string, value: string]

/** The pairs of a query string or form body, decoded; `+` is a space, a repeated key stays repeated. */
function formPairs(text: string): Pair[] {
  if (text === '') return []
  return text
    .split('&')
    .filter((part) => part !== '')
    .map((part) => {
      const equals = part.indexOf('=')
      const name = equals < 0 ? part : part.slice(0, equals)
      const value = equals < 0 ? '' : part.slice(equals + 1)
      return [decodeBinary(name.replaceAll('+', ' ')), decodeBinary(value.replaceAll('+', ' '))]
    })
}

/** A Node server hands over header and URL bytes as latin1; a test or a client may hold real Unicode. */
const asBinary = (text: string) => (/[^\u0000-\u00ff]/.test(text) ? fromUtf8(text) : text)

const isForm = (contentType: string | undefined) =>
  contentType !== undefined &&
  contentType.split(';', 1)[0]!.trim().toLowerCase() === 'application/x-www-form-urlencoded'

const DEFAULT_PORTS: Record<string, string> = { http: ':80', https: ':443' }

/** `scheme://host[:port]/path`, lower-cased, default port dropped (RFC 5849, 3.4.1.2). */
export function baseStringUri({ scheme, host, rawUrl }: Pick<SignableRequest, 'scheme' | 'host' | 'rawUrl'>) {
  const lowerScheme = scheme.toLowerCase()
  const defaultPort = DEFAULT_PORTS[lowerScheme]
  let authority = host.trim().toLowerCase()
  if (defaultPort !== undefined && authority.endsWith(defaultPort)) authority = authority.slice(0, -defaultPort.length)
  return `${lowerScheme}://${authority}${splitUrl(rawUrl).path}`
}

function splitUrl(rawUrl: string) {
  // A client talking to a proxy may send the absolute form; the authority is given separately.
  const origin = asBinary(rawUrl).replace(/^[A-Za-z][A-Za-z0-9+.-]*:\/\/[^/?#]*/, '')
  const url = origin.split('#', 1)[0]!
  const mark = url.indexOf('?')
  const path = mark < 0 ? url : url.slice(0, mark)
  return { path: path.startsWith('/') ? path : `/${path}`, query: mark < 0 ? '' : url.slice(mark + 1) }
}

/** The text that is signed (RFC 5849, 3.4.1). `oauth` holds the oauth_ parameters; a signature among them is left out. */
export function signatureBaseString(request: SignableRequest, oauth: Iterable<Pair>) {
  const pairs = formPairs(splitUrl(request.rawUrl).query)
  if (request.rawBody && isForm(request.contentType)) {
    const body = typeof request.rawBody === 'string' ? fromUtf8(request.rawBody) : request.rawBody.toString('latin1')
    pairs.push(...formPairs(body))
  }
  for (const [name, value] of oauth) {
    if (name !== 'oauth_signature' && name !== 'realm') pairs.push([fromUtf8(name), fromUtf8(value)])
  }
  const normalized = pairs
    .map(([name, value]) => [encodeBinary(name), encodeBinary(value)] as const)
    .sort(([nameA, valueA], [nameB, valueB]) => compare(nameA, nameB) || compare(valueA, valueB))
    .map(([name, value]) => `${name}=${value}`)
    .join('&')
  return `${request.method.toUpperCase()}&${encodeBinary(baseStringUri(request))}&${encodeBinary(normalized)}`
}

const compare = (a: string, b: string) => (a < b ? -1 : a > b ? 1 : 0)

function hmac(method: SignatureMethod, baseString: string, consumerSecret: string, tokenSecret: string) {
  const key = `${percentEncode(consumerSecret)}&${percentEncode(tokenSecret)}`
  return createHmac(SIGNATURE_METHODS[method], key).update(baseString).digest()
}

/** The oauth_ parameters of an `Authorization: OAuth …` header, or undefined if it does not hold what is required. */
export function parseOAuthHeader(authorization: string): OAuthCredentials | undefined {
  if (!/^OAuth\s/i.test(authorization)) return undefined
  const parameters = new Map<string, string>()
  for (const part of authorization.slice(6).split(',')) {
    if (part.trim() === '') continue
    const match = /^\s*([^\s="]+)\s*=\s*"([^"]*)"\s*$/.exec(part)
    if (!match) return undefined
    const name = toUtf8(decodeBinary(asBinary(match[1]!)))
    if (name === 'realm') continue
    const value = toUtf8(decodeBinary(asBinary(match[2]!)))
    // No database stores a null character, so no credential has one.
    if (parameters.has(name) || value.length > PARAMETER_LENGTH_MAX || value.includes('\0')) return undefined
    parameters.set(name, value)
  }
  const consumerKey = parameters.get('oauth_consumer_key')
  const signatureMethod = parameters.get('oauth_signature_method')
  const signature = parameters.get('oauth_signature')
  const timestamp = parameters.get('oauth_timestamp')
  const nonce = parameters.get('oauth_nonce')
  const token = parameters.get('oauth_token')
  const version = parameters.get('oauth_version')
  if (!consumerKey || !signature || !nonce || !timestamp || !/^[0-9]{1,12}$/.test(timestamp)) return undefined
  if (!signatureMethod || !Object.hasOwn(SIGNATURE_METHODS, signatureMethod)) return undefined
  if (version !== undefined && version !== '1.0') return undefined
  return {
    consumerKey,
    ...(token ? { token } : {}),
    signatureMethod: signatureMethod as SignatureMethod,
    signature,
    timestamp: Number(timestamp),
    nonce,
    parameters
  }
}

/** Whether the signature was made with one of the consumer secrets (two are valid while one is being rotated). */
export function verifySignature(
  request: SignableRequest,
  credentials: OAuthCredentials,
  consumerSecrets: readonly string[],
  tokenSecret = ''
) {
  const baseString = signatureBaseString(request, credentials.parameters)
  const given = Buffer.from(credentials.signature, 'base64')
  let matches = false
  for (const secret of consumerSecrets) {
    const expected = hmac(credentials.signatureMethod, baseString, secret, tokenSecret)
    if (given.length === expected.length && timingSafeEqual(given, expected)) matches = true
  }
  return matches
}

export const isTimely = (timestampSeconds: number, nowMs: number) =>
  Math.abs(timestampSeconds - Math.floor(nowMs / 1000)) <= TIMESTAMP_WINDOW_SECONDS

export interface SigningKeys {
  consumerKey: string
  consumerSecret: string
  token?: string
  tokenSecret?: string
}

export interface SigningOptions {
  /** A random one unless given. */
  nonce?: string
  timestamp: number
  signatureMethod?: SignatureMethod
  /** More oauth_ parameters: oauth_callback, oauth_verifier. */
  extra?: Record<string, string>
}

/** The Authorization header with which a client sends `request`. */
export function signRequest(request: SignableRequest, keys: SigningKeys, options: SigningOptions) {
  const signatureMethod = options.signatureMethod ?? 'HMAC-SHA1'
  const parameters: Pair[] = [
    ['oauth_consumer_key', keys.consumerKey],
    ['oauth_nonce', options.nonce ?? randomBytes(16).toString('hex')],
    ['oauth_signature_method', signatureMethod],
    ['oauth_timestamp', String(options.timestamp)],
    ...(keys.token === undefined ? [] : [['oauth_token', keys.token] as const]),
    ['oauth_version', '1.0'],
    ...Object.entries(options.extra ?? {})
  ]
  const baseString = signatureBaseString(request, parameters)
  const signature = hmac(signatureMethod, baseString, keys.consumerSecret, keys.tokenSecret ?? '').toString('base64')
  return `OAuth ${[...parameters, ['oauth_signature', signature] as const]
    .map(([name, value]) => `${percentEncode(name)}="${percentEncode(value)}"`)
    .join(', ')}`
}
