/** How many products filters match (extension), before a set is made of them. */
import { sql } from 'kysely'
import { badRequests } from '../errors.ts'
import type { AdsScope } from '../http/ads.ts'
import { about, required } from '../http/ads-input.ts'
import type { Db } from '../storage/db.ts'
import type { CompiledFilter } from './filters.ts'
import { filterSql } from './filters-sql.ts'
import { filters } from './product-set-routes.ts'
import { noFilters } from './product-sets.ts'
import { CATALOG, catalogRoute, echoId, keyCursor } from './routes.ts'
import { compileStored } from './set-members.ts'
import { Int, Text, TextOrNull, Whole } from './wire.ts'

const PRODUCTS_AT_ONCE = 25_000
/** A question is answered within about this time, the first one sooner; who wants the whole number asks on with the cursor. */
const FIRST_ANSWER_AFTER_MS = 200
const ANSWER_AFTER_MS = 700
const SAMPLES_MAX = 6

const Count = Whole({
  matched: Int,
  looked_at: Int,
  /** Ask on with it: these numbers are of the next products. Null: there are no more. */
  next_cursor: TextOrNull,
  samples: {
    type: 'array',
    items: Whole({ product_key: Text, id: Text, title: Text, price: Text, image_link: Text })
  }
})

interface Step {
  looked_at: number
  matched: number
  last: string | null
  keys: string[] | null
}

async function countSome(db: Db, catalogId: string, compiled: CompiledFilter[], after: string): Promise<Step> {
  const { rows } = await sql<Step>`
    with p as materialized (
      select p.product_key, coalesce(${filterSql(compiled)}, false) as fits from products p
      where p.catalog_id = ${catalogId} and p.product_key > ${after}
      order by p.product_key limit ${PRODUCTS_AT_ONCE}
    )
    select count(*)::int as looked_at, (count(*) filter (where fits))::int as matched, max(product_key) as last,
      array(select product_key from p where fits limit ${SAMPLES_MAX}) as keys
    from p`.execute(db)
  return rows[0]!
}

/** Products in the order of their keys, some at a time, as long as nobody has waited long. */
export async function countMatches(db: Db, catalogId: string, compiled: CompiledFilter[], cursor: string) {
  const enough = performance.now() + (cursor === '' ? FIRST_ANSWER_AFTER_MS : ANSWER_AFTER_MS)
  const keys: string[] = []
  let [matched, lookedAt, after] = [0, 0, cursor]
  for (;;) {
    const step = await countSome(db, catalogId, compiled, after)
    matched += step.matched
    lookedAt += step.looked_at
    keys.push(...(step.keys ?? []))
    after = step.last ?? after
    const isEnd = step.looked_at < PRODUCTS_AT_ONCE
    if (!isEnd && performance.now() < enough) continue
    const samples = await db
      .selectFrom('products')
      .select(['product_key', 'id', 'title', 'price', 'image_link'])
      .where('catalog_id', '=', catalogId)
      .where('product_key', 'in', keys.length === 0 ? [''] : keys.slice(0, SAMPLES_MAX))
      .orderBy('product_key')
      .execute()
    return { matched, looked_at: lookedAt, next_cursor: isEnd ? null : after, samples }
  }
}

export function setCountRoutes(scope: AdsScope) {
  const { db } = scope.deps.database
  catalogRoute(scope, {
    method: 'POST',
    path: `${CATALOG}/product_sets/count`,
    resource: 'product_sets',
    summary: 'How many products filters match, some of the catalog at a time, with the first of them.',
    readOnly: true,
    extension: true,
    input: {
      filters: about(required(filters), 'All of them must hold.'),
      cursor: about(keyCursor(), '`next_cursor` of the answer before, to count on.')
    },
    output: Count,
    echo: echoId('product_set_id'),
    handler: async ({ catalog, input: { filters: given, cursor = '' } }) => {
      if (given.length === 0) throw badRequests([noFilters])
      return countMatches(db, catalog.id, compileStored(given), cursor)
    }
  })
}
