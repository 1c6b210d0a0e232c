import assert from 'node:assert/strict'
import { test } from 'node:test'
import fc from 'fast-check'
import { readReference } from '../reference/load.ts'
import type { Criterion } from '../rules/criteria.ts'
import { targetingLookups } from '../rules/lookups.ts'
import { isPrimary, TARGETING_TYPES } from '../rules/targeting.ts'
import { DERIVED, derivedSet } from './derived.ts'
import { audienceProblems, bounds, CRITERIA_MAX, createEstimator } from './estimate.ts'
import { generatePopulation } from './generate.ts'
import { setOf, sizeOf } from './people-set.ts'
import { type Population, setKey } from './population.ts'

const criterion = (targeting_type: string, targeting_value: string, operator_type?: 'EQ' | 'NE'): Criterion => ({
  targeting_type,
  targeting_value,
  ...(operator_type ? { operator_type } : {})
})

/** Sixty people, person i having value `a` of a type when i is a multiple of its divisor. */
const DIVISORS: Record<string, Record<string, number>> = {
  INTEREST: { '1': 2, '2': 3 },
  TV_SHOW: { '1': 5 },
  GENDER: { '1': 4, '2': 7 },
  LANGUAGE: { en: 3 }
}
const PEOPLE = 60
const values = Object.entries(DIVISORS).flatMap(([type, byValue]) =>
  Object.entries(byValue).map(([value, divisor]) => ({ type, value, divisor }))
)
const people = Array.from({ length: PEOPLE }, (_, i) => i)
const small: Population = {
  people: PEOPLE,
  held: PEOPLE,
  homes: [],
  fingerprint: 'small',
  sets: new Map(
    values.map(({ type, value, divisor }) => [
      setKey(type, value),
      setOf(Uint32Array.from(people.filter((i) => i % divisor === 0)), PEOPLE)
    ])
  )
}
const count = (...criteria: Criterion[]) => createEstimator(small).estimate(criteria).count
const having = (test: (i: number) => boolean) => people.filter(test).length

test('values of a primary type are united', () => {
  assert.equal(
    count(criterion('INTEREST', '1'), criterion('INTEREST', '2')),
    having((i) => i % 2 === 0 || i % 3 === 0)
  )
})

test('primary types are united with each other', () => {
  assert.equal(
    count(criterion('INTEREST', '1'), criterion('TV_SHOW', '1')),
    having((i) => i % 2 === 0 || i % 5 === 0)
  )
})

test('other types narrow', () => {
  assert.equal(
    count(criterion('INTEREST', '1'), criterion('GENDER', '1'), criterion('LANGUAGE', 'en')),
    having((i) => i % 2 === 0 && i % 4 === 0 && i % 3 === 0)
  )
})

test('values of another type are united before they narrow', () => {
  assert.equal(
    count(criterion('INTEREST', '1'), criterion('GENDER', '1'), criterion('GENDER', '2')),
    having((i) => i % 2 === 0 && (i % 4 === 0 || i % 7 === 0))
  )
})

test('NE takes away, of primary and other types alike', () => {
  assert.equal(
    count(criterion('INTEREST', '1'), criterion('INTEREST', '2', 'NE'), criterion('GENDER', '2', 'NE')),
    having((i) => i % 2 === 0 && i % 3 !== 0 && i % 7 !== 0)
  )
})

const anyCriterion = fc
  .tuple(fc.constantFrom(...values), fc.constantFrom('EQ' as const, 'NE' as const))
  .map(([{ type, value }, operator]) => criterion(type, value, operator))

test('agrees with asking every person, for any criteria', () => {
  const divisorOf = (one: Criterion) => DIVISORS[one.targeting_type]![one.targeting_value]!
  const asked = (criteria: Criterion[]) =>
    having((i) => {
      const has = (one: Criterion) => i % divisorOf(one) === 0
      const wanted = criteria.filter((one) => one.operator_type !== 'NE')
      const types = Map.groupBy(
        wanted.filter((one) => !isPrimary(one.targeting_type)),
        (one) => one.targeting_type
      )
      return (
        wanted.some((one) => isPrimary(one.targeting_type) && has(one)) &&
        [...types.values()].every((ones) => ones.some(has)) &&
        !criteria.some((one) => one.operator_type === 'NE' && has(one))
      )
    })
  const estimator = createEstimator(small)
  fc.assert(
    fc.property(fc.array(anyCriterion, { minLength: 1, maxLength: 8 }), (criteria) => {
      assert.equal(estimator.estimate(criteria).count, asked(criteria))
    })
  )
})

