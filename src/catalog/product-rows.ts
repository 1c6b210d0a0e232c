/** Products in the database: their columns, their text, and the one way in which they are written. */
import { hash } from 'node:crypto'
import { PRODUCT_FIELDS } from './product-fields.ts'
import type { ProductColumns } from './product-rules.ts'

export interface ProductRow extends ProductColumns {
  catalog_id: string
  product_key: string
  content_hash: string
  /** What the last write changed; for whoever wrote. */
  images_changed: boolean
  group_changed: boolean
  left_item_group_id: string | null
}

declare module '../storage/db.ts' {
  interface Tables {
    products: Omit<ProductRow, 'price_amount' | 'sale_price_amount'> & {
      price_amount: Big
      sale_price_amount: BigOrNull
      created_at: Time
      updated_at: Time
    }
    item_groups: {
      catalog_id: string
      item_group_id: string
      item_group_key: string | null
      first_product_key: string
    }
  }
}

/** What the merchant decides, with the amounts that follow from the prices. */
export const MERCHANT_COLUMNS = [...PRODUCT_FIELDS, 'price_amount', 'price_currency', 'sale_price_amount'] as const

const SPECIAL = /[\\\t\n\r]/
const ESCAPES: Record<string, string> = { '\\': '\\\\', '\t': '\\t', '\n': '\\n', '\r': '\\r' }

export function cellText(value: string | number | null): string {
  if (value === null) return '\\N'
  if (typeof value === 'number') return `${value}`
  return SPECIAL.test(value) ? value.replaceAll(/[\\\t\n\r]/g, (character) => ESCAPES[character]!) : value
}

/** A product as one line of COPY's text format, in the order of PRODUCT_FIELDS. Equal products have equal lines. */
export function productText(product: Pick<ProductColumns, (typeof PRODUCT_FIELDS)[number]>): string {
  let line = cellText(product[PRODUCT_FIELDS[0]])
  for (let i = 1; i < PRODUCT_FIELDS.length; i++) line += `\t${cellText(product[PRODUCT_FIELDS[i]!])}`
  return line
}

/** Half of SHA-256, as it fits a uuid. */
export const contentHash = (text: string) => hash('sha256', text, 'hex').slice(0, 32)

/** The columns of an insert, in one order for the batch and for feeds. */
export const WRITTEN_COLUMNS = [
  'catalog_id',
  'product_key',
  ...MERCHANT_COLUMNS,
  'content_hash',
  'images_changed',
  'group_changed',
  'created_at',
  'updated_at'
] as const

const UPDATED = [...MERCHANT_COLUMNS, 'content_hash', 'updated_at'].filter((column) => column !== 'id')

/** What an insert does when the id is known: everything the merchant decides is replaced, if anything differs. */
export const ON_KNOWN_ID = `
  on conflict (catalog_id, id) do update set
    ${UPDATED.map((column) => `${column} = excluded.${column}`).join(', ')},
    images_changed = (p.image_link, p.additional_image_link)
      is distinct from (excluded.image_link, excluded.additional_image_link),
    group_changed = p.item_group_id is distinct from excluded.item_group_id,
    left_item_group_id = case when p.item_group_id is distinct from excluded.item_group_id then p.item_group_id end
  where p.content_hash is distinct from excluded.content_hash`
