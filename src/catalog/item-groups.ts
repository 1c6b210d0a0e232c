/** Groups of products that share an item_group_id. Whoever calls holds the catalog's row `for no key update`. */
import { type RawBuilder, sql } from 'kysely'
import type { Db } from '../storage/db.ts'
import { newId } from '../storage/ids.ts'

/**
 * Brings groups in line with their members: who stands for the group, whether it has a key, whether it still exists.
 * `groups` is a query of item_group_id and a new_key for those that need one.
 */
export async function refreshGroupsOf(db: Db, catalogId: string, groups: RawBuilder<unknown>) {
  await sql`
    with state as materialized (
      select affected.item_group_id, affected.new_key, members.keys[1] as first_key, members.keys[2] is not null as is_group
      from (${groups}) as affected cross join lateral (
        select array(
          select product_key from products
          where catalog_id = ${catalogId} and item_group_id = affected.item_group_id
          order by product_key limit 2
        ) as keys
      ) members
    ), emptied as (
      delete from item_groups g using state
      where g.catalog_id = ${catalogId} and g.item_group_id = state.item_group_id and state.first_key is null
    )
    insert into item_groups as g (catalog_id, item_group_id, item_group_key, first_product_key)
    select ${catalogId}, item_group_id, case when is_group then new_key end, first_key
    from state where first_key is not null
    on conflict (catalog_id, item_group_id) do update set
      first_product_key = excluded.first_product_key,
      item_group_key = coalesce(g.item_group_key, excluded.item_group_key)
    where g.first_product_key <> excluded.first_product_key
      or (g.item_group_key is null and excluded.item_group_key is not null)`.execute(db)
}

export async function refreshGroups(db: Db, catalogId: string, groupIds: Iterable<string>) {
  const ids = [...new Set(groupIds)]
  if (ids.length === 0) return
  const keys = ids.map(() => newId())
  const groups = sql`select * from unnest(${ids}::text[], ${keys}::text[]) as a (item_group_id, new_key)`
  await refreshGroupsOf(db, catalogId, groups)
}
