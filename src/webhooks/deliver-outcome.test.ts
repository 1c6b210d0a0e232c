import assert from 'node:assert/strict'
import { test } from 'node:test'
import fc from 'fast-check'
import type { Failure, SendResponse } from '../egress/index.ts'
import { DELIVERY_DEFAULTS } from './deliver-config.ts'
import { excerpt, judge, parseRetryAfter, retryDelayMs } from './deliver-outcome.ts'

const timings = { queue: 0, dns: 0, connect: 0, tls: 0, firstByte: 0, total: 0 }
const answer = (status: number, headers: SendResponse['headers'] = {}, body = ''): SendResponse => ({
  kind: 'response',
  status,
  headers,
  body: Buffer.from(body),
  truncated: false,
  timings,
  remoteAddress: '192.0.2.1'
})
const failure = (code: Failure['code'], failureClass: Failure['class']): Failure => ({
  kind: 'failure',
  class: failureClass,
  code,
  message: 'why',
  phase: 'headers',
  timings
})

const NOW_MS = Date.UTC(2026, 0, 15, 12)

const cases = [
  { what: '200', given: answer(200), outcome: 'delivered', error: undefined, pace: 'up' },
  { what: '201', given: answer(201), outcome: 'transient', error: 'status_not_200', pace: 'same' },
  { what: '204', given: answer(204), outcome: 'transient', error: 'status_not_200', pace: 'same' },
  { what: '301', given: answer(301, { location: '/x' }), outcome: 'definitive', error: 'redirect', pace: 'same' },
  { what: '304', given: answer(304), outcome: 'definitive', error: 'redirect', pace: 'same' },
  { what: '400', given: answer(400), outcome: 'transient', error: 'client_error', pace: 'same' },
  { what: '410', given: answer(410), outcome: 'transient', error: 'client_error', pace: 'same' },
  { what: '429', given: answer(429), outcome: 'transient', error: 'rate_limited', pace: 'down' },
  { what: '500', given: answer(500), outcome: 'transient', error: 'server_error', pace: 'down' },
  { what: '599', given: answer(599), outcome: 'transient', error: 'server_error', pace: 'down' },
  { what: 'a timeout', given: failure('TIMEOUT', 'transient'), outcome: 'transient', error: 'timeout', pace: 'down' },
  { what: 'a reset', given: failure('RESET', 'transient'), outcome: 'transient', error: 'reset', pace: 'down' },
  { what: 'no such name', given: failure('DNS', 'transient'), outcome: 'transient', error: 'dns', pace: 'down' },
  {
    what: 'an expired certificate',
    given: failure('TLS_CERT_EXPIRED', 'definitive'),
    outcome: 'definitive',
    error: 'tls',
    pace: 'down'
  },
  {
    what: 'a forbidden address',
    given: failure('EGRESS_REFUSED_ADDRESS', 'refused'),
    outcome: 'definitive',
    error: 'refused',
    pace: 'down'
  },
  { what: 'our own stop', given: failure('ABORTED', 'transient'), outcome: 'none', error: undefined, pace: 'same' }
] as const

for (const { what, given, outcome, error, pace } of cases) {
  test(`${what} is ${outcome}`, () => {
    const judged = judge(given, NOW_MS)

    assert.deepEqual({ outcome: judged.outcome, error: judged.error, pace: judged.pace }, { outcome, error, pace })
  })
}

test('keeps the first readable characters of an answer that is not an acknowledgement', () => {
  assert.equal(judge(answer(500, {}, 'out\u0000 of memory'), NOW_MS).response, 'out\ufffd of memory')
  assert.equal(excerpt(Buffer.from('é'.repeat(1_000)))?.length, 300)
  assert.equal(judge(answer(200, {}, 'thanks'), NOW_MS).response, undefined)
})

test('reads Retry-After in both of its forms, and nothing into others', () => {
  assert.equal(parseRetryAfter('120', NOW_MS), 120_000)
  assert.equal(parseRetryAfter('Thu, 15 Jan 2026 12:01:00 GMT', NOW_MS), 60_000)
  assert.equal(parseRetryAfter('Thu, 15 Jan 2026 11:00:00 GMT', NOW_MS), 0)
  assert.equal(parseRetryAfter('soon', NOW_MS), undefined)
  assert.equal(parseRetryAfter(undefined, NOW_MS), undefined)
})

test('waits 3 s, 27 s and 242 s, and then gives up', () => {
  const waits = [1, 2, 3, 4].map((attempts) => retryDelayMs(attempts, DELIVERY_DEFAULTS, 0))

  assert.deepEqual(waits, [3_000, 27_000, 242_000, undefined])
})

test('never retries before the schedule says, nor later than jitter and the bound of Retry-After allow', () => {
  fc.assert(
    fc.property(
      fc.integer({ min: 1, max: 3 }),
      fc.double({ min: 0, max: 0.999, noNaN: true }),
      fc.nat(10_000_000),
      (attempts, random, retryAfterMs) => {
        const wait = retryDelayMs(attempts, DELIVERY_DEFAULTS, random, retryAfterMs)!
        const scheduled = DELIVERY_DEFAULTS.retryDelaysMs[attempts - 1]!
        const wished = Math.min(retryAfterMs, DELIVERY_DEFAULTS.retryAfterMaxMs)
        assert.ok(wait >= scheduled && wait >= wished)
        assert.ok(wait <= Math.max(scheduled, wished) * 1.1 + 1)
      }
    )
  )
})
