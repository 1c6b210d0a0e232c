/** Funding instruments: where the money of campaigns comes from. Made and removed by their users only in the sandbox. */
import { ApiError } from '../errors.ts'
import { ADS_LIMITS, type AdsScope, type Environment, listInput } from '../http/ads.ts'
import { bool, id, list } from '../http/ads-input.ts'
import type { Db } from '../storage/db.ts'
import { newAdsId } from '../storage/ids.ts'
import type { ReferenceStore } from './reference-store.ts'
import { getRow, insertRow, kind, listRows, removeRow, SORTABLE, type Stamped } from './rows.ts'
import { type FundingType, fundingRule } from './rules/budgets.ts'
import { validateFundingInstrument } from './rules/funding-instruments.ts'
import { fundingInstrumentCreate } from './rules/inputs.ts'
import { statusOf } from './rules/problems.ts'
import { creditRemaining, type FundingFacts, fundingReasons } from './rules/statuses.ts'
import { Bool, Entity, EntityFields, LongOrNull, STAMPS, Text, TextOrNull, Texts, wire } from './wire.ts'
import { writeRoute } from './writes.ts'

export interface FundingInstrumentRow extends Stamped, FundingFacts {
  type: FundingType
  description: string | null
  currency: string
  io_header: string | null
  spend_local_micro: bigint
}

declare module '../storage/db.ts' {
  interface Tables {
    funding_instruments: FundingInstrumentRow
  }
}

export const FUNDING_SORTABLE = [...SORTABLE, 'funded_amount_local_micro', 'start_time', 'end_time'] as const

export const fundingInstruments = kind<FundingInstrumentRow>(
  'funding_instruments',
  'Funding instrument',
  'FUNDING_INSTRUMENT_NOT_FOUND',
  {
    sortable: FUNDING_SORTABLE,
    nullable: ['funded_amount_local_micro', 'end_time'],
    times: [...STAMPS, 'start_time', 'end_time']
  }
)

const FundingInstrument = Entity({
  start_time: Text,
  description: TextOrNull,
  credit_limit_local_micro: LongOrNull,
  end_time: TextOrNull,
  id: Text,
  entity_status: Text,
  account_id: Text,
  reasons_not_able_to_fund: Texts,
  io_header: TextOrNull,
  currency: Text,
  funded_amount_local_micro: LongOrNull,
  created_at: Text,
  type: Text,
  able_to_fund: Bool,
  updated_at: Text,
  credit_remaining_local_micro: LongOrNull,
  deleted: EntityFields.deleted
})

/** What is derived is derived here, from the row and the clock. */
function shaped(row: FundingInstrumentRow, environment: Environment, now: number) {
  const reasons = fundingReasons(row, now)
  return {
    ...wire(row, fundingInstruments.times),
    reasons_not_able_to_fund: reasons,
    able_to_fund: reasons.length === 0,
    // Nothing is spent in the sandbox, and its instruments show no credit.
    credit_remaining_local_micro: environment === 'sandbox' ? null : creditRemaining(row)
  }
}

/** What the sandbox says about a way to pay that nobody has set up. */
export const NO_PAYMENT_METHOD = '(no payment method has been set up yet)'

export interface NewFundingInstrument {
  currency: string
  /** ISO 8601. */
  start_time: string
  end_time?: string | null
  type: FundingType
  credit_limit_local_micro?: bigint | null
  funded_amount_local_micro?: bigint | null
  description?: string | null
  io_header?: string | null
}

/** For callers that have checked their input; amounts that do not apply to the type are not kept. */
export async function createFundingInstrument(db: Db, accountId: string, input: NewFundingInstrument, now: Date) {
  const applies = fundingRule(input.type)!
  const stamp = now.toISOString()
  return insertRow(db, fundingInstruments, {
    account_id: accountId,
    id: newAdsId(),
    type: input.type,
    description: input.description === undefined ? NO_PAYMENT_METHOD : input.description,
    entity_status: 'ACTIVE',
    currency: input.currency,
    start_time: input.start_time,
    end_time: input.end_time ?? null,
    credit_limit_local_micro: (applies.creditLimit && input.credit_limit_local_micro) || null,
    funded_amount_local_micro: (applies.fundedAmount && input.funded_amount_local_micro) || null,
    io_header: input.io_header ?? null,
    created_at: stamp,
    updated_at: stamp
  })
}

const PATH = '/accounts/:account_id/funding_instruments'
const ONE = `${PATH}/:funding_instrument_id`

export function fundingInstrumentRoutes(scope: AdsScope, reference: ReferenceStore) {
  const { database, clock } = scope.deps
  const shape = (row: FundingInstrumentRow) => shaped(row, scope.environment, clock.now())

  scope.route({
    method: 'GET',
    path: PATH,
    summary: 'Funding instruments of the account.',
    input: { ...listInput, funding_instrument_ids: list(id()) },
    output: FundingInstrument,
    many: true,
    operation: 'campaigns.read',
    limit: ADS_LIMITS.accountReads,
    handler: async ({ path, input }) => {
      const where = { id: input.funding_instrument_ids }
      const page = await listRows(database, fundingInstruments, path.account_id!, input, { where })
      return { ...page, rows: page.rows.map(shape) }
    }
  })

  scope.route({
    method: 'GET',
    path: ONE,
    summary: 'One funding instrument.',
    input: { with_deleted: bool() },
    output: FundingInstrument,
    operation: 'campaigns.read',
    handler: async ({ path, input }) =>
      shape(
        await getRow(database, fundingInstruments, path.account_id!, path.funding_instrument_id!, {
          withDeleted: input.with_deleted
        })
      )
  })

  writeRoute(scope, {
    method: 'POST',
    path: PATH,
    summary: 'Create a funding instrument in a sandbox account.',
    input: fundingInstrumentCreate,
    output: FundingInstrument,
    operation: 'campaigns.write',
    sandboxOnly: true,
    handler: async ({ tx, now, path, input }) => {
      const problems = validateFundingInstrument(input, (await reference.load()).rules)
      if (problems.length > 0) throw new ApiError(statusOf(problems), problems)
      return shape(
        await createFundingInstrument(tx, path.account_id!, { ...input, type: input.type as FundingType }, now)
      )
    }
  })

  writeRoute(scope, {
    method: 'DELETE',
    path: ONE,
    summary: 'Delete a funding instrument of a sandbox account.',
    output: FundingInstrument,
    operation: 'campaigns.write',
    sandboxOnly: true,
    handler: async ({ tx, now, path }) =>
      shape(await removeRow(tx, fundingInstruments, path.account_id!, path.funding_instrument_id!, now))
  })
}
