/** Campaigns: a budget under a funding instrument, spent by line items. */
import { sql } from 'kysely'
import { ApiError } from '../errors.ts'
import { ADS_LIMITS, type AdsScope, listInput } from '../http/ads.ts'
import { about, bool, choice, id, list, text } from '../http/ads-input.ts'
import type { Database, Db } from '../storage/db.ts'
import { newAdsId } from '../storage/ids.ts'
import { fragment } from '../storage/statements.ts'
import { type CampaignWithFacts, FACTS, type Facts, factsColumns, servabilityOf } from './campaign-facts.ts'
import { type FundingInstrumentRow, fundingInstruments } from './funding-instruments.ts'
import { recordChanges } from './history.ts'
import type { Reference, ReferenceStore } from './reference-store.ts'
import {
  findRow,
  getRow,
  insertRow,
  kind,
  listRows,
  nameStartsWith,
  removeRow,
  rowNotFound,
  SORTABLE,
  type Stamped,
  updateRow
} from './rows.ts'
import {
  type CampaignInput,
  type CampaignState,
  ENTITY_STATUSES,
  mergeCampaign,
  validateCampaign
} from './rules/campaigns.ts'
import { campaignCreate, campaignUpdate } from './rules/inputs.ts'
import { statusOf } from './rules/problems.ts'
import { countsAsActive, fundingReasons } from './rules/statuses.ts'
import {
  BoolOrNull,
  Entity,
  EntityFields,
  folded,
  IntOrNull,
  LongOrNull,
  STAMPS,
  seconds,
  Text,
  TextOrNull,
  Texts,
  wire
} from './wire.ts'
import { type Write, writeRoute } from './writes.ts'

export interface CampaignRow extends Stamped, CampaignState {
  name_folded: string
  start_time: string | null
  end_time: string | null
  currency: string
  spend_local_micro: bigint
}

declare module '../storage/db.ts' {
  interface Tables {
    campaigns: CampaignRow
  }
}

const BUDGETS = ['daily_budget_amount_local_micro', 'total_budget_amount_local_micro'] as const
/** start_time and end_time are leftovers: campaigns lost those fields, sorting by them still works. */
export const CAMPAIGN_SORTABLE = [
  ...SORTABLE,
  'name',
  'start_time',
  'end_time',
  ...BUDGETS,
  'standard_delivery'
] as const

export const campaigns = kind<CampaignRow>('campaigns', 'Campaign', 'CAMPAIGN_NOT_FOUND', {
  sortable: CAMPAIGN_SORTABLE,
  nullable: ['start_time', 'end_time', ...BUDGETS, 'standard_delivery'],
  times: STAMPS
})

export const Campaign = Entity({
  name: Text,
  budget_optimization: Text,
  reasons_not_servable: Texts,
  servable: BoolOrNull,
  purchase_order_number: TextOrNull,
  effective_status: Text,
  daily_budget_amount_local_micro: LongOrNull,
  funding_instrument_id: Text,
  duration_in_days: IntOrNull,
  standard_delivery: BoolOrNull,
  total_budget_amount_local_micro: LongOrNull,
  id: Text,
  entity_status: Text,
  frequency_cap: IntOrNull,
  currency: Text,
  created_at: Text,
  updated_at: Text,
  deleted: EntityFields.deleted
})

/** A campaign as it is sent: with what follows from its line items, its funding and the clock. */
function shaped(row: CampaignRow, facts: Facts, now: number) {
  const { servable, reasons_not_servable, effective_status } = servabilityOf(row, facts, now)
  // Written out: this is the shape that is sent most.
  return {
    name: row.name,
    budget_optimization: row.budget_optimization,
    reasons_not_servable,
    servable,
    purchase_order_number: row.purchase_order_number,
    effective_status,
    daily_budget_amount_local_micro: row.daily_budget_amount_local_micro,
    funding_instrument_id: row.funding_instrument_id,
    // Leftovers that moved to line items.
    duration_in_days: null,
    frequency_cap: null,
    standard_delivery: row.standard_delivery,
    total_budget_amount_local_micro: row.total_budget_amount_local_micro,
    id: row.id,
    entity_status: row.entity_status,
    currency: row.currency,
    created_at: seconds(row.created_at),
    updated_at: seconds(row.updated_at),
    deleted: row.deleted
  }
}

/** A campaign of the history: still with the times it once had. */
const snapshot = (row: CampaignRow) => {
  const { created_at, updated_at } = wire(row, STAMPS)
  return {
    name: row.name,
    start_time: row.start_time,
    end_time: row.end_time,
    purchase_order_number: row.purchase_order_number,
    budget_optimization: row.budget_optimization,
    daily_budget_amount_local_micro: row.daily_budget_amount_local_micro,
    total_budget_amount_local_micro: row.total_budget_amount_local_micro,
    duration_in_days: null,
    standard_delivery: row.standard_delivery,
    entity_status: row.entity_status,
    frequency_cap: null,
    created_at,
    updated_at,
    deleted: row.deleted
  }
}

