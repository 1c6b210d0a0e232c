/** Line items (ad groups): what a campaign spends its budget on, where, for whom and how it bids. */
import { sql } from 'kysely'
import { ApiError } from '../errors.ts'
import { ADS_LIMITS, type AdsScope, listInput } from '../http/ads.ts'
import { about, bool, choice, id, list, text } from '../http/ads-input.ts'
import type { Database, Db } from '../storage/db.ts'
import { newAdsId } from '../storage/ids.ts'
import { fragment } from '../storage/statements.ts'
import { type CampaignRow, campaigns } from './campaigns.ts'
import { listFeatures } from './features.ts'
import { recordChanges } from './history.ts'
import type { Reference, ReferenceStore } from './reference-store.ts'
import {
  findRow,
  getRow,
  insertRow,
  kind,
  listWire,
  nameStartsWith,
  removeRow,
  SORTABLE,
  type Stamped,
  updateRow
} from './rows.ts'
import { ENTITY_STATUSES } from './rules/campaigns.ts'
import { changesOf } from './rules/changes.ts'
import { lineItemCreate, lineItemUpdate } from './rules/inputs.ts'
import type { LineItemContext, LineItemInput, LineItemState } from './rules/line-item-state.ts'
import { mergeLineItem, validateLineItem } from './rules/line-items.ts'
import { statusOf } from './rules/problems.ts'
import { followApps } from './targeting-criteria.ts'
import {
  BoolOrNull,
  Entity,
  EntityFields,
  folded,
  IntOrNull,
  LongOrNull,
  STAMPS,
  Text,
  TextOrNull,
  Texts,
  wire
} from './wire.ts'
import { type Write, writeRoute } from './writes.ts'

export interface LineItemRow extends Stamped, LineItemState {
  funding_instrument_id: string
  name_folded: string | null
  target_cpa_local_micro: bigint | null
  automatic_tweet_promotion: boolean | null
  currency: string
  spend_local_micro: bigint
}

declare module '../storage/db.ts' {
  interface Tables {
    line_items: LineItemRow
  }
}

export const LINE_ITEM_SORTABLE = [...SORTABLE, 'bid_amount_local_micro'] as const

export const lineItems = kind<LineItemRow>('line_items', 'Line item', 'LINE_ITEM_NOT_FOUND', {
  sortable: LINE_ITEM_SORTABLE,
  nullable: ['bid_amount_local_micro'],
  times: [...STAMPS, 'start_time', 'end_time']
})

const lineItemFields = {
  advertiser_user_id: TextOrNull,
  name: TextOrNull,
  placements: Texts,
  start_time: TextOrNull,
  bid_amount_local_micro: LongOrNull,
  advertiser_domain: TextOrNull,
  target_cpa_local_micro: LongOrNull,
  primary_web_event_tag: TextOrNull,
  goal: Text,
  daily_budget_amount_local_micro: LongOrNull,
  product_type: Text,
  end_time: TextOrNull,
  funding_instrument_id: Text,
  bid_strategy: Text,
  duration_in_days: IntOrNull,
  standard_delivery: BoolOrNull,
  total_budget_amount_local_micro: LongOrNull,
  objective: Text,
  id: Text,
  entity_status: Text,
  automatic_tweet_promotion: BoolOrNull,
  frequency_cap: IntOrNull,
  android_app_store_identifier: TextOrNull,
  categories: Texts,
  currency: Text,
  pay_by: Text,
  created_at: Text,
  ios_app_store_identifier: TextOrNull,
  updated_at: Text,
  campaign_id: Text,
  creative_source: Text,
  deleted: EntityFields.deleted
}
export const LineItem = Entity(lineItemFields)
const LINE_ITEM_KEYS = Object.keys(lineItemFields) as (keyof typeof lineItemFields)[]

export const shaped = (row: LineItemRow) => wire(row, lineItems.times)

