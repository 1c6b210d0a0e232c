import assert from 'node:assert/strict'
import { type TestContext, test } from 'node:test'
import { setImmediate } from 'node:timers/promises'
import { presets, type ReceivedRequest, startConsumer } from '../../test/consumer.ts'
import { testDatabase } from '../../test/database.ts'
import {
  attemptsOf,
  givenApp,
  givenEngine,
  givenWebhook,
  queueLength,
  SECRET,
  setValid
} from '../../test/deliveries.ts'
import type { Database } from '../storage/db.ts'
import type { LaneKey } from './log.ts'
import { createReplay, listReplays } from './replays.ts'
import { signature } from './sign.ts'

async function given(t: TestContext, config = {}) {
  const { database } = await testDatabase(t)
  const consumer = await startConsumer(t)
  const webhook = await givenWebhook(database, { app_id: await givenApp(database) })
  const running = await givenEngine(t, { database, consumer, config })
  /** Deliveries a minute apart, from `start`. */
  const publishEachMinute = async (numbers: number[]) => {
    for (const n of numbers) {
      await running.publish({ ...webhook, body: `{"data":{"n":${n}}}` })
      running.clock.offsetMs += 60_000
    }
  }
  const startMs = running.clock.now()
  const replay = async (fromMs: number, toMs: number) => {
    const job = await createReplay(database.db, running.clock, { ...webhook, fromMs, toMs })
    running.engine.wakeReplay(webhook)
    return job
  }
  return { database, consumer, webhook, startMs, publishEachMinute, replay, ...running }
}

const parse = ({ body }: ReceivedRequest) => JSON.parse(body.toString())
const numbersOf = (requests: ReceivedRequest[]) => requests.map((request) => parse(request).data?.n)
const jobsOf = async (database: Database, webhook: LaneKey) =>
  (await listReplays(database.db, webhook)).map(({ state, delivered, failed }) => ({ state, delivered, failed }))

test('sends again what was delivered, attempted or held in the range, once each, oldest first, and says so', async (t) => {
  const { database, consumer, webhook, startMs, engine, clock, publishEachMinute, replay } = await given(t, {
    inFlightMax: 1,
    retryDelaysMs: []
  })
  await publishEachMinute([0, 1, 2, 3])
  await engine.drain()
  consumer.respond(presets.status(500))
  await publishEachMinute([4])
  await engine.drain()
  consumer.respond(presets.ok)
  await setValid(database, webhook, false)
  await publishEachMinute([5])
  await setValid(database, webhook, true)
  await publishEachMinute([6])
  await engine.drain()
  const before = consumer.requests.length

  const job = await replay(startMs + 60_000, startMs + 6 * 60_000)
  clock.offsetMs += 60_000
  await engine.drain()

  const replayed = consumer.requests.slice(before)
  assert.deepEqual(numbersOf(replayed), [1, 2, 3, 4, 5, undefined])
  for (const request of replayed.slice(0, -1)) assert.deepEqual(parse(request).meta, { replay: true })
  const last = replayed.at(-1)!
  assert.deepEqual(parse(last), {
    replay_job_status: {
      webhook_id: webhook.webhook_id,
      job_state: 'Complete',
      job_state_description: 'Job completed successfully',
      job_id: job.id
    }
  })
  for (const request of replayed) {
    assert.equal(request.headers['x-svc-webhooks-signature'], signature(SECRET, request.body))
  }
  assert.deepEqual(await jobsOf(database, webhook), [{ state: 'complete', delivered: 5n, failed: 0n }])
})

test('keeps the id of a delivery, so that consumers can drop what they have', async (t) => {
  const { database, consumer, startMs, engine, publishEachMinute, replay } = await given(t)
  await publishEachMinute([0])
  await engine.drain()

  await replay(startMs, startMs + 60_000)
  await engine.drain()

  const [first, again] = consumer.requests
  assert.equal(again!.headers['webhook-id'], first!.headers['webhook-id'])
  const attempts = await attemptsOf(database, String(first!.headers['webhook-id']))
  assert.deepEqual(
    attempts.map(({ cause, outcome }) => [cause, outcome]),
    [
      ['live', 'delivered'],
      ['replay', 'delivered']
    ]
  )
})

