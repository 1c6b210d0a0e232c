/** What decides whether campaigns serve, read beside them and never stored. Amounts travel as text: JSON numbers would lose digits. */
import { sql } from 'kysely'
import type { CampaignRow } from './campaigns.ts'
import { campaignServability, countLineItems, type FundingFacts, type LineItemFacts } from './rules/statuses.ts'

/** Counts of creatives of line item `l`: all, accepted, rejected. */
const CREATIVES = `(select json_build_array(count(*), count(*) filter (where approval_status = 'ACCEPTED'),
    count(*) filter (where approval_status = 'REJECTED')) from (
  select approval_status from promoted_tweets c where c.account_id = l.account_id and c.line_item_id = l.id and not c.deleted
  union all
  select approval_status from promoted_accounts c where c.account_id = l.account_id and c.line_item_id = l.id and not c.deleted
  union all
  select approval_status from media_creatives c where c.account_id = l.account_id and c.line_item_id = l.id and not c.deleted
) all_creatives)`

const LINE_ITEM = `json_build_array(l.entity_status, l.placements, l.start_time, l.end_time, l.bid_amount_local_micro::text,
  l.daily_budget_amount_local_micro::text, l.total_budget_amount_local_micro::text, l.spend_local_micro::text, ${CREATIVES},
  case when 'SVC_SEARCH' = any(l.placements) then (select count(*) from targeting_criteria t where t.account_id = l.account_id
    and t.line_item_id = l.id and not t.deleted and t.targeting_type like '%\\_KEYWORD') else 0 end, l.id, l.product_type)`

/** Columns on the campaign `e`. */
export const FACTS = `(select json_build_array(f.deleted, f.entity_status, f.type, f.start_time, f.end_time,
    f.credit_limit_local_micro::text, f.funded_amount_local_micro::text, f.spend_local_micro::text, f.credit_card_status)
  from funding_instruments f where f.account_id = e.account_id and f.id = e.funding_instrument_id) as funding,
  (select a.approval_status from ad_accounts a where a.id = e.account_id) as account_approval_status,
  (select json_agg(${LINE_ITEM}) from line_items l
   where l.account_id = e.account_id and l.campaign_id = e.id and not l.deleted) as line_items`

export const factsColumns = sql.raw(FACTS)

type Amount = string | null
type FundingArray = [
  boolean,
  string,
  string,
  string,
  string | null,
  Amount,
  Amount,
  string,
  FundingFacts['credit_card_status']
]
type LineItemArray = [
  string,
  string[],
  string | null,
  string | null,
  Amount,
  Amount,
  Amount,
  string,
  [number, number, number],
  number,
  string,
  string
]

/** What is read beside a campaign. */
export interface Facts {
  funding: FundingArray
  account_approval_status: string
  line_items: LineItemArray[] | null
}

export type CampaignWithFacts = CampaignRow & Facts

const big = (amount: Amount) => (amount === null ? null : BigInt(amount))

export function fundingFacts(funding: FundingArray) {
  const [deleted, entity_status, type, start_time, end_time, limit, funded, spend, card] = funding
  return {
    deleted,
    entity_status,
    type,
    start_time,
    end_time,
    credit_limit_local_micro: big(limit),
    funded_amount_local_micro: big(funded),
    spend_local_micro: BigInt(spend),
    credit_card_status: card
  }
}

export interface NamedLineItemFacts extends LineItemFacts {
  id: string
  product_type: string
}

export function lineItemFacts(campaign: CampaignRow, { line_items }: Facts): NamedLineItemFacts[] {
  return (line_items ?? []).map(
    ([
      entity_status,
      placements,
      start_time,
      end_time,
      bid,
      daily,
      total,
      spend,
      creatives,
      keywords,
      id,
      product
    ]) => ({
      id,
      product_type: product,
      deleted: false,
      entity_status,
      placements,
      start_time,
      end_time,
      bid_amount_local_micro: big(bid),
      daily_budget_amount_local_micro: big(daily),
      total_budget_amount_local_micro: big(total),
      spend_local_micro: BigInt(spend),
      creatives: { total: creatives[0], accepted: creatives[1], rejected: creatives[2] },
      keywords,
      campaign
    })
  )
}

export const factsOf = (campaign: CampaignRow, facts: Facts) => ({
  deleted: campaign.deleted,
  entity_status: campaign.entity_status,
  total_budget_amount_local_micro: campaign.total_budget_amount_local_micro,
  spend_local_micro: campaign.spend_local_micro,
  account: { approval_status: facts.account_approval_status },
  fundingInstrument: fundingFacts(facts.funding)
})

export const servabilityOf = (campaign: CampaignRow, facts: Facts, now: number) =>
  campaignServability(
    { ...factsOf(campaign, facts), lineItems: countLineItems(lineItemFacts(campaign, facts), now) },
    now
  )
