/** When a line item may run in a curated category. */
import type { ErrorItem } from '../../errors.ts'
import { invalid } from './problems.ts'

export interface CuratedCategoryFacts {
  /** Countries in which the category is available. */
  country_codes: readonly string[]
  /** Countries of the line item's locations, excluded ones left out. */
  targetedCountries: readonly string[]
  /** Other curated categories of the line item that are not deleted. */
  others: number
  /** Whether the line item targets IAB categories of content. */
  contentCategories: boolean
}

export function curatedCategoryProblems(facts: CuratedCategoryFacts): ErrorItem[] {
  const problems: ErrorItem[] = []
  if (facts.others > 0) problems.push(invalid('line_item_id', 'A line item runs in at most one curated category'))
  if (facts.contentCategories) {
    problems.push(invalid('line_item_id', 'A line item takes either a curated category or content categories'))
  }
  if (!facts.targetedCountries.some((country) => facts.country_codes.includes(country))) {
    const message = `The line item must target a location in ${facts.country_codes.join(', ')} first, where the category is available`
    problems.push(invalid('curated_category_id', message))
  }
  return problems
}
