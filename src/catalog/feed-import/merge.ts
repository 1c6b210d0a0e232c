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
      product_key text collate "C" not null, item_group_id text collate "C", created boolean not null, images_changed boolean not null
    ) on commit drop`.execute(tx)
  const key = sql.raw(idAtSql(reserveIds(lastRow + 1), 's.row'))
  // The rows lie in the order of the file, which is the order in which they count as submitted.
  await sql`
    with merged as (
      insert into products as p (${sql.raw(columns)})
      select ${catalogId}, ${key}, ${sql.raw(MERCHANT_COLUMNS.map((name) => `s.${name}`).join(', '))},
        s.content_hash, true, ${now}, ${now}
      from ${sql.raw(table)} s where s.kind = ${sql.raw(String(KIND.write))}
      ${sql.raw(ON_KNOWN_ID)}
      returning p.product_key, p.item_group_id, p.xmax = 0 as created, p.images_changed
    )
    insert into feed_merged select * from merged`.execute(tx)
  const { rows } = await sql<{ created: number; all: number }>`
    select count(*) filter (where created)::float8 as created, count(*)::float8 as all from feed_merged`.execute(tx)
  const { created, all } = rows[0]!
  return { created, updated: all - created }
}

/** Groups that lose a product to another; asked before the products are written. */
async function noteLeftGroups(tx: Tx, catalogId: string, table: string) {
  await sql`
    create temp table feed_groups on commit drop as
    select distinct p.item_group_id from ${sql.raw(table)} s
    join products p on p.catalog_id = ${sql.lit(catalogId)} and p.id = s.id
    where s.kind = ${sql.raw(String(KIND.write))} and p.item_group_id is not null
      and p.item_group_id is distinct from s.item_group_id`.execute(tx)
}

async function refreshGroups(tx: Tx, catalogId: string) {
  const { numAffectedRows = 0n } = await sql`
    insert into feed_groups select distinct item_group_id from feed_merged
    where item_group_id is not null and item_group_id not in (select item_group_id from feed_groups)`.execute(tx)
  const { rows } = await sql<{ count: number }>`select count(*)::float8 as count from feed_groups`.execute(tx)
  if (numAffectedRows === 0n && rows[0]!.count === 0) return
  const newKey = sql.raw(idAtSql(reserveIds(rows[0]!.count), '(row_number() over () - 1)'))
  await refreshGroupsOf(tx, catalogId, sql`select item_group_id, ${newKey} as new_key from feed_groups`)
}

async function has(tx: Tx, query: string) {
  const { rows } = await sql.raw(`select from ${query} limit 1`).execute(tx)
  return rows.length > 0
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
  const id = sql.lit(catalogId)
  const known = await sql`select from item_groups where catalog_id = ${id} limit 1`.execute(tx)
  const groups = known.rows.length > 0 || (await has(tx, `${table} where kind = 0 and item_group_id is not null`))
  await lockCatalog(tx, catalogId, groups ? 'no key update' : 'key share')
  if (groups) await noteLeftGroups(tx, catalogId, table)
  const merged = await upsert(tx, catalogId, table, lastRow, new Date(now))
  if (groups) await refreshGroups(tx, catalogId)
  await refreshSets(tx, catalogId, merged.created + merged.updated)
  if (checkImages) await queueImages(tx, catalogId, sql`select product_key from feed_merged where images_changed`, now)
  return merged
}
