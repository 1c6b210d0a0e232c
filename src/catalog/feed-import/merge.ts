/** Staged rows into the catalog: one transaction, whole sets of rows at a time. */
import { sql } from 'kysely'
import type { Db, Tx } from '../../storage/db.ts'
import { idAtSql, reserveIds } from '../../storage/ids.ts'
import { queueImages } from '../image-queue.ts'
import { refreshGroupsOf } from '../item-groups.ts'
import { MERCHANT_COLUMNS, ON_KNOWN_ID, WRITTEN_COLUMNS } from '../product-rows.ts'
import { recomputeSets } from '../set-job.ts'
import { filteredSets, refreshMembersOf } from '../set-members.ts'
import { lockCatalog } from '../transactions.ts'
import { KIND } from './staging.ts'

/** With more products times sets than this, sets are left to the background. */
const MEMBERSHIPS_AT_ONCE_MAX = 200_000
const WORK_MEMORY = '64MB'

/** "When an id occurs several times, all instances are ignored." Returns how many good rows that are. */
export async function markDuplicates(db: Db, table: string): Promise<number> {
  return db.transaction().execute(async (tx) => {
    await sql.raw(`set local work_mem = '${WORK_MEMORY}'`).execute(tx)
    await sql
      .raw(
        `create temp table feed_duplicates on commit drop as
         select id from ${table} where id is not null group by id having count(*) > 1`
      )
      .execute(tx)
    const marked = await sql
      .raw(
        `update ${table} s set kind = ${KIND.duplicate} from feed_duplicates d
         where s.id = d.id and s.kind in (${KIND.write}, ${KIND.unchanged})`
      )
      .execute(tx)
    return Number(marked.numAffectedRows ?? 0n)
  })
}

export interface Merged {
  created: number
  updated: number
}

const columns = WRITTEN_COLUMNS.join(', ')

async function upsert(tx: Tx, catalogId: string, table: string, lastRow: number, now: Date): Promise<Merged> {
  await sql`
    create temp table feed_merged (
      product_key text collate "C" not null, item_group_id text collate "C", left_item_group_id text collate "C",
      created boolean not null, images_changed boolean not null, group_changed boolean not null
    ) on commit drop`.execute(tx)
  const key = sql.raw(idAtSql(reserveIds(lastRow + 1), 's.row'))
  // The rows lie in the order of the file, which is the order in which they count as submitted.
  await sql`
    with merged as (
      insert into products as p (${sql.raw(columns)})
      select ${catalogId}, ${key}, ${sql.raw(MERCHANT_COLUMNS.map((name) => `s.${name}`).join(', '))},
        s.content_hash, true, true, ${now}, ${now}
      from ${sql.raw(table)} s where s.kind = ${sql.raw(String(KIND.write))}
      ${sql.raw(ON_KNOWN_ID)}
      returning p.product_key, p.item_group_id, p.left_item_group_id, p.xmax = 0, p.images_changed, p.group_changed
    )
    insert into feed_merged select * from merged`.execute(tx)
  const { rows } = await sql<{ created: number; all: number }>`
    select count(*) filter (where created)::float8 as created, count(*)::float8 as all from feed_merged`.execute(tx)
  const { created, all } = rows[0]!
  return { created, updated: all - created }
}

/** Brings the groups in line whose members came, went or moved. */
async function refreshGroups(tx: Tx, catalogId: string, hasGroups: boolean) {
  if (hasGroups) {
    await sql`
      create temp table feed_groups on commit drop as
      select g.item_group_id from item_groups g where g.catalog_id = ${sql.lit(catalogId)} and g.item_group_id in (
        select item_group_id from feed_merged where group_changed
        union select left_item_group_id from feed_merged where left_item_group_id is not null)`.execute(tx)
    const { rows } = await sql<{ count: number }>`select count(*)::float8 as count from feed_groups`.execute(tx)
    const newKey = sql.raw(idAtSql(reserveIds(rows[0]!.count), '(row_number() over () - 1)'))
    await refreshGroupsOf(tx, catalogId, sql`select item_group_id, ${newKey} as new_key from feed_groups`)
  }
  // All members of a group that was not there before were written by this merge.
  const { rows } = await sql<{ count: number }>`
    select count(distinct item_group_id)::float8 as count from feed_merged where group_changed`.execute(tx)
  const { count } = rows[0]!
  if (count === 0) return
  const key = sql.raw(idAtSql(reserveIds(count), '(row_number() over () - 1)'))
  await sql`
    insert into item_groups (catalog_id, item_group_id, item_group_key, first_product_key)
    select ${catalogId}, m.item_group_id, case when count(*) > 1 then ${key} end, min(m.product_key)
    from feed_merged m
    where m.group_changed and m.item_group_id is not null and not exists (
      select from item_groups g where g.catalog_id = ${catalogId} and g.item_group_id = m.item_group_id)
    group by m.item_group_id`.execute(tx)
}

async function refreshSets(tx: Tx, catalogId: string, changed: number) {
  const sets = await filteredSets(tx, catalogId)
  if (sets.length === 0 || changed === 0) return
  if (sets.length * changed > MEMBERSHIPS_AT_ONCE_MAX) await recomputeSets(tx, catalogId)
  else await refreshMembersOf(tx, catalogId, sets, sql`select product_key from feed_merged`)
}

export interface MergeInput {
  catalogId: string
  table: string
  lastRow: number
  now: number
  checkImages: boolean
}

/** Nothing of it is seen until the transaction commits. */
export async function mergeStaged(
  tx: Tx,
  { catalogId, table, lastRow, now, checkImages }: MergeInput
): Promise<Merged> {
  await sql.raw(`set local work_mem = '${WORK_MEMORY}'`).execute(tx)
  // One at a time moves products between groups; what is known of groups from here on stays true.
  await lockCatalog(tx, catalogId, 'no key update')
  const known = await sql`select from item_groups where catalog_id = ${catalogId} limit 1`.execute(tx)
  const merged = await upsert(tx, catalogId, table, lastRow, new Date(now))
  await refreshGroups(tx, catalogId, known.rows.length > 0)
  await refreshSets(tx, catalogId, merged.created + merged.updated)
  if (checkImages) await queueImages(tx, catalogId, sql`select product_key from feed_merged where images_changed`, now)
  return merged
}
