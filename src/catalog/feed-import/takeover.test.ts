/** Nodes that really die, by SIGKILL, at the worst moments of an import. */
import assert from 'node:assert/strict'
import { type ChildProcess, spawn } from 'node:child_process'
import { once } from 'node:events'
import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import path from 'node:path'
import { after, type TestContext, test } from 'node:test'
import { startApp, TEST_ADMIN_TOKEN } from '../../../test/app.ts'
import type { Behaviour } from '../../../test/consumer.ts'
import type { Json } from '../../../test/given-ads.ts'
import { givenMerchant, givenProducts, type Merchant, product } from '../../../test/given-catalog.ts'
import { csv, givenFeed, stagingTables, startFeedHost, until } from '../../../test/given-feed.ts'

const host = await startFeedHost({ after })
const app = await startApp({ after }, { HERALD_LOG_LEVEL: 'silent' })
const { pool } = app.deps.database
const PRODUCTS = 2_000

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

async function givenRun() {
  const merchant = await givenMerchant(app)
  await givenProducts(merchant, [product('p0', { title: 'As it was' }), product('mine')])
  const feed = await givenFeed(merchant, host.url)
  const { data } = await merchant.post(`scheduled_feeds/${feed.id}/runs`)
  const look = async (): Promise<Json> => (await merchant.get(`scheduled_feeds/${feed.id}/runs/${data.id}`)).data
  return { merchant, look }
}

const catalogOf = async ({ catalogId }: Merchant) => {
  const { rows } = await pool.query(
    `select count(*)::int as count, min(title) filter (where id = 'p0') as title from products where catalog_id = $1`,
    [catalogId]
  )
  return [rows[0].count, rows[0].title]
}
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

  const { state, counts } = await look()
  assert.deepEqual([state, counts.created, counts.updated], ['DONE', PRODUCTS - 1, 1])
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

  const { state, counts } = await look()
  assert.deepEqual([state, counts.read, counts.created, counts.updated], ['DONE', PRODUCTS, PRODUCTS - 1, 1])
  assert.deepEqual(await catalogOf(merchant), [PRODUCTS + 1, 'Shoes p0'])
  const swept = await app.apps.main.inject({
    method: 'POST',
    url: '/admin/clock',
    headers: { authorization: `Bearer ${TEST_ADMIN_TOKEN}` },
    payload: { advance: '6h' }
  })
  assert.equal(swept.statusCode, 200, swept.body)
  assert.equal(await stagingTables(app), 0, 'what the dead node had staged is swept up')
})
