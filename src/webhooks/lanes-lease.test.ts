import assert from 'node:assert/strict'
import { type TestContext, test } from 'node:test'
import { startConsumer } from '../../test/consumer.ts'
import { testDatabase } from '../../test/database.ts'
import { givenApp, givenEngine, givenWebhook, queueLength, stoppedClock } from '../../test/deliveries.ts'
import type { Database } from '../storage/db.ts'
import { createLease } from './lanes-lease.ts'
import type { LaneKey } from './log.ts'

const LEASE_MS = 60_000

async function given(t: TestContext, webhooks = 1) {
  const { database } = await testDatabase(t)
  const app_id = await givenApp(database)
  const lanes: LaneKey[] = []
  for (let i = 0; i < webhooks; i++) lanes.push(await givenWebhook(database, { app_id }))
  return { database, app_id, lanes, lane: lanes[0]! }
}

async function joined(database: Database) {
  const lease = createLease(database, LEASE_MS)
  await lease.join()
  return lease
}

const expire = (database: Database, nodeId: string) =>
  database.pool.query("update delivery_nodes set lease_until = now() - interval '1 s' where id = $1", [nodeId])

test('gives a lane to one node only, however many ask at once', async (t) => {
  const { database, lanes } = await given(t, 20)
  const leases = [await joined(database), await joined(database), await joined(database)]

  const taken = await Promise.all(leases.map((lease) => lease.take(lanes)))

  assert.equal(taken.flat().length, 20)
  assert.equal(new Set(taken.flat().map((lane) => lane.webhook_id)).size, 20)
})

test('gives the lanes of a node whose lease ended to others, with a higher epoch', async (t) => {
  const { database, lane } = await given(t)
  const [first, second] = [await joined(database), await joined(database)]
  const [before] = await first.take([lane])
  assert.deepEqual(await second.take([lane]), [])

  await expire(database, first.nodeId)
  assert.equal(await second.renew(), true)
  const [after] = await second.take([lane])

  assert.equal(after!.epoch, before!.epoch + 1)
  assert.deepEqual(await first.look([before!]), [])
  assert.deepEqual(await second.look([after!]), [after])
})

test('tells a node that its lease ended, and lets it come back under another name', async (t) => {
  const { database, lane } = await given(t)
  const lease = await joined(database)
  await lease.take([lane])
  const name = lease.nodeId
  await expire(database, name)

  assert.equal(await lease.renew(), false)
  assert.ok(lease.remainingMs() <= 0)
  await lease.join()

  assert.notEqual(lease.nodeId, name)
  assert.ok(lease.remainingMs() > 0)
})

test('cannot take a lane after its own lease was removed', async (t) => {
  const { database, lane } = await given(t)
  const [stopped, other] = [await joined(database), await joined(database)]
  await expire(database, stopped.nodeId)
  await other.renew()

  await assert.rejects(stopped.take([lane]), { code: '23503' })
})

test('stops believing in its lease before the database does, also after a sleep that the monotonic clock missed', async (t) => {
  const { database } = await given(t)
  const time = { monotonicMs: 1_000, wallMs: 1_000 }
  const lease = createLease(database, LEASE_MS, { monotonic: () => time.monotonicMs, wall: () => time.wallMs })
  await lease.join()

  time.monotonicMs += LEASE_MS - 1
  assert.equal(lease.remainingMs(), 1)
  time.monotonicMs += 1
  assert.equal(lease.remainingMs(), 0)
  await lease.renew()
  assert.equal(lease.remainingMs(), LEASE_MS)
  time.wallMs += LEASE_MS + 5
  assert.equal(lease.remainingMs(), -5)
})

test('takes no lane of a webhook that does not exist', async (t) => {
  const { database, app_id } = await given(t)
  const lease = await joined(database)

  assert.deepEqual(await lease.take([{ app_id, webhook_id: '1' }]), [])
})

test('two nodes send each delivery once, and a stopped one leaves its lanes to the other', async (t) => {
  const { database, lanes } = await given(t, 12)
  const consumer = await startConsumer(t)
  const clock = stoppedClock()
  const first = await givenEngine(t, { database, consumer, clock })
  const second = await givenEngine(t, { database, consumer, clock })
  const publisher = await givenEngine(t, { database, consumer, clock, start: false })
  const publish = () => publisher.publish(...lanes.map((lane) => ({ ...lane, body: '{}' })))

  await publish()
  await consumer.received(12)
  await first.engine.drain()
  const shares = [first.engine.stats().lanes, second.engine.stats().lanes]
  await first.engine.stop()
  await publish()
  await consumer.received(24)
  await second.engine.drain()

  assert.equal(shares[0]! + shares[1]!, 12)
  assert.equal(second.engine.stats().lanes, 12)
  assert.equal(consumer.requests.length, 24)
  assert.equal(new Set(consumer.requests.map((request) => request.headers['webhook-id'])).size, 24)
  assert.equal(await queueLength(database), 0)
})
