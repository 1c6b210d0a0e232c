/** What a replay may ask for: a range of whole minutes within the past 24 hours. See decisions/0027. */
import { invalidRequest } from '../http/problems.ts'

export const REPLAY_WINDOW_HOURS = 24
export const MINUTE_PATTERN = '^[0-9]{12}$'

const MINUTE_MS = 60_000
const WINDOW_MS = REPLAY_WINDOW_HOURS * 3_600_000

/** The reason that consumers of this API know for everything that is wrong with these parameters. */
const REASON = 'QueryParamInvalid'

export interface ReplayRange {
  fromMs: number
  toMs: number
}

interface Refusal {
  message: string
  parameters?: Record<string, string[]>
}

/** What the schema refused, in the same words as what only the clock can refuse. */
export const inReplayWords = (refusals: readonly Refusal[]) =>
  invalidRequest(...refusals.map((refusal) => ({ ...refusal, message: `${REASON}: ${refusal.message}` })))

/** `yyyymmddhhmm` in UTC; undefined for what no calendar has. */
export function parseMinute(text: string): number | undefined {
  const [, year, month, day, hour, minute] = /^(\d{4})(\d{2})(\d{2})(\d{2})(\d{2})$/.exec(text)?.map(Number) ?? []
  const ms = Date.UTC(year ?? NaN, (month ?? NaN) - 1, day, hour, minute)
  // The calendar would carry month 13 or minute 60 over to the next.
  return !Number.isNaN(ms) && formatMinute(ms) === text ? ms : undefined
}

const formatMinute = (ms: number) => new Date(ms).toISOString().replace(/\D/g, '').slice(0, 12)

/** Minutes are compared with minutes: the current one is not the future, and the one 24 hours ago is not too old. */
export function checkReplayRange(input: { from_date: string; to_date: string }, nowMs: number): ReplayRange {
  const thisMinuteMs = Math.floor(nowMs / MINUTE_MS) * MINUTE_MS
  const refusals: Refusal[] = []
  const times = (['from_date', 'to_date'] as const).map((name) => {
    const given = input[name]
    const refuse = (message: string) =>
      refusals.push({ message: `\`${name}\` [${given}] ${message}`, parameters: { [name]: [given] } })
    const ms = parseMinute(given)
    if (ms === undefined) refuse('is not a date and time in the form yyyymmddhhmm, UTC')
    else if (ms > thisMinuteMs) refuse(`is not in the past; it is ${formatMinute(nowMs)} UTC now`)
    else if (ms < thisMinuteMs - WINDOW_MS)
      refuse(
        `is more than ${REPLAY_WINDOW_HOURS} hours ago; the earliest now is ${formatMinute(thisMinuteMs - WINDOW_MS)}`
      )
    return ms
  })
  const [fromMs = NaN, toMs = NaN] = times
  if (fromMs >= toMs)
    refusals.push({
      message: `\`from_date\` [${input.from_date}] must be before \`to_date\` [${input.to_date}]`,
      parameters: { from_date: [input.from_date], to_date: [input.to_date] }
    })
  if (refusals.length > 0) throw inReplayWords(refusals)
  return { fromMs, toMs }
}