const generated = generatePopulation(readReference, { held: 2 ** 17 + 77, people: 10_000_000 })
const lookups = targetingLookups(readReference)
const some = (kind: 'locations' | 'languages' | 'devices' | 'interests' | 'conversations', type: string) =>
  fc.constantFrom(...readReference(kind)).map((row) => criterion(type, row.targeting_value))
const primaryOnes = fc.oneof(
  some('interests', 'INTEREST'),
  fc.string({ minLength: 1, maxLength: 5 }).map((text) => criterion('BROAD_KEYWORD', text)),
  fc.nat(1_000).map((user) => criterion('FOLLOWERS_OF_USER', String(user)))
)
const narrowingOnes = fc.oneof(
  some('locations', 'LOCATION'),
  some('languages', 'LANGUAGE'),
  some('devices', 'DEVICE'),
  some('conversations', 'CONVERSATION'),
  fc.constantFrom('1', '2').map((value) => criterion('GENDER', value)),
  fc.constantFrom('AGE_18_TO_34', 'AGE_OVER_50').map((value) => criterion('AGE', value))
)

test('adding a type that narrows, or any exclusion, never enlarges the estimate', () => {
  const estimator = createEstimator(generated)
  const excluded = fc.oneof(primaryOnes, narrowingOnes).map((one): Criterion => ({ ...one, operator_type: 'NE' }))
  let smaller = 0
  fc.assert(
    fc.property(
      fc.array(primaryOnes, { minLength: 1, maxLength: 4 }),
      fc.array(fc.oneof(narrowingOnes, excluded), { maxLength: 3 }),
      fc.oneof(narrowingOnes, excluded),
      (primaries, rest, added) => {
        // A second value of a narrowing type is united with the first: that widens, by the same rule.
        const widens = rest.some((one) => one.targeting_type === added.targeting_type && one.operator_type !== 'NE')
        fc.pre(added.operator_type === 'NE' || !widens)
        const before = estimator.estimate([...primaries, ...rest])
        const after = estimator.estimate([...primaries, ...rest, added])
        assert.ok(after.count <= before.count && after.min <= before.min && after.max <= before.max)
        if (after.count < before.count) smaller++
      }
    ),
    { numRuns: 300 }
  )
  assert.ok(smaller > 50)
})

test('the bounds surround the count and grow with it', () => {
  for (const population of [generated, { people: 1_000, held: 1_000 }]) {
    let before = bounds(0, population)
    for (let i = 1; i <= 1_000; i++) {
      const now = bounds(i, population)
      assert.ok(now.min <= now.count && now.count <= now.max && now.max <= population.people, JSON.stringify(now))
      assert.ok(now.min >= before.min && now.count >= before.count && now.max >= before.max)
      before = now
    }
  }
})

test('the stated error: five percent, and the sample where not everyone is held', () => {
  assert.deepEqual(bounds(400, { people: 1_000, held: 1_000 }), { count: 400, min: 380, max: 420 })
  const large = bounds(100_000, { people: 10_000_000, held: 2 ** 20 })
  const tiny = bounds(0, { people: 10_000_000, held: 2 ** 20 })

  assert.ok(large.max / large.min > 1.1 && large.max / large.min < 1.13, String(large.max / large.min))
  assert.deepEqual(tiny, { count: 0, min: 0, max: 39 })
})

test('a sample twice as large, or another one, gives an estimate within the bounds of the first', () => {
  const other = createEstimator(generatePopulation(readReference, { held: 2 ** 16, seed: 'another' }))
  const estimator = createEstimator(generated)
  const outside = readReference('interests')
    .slice(0, 60)
    .filter(({ targeting_value }) => {
      const { min, max } = estimator.estimate([criterion('INTEREST', targeting_value)])
      const { count } = other.estimate([criterion('INTEREST', targeting_value)])
      return count < min || count > max
    })

  assert.ok(outside.length <= 4, outside.map((row) => row.name).join(', '))
})

