/** Products of a catalog: pages, the batch PUT, the batch DELETE. */

import { notFound } from '../errors.ts'
import type { AdsScope } from '../http/ads.ts'
import { about, int, json, list, Refused, required, text } from '../http/ads-input.ts'
import type { Database } from '../storage/db.ts'
import { listImageIssues } from './image-queue.ts'
import { BATCH_STATUSES, putProducts } from './product-batch.ts'
import { deleteProducts } from './product-deletes.ts'
import { AGE_GROUPS, AVAILABILITIES, CONDITIONS, GENDERS, PRODUCT_FIELDS, REQUIRED_FIELDS } from './product-fields.ts'
import { CATALOG, catalogRoute, keyCursor } from './routes.ts'
import { IntOrNull, Text, TextOrNull, Texts, Whole } from './wire.ts'

export const PRODUCTS_PER_BATCH_MAX = 25
export const PAGE_SIZE = 100
/** Not specified, but every list needs an end; see decisions/0044. */
const DELETES_MAX = 1_000

const isRequired = (field: string) => (REQUIRED_FIELDS as readonly string[]).includes(field)

/** "A fetched product lists every field above, with null for unset ones." */
export const Product = Whole({
  ...Object.fromEntries(
    PRODUCT_FIELDS.map((field) => [field, field === 'inventory' ? IntOrNull : isRequired(field) ? Text : TextOrNull])
  ),
  product_key: Text,
  item_group_key: TextOrNull
})

const ENUMS: Record<string, readonly string[]> = {
  availability: AVAILABILITIES,
  condition: CONDITIONS,
  gender: GENDERS,
  age_group: AGE_GROUPS
}
const NewProduct = {
  type: 'object',
  required: [...REQUIRED_FIELDS],
  properties: {
    ...Object.fromEntries(
      PRODUCT_FIELDS.map((field) => [
        field,
        field === 'inventory'
          ? { type: 'integer' }
          : { type: 'string', ...(ENUMS[field] ? { enum: ENUMS[field] } : {}) }
      ])
    ),
    product_key: { type: 'string', description: 'Not needed; if given, it must be the key of this id.' }
  }
}

const BatchResults = Whole({
  products_response: {
    type: 'array',
    items: Whole({
      warnings: Texts,
      errors: Texts,
      product_key: TextOrNull,
      id: TextOrNull,
      status: { type: 'string', enum: [...BATCH_STATUSES] }
    })
  }
})
const DeleteResults = Whole({
  delete_products: {
    type: 'array',
    items: Whole({ product_key: TextOrNull, failed_product_key: TextOrNull, message: TextOrNull })
  }
})

const ImageIssue = Whole({
  product_key: Text,
  id: Text,
  field: Text,
  url: Text,
  code: Text,
  message: Text,
  checked_at: Text
})

export const products = required(
  json({ type: 'array', items: NewProduct, minItems: 1, maxItems: PRODUCTS_PER_BATCH_MAX }, (raw, name) => {
    if (!Array.isArray(raw)) throw new Refused(`Expected an array of products for ${name}, in a JSON body`)
    if (raw.length === 0) throw new Refused(`A minimum of 1 items must be provided for ${name}`)
    if (raw.length > PRODUCTS_PER_BATCH_MAX)
      throw new Refused(`A maximum of ${PRODUCTS_PER_BATCH_MAX} items may be provided for ${name}, got ${raw.length}`)
    return raw as unknown[]
  })
)

const COLUMNS = [...PRODUCT_FIELDS, 'product_key'].map((column) => `p.${column}`).join(', ')
export const SHAPE = `select ${COLUMNS}, g.item_group_key from products p
  left join item_groups g on g.catalog_id = p.catalog_id and g.item_group_id = p.item_group_id`

/** Ungrouped products and the first of each group are two ranges of two indexes: every page costs the same. */
const PAGE = `
  select ${COLUMNS}, g.item_group_key from (
    (select product_key from products
     where catalog_id = $1 and item_group_id is null and product_key >= $2 order by product_key limit $3)
    union all
    (select first_product_key from item_groups
     where catalog_id = $1 and first_product_key >= $2 order by first_product_key limit $3)
    order by product_key limit $3
  ) page
  join products p on p.catalog_id = $1 and p.product_key = page.product_key
  left join item_groups g on g.catalog_id = $1 and g.item_group_id = p.item_group_id
  order by p.product_key`

