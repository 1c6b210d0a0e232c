import assert from 'node:assert/strict'
import { after, test } from 'node:test'
import { startApp } from '../../test/app.ts'
import { codes, givenAdvertiser } from '../../test/given-ads.ts'
import { readReference } from './reference/load.ts'
import { replaceReference } from './reference-store.ts'

const app = await startApp({ after })
const me = await givenAdvertiser(app)
const sandbox = await givenAdvertiser(app, { environment: 'sandbox', features: [] })

test('advertiser_business_categories: 16 of them, with their IAB ids', async () => {
  const { data, body } = await me.get('/advertiser_business_categories')
  assert.equal(data.length, 16)
  assert.deepEqual(data[1], { id: '1jm', name: 'Health & Pharma', iab_categories: ['IAB7'] })
  assert.equal(body.next_cursor, null)
})

test('bidding_rules: one currency or all, with data_type and total_count', async () => {
  const { body } = await me.get('/bidding_rules', { currency: 'USD' })
  assert.deepEqual(body, {
    request: { params: { currency: 'USD' } },
    data_type: 'bidding_rule',
    total_count: 1,
    data: [
      {
        currency: 'USD',
        minimum_cpe_bid_local_micro: 10000,
        maximum_cpe_bid_local_micro: 1000000000,
        minimum_denomination: 10000
      }
    ]
  })
  const all = await me.get('/bidding_rules')
  assert.equal(all.body.total_count, all.data.length)
  assert.ok(all.data.length > 30)
  assert.deepEqual(codes(await me.get('/bidding_rules', { currency: 'XXX' })), ['INVALID_PARAMETER currency'])
})

test('iab_categories: pages of 392 rows; parent_id is null for the top level', async () => {
  const first = await me.get('/iab_categories', { with_total_count: true })
  assert.equal(first.body.total_count, 392)
  assert.equal(first.data.length, 200)
  assert.deepEqual(first.data[0], { id: 'IAB1', parent_id: null, name: 'Arts & Entertainment' })
  const second = await me.get('/iab_categories', { cursor: first.body.next_cursor })
  assert.equal(second.data.length, 192)
  assert.equal(second.body.next_cursor, null)
  const ids = [...first.data, ...second.data].map((row) => row.id)
  assert.equal(new Set(ids).size, 392)
  assert.deepEqual(codes(await me.get('/iab_categories', { cursor: 'nonsense' })), ['INVALID_PARAMETER cursor'])
  assert.deepEqual(codes(await me.get('/iab_categories', { cursor: first.body.next_cursor, with_total_count: true })), [
    'EXCLUSIVE_PARAMETERS'
  ])
  for (const count of [0, 1001, 'x']) {
    assert.deepEqual(codes(await me.get('/iab_categories', { count })), ['INVALID_PARAMETER count'])
  }
})

test('placements: arrays of arrays by product type, without a cursor', async () => {
  const { body } = await me.get('/line_items/placements', { product_type: 'PROMOTED_ACCOUNT' })
  assert.deepEqual(body, {
    request: { params: { product_type: 'PROMOTED_ACCOUNT' } },
    data: [{ product_type: 'PROMOTED_ACCOUNT', placements: [['ALL_ON_SVC'], ['SVC_TIMELINE']] }]
  })
  const all = await me.get('/line_items/placements')
  assert.deepEqual(all.data.map((row: { product_type: string }) => row.product_type).sort(), [
    'MEDIA',
    'PROMOTED_ACCOUNT',
    'PROMOTED_TWEETS'
  ])
  assert.deepEqual(codes(await me.get('/line_items/placements', { product_type: 'TREND' })), [
    'INVALID_PARAMETER product_type'
  ])
})

test('content_categories: 15 with a total_count', async () => {
  const { data, body } = await me.get('/content_categories')
  assert.equal(data.length, 15)
  assert.equal(body.total_count, 15)
  assert.equal(data[0].name, 'Automotive (Cars, Trucks, Racing)')
})

test('curated_categories: by country, with a total_count; one by its id, echoed as id', async () => {
  const { data, body } = await me.get('curated_categories', { country_codes: 'us' })
  assert.ok(data.length > 5)
  assert.equal(body.total_count, data.length)
  assert.deepEqual(body.request.params, { country_codes: ['US'], account_id: me.accountId })
  assert.ok(data.every((row: { country_codes: string[] }) => row.country_codes.includes('US')))
  const one = await me.get(`curated_categories/${data[0].id}`)
  assert.deepEqual(one.data, data[0])
  assert.deepEqual(one.body.request.params, { account_id: me.accountId, id: data[0].id })
  assert.deepEqual(Object.keys(one.data).sort(), [
    'country_codes',
    'created_at',
    'description',
    'id',
    'name',
    'publisher_user_ids',
    'updated_at',
    'videos_monetized_in_last_thirty_days'
  ])
  assert.deepEqual(codes(await me.get('curated_categories')), ['MISSING_PARAMETER country_codes'])
  assert.deepEqual(codes(await me.get('curated_categories', { country_codes: 'U1' })), [
    'INVALID_PARAMETER country_codes'
  ])
  const unknown = await me.get('curated_categories/zzzz')
  assert.equal(unknown.status, 404)
  assert.deepEqual(codes(unknown), ['NOT_FOUND'])
})

