/** Account history: every change of five kinds of entities, written in the transaction of the change. */
import { Type } from 'typebox'
import { badRequest } from '../errors.ts'
import type { AdsScope } from '../http/ads.ts'
import { about, bool, choice, int, longId, Refused, required, text, time } from '../http/ads-input.ts'
import { exactNumber } from '../http/json.ts'
import { ALLOW_LISTS, isAllowed } from '../identity/index.ts'
import type { Db } from '../storage/db.ts'
import { listEntities } from '../storage/entities.ts'
import { newAdsId } from '../storage/ids.ts'
import { type Fragment, fragment } from '../storage/statements.ts'
import { Entity, seconds, Text } from './wire.ts'
import type { Actor } from './writes.ts'

export const HISTORY_ENTITIES = [
  'CAMPAIGN',
  'LINE_ITEM',
  'PROMOTED_TWEET',
  'TARGETING_CRITERIA',
  'PROMOTED_ACCOUNT'
] as const
export type HistoryEntity = (typeof HISTORY_ENTITIES)[number]

declare module '../storage/db.ts' {
  interface Tables {
    account_history: {
      account_id: string
      id: string
      entity: HistoryEntity
      entity_id: string
      change_time: Time
      change_type: 'CREATE' | 'UPDATE' | 'DELETE'
      user_id: string
      app_id: string | null
      platform: string
      changes: string
      entity_data: string
    }
  }
}

type Snapshot = Record<string, unknown>

/** JSON with money as exact numbers. */
const json = (value: unknown) =>
  JSON.stringify(value, (_key, each) => (typeof each === 'bigint' ? exactNumber(each) : each))

/** The fields that differ, from and to. That an entity was touched is no change. */
export function changesBetween(before: Snapshot, after: Snapshot) {
  const names = Object.keys(after).filter((name) => name !== 'updated_at' && json(before[name]) !== json(after[name]))
  return Object.fromEntries(names.map((name) => [name, { from: before[name] ?? null, to: after[name] }]))
}

export interface Change {
  account_id: string
  entity: HistoryEntity
  entity_id: string
  /** As the entity was, undefined for a new one; and as it is now. */
  before?: Snapshot
  after: Snapshot
}

export async function recordChanges({ tx, actor, now }: { tx: Db; actor: Actor; now: Date }, changes: Change[]) {
  if (changes.length === 0) return
  await tx
    .insertInto('account_history')
    .values(
      changes.map(({ account_id, entity, entity_id, before, after }) => ({
        account_id,
        id: newAdsId(),
        entity,
        entity_id,
        change_time: now,
        change_type: before === undefined ? 'CREATE' : after.deleted === true ? 'DELETE' : 'UPDATE',
        ...actor,
        changes: json(before === undefined ? {} : changesBetween(before, after)),
        entity_data: json(after)
      }))
    )
    .execute()
}

interface HistoryRow {
  id: string
  entity: HistoryEntity
  entity_id: string
  change_time: string
  change_type: string
  user_id: string
  platform: string
  changes_text: string
  entity_data_text: string
}

type Source = { source?: string }

/** Money beyond 2^53 passes through as the number it was written as. */
const parseExact = (text: string): unknown =>
  JSON.parse(text, (_key: string, value: unknown, context?: Source) =>
    typeof value === 'number' && !Number.isSafeInteger(value) && /^-?\d+$/.test(context?.source ?? '')
      ? exactNumber(BigInt(context!.source!))
      : value
  )

const shaped = (row: HistoryRow) => ({
  change_by: { user_id: row.user_id, platform: row.platform },
  changes: parseExact(row.changes_text),
  change_time: seconds(row.change_time),
  change_type: row.change_type,
  entity_id: row.entity_id,
  entity: row.entity,
  entity_data: parseExact(row.entity_data_text)
})

const HistoryItem = Entity({
  change_by: Entity({ user_id: Text, platform: Text }),
  changes: Type.Unsafe<object>({ type: 'object', additionalProperties: true }),
  change_time: Text,
  change_type: Text,
  entity_id: Text,
  entity: Text,
  entity_data: Type.Unsafe<object>({ type: 'object', additionalProperties: true })
})

