/** The default population: ten million people, of whom about a tenth is held. The same seed makes the same people. */
import { createHash } from 'node:crypto'
import type { readReference } from '../reference/load.ts'
import type { Location } from '../reference/types.ts'
import { AGE_BUCKETS, ageRange, GENDERS } from '../rules/targeting.ts'
import { generateTastes } from './generate-tastes.ts'
import {
  ACTIVITY,
  AGE_BANDS,
  COUNTRIES,
  type CountryModel,
  GENDER_UNKNOWN_SHARE,
  MALE_SHARE,
  OTHER_COUNTRY,
  SECOND_LANGUAGE_SHARE,
  WIFI_ONLY_SHARE
} from './model.ts'
import { IdList, type PeopleSet, rangeSet } from './people-set.ts'
import { DEFAULT_PEOPLE, HELD_MAX, type Population, setKey } from './population.ts'
import { chooser, stream, unit } from './random.ts'

/** Raised when the same input would make other people. */
const GENERATOR_VERSION = 1

/** The lookups that the people are made of. */
export const POPULATION_KINDS = [
  'locations',
  'languages',
  'platforms',
  'platform_versions',
  'devices',
  'network_operators',
  'interests',
  'app_store_categories',
  'conversations',
  'events',
  'tv_shows',
  'tv_markets'
] as const

export interface GenerateOptions {
  seed?: string
  people?: number
  held?: number
}

export function fingerprintOf(read: typeof readReference, options: GenerateOptions = {}): string {
  const { seed = 'herald', people = DEFAULT_PEOPLE, held = HELD_MAX } = options
  const hash = createHash('sha256').update(JSON.stringify([GENERATOR_VERSION, seed, people, held]))
  for (const kind of POPULATION_KINDS) hash.update(JSON.stringify(read(kind)))
  return hash.digest('hex').slice(0, 16)
}

/** People of one country, who are neighbours. */
export interface CountryRange {
  code: string
  model: CountryModel
  from: number
  to: number
}

/** What is known of each person while the sets are made. */
export interface People {
  held: number
  age: Uint8Array
  /** 0 unknown, 1 male, 2 female. */
  gender: Uint8Array
  /** Index into the platforms, or NO_MOBILE. */
  mobile: Uint8Array
  activity: Uint8Array
}

export const NO_MOBILE = 255
const [IOS, ANDROID, BLACKBERRY, MOBILE_WEB, DESKTOP] = [0, 1, 2, 3, 4]

export type AddSet = (type: string, value: string, set: PeopleSet) => void

export function generatePopulation(read: typeof readReference, options: GenerateOptions = {}): Population {
  const { seed = 'herald', people = DEFAULT_PEOPLE, held = HELD_MAX } = options
  const sets = new Map<string, PeopleSet>()
  const add: AddSet = (type, value, set) => sets.set(setKey(type, value), set)

  const ranges = settle(read('locations'), held, add)
  const known = describePeople(ranges, held, seed)
  addAges(known, add)
  addGenders(known, add)
  addLanguages(ranges, held, seed, add)
  addPlatforms(read, known, seed, add)
  addOperators(read, ranges, known, seed, add)
  generateTastes(read, ranges, known, seed, add)

  const homes = ranges.map(({ from, to }) => [from, to] as const)
  return { people, held, sets, homes, fingerprint: fingerprintOf(read, options) }
}

/** Gives every location a stretch of numbers, inside that of the location around it. */
function settle(locations: readonly Location[], held: number, add: AddSet): CountryRange[] {
  const inside = new Map<string | null, Location[]>()
  for (const row of locations) inside.set(row.parent, [...(inside.get(row.parent) ?? []), row])
  const countries = inside.get(null) ?? []
  const models = countries.map((row) => COUNTRIES[row.country_code] ?? OTHER_COUNTRY)
  const weights = countries.map((row, i) => row.people_thousands * models[i]!.reach)
  const total = weights.reduce((sum, weight) => sum + weight, 0)

  const place = (row: Location, from: number, to: number) => {
    add('LOCATION', row.targeting_value, rangeSet(from, to))
    let next = from
    let before = 0
    for (const child of inside.get(row.targeting_value) ?? []) {
      before += child.people_thousands
      const end = Math.min(to, from + Math.round(((to - from) * before) / row.people_thousands))
      place(child, next, end)
      next = end
    }
  }

  let before = 0
  let from = 0
  return countries.map((row, i) => {
    before += weights[i]!
    const to = Math.round((held * before) / total)
    const range = { code: row.country_code, model: models[i]!, from, to }
    place(row, from, to)
    from = to
    return range
  })
}

function describePeople(ranges: readonly CountryRange[], held: number, seed: string): People {
  const people: People = {
    held,
    age: new Uint8Array(held),
    gender: new Uint8Array(held),
    mobile: new Uint8Array(held),
    activity: new Uint8Array(held)
  }
  const next = stream(`${seed}/people`)
  const level = chooser(ACTIVITY.map(([share]) => share))
  for (const { model, from, to } of ranges) {
    const band = chooser(AGE_BANDS.map(([, , old, young]) => old + (young - old) * model.young))
    for (let i = from; i < to; i++) {
      const [low, high] = AGE_BANDS[band(next())]!
      const age = low + Math.floor(next() * (high - low + 1))
      people.age[i] = age
      people.gender[i] = next() < GENDER_UNKNOWN_SHARE ? 0 : next() < MALE_SHARE ? 1 : 2
      people.mobile[i] = mobilePlatform(model.ios, age, next())
      people.activity[i] = level(next())
    }
  }
  return people
}

