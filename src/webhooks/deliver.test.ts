import assert from 'node:assert/strict'
import { test } from 'node:test'
import { setImmediate } from 'node:timers/promises'
import { presets, startConsumer } from '../../test/consumer.ts'
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
import { announceWebhookChange } from './deliver-wake.ts'
import { signature } from './sign.ts'

const BODY =
  '{"data":{"event_uuid":"1","filter":{"user_id":"42"},"event_type":"profile.update.bio","payload":{"é":"😀"}}}'

async function given(t: import('node:test').TestContext, options: Partial<Parameters<typeof givenEngine>[1]> = {}) {
  const { database } = await testDatabase(t)
  const consumer = await startConsumer(t)
  const app_id = await givenApp(database)
  const webhook = await givenWebhook(database, { app_id })
  const running = await givenEngine(t, { database, consumer, ...options })
  return { database, consumer, app_id, webhook, ...running }
}

test('posts exactly the bytes, signed, and records the acknowledgement', async (t) => {
  const { database, consumer, webhook, engine, publish } = await given(t)

  const [delivery] = await publish({ ...webhook, body: BODY, kind: 'activity' })
  const [request] = await consumer.received(1)
  await engine.drain()

  assert.equal(request!.method, 'POST')
  assert.equal(request!.url, `/${webhook.webhook_id}`)
  assert.equal(request!.body.toString(), BODY)
  assert.equal(request!.headers['content-type'], 'application/json')
  assert.equal(request!.headers['x-svc-webhooks-signature'], signature(SECRET, BODY))
  assert.equal(request!.headers['webhook-id'], delivery!.id)
  assert.match(String(request!.headers['webhook-signature']), /^v1,/)
  const [attempt, ...more] = await attemptsOf(database, delivery!.id)
  assert.deepEqual(more, [])
  assert.equal(attempt!.outcome, 'delivered')
  assert.equal(attempt!.status, 200)
  assert.equal(attempt!.attempt, 1)
  assert.equal(await queueLength(database), 0)
})

test('sends nothing of a transaction that was rolled back', async (t) => {
  const { database, consumer, webhook, engine } = await given(t)

  await assert.rejects(
    database.db.transaction().execute(async (tx) => {
      await engine.append(tx, [{ ...webhook, body: BODY }])
      throw new Error('no')
    })
  )
  await engine.drain()

  assert.equal(consumer.requests.length, 0)
})

test('retries after 3 s, 27 s and 242 s by the clock, under the same id, and then gives up', async (t) => {
  const { database, consumer, webhook, engine, clock, publish } = await given(t)
  consumer.respond(presets.status(503))

  const [delivery] = await publish({ ...webhook, body: BODY })
  await engine.drain()
  for (const [seconds, attempts] of [
    [2.5, 1],
    [1, 2],
    [26, 2],
    [2, 3],
    [241, 3],
    [2, 4],
    [10_000, 4]
  ] as const) {
    clock.offsetMs += seconds * 1_000
    await engine.drain()
    assert.equal(consumer.requests.length, attempts, `after ${seconds} s more`)
  }

  const attempts = await attemptsOf(database, delivery!.id)
  assert.deepEqual(
    attempts.map(({ attempt, outcome, status, error }) => ({ attempt, outcome, status, error })),
    [1, 2, 3, 4].map((attempt) => ({
      attempt,
      outcome: attempt === 4 ? 'failed' : 'retry',
      status: 503,
      error: 'server_error'
    }))
  )
  assert.equal(attempts[3]!.next_attempt_at, null)
  assert.deepEqual(new Set(consumer.requests.map((request) => request.headers['webhook-id'])), new Set([delivery!.id]))
  assert.equal(await queueLength(database), 0)
})

test('is done with a delivery as soon as a retry is acknowledged', async (t) => {
  const { database, consumer, webhook, engine, clock, publish } = await given(t)
  consumer.respond(presets.hangUp)
  const [delivery] = await publish({ ...webhook, body: BODY })
  await engine.drain()

  consumer.respond(presets.ok)
  clock.offsetMs += 3_500
  await engine.drain()

  const outcomes = (await attemptsOf(database, delivery!.id)).map(({ outcome, error }) => [outcome, error])
  assert.deepEqual(outcomes, [
    ['retry', 'reset'],
    ['delivered', null]
  ])
})

