/** Targeting criteria: whom a line item is shown to. Created, read and deleted, never updated. */
import { ApiError } from '../errors.ts'
import { ADS_LIMITS, type AdsScope, listInput } from '../http/ads.ts'
import { bool, type InputOf, id, list, required, text } from '../http/ads-input.ts'
import type { Db } from '../storage/db.ts'
import { newAdsId } from '../storage/ids.ts'
import { batchRoute, type Operation, type Outcome } from './batch.ts'
import { recordChanges } from './history.ts'
import { getLineItem } from './line-items.ts'
import type { Reference, ReferenceStore } from './reference-store.ts'
import { getRow, kind, listRows, removeRow, type Stamped } from './rows.ts'
import { validateCriteria } from './rules/criteria.ts'
import { statusOf } from './rules/problems.ts'
import { impliedPlatforms, LOCATION_TYPES, targetingRule } from './rules/targeting.ts'
import { Entity, EntityFields, STAMPS, Text, TextOrNull, wire } from './wire.ts'
import { type Write, writeRoute } from './writes.ts'

export interface CriterionRow extends Stamped {
  line_item_id: string
  targeting_type: string
  targeting_value: string
  operator_type: string
  name: string | null
  location_type: string | null
  automatic: boolean
}

declare module '../storage/db.ts' {
  interface Tables {
    targeting_criteria: CriterionRow
  }
}

export const targetingCriteria = kind<CriterionRow>(
  'targeting_criteria',
  'Targeting criterion',
  'TARGETING_CRITERION_NOT_FOUND'
)

/** `location_type` only on LOCATION, `localized_name` only when a language was asked for. */
const TargetingCriterion = Entity(
  {
    line_item_id: Text,
    name: TextOrNull,
    operator_type: Text,
    targeting_type: Text,
    targeting_value: Text,
    ...EntityFields
  },
  { location_type: Text, localized_name: TextOrNull }
)

/** Most criteria of one batch. */
export const TARGETING_BATCH_MAX = 500

function shaped({ location_type, ...row }: CriterionRow, lang?: string) {
  return {
    ...wire(row, STAMPS),
    ...(location_type === null ? {} : { location_type }),
    // The lookups are in English; there is nothing to translate them with.
    ...(lang === undefined ? {} : { localized_name: row.name })
  }
}

const snapshot = ({ location_type, ...row }: CriterionRow) => {
  const { account_id: _account, automatic: _automatic, ...sent } = wire(row, STAMPS)
  return { ...sent, ...(location_type === null ? {} : { location_type }) }
}

const entityOf = (row: CriterionRow) => ({
  account_id: row.account_id,
  entity: 'TARGETING_CRITERIA' as const,
  entity_id: row.id
})

const liveCriteria = (db: Db, accountId: string, lineItemId: string) =>
  db
    .selectFrom('targeting_criteria')
    .selectAll()
    .where('account_id', '=', accountId)
    .where('line_item_id', '=', lineItemId)
    .where('deleted', '=', false)
    .orderBy('id')
    .execute() as Promise<CriterionRow[]>

const hasCuratedCategory = async (db: Db, accountId: string, lineItemId: string) =>
  (await db
    .selectFrom('line_item_curated_categories')
    .select('id')
    .where('account_id', '=', accountId)
    .where('line_item_id', '=', lineItemId)
    .where('deleted', '=', false)
    .executeTakeFirst()) !== undefined

/** What people read: the lookup's name (of a place, with its country), the keyword itself, or what the value is. */
function labelOf({ rows }: Reference, type: string, value: string) {
  if (type === 'LOCATION') {
    const place = rows('locations').find((row) => row.targeting_value === value)
    return place && place.location_type !== 'COUNTRIES'
      ? `${place.name}, ${place.country_code}`
      : (place?.name ?? value)
  }
  const source = targetingRule(type)?.values
  if (source && 'lookup' in source) {
    const known = rows(source.lookup) as readonly { name?: string; targeting_value?: unknown; id?: string }[]
    const row = known.find((each) => String(each.targeting_value ?? each.id) === value)
    return row?.name ?? value
  }
  if (type.startsWith('CUSTOM_AUDIENCE')) return 'Custom audience targeting'
  return value
}

const locationTypeOf = ({ rows }: Reference, value: string) => {
  const location = rows('locations').find((row) => row.targeting_value === value)
  return location ? (LOCATION_TYPES[location.location_type] ?? location.location_type) : null
}