/** A line item of the history: what is sent, and what can be written beside. */
function snapshot(row: LineItemRow) {
  const sent = shaped(row)
  return {
    ...Object.fromEntries(LINE_ITEM_KEYS.map((key) => [key, sent[key]])),
    audience_expansion: row.audience_expansion
  }
}

/** Client applications on this list may set advertiser_user_id. */
export const ADVERTISER_USER_LIST = 'advertiser_user_id'

async function contextOf(
  { tx, account, clientLists }: Write,
  reference: Reference,
  campaign: CampaignRow | undefined
): Promise<LineItemContext> {
  const features = await listFeatures(tx, account.id)
  const owner = await tx
    .selectFrom('promotable_users')
    .select('user_id')
    .where('account_id', '=', account.id)
    .where('promotable_user_type', '=', 'FULL')
    .where('deleted', '=', false)
    .executeTakeFirst()
  return {
    campaign: campaign ?? null,
    features: new Set(features),
    maySetAdvertiserUser: clientLists.includes(ADVERTISER_USER_LIST),
    advertiserUserId: owner?.user_id ?? null,
    reference: reference.rules
  }
}

/** What is beside a new line item: the account is locked, so the counts hold until it is there. */
async function companyOf({ tx, account, now }: Write, campaignId: string) {
  const { rows } = await sql<{ of_campaign: bigint; active: bigint; objective: string; product_type: string }>`
    select
      (select count(*) from line_items where account_id = ${account.id} and campaign_id = ${campaignId} and not deleted)
        as of_campaign,
      (select count(*) from (select 1 from line_items where account_id = ${account.id} and not deleted
        and (end_time is null or end_time > ${now}) limit ${account.active_line_items_max}) capped) as active,
      sibling.objective, sibling.product_type
    from (select 1) one left join lateral (
      select objective, product_type from line_items
      where account_id = ${account.id} and campaign_id = ${campaignId} and not deleted limit 1) sibling on true`.execute(
    tx
  )
  const { of_campaign, active, objective, product_type } = rows[0]!
  return {
    lineItemsOfCampaign: Number(of_campaign),
    lineItemsOfCampaignMax: account.line_items_per_campaign_max,
    activeLineItems: Number(active),
    activeLineItemsMax: account.active_line_items_max,
    sibling: objective ? { objective, product_type } : null
  }
}

const entityOf = (row: LineItemRow) => ({ account_id: row.account_id, entity: 'LINE_ITEM' as const, entity_id: row.id })

export async function createLineItem(write: Write, reference: Reference, input: LineItemInput): Promise<LineItemRow> {
  const { tx, account, now } = write
  const campaign = input.campaign_id == null ? undefined : await findRow(tx, campaigns, account.id, input.campaign_id)
  const context = {
    ...(await contextOf(write, reference, campaign)),
    ...(campaign ? await companyOf(write, campaign.id) : {})
  }
  const problems = validateLineItem(input, null, context)
  if (problems.length > 0) throw new ApiError(statusOf(problems), problems)
  const state = mergeLineItem(input, null, context)
  const stamp = now.toISOString()
  const row = await insertRow(tx, lineItems, {
    account_id: account.id,
    id: newAdsId(),
    ...state,
    name_folded: state.name === null ? null : folded(state.name),
    funding_instrument_id: campaign!.funding_instrument_id,
    currency: campaign!.currency,
    created_at: stamp,
    updated_at: stamp
  })
  await recordChanges(write, [{ ...entityOf(row), after: snapshot(row) }])
  await followApps(write, reference, row)
  return row
}

