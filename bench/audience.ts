/**
 * Audience estimate: 50 criteria against ten million people, in one thread. Bar: 5 ms at the 99th percentile, once warm.
 * Of several rounds the best counts: what else the machine does in the meantime is not this code's time.
 */
import { createEstimator } from '../src/campaigns/audience/estimate.ts'
import { generatePopulation } from '../src/campaigns/audience/generate.ts'
import { stream } from '../src/campaigns/audience/random.ts'
import { readReference } from '../src/campaigns/reference/load.ts'
import type { ReferenceKind } from '../src/campaigns/reference/types.ts'
import type { Criterion } from '../src/campaigns/rules/criteria.ts'
import { AGE_BUCKETS } from '../src/campaigns/rules/targeting.ts'

const BAR_P99_MS = 5
const CRITERIA = 50
const WARM_UP = 300
const ROUNDS = 5
const MEASURED = 500
/** Distinct users, and as many keywords: about as many as are kept between estimates, so that some are made anew. */
const FREE_VALUES = 400

export default async function audience() {
  const { estimate, population } = createEstimator(generatePopulation(readReference))
  const next = stream('bench')
  const measure = (count: number) => {
    const times = Array.from({ length: count }, () => {
      const criteria = request(next)
      const start = performance.now()
      estimate(criteria)
      return performance.now() - start
    }).sort((a, b) => a - b)
    return (share: number) => Number(times[Math.floor((count - 1) * share)]!.toFixed(3))
  }
  measure(WARM_UP)
  const rounds = Array.from({ length: ROUNDS }, () => measure(MEASURED))
  const at = rounds.reduce((best, round) => (round(0.99) < best(0.99) ? round : best))
  const result = {
    bench: 'audience',
    p50_ms: at(0.5),
    p99_ms: at(0.99),
    bar: BAR_P99_MS,
    pass: at(0.99) < BAR_P99_MS,
    criteria: CRITERIA,
    people: population.people,
    held: population.held
  }
  console.log(JSON.stringify(result))
  return result
}

/** One in four is the costliest there is: nothing but primaries. */
const WIDE_SHARE = 0.25

/** Criteria as campaigns have them: many primaries, several narrowing types, a few exclusions. */
function request(next: () => number): Criterion[] {
  const pick = <T>(values: readonly T[]) => values[Math.floor(next() * values.length)]!
  const from = (kind: ReferenceKind, targeting_type: string) => ({
    targeting_type,
    targeting_value: String((pick(readReference(kind)) as { targeting_value: string | number }).targeting_value)
  })
  const free = (targeting_type: string) => ({
    targeting_type,
    targeting_value: String(Math.floor(next() * FREE_VALUES))
  })
  const kinds: [share: number, make: () => Criterion][] = [
    [16, () => from('interests', 'INTEREST')],
    [10, () => free('BROAD_KEYWORD')],
    [4, () => free('FOLLOWERS_OF_USER')],
    [2, () => from('tv_shows', 'TV_SHOW')],
    [8, () => from('locations', 'LOCATION')],
    [3, () => from('languages', 'LANGUAGE')],
    [2, () => from('devices', 'DEVICE')],
    [1, () => from('conversations', 'CONVERSATION')],
    [1, () => ({ targeting_type: 'AGE', targeting_value: pick(AGE_BUCKETS) })],
    [1, () => ({ targeting_type: 'GENDER', targeting_value: pick(['1', '2']) })],
    [2, () => ({ ...from('interests', 'INTEREST'), operator_type: 'NE' })]
  ]
  if (next() < WIDE_SHARE) return Array.from({ length: CRITERIA }, (_, i) => kinds[i % 3]![1]())
  return kinds.flatMap(([count, make]) => Array.from({ length: count }, make)).slice(0, CRITERIA)
}

if (import.meta.main) await audience()
