/** What a line item consists of, and the rules that a whole line item obeys, however it came to be. */
import type { ErrorItem } from '../../errors.ts'
import { bidProblems, budgetProblems, budgetsLiveOn } from './budgets.ts'
import { prerollCategoryProblems, unknownCategoryProblems } from './categories.ts'
import { DURATIONS_IN_DAYS, OBJECTIVES, objectiveRule, payByOptions } from './objectives.ts'
import { onPublisherNetwork, placementProblems } from './placements.ts'
import { inclusive, invalid, missing, notAllowed, notIn, tooFew, unexpected } from './problems.ts'
import type { RuleReference } from './reference.ts'

export const LINE_ITEM_NAME_MAX = 255
export const LINE_ITEMS_PER_CAMPAIGN_MAX = 100
/** The public numbers differ; the highest one is the default. See decisions/0052. */
export const ACTIVE_LINE_ITEMS_MAX = 8_000

export interface LineItemState {
  campaign_id: string
  name: string | null
  objective: string
  product_type: string
  placements: readonly string[]
  goal: string
  bid_strategy: string
  bid_amount_local_micro: bigint | null
  pay_by: string | null
  start_time: string | null
  end_time: string | null
  daily_budget_amount_local_micro: bigint | null
  total_budget_amount_local_micro: bigint | null
  frequency_cap: number | null
  duration_in_days: number | null
  standard_delivery: boolean | null
  entity_status: string
  advertiser_domain: string | null
  advertiser_user_id: string | null
  android_app_store_identifier: string | null
  ios_app_store_identifier: string | null
  audience_expansion: string | null
  categories: readonly string[]
  primary_web_event_tag: string | null
  creative_source: string
  catalog_id: string | null
  product_set_id: string | null
}

/** What was sent: absent keys are not touched, null un-sets. */
export type LineItemInput = { [K in keyof LineItemState]?: LineItemState[K] | null }

export interface LineItemContext {
  /** The parent; null when there is none of that id in the account. */
  campaign: {
    id: string
    currency: string
    budget_optimization: string
    total_budget_amount_local_micro: bigint | null
  } | null
  /** Any other line item of the campaign that is not deleted; all of them agree. */
  sibling?: { objective: string; product_type: string } | null
  lineItemsOfCampaign?: number
  lineItemsOfCampaignMax?: number
  activeLineItems?: number
  activeLineItemsMax?: number
  /** Feature keys of the account. */
  features: ReadonlySet<string>
  /** Whether the client application is one of the few that may set advertiser_user_id. */
  maySetAdvertiserUser: boolean
  /** The FULL promotable user of the account, who advertises unless told otherwise. */
  advertiserUserId: string | null
  spend_local_micro?: bigint
  reference: RuleReference
}

/** The feature an account needs for frequency caps. */
export const FREQUENCY_CAP_FEATURE = 'REACH_FREQUENCY_CAP'
export const CATEGORIES_MAX = 100
const APP_STORE_IDENTIFIER_MAX = 255

type Rule = (state: LineItemState, context: LineItemContext, creating: boolean) => ErrorItem[]

const RULES: Rule[] = [
  nameRule,
  flightRule,
  goalRule,
  bidRule,
  payByRule,
  budgetRule,
  placementRule,
  publisherNetworkRule,
  categoryRule,
  frequencyCapRule,
  appRule,
  dynamicCreativeRule
]

export const lineItemStateProblems = (state: LineItemState, context: LineItemContext, creating: boolean): ErrorItem[] =>
  RULES.flatMap((rule) => rule(state, context, creating))

function nameRule({ name }: LineItemState) {
  if (name === null || [...name].length <= LINE_ITEM_NAME_MAX) return []
  return [unexpected(`a text of 1 to ${LINE_ITEM_NAME_MAX} characters`, name, 'name')]
}