/** One campaign of an account, with what decides whether it serves. */
export const ONE_CAMPAIGN = `select e.*, ${FACTS} from campaigns e where e.account_id = $1 and e.id = $2`

/** The read that clients make most: one prepared statement. */
export async function readCampaign(
  { pool }: Database,
  accountId: string,
  id: string,
  now: number,
  withDeleted = false
) {
  const { rows } = await pool.query<CampaignWithFacts>({
    name: 'campaigns.one',
    text: ONE_CAMPAIGN,
    values: [accountId, id]
  })
  if (!rows[0] || (rows[0].deleted && !withDeleted)) throw rowNotFound(campaigns, id)
  return shaped(rows[0], rows[0], now)
}

/** What decides whether the campaigns of a page serve. */
export const FACTS_OF_PAGE = `select e.id, ${FACTS} from campaigns e where e.account_id = $1 and e.id = any(string_to_array($2, ','))`

/**
 * Beside the page, not within: the statement that finds a page is planned anew wherever the page is, and would take the
 * facts along each time.
 */
async function factsOfPage({ pool }: Database, accountId: string, page: readonly CampaignRow[]) {
  const { rows } = await pool.query<Facts & { id: string }>({
    name: 'campaigns.facts',
    text: FACTS_OF_PAGE,
    values: [accountId, page.map((row) => row.id).join(',')]
  })
  return new Map(rows.map((row) => [row.id, row]))
}

export async function getCampaignWithFacts(db: Db, accountId: string, id: string): Promise<CampaignWithFacts> {
  const { rows } = await sql<CampaignWithFacts>`
    select e.*, ${factsColumns} from campaigns e where e.account_id = ${accountId} and e.id = ${id}`.execute(db)
  if (!rows[0]) throw rowNotFound(campaigns, id)
  return rows[0]
}

const answer = async ({ tx, now }: Write, { account_id, id }: CampaignRow) => {
  const row = await getCampaignWithFacts(tx, account_id, id)
  return shaped(row, row, now.getTime())
}

/** What a batch answers: each campaign as it is after all of them. */
export async function answers({ tx, now, account }: Write, rows: readonly { id: string }[]) {
  const found = await sql<CampaignWithFacts>`
    select e.*, ${factsColumns} from campaigns e
    where e.account_id = ${account.id} and e.id = any(${rows.map((row) => row.id)}::text[])`.execute(tx)
  const byId = new Map(found.rows.map((row) => [row.id, shaped(row, row, now.getTime())]))
  return rows.map((row) => byId.get(row.id)!)
}

/**
 * Campaigns that count against the limit: neither deleted nor drafts, and not over (every line item ended, or the budget
 * exhausted). Exact only near the limit, so that accounts with many old campaigns pay for it only there.
 */
export async function countActiveCampaigns(db: Db, accountId: string, max: number, now: Date): Promise<number> {
  const candidates = sql`from campaigns c where c.account_id = ${accountId} and not c.deleted and c.entity_status <> 'DRAFT'`
  const count = async (query: ReturnType<typeof sql>) =>
    Number((await (query as ReturnType<typeof sql<{ count: bigint }>>).execute(db)).rows[0]!.count)
  const atMost = await count(sql`select count(*) from (select 1 ${candidates} limit ${max}) capped`)
  if (atMost < max) return atMost
  const live = sql`from line_items l where l.account_id = c.account_id and l.campaign_id = c.id and not l.deleted`
  return count(sql`select count(*) from (select 1 ${candidates}
    and (c.total_budget_amount_local_micro is null or c.spend_local_micro < c.total_budget_amount_local_micro)
    and (not exists (select 1 ${live}) or exists (select 1 ${live} and (l.end_time is null or l.end_time > ${now})))
    limit ${max}) capped`)
}

async function contextOf(
  { tx, now, account }: Write,
  reference: Reference,
  instrument: FundingInstrumentRow | undefined,
  joining: boolean
) {
  const max = account.active_campaigns_max
  return {
    fundingInstrument: instrument
      ? { ...instrument, reasons_not_able_to_fund: fundingReasons(instrument, now.getTime()) }
      : null,
    activeCampaigns: joining ? await countActiveCampaigns(tx, account.id, max, now) : 0,
    activeCampaignsMax: max,
    reference: reference.rules
  }
}

export async function createCampaign(write: Write, reference: Reference, input: CampaignInput): Promise<CampaignRow> {
  const { tx, account, now } = write
  const instrument =
    input.funding_instrument_id == null
      ? undefined
      : await findRow(tx, fundingInstruments, account.id, input.funding_instrument_id, { withDeleted: true })
  const state = mergeCampaign(input, null)
  const context = await contextOf(write, reference, instrument, countsAsActive(state))
  const problems = validateCampaign(input, null, context)
  if (problems.length > 0) throw new ApiError(statusOf(problems), problems)
  const stamp = now.toISOString()
  const row = await insertRow(tx, campaigns, {
    account_id: account.id,
    id: newAdsId(),
    ...state,
    name_folded: folded(state.name),
    currency: instrument!.currency,
    created_at: stamp,
    updated_at: stamp
  })
  await recordChanges(write, [{ ...entityOf(row), after: snapshot(row) }])
  return row
}

