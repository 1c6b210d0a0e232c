/**
 * What is derived from the state and the clock and never stored: able_to_fund, servable, effective_status and their reasons.
 * A cause names the entity at fault and the variant of a reason; reasons.ts puts it into words.
 */
import { budgetsLiveOn, fundingRule } from './budgets.ts'
import { needsKeywords } from './placements.ts'

export const FUNDING_REASONS = [
  'DELETED',
  'STARTS_IN_FUTURE',
  'EXPIRED',
  'BUDGET_EXHAUSTED',
  'PAUSED',
  'CREDIT_CARD_APPROVAL_PENDING',
  'CREDIT_CARD_REJECTED',
  'CREDIT_CARD_DELETED'
] as const
export type FundingReason = (typeof FUNDING_REASONS)[number]

/** In the order in which they are reported. */
export const SERVING_REASONS = [
  'PAUSED_BY_ADVERTISER',
  'AWAITING_APPROVAL_BY_ADVERTISER',
  'INCOMPLETE',
  'FUNDING_PROBLEM',
  'EXPIRED',
  'STARTS_IN_FUTURE',
  'BUDGET_EXHAUSTED',
  'CONTENT_REVIEW_PROBLEM',
  'ACCOUNT_REJECTED',
  'ACCOUNT_UNDER_REVIEW'
] as const
export type ServingReason = (typeof SERVING_REASONS)[number]

export type CauseEntity = 'account' | 'funding_instrument' | 'campaign' | 'line_item'

export interface Cause {
  reason: ServingReason
  entity: CauseEntity
  /** Which of the explanations of the reason, where it has several. */
  variant?: 'NO_LINE_ITEM' | 'NO_CREATIVE' | 'NO_KEYWORDS' | 'NO_BUDGET' | 'BID_ABOVE_BUDGET' | 'UNDER_REVIEW'
}

export interface FundingFacts {
  deleted: boolean
  entity_status: string
  type: string
  start_time: string
  end_time: string | null
  credit_limit_local_micro: bigint | null
  funded_amount_local_micro: bigint | null
  spend_local_micro?: bigint
  credit_card_status?: 'APPROVAL_PENDING' | 'REJECTED' | 'DELETED' | null
}

export function fundingReasons(facts: FundingFacts, now: number): FundingReason[] {
  const spend = facts.spend_local_micro ?? 0n
  const limit = facts.funded_amount_local_micro ?? facts.credit_limit_local_micro
  const reasons: FundingReason[] = []
  if (facts.deleted) reasons.push('DELETED')
  if (now < Date.parse(facts.start_time)) reasons.push('STARTS_IN_FUTURE')
  if (facts.end_time !== null && Date.parse(facts.end_time) <= now) reasons.push('EXPIRED')
  if (limit !== null && spend >= limit) reasons.push('BUDGET_EXHAUSTED')
  if (facts.entity_status === 'PAUSED') reasons.push('PAUSED')
  if (facts.credit_card_status === 'APPROVAL_PENDING') reasons.push('CREDIT_CARD_APPROVAL_PENDING')
  if (facts.credit_card_status === 'REJECTED') reasons.push('CREDIT_CARD_REJECTED')
  if (facts.credit_card_status === 'DELETED') reasons.push('CREDIT_CARD_DELETED')
  return reasons
}

/** Limit minus spend, for the types that have it. */
export function creditRemaining(facts: Pick<FundingFacts, 'type' | 'credit_limit_local_micro' | 'spend_local_micro'>) {
  if (!fundingRule(facts.type)?.creditRemaining || facts.credit_limit_local_micro === null) return null
  return facts.credit_limit_local_micro - (facts.spend_local_micro ?? 0n)
}

/** Waiting may mend the others; a campaign may be prepared under such an instrument. */
export const neverFundsAgain = (reason: FundingReason) =>
  !['STARTS_IN_FUTURE', 'PAUSED', 'CREDIT_CARD_APPROVAL_PENDING'].includes(reason)

interface Surroundings {
  account: { approval_status: string }
  fundingInstrument: FundingFacts
}

export interface CampaignFacts extends Surroundings {
  deleted: boolean
  entity_status: string
  total_budget_amount_local_micro: bigint | null
  spend_local_micro?: bigint
  lineItems: LineItemCounts
}

/** Live means neither deleted nor a draft; the counts after `complete` are of the complete ones. */
export interface LineItemCounts {
  live: number
  /** Having a creative, and keywords or a budget where they are needed. */
  complete: number
  /** Complete and stopped by nothing of their own. */
  serving: number
  paused: number
  ended: number
  startsLater: number
  exhausted: number
  /** All creatives rejected. */
  rejected: number
  /** No creative accepted yet. */
  underReview: number
}

