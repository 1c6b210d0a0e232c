/**
 * Bench `catalog`: a catalog of a million products. What page 5,000 of its list costs divided by page 1, a product at the
 * end divided by one at the beginning, and a filtered set from its creation to DONE divided by the bare SQL.
 */
import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import path from 'node:path'
import { createProductSet } from '../src/catalog/product-sets.ts'
import { listProducts } from '../src/catalog/products.ts'
import { loadConfig } from '../src/config.ts'
import { createHerald, type Herald } from '../src/herald.ts'
import { createLog } from '../src/serve.ts'
import { startEmbedded } from '../src/storage/embedded.ts'
import { fillCatalog } from './support/products.ts'

const PRODUCTS = 1_000_000
const PAGE = 100
const DEEP = 5_000
const ROUNDS = 41
const SET_ROUNDS = 3
const BARS = { paging_max: 1.3, set_max: 2 }
const CATALOG = '1000000000000000001'

/** The lower quartile: what it takes when nobody else is using the machine. */
const calm = (values: number[]) => values.toSorted((a, b) => a - b)[Math.floor(values.length / 4)]!
const round = (value: number) => Math.round(value * 100) / 100

interface Figures {
  doneMs: number
  bareMs: number
  members: number
}

const timed = async (act: () => Promise<unknown>) => {
  const began = performance.now()
  await act()
  return performance.now() - began
}

async function measureSet({ deps, drain }: Herald): Promise<Figures> {
  const { db, pool } = deps.database
  await pool.query('create table members_bare (like product_set_members including all)')
  await pool.query('checkpoint')
  const bareMs = await timed(() =>
    pool.query(
      `insert into members_bare select catalog_id, '1', product_key from products
       where catalog_id = $1 and price_currency = 'USD' and price_amount > 70000`,
      [CATALOG]
    )
  )
  await pool.query('checkpoint')
  const filters = [{ attribute: 'price', operator: 'GREATER_THAN', value: '700.00 USD' }]
  const limits = { computedAtOnceMax: 20_000, setsMax: 1_000 }
  let setId = ''
  const doneMs = await timed(async () => {
    const set = await createProductSet(db, CATALOG, { name: 'over 700', type: 'FILTERED', filters }, limits, new Date())
    setId = set.id
    await drain()
  })
  const { rows } = await pool.query<{ status: string; members: number; expected: number }>(
    `select processing_status as status, (select count(*)::int from members_bare) as expected,
       (select count(*)::int from product_set_members m where m.set_id = s.id) as members
     from product_sets s where id = $1`,
    [setId]
  )
  const { status, members, expected } = rows[0]!
  if (status !== 'DONE' || members !== expected) throw new Error(`The set is ${status} with ${members} of ${expected}`)
  await pool.query('drop table members_bare')
  return { doneMs, bareMs, members }
}

export default async function bench() {
  const dataDir = await mkdtemp(path.join(tmpdir(), 'herald-bench-'))
  const server = await startEmbedded({ dataDir })
  const config = loadConfig({
    HERALD_DATA_DIR: dataDir,
    HERALD_SECRET_KEY: '00'.repeat(32),
    HERALD_ADMIN_TOKEN: 'bench',
    HERALD_LOG_LEVEL: 'warn'
  })
  const herald = await createHerald({ config, databaseUrl: server.url, log: createLog(config) })
  const { database } = herald.deps
  const { pool } = database
  try {
    await pool.query(
      `insert into users (id, username, name, created_at, updated_at) values ('1', 'bench', 'b', now(), now())`
    )
    await pool.query(
      `insert into product_catalogs (id, user_id, environment, name, created_at, updated_at)
       values ($1, '1', 'production', 'bench', now(), now())`,
      [CATALOG]
    )
    await fillCatalog(pool, CATALOG, PRODUCTS)

    const deepCursor = (4_000_000_000_000_000_000n + BigInt(((DEEP - 1) * PAGE * 5) / 4)).toString()
    const page = (cursor?: string) => listProducts(database, CATALOG, { count: PAGE, ...(cursor ? { cursor } : {}) })
    const depth = await pool.query<{ before: number }>(
      `select (select count(*) from products where catalog_id = $1 and item_group_id is null and product_key < $2)::int
         + (select count(*) from item_groups where catalog_id = $1 and first_product_key < $2)::int as before`,
      [CATALOG, deepCursor]
    )
    const rounds: [number, number][] = []
    for (let i = 0; i < ROUNDS; i++) rounds.push([await timed(() => page(deepCursor)), await timed(() => page())])
    const [deep, first] = [calm(rounds.map(([last]) => last)), calm(rounds.map(([, one]) => one))]

    const sets: Figures[] = []
    for (let i = 0; i < SET_ROUNDS; i++) sets.push(await measureSet(herald))
    const { doneMs, bareMs, members } = sets.toSorted((a, b) => a.doneMs / a.bareMs - b.doneMs / b.bareMs)[
      SET_ROUNDS >> 1
    ]!

    console.log(
      JSON.stringify({
        bench: 'catalog',
        products: PRODUCTS,
        page_number: Math.round(depth.rows[0]!.before / PAGE) + 1,
        page_deep_ms: round(deep),
        page_first_ms: round(first),
        paging_ratio: round(deep / first),
        set_members: members,
        set_seconds: round(doneMs / 1000),
        set_reference_seconds: round(bareMs / 1000),
        set_ratio: round(doneMs / bareMs),
        bars: BARS,
        pass: deep / first <= BARS.paging_max && doneMs / bareMs <= BARS.set_max
      })
    )
  } finally {
    await herald.stop()
    await server.stop()
    await rm(dataDir, { recursive: true, force: true })
  }
}

if (import.meta.main) await bench()
