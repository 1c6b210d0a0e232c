import assert from 'node:assert/strict'
import { after, test } from 'node:test'
import { testDatabase } from '../../test/database.ts'
import { createRateLimiter, type RateLimiter } from './rate-limits.ts'

const { database } = await testDatabase({ after })
const clock = { ms: Date.UTC(2026, 0, 15, 12), now: () => clock.ms }
const limiter = (enforce = true, overrides = new Map<string, number>()) =>
  createRateLimiter({ database, clock, enforce, overrides })

const limit = (name: string, max: number) => ({ name, max, windowSeconds: 900 })

async function answered(count: number, max: number, subject: string, ...nodes: RateLimiter[]) {
  const allowances = await Promise.all(
    Array.from({ length: count }, (_, i) => nodes[i % nodes.length]!.take(limit('t', max), subject))
  )
  return allowances.filter((allowance) => !allowance.refused).length
}

test('answers exactly the limit, however many ask at once on one node', async () => {
  assert.equal(await answered(300, 200, 'one node', limiter()), 200)
})

test('never answers more than the limit on two nodes together', async () => {
  const two = await answered(1500, 1000, 'two nodes', limiter(), limiter())

  assert.ok(two <= 1000 && two >= 980, `${two} answered`)
})

test('small limits are exact across nodes', async () => {
  assert.equal(await answered(100, 20, 'small', limiter(), limiter(), limiter()), 20)
})

test('counts down by one and tells when the window ends', async () => {
  const one = limiter()

  const first = await one.take(limit('t', 450), 'countdown')
  const second = await one.take(limit('t', 450), 'countdown')

  assert.deepEqual([first.limit, first.remaining, second.remaining], [450, 449, 448])
  assert.equal(first.reset, Math.ceil(clock.ms / 1000) + 900)
})

test('starts anew when the window is over', async () => {
  const one = limiter()
  assert.equal(await answered(30, 20, 'window', one), 20)

  clock.ms += 901_000

  assert.equal(await answered(30, 20, 'window', one), 20)
})

test('switched off, it counts and tells but never refuses', async () => {
  const one = limiter(false)

  assert.equal(await answered(50, 20, 'off', one), 50)
  assert.equal((await one.take(limit('t', 20), 'off')).remaining, 0)
})

test('a number from the configuration replaces the documented one', async () => {
  const one = limiter(true, new Map([['t', 3]]))

  assert.equal(await answered(10, 450, 'override', one), 3)
})
