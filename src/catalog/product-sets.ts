/** Product sets: parts of a catalog that ads are run on, picked by hand (MANUAL) or by filters (FILTERED). */
import { sql } from 'kysely'
import { ApiError, badRequest, badRequests, type ErrorItem, notFound } from '../errors.ts'
import type { Db, Tx } from '../storage/db.ts'
import { newId } from '../storage/ids.ts'
import { cancelJob, enqueue } from '../storage/jobs.ts'
import type { ProductFilter } from './filters.ts'
import { PURGE_SET } from './purge.ts'
import type { CatalogRow } from './routes.ts'
import { COMPUTE_SET, queueSets } from './set-job.ts'
import { compileStored, computeMembers, listMembers } from './set-members.ts'
import type { SetStatus } from './set-states.ts'
import { lockCatalog, transact } from './transactions.ts'

/** "Manual product sets: up to 50 products." */
export const MANUAL_PRODUCTS_MAX = 50
export const SET_TYPES = ['MANUAL', 'FILTERED'] as const
/** How many ids the list of sets shows of each. */
const IDS_LISTED_MAX = 100
/** How long a new set waits for the catalog before it is left to the background. */
const WAIT_FOR_CATALOG_MS = 1_000

export interface ProductSetRow {
  catalog_id: string
  id: string
  name: string
  description: string | null
  type: (typeof SET_TYPES)[number]
  filters: ProductFilter[]
  processing_status: SetStatus
}

const setNotFound = (id: string) => notFound('NOT_FOUND', `Product set ${id} was not found`)

export async function findSet(db: Db, catalogId: string, id: string, lock = false): Promise<ProductSetRow> {
  const { rows } = await sql<ProductSetRow>`
    select catalog_id, id, name, description, type, filters, processing_status from product_sets
    where catalog_id = ${catalogId} and id = ${id} ${lock ? sql`for update` : sql``}`.execute(db)
  if (!rows[0]) throw setNotFound(id)
  return rows[0]
}

export interface NewProductSet {
  name: string
  description?: string | null
  type: (typeof SET_TYPES)[number]
  filters?: ProductFilter[]
  product_keys?: string[]
}

/** What the type asks for must be there, and nothing of the other type. */
function checkNew({ type, filters = [], product_keys }: NewProductSet) {
  const errors: ErrorItem[] = []
  const hasKeys = product_keys !== undefined && product_keys.length > 0
  if (filters.length > 0 && hasKeys) {
    errors.push({ code: 'EXCLUSIVE_PARAMETERS', message: 'filters and product_keys are exclusive parameters' })
  } else if (type === 'FILTERED' && filters.length === 0) errors.push(noFilters)
  else if (type === 'MANUAL' && product_keys === undefined) errors.push(missing('product_keys'))
  else if (type === 'MANUAL' && !hasKeys) errors.push(noKeys)
  if (errors.length > 0) throw badRequests(errors)
}

const missing = (parameter: string): ErrorItem => ({
  code: 'MISSING_PARAMETER',
  message: `"${parameter}" is a required parameter`,
  parameter
})
export const noFilters = missing('filters')
const noKeys: ErrorItem = {
  code: 'INVALID_PARAMETER',
  message: 'A minimum of 1 items must be provided for product_keys',
  parameter: 'product_keys'
}

async function setMembers(tx: Tx, set: { catalog_id: string; id: string }, keys: string[]) {
  const { rows } = await sql<{ product_key: string }>`
    select product_key from products
    where catalog_id = ${set.catalog_id} and product_key = any(${keys}::text[]) for key share`.execute(tx)
  const known = new Set(rows.map((row) => row.product_key))
  const unknown = keys.filter((key) => !known.has(key))
  if (unknown.length > 0) {
    const message = `The catalog has no product with the key ${unknown.slice(0, 10).join(', ')}`
    throw badRequest('INVALID_PARAMETER', message, { parameter: 'product_keys' })
  }
  await tx
    .deleteFrom('product_set_members')
    .where('catalog_id', '=', set.catalog_id)
    .where('set_id', '=', set.id)
    .execute()
  const members = [...known].map((product_key) => ({ catalog_id: set.catalog_id, set_id: set.id, product_key }))
  await tx.insertInto('product_set_members').values(members).execute()
}

const isSmall = async (db: Db, catalogId: string, productsMax: number) => {
  const { rows } = await sql`
    select from products where catalog_id = ${catalogId} offset ${productsMax} limit 1`.execute(db)
  return rows.length === 0
}

export interface SetLimits {
  /** Filtered sets of catalogs up to this size are computed before the answer. */
  computedAtOnceMax: number
  setsMax: number
}

