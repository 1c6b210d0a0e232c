/** What people of the default population like and do: interests, conversations, shows, events, apps. Any number of each. */
import type { readReference } from '../reference/load.ts'
import type { AddSet, CountryRange, People } from './generate.ts'
import { CONVERSATION_GROUPS, INTEREST_GROUPS, OTHER_GROUP, REGIONAL } from './model.ts'
import { IdList, setOf } from './people-set.ts'
import { stream, unit } from './random.ts'
import { Drawing, type Stratum, stratify } from './strata.ts'

interface Making {
  read: typeof readReference
  ranges: readonly CountryRange[]
  held: number
  strata: Stratum[]
  drawing: Drawing
  seed: string
  add: AddSet
}

export function generateTastes(
  read: typeof readReference,
  ranges: readonly CountryRange[],
  people: People,
  seed: string,
  add: AddSet
) {
  const { held } = people
  const making = { read, ranges, held, strata: stratify(people), drawing: new Drawing(held), seed, add }
  addConversations(making, addInterests(making))
  addTvShows(making)
  addEvents(making)
  addApps(making)
}

/** Who has an interest of the group, ascending. */
type FansOf = (group: string) => Uint32Array

function addInterests({ read, ranges, held, strata, drawing, seed, add }: Making): FansOf {
  const groups: string[] = []
  const fans = new Uint32Array(held)
  for (const row of read('interests')) {
    const group = row.name.split('/')[0]!
    if (!groups.includes(group)) groups.push(group)
    const { share, male, female, ages } = INTEREST_GROUPS[group] ?? OTHER_GROUP
    const genders = [(male + female) / 2, male, female]
    // Within a group some interests are several times as common as others.
    const own = share * (0.3 + 1.2 * unit(`interest ${row.targeting_value}`) ** 2)
    const chance = (factor: number) => (of: Stratum) => own * factor * genders[of.gender]! * ages[of.age]!
    const key = `${seed}/interest ${row.targeting_value}`
    const regional = REGIONAL[row.name]
    if (!regional) drawing.from(strata, key, [0, held], chance(1))
    else {
      for (const { code, from, to } of ranges) {
        const factor = regional.countries.includes(code) ? regional.inside : regional.outside
        drawing.from(strata, `${key} ${code}`, [from, to], chance(factor))
      }
    }
    const ids = drawing.take()
    const bit = 1 << (groups.indexOf(group) & 31)
    for (let i = 0; i < ids.length; i++) fans[ids[i]!]! |= bit
    add('INTEREST', row.targeting_value, setOf(ids, held))
  }
  return (group) => {
    const index = groups.indexOf(group)
    if (index < 0) return new Uint32Array()
    const bit = 1 << (index & 31)
    const ids = new IdList()
    for (let i = 0; i < held; i++) if (fans[i]! & bit) ids.push(i)
    return ids.toArray()
  }
}

/** Everybody talks a little about everything; those with an interest of the kind talk about it much more. */
function addConversations({ read, held, strata, drawing, seed, add }: Making, fansOf: FansOf) {
  const groupOf = (type: string) => CONVERSATION_GROUPS.find(([pattern]) => pattern.test(type))?.[1] ?? ''
  const fans = new Map<string, Uint32Array>()
  for (const row of read('conversations')) {
    const group = groupOf(row.conversation_type)
    const interested = fans.get(group) ?? fansOf(group)
    fans.set(group, interested)
    const share = 0.004 + 0.03 * unit(`conversation ${row.targeting_value}`) ** 3
    const key = `${seed}/conversation ${row.targeting_value}`
    drawing.from(strata, key, [0, held], () => share * 0.4)
    drawing.list(interested, stream(`${key} fans`), share * 2)
    add('CONVERSATION', row.targeting_value, drawing.takeSet())
  }
}

/** A show is watched in the countries of its markets, more by the older. */
function addTvShows({ read, ranges, strata, drawing, seed, add }: Making) {
  const marketCountry = new Map(read('tv_markets').map((row) => [row.locale, row.country_code]))
  for (const row of read('tv_shows')) {
    const value = String(row.targeting_value)
    const countries = new Set(row.locales.map((locale) => marketCountry.get(locale)))
    const share = 0.02 + 0.12 * unit(`show ${value}`) ** 2
    for (const { code, from, to } of ranges) {
      if (!countries.has(code)) continue
      drawing.from(strata, `${seed}/show ${value} ${code}`, [from, to], ({ age }) => share * [0.6, 1, 1.7][age]!)
    }
    add('TV_SHOW', value, drawing.takeSet())
  }
}

/** An event is followed where it happens, and by a few elsewhere. */
function addEvents({ read, ranges, held, strata, drawing, seed, add }: Making) {
  for (const row of read('events')) {
    const share = 0.01 + 0.08 * unit(`event ${row.targeting_value}`) ** 2
    const key = `${seed}/event ${row.targeting_value}`
    drawing.from(strata, key, [0, held], () => (row.is_global ? share : share / 20))
    for (const { code, from, to } of row.is_global ? [] : ranges) {
      if (row.country_codes.includes(code)) drawing.from(strata, `${key} ${code}`, [from, to], () => share)
    }
    add('EVENT', row.targeting_value, drawing.takeSet())
  }
}

/** Apps are installed on the platform of their store. */
function addApps({ read, held, strata, drawing, seed, add }: Making) {
  for (const row of read('app_store_categories')) {
    const share = 0.03 + 0.25 * unit(`apps ${row.targeting_value}`) ** 2
    const key = `${seed}/apps ${row.targeting_value}`
    drawing.from(strata, key, [0, held], ({ platform }) => (platform === row.os_type ? share : 0))
    add('APP_STORE_CATEGORY', row.targeting_value, drawing.takeSet())
  }
}
