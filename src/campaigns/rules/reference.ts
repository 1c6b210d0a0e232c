/** The reference rows that rules look things up in, indexed once per load. */
import type { readReference } from '../reference/load.ts'
import type { BiddingRule } from '../reference/types.ts'

export interface RuleReference {
  /** Placement combinations by product type. */
  placements: ReadonlyMap<string, readonly (readonly string[])[]>
  iabCategories: ReadonlyMap<string, { parent_id: string | null }>
  /** Whole IAB sets. */
  businessCategories: readonly { name: string; iab_categories: readonly string[] }[]
  contentCategories: readonly { name: string; iab_categories: readonly string[] }[]
  biddingRules: ReadonlyMap<string, BiddingRule>
}

/** `read` gives the rows in force: the shipped ones or the operator's. */
export const ruleReference = (read: typeof readReference): RuleReference => ({
  placements: new Map(read('placements').map((row) => [row.product_type, row.placements])),
  iabCategories: new Map(read('iab_categories').map((row) => [row.id, row])),
  businessCategories: read('advertiser_business_categories'),
  contentCategories: read('content_categories'),
  biddingRules: new Map(read('bidding_rules').map((row) => [row.currency, row]))
})
