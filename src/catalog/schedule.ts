/**
 * When a scheduled feed runs: by the wall clock of its time zone. A time that a change of the clock skips runs at the
 * first instant after the gap; a time that occurs twice runs once, the first time. See decisions/0041.
 */
export const FREQUENCIES = ['HOURLY', 'DAILY', 'WEEKLY'] as const
export const HOURLY_REPEATS = ['1', '2', '3', '4', '6', '8', '12'] as const
/** In the order of ISO 8601: Monday is day 1. */
export const WEEKDAYS = ['MONDAY', 'TUESDAY', 'WEDNESDAY', 'THURSDAY', 'FRIDAY', 'SATURDAY', 'SUNDAY'] as const

export interface FeedSchedule {
  frequency: string
  /** A weekday for WEEKLY, a number of hours for HOURLY, null for DAILY. */
  repeat: string | null
  /** HH:MM on the wall clock of the time zone. */
  start_time: string
  /** IANA name. */
  time_zone: string
}

export const isStartTime = (text: string) => /^(?:[01][0-9]|2[0-3]):[0-5][0-9]$/.test(text)

/** Whether the text is an IANA time zone name; fixed offsets such as +01:00 are not. */
export function isTimeZone(name: string): boolean {
  if (!/^[A-Za-z]/.test(name)) return false
  try {
    Temporal.Instant.fromEpochMilliseconds(0).toZonedDateTimeISO(name)
    return true
  } catch {
    return false
  }
}

/** The first instant after the given one at which the feed runs, in milliseconds since the epoch. */
export function nextRun(feed: FeedSchedule, afterEpochMs: number): number {
  const after = Temporal.Instant.fromEpochMilliseconds(afterEpochMs)
  const times = timesOfDay(feed)
  let date = after.toZonedDateTimeISO(feed.time_zone).toPlainDate()
  const weekday = feed.frequency === 'WEEKLY' ? WEEKDAYS.indexOf(feed.repeat as (typeof WEEKDAYS)[number]) + 1 : 0
  if (weekday > 0) date = date.add({ days: (weekday - date.dayOfWeek + 7) % 7 })
  // Earlier wall clock times never come at later instants, so the first candidate after `after` is the next run.
  for (;;) {
    for (const time of times) {
      const epochMs = firstInstantOf(date.toPlainDateTime(time), feed.time_zone)
      if (epochMs > afterEpochMs) return epochMs
    }
    date = date.add({ days: weekday > 0 ? 7 : 1 })
  }
}

/** The next n runs, in order. */
export function nextRuns(feed: FeedSchedule, afterEpochMs: number, n: number): number[] {
  const runs: number[] = []
  for (let last = afterEpochMs; runs.length < n; runs.push(last)) last = nextRun(feed, last)
  return runs
}

/** HOURLY feeds run every N hours anchored at start_time; N divides 24, so these are the same times every day. */
function timesOfDay({ frequency, repeat, start_time }: FeedSchedule): Temporal.PlainTime[] {
  const start = Temporal.PlainTime.from(start_time)
  if (frequency !== 'HOURLY') return [start]
  const hours = Number(repeat)
  return Array.from({ length: 24 / hours }, (_, i) => start.with({ hour: (start.hour % hours) + i * hours }))
}

/** The first instant at which a wall clock shows the time, or the first after the gap that skips it. */
function firstInstantOf(wallClock: Temporal.PlainDateTime, timeZone: string): number {
  const earlier = wallClock.toZonedDateTime(timeZone, { disambiguation: 'earlier' })
  if (earlier.toPlainDateTime().equals(wallClock)) return earlier.epochMilliseconds
  // In a gap, "earlier" is as long before the change as the time is inside the gap: the next change is the gap's end.
  return earlier.getTimeZoneTransition('next')!.epochMilliseconds
}
