/** The batch PUT: at most 25 products, each created, updated, left as it is, or refused with the reasons. */
import { sql } from 'kysely'
import { isoTime } from '../clock.ts'
import type { Db, Tx } from '../storage/db.ts'
import { newId } from '../storage/ids.ts'
import { imageWarnings, keysOf, lookAgain, queueImages } from './image-queue.ts'
import { cutValue } from './issues.ts'
import { refreshGroups } from './item-groups.ts'
import { clean } from './product-checks.ts'
import { contentHash, ON_KNOWN_ID, type ProductRow, productText, WRITTEN_COLUMNS } from './product-rows.ts'
import { type ProductColumns, validateProduct } from './product-rules.ts'
import { refreshMembers } from './set-members.ts'
import { lockCatalog, TryAgain, transact } from './transactions.ts'

export const BATCH_STATUSES = ['CREATE_SUCCESS', 'UPDATE_SUCCESS', 'ERROR', 'NO_CHANGE'] as const

export interface BatchResult {
  warnings: string[]
  errors: string[]
  product_key: string | null
  id: string | null
  status: (typeof BATCH_STATUSES)[number]
}

interface Item {
  id: string | null
  givenKey: string | null
  /** Null when it must not be written. */
  product: ProductColumns | null
  errors: string[]
  warnings: string[]
}

function readItem(input: unknown): Item {
  if (typeof input !== 'object' || input === null || Array.isArray(input)) {
    return { id: null, givenKey: null, product: null, errors: ['The item is not a JSON object.'], warnings: [] }
  }
  const given = input as Record<string, unknown>
  const { product, errors, warnings } = validateProduct(given)
  return {
    id: shownId(given.id),
    givenKey: given.product_key == null || given.product_key === '' ? null : String(given.product_key),
    product,
    errors: errors.map(({ message }) => message),
    warnings: warnings.map(({ message }) => message)
  }
}

/** A number is no id, but the result still tells which item it is about. */
const shownId = (id: unknown) =>
  typeof id === 'string' ? clean(id) : typeof id === 'number' || typeof id === 'bigint' ? String(id) : null

/** "When an id occurs several times in one request, all instances are ignored." */
function refuseRepeated(items: Item[]) {
  const counts = Map.groupBy(items, ({ id }) => id)
  for (const item of items) {
    const times = item.id === null ? 1 : counts.get(item.id)!.length
    if (times === 1) continue
    item.product = null
    item.errors.push(`id "${cutValue(item.id!)}" occurs ${times} times in this request: all are ignored. Send it once.`)
  }
}

/** Rows of these ids or keys, held until the transaction ends; always in the order of ids, so that two never cross. */
async function lockProducts(tx: Tx, catalogId: string, ids: string[], keys: string[]): Promise<ProductRow[]> {
  const { rows } = await sql<ProductRow>`
    select * from products where catalog_id = ${catalogId}
      and (id = any(${ids}::text[]) or product_key = any(${keys}::text[]))
    order by id for update`.execute(tx)
  return rows
}

/** A key that was sent along must be the one of this id. */
function checkKey(item: Item, known: ProductRow | undefined, keyed: ProductRow | undefined) {
  const { givenKey } = item
  if (givenKey === null || item.product === null || givenKey === known?.product_key) return
  if (known === undefined && keyed === undefined) {
    item.warnings.push(`product_key "${cutValue(givenKey)}" was ignored: keys of new products are generated.`)
    return
  }
  const belongs = keyed === undefined ? 'belongs to no product' : `belongs to the product with id "${keyed.id}"`
  item.product = null
  item.errors.push(`product_key "${cutValue(givenKey)}" ${belongs}. Leave it out, or send the id it belongs to.`)
}

interface Written {
  id: string
  product_key: string
  created: boolean
  images_changed: boolean
}

async function upsert(tx: Tx, catalogId: string, products: ProductColumns[], now: number): Promise<Written[]> {
  const rows = products.map((product) => ({
    ...product,
    price_amount: Number(product.price_amount),
    sale_price_amount: product.sale_price_amount === null ? null : Number(product.sale_price_amount),
    catalog_id: catalogId,
    product_key: newId(),
    content_hash: contentHash(productText(product)),
    images_changed: true,
    group_changed: true,
    created_at: isoTime(now),
    updated_at: isoTime(now)
  }))
  const columns = sql.raw(WRITTEN_COLUMNS.join(', '))
  const { rows: written } = await sql<Written>`
    insert into products as p (${columns})
    select ${columns} from json_populate_recordset(null::products, ${JSON.stringify(rows)}) order by id
    ${sql.raw(ON_KNOWN_ID)}
    returning id, product_key, xmax = 0 as created, images_changed`.execute(tx)
  return written
}

