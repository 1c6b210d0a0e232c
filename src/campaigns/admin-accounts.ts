/** /admin/ad_accounts: ad accounts, their limits, their review and their features. */
import type { FastifyInstance } from 'fastify'
import { type Static, Type } from 'typebox'
import type { Deps } from '../deps.ts'
import { Data, Id, Timestamp } from '../http/v2.ts'
import { getUser } from '../identity/index.ts'
import type { Db } from '../storage/db.ts'
import type { AccountAccessCache } from './account-access.ts'
import {
  type AccountPatch,
  APPROVAL_STATUSES,
  addFeatures,
  createAccount,
  INDUSTRY_TYPES,
  updateAccount
} from './accounts.ts'
import { AccountPath, AdsId, about, closed, NullableText, operatorsAccount } from './admin-shapes.ts'
import { checkFeatureKeys, listFeatures, removeFeatures } from './features.ts'
import type { ReferenceStore } from './reference-store.ts'

const Environment = Type.Enum(['production', 'sandbox'])
const Approval = Type.Enum([...APPROVAL_STATUSES])

const AdAccount = Type.Object({
  id: Type.String(),
  environment: Environment,
  name: Type.String(),
  business_name: NullableText,
  business_id: NullableText,
  timezone: Type.String(),
  approval_status: Approval,
  industry_type: NullableText,
  active_campaigns_max: Type.Integer(),
  line_items_per_campaign_max: Type.Integer(),
  active_line_items_max: Type.Integer(),
  created_at: Timestamp,
  updated_at: Timestamp,
  deleted: Type.Boolean()
})
const NewAdAccount = Type.Object(
  {
    environment: Environment,
    owner_user_id: Id,
    name: Type.Optional(Type.String({ minLength: 1, maxLength: 255 })),
    business_name: Type.Optional(Type.String({ maxLength: 255 })),
    timezone: Type.Optional(Type.String({ description: 'An IANA name.' })),
    approval_status: Type.Optional(Approval),
    features: Type.Optional(Type.Array(Type.String(), { maxItems: 200 })),
    samples: Type.Optional(Type.Boolean({ description: 'A few account apps and media, as sandbox accounts get.' }))
  },
  closed
)
const AdAccountPatch = Type.Object(
  {
    name: Type.Optional(Type.String({ minLength: 1, maxLength: 255 })),
    business_name: Type.Optional(NullableText),
    business_id: Type.Optional(NullableText),
    industry_type: Type.Optional(Type.Enum([...INDUSTRY_TYPES])),
    approval_status: Type.Optional(Approval),
    active_campaigns_max: Type.Optional(
      Type.Integer({ minimum: 1, maximum: 8_000, description: '200 by default; can be raised to 8,000.' })
    ),
    line_items_per_campaign_max: Type.Optional(Type.Integer({ minimum: 1, maximum: 8_000 })),
    active_line_items_max: Type.Optional(Type.Integer({ minimum: 1, maximum: 1_000_000 }))
  },
  closed
)
const AccountFilter = Type.Object(
  {
    environment: Type.Optional(Environment),
    after: Type.Optional(AdsId),
    limit: Type.Optional(Type.Integer({ minimum: 1, maximum: 1000, default: 200 }))
  },
  closed
)

const Features = Type.Object({ feature_keys: Type.Array(Type.String(), { maxItems: 200 }) }, closed)

export interface CampaignsAdmin {
  access: AccountAccessCache
  reference: ReferenceStore
}

export function adAccountAdminRoutes(app: FastifyInstance, deps: Deps, { access, reference }: CampaignsAdmin) {
  const { db } = deps.database
  const now = () => new Date(deps.clock.now())

  app.get<{ Querystring: Static<typeof AccountFilter> }>(
    '/ad_accounts',
    { schema: { ...about('List ad accounts.'), querystring: AccountFilter, response: Data(Type.Array(AdAccount)) } },
    async (req) => ({ data: await listAccounts(db, req.query) })
  )
  app.post<{ Body: Static<typeof NewAdAccount> }>(
    '/ad_accounts',
    { schema: { ...about('Create an ad account.'), body: NewAdAccount, response: Data(AdAccount) } },
    async (req) => {
      const { owner_user_id, ...input } = req.body
      await getUser(db, owner_user_id)
      if (input.features) checkFeatureKeys(input.features, await featureKeys())
      const make = { ...input, ownerUserId: owner_user_id } as Parameters<typeof createAccount>[1]
      return { data: await db.transaction().execute((tx) => createAccount(tx, make, now())) }
    }
  )
  app.get<{ Params: Static<typeof AccountPath> }>(
    '/ad_accounts/:account_id',
    { schema: { ...about('Read an ad account.'), params: AccountPath, response: Data(AdAccount) } },
    async (req) => ({ data: await operatorsAccount(db, req.params.account_id) })
  )
  app.put<{ Params: Static<typeof AccountPath>; Body: Static<typeof AdAccountPatch> }>(
    '/ad_accounts/:account_id',
    {
      schema: {
        ...about('Change an ad account: its limits, its review, its names.'),
        params: AccountPath,
        body: AdAccountPatch,
        response: Data(AdAccount)
      }
    },
    async (req) => {
      await operatorsAccount(db, req.params.account_id)
      const patch = req.body as AccountPatch
      const data = await db.transaction().execute((tx) => updateAccount(tx, req.params.account_id, patch, now()))
      access.forget()
      return { data }
    }
  )

  app.get<{ Params: Static<typeof AccountPath> }>(
    '/ad_accounts/:account_id/features',
    {
      schema: { ...about('Features of an ad account.'), params: AccountPath, response: Data(Type.Array(Type.String())) }
    },
    async (req) => ({ data: await listFeatures(db, (await operatorsAccount(db, req.params.account_id)).id) })
  )
  app.put<{ Params: Static<typeof AccountPath>; Body: Static<typeof Features> }>(
    '/ad_accounts/:account_id/features',
    {
      schema: {
        ...about('Give an ad account exactly these features.'),
        params: AccountPath,
        body: Features,
        response: Data(Type.Array(Type.String()))
      }
    },
    async (req) => {
      const { id } = await operatorsAccount(db, req.params.account_id)
      const { feature_keys } = req.body
      checkFeatureKeys(feature_keys, await featureKeys())
      return {
        data: await db.transaction().execute(async (tx) => {
          const gone = (await listFeatures(tx, id)).filter((key) => !feature_keys.includes(key))
          if (gone.length > 0) await removeFeatures(tx, id, gone)
          await addFeatures(tx, id, feature_keys, now())
          return listFeatures(tx, id)
        })
      }
    }
  )
  const featureKeys = async () => (await reference.load()).rows('feature_keys').map((key) => key.id)
}

function listAccounts(db: Db, { environment, after = '', limit = 200 }: Static<typeof AccountFilter>) {
  let query = db.selectFrom('ad_accounts').selectAll().where('id', '>', after)
  if (environment) query = query.where('environment', '=', environment)
  return query.orderBy('id').limit(limit).execute()
}