const entityOf = (row: CampaignRow) => ({ account_id: row.account_id, entity: 'CAMPAIGN' as const, entity_id: row.id })

/** PUT is partial, and what equals the stored value is no change: then nothing is written at all. */
export async function updateCampaign(write: Write, reference: Reference, id: string, input: CampaignInput) {
  const { tx, account, now } = write
  const current = await getRow(tx, campaigns, account.id, id, { lock: true })
  const instrument = await findRow(tx, fundingInstruments, account.id, current.funding_instrument_id, {
    withDeleted: true
  })
  const state = mergeCampaign(input, current)
  const joining = countsAsActive(state) && !countsAsActive(current)
  const context = await contextOf(write, reference, instrument, joining)
  const problems = validateCampaign(input, current, { ...context, spend_local_micro: current.spend_local_micro })
  if (problems.length > 0) throw new ApiError(statusOf(problems), problems)
  const differs = Object.entries(state).some(([key, value]) => value !== current[key as keyof CampaignState])
  if (!differs) return current
  const row = await updateRow(tx, campaigns, current, {
    ...state,
    name_folded: folded(state.name),
    updated_at: now.toISOString()
  })
  await recordChanges(write, [{ ...entityOf(row), before: snapshot(current), after: snapshot(row) }])
  return row
}

/** Irreversible. Line items stay as they are; without their campaign they serve nothing. */
export async function deleteCampaign(write: Write, id: string) {
  const { tx, account, now } = write
  const before = await getRow(tx, campaigns, account.id, id)
  const row = await removeRow(tx, campaigns, account.id, id, now)
  await recordChanges(write, [{ ...entityOf(row), before: snapshot(before), after: snapshot(row) }])
  return row
}

const PATH = '/accounts/:account_id/campaigns'
const ONE = `${PATH}/:campaign_id`

export function campaignRoutes(scope: AdsScope, reference: ReferenceStore) {
  const { database, clock } = scope.deps

  scope.route({
    method: 'GET',
    path: PATH,
    summary: 'Campaigns of the account.',
    input: {
      ...listInput,
      campaign_ids: list(id()),
      funding_instrument_ids: list(id()),
      q: text(),
      with_draft: bool(),
      entity_statuses: about(list(choice(ENTITY_STATUSES)), 'Extension: only those with one of these statuses.')
    },
    output: Campaign,
    many: true,
    operation: 'campaigns.read',
    limit: ADS_LIMITS.coreReads,
    handler: async ({ path, input }) => {
      const page = await listRows(database, campaigns, path.account_id!, input, {
        where: {
          id: input.campaign_ids,
          funding_instrument_id: input.funding_instrument_ids,
          entity_status: input.entity_statuses
        },
        conditions: [
          ...(input.with_draft ? [] : [fragment`e.entity_status <> 'DRAFT'`]),
          ...(input.q === undefined ? [] : [nameStartsWith(folded(input.q))])
        ],
        inputs: [input.with_draft ?? false, input.q]
      })
      const now = clock.now()
      const facts = await factsOfPage(database, path.account_id!, page.rows)
      return { ...page, rows: page.rows.map((row) => shaped(row, facts.get(row.id)!, now)) }
    }
  })

  scope.route({
    method: 'GET',
    path: ONE,
    summary: 'One campaign.',
    input: { with_deleted: bool() },
    output: Campaign,
    operation: 'campaigns.read',
    limit: ADS_LIMITS.coreReads,
    handler: ({ path, input }) =>
      readCampaign(database, path.account_id!, path.campaign_id!, clock.now(), input.with_deleted)
  })

  writeRoute(scope, {
    method: 'POST',
    path: PATH,
    summary: 'Create a campaign.',
    input: campaignCreate,
    output: Campaign,
    operation: 'campaigns.write',
    handler: async (write) => answer(write, await createCampaign(write, await reference.load(), write.input))
  })

  writeRoute(scope, {
    method: 'PUT',
    path: ONE,
    summary: 'Update a campaign: only what is given changes, an empty value un-sets.',
    input: campaignUpdate,
    output: Campaign,
    operation: 'campaigns.write',
    extension: true,
    handler: async (write) =>
      answer(write, await updateCampaign(write, await reference.load(), write.path.campaign_id!, write.input))
  })

  writeRoute(scope, {
    method: 'DELETE',
    path: ONE,
    summary: 'Delete a campaign, for good.',
    output: Campaign,
    operation: 'campaigns.write',
    extension: true,
    handler: async (write) => answer(write, await deleteCampaign(write, write.path.campaign_id!))
  })
}
