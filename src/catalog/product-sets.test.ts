import assert from 'node:assert/strict'
import { after, test } from 'node:test'
import { startApp } from '../../test/app.ts'
import { codes, type Json } from '../../test/given-ads.ts'
import { givenMerchant, givenProducts, type Merchant, product } from '../../test/given-catalog.ts'
import { checkFilters } from './filters.ts'
import { recomputeSets } from './set-job.ts'
import { computeMembers, listMembers } from './set-members.ts'
import { lockCatalog, transact } from './transactions.ts'

const app = await startApp({ after }, { HERALD_PRODUCT_SET_AT_ONCE_MAX: '30', HERALD_LOG_LEVEL: 'silent' })
const { db, pool } = app.deps.database

const over = (value: string) => [{ attribute: 'price', operator: 'GREATER_THAN', value }]
const filtered = (merchant: Merchant, filters: Json, name = 'set') =>
  merchant.post('product_sets', { name, type: 'FILTERED', filters })
const idsOf = async (merchant: Merchant, id: string) => (await merchant.get(`product_sets/${id}`)).data.product_ids

for (const environment of ['production', 'sandbox'] as const) {
  test(`${environment}: a filtered set is created, read and deleted, and echoes as documented`, async () => {
    const merchant = await givenMerchant(app, { environment })
    await givenProducts(merchant, [
      product('cheap', { price: '100.00 USD' }),
      product('dear', { price: '100.01 USD' }),
      product('foreign', { price: '500.00 EUR' })
    ])
    const body = { name: 'over 100', description: 'above', type: 'FILTERED', filters: over('100.00 USD') }

    const created = await merchant.post('product_sets', body)

    const { id } = created.data
    const set = { ...body, id, product_ids: ['dear'], processing_status: 'DONE' }
    assert.deepEqual(created.body, {
      request: { params: { ...body, product_catalog_id: merchant.catalogId } },
      data: set
    })
    const params = { product_catalog_id: merchant.catalogId, id }
    assert.deepEqual((await merchant.get(`product_sets/${id}`)).body, { request: { params }, data: set })
    assert.deepEqual((await merchant.delete(`product_sets/${id}`)).body, {
      request: { params },
      data: { ...set, product_ids: [] }
    })
    assert.deepEqual(codes(await merchant.get(`product_sets/${id}`)), ['NOT_FOUND'])
    assert.deepEqual(codes(await merchant.delete(`product_sets/${id}`)), ['NOT_FOUND'])
  })

  test(`${environment}: a manual set is created, changed and deleted`, async () => {
    const merchant = await givenMerchant(app, { environment })
    const [a, b, c] = await givenProducts(
      merchant,
      ['a', 'b', 'c'].map((id) => product(id))
    )
    const created = await merchant.post('product_sets', {
      name: 'mine',
      type: 'MANUAL',
      product_keys: [a.product_key, b.product_key, a.product_key]
    })
    assert.equal(created.status, 200, JSON.stringify(created.body))
    const { id } = created.data
    assert.deepEqual(created.data, {
      id,
      name: 'mine',
      description: null,
      type: 'MANUAL',
      filters: [],
      product_ids: ['a', 'b'],
      processing_status: 'DONE'
    })

    const update = { name: 'ours', description: 'picked', product_keys: [b.product_key, c.product_key] }
    const updated = await merchant.put(`product_sets/${id}`, update)
    assert.deepEqual(updated.body, {
      request: { params: { ...update, product_catalog_id: merchant.catalogId, id } },
      data: { ...created.data, name: 'ours', description: 'picked', product_ids: ['b', 'c'] }
    })
    const cleared = await merchant.put(`product_sets/${id}`, { description: '' })
    assert.deepEqual([cleared.data.description, cleared.data.name], [null, 'ours'])

    await merchant.remove('products', { product_keys: [b.product_key] })
    assert.deepEqual(await idsOf(merchant, id), ['c'], 'a deleted product leaves its sets')
    assert.deepEqual((await merchant.delete(`product_sets/${id}`)).data.product_ids, ['c'])
  })

  test(`${environment}: what is wrong with a set is said by code and parameter`, async () => {
    const merchant = await givenMerchant(app, { environment })
    const keys = (
      await givenProducts(
        merchant,
        Array.from({ length: 51 }, (_, i) => product(`p${i}`))
      )
    ).map((result) => result.product_key)
    const set = (more: Json) => ({ name: 'n', ...more })
    const filters = over('1.00 USD')
    const cases: [input: Json, expected: string[]][] = [
      [{}, ['MISSING_PARAMETER name', 'MISSING_PARAMETER type']],
      [{ name: '', type: 'MANUAL', product_keys: keys.slice(1, 2) }, ['INVALID_PARAMETER name']],
      [set({ type: 'OTHER' }), ['INVALID_PARAMETER type']],
      [set({ type: 'FILTERED' }), ['MISSING_PARAMETER filters']],
      [set({ type: 'FILTERED', filters: [] }), ['MISSING_PARAMETER filters']],
      [set({ type: 'MANUAL' }), ['MISSING_PARAMETER product_keys']],
      [set({ type: 'MANUAL', product_keys: [] }), ['INVALID_PARAMETER product_keys']],
      [set({ type: 'MANUAL', product_keys: keys }), ['INVALID_PARAMETER product_keys']],
      [set({ type: 'MANUAL', product_keys: ['99'] }), ['INVALID_PARAMETER product_keys']],
      [set({ type: 'FILTERED', filters, product_keys: keys.slice(1, 2) }), ['EXCLUSIVE_PARAMETERS']],
      [set({ type: 'FILTERED', filters: Array(31).fill(filters[0]) }), ['INVALID_PARAMETER filters']],
      [set({ type: 'FILTERED', filters: over('1.00') }), ['INVALID_PARAMETER filters']],
      [
        set({ type: 'FILTERED', filters: [{ attribute: 'title', operator: 'MATCH', value: 'x' }] }),
        ['INVALID_PARAMETER filters']
      ],
      [
        set({ type: 'FILTERED', filters: [{ attribute: 'price', operator: 'CONTAINS', value: '1.00 USD' }] }),
        ['INVALID_PARAMETER filters']
      ]
    ]
    for (const [input, expected] of cases) {
      const answer = await merchant.post('product_sets', input)
      assert.deepEqual([answer.status, codes(answer)], [400, expected], JSON.stringify(input).slice(0, 200))
    }
    assert.equal(
      (await merchant.post('product_sets', set({ type: 'MANUAL', product_keys: keys.slice(1) }))).status,
      200
    )
    assert.equal((await filtered(merchant, Array(30).fill(filters[0]))).status, 200)
  })

  test(`${environment}: every filter attribute takes the operators that suit it, and no other`, async () => {
    const merchant = await givenMerchant(app, { environment })
    const label = Object.fromEntries([0, 1, 2, 3, 4].map((i) => [`custom_label_${i}`, 'Low Season']))
    const texts = { product_type: 'Low Season', ext_product_category: 'Low Season', ...label }
    await givenProducts(merchant, [
      product('p', { inventory: 5, sale_price: '5.00 USD', price: '50.00 USD', ...texts })
    ])
    const numbers = { price: '50 USD', sale_price: '5 USD', inventory: '5' }
    const meant: Record<string, boolean> = {
      GREATER_THAN: false,
      EQUAL_TO: true,
      LESS_THAN: false,
      MATCH: true,
      CONTAINS: true,
      NOT_CONTAINS: false
    }
    for (const [attribute, value] of Object.entries({ ...numbers, ...texts })) {
      const suits = attribute in numbers ? ['GREATER_THAN', 'LESS_THAN'] : ['MATCH', 'CONTAINS', 'NOT_CONTAINS']
      for (const [operator, isMember] of Object.entries(meant)) {
        const answer = await filtered(merchant, [{ attribute, operator, value }])
        const what = `${attribute} ${operator}`
        if ([...suits, 'EQUAL_TO'].includes(operator))
          assert.deepEqual(answer.data.product_ids, isMember ? ['p'] : [], what)
        else assert.deepEqual(codes(answer), ['INVALID_PARAMETER filters'], what)
      }
    }
  })

  test(`${environment}: "updating a FILTERED product set is not supported"`, async () => {
    const merchant = await givenMerchant(app, { environment })
    const { data } = await filtered(merchant, over('1.00 USD'))

    const answer = await merchant.put(`product_sets/${data.id}`, { name: 'other' })

    assert.deepEqual([answer.status, codes(answer)], [400, ['INVALID type']])
  })
}

