/** Challenge-response checks: does whoever answers at this URL know the app's consumer secret? */
import { randomBytes } from 'node:crypto'
import { gunzipSync } from 'node:zlib'
import type { Egress, Outcome } from '../egress/index.ts'
import { sameSecret } from '../identity/secrets.ts'
import { signature } from './sign.ts'
import type { CrcClass } from './validity.ts'

/** What was observed, for the record and for the developer who has to mend it. */
export interface CrcResult {
  outcome: CrcClass
  status: number | null
  latency_ms: number
  /** A code such as WRONG_TOKEN, REDIRECT, TIMEOUT; null when it passed. */
  error: string | null
  /** One sentence that says what was seen and what to do. */
  detail: string | null
  /** First bytes of the answer. */
  response: string | null
}

const RESPONSE_BYTES_MAX = 64 * 1024
const EXCERPT_CHARACTERS = 200

/** Base64url of random bytes: an alphabet in which nobody can have us sign an event of their making. */
const opaque = (bytes: number) => randomBytes(bytes).toString('base64url')

/** `crc_token` and `nonce` behind whatever query the URL has; the fragment never leaves. */
export function challengeUrl(url: string, crcToken: string, nonce: string) {
  const { href } = new URL(url)
  const bare = href.split('#', 1)[0]!
  const challenge = `crc_token=${crcToken}&nonce=${nonce}`
  const joined = !bare.includes('?')
    ? `${bare}?${challenge}`
    : bare.endsWith('?')
      ? `${bare}${challenge}`
      : `${bare}&${challenge}`
  return { url: joined, query: joined.slice(joined.indexOf('?') + 1) }
}

export interface CrcOptions {
  egress: Pick<Egress, 'send'>
  deadlineMs: number
  signatureHeader: string
}

export async function checkCrc(
  { egress, deadlineMs, signatureHeader }: CrcOptions,
  url: string,
  secrets: readonly string[]
): Promise<CrcResult> {
  const crcToken = opaque(32)
  const challenge = challengeUrl(url, crcToken, opaque(16))
  const outcome = await egress.send({
    url: challenge.url,
    method: 'GET',
    headers: {
      accept: 'application/json',
      'user-agent': 'Herald-Webhooks/1',
      [signatureHeader]: signature(secrets[0]!, challenge.query)
    },
    deadlineMs,
    responseBytesMax: RESPONSE_BYTES_MAX
  })
  return classifyCrc(
    outcome,
    secrets.map((secret) => signature(secret, crcToken)),
    deadlineMs
  )
}

/** Either of the expected tokens passes: during a rotation the consumer may still answer with the former secret. */
export function classifyCrc(outcome: Outcome, expected: readonly string[], deadlineMs: number): CrcResult {
  const latency_ms = Math.round(outcome.timings.total)
  if (outcome.kind === 'failure') {
    const timeout = outcome.code === 'TIMEOUT'
    return {
      outcome: outcome.class === 'definitive' ? 'definitive' : 'transient',
      status: null,
      latency_ms,
      error: outcome.code,
      detail: timeout ? `no complete answer within ${deadlineMs / 1000} s` : outcome.message,
      response: null
    }
  }
  const { status, headers } = outcome
  const encoding = String(headers['content-encoding'] ?? 'identity').toLowerCase()
  const text = decoded(outcome.body, encoding)
  const excerpt = (text ?? outcome.body.toString('utf8')).replaceAll('\0', '').slice(0, EXCERPT_CHARACTERS)
  const seen = { status, latency_ms, response: excerpt }
  if (status >= 300 && status < 400) {
    return {
      ...seen,
      outcome: 'definitive',
      error: 'REDIRECT',
      detail: `status ${status}: a CRC is never redirected; register the final URL`
    }
  }
  if (status < 200 || status >= 300) {
    return { ...seen, outcome: 'transient', error: `HTTP_${status}`, detail: `status ${status} instead of 200` }
  }
  if (text === undefined) {
    const detail = `the answer announces content-encoding ${encoding.slice(0, 40)}, and its body is something else`
    return { ...seen, outcome: 'definitive', error: 'NO_TOKEN', detail }
  }
  const token = responseToken(text)
  if (token !== undefined && expected.some((each) => sameSecret(each, token))) {
    return { ...seen, outcome: 'pass', error: null, detail: null, response: null }
  }
  const detail =
    token === undefined
      ? 'the body is not JSON with a "response_token"'
      : "Invalid `response_token`: it must be sha256= and the base64 HMAC-SHA256 of crc_token with the app's consumer secret (not the client secret)"
  return { ...seen, outcome: 'definitive', error: token === undefined ? 'NO_TOKEN' : 'WRONG_TOKEN', detail }
}

/** Nobody asked for gzip, but some proxies always send it. undefined: the body is not what its header says. */
function decoded(body: Buffer, encoding: string): string | undefined {
  if (encoding === 'identity' || encoding === '') return new TextDecoder().decode(body)
  if (encoding !== 'gzip' && encoding !== 'x-gzip') return undefined
  try {
    return new TextDecoder().decode(gunzipSync(body, { maxOutputLength: RESPONSE_BYTES_MAX }))
  } catch {
    return undefined
  }
}

function responseToken(text: string): string | undefined {
  try {
    const parsed = JSON.parse(text) as { response_token?: unknown } | null
    return typeof parsed?.response_token === 'string' ? parsed.response_token : undefined
  } catch {
    return undefined
  }
}

/** `URL returned bad response during CRC with error: …` and everything that was observed. */
export function describeFailure({ detail, status, latency_ms, response }: CrcResult) {
  const observed = [
    status === null ? undefined : `status ${status}`,
    `after ${latency_ms} ms`,
    response ? `body starts with ${JSON.stringify(response)}` : undefined
  ]
  return `URL returned bad response during CRC with error: ${detail} (${observed.filter(Boolean).join(', ')})`
}
