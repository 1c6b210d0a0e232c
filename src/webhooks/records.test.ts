import assert from 'node:assert/strict'
import { readFile } from 'node:fs/promises'
import path from 'node:path'
import { after, test } from 'node:test'
import { type CompiledQuery, Kysely, PostgresDialect } from 'kysely'
import { testDatabase } from '../../test/database.ts'
import { givenApp, givenEngine, givenWebhook } from '../../test/deliveries.ts'
import type { Tables } from '../storage/db.ts'
import { DELIVERY_STATES, stateOf, TRANSITIONS } from './delivery-state.ts'
import { overview } from './overview.ts'
import { decodeMark, encodeMark } from './record-pages.ts'
import { deliveriesOfEvent, getDelivery, listDeliveries } from './records.ts'
import { listWebhookRecords } from './records-webhooks.ts'

const DELIVERIES = 100_000
const BESIDE = 30_000
const QUEUED = 20_000
/** One in a hundred failed; one in a thousand is of a rare kind. */
const FAILED_EVERY = 100

const { database } = await testDatabase({ after })
const { engine, clock } = await givenEngine({ after }, { database, start: false })
const app_id = await givenApp(database)
const busy = await givenWebhook(database, { app_id })
const beside = await givenWebhook(database, { app_id })
const startMs = clock.now() - 86_400_000
await givenHistory()

/** Two webhooks with many deliveries over the past day, the newest of one still in the queue. */
async function givenHistory() {
  for (let hours = 0; hours <= 24; hours += 6) {
    clock.offsetMs = -hours * 3_600_000
    await engine.ensurePartitions()
  }
  clock.offsetMs = 0
  const fill = (webhook: { webhook_id: string }, first: bigint, count: number) =>
    database.pool.query(
      `with made as (
         select $3::timestamptz + make_interval(secs => 86000.0 / $5 * n) as created_at, ($4::bigint + n)::text as id,
           (4000000000000000000 + n)::text as event_id, case when n % 1000 = 7 then 'rare' else 'activity' end as kind, n
         from generate_series(1, $5::int) as n
       ), stored as (
         insert into deliveries (created_at, app_id, webhook_id, id, event_id, kind, body)
         select created_at, $1, $2, id, event_id, kind, '{"data":{}}'::bytea from made order by n
       )
       insert into attempts (created_at, delivery_created_at, latency_ms, outcome, cause, attempt, status, app_id, webhook_id, delivery_id)
       select created_at, created_at, 5, (case when n % $6 = 0 then 'failed' else 'delivered' end)::delivery_outcome, 'live', 1, 200, $1, $2, id
       from made order by n`,
      [app_id, webhook.webhook_id, new Date(startMs), first, count, FAILED_EVERY]
    )
  await fill(busy, 5_000_000_000_000_000_000n, DELIVERIES)
  await fill(beside, 5_100_000_000_000_000_000n, BESIDE)
  await database.pool.query(
    `insert into delivery_queue (due_at, created_at, app_id, webhook_id, delivery_id)
     select created_at, created_at, app_id, webhook_id, id from deliveries
     where app_id = $1 and webhook_id = $2 order by created_at desc, id desc limit ${QUEUED}`,
    [app_id, beside.webhook_id]
  )
  // As autovacuum does in time.
  await database.pool.query('vacuum analyze deliveries, attempts, delivery_queue')
}

const queries: CompiledQuery[] = []
const db = new Kysely<Tables>({
  dialect: new PostgresDialect({ pool: database.pool }),
  log: ({ level, query }) => void (level === 'query' && queries.push(query))
})

interface Plan {
  Plan: { 'Shared Hit Blocks': number; 'Shared Read Blocks': number }
}

/** Blocks that PostgreSQL had to look at: what it costs, whatever else the machine does. */
async function cost<T>(act: () => Promise<T>) {
  queries.length = 0
  const result = await act()
  let blocks = 0
  const client = await database.pool.connect()
  await client.query('begin')
  for (const { sql, parameters } of queries.filter(({ sql }) => /^\s*(select|with)/.test(sql))) {
    const { rows } = await client.query(`explain (analyze, buffers, format json) ${sql}`, [...parameters])
    const { Plan: plan } = (rows[0]['QUERY PLAN'] as Plan[])[0]!
    blocks += plan['Shared Hit Blocks'] + plan['Shared Read Blocks']
  }
  await client.query('rollback')
  client.release()
  return { blocks, result }
}

/** Before PostgreSQL 17 every value of a list is searched for by itself: more blocks, but no more with more rows. */
const version = Number((await database.pool.query('show server_version_num')).rows[0].server_version_num)
const byVersion = (blocks: number, before17: number) => (version >= 170_000 ? blocks : before17)

const filters = [
  { what: 'everything', filter: {}, blocksMax: byVersion(100, 4_000) },
  { what: 'what was delivered', filter: { state: 'delivered' }, blocksMax: byVersion(2_500, 15_000) },
  { what: 'what failed', filter: { state: 'failed' }, blocksMax: byVersion(2_500, 15_000) },
  { what: 'a rare kind', filter: { kind: 'rare' }, blocksMax: byVersion(300, 4_000) }
] as const

