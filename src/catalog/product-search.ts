/** Finding products by the merchant's own ids (extension). */
import type { AdsScope } from '../http/ads.ts'
import { about, int, text } from '../http/ads-input.ts'
import type { Database } from '../storage/db.ts'
import { ID_CHARS_MAX } from './product-fields.ts'
import { type ListedProduct, PAGE_SIZE, Product, SHAPE } from './products.ts'
import { CATALOG, catalogRoute } from './routes.ts'

const SEARCH_CHARS_MAX = ID_CHARS_MAX
/** Sorts behind every other character. */
const LAST_CHARACTER = '\u{10FFFF}'

interface SearchQuery {
  id_prefix?: string
  count?: number
  cursor?: string
}

/** In the order of ids, which is the order of their bytes: a range of the primary key. The cursor is the last id. */
export async function searchProducts({ pool }: Database, catalogId: string, query: SearchQuery) {
  const { id_prefix = '', count = PAGE_SIZE, cursor = '' } = query
  const { rows } = await pool.query<ListedProduct>({
    name: 'catalog.products_by_id',
    text: `${SHAPE} where p.catalog_id = $1 and p.id >= $2 and p.id < $3 and p.id > $4 order by p.id limit $5`,
    values: [catalogId, id_prefix, id_prefix + LAST_CHARACTER, cursor, count + 1]
  })
  const page = rows.slice(0, count)
  return { rows: page, next_cursor: rows.length > count ? page.at(-1)!.id : null }
}

export function productSearchRoutes(scope: AdsScope) {
  const { database } = scope.deps
  catalogRoute(scope, {
    method: 'GET',
    path: `${CATALOG}/products/search`,
    resource: 'products',
    summary: 'Products whose id begins with a text, in the order of their ids; members of groups too.',
    input: {
      id_prefix: about(text({ max: SEARCH_CHARS_MAX }), 'As the ids are written; upper and lower case differ.'),
      count: int({ min: 1, max: PAGE_SIZE }),
      cursor: text({ max: SEARCH_CHARS_MAX })
    },
    output: Product,
    many: true,
    extension: true,
    handler: ({ catalog, input }) => searchProducts(database, catalog.id, input)
  })
}