const GROUP_PAGE = `${SHAPE}
  where p.catalog_id = $1 and p.product_key >= $2 and p.item_group_id = (
    select item_group_id from item_groups where catalog_id = $1 and item_group_key = $4)
  order by p.product_key limit $3`

interface PageQuery {
  item_group_key?: string
  count?: number
  cursor?: string
}

export interface ListedProduct extends Record<string, unknown> {
  id: string
  product_key: string
  item_group_key: string | null
}

/** The cursor is the key at which the next page starts. */
export async function listProducts({ pool }: Database, catalogId: string, query: PageQuery) {
  const { item_group_key, count = PAGE_SIZE, cursor = '0' } = query
  // Keys have 19 digits, so that their order as text is their order as numbers.
  const values = [catalogId, cursor.padStart(19, '0'), count + 1]
  const { rows } = await pool.query<ListedProduct>(
    item_group_key === undefined
      ? { name: 'catalog.products', text: PAGE, values }
      : { name: 'catalog.products_of_group', text: GROUP_PAGE, values: [...values, item_group_key] }
  )
  const page = rows.slice(0, count)
  return { rows: page, next_cursor: rows.length > count ? (BigInt(page.at(-1)!.product_key) + 1n).toString() : null }
}

async function getProduct({ pool }: Database, catalogId: string, key: string) {
  const { rows } = await pool.query<ListedProduct>({
    name: 'catalog.product',
    text: `${SHAPE} where p.catalog_id = $1 and p.product_key = $2`,
    values: [catalogId, key]
  })
  if (!rows[0]) throw notFound('NOT_FOUND', `Product ${key} was not found`)
  return rows[0]
}

const PATH = `${CATALOG}/products`

export function productRoutes(scope: AdsScope) {
  const { database, clock, config } = scope.deps
  const checkImages = config.HERALD_IMAGE_CHECKS

  catalogRoute(scope, {
    method: 'GET',
    path: PATH,
    resource: 'products',
    summary: 'Products of a catalog; of grouped products, the one submitted first.',
    input: {
      item_group_key: about(text({ max: 100 }), 'Lists all products of this group.'),
      count: int({ min: 1, max: PAGE_SIZE }),
      cursor: keyCursor()
    },
    output: Product,
    many: true,
    handler: ({ catalog, input }) => listProducts(database, catalog.id, input)
  })

  catalogRoute(scope, {
    method: 'GET',
    path: `${PATH}/issues`,
    resource: 'products',
    summary: 'What is wrong with the images of products.',
    input: { count: int({ min: 1, max: 1_000 }), cursor: text({ max: 100 }) },
    output: ImageIssue,
    many: true,
    extension: true,
    handler: ({ catalog, input }) => listImageIssues(database.db, catalog.id, input)
  })

  catalogRoute(scope, {
    method: 'GET',
    path: `${PATH}/:product_key`,
    resource: 'products',
    summary: 'One product.',
    output: Product,
    extension: true,
    handler: ({ catalog, path }) => getProduct(database, catalog.id, path.product_key!)
  })

  catalogRoute(scope, {
    method: 'PUT',
    path: PATH,
    resource: 'products',
    summary: 'Create or update up to 25 products; each has its own result.',
    input: { products },
    output: BatchResults,
    echo: (_, { product_catalog_id }) => ({ product_catalog_id }),
    handler: async ({ catalog, input }) => ({
      products_response: await putProducts(database.db, catalog.id, input.products, { now: clock.now(), checkImages })
    })
  })

  catalogRoute(scope, {
    method: 'DELETE',
    path: PATH,
    resource: 'products',
    summary: 'Delete products by their keys; each has its own result.',
    jsonBody: true,
    input: { product_keys: required(list(text({ max: 100 }), { max: DELETES_MAX })) },
    output: DeleteResults,
    echo: ({ product_keys }) => (product_keys === undefined ? {} : { product_keys }),
    handler: async ({ catalog, input }) => ({
      delete_products: await deleteProducts(database.db, catalog.id, input.product_keys)
    })
  })
}
