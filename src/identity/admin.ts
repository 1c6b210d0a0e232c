/** /admin: apps, users, tokens, account access, allow-lists. Secrets and tokens are shown once, in the answer that makes them. */
import type { FastifyInstance } from 'fastify'
import { type Static, Type } from 'typebox'
import type { Deps } from '../deps.ts'
import { notFound } from '../errors.ts'
import { Data, Id, Timestamp } from '../http/v2-schemas.ts'
import { ACCOUNT_PERMISSIONS, grantAccountAccess, listAccountAccess, revokeAccountAccess } from './access.ts'
import { createAdminToken } from './admin-tokens.ts'
import { allow, disallow, listAllowed } from './allow-lists.ts'
import { appBearerToken } from './app-tokens.ts'
import {
  createApp,
  deleteApp,
  getApp,
  listApps,
  PRODUCTS,
  rotateClientSecret,
  rotateConsumerSecret,
  setAppQuotas,
  updateApp
} from './apps.ts'
import { createOAuth1AccessToken } from './oauth1-tokens.ts'
import { createOAuth2UserToken } from './oauth2-tokens.ts'
import { ALL_SCOPES, PERMISSION_LEVELS } from './scopes.ts'
import { listTokens, revokeTokenById, revokeUserApp } from './tokens.ts'
import { createUser, getUser, listUsers, updateUser } from './users.ts'

const Level = Type.Enum([...PERMISSION_LEVELS])
const closed = { additionalProperties: false }
const Nullable = <T>(schema: object) => Type.Unsafe<T | null>({ ...schema, nullable: true })
const NullableText = Nullable<string>({ type: 'string' })

const AppInput = {
  name: Type.String({ minLength: 1, maxLength: 100 }),
  owner_user_id: Type.Optional(Id),
  project_id: Type.Optional(Id),
  permissions: Type.Optional(Level),
  redirect_uris: Type.Optional(Type.Array(Type.String(), { maxItems: 10 })),
  products: Type.Optional(Type.Array(Type.Enum([...PRODUCTS]), { maxItems: 50 })),
  ads_access: Type.Optional(Type.Enum(['none', 'read', 'read-write']))
}
const Quotas = Type.Record(Type.String(), Type.Integer({ minimum: 0 }))
const NewApp = Type.Object(
  { ...AppInput, client_type: Type.Optional(Type.Enum(['public', 'confidential'])), quotas: Type.Optional(Quotas) },
  closed
)
const AppPatch = Type.Object(
  { ...AppInput, name: Type.Optional(AppInput.name), suspended: Type.Optional(Type.Boolean()) },
  closed
)
const App = Type.Object({
  id: Id,
  name: Type.String(),
  owner_user_id: NullableText,
  project_id: NullableText,
  permissions: Type.String(),
  consumer_key: Type.String(),
  client_id: Type.String(),
  client_type: Type.String(),
  redirect_uris: Type.Array(Type.String()),
  products: Type.Array(Type.String()),
  ads_access: Type.String(),
  quotas: Quotas,
  suspended: Type.Boolean(),
  created_at: Timestamp,
  updated_at: Timestamp
})
const AppWithSecrets = Type.Object({
  ...App.properties,
  consumer_secret: Type.String(),
  client_secret: NullableText,
  bearer_token: Type.String()
})

const UserInput = {
  username: Type.String(),
  name: Type.Optional(Type.String({ minLength: 1, maxLength: 100 })),
  password: Type.Optional(Type.String()),
  protected: Type.Optional(Type.Boolean()),
  profile: Type.Optional(Type.Record(Type.String(), Type.Unknown()))
}
const NewUser = Type.Object({ ...UserInput, id: Type.Optional(Id) }, closed)
const UserPatch = Type.Object(
  { ...UserInput, username: Type.Optional(UserInput.username), suspended: Type.Optional(Type.Boolean()) },
  closed
)
const User = Type.Object({
  id: Id,
  username: Type.String(),
  name: Type.String(),
  protected: Type.Boolean(),
  suspended: Type.Boolean(),
  profile: Type.Record(Type.String(), Type.Unknown()),
  created_at: Timestamp,
  updated_at: Timestamp
})