/** The young have the newer platform more often, the old more often none. */
function mobilePlatform(ios: number, age: number, u: number): number {
  const none = age < 25 ? 0.02 : age < 50 ? 0.06 : 0.16
  const others = age < 35 ? 0.01 : 0.03
  if (u < none) return NO_MOBILE
  if (u < none + others) return u < none + others * 0.2 ? BLACKBERRY! : MOBILE_WEB!
  const tilted = Math.min(0.95, ios * (age < 25 ? 1.2 : age < 50 ? 1 : 0.8))
  return (u - none - others) / (1 - none - others) < tilted ? IOS! : ANDROID!
}

function addAges({ age, held }: People, add: AddSet) {
  for (const bucket of AGE_BUCKETS) {
    const [from, to] = ageRange(bucket)
    const ids = new IdList()
    for (let i = 0; i < held; i++) if (age[i]! >= from && age[i]! <= to) ids.push(i)
    add('AGE', bucket, ids.toSet(held))
  }
}

function addGenders({ gender, held }: People, add: AddSet) {
  for (const value of Object.values(GENDERS)) {
    const ids = new IdList()
    for (let i = 0; i < held; i++) if (gender[i] === Number(value)) ids.push(i)
    add('GENDER', value, ids.toSet(held))
  }
}

function addLanguages(ranges: readonly CountryRange[], held: number, seed: string, add: AddSet) {
  const next = stream(`${seed}/languages`)
  const speakers = new Map<string, IdList>()
  const list = (language: string) => {
    const ids = speakers.get(language) ?? new IdList()
    speakers.set(language, ids)
    return ids
  }
  for (const { model, from, to } of ranges) {
    const languages = Object.keys(model.languages)
    const lists = languages.map(list)
    const english = list('en')
    const choose = chooser(Object.values(model.languages))
    for (let i = from; i < to; i++) {
      const first = lists[choose(next())]!
      first.push(i)
      if (first !== english && next() < SECOND_LANGUAGE_SHARE) english.push(i)
    }
  }
  for (const [language, ids] of speakers) add('LANGUAGE', language, ids.toSet(held))
}

/** Platforms, and the versions and devices of the two that have them. */
function addPlatforms(read: typeof readReference, { mobile, age, held }: People, seed: string, add: AddSet) {
  const next = stream(`${seed}/platforms`)
  const platforms = [IOS, ANDROID, BLACKBERRY, MOBILE_WEB, DESKTOP].map(() => new IdList())
  const parts = ['iOS', 'Android'].map((os) => [
    newestMost(read('platform_versions').filter((row) => row.os_type === os)),
    newestMost(read('devices').filter((row) => row.os_type === os))
  ])
  const wifiOnly = new IdList()
  const onNetwork = new IdList()
  for (let i = 0; i < held; i++) {
    const platform = mobile[i]!
    const atDesk = platform === NO_MOBILE || next() < (age[i]! < 25 ? 0.3 : 0.45)
    if (atDesk) platforms[DESKTOP!]!.push(i)
    if (platform === NO_MOBILE) continue
    platforms[platform]!.push(i)
    for (const part of parts[platform] ?? []) part.lists[part.choose(next())]?.push(i)
    if (next() < WIFI_ONLY_SHARE) wifiOnly.push(i)
    else onNetwork.push(i)
  }
  platforms.forEach((ids, platform) => {
    add('PLATFORM', String(platform), ids.toSet(held))
  })
  for (const { rows, lists } of parts.flat()) {
    rows.forEach((row, i) => {
      add(row.targeting_type, row.targeting_value, lists[i]!.toSet(held))
    })
  }
  add('WIFI_ONLY', '1', wifiOnly.toSet(held))
  add('WIFI_ONLY', '0', onNetwork.toSet(held))
}

/** The lookups list what is new last; it is what most people have. */
function newestMost<T extends { targeting_type: string; targeting_value: string }>(rows: readonly T[]) {
  const weights = rows.map((row, i) => 1.25 ** i * (0.5 + unit(row.targeting_value)))
  return { rows, lists: rows.map(() => new IdList()), choose: chooser(weights) }
}

function addOperators(
  read: typeof readReference,
  ranges: readonly CountryRange[],
  { mobile, held }: People,
  seed: string,
  add: AddSet
) {
  const next = stream(`${seed}/operators`)
  for (const { code, from, to } of ranges) {
    const operators = read('network_operators').filter((row) => row.country_code === code)
    if (operators.length === 0) continue
    const lists = operators.map(() => new IdList())
    const choose = chooser(operators.map((row) => 0.05 + unit(`operator ${row.targeting_value}`) ** 2))
    for (let i = from; i < to; i++) if (mobile[i] !== NO_MOBILE) lists[choose(next())]!.push(i)
    operators.forEach((row, i) => {
      add('NETWORK_OPERATOR', row.targeting_value, lists[i]!.toSet(held))
    })
  }
}
