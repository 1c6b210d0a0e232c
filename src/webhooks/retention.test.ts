import assert from 'node:assert/strict'
import { test } from 'node:test'
import { testDatabase } from '../../test/database.ts'
import { createPartitions, dropPartitions, PARTITION_HOURS, PARTITIONED_TABLES } from './retention.ts'

const HOUR_MS = 3_600_000
const NOON_MS = Date.UTC(2026, 0, 15, 12)

const partitionsOf = async (pool: import('pg').Pool) =>
  (
    await pool.query<{ name: string }>(
      `select inhrelid::regclass::text as name from pg_inherits
       where inhparent = any($1::regclass[]) order by 1`,
      [PARTITIONED_TABLES]
    )
  ).rows.map((row) => row.name)

test('makes the partitions of a moment once, however many nodes ask at the same time', async (t) => {
  const { database } = await testDatabase(t)
  const nodes = [1, 2, 3].map(() => createPartitions(database.pool, { now: () => NOON_MS }))

  await Promise.all(nodes.flatMap((node) => [node.ensure(NOON_MS), node.ensure(NOON_MS + HOUR_MS)]))

  assert.deepEqual(await partitionsOf(database.pool), [
    'attempts_2026011512',
    'deliveries_2026011512',
    'events_2026011512'
  ])
  assert.equal(nodes[0]!.ensure(NOON_MS + (PARTITION_HOURS - 1) * HOUR_MS), undefined)
})

test('has the partitions of the coming day ready', async (t) => {
  const { database } = await testDatabase(t)
  const partitions = createPartitions(database.pool, { now: () => NOON_MS })

  await partitions.ensureAhead()

  assert.equal((await partitionsOf(database.pool)).length, 3 * (24 / PARTITION_HOURS + 1))
  assert.equal(partitions.ensure(NOON_MS + 24 * HOUR_MS), undefined)
})

test('drops partitions that ended before the cut, and no other', async (t) => {
  const { database } = await testDatabase(t)
  const { pool } = database
  const partitions = createPartitions(pool, { now: () => NOON_MS })
  await partitions.ensureAhead()
  const insert = (iso: string, id: string) =>
    pool.query(
      `insert into events (created_at, occurred_at, id, event_type, payload) values ($1, $1, $2, 'post.create', '{}')`,
      [iso, id]
    )
  await insert('2026-01-15T12:00:00.000Z', '1')
  await insert('2026-01-15T18:00:00.000Z', '2')

  assert.deepEqual(await dropPartitions(pool, NOON_MS + PARTITION_HOURS * HOUR_MS - 1), [])
  const dropped = await dropPartitions(pool, NOON_MS + PARTITION_HOURS * HOUR_MS)

  assert.deepEqual(dropped, ['attempts_2026011512', 'deliveries_2026011512', 'events_2026011512'])
  assert.deepEqual((await pool.query('select id from events')).rows, [{ id: '2' }])
  assert.deepEqual(await dropPartitions(pool, NOON_MS + PARTITION_HOURS * HOUR_MS), [])
})

test('finishes what a node left behind that died while dropping', async (t) => {
  const { database } = await testDatabase(t)
  const { pool } = database
  await createPartitions(pool, { now: () => NOON_MS }).ensure(NOON_MS)
  await pool.query('alter table events detach partition events_2026011512 concurrently')

  const dropped = await dropPartitions(pool, NOON_MS + 48 * HOUR_MS)

  assert.deepEqual(dropped, ['attempts_2026011512', 'deliveries_2026011512', 'events_2026011512'])
  assert.equal((await pool.query("select to_regclass('events_2026011512') as left")).rows[0].left, null)
})
