/** What a campaign may look like. Create, update and batch all go through these two functions. */
import type { ErrorItem } from '../../errors.ts'
import { BUDGET_OPTIMIZATIONS, budgetProblems, budgetsLiveOn, fundingRule } from './budgets.ts'
import { causedBy, changesOf, firstPerField } from './changes.ts'
import { missing, notAllowed, notIn, unexpected } from './problems.ts'
import type { RuleReference } from './reference.ts'
import { countsAsActive, type FundingReason, neverFundsAgain } from './statuses.ts'

export const CAMPAIGN_NAME_MAX = 255
export const PURCHASE_ORDER_NUMBER_MAX = 50
/** Raisable per account to 8,000. */
export const ACTIVE_CAMPAIGNS_MAX = 200
export const ENTITY_STATUSES = ['ACTIVE', 'DRAFT', 'PAUSED'] as const
/** DRAFT is where an entity may start, never where it goes. */
export const ENTITY_STATUSES_ON_UPDATE = ['ACTIVE', 'PAUSED'] as const

export interface CampaignState {
  name: string
  funding_instrument_id: string
  budget_optimization: string
  daily_budget_amount_local_micro: bigint | null
  total_budget_amount_local_micro: bigint | null
  entity_status: string
  purchase_order_number: string | null
  standard_delivery: boolean | null
}

/** What was sent: absent keys are not touched, null un-sets. */
export type CampaignInput = { [K in keyof CampaignState]?: CampaignState[K] | null }

export interface CampaignContext {
  /** The instrument the campaign is, or is to be, under; null when there is none of that id in the account. */
  fundingInstrument: { type: string; currency: string; reasons_not_able_to_fund: readonly FundingReason[] } | null
  spend_local_micro?: bigint
  /** Other campaigns of the account that count as active. */
  activeCampaigns?: number
  activeCampaignsMax?: number
  reference: RuleReference
}

/** The campaign as it would be stored. */
export function mergeCampaign(input: CampaignInput, current: CampaignState | null): CampaignState {
  const changes = changesOf(input, current)
  const optimization = changes.budget_optimization ?? current?.budget_optimization ?? 'CAMPAIGN'
  const keep = <K extends keyof CampaignState>(key: K) =>
    (changes[key] === undefined ? (current?.[key] ?? null) : changes[key]) as CampaignState[K]
  const moved = current !== null && optimization !== current.budget_optimization
  const delivery = changes.standard_delivery ?? (current && !moved ? current.standard_delivery : null) ?? true
  return {
    name: keep('name') ?? '',
    funding_instrument_id: current?.funding_instrument_id ?? changes.funding_instrument_id ?? '',
    budget_optimization: optimization,
    daily_budget_amount_local_micro: keep('daily_budget_amount_local_micro'),
    total_budget_amount_local_micro: keep('total_budget_amount_local_micro'),
    entity_status: keep('entity_status') ?? 'ACTIVE',
    purchase_order_number: keep('purchase_order_number'),
    standard_delivery: budgetsLiveOn(optimization).campaignDelivery ? delivery : null
  }
}

/** Every rule of the document's campaign table, on the merged campaign. Nothing when it may be stored. */
export function validateCampaign(
  input: CampaignInput,
  current: CampaignState | null,
  context: CampaignContext
): ErrorItem[] {
  const changes = changesOf(input, current)
  const merged = mergeCampaign(input, current)
  const after = [...inputProblems(changes, current, merged), ...stateProblems(merged, context)]
  const before = current ? stateProblems(current, context) : []
  return [
    ...firstPerField([...(current ? [] : fundingProblems(input, context)), ...causedBy(changes, after, before)]),
    ...limitProblems(merged, current, context)
  ]
}

function inputProblems(changes: CampaignInput, current: CampaignState | null, merged: CampaignState): ErrorItem[] {
  const problems: ErrorItem[] = []
  const { name, purchase_order_number: order, budget_optimization: optimization, entity_status: status } = changes
  if (name === undefined && !current) problems.push(missing('name'))
  if (name === null || name === '' || (name && [...name].length > CAMPAIGN_NAME_MAX)) {
    problems.push(unexpected(`a text of 1 to ${CAMPAIGN_NAME_MAX} characters`, name, 'name'))
  }
  if (order && [...order].length > PURCHASE_ORDER_NUMBER_MAX) {
    const what = `a text of at most ${PURCHASE_ORDER_NUMBER_MAX} characters`
    problems.push(unexpected(what, order, 'purchase_order_number'))
  }
  if (optimization !== undefined && !BUDGET_OPTIMIZATIONS.some((one) => one === optimization)) {
    problems.push(notIn(BUDGET_OPTIMIZATIONS, optimization, 'budget_optimization'))
  }
  const statuses = current ? ENTITY_STATUSES_ON_UPDATE : ENTITY_STATUSES
  if (status !== undefined && !statuses.some((one) => one === status)) {
    problems.push(notIn(statuses, status, 'entity_status'))
  }
  if (typeof changes.standard_delivery === 'boolean' && !budgetsLiveOn(merged.budget_optimization).campaignDelivery) {
    problems.push(notAllowed('standard_delivery', 'only when budget_optimization is CAMPAIGN'))
  }
  return problems
}

function stateProblems(state: CampaignState, { fundingInstrument, spend_local_micro, reference }: CampaignContext) {
  const rule = fundingInstrument ? reference.biddingRules.get(fundingInstrument.currency) : undefined
  const problems: ErrorItem[] = []
  if (
    state.daily_budget_amount_local_micro === null &&
    budgetsLiveOn(state.budget_optimization).campaignDailyRequired &&
    fundingInstrument &&
    fundingRule(fundingInstrument.type)?.dailyBudget
  ) {
    problems.push(missing('daily_budget_amount_local_micro'))
  }
  problems.push(...budgetProblems(state, spend_local_micro ?? 0n, rule))
  return problems
}

function fundingProblems(input: CampaignInput, { fundingInstrument }: CampaignContext): ErrorItem[] {
  const id = input.funding_instrument_id
  const parameter = 'funding_instrument_id'
  if (!id) return [missing(parameter)]
  if (!fundingInstrument) {
    return [{ code: 'FUNDING_INSTRUMENT_NOT_FOUND', message: `Funding instrument ${id} was not found`, parameter }]
  }
  const fatal = fundingInstrument.reasons_not_able_to_fund.filter(neverFundsAgain)
  if (fatal.length === 0) return []
  const message = `Funding instrument ${id} is not able to fund campaigns: ${fatal.join(', ')}`
  return [{ code: 'INVALID_FUNDING_INSTRUMENT', message, parameter }]
}

function limitProblems(merged: CampaignState, current: CampaignState | null, context: CampaignContext): ErrorItem[] {
  const { activeCampaigns = 0, activeCampaignsMax = ACTIVE_CAMPAIGNS_MAX } = context
  const joins = countsAsActive(merged) && !(current && countsAsActive(current))
  if (!joins || activeCampaigns < activeCampaignsMax) return []
  const message = `The account has ${activeCampaigns} active campaigns, as many as it may have; delete one first`
  return [{ code: 'TOO_MANY_CAMPAIGNS', message }]
}
