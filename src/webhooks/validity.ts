/** When a webhook is valid: the table of document 1, as data and as the one function that applies it. docs/states/webhook.md shows it. */

export const REVALIDATE_AFTER_HOURS = 24
export const INVALID_AFTER_HOURS = 28
export const CRC_EVERY_MINUTES = 30

const HOUR_MS = 3_600_000

/** What a CRC check came to. `definitive`: wrong token on 2XX, 3XX, TLS failure. `transient`: 4XX, 5XX, timeout, closed connection. */
export type CrcClass = 'pass' | 'definitive' | 'transient'

export interface Transition {
  from: 'valid' | 'invalid'
  trigger: 'CRC check' | 'PUT /2/webhooks/:webhook_id' | 'time'
  crc: CrcClass | 'any' | 'none'
  /** Whether the last success lies more than 28 hours back; null where that does not matter. */
  overdue: boolean | null
  to: 'valid' | 'invalid'
}

/** PUT first re-enables; then its CRC decides by the rows of a valid webhook. */
export const TRANSITIONS: readonly Transition[] = [
  { from: 'valid', trigger: 'CRC check', crc: 'pass', overdue: null, to: 'valid' },
  { from: 'valid', trigger: 'CRC check', crc: 'definitive', overdue: null, to: 'invalid' },
  { from: 'valid', trigger: 'CRC check', crc: 'transient', overdue: false, to: 'valid' },
  { from: 'valid', trigger: 'CRC check', crc: 'transient', overdue: true, to: 'invalid' },
  { from: 'valid', trigger: 'time', crc: 'none', overdue: true, to: 'invalid' },
  { from: 'invalid', trigger: 'PUT /2/webhooks/:webhook_id', crc: 'any', overdue: null, to: 'valid' },
  { from: 'invalid', trigger: 'CRC check', crc: 'any', overdue: null, to: 'invalid' }
]

/** "No successful validation for more than 28 hours." */
export const isOverdue = (lastSuccessMs: number, nowMs: number) => nowMs - lastSuccessMs > INVALID_AFTER_HOURS * HOUR_MS

export function stateAfterCrc(from: 'valid' | 'invalid', crc: CrcClass, overdue: boolean): 'valid' | 'invalid' {
  const row = TRANSITIONS.find(
    (t) =>
      t.trigger === 'CRC check' &&
      t.from === from &&
      (t.crc === crc || t.crc === 'any') &&
      (t.overdue === null || t.overdue === overdue)
  )
  return row!.to
}

/** What a webhook waits for next: a check, or the moment its time is up. */
export type NextStep = { at: number; what: 'check' | 'expire' }

/** Checks begin 24 hours after the last success and repeat every 30 minutes; past 28 hours of failures a valid webhook expires. */
export function nextStep(webhook: { valid: boolean; lastSuccessMs: number; lastCrcMs: number | null }): NextStep {
  const firstCheck = webhook.lastSuccessMs + REVALIDATE_AFTER_HOURS * HOUR_MS
  const check =
    webhook.lastCrcMs === null ? firstCheck : Math.max(firstCheck, webhook.lastCrcMs + CRC_EVERY_MINUTES * 60_000)
  const expiry = webhook.lastSuccessMs + INVALID_AFTER_HOURS * HOUR_MS + 1
  // Only a failed check in those last hours tells that errors repeat; without one, a check comes first.
  const hasFailed = webhook.lastCrcMs !== null && webhook.lastCrcMs >= firstCheck
  return webhook.valid && hasFailed && expiry < check ? { at: expiry, what: 'expire' } : { at: check, what: 'check' }
}