export async function updateLineItem(write: Write, reference: Reference, id: string, input: LineItemInput) {
  const { tx, account, now } = write
  const current = await getRow(tx, lineItems, account.id, id, { lock: true })
  const campaign = await getRow(tx, campaigns, account.id, current.campaign_id, { withDeleted: true })
  const context = {
    ...(await contextOf(write, reference, campaign)),
    spend_local_micro: current.spend_local_micro
  }
  const problems = validateLineItem(input, current, context)
  if (problems.length > 0) throw new ApiError(statusOf(problems), problems)
  const state = mergeLineItem(input, current, context)
  if (Object.keys(changesOf(state, current)).length === 0) return current
  const row = await updateRow(tx, lineItems, current, {
    ...state,
    name_folded: state.name === null ? null : folded(state.name),
    updated_at: now.toISOString()
  })
  await recordChanges(write, [{ ...entityOf(row), before: snapshot(current), after: snapshot(row) }])
  await followApps(write, reference, row)
  return row
}

/** Irreversible. Creatives and targeting stay as they are: there is no cascade. */
export async function deleteLineItem(write: Write, id: string) {
  const { tx, account, now } = write
  const before = await getRow(tx, lineItems, account.id, id)
  const row = await removeRow(tx, lineItems, account.id, id, now)
  await recordChanges(write, [{ ...entityOf(row), before: snapshot(before), after: snapshot(row) }])
  return row
}

/** The line item that something is to be attached to. */
export const getLineItem = (db: Database | Db, accountId: string, id: string) => getRow(db, lineItems, accountId, id)

const PATH = '/accounts/:account_id/line_items'
const ONE = `${PATH}/:line_item_id`

export function lineItemRoutes(scope: AdsScope, reference: ReferenceStore) {
  const { database } = scope.deps

  scope.route({
    method: 'GET',
    path: PATH,
    summary: 'Line items of the account.',
    input: {
      ...listInput,
      campaign_ids: list(id()),
      funding_instrument_ids: list(id()),
      line_item_ids: list(id()),
      q: text(),
      with_draft: bool(),
      entity_statuses: about(list(choice(ENTITY_STATUSES)), 'Extension: only those with one of these statuses.')
    },
    output: LineItem,
    many: true,
    operation: 'campaigns.read',
    limit: ADS_LIMITS.coreReads,
    handler: ({ path, input }) =>
      listWire(database, lineItems, path.account_id!, input, {
        where: {
          id: input.line_item_ids,
          campaign_id: input.campaign_ids,
          funding_instrument_id: input.funding_instrument_ids,
          entity_status: input.entity_statuses
        },
        conditions: [
          ...(input.with_draft ? [] : [fragment`e.entity_status <> 'DRAFT'`]),
          ...(input.q === undefined ? [] : [nameStartsWith(folded(input.q))])
        ],
        inputs: [input.with_draft ?? false, input.q]
      })
  })

  scope.route({
    method: 'GET',
    path: ONE,
    summary: 'One line item.',
    input: { with_deleted: bool() },
    output: LineItem,
    operation: 'campaigns.read',
    limit: ADS_LIMITS.coreReads,
    extension: true,
    handler: async ({ path, input }) =>
      shaped(
        await getRow(database, lineItems, path.account_id!, path.line_item_id!, { withDeleted: input.with_deleted })
      )
  })

  writeRoute(scope, {
    method: 'POST',
    path: PATH,
    summary: 'Create a line item.',
    input: lineItemCreate,
    output: LineItem,
    operation: 'campaigns.write',
    extension: true,
    handler: async (write) => shaped(await createLineItem(write, await reference.load(), write.input))
  })

  writeRoute(scope, {
    method: 'PUT',
    path: ONE,
    summary: 'Update a line item: only what is given changes, an empty value un-sets.',
    input: lineItemUpdate,
    output: LineItem,
    operation: 'campaigns.write',
    handler: async (write) =>
      shaped(await updateLineItem(write, await reference.load(), write.path.line_item_id!, write.input))
  })

  writeRoute(scope, {
    method: 'DELETE',
    path: ONE,
    summary: 'Delete a line item, for good; its promoted posts are not deleted.',
    output: LineItem,
    operation: 'campaigns.write',
    handler: async (write) => shaped(await deleteLineItem(write, write.path.line_item_id!))
  })
}