for (const { what, filter, blocksMax } of filters) {
  test(`a page of ${what} costs the same wherever it is among ${DELIVERIES} deliveries`, async () => {
    const seen = new Set<string>()
    const costs: number[] = []
    let token: string | undefined
    // Every page of a long list would take long; tokens may be made by anyone who knows a row.
    for (const jump of [undefined, 0.25, 0.5, 0.75, 0.999]) {
      if (jump !== undefined)
        token = tokenAt(Math.round(DELIVERIES * (1 - jump)), 'state' in filter ? filter.state : '')
      const { blocks, result } = await cost(() => listDeliveries(db, busy, { ...filter, pagination_token: token }))
      costs.push(blocks)
      for (const { id } of result.data) seen.add(id)
      assert.ok(result.meta.next_token || jump === 0.999)
    }

    assert.ok(seen.size > 5)
    assert.ok(Math.max(...costs) <= blocksMax, `blocks: ${costs}`)
  })
}

/** The token behind the nth delivery. */
function tokenAt(n: number, state: string) {
  const id = 5_000_000_000_000_000_000n + BigInt(n)
  const atMs = state === '' ? startMs + 860 * n : 0
  return encodeMark({ direction: 'next', mark: { atMs, id } }, `deliveries ${state}`)
}
test(`what waits is listed from the queue, at the same cost behind ${QUEUED} others`, async () => {
  const first = await cost(() => listDeliveries(db, beside, { state: 'waiting' }))
  let token = first.result.meta.next_token
  for (let i = 0; i < 20; i++) {
    token = (await listDeliveries(db, beside, { state: 'waiting', max_results: 200, pagination_token: token })).meta
      .next_token
  }
  const later = await cost(() => listDeliveries(db, beside, { state: 'waiting', pagination_token: token }))

  assert.equal(first.result.data.length, 50)
  assert.equal(later.result.data.length, 50)
  // Reading past the 4,000 before them would take four blocks for each; by its plan, a page looks into one partition or all.
  assert.ok(later.blocks < 4_000, `${first.blocks} blocks, then ${later.blocks}`)
})

test('one delivery is found by its id alone, and those of an event by its id, without reading everything', async () => {
  const byId = await cost(() => getDelivery(db, '5000000000000050000'))
  const byEvent = await cost(() => deliveriesOfEvent(db, busy, '4000000000000050000'))

  assert.equal(byId.result.event_id, '4000000000000050000')
  assert.deepEqual(
    byEvent.result.map(({ id }) => id),
    ['5000000000000050000']
  )
  assert.ok(byId.blocks < 500, `${byId.blocks} blocks by id`)
  assert.ok(byEvent.blocks < 1_500, `${byEvent.blocks} blocks by event`)
})

test('the list of webhooks and the overview stay cheap beside a long history and a long queue', async () => {
  const webhooks = await cost(() => listWebhookRecords(db, clock, {}))
  const seen = await cost(() => overview(db, clock))

  const record = webhooks.result.data.find(({ id }) => id === beside.webhook_id)!
  assert.deepEqual([record.backlog, record.backlog_counted_to_end], [10_000, false])
  assert.equal(record.recent_deliveries, 200)
  assert.equal(seen.result.backlog, QUEUED)
  assert.ok(webhooks.blocks < 6_000, `${webhooks.blocks} blocks`)
  assert.ok(seen.blocks < 3_000, `${seen.blocks} blocks`)
})

test('a token of another list, or one that somebody changed, is none', () => {
  const position = { direction: 'next', mark: { atMs: 1_768_478_400_000, id: 4_761_000_000_000_000_000n } } as const
  const token = encodeMark(position, 'deliveries ')

  assert.deepEqual(decodeMark(token, 'deliveries '), position)
  assert.equal(decodeMark(token, 'crc_checks'), undefined)
  for (let i = 0; i < token.length; i++) {
    const changed = `${token.slice(0, i)}${token[i] === 'A' ? 'B' : 'A'}${token.slice(i + 1)}`
    assert.equal(decodeMark(changed, 'deliveries '), undefined, changed)
  }
  assert.equal(decodeMark('', 'deliveries '), undefined)
})

test('docs/states/delivery.md shows the table of the code', async () => {
  const text = await readFile(path.resolve(import.meta.dirname, '../../docs/states/delivery.md'), 'utf8')
  const rows = Array.from(text.matchAll(/^\| ([a-z ]+) \| ([a-z ]+) \| ([a-z ]+) \|$/gm), ([, from, attempt, to]) => ({
    ...{ from, attempt, to }
  }))

  assert.deepEqual(rows, TRANSITIONS)
})

test('the state of a delivery follows from its attempts', () => {
  const live = (outcome: 'delivered' | 'retry' | 'failed' | 'held') => ({ outcome, cause: 'live' as const })
  const replayed = (outcome: 'delivered' | 'failed') => ({ outcome, cause: 'replay' as const })

  assert.equal(stateOf([]), 'waiting')
  assert.equal(stateOf([live('retry')]), 'retrying')
  assert.equal(stateOf([live('retry'), live('failed')]), 'failed')
  assert.equal(stateOf([live('held')]), 'held')
  assert.equal(stateOf([live('held'), replayed('failed')]), 'failed')
  assert.equal(stateOf([live('failed'), replayed('delivered'), replayed('failed')]), 'delivered')
  assert.equal(stateOf([live('retry'), replayed('failed')]), 'retrying')
  assert.ok(DELIVERY_STATES.includes(stateOf([live('delivered')])))
})
