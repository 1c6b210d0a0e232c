/** What an answer, or the lack of one, means for a delivery. See decisions/0023. */
import type { FailureCode, Outcome } from '../egress/index.ts'
import type { DeliveryConfig } from './deliver-config.ts'

/** Why a delivery was not acknowledged, as it stands in the records. */
export type DeliveryError =
  | 'status_not_200'
  | 'redirect'
  | 'client_error'
  | 'rate_limited'
  | 'server_error'
  | 'timeout'
  | 'dns'
  | 'connect'
  | 'reset'
  | 'protocol'
  | 'tls'
  | 'refused'

export interface Judgement {
  /** none: nothing was attempted (the process is stopping); the delivery stays as it was. */
  outcome: 'delivered' | 'transient' | 'definitive' | 'none'
  /** What it says about the consumer's capacity. */
  pace: 'up' | 'down' | 'same'
  status?: number
  error?: DeliveryError
  detail?: string
  response?: string
  /** The consumer's own wish, unbounded. */
  retryAfterMs?: number
}

const RESPONSE_CHARS_MAX = 300

const ERROR_OF: Partial<Record<FailureCode, DeliveryError>> = {
  TIMEOUT: 'timeout',
  DNS: 'dns',
  CONNECT: 'connect',
  RESET: 'reset',
  PROTOCOL: 'protocol',
  EGRESS_REFUSED_URL: 'refused',
  EGRESS_REFUSED_ADDRESS: 'refused',
  INVALID_REQUEST: 'refused'
}

export function judge(outcome: Outcome, nowMs: number): Judgement {
  if (outcome.kind === 'failure') {
    if (outcome.code === 'ABORTED') return { outcome: 'none', pace: 'same' }
    return {
      outcome: outcome.class === 'transient' ? 'transient' : 'definitive',
      pace: 'down',
      status: outcome.status,
      error: ERROR_OF[outcome.code] ?? (outcome.code.startsWith('TLS') ? 'tls' : 'protocol'),
      detail: outcome.message
    }
  }
  const { status, headers, body } = outcome
  // "The consumer returns status 200." How long its answer is does not matter: the rest is not read.
  if (status === 200) return { outcome: 'delivered', pace: 'up', status }
  const judged = { status, response: excerpt(body) }
  if (status >= 300 && status < 400) {
    const detail = `Answered ${status} to ${one(headers.location) ?? 'nowhere'}; redirects are never followed`
    return { ...judged, outcome: 'definitive', pace: 'same', error: 'redirect', detail }
  }
  const retryAfterMs = parseRetryAfter(one(headers['retry-after']), nowMs)
  const detail = `Answered ${status}; only 200 acknowledges a delivery`
  const transient = { ...judged, outcome: 'transient', detail, retryAfterMs } as const
  if (status === 429) return { ...transient, pace: 'down', error: 'rate_limited' }
  if (status >= 500) return { ...transient, pace: 'down', error: 'server_error' }
  if (status >= 400) return { ...transient, pace: 'same', error: 'client_error' }
  return { ...transient, pace: 'same', error: 'status_not_200' }
}

const one = (header: string | string[] | undefined) => (Array.isArray(header) ? header[0] : header)

/** Readable first characters of an answer. */
export function excerpt(body: Buffer): string | undefined {
  if (body.length === 0) return undefined
  // Four bytes are the longest character.
  const text = body.subarray(0, RESPONSE_CHARS_MAX * 4).toString('utf8')
  return text.replace(/[\u0000-\u0008\u000b-\u001f\u007f]/g, '\ufffd').slice(0, RESPONSE_CHARS_MAX)
}

/** Seconds or an HTTP date; undefined when it is neither. */
export function parseRetryAfter(value: string | undefined, nowMs: number): number | undefined {
  if (value === undefined) return undefined
  if (/^\s*\d{1,10}\s*$/.test(value)) return Number(value) * 1_000
  const at = Date.parse(value)
  return Number.isNaN(at) ? undefined : Math.max(0, at - nowMs)
}

type Schedule = Pick<DeliveryConfig, 'retryDelaysMs' | 'jitter' | 'retryAfterMaxMs'>

/** Milliseconds until the attempt after this many, or undefined when there is none. `random` is in [0, 1). */
export function retryDelayMs(
  attempts: number,
  { retryDelaysMs, jitter, retryAfterMaxMs }: Schedule,
  random: number,
  retryAfterMs = 0
): number | undefined {
  const scheduled = retryDelaysMs[attempts - 1]
  if (scheduled === undefined) return undefined
  return Math.round(Math.max(scheduled, Math.min(retryAfterMs, retryAfterMaxMs)) * (1 + jitter * random))
}
