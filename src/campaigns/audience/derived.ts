/**
 * Values that no lookup offers (keywords, users, custom audiences and the like) have no set in a population. Each gets a
 * random one that follows from its own text: always the same people, as many as such a value plausibly has, most of them in
 * one country. Sizes are spread evenly over the magnitudes, which is what Zipf's law gives to a value picked at random.
 * See decisions/0054.
 */
import { BLOCK, blocksFor, EMPTY, type PeopleSet, settled } from './people-set.ts'
import type { Population } from './population.ts'
import { chooser, stream, unit } from './random.ts'

interface Family {
  /** Values of the same text in one family are about the same people. */
  family: string
  /** Part of the family's people that this type has: an exact keyword has fewer than a broad one, and only those. */
  part: number
  /** Share of the population that the whole family has: from, to. */
  shares: [number, number]
}

const family = (name: string, part: number, shares: Family['shares']): Family => ({ family: name, part, shares })
const KEYWORDS: Family['shares'] = [0.0005, 0.04]
const USERS: Family['shares'] = [0.0005, 0.1]
const CUSTOM: Family['shares'] = [0.001, 0.08]
const ENGAGED: Family['shares'] = [0.0005, 0.03]
const CONTENT: Family['shares'] = [0.02, 0.3]

export const DERIVED: Record<string, Family> = {
  BROAD_KEYWORD: family('keyword', 1, KEYWORDS),
  UNORDERED_KEYWORD: family('keyword', 0.8, KEYWORDS),
  PHRASE_KEYWORD: family('keyword', 0.5, KEYWORDS),
  EXACT_KEYWORD: family('keyword', 0.3, KEYWORDS),
  SIMILAR_TO_FOLLOWERS_OF_USER: family('user', 1, USERS),
  FOLLOWERS_OF_USER: family('user', 0.25, USERS),
  CUSTOM_AUDIENCE_EXPANDED: family('custom audience', 1, CUSTOM),
  CUSTOM_AUDIENCE: family('custom audience', 0.3, CUSTOM),
  CAMPAIGN_ENGAGEMENT_LOOKALIKE: family('campaign', 1, ENGAGED),
  CAMPAIGN_ENGAGEMENT: family('campaign', 0.2, ENGAGED),
  USER_ENGAGEMENT_LOOKALIKE: family('user engagement', 1, ENGAGED),
  USER_ENGAGEMENT: family('user engagement', 0.2, ENGAGED),
  APP_STORE_CATEGORY_LOOKALIKE: family('apps alike', 1, [0.02, 0.1]),
  APP_LIST: family('apps', 1, [0.001, 0.05]),
  LIVE_TV_EVENT: family('live event', 1, [0.001, 0.05]),
  ENGAGEMENT_TYPE: family('engagement', 1, [0.05, 0.3]),
  IAB_CATEGORY: family('content', 1, CONTENT),
  CONTENT_PUBLISHER_USER: family('publisher', 1, [0.001, 0.05])
}

/** Share of a value's people who are in its home country. */
const AT_HOME = 0.7
/** Most of a country's people that a value takes there. */
const AT_HOME_MAX = 0.5

/** The people of a value that has no set; nobody, if its type is one whose values all come from a lookup. */
export function derivedSet(population: Pick<Population, 'held' | 'homes'>, type: string, value: string): PeopleSet {
  const rule = DERIVED[type]
  if (!rule) return EMPTY
  const { held, homes } = population
  const key = `${rule.family} ${value.trim().toLowerCase().replace(/\s+/g, ' ')}`
  const [low, high] = rule.shares
  const wanted = held * low * (high / low) ** unit(`${key} size`)
  const [from, to] = homes[chooser(homes.map(([first, end]) => end - first))(unit(`${key} home`))] ?? [0, held]
  const inside = Math.min(AT_HOME_MAX, (wanted * (to - from === held ? 1 : AT_HOME)) / Math.max(1, to - from))
  const outside = (wanted * (1 - AT_HOME)) / Math.max(1, held - (to - from))
  return settled(scatter(held, [from, to], inside, outside, rule.part, stream(key)), held)
}

/** Random people: a share of those in the range and another of those outside it. The same person may come up twice. */
function scatter(
  held: number,
  [from, to]: readonly [number, number],
  inside: number,
  outside: number,
  part: number,
  next: () => number
): PeopleSet {
  const starts = new Uint32Array(blocksFor(held) + 1)
  const pieces: [start: number, length: number, count: number, seed: number][] = []
  let total = 0
  for (let block = 0; block < blocksFor(held); block++) {
    const end = Math.min(held, (block + 1) * BLOCK)
    const cuts = [block * BLOCK, clamp(from, block * BLOCK, end), clamp(to, block * BLOCK, end), end]
    for (let i = 0; i < 3; i++) {
      const length = cuts[i + 1]! - cuts[i]!
      const family = Math.floor(length * (i === 1 ? inside : outside) + next())
      // Each type keeps the beginning of what its family draws, so that a narrower type has no one a wider one lacks.
      const count = Math.floor(family * part + next())
      pieces.push([cuts[i]! & 0xffff, length, Math.min(family, count), next() * 2 ** 32])
      total += Math.min(family, count)
    }
    starts[block + 1] = total
  }
  const low = new Uint16Array(total)
  let at = 0
  for (const [start, length, count, seed] of pieces) {
    let state = seed | 0
    for (let i = 0; i < count; i++) {
      // One step of splitmix32: as good as needed, and much cheaper than the stream.
      state = (state + 0x9e3779b9) | 0
      let v = Math.imul(state ^ (state >>> 16), 0x21f0aaad)
      v = Math.imul(v ^ (v >>> 15), 0x735a2d97)
      low[at++] = start + (((v ^ (v >>> 15)) >>> 16) * length) / BLOCK
    }
  }
  return { form: 'sparse', starts, low }
}

const clamp = (value: number, low: number, high: number) => Math.max(low, Math.min(high, value))
