/** What becomes of an import when its node, its database connection, its feed or its catalog goes away in the middle. */
import assert from 'node:assert/strict'
import { type ChildProcess, spawn } from 'node:child_process'
import { once } from 'node:events'
import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import path from 'node:path'
import { after, afterEach, type TestContext, test } from 'node:test'
import { startApp, TEST_ADMIN_TOKEN } from '../../../test/app.ts'
import type { Behaviour } from '../../../test/consumer.ts'
import type { Json } from '../../../test/given-ads.ts'
import { givenMerchant, givenProducts, type Merchant, product } from '../../../test/given-catalog.ts'
import { counts, csv, givenFeed, none, stagingTables, startFeedHost, until } from '../../../test/given-feed.ts'
import { createHerald } from '../../herald.ts'

const host = await startFeedHost({ after })
const app = await startApp({ after }, { HERALD_LOG_LEVEL: 'silent' })
const { pool } = app.deps.database
const PRODUCTS = 2_000

// Feeds of other tests must not wake up when this one moves the clock.
afterEach(() => pool.query("delete from jobs where kind = 'catalog.feed_schedule'"))

/** A node as people run it, on the database of the test. */
async function startNode(t: TestContext): Promise<ChildProcess> {
  const dataDir = await mkdtemp(path.join(tmpdir(), 'herald-takeover-'))
  const child = spawn(process.execPath, ['src/main.ts'], {
    cwd: path.resolve(import.meta.dirname, '../../..'),
    stdio: 'ignore',
    env: {
      PATH: process.env.PATH,
      HOME: process.env.HOME,
      DATABASE_URL: app.databaseUrl,
      HERALD_DATA_DIR: dataDir,
      HERALD_SECRET_KEY: '00'.repeat(32),
      HERALD_ADMIN_TOKEN: TEST_ADMIN_TOKEN,
      HERALD_PORT: '0',
      HERALD_SANDBOX_PORT: '0',
      HERALD_ROLES: 'work',
      HERALD_EGRESS_ALLOW_PRIVATE: '1',
      HERALD_IMAGE_CHECKS: '0'
    }
  })
  t.after(async () => {
    child.kill('SIGKILL')
    await rm(dataDir, { recursive: true, force: true })
  })
  return child
}

async function kill(node: ChildProcess) {
  assert.equal(node.exitCode, null, 'it was alive until now')
  node.kill('SIGKILL')
  await once(node, 'exit')
}

/** Its jobs are anybody's once their leases have run out. */
const waitForLeases = () =>
  pool.query("update jobs set lease_until = now() - interval '1 second' where lease_until > now()")

async function advance(duration: string) {
  const response = await app.apps.main.inject({
    method: 'POST',
    url: '/admin/clock',
    headers: { authorization: `Bearer ${TEST_ADMIN_TOKEN}` },
    payload: { advance: duration }
  })
  assert.equal(response.statusCode, 200, response.body)
}

async function givenRun(schedule: Json = {}) {
  const merchant = await givenMerchant(app)
  await givenProducts(merchant, [product('p0', { title: 'As it was' }), product('mine')])
  const feed = await givenFeed(merchant, host.url, schedule)
  const { data } = await merchant.post(`scheduled_feeds/${feed.id}/runs`)
  const look = async (): Promise<Json> => (await merchant.get(`scheduled_feeds/${feed.id}/runs/${data.id}`)).data
  return { merchant, look, run: data as Json }
}

const catalogOf = async ({ catalogId }: Merchant) => {
  const { rows } = await pool.query(
    `select count(*)::int as count, min(title) filter (where id = 'p0') as title from products where catalog_id = $1`,
    [catalogId]
  )
  return [rows[0].count, rows[0].title]
}
const ids = async (merchant: Merchant) => (await merchant.get('products')).data.map((each: Json) => each.id)
const file = csv(Array.from({ length: PRODUCTS }, (_, i) => product(`p${i}`)))

test('a node killed between staging and merging is followed by one that merges, without another download', async (t) => {
  host.serve(file)
  const { merchant, look } = await givenRun()
  const holder = await pool.connect()
  await holder.query('begin')
  await holder.query('select from product_catalogs where id = $1 for update', [merchant.catalogId])
  const requests = host.requests.length
  const node = await startNode(t)
  await until('everything is staged and the merge waits', async () => {
    const { rowCount } = await pool.query(
      "select from pg_stat_activity where datname = current_database() and wait_event_type = 'Lock'"
    )
    return rowCount === 1 && (await look()).state === 'MERGING'
  })

  await kill(node)
  await holder.query('rollback')
  holder.release()
  assert.deepEqual([(await look()).state, await catalogOf(merchant)], ['MERGING', [2, 'As it was']])
  assert.equal(await stagingTables(app), 1)
  await waitForLeases()
  await app.drain()

  const done = await look()
  assert.deepEqual([done.state, counts(done)], ['DONE', { ...none, created: PRODUCTS - 1, updated: 1 }])
  assert.deepEqual(await catalogOf(merchant), [PRODUCTS + 1, 'Shoes p0'])
  assert.equal(host.requests.length, requests + 1, 'the file was fetched once')
  assert.equal(await stagingTables(app), 0)
})

