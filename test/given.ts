/** givenApp(), givenUser() …: one call, sensible defaults, through the domain functions. */
import { createAccount } from '../src/campaigns/index.ts'
import {
  ALL_SCOPES,
  appBearerToken,
  createApp,
  createOAuth1AccessToken,
  createOAuth2UserToken,
  createUser,
  type NewApp,
  signRequest
} from '../src/identity/index.ts'
import { newId } from '../src/storage/ids.ts'
import type { TestApp } from './app.ts'
import { noteSecrets } from './secrets.ts'

export interface GivenApp {
  id: string
  consumer_key: string
  consumer_secret: string
  bearer: string
  /** Headers of an app-only request. */
  headers: { authorization: string }
}

export async function givenApp({ deps }: TestApp, input: Partial<NewApp> = {}): Promise<GivenApp> {
  const { db } = deps.database
  const now = new Date(deps.clock.now())
  const app = await createApp(db, deps.vault, { name: 'Given app', ads_access: 'read-write', ...input }, now)
  const bearer = await appBearerToken(db, deps.vault, app.id, now)
  noteSecrets(app.consumer_secret, app.client_secret, bearer)
  return {
    id: app.id,
    consumer_key: app.consumer_key,
    consumer_secret: app.consumer_secret,
    bearer,
    headers: { authorization: `Bearer ${bearer}` }
  }
}

export async function givenUser(
  { deps }: TestApp,
  input: { username?: string; password?: string; protected?: boolean } = {}
) {
  return createUser(deps.database.db, { username: `user_${newId()}`, ...input }, new Date(deps.clock.now()))
}

/** Headers of a request by this user through this app, OAuth 2.0. */
export async function givenUserToken(
  { deps }: TestApp,
  app: { id: string },
  user: { id: string },
  scopes: string[] = ALL_SCOPES
) {
  const { access_token } = await createOAuth2UserToken(
    deps.database.db,
    { app_id: app.id, user_id: user.id, scopes, expiresIn: null },
    new Date(deps.clock.now())
  )
  noteSecrets(access_token)
  return { authorization: `Bearer ${access_token}` }
}

/** Signs requests by this user through this app, OAuth 1.0a; `sign(method, url)` gives the header. */
export async function givenOAuth1(
  { deps }: TestApp,
  app: GivenApp,
  user: { id: string },
  permissions: 'read' | 'read-write' | 'read-write-directmessages' = 'read-write-directmessages'
) {
  const token = await createOAuth1AccessToken(
    deps.database.db,
    deps.vault,
    { app_id: app.id, user_id: user.id, permissions },
    new Date(deps.clock.now())
  )
  noteSecrets(token.oauth_token_secret, token.oauth_token)
  const keys = {
    consumerKey: app.consumer_key,
    consumerSecret: app.consumer_secret,
    token: token.oauth_token,
    tokenSecret: token.oauth_token_secret
  }
  return {
    token,
    sign: (method: string, url: string, form?: string) => ({
      authorization: signRequest(
        {
          method,
          scheme: 'http',
          host: 'localhost:80',
          rawUrl: url,
          ...(form === undefined
            ? {}
            : { contentType: 'application/x-www-form-urlencoded', rawBody: Buffer.from(form) })
        },
        keys,
        { timestamp: Math.floor(deps.clock.now() / 1000), nonce: newId() }
      )
    })
  }
}

/** A user with a sandbox ad account of their own, and headers to call as them. */
export async function givenAdvertiser(app: TestApp) {
  const user = await givenUser(app)
  const { deps } = app
  const account = await deps.database.db
    .transaction()
    .execute((tx) => createAccount(tx, { environment: 'sandbox', ownerUserId: user.id }, new Date(deps.clock.now())))
  return { user, account, headers: await givenUserToken(app, await givenApp(app), user) }
}