export interface NewCriterion {
  line_item_id: string
  targeting_type: string
  targeting_value: string
  operator_type?: string
}

async function insertCriteria(write: Write, reference: Reference, inputs: NewCriterion[], automatic = false) {
  if (inputs.length === 0) return []
  const { tx, account, now } = write
  const stamp = now.toISOString()
  const values = inputs.map((input) => ({
    account_id: account.id,
    id: newAdsId(),
    line_item_id: input.line_item_id,
    targeting_type: input.targeting_type,
    targeting_value: input.targeting_value,
    operator_type: input.operator_type ?? 'EQ',
    name: labelOf(reference, input.targeting_type, input.targeting_value),
    location_type: input.targeting_type === 'LOCATION' ? locationTypeOf(reference, input.targeting_value) : null,
    automatic,
    created_at: stamp,
    updated_at: stamp,
    deleted: false
  }))
  const rows = (await tx.insertInto('targeting_criteria').values(values).returningAll().execute()) as CriterionRow[]
  await recordChanges(
    write,
    rows.map((row) => ({ ...entityOf(row), after: snapshot(row) }))
  )
  return rows
}

const keyOf = ({ targeting_type, targeting_value, operator_type = 'EQ' }: NewCriterion) =>
  `${targeting_type} ${operator_type} ${targeting_value}`

/**
 * Adds criteria to one line item. A criterion that is there already is answered with what is there; later ones may rely on
 * earlier ones, and whole sets may come together.
 */
export async function addCriteria(
  write: Write,
  reference: Reference,
  lineItemId: string,
  inputs: NewCriterion[],
  batch: boolean
): Promise<Outcome<CriterionRow>> {
  const { tx, account } = write
  const lineItem = await getLineItem(tx, account.id, lineItemId)
  const existing = await liveCriteria(tx, account.id, lineItem.id)
  const known = new Map(existing.map((row) => [keyOf(row), row]))
  const added = [...new Map(inputs.map((input) => [keyOf(input), input])).values()].filter(
    (each) => !known.has(keyOf(each))
  )
  const curated = await hasCuratedCategory(tx, account.id, lineItem.id)
  const context = { lookups: reference.lookups, reference: reference.rules, curated, batch }
  const problems = new Map(validateCriteria(added, existing, context).map((each, i) => [keyOf(added[i]!), each]))
  const errors = inputs.map((input) => problems.get(keyOf(input)) ?? [])
  if (errors.some((each) => each.length > 0)) return { rows: [], errors }
  for (const row of await insertCriteria(write, reference, added)) known.set(keyOf(row), row)
  return { rows: inputs.map((input) => known.get(keyOf(input))), errors }
}

async function addCriterion(write: Write, reference: Reference, input: NewCriterion): Promise<CriterionRow> {
  const { rows, errors } = await addCriteria(write, reference, input.line_item_id, [input], false)
  if (!rows[0]) throw new ApiError(statusOf(errors[0]!), errors[0]!)
  return rows[0]
}

export async function removeCriterion(write: Write, id: string) {
  const { tx, account, now } = write
  const before = await getRow(tx, targetingCriteria, account.id, id)
  const row = await removeRow(tx, targetingCriteria, account.id, id, now)
  await recordChanges(write, [{ ...entityOf(row), before: snapshot(before), after: snapshot(row) }])
  return row
}

/** "Setting an app store id adds a PLATFORM targeting criterion automatically"; un-setting it takes that away again. */
export async function followApps(
  write: Write,
  reference: Reference,
  lineItem: { id: string; ios_app_store_identifier: string | null; android_app_store_identifier: string | null }
) {
  const { tx, account } = write
  const wanted = impliedPlatforms(lineItem).map((platform) => ({ line_item_id: lineItem.id, ...platform }))
  const existing = await liveCriteria(tx, account.id, lineItem.id)
  const known = new Set(existing.map(keyOf))
  const missing = wanted.filter((criterion) => !known.has(keyOf(criterion)))
  await insertCriteria(write, reference, missing, true)
  for (const row of existing) {
    const stale = row.automatic && !wanted.some((criterion) => keyOf(criterion) === keyOf(row))
    if (stale) await removeCriterion(write, row.id)
  }
}

