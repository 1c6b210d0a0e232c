/** The queries behind authentication: one round trip each, everything a principal needs. */
import type { Database } from '../storage/db.ts'
import type { PrincipalApp, PrincipalUser } from './principal.ts'
import type { PermissionLevel } from './scopes.ts'

const APP = `json_build_object('id', app.id, 'name', app.name, 'owner_user_id', app.owner_user_id,
  'project_id', app.project_id, 'client_id', app.client_id, 'permissions', app.permissions, 'products', app.products,
  'ads_access', app.ads_access, 'quotas', app.quotas, 'allow_lists',
  array(select list from allow_lists where subject_kind = 'app' and subject_id = app.id order by list)) as app,
  app.suspended as app_suspended`
const USER = `json_build_object('id', usr.id, 'username', usr.username, 'name', usr.name, 'protected', usr.protected,
  'allow_lists', array(select list from allow_lists where subject_kind = 'user' and subject_id = usr.id order by list))`

async function one<Row extends object>({ pool }: Database, name: string, text: string, values: unknown[]) {
  const { rows } = await pool.query<Row>({ name: `identity.${name}`, text, values })
  return rows[0]
}

interface AppRow {
  app: PrincipalApp
  app_suspended: boolean
  revoked_at: string | null
}

export const findAppToken = (database: Database, hash: Buffer) =>
  one<AppRow>(
    database,
    'app_token',
    `select token.revoked_at, ${APP}
     from app_bearer_tokens token join apps app on app.id = token.app_id
     where token.token_hash = $1`,
    [hash]
  )

interface OAuth2Row extends AppRow {
  user: PrincipalUser
  user_suspended: boolean
  scopes: string[]
  expires_at: string | null
  oauth1_permissions: PermissionLevel | null
}

export const findOAuth2Token = (database: Database, hash: Buffer) =>
  one<OAuth2Row>(
    database,
    'oauth2_token',
    // The level with the longest name is the highest.
    `select token.scopes, token.expires_at, coalesce(token.revoked_at, grant_row.revoked_at) as revoked_at,
       ${USER} as user, usr.suspended as user_suspended, ${APP},
       (select permissions from oauth1_access_tokens held
        where held.app_id = grant_row.app_id and held.user_id = grant_row.user_id and held.revoked_at is null
        order by length(permissions) desc limit 1) as oauth1_permissions
     from oauth2_access_tokens token
     join oauth2_grants grant_row on grant_row.id = token.grant_id
     join apps app on app.id = grant_row.app_id
     join users usr on usr.id = grant_row.user_id
     where token.token_hash = $1`,
    [hash]
  )

export const findAdminToken = (database: Database, hash: Buffer) =>
  one<{ expires_at: string | null; revoked_at: string | null }>(
    database,
    'admin_token',
    'select expires_at, revoked_at from admin_tokens where token_hash = $1',
    [hash]
  )

interface SessionRow {
  user: PrincipalUser | null
  user_suspended: boolean | null
  admin_token_hash: Buffer | null
  admin_token_live: boolean
  admin_token_expires_at: string | null
  app: PrincipalApp | null
  app_suspended: boolean | null
  expires_at: string
}

/** A browser that signed in to the console, and the app that it wants to act as. */
export const findConsoleSession = (database: Database, hash: Buffer, appId: string | null) =>
  one<SessionRow>(
    database,
    'console_session',
    `select session.expires_at, session.admin_token_hash,
       token.token_hash is not null and token.revoked_at is null as admin_token_live,
       token.expires_at as admin_token_expires_at,
       case when usr.id is not null then ${USER} end as user, usr.suspended as user_suspended, asked.app, asked.app_suspended
     from sessions session
     left join users usr on usr.id = session.user_id
     left join admin_tokens token on token.token_hash = session.admin_token_hash
     left join lateral (select ${APP} from apps app where app.id = $2) asked on true
     where session.token_hash = $1 and session.purpose = 'console'`,
    [hash, appId]
  )

export interface Consumer {
  app: PrincipalApp
  app_suspended: boolean
  secrets: {
    id: string
    consumer_secret: Buffer
    previous_consumer_secret: Buffer | null
    previous_consumer_secret_valid_until: string | null
  }
  /** Absent if this app has no such access token. */
  token?: {
    token_hash: Buffer
    token_secret: Buffer
    permissions: PermissionLevel
    revoked_at: string | null
    user: PrincipalUser
    user_suspended: boolean
  }
}

type ConsumerRow = AppRow &
  Consumer['secrets'] & {
    token_hash: Buffer | null
    token_secret: Buffer
    permissions: PermissionLevel
    user: PrincipalUser
    user_suspended: boolean
  }

/** The app with this consumer key, and its access token with this hash. */
export async function findConsumer(
  database: Database,
  consumerKey: string,
  tokenHash: Buffer | null
): Promise<Consumer | undefined> {
  const row = await one<ConsumerRow>(
    database,
    'consumer',
    `select app.id, app.consumer_secret, app.previous_consumer_secret, app.previous_consumer_secret_valid_until, ${APP},
       token.token_hash, token.token_secret, token.permissions, token.revoked_at,
       ${USER} as user, usr.suspended as user_suspended
     from apps app
     left join oauth1_access_tokens token on token.app_id = app.id and token.token_hash = $2
     left join users usr on usr.id = token.user_id
     where app.consumer_key = $1`,
    [consumerKey, tokenHash]
  )
  if (!row) return undefined
  const { app, app_suspended, token_hash } = row
  return {
    app,
    app_suspended,
    secrets: row,
    ...(token_hash
      ? {
          token: {
            token_hash,
            token_secret: row.token_secret,
            permissions: row.permissions,
            revoked_at: row.revoked_at,
            user: row.user,
            user_suspended: row.user_suspended
          }
        }
      : {})
  }
}