test('a node killed in the middle of a download leaves the catalog as it was, and another begins again', async (t) => {
  host.respond(((_, response) => void response.writeHead(200).write(file.slice(0, file.length / 2))) as Behaviour)
  const { merchant, look } = await givenRun()
  const node = await startNode(t)
  await until('rows are being staged', async () => (await look()).progress.rows_read > 0)

  await kill(node)
  assert.deepEqual([(await look()).state, await catalogOf(merchant)], ['FETCHING', [2, 'As it was']])
  host.serve(file)
  await waitForLeases()
  await app.drain()

  const done = await look()
  assert.deepEqual([done.state, counts(done)], ['DONE', { ...none, created: PRODUCTS - 1, updated: 1 }])
  assert.deepEqual(await catalogOf(merchant), [PRODUCTS + 1, 'Shoes p0'])
  await advance('6h')
  assert.equal(await stagingTables(app), 0, 'what the dead node had staged is swept up')
})

test('rows that were lost with the database are fetched again', async () => {
  host.serve(file)
  const { merchant, look, run } = await givenRun()
  // As a database leaves it that crashed while a node was about to merge: unlogged tables are empty, or gone.
  await pool.query(
    "update feed_runs set state = 'MERGING', rows_read = 7, staging_table = 'feed_stage_1_gone' where id = $1",
    [run.id]
  )

  await app.drain()

  const done = await look()
  assert.deepEqual([done.state, counts(done)], ['DONE', { ...none, created: PRODUCTS - 1, updated: 1 }])
  assert.deepEqual(await catalogOf(merchant), [PRODUCTS + 1, 'Shoes p0'])
})

test('an import that ends its worker again and again is given up with a clear word', async () => {
  host.serve(file)
  const { merchant, look, run } = await givenRun()
  await pool.query('update jobs set attempts = 5 where key = $1', [run.id])

  await app.drain()

  const { state, error } = await look()
  assert.deepEqual([state, error.code, await catalogOf(merchant)], ['FAILED', 'INTERRUPTED', [2, 'As it was']])
})

test('a catalog that is deleted while it is imported leaves nothing behind', async () => {
  host.respond(((_, response) => {
    response.writeHead(200).write(file)
    const drip = setInterval(() => response.write('\r\n'), 20)
    response.once('close', () => clearInterval(drip))
  }) as Behaviour)
  const { merchant } = await givenRun()
  const draining = app.drain()
  await until('it is under way', async () => (await stagingTables(app)) === 1)

  assert.equal((await merchant.delete('')).status, 200)
  await draining

  for (const table of ['products', 'scheduled_feeds', 'feed_runs', 'feed_rejected_rows']) {
    const { rows } = await pool.query(`select from ${table} where catalog_id = $1`, [merchant.catalogId])
    assert.equal(rows.length, 0, table)
  }
  assert.equal(await stagingTables(app), 0)
})

test('a feed that is due while its last import is at work waits for its next time', async () => {
  const { merchant, run } = await givenRun({ frequency: 'HOURLY', repeat: '1' })
  await pool.query("update jobs set due_at = now() + interval '1 year' where key = $1", [run.id])
  const list = `scheduled_feeds/${run.scheduled_feed_id}/runs`

  await advance('90m')
  assert.deepEqual(
    (await merchant.get(list)).data.map((each: Json) => each.id),
    [run.id]
  )
  host.serve(file)
  await pool.query('update jobs set due_at = now() where key = $1', [run.id])
  await app.drain()
  await advance('1h')

  assert.deepEqual(
    (await merchant.get(list)).data.map((each: Json) => [each.trigger, each.state]),
    [
      ['schedule', 'DONE'],
      ['request', 'DONE']
    ]
  )
})

test('what nobody confirms for a week is superseded, and reports are forgotten after a month', async () => {
  const { merchant, look, run } = await givenRun()
  await pool.query("delete from jobs where kind in ('catalog.feed_schedule', 'catalog.feed_run')")
  await pool.query("update feed_runs set state = 'NEEDS_CONFIRMATION' where id = $1", [run.id])

  const age = (days: number) =>
    pool.query("update feed_runs set created_at = created_at - $2 * interval '1 day' where id = $1", [run.id, days])

  await age(6)
  await advance('6h')
  assert.equal((await look()).state, 'NEEDS_CONFIRMATION')
  await age(1)
  await advance('6h')
  assert.equal((await look()).state, 'SUPERSEDED')
  await age(23)
  await advance('6h')

  assert.deepEqual((await merchant.get(`scheduled_feeds/${run.scheduled_feed_id}/runs`)).data, [])
})