const criterionInput = {
  line_item_id: required(id()),
  targeting_type: required(text({ max: 100 })),
  targeting_value: required(text({ max: 500 })),
  operator_type: text({ max: 10 })
}
const criterionId = { targeting_criterion_id: required(id()) }

const PATH = '/accounts/:account_id/targeting_criteria'
const ONE = `${PATH}/:targeting_criterion_id`
const lang = text({ min: 2, max: 2 })

export function targetingCriteriaRoutes(scope: AdsScope, reference: ReferenceStore) {
  const { database } = scope.deps
  const common = { output: TargetingCriterion, extension: true }

  scope.route({
    ...common,
    method: 'GET',
    path: PATH,
    summary: 'Targeting criteria of line items.',
    input: { ...listInput, line_item_ids: required(list(id())), targeting_criterion_ids: list(id()), lang },
    many: true,
    operation: 'campaigns.read',
    limit: ADS_LIMITS.coreReads,
    handler: async ({ path, input }) => {
      const where = { line_item_id: input.line_item_ids, id: input.targeting_criterion_ids }
      const page = await listRows(database, targetingCriteria, path.account_id!, input, { where })
      return { ...page, rows: page.rows.map((row) => shaped(row, input.lang)) }
    }
  })

  scope.route({
    ...common,
    method: 'GET',
    path: ONE,
    summary: 'One targeting criterion.',
    input: { with_deleted: bool(), lang },
    operation: 'campaigns.read',
    limit: ADS_LIMITS.coreReads,
    handler: async ({ path, input }) =>
      shaped(
        await getRow(database, targetingCriteria, path.account_id!, path.targeting_criterion_id!, {
          withDeleted: input.with_deleted
        }),
        input.lang
      )
  })

  writeRoute(scope, {
    ...common,
    method: 'POST',
    path: PATH,
    summary: 'Add a targeting criterion to a line item.',
    input: criterionInput,
    operation: 'campaigns.write',
    handler: async (write) => shaped(await addCriterion(write, await reference.load(), write.input))
  })

  writeRoute(scope, {
    ...common,
    method: 'DELETE',
    path: ONE,
    summary: 'Delete a targeting criterion.',
    operation: 'campaigns.write',
    handler: async (write) => shaped(await removeCriterion(write, write.path.targeting_criterion_id!))
  })
}

/** Deletes first, so that what they free is free; then the new ones of each line item together. */
async function runBatch(write: Write, reference: Reference, operations: (Operation | undefined)[]) {
  const outcome: Outcome<CriterionRow> = { rows: [], errors: operations.map(() => []) }
  const attempt = async (indexes: number[], act: () => Promise<Outcome<CriterionRow>>) => {
    try {
      const { rows, errors } = await act()
      for (const [position, index] of indexes.entries()) {
        outcome.rows[index] = rows[position]
        outcome.errors[index] = errors[position] ?? []
      }
    } catch (error) {
      if (!(error instanceof ApiError)) throw error
      for (const index of indexes) outcome.errors[index] = error.items
    }
  }
  const creates = new Map<string, number[]>()
  for (const [index, operation] of operations.entries()) {
    if (operation?.operation_type === 'Create') {
      const lineItemId = (operation.input as unknown as NewCriterion).line_item_id
      creates.set(lineItemId, [...(creates.get(lineItemId) ?? []), index])
    } else if (operation) {
      const { targeting_criterion_id } = operation.input as InputOf<typeof criterionId>
      await attempt([index], async () => ({ rows: [await removeCriterion(write, targeting_criterion_id)], errors: [] }))
    }
  }
  for (const [lineItemId, indexes] of creates) {
    const inputs = indexes.map((index) => operations[index]!.input as unknown as NewCriterion)
    await attempt(indexes, () => addCriteria(write, reference, lineItemId, inputs, true))
  }
  return outcome
}

export function targetingBatch(scope: AdsScope, reference: ReferenceStore) {
  batchRoute<CriterionRow>(scope, {
    path: '/batch/accounts/:account_id/targeting_criteria',
    summary: 'Create and delete up to 500 targeting criteria, all or none.',
    max: TARGETING_BATCH_MAX,
    output: TargetingCriterion,
    data_type: 'targeting_criterion',
    operation: 'campaigns.write',
    extension: true,
    inputs: { Create: criterionInput, Delete: criterionId },
    run: async (write, operations) => runBatch(write, await reference.load(), operations),
    answer: async (_write, rows) => rows.map((row) => shaped(row))
  })
}
