/** sale_price_effective_date: two ISO 8601 instants joined by `/`, to the minute or the second, with an offset or Z. */

const INSTANT = /^\d{4}-\d{2}-\d{2}T\d{2}:\d{2}(?::\d{2}(?:\.\d{1,9})?)?(?:Z|[+-]\d{2}(?::?\d{2})?)$/

const digit = (text: string, at: number) => text.charCodeAt(at) - 48
const twoDigits = (text: string, at: number) => digit(text, at) * 10 + digit(text, at + 1)

const DAYS_OF_MONTH = [31, 28, 31, 30, 31, 30, 31, 31, 30, 31, 30, 31]
const isLeapYear = (year: number) => year % 4 === 0 && (year % 100 !== 0 || year % 400 === 0)
const daysOfMonth = (year: number, month: number) =>
  (DAYS_OF_MONTH[month - 1] ?? 0) + (month === 2 && isLeapYear(year) ? 1 : 0)

/** Milliseconds since the epoch, or undefined for anything that is not a real moment (such as 30 February). */
export function parseInstant(text: string): number | undefined {
  if (!INSTANT.test(text)) return undefined
  const year = twoDigits(text, 0) * 100 + twoDigits(text, 2)
  const month = twoDigits(text, 5)
  const day = twoDigits(text, 8)
  const hour = twoDigits(text, 11)
  const minute = twoDigits(text, 14)
  const second = text[16] === ':' ? twoDigits(text, 17) : 0
  if (day < 1 || day > daysOfMonth(year, month) || hour > 23 || minute > 59 || second > 59) return undefined

  const zone = offsetMinutes(text)
  if (zone === undefined) return undefined
  // Date.UTC reads years below 100 as 19xx; 400 years later the calendar is the same.
  const epochMs = Date.UTC(year + 400, month - 1, day, hour, minute - zone, second) - FOUR_CENTURIES_MS
  return text[19] === '.' ? epochMs + Number(text.slice(20, 23).replace(/\D.*/, '').padEnd(3, '0')) : epochMs
}

const FOUR_CENTURIES_MS = 146_097 * 86_400_000

/** Minutes east of UTC at the end of an instant: Z, +HH, +HHMM or +HH:MM. */
function offsetMinutes(text: string): number | undefined {
  if (text.endsWith('Z')) return 0
  const sign = Math.max(text.lastIndexOf('-'), text.indexOf('+'))
  const hours = twoDigits(text, sign + 1)
  const minutes = text.length === sign + 3 ? 0 : twoDigits(text, text.length - 2)
  if (hours > 23 || minutes > 59) return undefined
  return (text[sign] === '-' ? -1 : 1) * (hours * 60 + minutes)
}

const form = 'Write it like "2026-01-15T08:00+01:00/2026-01-31T20:00+01:00".'

/** Undefined when the range is right; else continues the sentence "sale_price_effective_date "x" …". */
export function explainEffectiveDates(text: string): string | undefined {
  const slash = text.indexOf('/')
  if (slash < 0 || text.includes('/', slash + 1)) return `is not a start and an end joined by "/". ${form}`
  const start = parseInstant(text.slice(0, slash))
  const end = parseInstant(text.slice(slash + 1))
  if (start === undefined) return `does not start with an ISO 8601 time with an offset. ${form}`
  if (end === undefined) return `does not end with an ISO 8601 time with an offset. ${form}`
  if (start >= end) return 'does not end after it starts. Put the earlier time first.'
  return undefined
}