/** The serving window. */
function flightRule({ start_time, end_time }: LineItemState) {
  if (start_time === null || end_time === null || Date.parse(start_time) < Date.parse(end_time)) return []
  const message = `end_time ${end_time} is not after start_time ${start_time}`
  return [{ code: 'INVALID_TIME_WINDOW', message, parameter: 'end_time' }]
}

function goalRule({ objective, goal, primary_web_event_tag }: LineItemState) {
  const goals = objectiveRule(objective)?.goals
  // An unknown objective is told by its own rule.
  if (!goals) return []
  if (!goals.some((one) => one === goal)) {
    return [invalid('goal', `The objective ${objective} allows the goals ${goals.join(', ')}, not ${goal}`)]
  }
  return goal === 'WEBSITE_CONVERSIONS' && !primary_web_event_tag ? [missing('primary_web_event_tag')] : []
}

const objectivesWith = (strategy: string) =>
  Object.entries(OBJECTIVES)
    .filter(([, rule]) => rule.bidStrategies.some((one) => one === strategy))
    .map(([name]) => name)

function bidRule(
  { objective, bid_strategy, bid_amount_local_micro: bid }: LineItemState,
  { campaign, reference }: LineItemContext,
  creating: boolean
) {
  const rule = objectiveRule(objective)
  if (!rule) return []
  const strategies: readonly string[] = [...rule.bidStrategies, ...((creating && rule.bidStrategiesOnCreate) || [])]
  if (!strategies.includes(bid_strategy)) {
    const message = `bid_strategy ${bid_strategy} is not available for the objective ${objective}; it is for ${objectivesWith(bid_strategy).join(', ')}`
    return [invalid('bid_strategy', message)]
  }
  if (bid_strategy === 'AUTO') return []
  if (bid === null) return [missing('bid_amount_local_micro')]
  return bidProblems(
    bid,
    'bid_amount_local_micro',
    campaign ? reference.biddingRules.get(campaign.currency) : undefined
  )
}

function payByRule({ objective, goal, bid_strategy, pay_by }: LineItemState) {
  const goals: readonly string[] = objectiveRule(objective)?.goals ?? []
  const options = payByOptions(goal, bid_strategy)
  // A goal of another objective is told by its own rule.
  if (!goals.includes(goal) || (pay_by && options.includes(pay_by))) return []
  const message = `The goal ${goal} with bid_strategy ${bid_strategy} is paid by ${options.join(' or ')}, not ${pay_by}`
  return [invalid('pay_by', message)]
}

function budgetRule(state: LineItemState, { campaign, spend_local_micro, reference }: LineItemContext) {
  if (!campaign) return []
  const names = ['daily_budget_amount_local_micro', 'total_budget_amount_local_micro'] as const
  if (!budgetsLiveOn(campaign.budget_optimization).lineItemBudgets) {
    return names
      .filter((name) => state[name] !== null)
      .map((name) => notAllowed(name, 'only under a campaign with budget_optimization LINE_ITEM'))
  }
  const problems = budgetProblems(state, spend_local_micro ?? 0n, reference.biddingRules.get(campaign.currency))
  const { total_budget_amount_local_micro: total } = state
  const most = campaign.total_budget_amount_local_micro
  if (total !== null && most !== null && total > most) {
    const message = `The total budget ${total} exceeds the campaign's total budget ${most}`
    problems.push(invalid('total_budget_amount_local_micro', message, 'SPEND_EXCEEDS_BUDGET'))
  }
  return problems
}

function placementRule(state: LineItemState, { reference }: LineItemContext) {
  return placementProblems(state, reference)
}

const DOMAIN = /^(?=.{1,253}$)([a-z0-9](?:[a-z0-9-]{0,61}[a-z0-9])?\.)+[a-z][a-z0-9-]{0,61}[a-z0-9]$/i

