/** Why something does not serve (extension): each reason with the entity that causes it and the call that would mend it. */
import { Type } from 'typebox'
import { ADS_LIMITS, type AdsScope } from '../http/ads.ts'
import type { Db } from '../storage/db.ts'
import {
  type CampaignWithFacts,
  factsOf,
  fundingFacts,
  lineItemFacts,
  type NamedLineItemFacts,
  servabilityOf
} from './campaign-facts.ts'
import { getCampaignWithFacts } from './campaigns.ts'
import { fundingInstruments } from './funding-instruments.ts'
import { getLineItem } from './line-items.ts'
import { getRow } from './rows.ts'
import { type Explanation, explain, FUNDING_EXPLANATIONS } from './rules/reasons.ts'
import { type Cause, fundingReasons, lineItemCauses, lineItemServability } from './rules/statuses.ts'
import { BoolOrNull, Entity, Text, TextOrNull, Texts } from './wire.ts'

const Reason = Entity({
  reason: Text,
  entity: Text,
  entity_id: TextOrNull,
  explanation: Text,
  mend: Type.Unsafe<Explanation['mend']>({
    type: 'object',
    nullable: true,
    properties: {
      method: { type: 'string' },
      path: { type: 'string' },
      params: { type: 'object', additionalProperties: true }
    },
    required: ['method', 'path', 'params']
  })
})
const derived = {
  servable: BoolOrNull,
  reasons_not_servable: Texts,
  effective_status: Text,
  reasons: Type.Array(Reason)
}
const LineItemServability = Entity({ line_item_id: Text, entity_status: Text, ...derived })
const CampaignServability = Entity({
  campaign_id: Text,
  entity_status: Text,
  ...derived,
  line_items: Type.Array(LineItemServability)
})
const FundingExplanation = Entity({
  funding_instrument_id: Text,
  able_to_fund: Type.Boolean(),
  reasons_not_able_to_fund: Texts,
  reasons: Type.Array(Entity({ reason: Text, explanation: Text }))
})

const idsOf = (campaign: CampaignWithFacts) => ({
  account_id: campaign.account_id,
  funding_instrument_id: campaign.funding_instrument_id,
  campaign_id: campaign.id
})

/** Where an instrument is at fault, its own reasons are told with it. */
const withFunding = (explanations: Explanation[], campaign: CampaignWithFacts, now: number) =>
  explanations.map((each) =>
    each.reason === 'FUNDING_PROBLEM'
      ? {
          ...each,
          explanation: fundingReasons(fundingFacts(campaign.funding), now)
            .map((reason) => `${reason}: ${FUNDING_EXPLANATIONS[reason]}`)
            .join(' ')
        }
      : each
  )

/** A cause that lies with line items is told of each of them. */
function explainCampaign(campaign: CampaignWithFacts, causes: readonly Cause[], now: number): Explanation[] {
  const items = lineItemFacts(campaign, campaign)
  const explanations = causes.flatMap((cause) => {
    if (cause.entity !== 'line_item') return explain([cause], idsOf(campaign))
    return items.flatMap((item) => {
      const own = lineItemCauses(item, now).filter((each) => each.reason === cause.reason)
      return explain(own, { ...idsOf(campaign), line_item_id: item.id, product_type: item.product_type })
    })
  })
  return withFunding(explanations, campaign, now)
}

function explainLineItem(item: NamedLineItemFacts, campaign: CampaignWithFacts, now: number) {
  const { causes, ...derived } = lineItemServability(item, factsOf(campaign, campaign), now)
  const ids = { ...idsOf(campaign), line_item_id: item.id, product_type: item.product_type }
  const reasons = withFunding(explain(causes, ids), campaign, now)
  const shown = { line_item_id: item.id, entity_status: item.entity_status, ...derived, reasons }
  return campaign.deleted ? ofDeletedCampaign(shown, campaign.id) : shown
}

const ofDeletedCampaign = <T extends { reasons_not_servable: string[]; reasons: Explanation[] }>(
  shown: T,
  campaignId: string
) => ({
  ...shown,
  servable: false,
  reasons_not_servable: ['DELETED', ...shown.reasons_not_servable],
  reasons: [
    {
      reason: 'DELETED',
      entity: 'campaign' as const,
      entity_id: campaignId,
      explanation: 'The campaign is deleted, for good.',
      mend: null
    },
    ...shown.reasons
  ]
})

async function campaignServability(db: Db, accountId: string, id: string, now: number) {
  const campaign = await getCampaignWithFacts(db, accountId, id)
  const { causes, ...derived } = servabilityOf(campaign, campaign, now)
  return {
    campaign_id: campaign.id,
    entity_status: campaign.entity_status,
    ...derived,
    reasons: explainCampaign(campaign, causes, now),
    line_items: lineItemFacts(campaign, campaign).map((item) => explainLineItem(item, campaign, now))
  }
}

export function servabilityRoutes(scope: AdsScope) {
  const { database, clock } = scope.deps
  const { db } = database
  const common = { method: 'GET' as const, operation: 'campaigns.read', extension: true, limit: ADS_LIMITS.coreReads }

  scope.route({
    ...common,
    path: '/accounts/:account_id/campaigns/:campaign_id/servability',
    summary: 'Why a campaign does not serve, and what would mend it.',
    output: CampaignServability,
    handler: ({ path }) => campaignServability(db, path.account_id!, path.campaign_id!, clock.now())
  })
  scope.route({
    ...common,
    path: '/accounts/:account_id/line_items/:line_item_id/servability',
    summary: 'Why a line item does not serve, and what would mend it.',
    output: LineItemServability,
    handler: async ({ path }) => {
      const row = await getLineItem(db, path.account_id!, path.line_item_id!)
      const campaign = await getCampaignWithFacts(db, row.account_id, row.campaign_id)
      const item = lineItemFacts(campaign, campaign).find((each) => each.id === row.id)!
      return explainLineItem(item, campaign, clock.now())
    }
  })
  scope.route({
    ...common,
    path: '/accounts/:account_id/funding_instruments/:funding_instrument_id/servability',
    summary: 'Why a funding instrument is not able to fund.',
    output: FundingExplanation,
    handler: async ({ path }) => {
      const id = path.funding_instrument_id!
      const row = await getRow(db, fundingInstruments, path.account_id!, id, { withDeleted: true })
      const reasons = fundingReasons(row, clock.now())
      return {
        funding_instrument_id: id,
        able_to_fund: reasons.length === 0,
        reasons_not_able_to_fund: reasons,
        reasons: reasons.map((reason) => ({ reason, explanation: FUNDING_EXPLANATIONS[reason] }))
      }
    }
  })
}