test('any keyword, user or audience has people: always the same, and as many as is plausible', () => {
  for (const type of Object.keys(DERIVED)) {
    const [low, high] = DERIVED[type]!.shares
    for (const value of ['coffee', '42', 'abc', '漢字']) {
      const size = sizeOf(derivedSet(generated, type, value))
      assert.ok(size > 0 && size >= generated.held * low * DERIVED[type]!.part * 0.5, `${type} ${value} ${size}`)
      assert.ok(size <= generated.held * high * 1.1, `${type} ${value} ${size}`)
    }
    assert.deepEqual(derivedSet(generated, type, 'coffee'), derivedSet(generated, type, ' Coffee'))
  }
})

test('every targeting type has people from a lookup, a list or derived ones', () => {
  const listed = new Set([...generated.sets.keys()].map((key) => key.split(' ')[0]))
  const without = Object.keys(TARGETING_TYPES).filter((type) => !listed.has(type) && !DERIVED[type])

  assert.deepEqual(without, ['NETWORK_ACTIVATION_DURATION'])
})

const WITHIN: [narrower: string, wider: string][] = [
  ['EXACT_KEYWORD', 'PHRASE_KEYWORD'],
  ['PHRASE_KEYWORD', 'UNORDERED_KEYWORD'],
  ['UNORDERED_KEYWORD', 'BROAD_KEYWORD'],
  ['FOLLOWERS_OF_USER', 'SIMILAR_TO_FOLLOWERS_OF_USER'],
  ['CUSTOM_AUDIENCE', 'CUSTOM_AUDIENCE_EXPANDED']
]
for (const [narrower, wider] of WITHIN) {
  test(`${narrower} reaches part of ${wider}`, () => {
    const estimator = createEstimator(generated)
    for (const value of ['7', '8', '9']) {
      const inside = estimator.estimate([criterion(narrower, value)]).count
      const all = estimator.estimate([criterion(wider, value)]).count
      const both = estimator.estimate([criterion(narrower, value), criterion(wider, value)]).count
      assert.equal(both, all)
      assert.ok(inside > 0 && inside < all)
    }
  })
}

const told = (criteria: Criterion[]) => audienceProblems(criteria, lookups).map((item) => item.code)
const REFUSED: [rule: string, criteria: Criterion[], expected: string[]][] = [
  ['criteria are required', [], ['MISSING_PARAMETER']],
  ['a primary criterion is enough', [criterion('INTEREST', '1001')], []],
  [
    'a primary criterion is required',
    [criterion('GENDER', '1'), criterion('LOCATION', '96683cc9126741d1')],
    ['INVALID_PARAMETER']
  ],
  ['a negated one is not enough', [criterion('INTEREST', '1001', 'NE')], ['INVALID_PARAMETER']],
  ['operators are EQ and NE', [{ ...criterion('INTEREST', '1001'), operator_type: 'GTE' }], ['INVALID_PARAMETER']],
  ['values come from the lookups', [criterion('INTEREST', '1')], ['INVALID_PARAMETER']],
  ['durations are not estimated', [criterion('NETWORK_ACTIVATION_DURATION', '3')], ['INVALID_PARAMETER']],
  ['types are known', [criterion('MOOD', 'x')], ['INVALID_TARGETING_TYPE']],
  [
    'every problem is told',
    [criterion('MOOD', 'x'), criterion('INTEREST', '1')],
    ['INVALID_TARGETING_TYPE', 'INVALID_PARAMETER']
  ],
  [
    'there is a limit',
    Array.from({ length: CRITERIA_MAX + 1 }, () => criterion('INTEREST', '1001')),
    ['REQUEST_TOO_COMPLEX']
  ]
]
for (const [rule, criteria, expected] of REFUSED) {
  test(`audience criteria: ${rule}`, () => assert.deepEqual(told(criteria), expected))
}

test('audience criteria: a problem names its place', () => {
  const [problem] = audienceProblems([criterion('INTEREST', '1001'), criterion('GENDER', '9')], lookups)

  assert.equal(problem?.parameter, 'targeting_criteria')
  assert.equal(problem?.details, 'targeting_criteria[1].targeting_value')
})
