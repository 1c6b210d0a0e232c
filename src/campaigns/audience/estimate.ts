/** How many people a set of targeting criteria reaches. */
import type { ErrorItem } from '../../errors.ts'
import { type Criterion, ownProblems, type TargetingLookups } from '../rules/criteria.ts'
import { missing, notAllowed, notIn } from '../rules/problems.ts'
import { isPrimary, targetingRule } from '../rules/targeting.ts'
import { addBlock, keepOnly, newBlock, takeAway } from './blocks.ts'
import { derivedSet } from './derived.ts'
import { blocksFor, bytesOf, countBits, type PeopleSet } from './people-set.ts'
import { type Population, setKey } from './population.ts'

export const AUDIENCE_OPERATORS = ['EQ', 'NE'] as const
export const CRITERIA_MAX = 1_000

/** People come and go; no estimate pretends to be a head count. */
export const MARGIN = 0.05
/** 95 of 100 samples of the same people would count within this many standard deviations. */
const Z = 1.96

/** Derived sets are kept up to this size, the least recently used go first. */
const CACHE_BYTES_MAX = 16 * 2 ** 20

export interface AudienceSize {
  min: number
  max: number
}

export interface Estimate extends AudienceSize {
  /** The best guess, between the two. */
  count: number
}

/** What is wrong with the criteria of a request. */
export function audienceProblems(criteria: readonly Criterion[], lookups: TargetingLookups): ErrorItem[] {
  const parameter = 'targeting_criteria'
  if (criteria.length === 0) return [missing(parameter)]
  if (criteria.length > CRITERIA_MAX) {
    const message = `At most ${CRITERIA_MAX} criteria can be estimated at once, got ${criteria.length}`
    return [{ code: 'REQUEST_TOO_COMPLEX', message, parameter }]
  }
  const problems = criteria.flatMap((criterion, i) =>
    criterionProblems(criterion, lookups).map((item) => ({
      ...item,
      parameter,
      details: `${parameter}[${i}].${item.parameter ?? item.attribute}`
    }))
  )
  if (problems.length > 0 || criteria.some((one) => isPrimary(one.targeting_type) && !excludes(one))) return problems
  const message =
    'At least one primary targeting criterion is required: followers, custom audiences, interests, keywords or TV, not negated'
  return [{ code: 'INVALID_PARAMETER', message, parameter }]
}

function criterionProblems(criterion: Criterion, lookups: TargetingLookups): ErrorItem[] {
  const operator = criterion.operator_type ?? 'EQ'
  if (!AUDIENCE_OPERATORS.some((one) => one === operator)) return [notIn(AUDIENCE_OPERATORS, operator, 'operator_type')]
  const rule = targetingRule(criterion.targeting_type)
  if (rule && !rule.operators.some((one) => one === 'EQ' || one === 'NE')) {
    return [notAllowed('targeting_type', `${criterion.targeting_type} is not part of an estimate`)]
  }
  return ownProblems(criterion, rule, { lookups, batch: true })
}

const excludes = (criterion: Criterion) => criterion.operator_type === 'NE'

export interface Estimator {
  readonly population: Population
  estimate(criteria: readonly Criterion[]): Estimate
}

export function createEstimator(population: Population): Estimator {
  const setFor = setsOf(population)
  const blocks = blocksFor(population.held)
  const mask = newBlock()
  const audience = newBlock()
  const other = newBlock()

  /** Primaries united, the other types intersected, values of one type united, what is negated taken away. */
  function estimate(criteria: readonly Criterion[]): Estimate {
    const primaries: PeopleSet[] = []
    const excluded: PeopleSet[] = []
    const narrowing = new Map<string, PeopleSet[]>()
    for (const one of criteria) {
      const set = setFor(one)
      if (excludes(one)) excluded.push(set)
      else if (isPrimary(one.targeting_type)) primaries.push(set)
      else narrowing.set(one.targeting_type, [...(narrowing.get(one.targeting_type) ?? []), set])
    }
    // Runs first: where nobody lives in the targeted places, nothing else of a block need be looked at.
    const types = [...narrowing.values()].sort((a, b) => Number(b[0]?.form === 'runs') - Number(a[0]?.form === 'runs'))
    let count = 0
    for (let block = 0; block < blocks; block++) {
      if (narrow(types, block)) count += reached(primaries, excluded, types.length > 0, block)
    }
    return bounds(count, population)
  }

  /** Puts into `mask` who passes all narrowing types; false when nobody does. */
  function narrow(types: readonly PeopleSet[][], block: number): boolean {
    for (const [i, sets] of types.entries()) {
      const into = i === 0 ? mask : other
      into.fill(0)
      for (const set of sets) addBlock(into, set, block)
      if (!keepOnly(mask, into)) return false
    }
    return true
  }

  function reached(primaries: PeopleSet[], excluded: PeopleSet[], masked: boolean, block: number): number {
    audience.fill(0)
    for (const set of primaries) addBlock(audience, set, block)
    if (masked && !keepOnly(audience, mask)) return 0
    if (excluded.length > 0) {
      other.fill(0)
      for (const set of excluded) addBlock(other, set, block)
      takeAway(audience, other)
    }
    return countBits(audience)
  }

  return { population, estimate }
}

/**
 * Around a count of held people: the 95 % interval of the sample (score interval of a Poisson count; exact when everyone is
 * held), widened by the margin. All three numbers grow with the count, so that a smaller audience is never estimated larger.
 */
export function bounds(count: number, { people, held }: Pick<Population, 'people' | 'held'>): Estimate {
  const scale = people / held
  const spread = scale > 1 ? Z * Math.sqrt(count + Z ** 2 / 4) : 0
  const centre = scale > 1 ? count + Z ** 2 / 2 : count
  return {
    count: Math.round(count * scale),
    min: Math.floor(Math.max(0, centre - spread) * scale * (1 - MARGIN)),
    max: Math.min(people, Math.ceil((centre + spread) * scale * (1 + MARGIN)))
  }
}

function setsOf(population: Population) {
  const cache = new Map<string, PeopleSet>()
  let bytes = 0
  return ({ targeting_type: type, targeting_value: value }: Criterion): PeopleSet => {
    const key = setKey(type, value)
    const known = population.sets.get(key)
    if (known) return known
    const made = cache.get(key) ?? derivedSet(population, type, value)
    if (!cache.delete(key)) bytes += bytesOf(made)
    cache.set(key, made)
    for (const [oldest, set] of cache) {
      if (bytes <= CACHE_BYTES_MAX) break
      cache.delete(oldest)
      bytes -= bytesOf(set)
    }
    return made
  }
}
