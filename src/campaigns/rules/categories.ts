/** IAB categories of a line item: free for the publisher network, whole business category sets for preroll. */
import type { ErrorItem } from '../../errors.ts'
import { invalid, tooFew } from './problems.ts'
import type { RuleReference } from './reference.ts'

/** One or two advertiser business categories must be set for PREROLL_VIEWS. */
export const BUSINESS_CATEGORIES_MAX = 2

/** The business category sets that the ids belong to, by themselves or through their parent; and the ids in none. */
function businessSetsOf(ids: readonly string[], reference: RuleReference) {
  const sets = new Set<readonly string[]>()
  const strays: string[] = []
  for (const id of ids) {
    const parent = reference.iabCategories.get(id)?.parent_id
    const set = reference.businessCategories.find(
      ({ iab_categories: members }) => members.includes(id) || (parent && members.includes(parent))
    )
    if (set) sets.add(set.iab_categories)
    else strays.push(id)
  }
  return { sets: [...sets], strays }
}

/** Part of a set stands for the whole set. */
export function widenPrerollCategories(ids: readonly string[], reference: RuleReference): string[] {
  const { sets, strays } = businessSetsOf(ids, reference)
  return [...sets.flat(), ...strays]
}

export function unknownCategoryProblems(ids: readonly string[], reference: RuleReference): ErrorItem[] {
  const unknown = ids.filter((id) => !reference.iabCategories.has(id))
  if (unknown.length === 0) return []
  const message = `IAB category ${unknown.slice(0, 5).join(', ')} was not found`
  return [{ code: 'INVALID_IAB_CATEGORY', message, parameter: 'categories' }]
}

export function prerollCategoryProblems(ids: readonly string[], reference: RuleReference): ErrorItem[] {
  if (ids.length === 0) return [tooFew('categories')]
  const { sets, strays } = businessSetsOf(ids, reference)
  if (strays.length > 0) {
    return [
      invalid(
        'categories',
        `No advertiser business category contains ${strays.slice(0, 5).join(', ')}; PREROLL_VIEWS needs one or two of them`
      )
    ]
  }
  if (sets.length > BUSINESS_CATEGORIES_MAX) {
    return [invalid('categories', `PREROLL_VIEWS takes one or two advertiser business categories, got ${sets.length}`)]
  }
  return []
}