test('every feature key of the document can be added to a sandbox account and removed again', async () => {
  const keys = readReference('feature_keys').filter((key) => key.in_sandbox)
  assert.equal(keys.length, 22)
  for (const { id } of keys) {
    assert.deepEqual((await sandbox.post('features', { feature_keys: id })).data, [id])
    assert.deepEqual((await sandbox.delete('features', { feature_keys: id })).data, [])
  }
})

test('features come in alphabetical order and without a cursor; a filter shows only what is accessible', async () => {
  const { body } = await sandbox.post('features', { feature_keys: 'REACH_FREQUENCY_CAP,AGE_TARGETING' })

  assert.deepEqual(body, {
    request: { params: { feature_keys: ['REACH_FREQUENCY_CAP', 'AGE_TARGETING'], account_id: sandbox.accountId } },
    data: ['AGE_TARGETING', 'REACH_FREQUENCY_CAP']
  })
  for (const key of ['REACH_AND_FREQUENCY_ANALYTICS', 'REACH_FREQUENCY_CAP', 'WEBSITE_CLICKS_CPM_BILLING']) {
    const { data } = await sandbox.get('features', { feature_keys: key })
    assert.deepEqual(data, key === 'REACH_FREQUENCY_CAP' ? [key] : [])
  }
  for (const method of ['POST', 'DELETE']) {
    assert.deepEqual(codes(await sandbox.call(method, 'features', {})), ['MISSING_PARAMETER feature_keys'])
    assert.deepEqual(codes(await sandbox.call(method, 'features', { feature_keys: 'FLYING' })), [
      'INVALID_PARAMETER feature_keys'
    ])
    assert.equal((await me.call(method, 'features', { feature_keys: 'AGE_TARGETING' })).status, 405)
  }
})

test('account_apps have nine keys and mixed-case os_type', async () => {
  const { data, body } = await me.get('account_apps', { count: 1 })
  assert.deepEqual(Object.keys(data[0]).sort(), [
    'app_store_identifier',
    'conversion_tracking_enabled',
    'created_at',
    'deep_link_pattern',
    'deleted',
    'id',
    'os_type',
    'updated_at'
  ])
  assert.equal(data[0].os_type, 'Android')
  const rest = await me.get('account_apps', { count: 1, cursor: body.next_cursor })
  assert.equal(rest.data[0].os_type, 'iOS')
})

test('the operator’s own reference rows take the place of the shipped ones, until they are given back', async () => {
  const { db } = app.deps.database
  const now = new Date(app.deps.clock.now())
  const own = [{ id: 'x1', name: 'Own', iab_categories: ['IAB7'] }]
  const heard = () => new Promise<void>((resolve) => app.deps.listener.on('reference_data', () => resolve()))

  let changed = heard()
  await replaceReference(db, 'advertiser_business_categories', own, now)
  await changed
  assert.deepEqual((await me.get('/advertiser_business_categories')).data, own)

  changed = heard()
  await replaceReference(db, 'advertiser_business_categories', null, now)
  await changed
  assert.equal((await me.get('/advertiser_business_categories')).data.length, 16)
  await assert.rejects(() => replaceReference(db, 'industry_types', [{ id: 3 }], now), /expected text/)
})

test('objectives: what each allows, with the defaults first', async () => {
  const { data } = await me.get('/line_items/objectives')
  assert.equal(data.length, 8)
  assert.deepEqual(
    data.find((row: { objective: string }) => row.objective === 'WEBSITE_CLICKS'),
    {
      objective: 'WEBSITE_CLICKS',
      goals: [
        { goal: 'LINK_CLICKS', pay_by: ['IMPRESSION', 'LINK_CLICK'] },
        { goal: 'SITE_VISITS', pay_by: ['IMPRESSION'] },
        { goal: 'WEBSITE_CONVERSIONS', pay_by: ['IMPRESSION'] }
      ],
      bid_strategies: ['AUTO', 'MAX', 'TARGET'],
      bid_strategies_on_create: ['AUTO', 'MAX', 'TARGET'],
      frequency_cap: false,
      needs_app: false,
      needs_landing_url: true
    }
  )
  const followers = data.find((row: { objective: string }) => row.objective === 'FOLLOWERS')
  assert.deepEqual(followers.bid_strategies_on_create, ['AUTO', 'TARGET'])
})

test('targeting types: each says where its values come from', async () => {
  const { data } = await me.get('/targeting_criteria/types')
  const type = (name: string) => data.find((row: { targeting_type: string }) => row.targeting_type === name)
  assert.deepEqual(type('INTEREST'), {
    targeting_type: 'INTEREST',
    primary: true,
    operator_types: ['EQ', 'NE'],
    lookup: '/targeting_criteria/interests',
    values: [],
    expects: null,
    max: 100,
    batch_only: false
  })
  assert.deepEqual(type('GENDER').values, ['1', '2'])
  assert.equal(type('EXACT_KEYWORD').expects, 'a keyword of 1 to 150 characters')
  for (const { lookup } of data.filter((row: { lookup: string | null }) => row.lookup !== null))
    assert.equal((await me.get(lookup, { locale: 'en-US' })).status, 200, lookup)
})
