/** Why something does not serve, in words, with the entity at fault and the call that would mend it. */
import type { Cause, CauseEntity, FundingReason } from './statuses.ts'

export interface Explanation {
  reason: string
  entity: CauseEntity
  entity_id: string | null
  explanation: string
  /** The call that would mend it; null when only the operator or time can. */
  mend: { method: string; path: string; params: Record<string, string> } | null
}

/** Ids of what is around; without `line_item_id` the campaign as a whole is meant. */
export interface ExplainedIds {
  account_id: string
  funding_instrument_id: string
  campaign_id: string
  line_item_id?: string
  product_type?: string
}

type Words = [explanation: string, mend: (ids: ExplainedIds) => Explanation['mend']]

const account = (ids: ExplainedIds, rest = '') => `/12/accounts/${ids.account_id}${rest}`
const campaign = (ids: ExplainedIds) => account(ids, `/campaigns/${ids.campaign_id}`)
const lineItem = (ids: ExplainedIds) => account(ids, `/line_items/${ids.line_item_id ?? ':line_item_id'}`)
const put = (path: string, params: Record<string, string>) => ({ method: 'PUT', path, params })
const post = (path: string, params: Record<string, string>) => ({ method: 'POST', path, params })
const nothing = () => null

const addCreative = (ids: ExplainedIds) => {
  const line_item_id = ids.line_item_id ?? ':line_item_id'
  if (ids.product_type === 'PROMOTED_ACCOUNT') {
    return post(account(ids, '/promoted_accounts'), { line_item_id, user_id: ':user_id' })
  }
  if (ids.product_type === 'MEDIA') {
    return post(account(ids, '/media_creatives'), { line_item_id, account_media_id: ':account_media_id' })
  }
  return post(account(ids, '/promoted_tweets'), { line_item_id, tweet_ids: ':tweet_ids' })
}

/** By reason, entity and variant: the table of docs and console. */
export const EXPLANATIONS: Record<string, Words> = {
  'PAUSED_BY_ADVERTISER campaign': [
    'The campaign is paused.',
    (ids) => put(campaign(ids), { entity_status: 'ACTIVE' })
  ],
  'PAUSED_BY_ADVERTISER line_item': [
    'The line item is paused.',
    (ids) => put(lineItem(ids), { entity_status: 'ACTIVE' })
  ],
  'AWAITING_APPROVAL_BY_ADVERTISER campaign': [
    'The campaign is a draft.',
    (ids) => put(campaign(ids), { entity_status: 'ACTIVE' })
  ],
  'AWAITING_APPROVAL_BY_ADVERTISER line_item': [
    'The line item is a draft.',
    (ids) => put(lineItem(ids), { entity_status: 'ACTIVE' })
  ],
  'INCOMPLETE campaign NO_LINE_ITEM': [
    'The campaign has no line item that is neither deleted nor a draft.',
    (ids) =>
      post(account(ids, '/line_items'), {
        campaign_id: ids.campaign_id,
        objective: ':objective',
        placements: ':placements',
        product_type: ':product_type'
      })
  ],
  'INCOMPLETE line_item NO_CREATIVE': ['No creative is attached.', addCreative],
  'INCOMPLETE line_item NO_KEYWORDS': [
    'Search results show ads only for keywords, and the line item targets none.',
    (ids) =>
      post(account(ids, '/targeting_criteria'), {
        line_item_id: ids.line_item_id ?? ':line_item_id',
        targeting_type: 'BROAD_KEYWORD',
        targeting_value: ':keyword'
      })
  ],
  'INCOMPLETE line_item NO_BUDGET': [
    'The campaign leaves budgets to its line items, and the line item has none.',
    (ids) => put(lineItem(ids), { daily_budget_amount_local_micro: ':daily_budget_amount_local_micro' })
  ],
  'FUNDING_PROBLEM funding_instrument': [
    'The funding instrument is not able to fund the campaign; its reasons_not_able_to_fund say why.',
    (ids) => ({
      method: 'GET',
      path: account(ids, `/funding_instruments/${ids.funding_instrument_id}`),
      params: { with_deleted: 'true' }
    })
  ],
  'EXPIRED line_item': [
    'The end_time of the line item has passed.',
    (ids) => put(lineItem(ids), { end_time: ':end_time' })
  ],
  'STARTS_IN_FUTURE line_item': [
    'The start_time of the line item is still to come.',
    (ids) => put(lineItem(ids), { start_time: ':start_time' })
  ],
  'BUDGET_EXHAUSTED campaign': [
    'The total budget of the campaign is spent.',
    (ids) => put(campaign(ids), { total_budget_amount_local_micro: ':total_budget_amount_local_micro' })
  ],
  'BUDGET_EXHAUSTED line_item': [
    'The total budget of the line item is spent, or its bid is above the budget.',
    (ids) => put(lineItem(ids), { total_budget_amount_local_micro: ':total_budget_amount_local_micro' })
  ],
  'BUDGET_EXHAUSTED line_item BID_ABOVE_BUDGET': [
    'The bid is above the daily or total budget of the campaign, so not even one can be paid.',
    (ids) => put(lineItem(ids), { bid_amount_local_micro: ':bid_amount_local_micro' })
  ],
  'CONTENT_REVIEW_PROBLEM line_item': ['Every creative was rejected in review.', addCreative],
  'CONTENT_REVIEW_PROBLEM line_item UNDER_REVIEW': ['No creative has been accepted in review yet.', nothing],
  'ACCOUNT_REJECTED account': ['The account was rejected; the operator of this server decides that.', nothing],
  'ACCOUNT_UNDER_REVIEW account': ['The account is still under review by the operator of this server.', nothing]
}

const entityId = (entity: CauseEntity, ids: ExplainedIds) => ids[`${entity}_id` as keyof ExplainedIds] ?? null

export const explain = (causes: readonly Cause[], ids: ExplainedIds): Explanation[] =>
  causes.map(({ reason, entity, variant }) => {
    const key = `${reason} ${entity}`
    const [explanation, mend] = EXPLANATIONS[`${key} ${variant}`] ?? EXPLANATIONS[key] ?? [reason, nothing]
    return { reason, entity, entity_id: entityId(entity, ids), explanation, mend: mend(ids) }
  })

/** Why an instrument cannot fund. No call of this API mends any of them: instruments are made by the operator or the sandbox. */
export const FUNDING_EXPLANATIONS: Record<FundingReason, string> = {
  DELETED: 'The funding instrument is deleted; create campaigns under another one.',
  STARTS_IN_FUTURE: 'The start_time of the funding instrument is still to come.',
  EXPIRED: 'The end_time of the funding instrument has passed.',
  BUDGET_EXHAUSTED: 'The funded amount or the credit limit is spent.',
  PAUSED: 'The funding instrument is paused.',
  CREDIT_CARD_APPROVAL_PENDING: 'The credit card has not been approved yet.',
  CREDIT_CARD_REJECTED: 'The credit card was rejected.',
  CREDIT_CARD_DELETED: 'The credit card was removed.'
}
