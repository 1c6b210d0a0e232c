/** What the rules say about products (extension): about some that are not sent yet, and about some that are stored. */
import type { AdsScope } from '../http/ads.ts'
import { list, text } from '../http/ads-input.ts'
import type { Database } from '../storage/db.ts'
import { clean } from './product-checks.ts'
import { productText } from './product-rows.ts'
import { validateProduct } from './product-rules.ts'
import { type ListedProduct, PAGE_SIZE, products, SHAPE } from './products.ts'
import { CATALOG, catalogRoute } from './routes.ts'
import { Text, TextOrNull, Whole } from './wire.ts'

const WOULD_BE = ['CREATED', 'UPDATED', 'UNCHANGED', 'REFUSED'] as const

const IssueSchema = Whole({ code: Text, field: TextOrNull, value: TextOrNull, message: Text })
const Issues = { type: 'array', items: IssueSchema }
const Review = Whole({
  id: TextOrNull,
  would_be: { type: 'string', enum: [...WOULD_BE] },
  errors: Issues,
  warnings: Issues
})
const Warning = Whole({ product_key: Text, field: TextOrNull, code: Text, message: Text })

/** The verdict of the batch request, field by field, and what it would do. */
async function reviewProducts({ pool }: Database, catalogId: string, given: unknown[]) {
  const verdicts = given.map((input) => {
    const isObject = typeof input === 'object' && input !== null && !Array.isArray(input)
    return validateProduct(isObject ? (input as Record<string, unknown>) : {})
  })
  const ids = verdicts.flatMap(({ product }) => product?.id ?? [])
  const { rows } = await pool.query({
    name: 'catalog.products_with_ids',
    text: 'select * from products where catalog_id = $1 and id = any($2::text[])',
    values: [catalogId, ids]
  })
  const known = new Map(rows.map((row) => [row.id as string, row]))
  return verdicts.map(({ product, errors, warnings }, at) => {
    const { id } = (given[at] ?? {}) as { id?: unknown }
    const stored = product && known.get(product.id)
    const would_be = !product
      ? 'REFUSED'
      : !stored
        ? 'CREATED'
        : productText(stored) === productText(product)
          ? 'UNCHANGED'
          : 'UPDATED'
    return { id: typeof id === 'string' ? clean(id) : null, would_be, errors, warnings }
  })
}

/** What a person would want to mend in products that are stored: what the rules warn of, and images that are wrong. */
async function warningsOf({ pool }: Database, catalogId: string, keys: string[]) {
  const [{ rows }, { rows: verdicts }] = await Promise.all([
    pool.query<ListedProduct>({
      name: 'catalog.products_with_keys',
      text: `${SHAPE} where p.catalog_id = $1 and p.product_key = any($2::text[]) order by p.product_key`,
      values: [catalogId, keys]
    }),
    pool.query<{ product_key: string; field: string; code: string; message: string }>({
      name: 'catalog.image_verdicts_with_keys',
      text: `select product_key, field, code, message from image_verdicts
             where catalog_id = $1 and product_key = any($2::text[]) order by product_key, field desc, position`,
      values: [catalogId, keys]
    })
  ])
  const byKey = Map.groupBy(verdicts, ({ product_key }) => product_key)
  return rows.flatMap(({ product_key, ...product }) => {
    const { errors, warnings } = validateProduct(product)
    const ofRules = [...errors, ...warnings].map(({ field, code, message }) => ({ product_key, field, code, message }))
    return [...ofRules, ...(byKey.get(product_key) ?? [])]
  })
}

export function productReviewRoutes(scope: AdsScope) {
  const { database } = scope.deps
  const shared = { resource: 'products', many: 'without_cursor', extension: true } as const

  catalogRoute(scope, {
    ...shared,
    method: 'POST',
    path: `${CATALOG}/products/checks`,
    summary: 'What a PUT of up to 25 products would say and do, field by field; nothing is written.',
    readOnly: true,
    input: { products },
    output: Review,
    echo: (_, { product_catalog_id }) => ({ product_catalog_id }),
    handler: async ({ catalog, input }) => ({ rows: await reviewProducts(database, catalog.id, input.products) })
  })

  catalogRoute(scope, {
    ...shared,
    method: 'GET',
    path: `${CATALOG}/products/warnings`,
    summary: 'What is worth mending in stored products: warnings of the rules, and images that are wrong.',
    input: { product_keys: list(text({ max: 100 }), { max: PAGE_SIZE }) },
    output: Warning,
    handler: async ({ catalog, input }) => ({ rows: await warningsOf(database, catalog.id, input.product_keys ?? []) })
  })
}
