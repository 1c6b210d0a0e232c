/** /admin/ad_accounts/:account_id/…: what only the operator knows or makes: funding, spend, reviews, media, apps, users. */
import type { FastifyInstance } from 'fastify'
import { type Static, type TSchema, Type } from 'typebox'
import type { Deps } from '../deps.ts'
import { badRequest, conflict } from '../errors.ts'
import { Data, Id, Timestamp } from '../http/v2.ts'
import { type Db, violatedConstraint } from '../storage/db.ts'
import { newAdsId, newId } from '../storage/ids.ts'
import { accountApps, accountMedia, promotableUsers } from './account-rows.ts'
import { APPROVAL_STATUSES } from './accounts.ts'
import { AccountPath, AdsId, about, closed, NullableText, operatorsAccount, Row } from './admin-shapes.ts'
import { campaigns } from './campaigns.ts'
import { createFundingInstrument, fundingInstruments } from './funding-instruments.ts'
import { type Change, recordChanges } from './history.ts'
import { lineItems } from './line-items.ts'
import { mediaCreatives } from './media-creatives.ts'
import { promotedAccountChange, promotedAccounts } from './promoted-accounts.ts'
import { promotedTweetChange, promotedTweets } from './promoted-tweets.ts'
import { getRow, insertRow, type Kind, removeRow, type Stamped, updateRow } from './rows.ts'
import { FUNDING_TYPE_NAMES } from './rules/budgets.ts'
import { CREATIVE_TYPE_NAMES } from './rules/media-creatives.ts'
import { type Actor, transactOn } from './writes.ts'

const Amount = Type.Union([Type.Integer({ minimum: 0 }), Type.String({ pattern: '^[0-9]{1,18}$' })])
const NullableLong = Type.Unsafe<bigint | null>({ type: 'integer', nullable: true })
const Approval = Type.Enum([...APPROVAL_STATUSES])
const RowPath = Type.Object({ account_id: AdsId, id: AdsId })

const NewFundingInstrument = Type.Object(
  {
    type: Type.Enum([...FUNDING_TYPE_NAMES]),
    currency: Type.String({ pattern: '^[A-Z]{3}$' }),
    start_time: Type.String({ format: 'date-time' }),
    end_time: Type.Optional(Type.String({ format: 'date-time' })),
    credit_limit_local_micro: Type.Optional(Amount),
    funded_amount_local_micro: Type.Optional(Amount),
    description: Type.Optional(Type.String({ maxLength: 255 })),
    io_header: Type.Optional(Type.String({ maxLength: 255 }))
  },
  closed
)
const FundingPatch = Type.Object(
  {
    entity_status: Type.Optional(Type.Enum(['ACTIVE', 'PAUSED'])),
    spend_local_micro: Type.Optional(Amount),
    credit_card_status: Type.Optional(
      Type.Unsafe<string | null>({ type: 'string', nullable: true, enum: ['APPROVAL_PENDING', 'REJECTED', 'DELETED'] })
    ),
    description: Type.Optional(Type.String({ maxLength: 255 }))
  },
  closed
)
const Funding = Type.Object({
  id: Type.String(),
  account_id: Type.String(),
  type: Type.String(),
  currency: Type.String(),
  entity_status: Type.String(),
  start_time: Timestamp,
  end_time: NullableText,
  credit_limit_local_micro: NullableLong,
  funded_amount_local_micro: NullableLong,
  spend_local_micro: NullableLong,
  credit_card_status: NullableText,
  description: NullableText,
  deleted: Type.Boolean()
})

const Spend = Type.Object({ spend_local_micro: Amount }, closed)
const SpentOn = Type.Object({ id: Type.String(), spend_local_micro: NullableLong })
const Review = Type.Object({ approval_status: Approval }, closed)
const Reviewed = Type.Object({ id: Type.String(), approval_status: Approval })

const NewPromotableUser = Type.Object({ user_id: Id }, closed)
const NewAccountApp = Type.Object(
  {
    app_store_identifier: Type.String({ minLength: 1, maxLength: 255 }),
    os_type: Type.Enum(['Android', 'iOS']),
    deep_link_pattern: Type.Optional(Type.String({ maxLength: 255 })),
    conversion_tracking_enabled: Type.Optional(Type.Boolean())
  },
  closed
)
const NewAccountMedia = Type.Object(
  {
    creative_type: Type.Enum([...CREATIVE_TYPE_NAMES]),
    media_url: Type.Optional(Type.String({ maxLength: 2_000, pattern: '^https?://' })),
    video_id: Type.Optional(Id)
  },
  closed
)

/** Changes that the operator makes are nobody's in particular. */
const OPERATOR: Actor = { user_id: '0', app_id: null, platform: 'OPERATOR' }

/** Kinds differ in their rows; the operator's calls treat them alike. */
const anyRow = (of: { table: string }) => of as unknown as Kind<Stamped>

