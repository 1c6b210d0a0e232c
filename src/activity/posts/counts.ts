/** How many posts match a query, by minute, hour or day. */
import { isoTime } from '../../clock.ts'
import { criteriaOf, type List, type SearchDeps, type SearchQuery } from './search-query.ts'
import { scan } from './search-scan.ts'
import { encodePosition, type Position } from './search-tokens.ts'

export const GRANULARITIES = { minute: 60_000, hour: 3_600_000, day: 86_400_000 } as const
export type Granularity = keyof typeof GRANULARITIES

/** A week of minutes. */
export const BUCKETS_PER_PAGE_MAX = 7 * 24 * 60

export type CountQuery = SearchQuery & { granularity?: Granularity }

/** Oldest first within a page; pages go back in time. A page may end within a bucket, and the next one counts its rest. */
export async function countPosts(deps: SearchDeps, query: CountQuery, list: List, userId: string | undefined) {
  const criteria = await criteriaOf(deps, query, list, userId)
  const step = GRANULARITIES[query.granularity ?? 'hour']
  const floor = (ms: number) => Math.floor(ms / step) * step
  // Until the end of this second, so that what was just made is counted.
  const nowMs = Math.floor(deps.clock.now() / 1000) * 1000 + 1000
  const endMs = Math.min(criteria.toMs ?? nowMs, nowMs)
  const topMs = Math.min(criteria.after ? lastMs(criteria.after) : endMs, endMs)
  const bottomMs = Math.max(criteria.fromMs, floor(topMs - 1) - (BUCKETS_PER_PAGE_MAX - 1) * step)
  if (bottomMs >= topMs) return { data: [], meta: { total_tweet_count: 0 } }

  const counts = new Map<number, number>()
  let total = 0
  const stopped = await scan(deps, { ...criteria, fromMs: bottomMs, toMs: endMs }, ({ created_at }) => {
    const bucket = floor(Date.parse(created_at))
    counts.set(bucket, (counts.get(bucket) ?? 0) + 1)
    total++
    return true
  })
  const older = bottomMs > criteria.fromMs ? { created_at: isoTime(bottomMs), id: '' } : undefined
  const next = stopped ?? older
  const firstMs = stopped ? Math.max(floor(Date.parse(stopped.created_at)), bottomMs) : bottomMs
  const data: { end: string; start: string; tweet_count: number }[] = []
  for (let start = firstMs; start < topMs; start = floor(start) + step) {
    const end = Math.min(floor(start) + step, endMs)
    data.push({ end: isoTime(end), start: isoTime(start), tweet_count: counts.get(floor(start)) ?? 0 })
  }
  return { data, meta: { total_tweet_count: total, ...(next ? { next_token: encodePosition(next, list.name) } : {}) } }
}

/** The end of what is left after a position: all of its millisecond may be, unless it says otherwise. */
const lastMs = ({ created_at, id }: Position) => Date.parse(created_at) + (id === '' ? 0 : 1)
