import assert from 'node:assert/strict'
import { type TestContext, test } from 'node:test'
import { testDatabase } from '../../test/database.ts'
import { attemptsOf, givenApp, givenWebhook, queueLength, setValid, stoppedClock } from '../../test/deliveries.ts'
import { createLease } from './lanes-lease.ts'
import { createDeliveryLog, type Delivery, type LaneKey, type Settled, textArray } from './log.ts'

async function given(t: TestContext) {
  const { database } = await testDatabase(t)
  const clock = stoppedClock()
  const log = createDeliveryLog({ database, clock })
  t.after(() => log.close())
  const app_id = await givenApp(database)
  const webhook = await givenWebhook(database, { app_id })
  const append = (...bodies: string[]) => appendTo(webhook, ...bodies)
  const appendTo = (lane: LaneKey, ...bodies: string[]) =>
    database.db.transaction().execute((tx) =>
      log.append(
        tx,
        bodies.map((body) => ({ ...lane, body }))
      )
    )
  const lease = createLease(database, 60_000)
  await lease.join()
  const take = async (lane: LaneKey = webhook) => (await lease.take([lane]))[0]!
  return { database, clock, log, app_id, webhook, append, appendTo, lease, take }
}

const settledAs = (delivery: Delivery, epoch: number, more: Partial<Settled> = {}): Settled => ({
  delivery,
  epoch,
  outcome: 'delivered',
  startedAtMs: Date.parse(delivery.due_at),
  latencyMs: 12.4,
  status: 200,
  ...more
})

test('gives back the bytes that were appended', async (t) => {
  const { log, webhook, append } = await given(t)
  const bodies = ['{}', `{"é":"😀 \\u0000 \\" \\\\"}`, `"${'x'.repeat(100_000)}"`, '']

  await append(...bodies)
  const claimed = await log.claim([{ ...webhook, retry: false, count: 10 }], [])

  assert.deepEqual(
    claimed.map(({ body }) => body.toString()),
    bodies
  )
})

test('claims the oldest of each lane, up to its count, and not what the caller has', async (t) => {
  const { database, clock, log, app_id, webhook, append, appendTo } = await given(t)
  const other = await givenWebhook(database, { app_id })
  const first = await append('1', '2')
  clock.offsetMs += 5
  const later = await append('3')
  await appendTo(other, 'a', 'b')

  const claimed = await log.claim(
    [
      { ...webhook, retry: false, count: 2 },
      { ...other, retry: false, count: 1 },
      { ...other, retry: true, count: 5 }
    ],
    [first[0]!.id]
  )

  assert.deepEqual(claimed.map(({ body }) => body.toString()).sort(), ['2', '3', 'a'])
  const { body: _, ...again } = claimed.find(({ id }) => id === later[0]!.id)!
  const { body: __, ...appended } = later[0]!
  assert.deepEqual(again, appended)
})

test('does not claim what is not due yet', async (t) => {
  const { clock, log, webhook, append } = await given(t)
  await append('1')
  clock.offsetMs -= 1

  assert.deepEqual(await log.claim([{ ...webhook, retry: false, count: 5 }], []), [])
  assert.equal((await log.waiting())[0]!.fresh_at, null)
})

test('finds every lane with something in the queue, and when it is due', async (t) => {
  const { database, clock, log, app_id, webhook, append, appendTo, take, lease } = await given(t)
  const [delivery] = await append('1')
  const { epoch } = await take()
  const dueMs = clock.now() + 3_000
  await log.complete([settledAs(delivery!, epoch, { outcome: 'retry', status: 500, nextAttemptAtMs: dueMs })])
  const others: LaneKey[] = []
  for (const _ of [1, 2, 3]) others.push(await givenWebhook(database, { app_id }))
  for (const lane of others) await appendTo(lane, ...Array(50).fill('x'))
  await givenWebhook(database, { app_id })

  const waiting = await log.waiting()

  const at = new Date(clock.now()).toISOString()
  assert.deepEqual(waiting, [
    {
      ...webhook,
      node_id: lease.nodeId,
      fresh_at: null,
      retry_at: new Date(dueMs).toISOString()
    },
    ...others.map((lane) => ({ ...lane, node_id: null, fresh_at: at, retry_at: null }))
  ])
})

