/** Deleting products by their keys. Permanent. */
import { sql } from 'kysely'
import type { Db } from '../storage/db.ts'
import { refreshGroups } from './item-groups.ts'
import { lockCatalog, transact } from './transactions.ts'

export interface DeleteResult {
  product_key: string | null
  failed_product_key: string | null
  message: string | null
}

/** In the order of the request; a key that occurs twice is deleted once. */
export async function deleteProducts(db: Db, catalogId: string, keys: string[]): Promise<DeleteResult[]> {
  const deleted = await transact(db, async (tx) => {
    await lockCatalog(tx, catalogId, 'key share')
    const { rows } = await sql<{ product_key: string; item_group_id: string | null }>`
      select product_key, item_group_id from products
      where catalog_id = ${catalogId} and product_key = any(${keys}::text[]) order by id for update`.execute(tx)
    if (rows.length === 0) return new Set<string>()
    const groups = rows.flatMap((row) => row.item_group_id ?? [])
    if (groups.length > 0) await lockCatalog(tx, catalogId, 'no key update')
    const found = rows.map((row) => row.product_key)
    await sql`
      with sets as (select id from product_sets where catalog_id = ${catalogId})
      delete from product_set_members where catalog_id = ${catalogId}
        and set_id in (select id from sets) and product_key = any(${found}::text[])`.execute(tx)
    for (const table of ['image_queue', 'image_verdicts', 'products'] as const)
      await sql`
        delete from ${sql.table(table)} where catalog_id = ${catalogId} and product_key = any(${found}::text[])`.execute(
        tx
      )
    await refreshGroups(tx, catalogId, groups)
    return new Set(found)
  })
  return keys.map((key) =>
    deleted.delete(key)
      ? { product_key: key, failed_product_key: null, message: null }
      : { product_key: null, failed_product_key: key, message: 'product not found' }
  )
}
