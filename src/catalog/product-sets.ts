/** Product sets: parts of a catalog that ads are run on, picked by hand (MANUAL) or by filters (FILTERED). */
import { Readable } from 'node:stream'
import { sql } from 'kysely'
import { ApiError, badRequest, badRequests, type ErrorItem, notFound } from '../errors.ts'
import type { AdsContext, AdsScope } from '../http/ads.ts'
import { about, choice, clearable, int, json, list, Refused, required, text } from '../http/ads-input.ts'
import type { Db, Tx } from '../storage/db.ts'
import { newId } from '../storage/ids.ts'
import { cancelJob, enqueue } from '../storage/jobs.ts'
import { checkFilters, FILTER_ATTRIBUTES, FILTER_OPERATORS, FILTERS_MAX, type ProductFilter } from './filters.ts'
import { PURGE_SET } from './purge.ts'
import { CATALOG, type CatalogRow, catalogRoute, echoId } from './routes.ts'
import { COMPUTE_SET, queueSets } from './set-job.ts'
import { compileStored, computeMembers, listMembers } from './set-members.ts'
import { SET_STATUSES, type SetStatus } from './set-states.ts'
import { lockCatalog, transact } from './transactions.ts'
import { Int, Text, TextOrNull, Texts, Whole } from './wire.ts'

/** "Manual product sets: up to 50 products." */
const MANUAL_PRODUCTS_MAX = 50
const NAME_CHARS_MAX = 255
const DESCRIPTION_CHARS_MAX = 1_000
const SET_TYPES = ['MANUAL', 'FILTERED'] as const
/** Sets with more products than this are answered as a stream, a page of ids at a time. */
const IDS_IN_MEMORY_MAX = 10_000
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

const Filter = Whole({ attribute: Text, operator: Text, value: Text })
const SetFields = {
  id: Text,
  name: Text,
  description: TextOrNull,
  type: { type: 'string', enum: [...SET_TYPES] },
  filters: { type: 'array', items: Filter },
  product_ids: Texts,
  processing_status: { type: 'string', enum: [...SET_STATUSES] }
}
const ProductSet = Whole(SetFields)
const ListedSet = Whole({ ...SetFields, product_count: Int })
const SetMember = Whole({ product_key: Text, id: Text })

const filters = json(
  {
    type: 'array',
    maxItems: FILTERS_MAX,
    items: {
      type: 'object',
      required: ['attribute', 'operator', 'value'],
      properties: {
        attribute: { type: 'string', enum: FILTER_ATTRIBUTES },
        operator: { type: 'string', enum: [...FILTER_OPERATORS] },
        value: { type: 'string' }
      }
    }
  },
  (raw): ProductFilter[] => {
    if (Array.isArray(raw) && raw.length === 0) return []
    const checked = checkFilters(raw)
    if (checked.issues.length > 0) throw new Refused(checked.issues.map(({ message }) => message).join(' '))
    return checked.filters
  }
)
const name = text({ max: NAME_CHARS_MAX, refuseEmpty: true })
const description = clearable(text({ max: DESCRIPTION_CHARS_MAX }))
const productKeys = list(text({ max: 100 }), { min: 0, max: MANUAL_PRODUCTS_MAX })

const setNotFound = (id: string) => notFound('NOT_FOUND', `Product set ${id} was not found`)

async function findSet(db: Db, catalogId: string, id: string, lock = false): Promise<ProductSetRow> {
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
  const missing = (parameter: string) =>
    errors.push({ code: 'MISSING_PARAMETER', message: `"${parameter}" is a required parameter`, parameter })
  const hasKeys = product_keys !== undefined && product_keys.length > 0
  if (filters.length > 0 && hasKeys) {
    errors.push({ code: 'EXCLUSIVE_PARAMETERS', message: 'filters and product_keys are exclusive parameters' })
  } else if (type === 'FILTERED' && filters.length === 0) missing('filters')
  else if (type === 'MANUAL' && product_keys === undefined) missing('product_keys')
  else if (type === 'MANUAL' && !hasKeys) errors.push(noKeys)
  if (errors.length > 0) throw badRequests(errors)
}

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

/** Permanent. */
export async function deleteProductSet(db: Db, catalogId: string, id: string) {
  return transact(db, async (tx) => {
    const set = await findSet(tx, catalogId, id, true)
    const members = set.type === 'MANUAL' ? await listMembers(tx, catalogId, id, '', MANUAL_PRODUCTS_MAX) : []
    await tx.deleteFrom('product_sets').where('catalog_id', '=', catalogId).where('id', '=', id).execute()
    await cancelJob(tx, COMPUTE_SET, id)
    await enqueue(tx, PURGE_SET, { catalog_id: catalogId, set_id: id }, { key: id })
    return { ...set, product_ids: members.map((member) => member.id) }
  })
}

