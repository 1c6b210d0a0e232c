/** Whatever requests and imports do to a catalog, at the same time too, its groups and sets stay true. */
import assert from 'node:assert/strict'
import { after, test } from 'node:test'
import fc from 'fast-check'
import { sql } from 'kysely'
import { startApp } from '../../test/app.ts'
import type { Json } from '../../test/given-ads.ts'
import { givenMerchant, type Merchant, product } from '../../test/given-catalog.ts'
import { counts, csv, givenFeed, runFeed, startFeedHost } from '../../test/given-feed.ts'
import { checkFilters } from './filters.ts'
import { filterSql } from './filters-sql.ts'

const host = await startFeedHost({ after })
const app = await startApp({ after }, { HERALD_LOG_LEVEL: 'silent' })
const { db, pool } = app.deps.database

const FILTERS = [
  [{ attribute: 'price', operator: 'GREATER_THAN', value: '20.00 USD' }],
  [{ attribute: 'custom_label_0', operator: 'NOT_CONTAINS', value: 'sale' }],
  [
    { attribute: 'price', operator: 'LESS_THAN', value: '30.00 USD' },
    { attribute: 'custom_label_0', operator: 'MATCH', value: 'SALE' }
  ]
]

const change = fc.record({
  id: fc.integer({ min: 0, max: 11 }).map((n) => `p${n}`),
  item_group_id: fc.constantFrom(null, null, 'g0', 'g1', 'g2'),
  price: fc.constantFrom('10.00 USD', '25.00 USD', '40.00 USD', '40.00 EUR'),
  custom_label_0: fc.constantFrom(null, 'Sale', 'new')
})
const some = fc.uniqueArray(change, { selector: ({ id }) => id, minLength: 1, maxLength: 8 })
const act = fc.oneof(
  { weight: 4, arbitrary: fc.record({ put: some }) },
  { weight: 2, arbitrary: fc.record({ remove: fc.array(fc.nat({ max: 11 }), { minLength: 1, maxLength: 4 }) }) },
  { weight: 1, arbitrary: fc.record({ feed: some }) }
)
type Act = { put: Json[] } | { remove: number[] } | { feed: Json[] }

async function perform(merchant: Merchant, feedId: string, one: Act) {
  if ('put' in one) {
    const { status, data } = await merchant.put('products', {
      products: one.put.map(({ id, ...more }) => product(id, more))
    })
    assert.equal(status, 200)
    assert.deepEqual(
      data.products_response.map(({ id, errors }: Json) => [id, errors]),
      one.put.map(({ id }) => [id, []])
    )
  } else if ('remove' in one) {
    const ids = one.remove.map((n) => `p${n}`)
    const { rows } = await pool.query('select product_key from products where catalog_id = $1 and id = any($2)', [
      merchant.catalogId,
      ids
    ])
    if (rows.length > 0) await merchant.remove('products', { product_keys: rows.map((row) => row.product_key) })
  } else {
    host.serve(csv(one.feed.map(({ id, ...more }) => product(id, more))))
    const run = await runFeed(app, merchant, feedId)
    assert.equal(run.state, 'DONE', JSON.stringify(run.error))
    const { created, updated, unchanged } = counts(run)
    assert.equal(created + updated + unchanged, one.feed.length)
  }
}

/** Every row that is not as it should be. */
async function untruths({ catalogId }: Merchant) {
  const groups = await pool.query(
    `select coalesce(g.item_group_id, p.item_group_id) as item_group_id
     from (select * from item_groups where catalog_id = $1) g full join (
       select item_group_id, min(product_key) as first, count(*) as members from products
       where catalog_id = $1 and item_group_id is not null group by item_group_id
     ) p on p.item_group_id = g.item_group_id
     where g.first_product_key is distinct from p.first or (p.members > 1 and g.item_group_key is null)`,
    [catalogId]
  )
  const sets = await db.selectFrom('product_sets').selectAll().where('catalog_id', '=', catalogId).execute()
  const found: Json[] = [...groups.rows]
  for (const { id, filters, processing_status } of sets) {
    if (processing_status !== 'DONE') found.push({ id, processing_status })
    const { compiled } = checkFilters(filters)
    const { rows } = await sql`
      with wanted as (select p.product_key from products p where p.catalog_id = ${catalogId} and ${filterSql(compiled)}),
        members as (select product_key from product_set_members where catalog_id = ${catalogId} and set_id = ${id})
      select coalesce(w.product_key, m.product_key) as product_key, m.product_key is null as missing
      from wanted w full join members m using (product_key)
      where w.product_key is null or m.product_key is null`.execute(db)
    found.push(...rows.map((row) => ({ set: id, ...(row as object) })))
  }
  return found
}

test('groups and sets are true after any acts, a few of them at once', async () => {
  await fc.assert(
    fc.asyncProperty(
      fc.array(fc.array(act, { minLength: 1, maxLength: 3 }), { minLength: 2, maxLength: 6 }),
      async (rounds) => {
        const merchant = await givenMerchant(app)
        const feed = await givenFeed(merchant, host.url)
        for (const filters of FILTERS) await merchant.post('product_sets', { name: 's', type: 'FILTERED', filters })
        for (const round of rounds) {
          let feeds = 0
          // One import of a feed at a time; requests as they come.
          const acts = (round as Act[]).filter((one) => !('feed' in one) || ++feeds === 1)
          await Promise.all(acts.map((one) => perform(merchant, feed.id, one)))
          assert.deepEqual(await untruths(merchant), [], JSON.stringify(round))
        }
        await merchant.delete('')
      }
    ),
    { numRuns: 6 }
  )
})
