/**
 * The parameters of the writes, as `readInput` takes them. Types and lengths are refused there; which values may be written
 * depends on the stored entity (a client sends back what it loaded) and is told by the rules.
 */
import { bool, clearable, type Field, id, int, list, long, required, text, time } from '../../http/ads-input.ts'
import { BUDGET_OPTIMIZATIONS, FUNDING_TYPE_NAMES } from './budgets.ts'
import {
  CAMPAIGN_NAME_MAX,
  ENTITY_STATUSES,
  ENTITY_STATUSES_ON_UPDATE,
  PURCHASE_ORDER_NUMBER_MAX
} from './campaigns.ts'
import { LINE_ITEM_NAME_MAX } from './line-item-state.ts'
import {
  AUDIENCE_EXPANSIONS,
  BID_STRATEGIES,
  CREATIVE_SOURCES,
  GOALS,
  OBJECTIVE_NAMES,
  PAY_BY_WRITABLE
} from './objectives.ts'
import { PLACEMENTS, PRODUCT_TYPES } from './placements.ts'

/** A word whose value the rules check; described by the values that may be written. */
const word = (values: readonly string[]): Field<string, false, false> => ({
  ...text({ max: 100 }),
  schema: { type: 'string', enum: [...values] }
})

const FREQUENCY_CAP_MAX = 10_000

const campaignBudgets = {
  daily_budget_amount_local_micro: clearable(long()),
  total_budget_amount_local_micro: clearable(long())
}

export const campaignCreate = {
  funding_instrument_id: required(id()),
  name: required(text({ max: CAMPAIGN_NAME_MAX })),
  budget_optimization: word(BUDGET_OPTIMIZATIONS),
  ...campaignBudgets,
  entity_status: word(ENTITY_STATUSES),
  purchase_order_number: clearable(text({ max: PURCHASE_ORDER_NUMBER_MAX })),
  standard_delivery: clearable(bool())
}

/** funding_instrument_id cannot be changed; like everything unknown it is ignored. */
export const campaignUpdate = {
  name: clearable(text({ max: CAMPAIGN_NAME_MAX })),
  budget_optimization: word(BUDGET_OPTIMIZATIONS),
  ...campaignBudgets,
  entity_status: word(ENTITY_STATUSES_ON_UPDATE),
  purchase_order_number: clearable(text({ max: PURCHASE_ORDER_NUMBER_MAX })),
  standard_delivery: clearable(bool())
}

const lineItemShared = {
  advertiser_domain: clearable(text({ max: 253 })),
  advertiser_user_id: clearable(text({ max: 50 })),
  android_app_store_identifier: clearable(text()),
  ios_app_store_identifier: clearable(text()),
  audience_expansion: clearable(word(AUDIENCE_EXPANSIONS)),
  bid_amount_local_micro: clearable(long()),
  bid_strategy: clearable(word(BID_STRATEGIES)),
  categories: clearable(list(text({ max: 20 }), { min: 0, max: 400 })),
  duration_in_days: clearable(int({ min: 1, max: 365 })),
  frequency_cap: clearable(int({ min: 1, max: FREQUENCY_CAP_MAX })),
  start_time: clearable(time()),
  end_time: clearable(time()),
  goal: clearable(word(GOALS)),
  name: clearable(text({ max: LINE_ITEM_NAME_MAX })),
  pay_by: clearable(word(PAY_BY_WRITABLE)),
  total_budget_amount_local_micro: clearable(long()),
  daily_budget_amount_local_micro: clearable(long()),
  // Beyond the document's update table: without them a goal or a budget_optimization could not be changed.
  primary_web_event_tag: clearable(text({ max: 50 })),
  standard_delivery: clearable(bool())
}

export const lineItemUpdate = { ...lineItemShared, entity_status: word(ENTITY_STATUSES_ON_UPDATE) }

export const lineItemCreate = {
  campaign_id: required(id()),
  objective: required(word(OBJECTIVE_NAMES)),
  placements: required(list(word(PLACEMENTS), { max: 20 })),
  product_type: required(word(PRODUCT_TYPES)),
  ...lineItemShared,
  entity_status: word(ENTITY_STATUSES),
  creative_source: word(CREATIVE_SOURCES),
  catalog_id: clearable(text({ max: 20 })),
  product_set_id: clearable(text({ max: 20 }))
}

/** Sandbox only. */
export const fundingInstrumentCreate = {
  currency: required(text({ max: 10 })),
  start_time: required(time()),
  type: required(word(FUNDING_TYPE_NAMES)),
  end_time: clearable(time()),
  credit_limit_local_micro: clearable(long()),
  funded_amount_local_micro: clearable(long())
}
