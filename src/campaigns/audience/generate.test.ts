import assert from 'node:assert/strict'
import { test } from 'node:test'
import { readReference } from '../reference/load.ts'
import { addBlock, keepOnly, newBlock } from './blocks.ts'
import { fingerprintOf, generatePopulation } from './generate.ts'
import { blocksFor, countBits, type PeopleSet, sizeOf } from './people-set.ts'
import { setKey } from './population.ts'

const population = generatePopulation(readReference, { held: 2 ** 17 })
const set = (type: string, value: string): PeopleSet => {
  const found = population.sets.get(setKey(type, value))
  assert.ok(found, `${type} ${value}`)
  return found
}
const named = (kind: 'locations' | 'interests' | 'devices', name: string) =>
  readReference(kind).find((row) => row.name === name)!.targeting_value
const location = (name: string) => set('LOCATION', named('locations', name))
const interest = (name: string) => set('INTEREST', named('interests', name))

/** Share of the first set who are also in the second. */
function share(of: PeopleSet, also: PeopleSet) {
  let both = 0
  for (let block = 0; block < blocksFor(population.held); block++) {
    const [a, b] = [newBlock(), newBlock()]
    addBlock(a, of, block)
    addBlock(b, also, block)
    keepOnly(a, b)
    both += countBits(a)
  }
  return both / sizeOf(of)
}

test('has people for every value of the lookups that people are made of', () => {
  const kinds = [
    'platforms',
    'platform_versions',
    'devices',
    'network_operators',
    'interests',
    'locations',
    'app_store_categories',
    'conversations',
    'events'
  ] as const
  for (const kind of kinds) for (const row of readReference(kind)) set(row.targeting_type, row.targeting_value)
  for (const row of readReference('tv_shows')) set('TV_SHOW', String(row.targeting_value))
})

test('everyone lives in one country, and in the places around each place', () => {
  const countries = readReference('locations').filter((row) => row.location_type === 'COUNTRIES')
  const total = countries.reduce((sum, row) => sum + sizeOf(set('LOCATION', row.targeting_value)), 0)

  assert.equal(total, population.held)
  for (const row of readReference('locations')) {
    if (!row.parent || sizeOf(set('LOCATION', row.targeting_value)) === 0) continue
    assert.equal(share(set('LOCATION', row.targeting_value), set('LOCATION', row.parent)), 1, row.name)
  }
})

test('languages go with countries', () => {
  assert.ok(share(location('Japan'), set('LANGUAGE', 'ja')) > 0.9)
  assert.ok(share(location('Brazil'), set('LANGUAGE', 'pt')) > 0.9)
  assert.ok(share(location('United States'), set('LANGUAGE', 'ja')) < 0.02)
})

test('devices and versions go with platforms, platforms with countries and ages', () => {
  const ios = set('PLATFORM', '0')

  assert.equal(share(set('DEVICE', named('devices', 'iPhone 16')), ios), 1)
  assert.equal(share(set('DEVICE', named('devices', 'Pixel 9')), ios), 0)
  assert.ok(share(location('Japan'), ios) > share(location('India'), ios) + 0.3)
  assert.ok(share(set('AGE', 'AGE_13_TO_24'), ios) > share(set('AGE', 'AGE_OVER_50'), ios))
  assert.ok(
    share(set('AGE', 'AGE_OVER_50'), set('PLATFORM', '4')) > share(set('AGE', 'AGE_13_TO_24'), set('PLATFORM', '4'))
  )
})

test('interests go with ages, genders and countries', () => {
  const [male, female] = [set('GENDER', '1'), set('GENDER', '2')]
  const gaming = interest('Gaming/Console gaming')

  assert.ok(share(female, interest('Beauty/Cosmetics')) > 3 * share(male, interest('Beauty/Cosmetics')))
  assert.ok(share(set('AGE', 'AGE_13_TO_24'), gaming) > 3 * share(set('AGE', 'AGE_OVER_50'), gaming))
  assert.ok(
    share(location('India'), interest('Sports/Cricket')) >
      5 * share(location('United States'), interest('Sports/Cricket'))
  )
})

test('who has one interest is likelier to have another', () => {
  const [coffee, dogs] = [interest('Food and drink/Coffee and tea'), interest('Pets/Dogs')]

  assert.ok(share(coffee, dogs) > (1.3 * sizeOf(dogs)) / population.held)
})

test('age buckets are nested, and everyone is thirteen or older', () => {
  assert.equal(sizeOf(set('AGE', 'AGE_OVER_13')), population.held)
  assert.equal(share(set('AGE', 'AGE_25_TO_49'), set('AGE', 'AGE_18_TO_54')), 1)
})

test('TV shows are watched in their markets', () => {
  const show = readReference('tv_shows').find((row) => row.locales.includes('ja-JP'))!

  assert.equal(share(set('TV_SHOW', String(show.targeting_value)), location('Japan')), 1)
})

test('the same seed makes the same people, another seed others', () => {
  const small = { held: 2 ** 14 }
  const once = generatePopulation(readReference, small)
  const again = generatePopulation(readReference, small)
  const other = generatePopulation(readReference, { ...small, seed: 'other' })

  assert.deepEqual(again, once)
  assert.notDeepEqual(other.sets.get('GENDER 1'), once.sets.get('GENDER 1'))
  assert.notEqual(other.fingerprint, once.fingerprint)
})

test('other reference rows are another population', () => {
  const fewer = ((kind: 'interests') => readReference(kind).slice(1)) as typeof readReference

  assert.notEqual(fingerprintOf(fewer), fingerprintOf(readReference))
})
