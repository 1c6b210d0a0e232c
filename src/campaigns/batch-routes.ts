/** The batch calls of campaigns and line items. */
import type { AdsScope } from '../http/ads.ts'
import type { InputOf } from '../http/ads-input.ts'
import { batchId, batchRoute, inOrder } from './batch.ts'
import { answers, Campaign, type CampaignRow, createCampaign, deleteCampaign, updateCampaign } from './campaigns.ts'
import { createLineItem, deleteLineItem, LineItem, type LineItemRow, lineItems, updateLineItem } from './line-items.ts'
import type { ReferenceStore } from './reference-store.ts'
import { wireAll } from './rows.ts'
import { campaignCreate, campaignUpdate, lineItemCreate, lineItemUpdate } from './rules/inputs.ts'
import type { Write } from './writes.ts'

export function batchRoutes(scope: AdsScope, reference: ReferenceStore) {
  const campaignInputs = {
    Create: campaignCreate,
    Update: { ...campaignUpdate, campaign_id: batchId() },
    Delete: { campaign_id: batchId() }
  }
  batchRoute<CampaignRow>(scope, {
    path: '/batch/accounts/:account_id/campaigns',
    summary: 'Create, update and delete up to 40 campaigns, all or none.',
    output: Campaign,
    operation: 'campaigns.write',
    inputs: campaignInputs,
    run: inOrder({
      Create: async (write: Write, input: InputOf<typeof campaignInputs.Create>) =>
        createCampaign(write, await reference.load(), input),
      Update: async (write: Write, { campaign_id, ...input }: InputOf<typeof campaignInputs.Update>) =>
        updateCampaign(write, await reference.load(), campaign_id, input),
      Delete: (write: Write, { campaign_id }: InputOf<typeof campaignInputs.Delete>) =>
        deleteCampaign(write, campaign_id)
    }),
    answer: answers
  })

  const lineItemInputs = {
    Create: lineItemCreate,
    Update: { ...lineItemUpdate, line_item_id: batchId() },
    Delete: { line_item_id: batchId() }
  }
  batchRoute<LineItemRow>(scope, {
    path: '/batch/accounts/:account_id/line_items',
    summary: 'Create, update and delete up to 40 line items, all or none.',
    output: LineItem,
    operation: 'campaigns.write',
    extension: true,
    inputs: lineItemInputs,
    run: inOrder({
      Create: async (write: Write, input: InputOf<typeof lineItemInputs.Create>) =>
        createLineItem(write, await reference.load(), input),
      Update: async (write: Write, { line_item_id, ...input }: InputOf<typeof lineItemInputs.Update>) =>
        updateLineItem(write, await reference.load(), line_item_id, input),
      Delete: (write: Write, { line_item_id }: InputOf<typeof lineItemInputs.Delete>) =>
        deleteLineItem(write, line_item_id)
    }),
    answer: (write, rows) => wireAll(write, lineItems, rows)
  })
}
