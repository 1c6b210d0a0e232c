/** What a line item may look like. Create, update and batch all go through `mergeLineItem` and `validateLineItem`. */
import type { ErrorItem } from '../../errors.ts'
import { budgetsLiveOn } from './budgets.ts'
import { ENTITY_STATUSES, ENTITY_STATUSES_ON_UPDATE } from './campaigns.ts'
import { widenPrerollCategories } from './categories.ts'
import { causedBy, changesOf, firstPerField } from './changes.ts'
import {
  ACTIVE_LINE_ITEMS_MAX,
  LINE_ITEMS_PER_CAMPAIGN_MAX,
  type LineItemContext,
  type LineItemInput,
  type LineItemState,
  lineItemStateProblems
} from './line-item-state.ts'
import {
  AUDIENCE_EXPANSIONS,
  BID_STRATEGIES,
  CREATIVE_SOURCES,
  GOALS,
  OBJECTIVE_NAMES,
  objectiveRule,
  PAY_BY_CHANGEABLE,
  PAY_BY_WRITABLE,
  payByOptions
} from './objectives.ts'
import { PRODUCT_TYPES } from './placements.ts'
import { invalid, missing, notAllowed, notIn } from './problems.ts'

/** Set once, when the line item is created; ignored afterwards, so that a client can send back what it loaded. */
export const FIXED_AT_CREATION = [
  'campaign_id',
  'objective',
  'product_type',
  'placements',
  'creative_source',
  'catalog_id',
  'product_set_id'
] as const satisfies (keyof LineItemState)[]

function lineItemChanges(input: LineItemInput, current: LineItemState | null): LineItemInput {
  const changes = changesOf(input, current)
  if (current) for (const key of FIXED_AT_CREATION) delete changes[key]
  return changes
}

/** The line item as it would be stored: defaults by objective, preroll categories as whole sets. */
export function mergeLineItem(
  input: LineItemInput,
  current: LineItemState | null,
  { campaign, reference, advertiserUserId }: Pick<LineItemContext, 'campaign' | 'reference' | 'advertiserUserId'>
): LineItemState {
  const changes = lineItemChanges(input, current)
  const keep = <K extends keyof LineItemState>(key: K) =>
    (changes[key] === undefined ? (current?.[key] ?? null) : changes[key]) as LineItemState[K]
  const objective = keep('objective') ?? ''
  const rule = objectiveRule(objective)
  const bid = keep('bid_amount_local_micro')
  const goal = keep('goal') ?? rule?.goals[0] ?? ''
  const bid_strategy = keep('bid_strategy') ?? (bid === null ? 'AUTO' : (rule?.bidStrategy ?? 'AUTO'))
  const categories = keep('categories') ?? []
  const cap = keep('frequency_cap')
  // Taking the cap away takes its window away.
  const uncapped = changes.frequency_cap === null && !changes.duration_in_days
  const ownDelivery = budgetsLiveOn(campaign?.budget_optimization ?? 'CAMPAIGN').lineItemDelivery
  return {
    campaign_id: keep('campaign_id') ?? '',
    name: keep('name') || null,
    objective,
    product_type: keep('product_type') ?? '',
    placements: [...new Set(keep('placements') ?? [])],
    goal,
    bid_strategy,
    // AUTO ignores the bid.
    bid_amount_local_micro: bid_strategy === 'AUTO' ? null : bid,
    pay_by: payBy(changes, current, goal, bid_strategy),
    start_time: keep('start_time'),
    end_time: keep('end_time'),
    daily_budget_amount_local_micro: keep('daily_budget_amount_local_micro'),
    total_budget_amount_local_micro: keep('total_budget_amount_local_micro'),
    frequency_cap: cap,
    duration_in_days: uncapped ? null : keep('duration_in_days'),
    standard_delivery: ownDelivery ? (keep('standard_delivery') ?? true) : null,
    entity_status: keep('entity_status') ?? 'ACTIVE',
    advertiser_domain: keep('advertiser_domain'),
    advertiser_user_id: keep('advertiser_user_id') ?? advertiserUserId,
    android_app_store_identifier: keep('android_app_store_identifier'),
    ios_app_store_identifier: keep('ios_app_store_identifier'),
    audience_expansion: keep('audience_expansion'),
    categories:
      objective === 'PREROLL_VIEWS' ? widenPrerollCategories(categories, reference) : [...new Set(categories)],
    primary_web_event_tag: keep('primary_web_event_tag'),
    creative_source: keep('creative_source') ?? 'MANUAL',
    catalog_id: keep('catalog_id'),
    product_set_id: keep('product_set_id')
  }
}

/** As given; else what it was, if the goal and the strategy still support that; else the goal's default. */
function payBy(changes: LineItemInput, current: LineItemState | null, goal: string, bidStrategy: string) {
  if (changes.pay_by) return changes.pay_by
  const options = payByOptions(goal, bidStrategy)
  const before = changes.pay_by === undefined ? current?.pay_by : undefined
  return before && options.includes(before) ? before : (options[0] ?? null)
}

