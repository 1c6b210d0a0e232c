import assert from 'node:assert/strict'
import { after, test } from 'node:test'
import { startApp } from '../../test/app.ts'
import { codes, givenAdvertiser, givenLineItem, type Json } from '../../test/given-ads.ts'
import { LOOKUPS } from './targeting-lookups.ts'

const app = await startApp({ after })
const me = await givenAdvertiser(app)
const { id: line_item_id } = await givenLineItem(me)
const add = (targeting_type: string, targeting_value: string, more: Json = {}) =>
  me.post('targeting_criteria', { line_item_id, targeting_type, targeting_value, ...more })

test('adds a criterion with its label; only a location has a location_type', async () => {
  const location = await add('LOCATION', '5122804691e5fecc')
  const keyword = await add('BROAD_KEYWORD', 'coffee')

  assert.equal(location.status, 200, JSON.stringify(location.body))
  assert.deepEqual(Object.keys(location.data).sort(), [
    'created_at',
    'deleted',
    'id',
    'line_item_id',
    'location_type',
    'name',
    'operator_type',
    'targeting_type',
    'targeting_value',
    'updated_at'
  ])
  assert.equal(location.data.name, 'San Francisco-Oakland-San Jose CA, US')
  assert.equal(location.data.location_type, 'CITY')
  assert.equal(location.data.operator_type, 'EQ')
  assert.equal(keyword.data.name, 'coffee')
  assert.ok(!('location_type' in keyword.data))
  assert.equal((await add('BROAD_KEYWORD', 'coffee')).data.id, keyword.data.id, 'adding it twice is the same as once')
})

test('the values of every lookup are taken as targeting', async () => {
  for (const kind of [
    'interests',
    'languages',
    'devices',
    'platforms',
    'platform_versions',
    'conversations',
    'app_store_categories',
    'network_operators',
    'events'
  ]) {
    const [option] = (await me.get(`/targeting_criteria/${kind}`)).data
    const { status, data, body } = await add(option.targeting_type, option.targeting_value)
    assert.equal(status, 200, JSON.stringify(body))
    assert.equal(data.name, option.name)
  }
})

test('refuses unknown types, values and operators, and what is there too often', async () => {
  assert.deepEqual(codes(await add('MOOD', 'happy')), ['INVALID_TARGETING_TYPE targeting_type'])
  assert.deepEqual(codes(await add('GENDER', '3')), ['INVALID_PARAMETER targeting_value'])
  assert.deepEqual(codes(await add('INTEREST', 'nothing')), ['INVALID_PARAMETER targeting_value'])
  assert.deepEqual(codes(await add('GENDER', '1', { operator_type: 'GTE' })), ['INVALID_PARAMETER operator_type'])
  assert.equal((await add('AGE', 'AGE_OVER_21')).status, 200)
  assert.deepEqual(codes(await add('AGE', 'AGE_18_TO_34')), ['INVALID targeting_type'])
  assert.deepEqual(codes(await add('TV_SHOW', '25532778975', { line_item_id: (await givenLineItem(me)).id })), [
    'INVALID_TV_SHOW_LOCATIONS targeting_value'
  ])
  assert.deepEqual(codes(await me.post('targeting_criteria', {})), [
    'MISSING_PARAMETER line_item_id',
    'MISSING_PARAMETER targeting_type',
    'MISSING_PARAMETER targeting_value'
  ])
  assert.deepEqual(codes(await add('GENDER', '1', { line_item_id: 'zzzz' })), ['LINE_ITEM_NOT_FOUND'])
  assert.equal((await me.put('targeting_criteria/zzzz', {})).status, 405)
})

test('reads criteria of given line items, with a localized_name when a language is asked for', async () => {
  const { data } = await add('GENDER', '2')

  assert.deepEqual(codes(await me.get('targeting_criteria')), ['MISSING_PARAMETER line_item_ids'])
  const list = await me.get('targeting_criteria', {
    line_item_ids: line_item_id,
    targeting_criterion_ids: data.id,
    lang: 'en'
  })
  assert.deepEqual(list.data, [{ ...data, localized_name: data.name }])
  assert.deepEqual((await me.get(`targeting_criteria/${data.id}`)).data, data)
  assert.equal((await me.delete(`targeting_criteria/${data.id}`)).data.deleted, true)
  assert.deepEqual(codes(await me.delete(`targeting_criteria/${data.id}`)), ['TARGETING_CRITERION_NOT_FOUND'])
})

