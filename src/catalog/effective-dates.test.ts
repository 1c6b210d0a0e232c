import assert from 'node:assert/strict'
import { test } from 'node:test'
import fc from 'fast-check'
import { explainEffectiveDates, parseInstant } from './effective-dates.ts'

for (const text of [
  '2026-01-15T08:00+01:00/2026-01-31T20:00+01:00',
  '2022-10-04T17:20:31.000Z/2022-10-10T04:00:00.000Z',
  '2022-10-04T17:20:31Z/2022-10-10T04:00:00Z',
  '2026-01-15T08:00-0800/2026-01-31T20:00+05',
  '2028-02-29T00:00Z/2028-03-01T00:00Z',
  '2026-01-15T23:00+01:00/2026-01-15T22:30Z'
]) {
  test(`accepts the range ${text}`, () => assert.equal(explainEffectiveDates(text), undefined))
}

const refused: [text: string, why: RegExp][] = [
  ['2026-01-15T08:00+01:00', /joined by/],
  ['2026-01-15T08:00Z/2026-01-16T08:00Z/2026-01-17T08:00Z', /joined by/],
  ['2026-01-15/2026-01-31', /start with an ISO 8601/],
  ['2026-01-15T08:00/2026-01-31T20:00', /start with an ISO 8601/],
  ['2026-02-30T08:00Z/2026-03-31T20:00Z', /start with an ISO 8601/],
  ['2027-02-29T08:00Z/2027-03-31T20:00Z', /start with an ISO 8601/],
  ['2026-01-15T08:00Z/2026-01-31T24:00Z', /end with an ISO 8601/],
  ['2026-01-15T08:00Z/2026-01-31T20:60Z', /end with an ISO 8601/],
  ['2026-01-15T08:00Z/2026-13-31T20:00Z', /end with an ISO 8601/],
  ['2026-01-15T08:00Z /2026-01-31T20:00Z', /start with an ISO 8601/],
  ['2026-01-31T08:00Z/2026-01-15T20:00Z', /earlier time first/],
  ['2026-01-15T08:00Z/2026-01-15T09:00+01:00', /earlier time first/],
  ['/', /start with/]
]

for (const [text, why] of refused) {
  test(`refuses the range ${text}`, () => assert.match(explainEffectiveDates(text) ?? '', why))
}

test('reads every instant as the runtime does', () => {
  fc.assert(
    fc.property(
      fc.date({ min: new Date('0001-01-01T00:00:00Z'), max: new Date('9999-12-31T00:00:00Z'), noInvalidDate: true }),
      fc.integer({ min: -840, max: 840 }),
      (date, offset) => {
        const sign = offset < 0 ? '-' : '+'
        const clock = [Math.trunc(Math.abs(offset) / 60), Math.abs(offset) % 60]
          .map((part) => `${part}`.padStart(2, '0'))
          .join(':')
        const text = `${date.toISOString().slice(0, -1)}${sign}${clock}`

        assert.equal(parseInstant(text), Date.parse(text), text)
      }
    )
  )
})

test('reads fractions of a second of any length', () => {
  assert.equal(parseInstant('1970-01-01T00:00:00.5Z'), 500)
  assert.equal(parseInstant('1970-01-01T00:00:00.25+00:00'), 250)
  assert.equal(parseInstant('1970-01-01T00:00:00.123456789-00'), 123)
})