/** Every rule of the document's line item table, on the merged line item. Nothing when it may be stored. */
export function validateLineItem(
  input: LineItemInput,
  current: LineItemState | null,
  context: LineItemContext
): ErrorItem[] {
  const changes = lineItemChanges(input, current)
  const merged = mergeLineItem(input, current, context)
  const after = [...inputProblems(changes, current, context), ...lineItemStateProblems(merged, context, !current)]
  const before = current ? lineItemStateProblems(current, context, false) : []
  const problems = firstPerField([
    ...(current ? [] : creationProblems(input, context)),
    ...causedBy(changes, after, before)
  ])
  return [...problems, ...(current ? [] : limitProblems(context))]
}

/** Per enumerated parameter: what may be written. */
const WRITABLE: [keyof LineItemState, readonly string[]][] = [
  ['objective', OBJECTIVE_NAMES],
  ['product_type', PRODUCT_TYPES],
  ['goal', GOALS],
  ['bid_strategy', BID_STRATEGIES],
  ['pay_by', PAY_BY_WRITABLE],
  ['audience_expansion', AUDIENCE_EXPANSIONS],
  ['creative_source', CREATIVE_SOURCES]
]

function inputProblems(changes: LineItemInput, current: LineItemState | null, context: LineItemContext): ErrorItem[] {
  const problems: ErrorItem[] = []
  for (const [key, values] of WRITABLE) {
    const value = changes[key]
    if (value && !values.includes(String(value))) problems.push(notIn(values, value, key))
  }
  const statuses = current ? ENTITY_STATUSES_ON_UPDATE : ENTITY_STATUSES
  const status = changes.entity_status
  if (status !== undefined && !statuses.some((one) => one === status)) {
    problems.push(notIn(statuses, status, 'entity_status'))
  }
  if (current && changes.pay_by && current.objective !== PAY_BY_CHANGEABLE) {
    problems.push(notAllowed('pay_by', `only for ${PAY_BY_CHANGEABLE} line items`))
  }
  if (changes.advertiser_user_id) {
    const objective = current?.objective ?? changes.objective
    if (!context.maySetAdvertiserUser) {
      problems.push(notAllowed('advertiser_user_id', 'only by certain client applications'))
    } else if (objective !== 'PREROLL_VIEWS') {
      problems.push(notAllowed('advertiser_user_id', 'only for PREROLL_VIEWS line items'))
    }
  }
  const live = budgetsLiveOn(context.campaign?.budget_optimization ?? 'CAMPAIGN')
  if (typeof changes.standard_delivery === 'boolean' && context.campaign && !live.lineItemDelivery) {
    problems.push(notAllowed('standard_delivery', 'only under a campaign with budget_optimization LINE_ITEM'))
  }
  return problems
}

/** The decimal form of an ads id, as the user interface and messages about campaigns show it. */
const decimal = (id: string) => [...id].reduce((sum, digit) => sum * 36n + BigInt(Number.parseInt(digit, 36) || 0), 0n)

function creationProblems(input: LineItemInput, { campaign, sibling }: LineItemContext): ErrorItem[] {
  const problems: ErrorItem[] = []
  for (const key of ['campaign_id', 'objective', 'placements', 'product_type'] as const) {
    if (!input[key]) problems.push(missing(key))
  }
  if (input.campaign_id && !campaign) {
    const message = `Campaign ${input.campaign_id} was not found`
    problems.push({ code: 'CAMPAIGN_NOT_FOUND', message, parameter: 'campaign_id' })
  }
  if (!sibling || !campaign) return problems
  if (input.objective && input.objective !== sibling.objective) {
    const message = `All line items of campaign ${decimal(campaign.id)} share the objective ${sibling.objective}`
    problems.push(invalid('objective', message))
  }
  if (input.product_type && input.product_type !== sibling.product_type) {
    const message = `All line items of campaign ${decimal(campaign.id)} share the product type ${sibling.product_type}`
    problems.push(invalid('product_type', message))
  }
  return problems
}

function limitProblems({
  lineItemsOfCampaign = 0,
  lineItemsOfCampaignMax = LINE_ITEMS_PER_CAMPAIGN_MAX,
  activeLineItems = 0,
  activeLineItemsMax = ACTIVE_LINE_ITEMS_MAX
}: LineItemContext): ErrorItem[] {
  const tooMany = (where: string, count: number) => [
    { code: 'TOO_MANY_LINE_ITEMS', message: `The ${where} has ${count} line items, as many as it may have` }
  ]
  if (lineItemsOfCampaign >= lineItemsOfCampaignMax) return tooMany('campaign', lineItemsOfCampaign)
  return activeLineItems >= activeLineItemsMax ? tooMany('account', activeLineItems) : []
}