export interface LineItemFacts {
  deleted: boolean
  entity_status: string
  placements: readonly string[]
  start_time: string | null
  end_time: string | null
  bid_amount_local_micro: bigint | null
  daily_budget_amount_local_micro: bigint | null
  total_budget_amount_local_micro: bigint | null
  spend_local_micro?: bigint
  /** Promoted posts, promoted accounts and media creatives that are not deleted. */
  creatives: { total: number; accepted: number; rejected: number }
  keywords: number
  campaign: {
    budget_optimization: string
    daily_budget_amount_local_micro: bigint | null
    total_budget_amount_local_micro: bigint | null
  }
}

export interface Servability {
  /** Null once deleted. */
  servable: boolean | null
  reasons_not_servable: ServingReason[]
  effective_status: string
  causes: Cause[]
}

/** What stops a line item by itself, whatever its campaign does. */
export function lineItemCauses(facts: LineItemFacts, now: number): Cause[] {
  const causes: Cause[] = []
  const add = (reason: ServingReason, variant?: Cause['variant']) =>
    causes.push({ reason, entity: 'line_item', ...(variant ? { variant } : {}) })
  const ownBudgets = budgetsLiveOn(facts.campaign.budget_optimization).lineItemBudgets
  const { daily_budget_amount_local_micro: daily, total_budget_amount_local_micro: total } = facts
  if (facts.entity_status === 'PAUSED') add('PAUSED_BY_ADVERTISER')
  if (facts.entity_status === 'DRAFT') add('AWAITING_APPROVAL_BY_ADVERTISER')
  if (facts.creatives.total === 0) add('INCOMPLETE', 'NO_CREATIVE')
  if (needsKeywords(facts.placements) && facts.keywords === 0) add('INCOMPLETE', 'NO_KEYWORDS')
  if (ownBudgets && daily === null && total === null) add('INCOMPLETE', 'NO_BUDGET')
  if (facts.end_time !== null && Date.parse(facts.end_time) <= now) add('EXPIRED')
  if (facts.start_time !== null && Date.parse(facts.start_time) > now) add('STARTS_IN_FUTURE')
  if (ownBudgets && total !== null && (facts.spend_local_micro ?? 0n) >= total) add('BUDGET_EXHAUSTED')
  else if (bidAboveBudget(facts)) add('BUDGET_EXHAUSTED', 'BID_ABOVE_BUDGET')
  if (facts.creatives.total > 0 && facts.creatives.accepted === 0) {
    const allRejected = facts.creatives.rejected === facts.creatives.total
    if (allRejected) add('CONTENT_REVIEW_PROBLEM')
    else add('CONTENT_REVIEW_PROBLEM', 'UNDER_REVIEW')
  }
  return causes
}

/** A bid that no budget can pay for once is no error when it is set, but it never serves. */
function bidAboveBudget({ bid_amount_local_micro: bid, campaign }: LineItemFacts) {
  const budgets = [campaign.daily_budget_amount_local_micro, campaign.total_budget_amount_local_micro]
  return bid !== null && budgets.some((budget) => budget !== null && bid > budget)
}

export function countLineItems(lineItems: readonly LineItemFacts[], now: number): LineItemCounts {
  const counts: LineItemCounts = {
    live: 0,
    complete: 0,
    serving: 0,
    paused: 0,
    ended: 0,
    startsLater: 0,
    exhausted: 0,
    rejected: 0,
    underReview: 0
  }
  for (const facts of lineItems) {
    if (facts.deleted || facts.entity_status === 'DRAFT') continue
    counts.live++
    const causes = lineItemCauses(facts, now)
    if (causes.some((cause) => cause.reason === 'INCOMPLETE')) continue
    counts.complete++
    if (causes.length === 0) counts.serving++
    for (const { reason, variant } of causes) {
      if (reason === 'PAUSED_BY_ADVERTISER') counts.paused++
      if (reason === 'EXPIRED') counts.ended++
      if (reason === 'STARTS_IN_FUTURE') counts.startsLater++
      if (reason === 'BUDGET_EXHAUSTED') counts.exhausted++
      if (reason === 'CONTENT_REVIEW_PROBLEM') counts[variant === 'UNDER_REVIEW' ? 'underReview' : 'rejected']++
    }
  }
  return counts
}

