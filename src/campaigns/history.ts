/** Account history: every change of five kinds of entities, written in the transaction of the change. */
import { exactNumber } from '../http/json.ts'
import type { Db } from '../storage/db.ts'
import { newAdsId } from '../storage/ids.ts'
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