function publisherNetworkRule({ placements, advertiser_domain: domain, categories }: LineItemState) {
  const problems: ErrorItem[] = []
  const onNetwork = onPublisherNetwork(placements)
  if (domain !== null && !DOMAIN.test(domain)) {
    const message = `"${domain.slice(0, 200)}" is not a domain; give it without protocol and path, such as example.com`
    problems.push(invalid('advertiser_domain', message))
  }
  if (onNetwork && domain === null) problems.push(missing('advertiser_domain'))
  if (onNetwork && categories.length === 0) problems.push(tooFew('categories'))
  return problems
}

function categoryRule({ objective, categories }: LineItemState, { reference }: LineItemContext) {
  if (categories.length > CATEGORIES_MAX) {
    return [unexpected(`at most ${CATEGORIES_MAX} items`, categories.length, 'categories')]
  }
  const unknown = unknownCategoryProblems(categories, reference)
  if (unknown.length > 0 || objective !== 'PREROLL_VIEWS') return unknown
  return prerollCategoryProblems(categories, reference)
}

function frequencyCapRule(
  { objective, frequency_cap: cap, duration_in_days: days }: LineItemState,
  { features }: LineItemContext
) {
  if (cap === null && days === null) return []
  const given = cap === null ? 'duration_in_days' : 'frequency_cap'
  if (!objectiveRule(objective)?.frequencyCap) {
    const allowed = Object.entries(OBJECTIVES).filter(([, rule]) => rule.frequencyCap)
    return [notAllowed(given, `only for the objectives ${allowed.map(([name]) => name).join(', ')}`)]
  }
  if (!features.has(FREQUENCY_CAP_FEATURE)) {
    const message = `Frequency caps need the feature ${FREQUENCY_CAP_FEATURE} on the account`
    return [{ code: 'FEATURE_NOT_AVAILABLE', message, parameter: given }]
  }
  if (cap === null) return [inclusive('frequency_cap', 'duration_in_days', 'frequency_cap')]
  if (days === null) return [inclusive('frequency_cap', 'duration_in_days', 'duration_in_days')]
  const problems: ErrorItem[] = []
  if (!Number.isInteger(cap) || cap < 1) problems.push(unexpected('a value above 0', cap, 'frequency_cap'))
  if (!DURATIONS_IN_DAYS.some((one) => one === days)) {
    problems.push(notIn(DURATIONS_IN_DAYS.map(String), days, 'duration_in_days'))
  }
  return problems
}

function appRule(state: LineItemState) {
  const names = ['android_app_store_identifier', 'ios_app_store_identifier'] as const
  const tooLong = names.filter((name) => (state[name]?.length ?? 0) > APP_STORE_IDENTIFIER_MAX)
  if (tooLong.length > 0) return tooLong.map((name) => unexpected('an app store identifier', state[name], name))
  if (!objectiveRule(state.objective)?.needsApp || names.some((name) => state[name])) return []
  const message = `"${names[0]}" or "${names[1]}" is a required parameter for the objective ${state.objective}`
  return [{ ...missing(names[0]), message }]
}

/** Ads made from a product catalog: links to a catalog and one of its sets, and optimises for conversions. */
function dynamicCreativeRule(state: LineItemState) {
  if (state.creative_source !== 'DYNAMIC_PRODUCT_CREATIVE') {
    return (['catalog_id', 'product_set_id'] as const)
      .filter((name) => state[name] !== null)
      .map((name) => notAllowed(name, 'only with creative_source DYNAMIC_PRODUCT_CREATIVE'))
  }
  const problems = (['catalog_id', 'product_set_id'] as const)
    .filter((name) => state[name] === null)
    .map((name) => missing(name))
  if (state.objective !== 'WEBSITE_CLICKS' || state.goal !== 'WEBSITE_CONVERSIONS') {
    const message = 'DYNAMIC_PRODUCT_CREATIVE needs the objective WEBSITE_CLICKS with the goal WEBSITE_CONVERSIONS'
    problems.push(invalid('creative_source', message))
  }
  return problems
}