test('waits as long as Retry-After asks, within bounds', async (t) => {
  const { consumer, database, webhook, engine, clock, publish } = await given(t)
  consumer.respond(presets.status(429, { 'retry-after': '60' }))
  const [delivery] = await publish({ ...webhook, body: BODY })
  await engine.drain()

  consumer.respond(presets.status(503, { 'retry-after': '999999' }))
  clock.offsetMs += 59_000
  await engine.drain()
  assert.equal(consumer.requests.length, 1)
  clock.offsetMs += 1_500
  await engine.drain()

  const [first, second] = await attemptsOf(database, delivery!.id)
  assert.equal(first!.error, 'rate_limited')
  assert.equal(consumer.requests.length, 2)
  const waitMs = Date.parse(second!.next_attempt_at!) - Date.parse(second!.created_at)
  assert.ok(Math.abs(waitMs - 15 * 60_000) < 1_000, `${waitMs} ms`)
})

const misbehaviours = [
  { what: 'a stall', behaviour: presets.stall, outcome: 'retry', error: 'timeout' },
  { what: 'a drip of header bytes', behaviour: presets.headerDrip, outcome: 'retry', error: 'timeout' },
  { what: 'a drip of body bytes', behaviour: presets.bodyDrip, outcome: 'retry', error: 'timeout', status: 200 },
  { what: 'a connection closed without an answer', behaviour: presets.hangUp, outcome: 'retry', error: 'reset' },
  { what: 'a reset in the middle', behaviour: presets.reset, outcome: 'retry', error: 'reset', status: 200 },
  { what: 'a redirect', behaviour: presets.redirect(), outcome: 'failed', error: 'redirect', status: 302 },
  { what: 'a 201', behaviour: presets.status(201), outcome: 'retry', error: 'status_not_200', status: 201 },
  { what: 'a 204', behaviour: presets.status(204), outcome: 'retry', error: 'status_not_200', status: 204 },
  {
    what: 'a 404',
    behaviour: presets.status(404, {}, 'no such page'),
    outcome: 'retry',
    error: 'client_error',
    status: 404
  },
  {
    what: '199 bytes that are not HTTP',
    behaviour: ((_: unknown, response: import('node:http').ServerResponse) => {
      response.socket?.end(Buffer.alloc(199, '\u0001garbage'))
    }) as typeof presets.stall,
    outcome: 'retry',
    error: 'protocol'
  },
  {
    what: '100 MB with a 200',
    behaviour: presets.hugeBody(100_000_000),
    outcome: 'delivered',
    error: null,
    status: 200
  },
  { what: '200 without an end', behaviour: presets.endlessChunks, outcome: 'delivered', error: null, status: 200 }
] as const

test('classifies every way to misbehave, each over by the deadline', async (t) => {
  const { database, consumer, app_id, engine, publish } = await given(t, { config: { deadlineMs: 400 } })
  const byPath = new Map<string, (typeof misbehaviours)[number]>()
  consumer.respond((request, response, context) =>
    byPath.get(request.url.slice(1))!.behaviour(request, response, context)
  )
  const deliveries: { id: string; expected: (typeof misbehaviours)[number] }[] = []
  for (const expected of misbehaviours) {
    const webhook = await givenWebhook(database, { app_id })
    byPath.set(webhook.webhook_id, expected)
    const [delivery] = await publish({ ...webhook, body: BODY })
    deliveries.push({ id: delivery!.id, expected })
  }
  await engine.drain()

  for (const { id, expected } of deliveries) {
    await t.test(expected.what, async () => {
      const [attempt] = await attemptsOf(database, id)
      assert.deepEqual(
        { outcome: attempt!.outcome, error: attempt!.error, status: attempt!.status },
        { outcome: expected.outcome, error: expected.error, status: 'status' in expected ? expected.status : null }
      )
      assert.ok(attempt!.latency_ms! < 400 + 200, `${attempt!.latency_ms} ms`)
    })
  }
})

test('never has more in flight to a webhook than its limit', async (t) => {
  const { database, consumer, webhook, engine, publish } = await given(t, { config: { inFlightMax: 5 } })
  consumer.respond((_, response) => void setTimeout(() => response.writeHead(200).end(), 5))

  await publish(...Array.from({ length: 200 }, () => ({ ...webhook, body: BODY })))
  await consumer.received(200)
  await engine.drain()

  assert.equal(consumer.requests.length, 200)
  assert.equal(consumer.inFlightMax, 5)
  assert.equal(await queueLength(database), 0)
})