test('does not retry what fails, and ends as incomplete', async (t) => {
  const { database, consumer, webhook, startMs, engine, clock, publishEachMinute, replay } = await given(t)
  await publishEachMinute([0, 1, 2])
  await engine.drain()
  consumer.respond((request, response, context) => {
    const behave = parse(request).data?.n === 1 ? presets.status(503) : presets.ok
    behave(request, response, context)
  })

  await replay(startMs, startMs + 180_000)
  await engine.drain()
  clock.offsetMs += 3_600_000
  await engine.drain()

  assert.deepEqual(numbersOf(consumer.requests.slice(3)).sort(), [0, 1, 2, undefined].sort())
  assert.equal(parse(consumer.requests.at(-1)!).replay_job_status.job_state, 'Incomplete')
  assert.deepEqual(await jobsOf(database, webhook), [{ state: 'incomplete', delivered: 2n, failed: 1n }])
})

test('leaves to the lane what waits for its first attempt', async (t) => {
  const { database, consumer, webhook, startMs, engine, clock, replay, publish } = await given(t, {
    inFlightMax: 1
  })
  const release = Promise.withResolvers<void>()
  consumer.respond(async (request, response, context) => {
    await release.promise
    presets.ok(request, response, context)
  })
  await publish({ ...webhook, body: '{"data":{"n":0}}' }, { ...webhook, body: '{"data":{"n":1}}' })
  await consumer.received(1)

  clock.offsetMs += 60_000
  await replay(startMs, startMs + 60_000)
  while ((await jobsOf(database, webhook))[0]?.state !== 'complete') await setImmediate()
  release.resolve()
  await engine.drain()

  assert.deepEqual(numbersOf(consumer.requests), [0, 1, undefined])
  assert.deepEqual(await jobsOf(database, webhook), [{ state: 'complete', delivered: 0n, failed: 0n }])
  assert.equal(await queueLength(database), 0)
})

test('refuses a second job while one is in progress', async (t) => {
  const { webhook, database, startMs, clock, replay, engine } = await given(t)
  await replay(startMs, startMs + 60_000)

  await assert.rejects(
    createReplay(database.db, clock, { ...webhook, fromMs: startMs, toMs: startMs + 60_000 }),
    (error: { status?: number }) => error.status === 409
  )
  await engine.drain()
  await replay(startMs, startMs + 60_000)
  await engine.drain()

  assert.equal((await jobsOf(database, webhook)).filter(({ state }) => state === 'complete').length, 2)
})

test('goes on where a node stopped, and does not start over', async (t) => {
  const { database, consumer, webhook, startMs, engine, clock, publishEachMinute, replay } = await given(t, {
    inFlightMax: 2
  })
  await publishEachMinute(Array.from({ length: 40 }, (_, n) => n))
  await engine.drain()
  const before = consumer.requests.length
  consumer.respond((request, response, context) => void setTimeout(() => presets.ok(request, response, context), 5))

  await replay(startMs, startMs + 40 * 60_000)
  await consumer.received(before + 10)
  await engine.stop()
  const stopped = consumer.requests.length
  const second = await givenEngine(t, { database, consumer, clock })
  await second.engine.drain()

  assert.ok(stopped < before + 40, 'the first node did not do everything')
  const numbers = numbersOf(consumer.requests.slice(before)).filter((n) => n !== undefined)
  assert.deepEqual(
    numbers.toSorted((a, b) => a - b),
    Array.from({ length: 40 }, (_, n) => n)
  )
  assert.deepEqual(await jobsOf(database, webhook), [{ state: 'complete', delivered: 40n, failed: 0n }])
})

test('keeps to its rate', async (t) => {
  const { consumer, startMs, engine, publish, webhook, clock, replay } = await given(t, { replayRateMax: 100 })
  await publish(...Array.from({ length: 50 }, (_, n) => ({ ...webhook, body: `{"data":{"n":${n}}}` })))
  await engine.drain()
  clock.offsetMs += 60_000
  const begun = performance.now()

  await replay(startMs, startMs + 60_000)
  await consumer.received(101)

  const seconds = (performance.now() - begun) / 1_000
  assert.ok(50 / seconds < 130, `${50 / seconds} events per second`)
})