const NewToken = Type.Object(
  {
    kind: Type.Enum(['app', 'oauth2', 'oauth1', 'admin']),
    app_id: Type.Optional(Id),
    user_id: Type.Optional(Id),
    scopes: Type.Optional(Type.Array(Type.Enum([...ALL_SCOPES]), { maxItems: 50 })),
    permissions: Type.Optional(Level),
    expires_in: Type.Optional(Type.Integer({ minimum: 1, description: 'Seconds; absent: never.' })),
    name: Type.Optional(Type.String({ minLength: 1, maxLength: 100 }))
  },
  closed
)
const Token = Type.Object({
  id: Id,
  kind: Type.String(),
  app_id: NullableText,
  user_id: NullableText,
  scopes: Nullable<string[]>({ type: 'array', items: { type: 'string' } }),
  permissions: NullableText,
  name: NullableText,
  created_at: Timestamp,
  expires_at: NullableText,
  revoked_at: NullableText
})
const IssuedToken = Type.Object({
  id: Type.Optional(Id),
  token_type: Type.String(),
  access_token: Type.Optional(Type.String()),
  refresh_token: Type.Optional(Type.String()),
  oauth_token: Type.Optional(Type.String()),
  oauth_token_secret: Type.Optional(Type.String())
})
const Access = Type.Object({
  account_id: Type.String(),
  user_id: Type.String(),
  permissions: Type.Array(Type.String()),
  created_at: Timestamp,
  updated_at: Timestamp
})
const NewAccess = Type.Object(
  { permissions: Type.Array(Type.Enum([...ACCOUNT_PERMISSIONS]), { minItems: 1, maxItems: 7 }) },
  closed
)
const AllowListEntry = Type.Object(
  {
    list: Type.String({ minLength: 1, maxLength: 100 }),
    subject_kind: Type.Enum(['app', 'user', 'account']),
    subject_id: Type.String({ minLength: 1, maxLength: 40 })
  },
  closed
)
const Done = Type.Object({ revoked: Type.Boolean() })

const AppPath = Type.Object({ app_id: Id })
const UserPath = Type.Object({ user_id: Id })
const AccessPath = Type.Object({ account_id: Type.String(), user_id: Id })
const TokenFilter = Type.Object({ app_id: Type.Optional(Id), user_id: Type.Optional(Id) })