export interface BatchOptions {
  now: number
  /** Whether images are looked at in the background. */
  checkImages: boolean
}

/** In the order of the request. */
export async function putProducts(
  db: Db,
  catalogId: string,
  products: unknown[],
  { now, checkImages }: BatchOptions
): Promise<BatchResult[]> {
  return transact(db, async (tx) => {
    const items = products.map(readItem)
    refuseRepeated(items)
    await lockCatalog(tx, catalogId, 'key share')

    const ids = items.flatMap(({ id }) => (id === null ? [] : [id]))
    const locked = await lockProducts(
      tx,
      catalogId,
      ids,
      items.flatMap(({ givenKey }) => givenKey ?? [])
    )
    const byId = new Map(locked.map((row) => [row.id, row]))
    const byKey = new Map(locked.map((row) => [row.product_key, row]))
    const changed: ProductColumns[] = []
    for (const item of items) {
      const known = item.id === null ? undefined : byId.get(item.id)
      checkKey(item, known, item.givenKey === null ? undefined : byKey.get(item.givenKey))
      const { product } = item
      if (product && (!known || productText(known) !== productText(product))) changed.push(product)
    }

    const written = await write(tx, catalogId, changed, byId, now)
    if (checkImages) await checkImagesOf(tx, catalogId, items, byId, written, now)
    return items.map((item) => result(item, byId, written))
  })
}

async function write(
  tx: Tx,
  catalogId: string,
  changed: ProductColumns[],
  known: Map<string, ProductRow>,
  now: number
) {
  if (changed.length === 0) return new Map<string, Written>()
  const groups = changed.flatMap((product) => {
    const before = known.get(product.id)?.item_group_id ?? null
    return before === product.item_group_id ? [] : [before, product.item_group_id].filter((id) => id !== null)
  })
  if (groups.length > 0) await lockCatalog(tx, catalogId, 'no key update')
  const written = new Map((await upsert(tx, catalogId, changed, now)).map((row) => [row.id, row]))
  for (const { id } of changed) {
    // Somebody else created it since we looked: what we know of it is not true.
    if (written.get(id)?.created !== !known.has(id)) throw new TryAgain()
  }
  await refreshGroups(tx, catalogId, groups)
  const rows = changed.map((product) => ({ ...product, product_key: written.get(product.id)!.product_key }))
  await refreshMembers(tx, catalogId, rows)
  return written
}

/** New images wait to be looked at; what is wrong with those that stay is said again. */
async function checkImagesOf(
  tx: Tx,
  catalogId: string,
  items: Item[],
  known: Map<string, ProductRow>,
  written: Map<string, Written>,
  now: number
) {
  const fresh = [...written.values()].flatMap((row) => (row.images_changed ? [row.product_key] : []))
  if (fresh.length > 0) await queueImages(tx, catalogId, keysOf(fresh), now)
  const keyOf = ({ id }: Item) => (id === null ? undefined : known.get(id)?.product_key)
  const warnings = await imageWarnings(
    tx,
    catalogId,
    items.flatMap((item) => (item.product ? (keyOf(item) ?? []) : []))
  )
  if (warnings.length === 0) return
  const byKey = Map.groupBy(warnings, (warning) => warning.product_key)
  for (const item of items) {
    const found = item.product && byKey.get(keyOf(item) ?? '')
    if (found) item.warnings.push(...found.map(({ message }) => message))
  }
  await lookAgain(tx, catalogId, warnings, now)
}

function result(item: Item, known: Map<string, ProductRow>, written: Map<string, Written>): BatchResult {
  const { id, errors, warnings } = item
  const done = id === null ? undefined : written.get(id)
  return {
    warnings,
    errors,
    product_key: done?.product_key ?? (id === null ? undefined : known.get(id)?.product_key) ?? null,
    id: id === null ? null : cutValue(id, 200),
    status: item.product === null ? 'ERROR' : !done ? 'NO_CHANGE' : done.created ? 'CREATE_SUCCESS' : 'UPDATE_SUCCESS'
  }
}