test('completes what was sent under the epoch of the lane, and ignores what was sent under an older one', async (t) => {
  const { database, log, append, take } = await given(t)
  const [one, two, three] = await append('1', '2', '3')
  const former = await take()
  const current = await take()

  const nextAttemptAtMs = Date.parse(three!.due_at) + 3_000
  const completed = await log.complete([
    settledAs(one!, former.epoch),
    settledAs(two!, current.epoch),
    settledAs(three!, former.epoch, { outcome: 'retry', status: 503, error: 'server_error', nextAttemptAtMs })
  ])

  assert.equal(current.epoch, former.epoch + 1)
  assert.equal(completed, 1)
  assert.equal(await queueLength(database), 2)
  assert.deepEqual(await attemptsOf(database, one!.id), [])
  assert.equal((await attemptsOf(database, two!.id))[0]!.latency_ms, 12)
  assert.deepEqual(await attemptsOf(database, three!.id), [])
})

test('records nothing twice when a completion is repeated', async (t) => {
  const { database, log, append, take } = await given(t)
  const [one, two] = await append('1', '2')
  const { epoch } = await take()
  const nextAttemptAtMs = Date.parse(two!.due_at) + 3_000
  const batch = [
    settledAs(one!, epoch),
    settledAs(two!, epoch, { outcome: 'retry', status: 500, error: 'server_error', nextAttemptAtMs })
  ]

  assert.equal(await log.complete(batch), 2)
  assert.equal(await log.complete(batch), 0)

  assert.equal((await attemptsOf(database, one!.id)).length, 1)
  assert.equal((await attemptsOf(database, two!.id)).length, 1)
  assert.equal(await queueLength(database), 1)
})

test('holds all that waits for an invalid webhook, and nothing of a valid one', async (t) => {
  const { database, log, webhook, append } = await given(t)
  const [inFlight] = await append(...Array(1_501).fill('x'))

  assert.equal(await log.hold(webhook, []), 0)
  await setValid(database, webhook, false)
  assert.equal(await log.hold(webhook, [inFlight!.id]), 1_500)

  assert.equal(await queueLength(database), 1)
  const { rows } = await database.pool.query("select count(*)::int as count from attempts where outcome = 'held'")
  assert.equal(rows[0].count, 1_500)
})

test('forgets what waits for a webhook that is gone, and nothing else', async (t) => {
  const { database, log, webhook, append } = await given(t)
  await append('1', '2')

  assert.equal(await log.forgetOrphans(webhook), 0)
  await database.pool.query('delete from webhooks where id = $1', [webhook.webhook_id])
  assert.equal(await log.forgetOrphans(webhook), 2)
})

test('drops records that are past their time as whole partitions, and gives up what still waits from then', async (t) => {
  const { database, clock, log, append } = await given(t)
  const [old] = await append('1')
  clock.offsetMs += 80 * 3_600_000
  await append('2')

  const { expired, dropped } = await log.prune(72 * 3_600_000)

  assert.equal(expired, 1)
  assert.deepEqual(
    dropped.map((name) => name.replace(/_\d+$/, '')),
    ['attempts', 'deliveries', 'events']
  )
  assert.equal(await queueLength(database), 1)
  assert.deepEqual((await database.pool.query('select body::text from deliveries')).rows, [{ body: '\\x32' }])
  const [attempt] = await attemptsOf(database, old!.id)
  assert.deepEqual([attempt!.outcome, attempt!.error], ['failed', 'expired'])
  assert.deepEqual(await log.prune(72 * 3_600_000), { expired: 0, dropped: [] })
})

test('keeps any text through an array literal', async (t) => {
  const { database } = await given(t)
  const texts = ['123', '', 'NULL', 'a,b', '{"x"}', 'back\\slash "quoted"', ' spaced ', 'é😀', null]

  const { rows } = await database.pool.query('select $1::text[] as texts', [textArray(texts)])

  assert.deepEqual(rows[0].texts, texts)
})