export function identityAdminRoutes(app: FastifyInstance, { database: { db }, vault, clock }: Deps) {
  const now = () => new Date(clock.now())
  const read = (summary: string) => ({ summary, tags: ['admin'] })

  app.get('/apps', { schema: { ...read('List apps.'), response: Data(Type.Array(App)) } }, async () => ({
    data: await listApps(db)
  }))
  app.post<{ Body: Static<typeof NewApp> }>(
    '/apps',
    {
      schema: {
        ...read('Create an app; its secrets are shown this once.'),
        body: NewApp,
        response: Data(AppWithSecrets)
      }
    },
    async (req) => {
      const created = await createApp(db, vault, req.body, now())
      return { data: { ...created, bearer_token: await appBearerToken(db, vault, created.id, now()) } }
    }
  )
  app.get<{ Params: Static<typeof AppPath> }>(
    '/apps/:app_id',
    { schema: { ...read('Read an app.'), params: AppPath, response: Data(App) } },
    async (req) => ({ data: await getApp(db, req.params.app_id) })
  )
  app.put<{ Params: Static<typeof AppPath>; Body: Static<typeof AppPatch> }>(
    '/apps/:app_id',
    { schema: { ...read('Change an app.'), params: AppPath, body: AppPatch, response: Data(App) } },
    async (req) => ({
      data: await updateApp(db, req.params.app_id, req.body, now())
    })
  )
  app.delete<{ Params: Static<typeof AppPath> }>(
    '/apps/:app_id',
    {
      schema: {
        ...read('Delete an app with its tokens, webhooks, subscriptions and rules.'),
        params: AppPath,
        response: Data(Type.Object({ deleted: Type.Boolean() }))
      }
    },
    async (req) => ({ data: await deleteApp(db, req.params.app_id) })
  )
  app.put<{ Params: Static<typeof AppPath>; Body: Record<string, number | null> }>(
    '/apps/:app_id/quotas',
    {
      schema: {
        ...read('Set quotas (webhooks, subscriptions, rules …); null returns to the default.'),
        params: AppPath,
        body: Type.Record(Type.String(), Nullable<number>({ type: 'integer' })),
        response: Data(App)
      }
    },
    async (req) => ({ data: await setAppQuotas(db, req.params.app_id, req.body, now()) })
  )
  app.post<{ Params: Static<typeof AppPath>; Body: { overlap_seconds?: number } | undefined }>(
    '/apps/:app_id/rotate_consumer_secret',
    {
      schema: {
        ...read('A new consumer secret, shown this once; the old one stays valid for the overlap.'),
        params: AppPath,
        response: Data(
          Type.Object({
            ...App.properties,
            consumer_secret: Type.String(),
            previous_consumer_secret_valid_until: NullableText
          })
        )
      }
    },
    async (req) => ({ data: await rotateConsumerSecret(db, vault, req.params.app_id, now(), overlapOf(req.body)) })
  )
  app.post<{ Params: Static<typeof AppPath> }>(
    '/apps/:app_id/rotate_client_secret',
    {
      schema: {
        ...read('A new OAuth 2.0 client secret, shown this once.'),
        params: AppPath,
        response: Data(Type.Object({ ...App.properties, client_secret: Type.String() }))
      }
    },
    async (req) => ({ data: await rotateClientSecret(db, req.params.app_id, now()) })
  )

  app.get('/users', { schema: { ...read('List users.'), response: Data(Type.Array(User)) } }, async () => ({
    data: await listUsers(db)
  }))
  app.post<{ Body: Static<typeof NewUser> }>(
    '/users',
    { schema: { ...read('Create a user.'), body: NewUser, response: Data(User) } },
    async (req) => ({ data: await createUser(db, req.body, now()) })
  )
  app.get<{ Params: Static<typeof UserPath> }>(
    '/users/:user_id',
    { schema: { ...read('Read a user.'), params: UserPath, response: Data(User) } },
    async (req) => ({ data: await getUser(db, req.params.user_id) })
  )
  app.put<{ Params: Static<typeof UserPath>; Body: Static<typeof UserPatch> }>(
    '/users/:user_id',
    { schema: { ...read('Change a user.'), params: UserPath, body: UserPatch, response: Data(User) } },
    async (req) => ({
      data: await db.transaction().execute((tx) => updateUser(tx, req.params.user_id, req.body, now()))
    })
  )
  app.delete<{ Params: Static<typeof UserPath> & { app_id: string } }>(
    '/users/:user_id/apps/:app_id',
    {
      schema: {
        ...read('Revoke everything the user has granted the app.'),
        params: Type.Object({ user_id: Id, app_id: Id }),
        response: Data(Done)
      }
    },
    async (req) => ({
      data: {
        revoked: await db.transaction().execute((tx) => revokeUserApp(tx, req.params.app_id, req.params.user_id, now()))
      }
    })
  )

  app.get<{ Querystring: Static<typeof TokenFilter> }>(
    '/tokens',
    {
      schema: {
        ...read('List tokens; what they are for, never what they are.'),
        querystring: TokenFilter,
        response: Data(Type.Array(Token))
      }
    },
    async (req) => ({ data: await listTokens(db, req.query) })
  )
  app.post<{ Body: Static<typeof NewToken> }>(
    '/tokens',
    { schema: { ...read('Create a token, shown this once.'), body: NewToken, response: Data(IssuedToken) } },
    async (req) => ({ data: await issueToken(req.body) })
  )
  app.delete<{ Params: { token_id: string } }>(
    '/tokens/:token_id',
    { schema: { ...read('Revoke a token.'), params: Type.Object({ token_id: Id }), response: Data(Token) } },
    async (req) => ({
      data: await db.transaction().execute((tx) => revokeTokenById(tx, req.params.token_id, now()))
    })
  )

  app.get(
    '/account_access',
    { schema: { ...read('Who may do what in which ad account.'), response: Data(Type.Array(Access)) } },
    async () => ({ data: await listAccountAccess(db) })
  )
  app.put<{ Params: Static<typeof AccessPath>; Body: Static<typeof NewAccess> }>(
    '/account_access/:account_id/:user_id',
    {
      schema: {
        ...read('Give a user exactly these permissions on an account.'),
        params: AccessPath,
        body: NewAccess,
        response: Data(Access)
      }
    },
    async (req) => {
      await getUser(db, req.params.user_id)
      return { data: await grantAccountAccess(db, { ...req.params, ...req.body }, now()) }
    }
  )
  app.delete<{ Params: Static<typeof AccessPath> }>(
    '/account_access/:account_id/:user_id',
    { schema: { ...read('Take a user off an account.'), params: AccessPath, response: Data(Done) } },
    async (req) => ({
      data: { revoked: await revokeAccountAccess(db, req.params.account_id, req.params.user_id) }
    })
  )

  app.get(
    '/allow_lists',
    { schema: { ...read('Early access and betas.'), response: Data(Type.Array(AllowListEntry)) } },
    async () => ({ data: await listAllowed(db) })
  )
  app.put<{ Body: Static<typeof AllowListEntry> }>(
    '/allow_lists',
    {
      schema: {
        ...read('Put an app, a user or an account on a list.'),
        body: AllowListEntry,
        response: Data(AllowListEntry)
      }
    },
    async (req) => {
      await allow(db, req.body, now())
      return { data: req.body }
    }
  )
  app.delete<{ Body: Static<typeof AllowListEntry> }>(
    '/allow_lists',
    { schema: { ...read('Take it off again.'), body: AllowListEntry, response: Data(Done) } },
    async (req) => ({ data: { revoked: await disallow(db, req.body) } })
  )

  async function issueToken(input: Static<typeof NewToken>) {
    if (input.kind === 'admin') {
      const { id, token } = await createAdminToken(
        db,
        { name: input.name ?? 'admin', expiresIn: input.expires_in ?? null },
        now()
      )
      return { id, token_type: 'bearer', access_token: token }
    }
    const { id: app_id } = await getApp(db, required(input.app_id, 'app_id'))
    if (input.kind === 'app')
      return { token_type: 'bearer', access_token: await appBearerToken(db, vault, app_id, now()) }
    const { id: user_id } = await getUser(db, required(input.user_id, 'user_id'))
    return db.transaction().execute(async (tx) => {
      if (input.kind === 'oauth1') {
        const token = await createOAuth1AccessToken(
          tx,
          vault,
          { app_id, user_id, permissions: input.permissions ?? 'read-write-directmessages' },
          now()
        )
        return { token_type: 'oauth1', ...token }
      }
      const scopes = input.scopes ?? ALL_SCOPES
      const { access_token, refresh_token } = await createOAuth2UserToken(
        tx,
        { app_id, user_id, scopes, expiresIn: input.expires_in ?? null },
        now()
      )
      return { token_type: 'bearer', access_token, refresh_token }
    })
  }
}

const overlapOf = (body: { overlap_seconds?: number } | undefined) => {
  const seconds = body?.overlap_seconds
  return typeof seconds === 'number' && Number.isInteger(seconds) && seconds >= 0 && seconds <= 30 * 86_400
    ? seconds
    : undefined
}

function required(value: string | undefined, name: string) {
  if (value === undefined) throw notFound('PARAMETER_MISSING', `This kind of token needs ${name}.`)
  return value
}
