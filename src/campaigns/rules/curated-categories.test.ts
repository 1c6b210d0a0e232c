import assert from 'node:assert/strict'
import { test } from 'node:test'
import { type CuratedCategoryFacts, curatedCategoryProblems } from './curated-categories.ts'

const fits: CuratedCategoryFacts = {
  country_codes: ['GB', 'IE'],
  targetedCountries: ['US', 'IE'],
  others: 0,
  contentCategories: false
}
const CASES: [rule: string, facts: Partial<CuratedCategoryFacts>, expected: string[]][] = [
  ['in a country that the line item targets', {}, []],
  ['not in a country that it does not target', { targetedCountries: ['US'] }, ['curated_category_id']],
  ['not before it targets a country', { targetedCountries: [] }, ['curated_category_id']],
  ['only one', { others: 1 }, ['line_item_id']],
  ['not beside content categories', { contentCategories: true }, ['line_item_id']]
]
for (const [rule, facts, expected] of CASES) {
  test(`curated category: ${rule}`, () => {
    const problems = curatedCategoryProblems({ ...fits, ...facts })

    assert.deepEqual(
      problems.map((item) => item.attribute),
      expected
    )
    assert.ok(problems.every((item) => item.code === 'INVALID'))
  })
}