export function adRowAdminRoutes(app: FastifyInstance, deps: Deps) {
  const { db } = deps.database
  const now = () => new Date(deps.clock.now())

  app.post<{ Params: Static<typeof AccountPath>; Body: Static<typeof NewFundingInstrument> }>(
    '/ad_accounts/:account_id/funding_instruments',
    {
      schema: {
        ...about('Create a funding instrument, in either environment.'),
        params: AccountPath,
        body: NewFundingInstrument,
        response: Data(Funding)
      }
    },
    async (req) => {
      const { id } = await operatorsAccount(db, req.params.account_id)
      const { credit_limit_local_micro, funded_amount_local_micro, ...input } = req.body
      return {
        data: await createFundingInstrument(
          db,
          id,
          {
            description: null,
            ...input,
            credit_limit_local_micro: amount(credit_limit_local_micro),
            funded_amount_local_micro: amount(funded_amount_local_micro)
          } as Parameters<typeof createFundingInstrument>[2],
          now()
        )
      }
    }
  )
  app.put<{ Params: Static<typeof RowPath>; Body: Static<typeof FundingPatch> }>(
    '/ad_accounts/:account_id/funding_instruments/:id',
    {
      schema: {
        ...about('Change what the operator knows about a funding instrument, such as what was spent.'),
        params: RowPath,
        body: FundingPatch,
        response: Data(Funding)
      }
    },
    async (req) => {
      const { spend_local_micro, ...patch } = req.body
      const spend = spend_local_micro === undefined ? {} : { spend_local_micro: BigInt(spend_local_micro) }
      return { data: await change(db, fundingInstruments, req.params, { ...patch, ...spend } as object, now()) }
    }
  )

  for (const [name, of] of [
    ['campaigns', campaigns],
    ['line_items', lineItems]
  ] as const) {
    app.put<{ Params: Static<typeof RowPath>; Body: Static<typeof Spend> }>(
      `/ad_accounts/:account_id/${name}/:id/spend`,
      {
        schema: {
          ...about(`Tell what one of the ${name} has spent.`),
          params: RowPath,
          body: Spend,
          response: Data(SpentOn)
        }
      },
      // What was spent is no change of the entity: updated_at stays.
      async (req) => {
        const spend = { spend_local_micro: BigInt(req.body.spend_local_micro) }
        return { data: await change(db, anyRow(of), req.params, spend as object) }
      }
    )
  }
  /** A review is a change like any other: it shows in the history of the entities that have one. */
  const review = (
    { account_id, id }: Static<typeof RowPath>,
    of: Kind<Stamped>,
    approval_status: string,
    historyOf: ((before: never, after: never) => Change) | undefined
  ) =>
    transactOn(db, account_id, false, async (tx) => {
      const before = await getRow(tx, of, account_id, id, { withDeleted: true })
      const after = await change(tx, of, { account_id, id }, { approval_status }, now())
      const changes = historyOf ? [historyOf(before as never, after as never)] : []
      await recordChanges({ tx, actor: OPERATOR, now: now() }, changes)
      return after
    })
  for (const [name, of, historyOf] of [
    ['promoted_tweets', promotedTweets, promotedTweetChange],
    ['promoted_accounts', promotedAccounts, promotedAccountChange],
    ['media_creatives', mediaCreatives, undefined]
  ] as const) {
    app.put<{ Params: Static<typeof RowPath>; Body: Static<typeof Review> }>(
      `/ad_accounts/:account_id/${name}/:id/review`,
      {
        schema: {
          ...about(`Accept or reject one of the ${name}.`),
          params: RowPath,
          body: Review,
          response: Data(Reviewed)
        }
      },
      async (req) => ({ data: await review(req.params, anyRow(of), req.body.approval_status, historyOf) })
    )
  }

  const made = (of: { table: string }, body: TSchema, values: (input: never) => object) => {
    const name = of.table
    app.post<{ Params: Static<typeof AccountPath>; Body: object }>(
      `/ad_accounts/:account_id/${name}`,
      { schema: { ...about(`Add to the ${name} of an account.`), params: AccountPath, body, response: Data(Row) } },
      async (req) => {
        const { id } = await operatorsAccount(db, req.params.account_id)
        const stamp = now().toISOString()
        const row = { account_id: id, id: newAdsId(), created_at: stamp, updated_at: stamp }
        return { data: await insertRow(db, anyRow(of), { ...row, ...values(req.body as never) }).catch(taken) }
      }
    )
    app.delete<{ Params: Static<typeof RowPath> }>(
      `/ad_accounts/:account_id/${name}/:id`,
      { schema: { ...about(`Take from the ${name} of an account.`), params: RowPath, response: Data(Row) } },
      async (req) => ({ data: await removeRow(db, anyRow(of), req.params.account_id, req.params.id, now()) })
    )
  }
  made(promotableUsers, NewPromotableUser, (input: Static<typeof NewPromotableUser>) => ({
    ...input,
    promotable_user_type: 'RETWEETS_ONLY'
  }))
  made(accountApps, NewAccountApp, (input: Static<typeof NewAccountApp>) => input)
  made(accountMedia, NewAccountMedia, (input: Static<typeof NewAccountMedia>) => {
    if ((input.media_url === undefined) === (input.video_id === undefined)) {
      throw badRequest('INVALID_PARAMETER', 'Send either `media_url` or `video_id`.')
    }
    return { ...input, media_key: input.video_id ? `13_${input.video_id}` : `3_${newId()}` }
  })
}

const amount = (value: number | string | undefined) => (value === undefined ? null : BigInt(value))

async function change<R extends Stamped>(
  db: Db,
  of: Kind<R>,
  { account_id, id }: { account_id: string; id: string },
  set: object,
  touched?: Date
) {
  await getRow(db, of, account_id, id, { withDeleted: true })
  const stamp = touched ? { updated_at: touched.toISOString() } : {}
  return updateRow(db, of, { account_id, id }, { ...set, ...stamp } as Partial<R>)
}

function taken(error: unknown): never {
  if (violatedConstraint(error) === 'promotable_users_user') {
    throw conflict('USER_EXISTS', 'The account can promote this user already')
  }
  throw error
}
