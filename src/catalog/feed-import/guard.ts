/** Stops an import that would change nearly everything, which is far more often an accident than a wish. */
import { sql } from 'kysely'
import type { Db } from '../../storage/db.ts'
import type { Guard } from '../feed-runs.ts'
import { KIND } from './staging.ts'

/** Smaller catalogs are quickly repaired by hand. */
export const GUARDED_PRODUCTS_MIN = 1_000

export interface Effect {
  created: number
  updated: number
  unchanged: number
  /** Of the updated, those in which a shopper sees another title, price, page or picture. */
  visible: number
}

/** What a merge would do. */
export async function foresee(db: Db, catalogId: string, table: string): Promise<Effect> {
  const staged = sql.raw(table)
  const { rows } = await sql<Effect>`
    select
      count(*) filter (where s.kind = ${KIND.write} and p.id is null)::float8 as created,
      count(*) filter (where p.content_hash <> s.content_hash)::float8 as updated,
      count(*) filter (where s.kind = ${KIND.unchanged} or p.content_hash = s.content_hash)::float8 as unchanged,
      count(*) filter (where p.content_hash <> s.content_hash and
        (p.title, p.price, p.link, p.image_link) is distinct from (s.title, s.price, s.link, s.image_link))::float8 as visible
    from ${staged} s
    left join products p on s.kind = ${KIND.write} and p.catalog_id = ${catalogId} and p.id = s.id
    where s.kind in (${KIND.write}, ${KIND.unchanged})`.execute(db)
  return rows[0]!
}

export const countProducts = async (db: Db, catalogId: string): Promise<number> => {
  const { rows } = await sql<{ count: number }>`
    select count(*)::float8 as count from products where catalog_id = ${catalogId}`.execute(db)
  return rows[0]!.count
}

/** Undefined when there is nothing to worry about. */
export function judge(products: number, effect: Effect, percentMax: number): Guard | undefined {
  if (products < GUARDED_PRODUCTS_MIN || percentMax >= 100) return undefined
  const share = (count: number) => (100 * count) / products
  const { created, updated, unchanged, visible } = effect
  const facts = { catalog_products: products, created, changed: visible }
  const sentence = 'Look at the file; confirm the run if this is what you want, or correct the file and run it again.'
  if (share(visible) > percentMax) {
    const message = `${visible} of ${products} products would get another title, price, page or image, which is more than ${percentMax} %. ${sentence}`
    return { code: 'MOST_PRODUCTS_CHANGE', message, ...facts }
  }
  // As when the file of another shop lies at the address: imports only add, so nobody would take them out again.
  if (
    share(created) > percentMax &&
    share(updated + unchanged) < 100 - percentMax &&
    updated + unchanged < created / 10
  ) {
    const message = `${created} products would be new, and hardly any of the ${products} products of the catalog is in the file. ${sentence}`
    return { code: 'MOST_IDS_UNKNOWN', message, ...facts }
  }
  return undefined
}
