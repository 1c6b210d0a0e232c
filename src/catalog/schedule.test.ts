import assert from 'node:assert/strict'
import { test } from 'node:test'
import fc from 'fast-check'
import { type FeedSchedule, HOURLY_REPEATS, isStartTime, isTimeZone, nextRun, nextRuns, WEEKDAYS } from './schedule.ts'

const daily = (start_time: string, time_zone: string): FeedSchedule => ({
  frequency: 'DAILY',
  repeat: null,
  start_time,
  time_zone
})
const weekly = (repeat: string, start_time: string, time_zone: string): FeedSchedule => ({
  frequency: 'WEEKLY',
  repeat,
  start_time,
  time_zone
})
const hourly = (repeat: string, start_time: string, time_zone: string): FeedSchedule => ({
  frequency: 'HOURLY',
  repeat,
  start_time,
  time_zone
})

const known: [promise: string, feed: FeedSchedule, after: string, runs: string[]][] = [
  [
    'runs daily at the local time, in winter and in summer',
    daily('08:00', 'Europe/Berlin'),
    '2026-03-27T12:00Z',
    ['2026-03-28T07:00Z', '2026-03-29T06:00Z', '2026-03-30T06:00Z']
  ],
  [
    'runs at the first instant after a gap that skips the time',
    daily('02:30', 'America/New_York'),
    '2026-03-07T12:00Z',
    ['2026-03-08T07:00Z', '2026-03-09T06:30Z']
  ],
  [
    'runs once, at the first of two equal times',
    daily('01:30', 'America/New_York'),
    '2026-10-31T12:00Z',
    ['2026-11-01T05:30Z', '2026-11-02T06:30Z']
  ],
  [
    'does not run again in the second pass of an hour that occurs twice',
    daily('01:30', 'America/New_York'),
    '2026-11-01T06:10Z',
    ['2026-11-02T06:30Z']
  ],
  [
    'knows changes of half an hour',
    daily('02:15', 'Australia/Lord_Howe'),
    '2026-10-02T20:00Z',
    ['2026-10-03T15:30Z', '2026-10-04T15:15Z']
  ],
  [
    'knows a gap at midnight',
    daily('00:00', 'America/Havana'),
    '2026-03-07T12:00Z',
    ['2026-03-08T05:00Z', '2026-03-09T04:00Z']
  ],
  [
    'knows a day that never was',
    daily('10:00', 'Pacific/Apia'),
    '2011-12-29T19:00Z',
    ['2011-12-29T20:00Z', '2011-12-30T10:00Z', '2011-12-30T20:00Z', '2011-12-31T20:00Z']
  ],
  [
    'runs weekly on the weekday of the zone, not of UTC',
    weekly('SATURDAY', '01:30', 'America/New_York'),
    '2026-10-09T12:00Z',
    ['2026-10-10T05:30Z', '2026-10-17T05:30Z']
  ],
  [
    'runs the same day when the time is still to come',
    weekly('MONDAY', '23:59', 'Asia/Tokyo'),
    '2026-01-12T14:58Z',
    ['2026-01-12T14:59Z', '2026-01-19T14:59Z']
  ],
  [
    'waits a week when the time has just come',
    weekly('MONDAY', '23:59', 'Asia/Tokyo'),
    '2026-01-12T14:59Z',
    ['2026-01-19T14:59Z']
  ],
  [
    'runs every six hours anchored at the start time',
    hourly('6', '20:15', 'Asia/Kolkata'),
    '2026-01-01T00:00Z',
    ['2026-01-01T02:45Z', '2026-01-01T08:45Z', '2026-01-01T14:45Z', '2026-01-01T20:45Z']
  ],
  [
    'runs hourly through a gap without a second run at its end',
    hourly('1', '05:00', 'America/New_York'),
    '2026-03-08T05:30Z',
    ['2026-03-08T06:00Z', '2026-03-08T07:00Z', '2026-03-08T08:00Z']
  ],
  [
    'runs hourly through an overlap once per time',
    hourly('1', '05:30', 'America/New_York'),
    '2026-11-01T04:45Z',
    ['2026-11-01T05:30Z', '2026-11-01T07:30Z', '2026-11-01T08:30Z']
  ]
]

for (const [promise, feed, after, runs] of known) {
  test(promise, () => {
    const actual = nextRuns(feed, Date.parse(after), runs.length)

    assert.deepEqual(
      actual.map((run) => new Date(run).toISOString().replace(':00.000Z', 'Z')),
      runs
    )
  })
}

const timeZones = Intl.supportedValuesOf('timeZone')
const anyTime = fc
  .tuple(fc.nat(23), fc.nat(59))
  .map((parts) => parts.map((part) => `${part}`.padStart(2, '0')).join(':'))
const anyFeed = fc
  .tuple(
    fc.oneof(
      fc.constant({ frequency: 'DAILY', repeat: null }),
      fc.constantFrom(...WEEKDAYS).map((repeat) => ({ frequency: 'WEEKLY', repeat })),
      fc.constantFrom(...HOURLY_REPEATS).map((repeat) => ({ frequency: 'HOURLY', repeat }))
    ),
    anyTime,
    fc.constantFrom(...timeZones)
  )
  .map(([when, start_time, time_zone]): FeedSchedule => ({ ...when, start_time, time_zone }))
const anyInstant = fc.integer({ min: Date.parse('1970-01-01'), max: Date.parse('2060-01-01') })