test('sets are listed with their first ids and their size, and their products by page', async () => {
  const merchant = await givenMerchant(app)
  await givenProducts(
    merchant,
    Array.from({ length: 5 }, (_, i) => product(`p${i}`))
  )
  const one = (await filtered(merchant, over('1.00 USD'), 'one')).data
  const two = (await filtered(merchant, over('99.00 USD'), 'two')).data

  const first = await merchant.get('product_sets', { count: 1 })
  assert.deepEqual(first.data, [{ ...one, product_count: 5, counted_to_end: true }])
  const second = await merchant.get('product_sets', { count: 1, cursor: first.body.next_cursor })
  assert.deepEqual([second.data, second.body.next_cursor], [[{ ...two, product_count: 0, counted_to_end: true }], null])

  const page = await merchant.get(`product_sets/${one.id}/products`, { count: 3 })
  const rest = await merchant.get(`product_sets/${one.id}/products`, { count: 3, cursor: page.body.next_cursor })
  assert.deepEqual(
    [...page.data, ...rest.data].map((each) => each.id),
    ['p0', 'p1', 'p2', 'p3', 'p4']
  )
  for (const list of ['product_sets', `product_sets/${one.id}/products`])
    assert.deepEqual(codes(await merchant.get(list, { cursor: 'garbage' })), ['INVALID_PARAMETER cursor'])
})

