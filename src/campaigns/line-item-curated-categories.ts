/** Line item curated categories: the one curated category in which a line item's video ads run. */
import { ApiError } from '../errors.ts'
import { type AdsScope, listInput } from '../http/ads.ts'
import { bool, id, required } from '../http/ads-input.ts'
import type { Db } from '../storage/db.ts'
import { newAdsId } from '../storage/ids.ts'
import { getLineItem } from './line-items.ts'
import type { Reference, ReferenceStore } from './reference-store.ts'
import { getRow, insertRow, kind, listWire, removeRow, type Stamped, updateRow } from './rows.ts'
import { invalid } from './rules/problems.ts'
import { Entity, EntityFields, STAMPS, Text, wire } from './wire.ts'
import { type Write, writeRoute } from './writes.ts'

export interface CuratedRow extends Stamped {
  line_item_id: string
  curated_category_id: string
}

declare module '../storage/db.ts' {
  interface Tables {
    line_item_curated_categories: CuratedRow
  }
}

export const lineItemCuratedCategories = kind<CuratedRow>('line_item_curated_categories', 'Line item curated category')
const LineItemCuratedCategory = Entity({ line_item_id: Text, curated_category_id: Text, ...EntityFields })

/** "Must already target a country of that category"; "curated and content categories are exclusive". See decisions/0060. */
async function check(
  db: Db,
  { rows, lookups }: Reference,
  row: Pick<CuratedRow, 'account_id' | 'line_item_id' | 'curated_category_id'>,
  self?: string
) {
  await getLineItem(db, row.account_id, row.line_item_id)
  const category = rows('curated_categories').find((each) => each.id === row.curated_category_id)
  if (!category) {
    const message = `Curated category ${row.curated_category_id} was not found`
    throw new ApiError(404, [{ code: 'NOT_FOUND', message, parameter: 'curated_category_id' }])
  }
  const other = await db
    .selectFrom('line_item_curated_categories')
    .select('id')
    .where('account_id', '=', row.account_id)
    .where('line_item_id', '=', row.line_item_id)
    .where('deleted', '=', false)
    .where('id', '!=', self ?? '')
    .executeTakeFirst()
  const problems = []
  if (other) {
    const message = `Line item ${row.line_item_id} has a curated category already (${other.id}); it may have one`
    problems.push(invalid('line_item_id', message))
  }
  const criteria = await db
    .selectFrom('targeting_criteria')
    .select(['targeting_type', 'targeting_value', 'operator_type'])
    .where('account_id', '=', row.account_id)
    .where('line_item_id', '=', row.line_item_id)
    .where('targeting_type', 'in', ['LOCATION', 'IAB_CATEGORY'])
    .where('deleted', '=', false)
    .execute()
  if (criteria.some((each) => each.targeting_type === 'IAB_CATEGORY')) {
    const message = 'A line item takes either a curated category or content categories'
    problems.push(invalid('curated_category_id', message))
  }
  const countries = criteria
    .filter((each) => each.targeting_type === 'LOCATION' && each.operator_type === 'EQ')
    .map((each) => lookups.countryOf(each.targeting_value))
  if (!category.country_codes.some((code) => countries.includes(code))) {
    const message = `The line item must target one of ${category.country_codes.join(', ')}, where the category is available`
    problems.push(invalid('curated_category_id', message))
  }
  if (problems.length > 0) throw new ApiError(400, problems)
}

async function create(
  { tx, account, now }: Write,
  reference: Reference,
  input: { line_item_id: string; curated_category_id: string }
) {
  const row = { account_id: account.id, ...input }
  await check(tx, reference, row)
  const stamp = now.toISOString()
  return insertRow(tx, lineItemCuratedCategories, { ...row, id: newAdsId(), created_at: stamp, updated_at: stamp })
}

async function update(
  { tx, account, now }: Write,
  reference: Reference,
  id: string,
  input: { line_item_id?: string; curated_category_id?: string }
) {
  const current = await getRow(tx, lineItemCuratedCategories, account.id, id, { lock: true })
  const next = { ...current, ...input }
  if (next.line_item_id === current.line_item_id && next.curated_category_id === current.curated_category_id) {
    return current
  }
  await check(tx, reference, next, id)
  return updateRow(tx, lineItemCuratedCategories, current, { ...input, updated_at: now.toISOString() })
}

const PATH = '/accounts/:account_id/line_item_curated_categories'
const ONE = `${PATH}/:line_item_curated_category_id`

export function lineItemCuratedCategoryRoutes(scope: AdsScope, reference: ReferenceStore) {
  const { database } = scope.deps
  const idOf = (path: Record<string, string>) => path.line_item_curated_category_id!
  const common = { output: LineItemCuratedCategory }

  scope.route({
    ...common,
    method: 'GET',
    path: PATH,
    summary: 'Curated categories of line items.',
    input: listInput,
    many: true,
    operation: 'campaigns.read',
    handler: ({ path, input }) => listWire(database, lineItemCuratedCategories, path.account_id!, input)
  })
  scope.route({
    ...common,
    method: 'GET',
    path: ONE,
    summary: 'One curated category of a line item.',
    input: { with_deleted: bool() },
    operation: 'campaigns.read',
    handler: async ({ path, input }) => {
      const options = { withDeleted: input.with_deleted }
      return wire(await getRow(database, lineItemCuratedCategories, path.account_id!, idOf(path), options), STAMPS)
    }
  })
  writeRoute(scope, {
    ...common,
    method: 'POST',
    path: PATH,
    summary: 'Put a line item into a curated category.',
    input: { curated_category_id: required(id()), line_item_id: required(id()) },
    operation: 'campaigns.write',
    handler: async (write) => wire(await create(write, await reference.load(), write.input), STAMPS)
  })
  writeRoute(scope, {
    ...common,
    method: 'PUT',
    path: ONE,
    summary: 'Change the category, or move it to another line item.',
    input: { curated_category_id: id(), line_item_id: id() },
    operation: 'campaigns.write',
    handler: async (write) => wire(await update(write, await reference.load(), idOf(write.path), write.input), STAMPS)
  })
  writeRoute(scope, {
    ...common,
    method: 'DELETE',
    path: ONE,
    summary: 'Take a line item out of its curated category.',
    operation: 'campaigns.write',
    handler: async ({ tx, now, path }) =>
      wire(await removeRow(tx, lineItemCuratedCategories, path.account_id!, idOf(path), now), STAMPS)
  })
}