export async function createProductSet(
  db: Db,
  catalogId: string,
  input: NewProductSet,
  { computedAtOnceMax, setsMax }: SetLimits,
  now: Date
): Promise<ProductSetRow> {
  checkNew(input)
  const insert = async (tx: Tx, processing_status: SetStatus) => {
    const { rows: others } = await sql`
      select from product_sets where catalog_id = ${catalogId} offset ${Math.max(setsMax - 1, 0)} limit 1`.execute(tx)
    if (others.length > 0 || setsMax === 0)
      throw badRequest('INVALID', `A catalog can have ${setsMax} product sets`, { attribute: 'product_catalog_id' })
    const set = {
      catalog_id: catalogId,
      id: newId(),
      name: input.name,
      description: input.description ?? null,
      type: input.type,
      filters: JSON.stringify(input.filters ?? []),
      processing_status
    }
    await tx
      .insertInto('product_sets')
      .values({ ...set, processed_key: null, created_at: now, updated_at: now })
      .execute()
    return { ...set, filters: input.filters ?? [] }
  }
  const manual = async (tx: Tx) => {
    await lockCatalog(tx, catalogId, 'key share')
    const set = await insert(tx, 'DONE')
    await setMembers(tx, set, input.product_keys!)
    return set
  }
  const atOnce = async (tx: Tx) => {
    await lockCatalog(tx, catalogId, 'update')
    const set = await insert(tx, 'DONE')
    await computeMembers(tx, { ...set, compiled: compileStored(set.filters) }, '', computedAtOnceMax + 1)
    return set
  }
  const later = async (tx: Tx) => {
    await lockCatalog(tx, catalogId, 'key share')
    const set = await insert(tx, 'PROCESSING')
    await queueSets(tx, [set])
    return set
  }

  if (input.type === 'MANUAL') return transact(db, manual)
  if (await isSmall(db, catalogId, computedAtOnceMax)) {
    try {
      return await transact(db, atOnce, WAIT_FOR_CATALOG_MS)
    } catch (error) {
      // An import is at work on the catalog; the set waits for it in the background.
      if (!(error instanceof ApiError) || error.status !== 423) throw error
    }
  }
  return transact(db, later)
}

export async function updateProductSet(
  db: Db,
  catalogId: string,
  id: string,
  input: { name?: string; description?: string | null; product_keys?: string[] },
  now: Date
): Promise<ProductSetRow> {
  return transact(db, async (tx) => {
    await lockCatalog(tx, catalogId, 'key share')
    const set = await findSet(tx, catalogId, id, true)
    if (set.type === 'FILTERED')
      throw badRequest('INVALID', 'Updating a FILTERED product set is not supported', { attribute: 'type' })
    if (input.product_keys?.length === 0) throw badRequests([noKeys])
    const changed = {
      ...(input.name === undefined ? {} : { name: input.name }),
      ...(input.description === undefined ? {} : { description: input.description })
    }
    await tx
      .updateTable('product_sets')
      .set({ ...changed, updated_at: now })
      .where('catalog_id', '=', catalogId)
      .where('id', '=', id)
      .execute()
    if (input.product_keys) await setMembers(tx, set, input.product_keys)
    return { ...set, ...changed }
  })
}

/** A write of products that began before a set was deleted may still add members to it. */
const PURGE_AFTER_MS = 3_600_000

/** Permanent. */
export async function deleteProductSet(db: Db, catalogId: string, id: string, now: number) {
  return transact(db, async (tx) => {
    const set = await findSet(tx, catalogId, id, true)
    const members = set.type === 'MANUAL' ? await listMembers(tx, catalogId, id, '', MANUAL_PRODUCTS_MAX) : []
    await tx.deleteFrom('product_sets').where('catalog_id', '=', catalogId).where('id', '=', id).execute()
    await cancelJob(tx, COMPUTE_SET, id)
    await enqueue(tx, PURGE_SET, { catalog_id: catalogId, set_id: id }, { key: id, dueAt: now + PURGE_AFTER_MS })
    return { ...set, product_ids: members.map((member) => member.id) }
  })
}

export async function listSets(
  db: Db,
  catalog: CatalogRow,
  { count = 100, cursor = '', count_up_to }: { count?: number; cursor?: string; count_up_to?: number }
) {
  const counted = sql`select from product_set_members m where m.catalog_id = s.catalog_id and m.set_id = s.id`
  const { rows } = await sql<ProductSetRow & { product_count: number }>`
    select catalog_id, id, name, description, type, filters, processing_status, (
      select count(*)::int from (${counted} limit ${count_up_to ?? null}::int) members
    ) as product_count
    from product_sets s where catalog_id = ${catalog.id} and id > ${cursor} order by id limit ${count + 1}`.execute(db)
  const page = rows.slice(0, count)
  const sets = []
  for (const set of page) {
    const members = await listMembers(db, catalog.id, set.id, '', IDS_LISTED_MAX)
    const counted_to_end = count_up_to === undefined || set.product_count < count_up_to
    sets.push({ ...set, counted_to_end, product_ids: members.map((member) => member.id) })
  }
  return { rows: sets, next_cursor: rows.length > count ? page.at(-1)!.id : null }
}