/** Another node on the same database. */
async function secondNode(t: TestContext) {
  const { config, log, clock } = app.deps
  const node = await createHerald({ config, databaseUrl: app.databaseUrl, log, clock })
  t.after(() => node.stop())
  return node
}
test('a node that dies in the middle of a download is followed by another, and its own rows count for nothing', async (t) => {
  const merchant = await givenMerchant(app)
  const feed = await givenFeed(merchant, host.url)
  const whole = csv(Array.from({ length: 2_000 }, (_, i) => product(`p${i}`)))
  let release = () => {}
  host.respond(((_, response) => {
    response.writeHead(200)
    response.write(whole.slice(0, whole.length / 2))
    release = () => response.end(whole.slice(whole.length / 2))
  }) as Behaviour)
  const { data } = await merchant.post(`scheduled_feeds/${feed.id}/runs`, {})
  const state = async () => (await merchant.get(`scheduled_feeds/${feed.id}/runs/${data.id}`)).data.state
  const stuck = app.drain()
  await until('it is fetching', async () => (await state()) === 'FETCHING')
  await until('it is stuck', async () => (await stagingTables(app)) === 1)

  // As if its node had been gone for longer than a lease.
  await pool.query("update jobs set lease_until = now() - interval '1 minute' where kind = 'catalog.feed_run'")
  host.serve(whole)
  const node = await secondNode(t)
  await node.drain()

  assert.equal(await state(), 'DONE')
  const { rows } = await pool.query('select count(*)::int as count from products where catalog_id = $1', [
    merchant.catalogId
  ])
  assert.equal(rows[0].count, 2_000)
  release()
  await stuck
  const after = (await merchant.get(`scheduled_feeds/${feed.id}/runs/${data.id}`)).data
  assert.deepEqual([after.state, counts(after)], ['DONE', { ...none, created: 2_000 }])
  assert.equal(await stagingTables(app), 0)
})

test('a merge that is cut off changes nothing, and is finished later without another download', async () => {
  const merchant = await givenMerchant(app)
  await givenProducts(merchant, [product('locked')])
  host.serve(csv([product('first'), product('locked', { title: 'New' }), product('last')]))
  const feed = await givenFeed(merchant, host.url)
  const { data } = await merchant.post(`scheduled_feeds/${feed.id}/runs`, {})
  const find = async () => (await merchant.get(`scheduled_feeds/${feed.id}/runs/${data.id}`)).data
  const holder = await pool.connect()
  await holder.query('begin')
  await holder.query("select from products where catalog_id = $1 and id = 'locked' for update", [merchant.catalogId])

  const draining = app.drain()
  const waiting =
    "select pid from pg_stat_activity where wait_event_type = 'Lock' and query like '%insert into products%'"
  await until('the merge waits', async () => (await pool.query(waiting)).rowCount === 1)
  assert.deepEqual(await ids(merchant), ['locked'])
  await pool.query(`select pg_terminate_backend(pid) from (${waiting}) w`)
  await draining
  await holder.query('rollback')
  holder.release()
  assert.deepEqual([(await find()).state, await ids(merchant)], ['MERGING', ['locked']])
  const requests = host.requests.length
  await advance('1m')

  assert.deepEqual(counts(await find()), { ...none, created: 2, updated: 1 })
  assert.deepEqual(await ids(merchant), ['locked', 'first', 'last'])
  assert.equal(host.requests.length, requests)
})

test('a feed that is deleted while it is imported leaves nothing behind', async () => {
  const merchant = await givenMerchant(app)
  const feed = await givenFeed(merchant, host.url)
  host.respond(((_, response) => {
    response.writeHead(200).write(csv(Array.from({ length: 100 }, (_, i) => product(`p${i}`))))
    const drip = setInterval(() => response.write('\r\n'), 20)
    response.once('close', () => clearInterval(drip))
  }) as Behaviour)
  await merchant.post(`scheduled_feeds/${feed.id}/runs`, {})
  const draining = app.drain()
  await until('it is under way', async () => (await stagingTables(app)) === 1)

  assert.equal((await merchant.delete(`scheduled_feeds/${feed.id}`)).status, 200)
  await draining

  assert.deepEqual(await ids(merchant), [])
  assert.equal(await stagingTables(app), 0)
})
