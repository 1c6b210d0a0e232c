/** Promoted accounts: users promoted by a line item. Created, read and deleted, never updated. */
import { ApiError, badRequest } from '../errors.ts'
import { type AdsScope, listInput } from '../http/ads.ts'
import { bool, id, list, longId, required } from '../http/ads-input.ts'
import type { Db } from '../storage/db.ts'
import { newAdsId } from '../storage/ids.ts'
import { recordChanges } from './history.ts'
import { getLineItem } from './line-items.ts'
import { getRow, insertRow, kind, listWire, removeRow, SORTABLE, type Stamped } from './rows.ts'
import { invalid } from './rules/problems.ts'
import { Entity, EntityFields, STAMPS, Text, wire } from './wire.ts'
import { type Write, writeRoute } from './writes.ts'

export interface PromotedAccountRow extends Stamped {
  line_item_id: string
  user_id: string
  entity_status: string
  approval_status: string
}

declare module '../storage/db.ts' {
  interface Tables {
    promoted_accounts: PromotedAccountRow
  }
}

/** `paused` is what clients of an older shape still sort by. */
export const promotedAccounts = kind<PromotedAccountRow>(
  'promoted_accounts',
  'Promoted account',
  'PROMOTED_ACCOUNT_NOT_FOUND',
  { sortable: [...SORTABLE, 'entity_status'] }
)

const PromotedAccount = Entity({
  line_item_id: Text,
  user_id: Text,
  entity_status: Text,
  approval_status: Text,
  ...EntityFields
})

const snapshot = (row: PromotedAccountRow) => {
  const { account_id: _account, ...sent } = wire(row, STAMPS)
  return sent
}
const entityOf = (row: PromotedAccountRow) => ({
  account_id: row.account_id,
  entity: 'PROMOTED_ACCOUNT' as const,
  entity_id: row.id
})

/** What a change from one row to the other is called in the history. */
export const promotedAccountChange = (before: PromotedAccountRow, after: PromotedAccountRow) => ({
  ...entityOf(after),
  before: snapshot(before),
  after: snapshot(after)
})

const incompatible = (lineItemId: string) =>
  badRequest('INCOMPATIBLE_LINE_ITEM', `Line item ${lineItemId} is not configured for promoted accounts`, {
    parameter: 'line_item_id'
  })

/** Promoting a user twice is not an error: the first promotion stands. */
export async function promoteAccount(write: Write, input: { line_item_id: string; user_id: string }) {
  const { tx, account, now } = write
  const lineItem = await getLineItem(tx, account.id, input.line_item_id)
  if (lineItem.product_type !== 'PROMOTED_ACCOUNT') throw incompatible(lineItem.id)
  const eligible = await tx
    .selectFrom('promotable_users')
    .select('id')
    .where('account_id', '=', account.id)
    .where('user_id', '=', input.user_id)
    .where('promotable_user_type', '=', 'FULL')
    .where('deleted', '=', false)
    .executeTakeFirst()
  if (!eligible) {
    const message = `User ${input.user_id} is not eligible for promotion by this account`
    throw new ApiError(400, [invalid('user_id', message, 'INVALID_USER_ID')])
  }
  const existing = await tx
    .selectFrom('promoted_accounts')
    .selectAll()
    .where('account_id', '=', account.id)
    .where('line_item_id', '=', lineItem.id)
    .where('user_id', '=', input.user_id)
    .where('deleted', '=', false)
    .executeTakeFirst()
  if (existing) return existing as PromotedAccountRow
  const stamp = now.toISOString()
  const values = { account_id: account.id, id: newAdsId(), ...input, created_at: stamp, updated_at: stamp }
  const row = await insertRow(tx, promotedAccounts, values)
  await recordChanges(write, [{ ...entityOf(row), after: snapshot(row) }])
  return row
}

async function removePromotedAccount(write: Write, id: string) {
  const { tx, account, now } = write
  const before = await getRow(tx, promotedAccounts, account.id, id)
  const row = await removeRow(tx, promotedAccounts, account.id, id, now)
  await recordChanges(write, [promotedAccountChange(before, row)])
  return row
}

/** "None of the specified line items is configured for promoted accounts": a mistake worth telling. */
async function checkLineItems(db: Db, accountId: string, ids: readonly string[]) {
  const known = await db
    .selectFrom('line_items')
    .select('product_type')
    .where('account_id', '=', accountId)
    .where('id', 'in', ids)
    .execute()
  if (known.length > 0 && known.every((each) => each.product_type !== 'PROMOTED_ACCOUNT')) {
    const message = 'None of the line items is configured for promoted accounts'
    throw badRequest('INCOMPATIBLE_LINE_ITEM', message, { parameter: 'line_item_ids' })
  }
}

const PATH = '/accounts/:account_id/promoted_accounts'
const ONE = `${PATH}/:promoted_account_id`

export function promotedAccountRoutes(scope: AdsScope) {
  const { database } = scope.deps
  const common = { output: PromotedAccount }

  scope.route({
    ...common,
    method: 'GET',
    path: PATH,
    summary: 'Promoted accounts.',
    input: { ...listInput, line_item_ids: list(id()), promoted_account_ids: list(id()) },
    many: true,
    operation: 'campaigns.read',
    handler: async ({ path, input }) => {
      if (input.line_item_ids) await checkLineItems(database.db, path.account_id!, input.line_item_ids)
      return listWire(database, promotedAccounts, path.account_id!, withPaused(input), {
        where: { line_item_id: input.line_item_ids, id: input.promoted_account_ids }
      })
    }
  })
  scope.route({
    ...common,
    method: 'GET',
    path: ONE,
    summary: 'One promoted account.',
    input: { with_deleted: bool() },
    operation: 'campaigns.read',
    handler: async ({ path, input }) => {
      const options = { withDeleted: input.with_deleted }
      return wire(
        await getRow(database, promotedAccounts, path.account_id!, path.promoted_account_id!, options),
        STAMPS
      )
    }
  })
  writeRoute(scope, {
    ...common,
    method: 'POST',
    path: PATH,
    summary: 'Promote a user with a line item.',
    input: { line_item_id: required(id()), user_id: required(longId()) },
    operation: 'campaigns.write',
    handler: async (write) => wire(await promoteAccount(write, write.input), STAMPS)
  })
  writeRoute(scope, {
    ...common,
    method: 'DELETE',
    path: ONE,
    summary: 'Disassociate an account from its line item.',
    operation: 'campaigns.write',
    handler: async (write) => wire(await removePromotedAccount(write, write.path.promoted_account_id!), STAMPS)
  })
}

/** `paused` is a leftover of an older shape: the status now says it. */
export const withPaused = <Q extends { sort_by?: string[] }>(query: Q): Q =>
  query.sort_by
    ? { ...query, sort_by: query.sort_by.map((key) => key.replace(/^paused(?=-|$)/, 'entity_status')) }
    : query