test('membership follows the products as they change', async () => {
  const merchant = await givenMerchant(app)
  const label = (operator: string) => [{ attribute: 'custom_label_0', operator, value: 'Summer' }]
  const dear = (await filtered(merchant, over('50.00 USD'))).data.id
  const summer = (await filtered(merchant, label('CONTAINS'))).data.id
  const others = (await filtered(merchant, label('NOT_CONTAINS'))).data.id
  const now = async () => [await idsOf(merchant, dear), await idsOf(merchant, summer), await idsOf(merchant, others)]

  const [a] = await givenProducts(merchant, [product('a', { price: '60.00 USD' }), product('b')])
  assert.deepEqual(await now(), [['a'], [], ['a', 'b']])
  await givenProducts(merchant, [product('a'), product('b', { price: '51 USD', custom_label_0: 'late SUMMER' })])
  assert.deepEqual(await now(), [['b'], ['b'], ['a']])
  await merchant.remove('products', { product_keys: [a.product_key] })
  assert.deepEqual(await now(), [['b'], ['b'], []])
})

test('members of a deleted set go an hour later, those that came in late included', async () => {
  const merchant = await givenMerchant(app)
  const [a] = await givenProducts(merchant, [product('a')])
  const { id } = (await filtered(merchant, over('1.00 USD'))).data
  await merchant.delete(`product_sets/${id}`)
  await app.drain()
  // From a write that had seen the set before it was deleted.
  const late = { catalog_id: merchant.catalogId, set_id: id, product_key: `${BigInt(a.product_key) + 1n}` }
  await db.insertInto('product_set_members').values(late).execute()
  const members = () => db.selectFrom('product_set_members').selectAll().where('set_id', '=', id).execute()
  assert.equal((await members()).length, 2)

  const headers = { authorization: `Bearer ${app.adminToken}` }
  await app.apps.main.inject({ method: 'POST', url: '/admin/clock', headers, payload: { advance: '1h' } })

  assert.deepEqual(await members(), [])
})

/** Products straight into the table, as an import would leave them. */
const givenRows = (merchant: Merchant, count: number) =>
  pool.query(
    `insert into products (catalog_id, product_key, id, title, description, availability, condition, price, price_amount,
       price_currency, link, image_link, content_hash, images_changed, created_at, updated_at)
     select $1, (2000000000000000000 + n)::text, 'row-' || n, 't', 'd', 'in stock', 'new', n || '.00 USD', n * 100, 'USD',
       'https://a.example', 'https://a.example', md5(n::text)::uuid, true, now(), now()
     from generate_series(1, $2::int) n`,
    [merchant.catalogId, count]
  )

test('a set of a large catalog is PROCESSING until the background has computed it', async () => {
  const merchant = await givenMerchant(app)
  await givenRows(merchant, 1_000)

  const { data } = await filtered(merchant, over('990.00 USD'))
  assert.deepEqual([data.processing_status, data.product_ids], ['PROCESSING', []])
  await givenProducts(merchant, [product('meanwhile', { price: '70000.00 USD' })])
  await app.drain()

  const done = await merchant.get(`product_sets/${data.id}`)
  assert.equal(done.data.processing_status, 'DONE')
  const expected = Array.from({ length: 10 }, (_, i) => `row-${991 + i}`)
  assert.deepEqual(done.data.product_ids.toSorted(), [...expected, 'meanwhile'].toSorted())
})