/** What stops every line item of a campaign, whatever they do themselves. */
function campaignCauses(facts: Omit<CampaignFacts, 'lineItems'>, now: number): Cause[] {
  const causes: Cause[] = []
  if (facts.entity_status === 'PAUSED') causes.push({ reason: 'PAUSED_BY_ADVERTISER', entity: 'campaign' })
  if (facts.entity_status === 'DRAFT') causes.push({ reason: 'AWAITING_APPROVAL_BY_ADVERTISER', entity: 'campaign' })
  if (fundingReasons(facts.fundingInstrument, now).length > 0) {
    causes.push({ reason: 'FUNDING_PROBLEM', entity: 'funding_instrument' })
  }
  const { total_budget_amount_local_micro: total } = facts
  if (total !== null && (facts.spend_local_micro ?? 0n) >= total) {
    causes.push({ reason: 'BUDGET_EXHAUSTED', entity: 'campaign' })
  }
  const { approval_status } = facts.account
  if (approval_status === 'REJECTED') causes.push({ reason: 'ACCOUNT_REJECTED', entity: 'account' })
  if (approval_status === 'UNDER_REVIEW') causes.push({ reason: 'ACCOUNT_UNDER_REVIEW', entity: 'account' })
  return causes
}

/** What the line items add to the campaign's own causes: something only if none of them can serve. */
function lineItemCausesOfCampaign(counts: LineItemCounts): Cause[] {
  if (counts.live === 0) return [{ reason: 'INCOMPLETE', entity: 'campaign', variant: 'NO_LINE_ITEM' }]
  if (counts.complete === 0) return [{ reason: 'INCOMPLETE', entity: 'line_item', variant: 'NO_CREATIVE' }]
  if (counts.serving > 0) return []
  const held: [number, Cause][] = [
    [counts.paused, { reason: 'PAUSED_BY_ADVERTISER', entity: 'line_item' }],
    [counts.ended, { reason: 'EXPIRED', entity: 'line_item' }],
    [counts.startsLater, { reason: 'STARTS_IN_FUTURE', entity: 'line_item' }],
    [counts.exhausted, { reason: 'BUDGET_EXHAUSTED', entity: 'line_item' }],
    [counts.rejected, { reason: 'CONTENT_REVIEW_PROBLEM', entity: 'line_item' }],
    [counts.underReview, { reason: 'CONTENT_REVIEW_PROBLEM', entity: 'line_item', variant: 'UNDER_REVIEW' }]
  ]
  return held.filter(([count]) => count > 0).map(([, cause]) => cause)
}

export function campaignServability(facts: CampaignFacts, now: number): Servability {
  return servability([...campaignCauses(facts, now), ...lineItemCausesOfCampaign(facts.lineItems)], facts.deleted)
}

export function lineItemServability(
  facts: LineItemFacts,
  campaign: Omit<CampaignFacts, 'lineItems'>,
  now: number
): Servability {
  return servability([...lineItemCauses(facts, now), ...campaignCauses(campaign, now)], facts.deleted)
}

const NONE: Servability = { servable: true, reasons_not_servable: [], effective_status: 'RUNNING', causes: [] }

function servability(causes: Cause[], deleted: boolean): Servability {
  if (causes.length === 0 && !deleted) return NONE
  const ordered = causes.toSorted((a, b) => SERVING_REASONS.indexOf(a.reason) - SERVING_REASONS.indexOf(b.reason))
  const reasons = [...new Set(ordered.map((cause) => cause.reason))]
  const effective_status = effectiveStatus(reasons)
  if (deleted) return { servable: null, reasons_not_servable: [], effective_status, causes: [] }
  return { servable: reasons.length === 0, reasons_not_servable: reasons, effective_status, causes: ordered }
}

const EFFECTIVE_STATUS: [ServingReason, string][] = [
  ['INCOMPLETE', 'UNKNOWN'],
  ['PAUSED_BY_ADVERTISER', 'PAUSED'],
  ['AWAITING_APPROVAL_BY_ADVERTISER', 'DRAFT'],
  ['EXPIRED', 'EXPIRED'],
  ['BUDGET_EXHAUSTED', 'EXHAUSTED'],
  ['STARTS_IN_FUTURE', 'SCHEDULED']
]

/** The first that holds; what no value says (funding, reviews) is UNKNOWN. See decisions/0053. */
function effectiveStatus(reasons: readonly ServingReason[]) {
  if (reasons.length === 0) return 'RUNNING'
  return EFFECTIVE_STATUS.find(([reason]) => reasons.includes(reason))?.[1] ?? 'UNKNOWN'
}

/** Counts against the limit of active campaigns: paused ones too, but not drafts, nor what is over. */
export const countsAsActive = (campaign: {
  entity_status: string
  deleted?: boolean
  /** All its line items ended, or its budget is exhausted. */
  over?: boolean
}) => campaign.entity_status !== 'DRAFT' && !campaign.deleted && !campaign.over