/** The set with the ids of all its products; as a stream when they are many. */
async function answer(db: Db, set: ProductSetRow, { req }: Pick<AdsContext<unknown>, 'req'>) {
  const first = await listMembers(db, set.catalog_id, set.id, '', IDS_IN_MEMORY_MAX + 1)
  if (first.length <= IDS_IN_MEMORY_MAX) return { ...set, product_ids: first.map((member) => member.id) }
  const { catalog_id, ...shown } = set
  const open = (value: object) => JSON.stringify(value).slice(0, -1)
  async function* text() {
    yield `${open({ request: { params: req.adsEcho } })},"data":${open(shown)},"product_ids":[`
    for (let page = first, separator = ''; page.length > 0; separator = ',') {
      yield separator + page.map((member) => JSON.stringify(member.id)).join(',')
      page = await listMembers(db, catalog_id, set.id, page.at(-1)!.product_key, IDS_IN_MEMORY_MAX)
    }
    yield ']}}'
  }
  return Readable.from(text(), { objectMode: false })
}

async function listSets(
  db: Db,
  catalog: CatalogRow,
  { count = 100, cursor = '' }: { count?: number; cursor?: string }
) {
  if (!/^[0-9]{0,19}$/.test(cursor))
    throw badRequest('INVALID_PARAMETER', 'The cursor does not belong to this request', { parameter: 'cursor' })
  const { rows } = await sql<ProductSetRow & { product_count: number }>`
    select catalog_id, id, name, description, type, filters, processing_status, (
      select count(*)::int from product_set_members m where m.catalog_id = s.catalog_id and m.set_id = s.id
    ) as product_count
    from product_sets s where catalog_id = ${catalog.id} and id > ${cursor} order by id limit ${count + 1}`.execute(db)
  const page = rows.slice(0, count)
  const sets = []
  for (const set of page) {
    const members = await listMembers(db, catalog.id, set.id, '', IDS_LISTED_MAX)
    sets.push({ ...set, product_ids: members.map((member) => member.id) })
  }
  return { rows: sets, next_cursor: rows.length > count ? page.at(-1)!.id : null }
}

const PATH = `${CATALOG}/product_sets`
const ONE = `${PATH}/:product_set_id`

export function productSetRoutes(scope: AdsScope) {
  const { database, clock, config } = scope.deps
  const { db } = database
  const limits = {
    computedAtOnceMax: config.HERALD_PRODUCT_SET_AT_ONCE_MAX,
    setsMax: config.HERALD_PRODUCT_SETS_PER_CATALOG_MAX
  }
  const shared = { resource: 'product_sets', echo: echoId('product_set_id') } as const

  catalogRoute(scope, {
    ...shared,
    method: 'GET',
    path: PATH,
    summary: 'Product sets of a catalog, each with its first product ids and how many there are.',
    input: { count: int({ min: 1, max: 200 }), cursor: text({ max: 100 }) },
    output: ListedSet,
    many: true,
    extension: true,
    handler: ({ catalog, input }) => listSets(db, catalog, input)
  })

  catalogRoute(scope, {
    ...shared,
    method: 'GET',
    path: ONE,
    summary: 'One product set.',
    output: ProductSet,
    handler: async (ctx) => answer(db, await findSet(db, ctx.catalog.id, ctx.path.product_set_id!), ctx)
  })

  catalogRoute(scope, {
    ...shared,
    method: 'GET',
    path: `${ONE}/products`,
    summary: 'Products of a set, page by page.',
    input: { count: int({ min: 1, max: 1_000 }), cursor: text({ max: 100 }) },
    output: SetMember,
    many: true,
    extension: true,
    handler: async ({ catalog, path, input: { count = 100, cursor = '' } }) => {
      const set = await findSet(db, catalog.id, path.product_set_id!)
      const rows = await listMembers(db, catalog.id, set.id, cursor, count + 1)
      const page = rows.slice(0, count)
      return { rows: page, next_cursor: rows.length > count ? page.at(-1)!.product_key : null }
    }
  })

  catalogRoute(scope, {
    ...shared,
    method: 'POST',
    path: PATH,
    summary: 'Create a product set.',
    input: {
      name: required(name),
      description,
      type: required(choice(SET_TYPES)),
      filters: about(filters, 'Required when type is FILTERED; all of them must hold.'),
      product_keys: about(productKeys, 'Required when type is MANUAL; at most 50.')
    },
    output: ProductSet,
    handler: async (ctx) =>
      answer(db, await createProductSet(db, ctx.catalog.id, ctx.input, limits, new Date(clock.now())), ctx)
  })

  catalogRoute(scope, {
    ...shared,
    method: 'PUT',
    path: ONE,
    summary: 'Change a MANUAL product set.',
    input: { name, description, product_keys: productKeys },
    output: ProductSet,
    handler: async (ctx) => {
      const { catalog, path, input } = ctx
      return answer(db, await updateProductSet(db, catalog.id, path.product_set_id!, input, new Date(clock.now())), ctx)
    }
  })

  catalogRoute(scope, {
    ...shared,
    method: 'DELETE',
    path: ONE,
    summary: 'Delete a product set.',
    output: ProductSet,
    handler: ({ catalog, path }) => deleteProductSet(db, catalog.id, path.product_set_id!)
  })
}