test('members are computed in steps, and computed again after the products have changed', async () => {
  const merchant = await givenMerchant(app)
  await givenRows(merchant, 25)
  const set = { catalog_id: merchant.catalogId, id: '1' }
  const { compiled } = checkFilters(over('20.00 USD'))
  const compute = async () => {
    let steps = 1
    for (let after: string | undefined = ''; ; steps++) {
      const from: string = after
      after = await db.transaction().execute((tx) => computeMembers(tx, { ...set, compiled }, from, 10))
      if (after === undefined) break
    }
    const members = await listMembers(db, set.catalog_id, set.id, '', 100)
    return { steps, ids: members.map((member) => member.id) }
  }

  assert.deepEqual(await compute(), { steps: 3, ids: [21, 22, 23, 24, 25].map((n) => `row-${n}`) })
  await pool.query("update products set price_amount = 5000 where catalog_id = $1 and id in ('row-3', 'row-9')", [
    merchant.catalogId
  ])
  await pool.query("update products set price_amount = 100 where catalog_id = $1 and id in ('row-22', 'row-25')", [
    merchant.catalogId
  ])
  assert.deepEqual((await compute()).ids, ['row-3', 'row-9', 'row-21', 'row-23', 'row-24'])
})

test('after a large import sets are PROCESSING once more, and then true again', async () => {
  const merchant = await givenMerchant(app)
  await givenRows(merchant, 30)
  const { data } = await filtered(merchant, over('28.00 USD'))
  assert.deepEqual(data.product_ids, ['row-29', 'row-30'])
  await pool.query('update products set price_amount = price_amount + 100 where catalog_id = $1', [merchant.catalogId])

  await db.transaction().execute((tx) => recomputeSets(tx, merchant.catalogId))
  assert.equal((await merchant.get(`product_sets/${data.id}`)).data.processing_status, 'PROCESSING')
  await app.drain()

  const after = (await merchant.get(`product_sets/${data.id}`)).data
  assert.deepEqual([after.processing_status, after.product_ids], ['DONE', ['row-28', 'row-29', 'row-30']])
})

test('a very large set is answered whole, as a stream', async () => {
  const merchant = await givenMerchant(app)
  await givenRows(merchant, 12_000)
  const { data } = await filtered(merchant, over('0.50 USD'), 'all "of" them')
  await app.drain()

  const { body } = await merchant.get(`product_sets/${data.id}`)

  assert.deepEqual(body.request, { params: { product_catalog_id: merchant.catalogId, id: data.id } })
  assert.equal(new Set(body.data.product_ids).size, 12_000)
  assert.equal(body.data.product_ids[11_999], 'row-12000')
  assert.deepEqual({ ...body.data, product_ids: [] }, { ...data, processing_status: 'DONE' })
})

test('a set that cannot be computed is FAILED in the end', async () => {
  const merchant = await givenMerchant(app)
  await givenRows(merchant, 31)
  const { data } = await filtered(merchant, over('1.00 USD'))
  await db
    .updateTable('product_sets')
    .set({ filters: JSON.stringify([{ attribute: 'price', operator: 'WORN', value: 'OUT' }]) })
    .where('id', '=', data.id)
    .execute()

  for (let i = 0; i < 3; i++) {
    await app.drain()
    await app.deps.database.pool.query("update jobs set due_at = to_timestamp(0) where kind = 'catalog.product_set'")
  }
  await app.drain()

  assert.equal((await merchant.get(`product_sets/${data.id}`)).data.processing_status, 'FAILED')
  assert.equal((await merchant.put('products', { products: [product('goes on')] })).status, 200, 'it stops no write')

  await db
    .updateTable('product_sets')
    .set({ filters: JSON.stringify(over('30.00 USD')) })
    .where('id', '=', data.id)
    .execute()
  await db.transaction().execute((tx) => recomputeSets(tx, merchant.catalogId))
  await app.drain()
  const again = (await merchant.get(`product_sets/${data.id}`)).data
  assert.deepEqual([again.processing_status, again.product_ids], ['DONE', ['row-31']], 'the next large import heals it')
})

test('a set of a catalog that an import holds is PROCESSING until it lets go', async () => {
  const merchant = await givenMerchant(app)
  await givenProducts(merchant, [product('a')])
  const holder = await pool.connect()
  await holder.query('begin')
  await holder.query('select from product_catalogs where id = $1 for no key update', [merchant.catalogId])

  const { data } = await filtered(merchant, over('1.00 USD'))
  assert.deepEqual([data.processing_status, data.product_ids], ['PROCESSING', []])
  const busy = transact(db, (tx) => lockCatalog(tx, merchant.catalogId, 'update'), 0)
  await assert.rejects(busy, { status: 423, code: 'LOCK_ACQUISITION_TIMEOUT' })
  await holder.query('rollback')
  holder.release()
  await app.drain()

  assert.deepEqual(await idsOf(merchant, data.id), ['a'])
})
