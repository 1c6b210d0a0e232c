/** Which products are in which set: kept by every write of products, computed in steps for new sets of large catalogs. */
import { type JSONColumnType, type RawBuilder, sql } from 'kysely'
import type { Db, Tx } from '../storage/db.ts'
import { type CompiledFilter, checkFilters, matchesFilters, type ProductFilter } from './filters.ts'
import { filterSql } from './filters-sql.ts'
import type { ProductColumns } from './product-rules.ts'
import type { SetStatus } from './set-states.ts'

declare module '../storage/db.ts' {
  interface Tables {
    product_sets: {
      catalog_id: string
      id: string
      name: string
      description: string | null
      type: 'MANUAL' | 'FILTERED'
      filters: JSONColumnType<ProductFilter[]>
      processing_status: SetStatus
      processed_key: string | null
      created_at: Time
      updated_at: Time
    }
    product_set_members: { catalog_id: string; set_id: string; product_key: string }
  }
}

/** Stored filters were checked when they came in; if they are broken now, the set cannot be computed. */
export function compileStored(filters: unknown): CompiledFilter[] {
  const { compiled, issues } = checkFilters(filters)
  if (issues.length > 0) throw new Error(`stored filters are broken: ${issues[0]!.message}`)
  return compiled
}

/** Sets that follow the products, with their filters ready to use. */
export async function filteredSets(db: Db, catalogId: string) {
  const sets = await db
    .selectFrom('product_sets')
    .select(['id', 'filters', 'processing_status'])
    .where('catalog_id', '=', catalogId)
    .where('type', '=', 'FILTERED')
    .execute()
  // A set whose filters are broken has failed or will; it must not stop anybody's write.
  return sets.flatMap(({ id, filters, processing_status }) => {
    const { compiled, issues } = checkFilters(filters)
    return issues.length > 0 ? [] : [{ id, compiled, processing_status }]
  })
}

/** After products were written: puts each into the filtered sets it matches now, and takes it out of the others. */
export async function refreshMembers(
  tx: Tx,
  catalogId: string,
  products: (ProductColumns & { product_key: string })[]
) {
  const sets = await filteredSets(tx, catalogId)
  if (sets.length === 0) return
  const keys = products.map((product) => product.product_key)
  const matches = sets.flatMap(({ id, compiled }) =>
    products.filter((product) => matchesFilters(compiled, product)).map(({ product_key }) => ({ id, product_key }))
  )
  const matching = sql`select * from unnest(
    ${matches.map(({ id }) => id)}::text[], ${matches.map(({ product_key }) => product_key)}::text[]
  ) as m (set_id, product_key)`
  await sql`
    delete from product_set_members where catalog_id = ${catalogId}
      and set_id = any(${sets.map(({ id }) => id)}::text[]) and product_key = any(${keys}::text[])
      and (set_id, product_key) not in (${matching})`.execute(tx)
  if (matches.length === 0) return
  await sql`
    insert into product_set_members (catalog_id, set_id, product_key)
    select ${catalogId}, m.set_id, m.product_key from (${matching}) m
    on conflict do nothing`.execute(tx)
}

/** The same for products that a query names by their `product_key`. */
export async function refreshMembersOf(
  tx: Tx,
  catalogId: string,
  sets: { id: string; compiled: CompiledFilter[] }[],
  keys: RawBuilder<unknown>
) {
  for (const { id, compiled } of sets) {
    const matching = sql`select p.product_key from products p
      where p.catalog_id = ${catalogId} and p.product_key in (${keys}) and ${filterSql(compiled)}`
    await sql`
      delete from product_set_members m where m.catalog_id = ${catalogId} and m.set_id = ${id}
        and m.product_key in (${keys}) and m.product_key not in (${matching})`.execute(tx)
    await sql`
      insert into product_set_members (catalog_id, set_id, product_key)
      select ${catalogId}, ${id}, product_key from (${matching}) m on conflict do nothing`.execute(tx)
  }
}

/**
 * Computes the members among the next products after a key; the caller holds the catalog's row `for update`. Returns
 * the last key looked at, or undefined when there are no more.
 */
export async function computeMembers(
  tx: Tx,
  set: { catalog_id: string; id: string; compiled: CompiledFilter[] },
  afterKey: string,
  productsMax: number
): Promise<string | undefined> {
  const { catalog_id, id, compiled } = set
  const { rows } = await sql<{ product_key: string }>`
    select product_key from products where catalog_id = ${catalog_id} and product_key > ${afterKey}
    order by product_key offset ${productsMax - 1} limit 1`.execute(tx)
  const last = rows[0]?.product_key
  const upTo = (column: string) => (last === undefined ? sql`true` : sql`${sql.ref(column)} <= ${last}`)
  const matching = sql`p.catalog_id = ${catalog_id} and p.product_key > ${afterKey} and ${upTo('p.product_key')}
    and ${filterSql(compiled)}`
  const here = sql`m.catalog_id = ${catalog_id} and m.set_id = ${id} and m.product_key > ${afterKey}
    and ${upTo('m.product_key')}`
  // A new set has no members yet, but for those that were written since; then nothing has to be compared.
  const before = await sql`select from product_set_members m where ${here} limit 1`.execute(tx)
  if (before.rows.length > 0) {
    await sql`
      delete from product_set_members m where ${here}
        and not exists (select from products p where p.product_key = m.product_key and ${matching})`.execute(tx)
  }
  await sql`
    insert into product_set_members (catalog_id, set_id, product_key)
    select p.catalog_id, ${id}, p.product_key from products p where ${matching}
    ${before.rows.length > 0 ? sql`on conflict do nothing` : sql``}`.execute(tx)
  return last
}

export interface Member {
  product_key: string
  id: string
}

/** The same with what a person knows a product by. */
export async function listMemberProducts(db: Db, catalogId: string, setId: string, afterKey: string, limit: number) {
  const { rows } = await sql<Member & { title: string; price: string; availability: string; image_link: string }>`
    select m.product_key, p.id, p.title, p.price, p.availability, p.image_link from product_set_members m
    join products p on p.catalog_id = m.catalog_id and p.product_key = m.product_key
    where m.catalog_id = ${catalogId} and m.set_id = ${setId} and m.product_key > ${afterKey}
    order by m.product_key limit ${limit}`.execute(db)
  return rows
}

/** Members in the order in which the products were created. */
export async function listMembers(db: Db, catalogId: string, setId: string, afterKey: string, limit: number) {
  const { rows } = await sql<Member>`
    select m.product_key, p.id from product_set_members m
    join products p on p.catalog_id = m.catalog_id and p.product_key = m.product_key
    where m.catalog_id = ${catalogId} and m.set_id = ${setId} and m.product_key > ${afterKey}
    order by m.product_key limit ${limit}`.execute(db)
  return rows
}