for (const { kind } of LOOKUPS) {
  test(`targeting_criteria/${kind} answers rows with the published keys`, async () => {
    const { status, data, body } = await me.get(
      `/targeting_criteria/${kind}`,
      kind === 'tv_shows' ? { locale: 'en-US' } : {}
    )
    assert.equal(status, 200, JSON.stringify(body))
    assert.ok(data.length > 0)
    assert.ok('next_cursor' in body)
    if (kind === 'locations')
      assert.deepEqual(Object.keys(data[0]).sort(), [
        'country_code',
        'location_type',
        'name',
        'targeting_type',
        'targeting_value'
      ])
  })
}

test('lookups filter and page', async () => {
  const get = async (path: string, query: Json = {}) => (await me.get(`/targeting_criteria/${path}`, query)).data

  assert.deepEqual(
    (await get('locations', { location_type: 'COUNTRIES', q: 'united st' })).map((row: Json) => row.targeting_value),
    ['96683cc9126741d1']
  )
  assert.ok((await get('locations', { country_code: 'JP' })).every((row: Json) => row.country_code === 'JP'))
  assert.ok((await get('app_store_categories', { os_type: 'IOS' })).every((row: Json) => row.os_type === 'IOS'))
  assert.ok(
    (await get('conversations', { conversation_type: 'BOOKS' })).every((row: Json) => row.conversation_type === 'BOOKS')
  )
  assert.ok((await get('network_operators')).every((row: Json) => row.country_code === 'US'))
  assert.equal((await get('tv_markets')).length, 17)
  assert.equal((await get('platforms')).length, 5)
  const [holiday] = await get('events', {
    event_types: 'HOLIDAY',
    country_codes: 'US',
    start_time: '2027-01-01',
    end_time: '2027-02-01'
  })
  assert.ok(holiday.end_time > '2027-01-01' && holiday.start_time < '2027-02-01')
  const first = await me.get('/targeting_criteria/interests', { count: 10 })
  const second = await me.get('/targeting_criteria/interests', { count: 10, cursor: first.body.next_cursor })
  assert.equal(second.data.length, 10)
  assert.notDeepEqual(first.data, second.data)
  const shows = await me.get('/targeting_criteria/tv_shows', { locale: 'en-US', count: 1 })
  assert.equal(typeof shows.data[0].targeting_value, 'number')
  assert.deepEqual(shows.body.request.params, { count: 1, locale: { countryCode: 'US', languageCode: 'en' } })
  assert.deepEqual(codes(await me.get('/targeting_criteria/tv_shows')), ['MISSING_PARAMETER locale'])
  assert.deepEqual(codes(await me.get('/targeting_criteria/tv_shows', { locale: 'en-US', count: 51 })), [
    'INVALID_PARAMETER count'
  ])
})

test('suggests what lies near, at most as many as asked for', async () => {
  const suggest = (query: Json) => me.get('targeting_suggestions', query)

  const { data } = await suggest({ suggestion_type: 'KEYWORD', targeting_values: 'biographies', count: 3 })
  assert.equal(data.length, 3)
  assert.equal(data[0].suggestion_type, 'KEYWORD')
  const [{ publisher_user_ids: users }] = (await me.get('curated_categories', { country_codes: 'US' })).data
  const others = await suggest({ suggestion_type: 'USER_ID', targeting_values: users[0] })
  assert.ok(others.data.some((row: Json) => row.suggestion_value === users[1]))
  assert.deepEqual(codes(await suggest({ suggestion_type: 'MOOD', targeting_values: 'x', count: 51 })), [
    'INVALID_PARAMETER suggestion_type',
    'INVALID_PARAMETER count'
  ])
})
