import assert from 'node:assert/strict'
import { readdirSync } from 'node:fs'
import { test } from 'node:test'
import { base36Id, decimalId, hexId } from './derive-id.ts'
import { checkReference, REFERENCE_KINDS, readReference, referenceId } from './load.ts'

test('ships one file for every kind and no other', () => {
  const files = readdirSync(new URL('./data/', import.meta.url)).filter((name) => name.endsWith('.json'))

  assert.deepEqual(files.sort(), REFERENCE_KINDS.map((kind) => `${kind}.json`).sort())
})

for (const kind of REFERENCE_KINDS) {
  test(`ships ${kind} that would pass as an operator's own rows`, () => {
    assert.deepEqual(checkReference(kind, readReference(kind)), [])
    assert.ok(readReference(kind).length > 0)
  })
}

const SIZES: [Parameters<typeof readReference>[0], number][] = [
  ['iab_categories', 392],
  ['advertiser_business_categories', 16],
  ['content_categories', 15],
  ['bidding_rules', 35],
  ['tv_markets', 17],
  ['platforms', 5],
  ['industry_types', 14]
]
for (const [kind, size] of SIZES) {
  test(`${kind} has the ${size} published rows`, () => assert.equal(readReference(kind).length, size))
}

test('keeps the ids that are published', () => {
  const value = (
    kind: 'locations' | 'devices' | 'network_operators' | 'platform_versions' | 'interests',
    name: string
  ) => readReference(kind).find((row) => row.name === name)?.targeting_value

  assert.equal(value('locations', 'United States'), '96683cc9126741d1')
  assert.equal(value('locations', 'San Francisco-Oakland-San Jose CA'), '5122804691e5fecc')
  assert.equal(
    readReference('locations').find((row) => row.name === 'Los Angeles' && row.location_type === 'CITIES')
      ?.targeting_value,
    '3b77caf94bfc81fe'
  )
  assert.equal(value('devices', 'iPhone 3GS'), '1q')
  assert.equal(value('devices', 'iPhone 4'), '1r')
  assert.equal(value('network_operators', 'Airpeak'), '1i')
  assert.equal(value('platform_versions', 'Ice Cream Sandwich'), '17')
  assert.equal(value('platform_versions', 'Jelly Bean'), '18')
  assert.equal(value('interests', 'Books and literature/Biographies and memoirs'), '1001')
})

const PUBLISHED = ['96683cc9126741d1', '5122804691e5fecc', '3b77caf94bfc81fe', '2l', '1b', '2t', '14', '1i']
const unpublished = (row: { targeting_value: string }) => !PUBLISHED.includes(row.targeting_value)

test('derives every other id from the natural key of its row', () => {
  for (const row of readReference('locations').filter(unpublished)) {
    assert.equal(row.targeting_value, hexId('location', `${row.location_type}/${row.country_code}/${row.name}`))
  }
  for (const row of readReference('network_operators').filter(unpublished)) {
    assert.equal(row.targeting_value, base36Id('network_operator', `${row.country_code}/${row.name}`, 3))
  }
  for (const row of readReference('app_store_categories')) {
    assert.equal(row.targeting_value, base36Id('app_store_category', `${row.os_type}/${row.name}`, 4))
  }
  for (const row of readReference('conversations')) {
    assert.equal(row.targeting_value, decimalId('conversation', `${row.conversation_type}/${row.name}`, 11))
  }
  for (const row of readReference('events')) assert.equal(row.targeting_value, base36Id('event', row.name, 6))
})

test('gives every currency its smallest unit as denomination', () => {
  const unit = (currency: string) =>
    readReference('bidding_rules').find((rule) => rule.currency === currency)?.minimum_denomination

  assert.equal(unit('USD'), 10_000)
  assert.equal(unit('JPY'), 1_000_000)
  assert.equal(unit('KWD'), 1_000)
})

test('puts every location inside one of its own country that exists and is larger', () => {
  const rows = new Map(readReference('locations').map((row) => [row.targeting_value, row]))
  for (const row of rows.values()) {
    if (row.location_type === 'COUNTRIES') {
      assert.equal(row.parent, null)
      continue
    }
    const parent = rows.get(row.parent ?? '')
    assert.equal(parent?.country_code, row.country_code, row.name)
    assert.ok(parent && parent.people_thousands >= row.people_thousands, row.name)
  }
})

test('names only IAB categories that exist in the category sets', () => {
  const ids = new Set(readReference('iab_categories').map((row) => row.id))
  for (const kind of ['advertiser_business_categories', 'content_categories'] as const) {
    for (const row of readReference(kind))
      for (const id of row.iab_categories) assert.ok(ids.has(id), `${row.id} ${id}`)
  }
})

test('has conversations of all 36 types, and TV shows in all 17 markets', () => {
  assert.equal(new Set(readReference('conversations').map((row) => row.conversation_type)).size, 36)
  assert.deepEqual(
    new Set(readReference('tv_shows').flatMap((row) => row.locales)),
    new Set(readReference('tv_markets').map((row) => row.locale))
  )
})

test('stores a row under its id', () => {
  assert.equal(
    referenceId('tv_shows', readReference('tv_shows')[0]!),
    String(readReference('tv_shows')[0]!.targeting_value)
  )
  assert.equal(referenceId('bidding_rules', readReference('bidding_rules')[0]!), 'AED')
})

test("tells an operator what is wrong with rows of one's own", () => {
  assert.deepEqual(checkReference('industry_types', {}), ['industry_types: expected an array of rows'])
  assert.deepEqual(checkReference('industry_types', [{ id: 'A' }, { id: 'A' }, { id: 3 }, 'B']), [
    'industry_types[1]: A occurs twice',
    'industry_types[2].id: expected text',
    'industry_types[3]: expected an object'
  ])
})
