/** What people ask of a catalog beyond the document: figures, search, reviews before writing, counts before a set is made. */
import assert from 'node:assert/strict'
import { after, test } from 'node:test'
import { startApp } from '../../test/app.ts'
import { codes, type Json } from '../../test/given-ads.ts'
import { givenMerchant, givenProducts, type Merchant, product } from '../../test/given-catalog.ts'
import { givenFeed } from '../../test/given-feed.ts'
import { getFigures } from './catalog-figures.ts'
import { checkFilters } from './filters.ts'
import { countMatches } from './set-count.ts'

const app = await startApp({ after })
const { db, pool } = app.deps.database
const idsOf = (rows: Json[]) => rows.map(({ id }) => id)

test('all catalogs that somebody may act on are listed with how much is in them, their own first', async () => {
  const owner = await givenMerchant(app)
  const helper = await givenMerchant(app)
  const nobody = await givenMerchant(app, { catalog: false })
  await givenProducts(owner, [product('a'), product('b', { item_group_id: 'g' }), product('c', { item_group_id: 'g' })])
  const filters = [{ attribute: 'price', operator: 'GREATER_THAN', value: '1.00 USD' }]
  await owner.post('product_sets', { name: 's', type: 'FILTERED', filters })
  const feed = await givenFeed(owner, 'https://feeds.example/f.csv')
  const run = (await owner.post(`scheduled_feeds/${feed.id}/runs`)).data
  const made = { owner_user_id: owner.userId, user_id: helper.userId, created_at: new Date() }
  await db.insertInto('catalog_delegates').values(made).execute()

  const { data } = await helper.get('/product_catalogs/overview')

  assert.deepEqual(idsOf(data), [helper.catalogId, owner.catalogId])
  const { username, created_at, ...shown } = data[1]
  assert.deepEqual(shown, {
    id: owner.catalogId,
    name: 'Shop',
    user_id: owner.userId,
    delegated: true,
    product_count: 3,
    counted_to_end: true,
    image_issue_count: 0,
    product_set_count: 1,
    scheduled_feed_id: feed.id,
    last_run_id: run.id,
    last_run_state: 'QUEUED',
    last_run_at: run.created_at
  })
  assert.deepEqual((await helper.get(`/product_catalogs/${owner.catalogId}`)).data, data[1])
  assert.equal((await owner.get('')).data.delegated, false)
  await pool.query('analyze products')
  const roughly = await getFigures(app.deps.database, owner.userId, 'production', owner.catalogId, 2)
  assert.deepEqual([roughly!.counted_to_end, roughly!.product_count >= 2], [false, true], 'many are estimated')
  assert.deepEqual((await nobody.get('/product_catalogs/overview')).data, [])
  assert.deepEqual(codes(await nobody.get(`/product_catalogs/${owner.catalogId}`)), ['NOT_FOUND'])
})

test('products are found by the beginning of their id, page by page, members of groups too', async () => {
  const merchant = await givenMerchant(app)
  const ids = ['shoe-10', 'shoe-2', 'shoe-%', 'Shoe-1', 'shoe', 'sock', 'schuh-ü']
  await givenProducts(
    merchant,
    ids.map((id) => product(id, id.startsWith('shoe-') ? { item_group_id: 'shoes' } : {}))
  )
  const found = async (query: Json) => (await merchant.get('products/search', query)).data as Json[]

  assert.deepEqual(idsOf(await found({ id_prefix: 'shoe-' })), ['shoe-%', 'shoe-10', 'shoe-2'])
  assert.deepEqual(idsOf(await found({ id_prefix: 'schuh-ü' })), ['schuh-ü'])
  assert.deepEqual(idsOf(await found({ id_prefix: 'shoe-%' })), ['shoe-%'], 'a percent sign is one')
  assert.deepEqual(await found({ id_prefix: 'boot' }), [])
  const all: Json[] = []
  for (let cursor: string | undefined; ; ) {
    const { data, body } = await merchant.get('products/search', { count: 2, ...(cursor ? { cursor } : {}) })
    all.push(...data)
    if (body.next_cursor === null) break
    cursor = body.next_cursor
  }
  assert.deepEqual(idsOf(all), ids.toSorted())
  const [first] = await found({ id_prefix: 'shoe-1' })
  assert.deepEqual(first, (await merchant.get(`products/${first!.product_key}`)).data)
})

test('a review says what a PUT would say, by field, and writes nothing', async () => {
  const merchant = await givenMerchant(app)
  await givenProducts(merchant, [product('same'), product('other')])
  const items = [
    product('same'),
    product('other', { title: 'Another' }),
    product('new', { price: '0 USD' }),
    product('bad', { price: '12,50 EUR', brand: '', color: '#ff0000' }),
    'no object'
  ]

  const { data } = await merchant.post('products/checks', { products: items })

  assert.deepEqual(
    data.map(({ id, would_be }: Json) => [id, would_be]),
    [
      ['same', 'UNCHANGED'],
      ['other', 'UPDATED'],
      ['new', 'CREATED'],
      ['bad', 'REFUSED'],
      [null, 'REFUSED']
    ]
  )
  assert.deepEqual(
    data[3].errors.map(({ field, code }: Json) => `${field} ${code}`),
    ['price INVALID_PRICE', 'brand MISSING_IDENTIFIER', 'color HEX_COLOR']
  )
  assert.deepEqual([data[2].warnings[0].field, data[2].warnings[0].code], ['price', 'ZERO_PRICE'])
  const put = await merchant.put('products', { products: [items[3]] })
  assert.deepEqual(
    put.data.products_response[0].errors,
    data[3].errors.map(({ message }: Json) => message)
  )
  assert.deepEqual(idsOf((await merchant.get('products')).data), ['same', 'other'])
  const over = await merchant.post('products/checks', { products: Array(26).fill(items[0]) })
  assert.deepEqual(codes(over), ['INVALID_PARAMETER products'])
})