/** "Whole hours: minutes and seconds zero". */
const wholeHour = () => {
  const plain = time()
  return required({
    ...plain,
    read: (raw: unknown, name: string) => {
      const value = plain.read(raw, name)
      if (!value.endsWith(':00:00Z')) throw new Refused(`Expected a time on the whole hour, got "${raw}" for ${name}`)
      return value
    }
  })
}

/** What hangs below a line item and has a history. */
const CHILDREN = [
  ['TARGETING_CRITERIA', 'targeting_criteria'],
  ['PROMOTED_TWEET', 'promoted_tweets'],
  ['PROMOTED_ACCOUNT', 'promoted_accounts']
] as const

/** Rows of a line item and of what hangs below it, each kind by the index. */
function ofLineItemAndChildren(accountId: string, lineItemId: string): Fragment {
  const children = CHILDREN.map(
    ([entity, table]) =>
      ` or (e.entity = '${entity}' and e.entity_id in (select c.id from ${table} c where c.account_id = e.account_id and c.line_item_id = `
  )
  return {
    strings: [
      '(e.account_id = ',
      " and ((e.entity = 'LINE_ITEM' and e.entity_id = ",
      `)${children[0]}`,
      ...children.slice(1).map((next) => `))${next}`),
      '))))'
    ],
    values: [accountId, lineItemId, ...CHILDREN.map(() => lineItemId)]
  }
}

export function historyRoutes(scope: AdsScope) {
  const { db } = scope.deps.database
  scope.route({
    method: 'GET',
    path: '/accounts/:account_id/account_history',
    summary: 'Changes of one entity within a window of whole hours (beta: the account must be on the allow-list).',
    input: {
      entity_type: required(choice(HISTORY_ENTITIES)),
      entity_id: required(text({ max: 13 })),
      start_time: wholeHour(),
      end_time: wholeHour(),
      user_id: longId(),
      with_children: about(
        bool(),
        'Extension: of a LINE_ITEM, also changes of its targeting, promoted posts and accounts.'
      ),
      count: int({ min: 1, max: 1000 }),
      cursor: text({ max: 4_000 })
    },
    output: HistoryItem,
    many: true,
    operation: 'campaigns.read',
    // Clients know the type under both names.
    echo: (params, path) => ({
      ...params,
      ...path,
      ...(params.entity_type === undefined ? {} : { entity: params.entity_type })
    }),
    handler: async ({ path, input }) => {
      const account_id = path.account_id!
      const entry = { list: ALLOW_LISTS.accountHistory, subject_kind: 'account' as const, subject_id: account_id }
      if (!(await isAllowed(db, entry))) {
        throw badRequest('FEATURE_NOT_AVAILABLE', `Account history is a beta; account ${account_id} is not part of it`)
      }
      const { entity_type, entity_id, start_time, end_time, user_id, with_children, ...query } = input
      if (end_time <= start_time) {
        const message = 'end_time must be after start_time'
        throw badRequest('INVALID_TIME_WINDOW', message, { parameter: 'end_time' })
      }
      const family = with_children === true && entity_type === 'LINE_ITEM'
      const page = await listEntities<HistoryRow>(
        db,
        'account_history',
        // History is never deleted.
        { ...query, with_deleted: true },
        {
          where: { account_id, user_id, ...(family ? {} : { entity: entity_type, entity_id }) },
          conditions: [
            ...(family ? [ofLineItemAndChildren(account_id, entity_id)] : []),
            fragment`e.change_time >= ${start_time} and e.change_time < ${end_time}`
          ],
          inputs: [start_time, end_time, ...(family ? [entity_id] : [])],
          columns: 'e.changes::text as changes_text, e.entity_data::text as entity_data_text',
          sortable: []
        }
      )
      return { ...page, rows: page.rows.map(shaped) }
    }
  })
}