test('sends the oldest first, also what was published before this node began', async (t) => {
  const { database } = await testDatabase(t)
  const consumer = await startConsumer(t)
  const webhook = await givenWebhook(database, { app_id: await givenApp(database) })
  const publisher = await givenEngine(t, { database, consumer, start: false })
  for (let n = 0; n < 5; n++) {
    await publisher.publish(...[0, 1, 2].map((m) => ({ ...webhook, body: `{"n":${n * 3 + m}}` })))
    publisher.clock.offsetMs += 10
  }

  const sender = await givenEngine(t, { database, consumer, config: { inFlightMax: 1 } })
  sender.clock.offsetMs = publisher.clock.offsetMs
  await sender.engine.drain()

  const numbers = consumer.requests.map((request) => JSON.parse(request.body.toString()).n)
  assert.deepEqual(
    numbers,
    Array.from({ length: 15 }, (_, n) => n)
  )
})

test('sends nothing to an invalid webhook, and keeps what arrives for a replay', async (t) => {
  const { database, consumer, webhook, engine, clock, publish } = await given(t)
  consumer.respond(presets.status(500))
  const [waiting] = await publish({ ...webhook, body: BODY })
  await engine.drain()
  await setValid(database, webhook, false)

  const appended = await publish({ ...webhook, body: BODY })
  clock.offsetMs += 3_600_000
  await engine.drain()

  assert.deepEqual(appended, [])
  assert.equal(consumer.requests.length, 1)
  const { rows } = await database.pool.query('select id from deliveries where id <> $1', [waiting!.id])
  const held = await attemptsOf(database, rows[0].id)
  assert.deepEqual(
    held.map(({ attempt, outcome, error }) => ({ attempt, outcome, error })),
    [{ attempt: 0, outcome: 'held', error: 'webhook_invalid' }]
  )
})

test('records an answer that comes after its webhook became invalid, and holds what had not been sent', async (t) => {
  const { database, consumer, webhook, engine, publish } = await given(t, { config: { inFlightMax: 1 } })
  const release = Promise.withResolvers<void>()
  consumer.respond(async (request, response, context) => {
    await release.promise
    presets.ok(request, response, context)
  })
  const [inFlight, waiting] = await publish({ ...webhook, body: BODY }, { ...webhook, body: BODY })
  await consumer.received(1)

  await setValid(database, webhook, false)
  await announceWebhookChange(database.db, webhook)
  while ((await attemptsOf(database, waiting!.id)).length === 0) await setImmediate()
  release.resolve()
  await engine.drain()

  assert.equal((await attemptsOf(database, inFlight!.id))[0]!.outcome, 'delivered')
  assert.equal((await attemptsOf(database, waiting!.id))[0]!.outcome, 'held')
  assert.equal(consumer.requests.length, 1)
})

test('sends later when the consumer secret cannot be read now', async (t) => {
  let failing = true
  const secrets = async () => {
    if (failing) throw new Error('the database is away')
    return [SECRET]
  }
  const { database, consumer, webhook, engine, publish } = await given(t, { secrets })

  const [delivery] = await publish({ ...webhook, body: BODY })
  await assert.rejects(engine.drain(300), /could not all be sent/)
  assert.deepEqual(await attemptsOf(database, delivery!.id), [])
  failing = false
  await engine.drain()

  assert.equal(consumer.requests.length, 1)
  assert.deepEqual(
    (await attemptsOf(database, delivery!.id)).map(({ attempt, outcome }) => [attempt, outcome]),
    [[1, 'delivered']]
  )
})

test('sends nothing when its lease ended while a secret was being read', async (t) => {
  const asked = Promise.withResolvers<void>()
  const read = Promise.withResolvers<readonly string[]>()
  const secrets = () => {
    asked.resolve()
    return read.promise
  }
  const config = { leaseMs: 1_200, deadlineMs: 500 }
  const { database, consumer, webhook, engine, publish } = await given(t, { secrets, config })
  const [delivery] = await publish({ ...webhook, body: BODY })
  await asked.promise
  // As if another node had taken the lane meanwhile.
  await database.pool.query('delete from delivery_nodes')
  await database.pool.query('update delivery_lanes set epoch = epoch + 1')
  while (engine.stats().leaseRemainingMs > 0) await new Promise((resolve) => setTimeout(resolve, 5))

  read.resolve([SECRET])
  await engine.drain()

  assert.equal(consumer.requests.length, 1, 'once, after it held a lease again')
  assert.equal((await attemptsOf(database, delivery!.id)).length, 1)
})

test('drops what is published for a webhook that is not there', async (t) => {
  const { database, consumer, webhook, app_id, engine, publish } = await given(t)
  await database.pool.query('delete from webhooks where id = $1', [webhook.webhook_id])

  const appended = await publish({ ...webhook, body: BODY }, { app_id, webhook_id: '1', body: BODY })
  await engine.drain()

  assert.deepEqual(appended, [])
  assert.equal(consumer.requests.length, 0)
})
