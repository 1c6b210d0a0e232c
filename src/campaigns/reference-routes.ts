/** Reference data that is the same for every account: categories, bidding rules, placements. */

import { Type } from 'typebox'
import { badRequest, notFound } from '../errors.ts'
import type { AdsScope } from '../http/ads.ts'
import { bool, choice, int, list, Refused, required, text } from '../http/ads-input.ts'
import { pageOf } from './lookups.ts'
import type { ReferenceStore } from './reference-store.ts'
import { OBJECTIVE_NAMES, type Objective, objectiveRule, payByOptions } from './rules/objectives.ts'
import { PRODUCT_TYPES } from './rules/placements.ts'
import { unexpected } from './rules/problems.ts'
import { Bool, Entity, Int, Text, TextOrNull, Texts } from './wire.ts'

const BusinessCategory = Entity({ id: Text, name: Text, iab_categories: Texts })
const BiddingRule = Entity({
  currency: Text,
  minimum_cpe_bid_local_micro: Int,
  maximum_cpe_bid_local_micro: Int,
  minimum_denomination: Int
})
const IabCategory = Entity({ id: Text, parent_id: TextOrNull, name: Text })
const Placements = Entity({ product_type: Text, placements: Type.Array(Texts) })
const ContentCategory = Entity({
  name: Text,
  id: Text,
  iab_categories: Texts,
  publishers_in_last_thirty_days: Int,
  videos_monetized_in_last_thirty_days: Int
})
const CuratedCategory = Entity({
  name: Text,
  description: Text,
  country_codes: Texts,
  publisher_user_ids: Texts,
  id: Text,
  created_at: Text,
  updated_at: Text,
  videos_monetized_in_last_thirty_days: Int
})

/** ISO 3166-1 alpha-2. */
export const countryCode = () => {
  const field = text({ min: 2, max: 2 })
  return {
    ...field,
    read: (raw: unknown, name: string) => {
      const value = field.read(raw, name).toUpperCase()
      if (!/^[A-Z]{2}$/.test(value)) throw new Refused(`Expected a country code, got "${value}" for ${name}`)
      return value
    }
  }
}

const ObjectiveOptions = Entity({
  objective: Text,
  goals: Type.Array(Entity({ goal: Text, pay_by: Texts })),
  bid_strategies: Texts,
  bid_strategies_on_create: Texts,
  frequency_cap: Bool,
  needs_app: Bool,
  needs_landing_url: Bool
})

/** The first goal and the first way to pay are the defaults. */
function objectiveOptions(objective: Objective) {
  const rule = objectiveRule(objective)!
  return {
    objective,
    goals: rule.goals.map((goal) => ({ goal, pay_by: payByOptions(goal, 'AUTO') })),
    bid_strategies: rule.bidStrategies,
    bid_strategies_on_create: [...rule.bidStrategies, ...(rule.bidStrategiesOnCreate ?? [])],
    frequency_cap: rule.frequencyCap,
    needs_app: rule.needsApp,
    needs_landing_url: rule.needsLandingUrl
  }
}

export function referenceRoutes(scope: AdsScope, reference: ReferenceStore) {
  scope.route({
    method: 'GET',
    path: '/advertiser_business_categories',
    summary: 'Business categories, for line items with the objective PREROLL_VIEWS.',
    output: BusinessCategory,
    many: true,
    handler: async () => ({ rows: (await reference.load()).rows('advertiser_business_categories') })
  })

  scope.route({
    method: 'GET',
    path: '/bidding_rules',
    summary: 'Bid bounds and smallest amounts by currency.',
    input: { currency: text({ max: 10 }) },
    output: BiddingRule,
    many: 'without_cursor',
    data_type: 'bidding_rule',
    handler: async ({ input }) => {
      const all = (await reference.load()).rows('bidding_rules')
      const rows = all.filter((rule) => input.currency === undefined || rule.currency === input.currency)
      if (rows.length === 0) {
        const { message, ...item } = unexpected('an ISO 4217 currency code', input.currency, 'currency')
        throw badRequest(item.code, message, item)
      }
      return { rows, total_count: rows.length }
    }
  })

  scope.route({
    method: 'GET',
    path: '/iab_categories',
    summary: 'IAB categories; parent_id is null for the top level.',
    input: { count: int({ min: 1, max: 1000 }), cursor: text({ max: 500 }), with_total_count: bool() },
    output: IabCategory,
    many: true,
    handler: async ({ input }) => pageOf((await reference.load()).rows('iab_categories'), input, { of: 'iab' })
  })

  scope.route({
    method: 'GET',
    path: '/line_items/placements',
    summary: 'Combinations of placements that a product type allows.',
    input: { product_type: choice(PRODUCT_TYPES) },
    output: Placements,
    many: 'without_cursor',
    handler: async ({ input }) => {
      const all = (await reference.load()).rows('placements')
      return { rows: all.filter((row) => !input.product_type || row.product_type === input.product_type) }
    }
  })

  scope.route({
    method: 'GET',
    path: '/line_items/objectives',
    summary: 'What each objective of a line item allows: goals and how they are paid for, bid strategies, caps.',
    output: ObjectiveOptions,
    many: 'without_cursor',
    extension: true,
    handler: async () => ({ rows: OBJECTIVE_NAMES.map(objectiveOptions) })
  })

  scope.route({
    method: 'GET',
    path: '/content_categories',
    summary: 'Content categories that video ads can run beside.',
    output: ContentCategory,
    many: true,
    extension: true,
    handler: async () => {
      const rows = (await reference.load()).rows('content_categories')
      return { rows, total_count: rows.length }
    }
  })

  const curated = '/accounts/:account_id/curated_categories'
  scope.route({
    method: 'GET',
    path: curated,
    summary: 'Curated categories that are available in the given countries.',
    input: {
      country_codes: required(list(countryCode())),
      count: int({ min: 1, max: 1000 }),
      cursor: text({ max: 500 })
    },
    output: CuratedCategory,
    many: true,
    operation: 'campaigns.read',
    handler: async ({ input }) => {
      const { country_codes } = input
      const rows = (await reference.load())
        .rows('curated_categories')
        .filter((row) => row.country_codes.some((code) => country_codes.includes(code)))
      return { ...pageOf(rows, input, { of: `curated ${country_codes}` }), total_count: rows.length }
    }
  })
  scope.route({
    method: 'GET',
    path: `${curated}/:curated_category_id`,
    summary: 'One curated category; it is available only in the countries of its country_codes.',
    output: CuratedCategory,
    operation: 'campaigns.read',
    echo: (params, { account_id, curated_category_id }) => ({ ...params, account_id, id: curated_category_id }),
    handler: async ({ path }) => {
      const row = (await reference.load()).rows('curated_categories').find((row) => row.id === path.curated_category_id)
      if (!row) throw notFound('NOT_FOUND', `Curated category ${path.curated_category_id} was not found`)
      return row
    }
  })
}