/** An instant near a change of the zone's clock, where the rules matter, or anywhere if the zone has none. */
function nearChange(timeZone: string, epochMs: number, offsetMs: number): number {
  const change = Temporal.Instant.fromEpochMilliseconds(epochMs)
    .toZonedDateTimeISO(timeZone)
    .getTimeZoneTransition('next')
  return (change?.epochMilliseconds ?? epochMs) + offsetMs
}

function assertRightRun(feed: FeedSchedule, run: number) {
  const at = Temporal.Instant.fromEpochMilliseconds(run).toZonedDateTimeISO(feed.time_zone)
  const start = Temporal.PlainTime.from(feed.start_time)
  const change = at.add({ nanoseconds: 1 }).getTimeZoneTransition('previous')
  const shiftNs = change ? change.offsetNanoseconds - change.subtract({ nanoseconds: 1 }).offsetNanoseconds : 0
  const sinceChangeNs = change ? Number(at.epochNanoseconds - change.epochNanoseconds) : 0
  // In the second pass of an overlap, less time has gone by than the clock was put back.
  assert.ok(shiftNs >= 0 || sinceChangeNs >= -shiftNs, 'second pass of an overlap')

  const candidates = [at.toPlainDateTime()]
  if (change && sinceChangeNs === 0 && shiftNs > 0) {
    // At the end of a gap, the run may stand for any time that the gap skipped.
    for (let skipped = 60; skipped <= shiftNs / 1e9; skipped += 60) {
      candidates.push(at.toPlainDateTime().subtract({ seconds: skipped }))
    }
  }
  const right = candidates.some((wallClock) => {
    const minutes = wallClock.hour * 60 + wallClock.minute - start.hour * 60 - start.minute
    if (feed.frequency === 'HOURLY') return minutes % (Number(feed.repeat) * 60) === 0
    const day = feed.frequency === 'DAILY' || WEEKDAYS[wallClock.dayOfWeek - 1] === feed.repeat
    return day && minutes === 0 && wallClock.second === 0
  })
  assert.ok(right, `${at} is no run of ${JSON.stringify(feed)}`)
}

/** How far apart runs can lie: the period, plus a clock change, plus a day that a zone may have skipped. */
const PERIOD_HOURS = { HOURLY: 12, DAILY: 24, WEEKLY: 168 } as Record<string, number>

test('finds strictly later runs at the right wall clock time, in every zone, near every kind of change', () => {
  fc.assert(
    fc.property(
      anyFeed,
      anyInstant,
      fc.integer({ min: -1.5 * 86_400_000, max: 86_400_000 }),
      fc.boolean(),
      (feed, instant, offset, near) => {
        const after = near ? nearChange(feed.time_zone, instant, offset) : instant
        const runs = nextRuns(feed, after, 4)

        let previous = after
        for (const run of runs) {
          assert.ok(run > previous)
          assert.ok(run - previous <= (PERIOD_HOURS[feed.frequency]! + 27) * 3_600_000, 'no period is skipped')
          assertRightRun(feed, run)
          previous = run
        }
        // No instant in between has a run that was passed over.
        const between = after + Math.floor((runs[0]! - after) / 2)
        assert.equal(nextRun(feed, between), runs[0])
        assert.equal(nextRun(feed, runs[0]! - 1), runs[0])
      }
    ),
    { numRuns: 1500 }
  )
})

/** The date that a daily run stands for; at the end of a gap, the one whose time the gap skipped. */
function dateOf(run: number, time: string, zone: string): Temporal.PlainDate {
  const at = Temporal.Instant.fromEpochMilliseconds(run).toZonedDateTimeISO(zone)
  if (at.toPlainTime().equals(time)) return at.toPlainDate()
  const gapStart = at.subtract({ nanoseconds: 1 }).toPlainDateTime().add({ nanoseconds: 1 })
  const sameDay = gapStart.withPlainTime(time)
  const skipped = Temporal.PlainDateTime.compare(sameDay, gapStart) < 0 ? sameDay.add({ days: 1 }) : sameDay
  return skipped.toPlainDate()
}

test('runs daily feeds once on every date of the zone', () => {
  fc.assert(
    fc.property(
      anyTime,
      fc.constantFrom(...timeZones),
      fc.integer({ min: Date.parse('2012-01-01'), max: Date.parse('2040-01-01') }),
      (time, zone, instant) => {
        const runs = nextRuns(daily(time, zone), nearChange(zone, instant, -2 * 86_400_000), 5)
        const dates = runs.map((run) => dateOf(run, time, zone))

        for (const [i, date] of dates.entries())
          assert.ok(date.equals(dates[0]!.add({ days: i })), `${zone} ${time} ${dates}`)
      }
    ),
    { numRuns: 500 }
  )
})

test('knows IANA names and nothing else', () => {
  for (const name of ['America/New_York', 'UTC', 'Asia/Calcutta', 'Etc/GMT+5']) assert.ok(isTimeZone(name), name)
  for (const name of ['', '+01:00', '-0500', 'Mars/Olympus', 'New York', 'EST5EDT4', 'America'])
    assert.ok(!isTimeZone(name), name)
})

test('knows start times of two digits each', () => {
  for (const time of ['00:00', '01:30', '23:59']) assert.ok(isStartTime(time), time)
  for (const time of ['24:00', '1:30', '01:60', '01:30:00', '', '0130', '٠١:٣٠']) assert.ok(!isStartTime(time), time)
})