test('warnings of stored products are told by product: those of the rules and those of images', async () => {
  const merchant = await givenMerchant(app)
  const [a, b, c] = await givenProducts(merchant, [
    product('a'),
    product('b', { description: 'Tom &amp; Jerry' }),
    product('c')
  ])
  const verdict = { field: 'image_link', position: 0, url: 'https://shop.example/i', checked_at: new Date() } as const
  const small = { ...verdict, code: 'IMAGE_TOO_SMALL', message: 'image_link is too small.' }
  await db
    .insertInto('image_verdicts')
    .values([b, c].map(({ product_key }) => ({ ...small, catalog_id: merchant.catalogId, product_key })))
    .execute()

  const { data } = await merchant.get('products/warnings', { product_keys: [a, b].map((each) => each.product_key) })

  assert.deepEqual(
    data.map(({ product_key, field, code }: Json) => [product_key, field, code]),
    [
      [b.product_key, 'description', 'HTML_ENTITY'],
      [b.product_key, 'image_link', 'IMAGE_TOO_SMALL']
    ]
  )
  assert.deepEqual((await merchant.get('products/warnings')).data, [])
})

const filters = (attribute: string, operator: string, value: string) => [{ attribute, operator, value }]

async function countAll(merchant: Merchant, given: Json): Promise<Json> {
  const { data, body } = await merchant.post('product_sets/count', { filters: given })
  assert.ok(data, JSON.stringify(body))
  return data
}

test('filters are counted before a set is made of them, with the first products they match', async () => {
  const merchant = await givenMerchant(app)
  const prices = Array.from({ length: 30 }, (_, i) => product(`p${i}`, { price: `${i + 1}.00 USD` }))
  await givenProducts(merchant, prices)

  const over = await countAll(merchant, filters('price', 'GREATER_THAN', '20.00 USD'))
  assert.deepEqual([over.matched, over.looked_at, over.next_cursor], [10, 30, null])
  assert.deepEqual(idsOf(over.samples), ['p20', 'p21', 'p22', 'p23', 'p24', 'p25'])
  const unset = await countAll(merchant, filters('inventory', 'LESS_THAN', '5'))
  assert.deepEqual([unset.matched, unset.samples], [0, []], 'what is unset matches nothing')
  const set = await merchant.post('product_sets', {
    name: 'over',
    type: 'FILTERED',
    filters: filters('price', 'GREATER_THAN', '20.00 USD')
  })
  assert.equal(set.data.product_ids.length, over.matched)
  const [some] = (await merchant.get('product_sets', { count_up_to: 4 })).data
  assert.deepEqual([some.product_count, some.counted_to_end], [4, false], 'a large set need not be counted to its end')
  const members = (await merchant.get(`product_sets/${set.data.id}/products`, { count: 1 })).data
  assert.deepEqual(
    [members[0].id, members[0].title, members[0].price, members[0].availability],
    ['p20', 'Shoes p20', '21.00 USD', 'in stock']
  )

  const refused = await merchant.post('product_sets/count', { filters: filters('price', 'GREATER_THAN', '20') })
  assert.deepEqual(codes(refused), ['INVALID_PARAMETER filters'])
  assert.match(refused.body.errors[0].message, /^filters\[0\]\.value "20"/)
  assert.deepEqual(codes(await merchant.post('product_sets/count', { filters: [] })), ['MISSING_PARAMETER filters'])
})

test('counting goes on where the answer before ended, and adds up', async () => {
  const merchant = await givenMerchant(app)
  await givenProducts(merchant, [product('a'), product('b'), product('c', { price: '5.00 USD' })])
  const { compiled } = checkFilters(filters('price', 'GREATER_THAN', '10.00 USD'))
  const { rows } = await pool.query('select product_key from products where catalog_id = $1 order by product_key', [
    merchant.catalogId
  ])

  const whole = await countMatches(db, merchant.catalogId, compiled, '')
  const rest = await countMatches(db, merchant.catalogId, compiled, rows[0].product_key)

  assert.deepEqual([whole.matched, whole.looked_at], [2, 3])
  assert.deepEqual([rest.matched, rest.looked_at], [1, 2])
})

test('a schedule shows its next five runs before there is a feed', async () => {
  const merchant = await givenMerchant(app)
  const weekly = { frequency: 'WEEKLY', repeat: 'FRIDAY', start_time: '03:30', time_zone: 'Europe/Berlin' }

  const { data } = await merchant.post('scheduled_feeds/next_runs', weekly)

  assert.equal(data.next_runs.length, 5)
  assert.ok(data.local_times.every((time: string) => /^\d{4}-\d\d-\d\dT03:30\+0[12]:00$/.test(time)))
  assert.ok(data.next_runs.every((time: string) => new Date(time).getUTCDay() === 5))
  const feed = await givenFeed(merchant, 'https://feeds.example/f.csv', weekly)
  assert.deepEqual((await merchant.get(`scheduled_feeds/${feed.id}/next_runs`)).data, data)
  assert.deepEqual(codes(await merchant.post('scheduled_feeds/next_runs', { ...weekly, repeat: 'Fri' })), [
    'INVALID_PARAMETER repeat'
  ])
  assert.deepEqual(codes(await merchant.post('scheduled_feeds/next_runs', { ...weekly, time_zone: 'Berlin' })), [
    'INVALID_PARAMETER time_zone'
  ])
})
