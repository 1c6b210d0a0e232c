/** Routes of product sets, and how a set looks in answers. */
import { Readable } from 'node:stream'
import type { AdsContext, AdsScope } from '../http/ads.ts'
import { about, choice, clearable, int, json, list, Refused, required, text } from '../http/ads-input.ts'
import type { Db } from '../storage/db.ts'
import { checkFilters, FILTER_ATTRIBUTES, FILTER_OPERATORS, FILTERS_MAX, type ProductFilter } from './filters.ts'
import {
  createProductSet,
  deleteProductSet,
  findSet,
  listSets,
  MANUAL_PRODUCTS_MAX,
  type ProductSetRow,
  SET_TYPES,
  updateProductSet
} from './product-sets.ts'
import { CATALOG, catalogRoute, echoId, keyCursor } from './routes.ts'
import { listMemberProducts, listMembers } from './set-members.ts'
import { SET_STATUSES } from './set-states.ts'
import { Bool, Int, Text, TextOrNull, Texts, Whole } from './wire.ts'

const NAME_CHARS_MAX = 255
const DESCRIPTION_CHARS_MAX = 1_000
/** Sets with more products than this are answered as a stream, a page of ids at a time. */
const IDS_IN_MEMORY_MAX = 10_000

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
const ListedSet = Whole({ ...SetFields, product_count: Int, counted_to_end: Bool })
const SetMember = Whole({ product_key: Text, id: Text, title: Text, price: Text, availability: Text, image_link: Text })

export const filters = json(
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
    input: {
      count: int({ min: 1, max: 200 }),
      cursor: keyCursor(),
      count_up_to: about(int({ min: 1, max: 10_000_000 }), 'Count no more products of a set than this; all by default.')
    },
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
    input: { count: int({ min: 1, max: 1_000 }), cursor: keyCursor() },
    output: SetMember,
    many: true,
    extension: true,
    handler: async ({ catalog, path, input: { count = 100, cursor = '' } }) => {
      const set = await findSet(db, catalog.id, path.product_set_id!)
      const rows = await listMemberProducts(db, catalog.id, set.id, cursor, count + 1)
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
    jsonBody: true,
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
    handler: ({ catalog, path }) => deleteProductSet(db, catalog.id, path.product_set_id!, clock.now())
  })
}
