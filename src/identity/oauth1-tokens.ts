/** OAuth 1.0a tokens: request tokens of the three-legged flow, and access tokens, which do not expire. */
import { randomInt } from 'node:crypto'
import type { Db, Defaulted } from '../storage/db.ts'
import { newId } from '../storage/ids.ts'
import { announce } from './changes.ts'
import { reportRevoked } from './revocations.ts'
import type { PermissionLevel } from './scopes.ts'
import { hashToken, randomText, type Vault } from './secrets.ts'

/** Not specified; long enough to sign in and read, short enough to forget. */
export const REQUEST_TOKEN_SECONDS = 15 * 60
/** A PIN has seven digits. */
export const VERIFIER_FAILURES_MAX = 5
/** The callback of an application that has no address: the user types a PIN. */
export const OUT_OF_BAND = 'oob'

declare module '../storage/db.ts' {
  interface Tables {
    oauth1_request_tokens: {
      token_hash: Buffer
      app_id: string
      token_secret: Buffer
      callback: string
      permissions: PermissionLevel
      created_at: Time
      expires_at: Time
      user_id: string | null
      verifier_hash: Buffer | null
      verifier_failures: Defaulted<number>
    }
    oauth1_access_tokens: {
      token_hash: Buffer
      id: string
      app_id: string
      user_id: string
      token_secret: Buffer
      permissions: PermissionLevel
      created_at: Time
      revoked_at: TimeOrNull
    }
  }
}

const sealedRequest = (hash: Buffer) => `oauth1_request_tokens.token_secret:${hash.toString('hex')}`
const sealedAccess = (hash: Buffer) => `oauth1_access_tokens.token_secret:${hash.toString('hex')}`

export interface OAuth1Token {
  oauth_token: string
  oauth_token_secret: string
}

export async function createRequestToken(
  db: Db,
  vault: Vault,
  input: { app_id: string; callback: string; permissions: PermissionLevel },
  now: Date
): Promise<OAuth1Token> {
  const oauth_token = randomText(24)
  const oauth_token_secret = randomText(32)
  const token_hash = hashToken(oauth_token)
  await db
    .insertInto('oauth1_request_tokens')
    .values({
      ...input,
      token_hash,
      token_secret: vault.encrypt(oauth_token_secret, sealedRequest(token_hash)),
      created_at: now,
      expires_at: new Date(now.getTime() + REQUEST_TOKEN_SECONDS * 1000)
    })
    .execute()
  return { oauth_token, oauth_token_secret }
}

/** A request token that has not expired, with the app that asked for it. */
export const findRequestToken = (db: Db, token: string, now: Date) =>
  db
    .selectFrom('oauth1_request_tokens as token')
    .innerJoin('apps as app', 'app.id', 'token.app_id')
    .select([
      'token.token_hash',
      'token.token_secret',
      'token.app_id',
      'token.callback',
      'token.permissions',
      'token.user_id',
      'app.name as app_name'
    ])
    .where('token.token_hash', '=', hashToken(token))
    .where('token.expires_at', '>', now.toISOString())
    .where('app.suspended', '=', false)
    .executeTakeFirst()

export const openRequestSecret = (vault: Vault, row: { token_hash: Buffer; token_secret: Buffer }) =>
  vault.decrypt(row.token_secret, sealedRequest(row.token_hash))

/** The verifier that goes back to the app, or undefined if the token was answered already. */
export async function approveRequestToken(db: Db, row: { token_hash: Buffer; callback: string }, userId: string) {
  const verifier = row.callback === OUT_OF_BAND ? String(randomInt(10_000_000)).padStart(7, '0') : randomText(24)
  const approved = await db
    .updateTable('oauth1_request_tokens')
    .set({ user_id: userId, verifier_hash: hashToken(verifier) })
    .where('token_hash', '=', row.token_hash)
    .where('user_id', 'is', null)
    .returning('app_id')
    .executeTakeFirst()
  return approved ? verifier : undefined
}

export async function denyRequestToken(db: Db, row: { token_hash: Buffer }) {
  await db.deleteFrom('oauth1_request_tokens').where('token_hash', '=', row.token_hash).execute()
}

/** An access token for an approved request token and its verifier, once. Runs in a transaction of the caller. */
export async function exchangeRequestToken(
  db: Db,
  vault: Vault,
  input: { app_id: string; token: string; verifier: string },
  now: Date
) {
  const token_hash = hashToken(input.token)
  const row = await db
    .selectFrom('oauth1_request_tokens')
    .selectAll()
    .where('token_hash', '=', token_hash)
    .where('app_id', '=', input.app_id)
    .where('expires_at', '>', now.toISOString())
    .forUpdate()
    .executeTakeFirst()
  if (!row?.user_id || !row.verifier_hash) return undefined
  if (!row.verifier_hash.equals(hashToken(input.verifier))) {
    if (row.verifier_failures + 1 >= VERIFIER_FAILURES_MAX) await denyRequestToken(db, row)
    else {
      await db
        .updateTable('oauth1_request_tokens')
        .set((eb) => ({ verifier_failures: eb('verifier_failures', '+', 1) }))
        .where('token_hash', '=', token_hash)
        .execute()
    }
    return undefined
  }
  await denyRequestToken(db, row)
  const token = await createOAuth1AccessToken(
    db,
    vault,
    { app_id: row.app_id, user_id: row.user_id, permissions: row.permissions },
    now
  )
  return { ...token, user_id: row.user_id }
}

/** `<user id>-<random>`, with its secret, shown this once. */
export async function createOAuth1AccessToken(
  db: Db,
  vault: Vault,
  input: { app_id: string; user_id: string; permissions: PermissionLevel },
  now: Date
): Promise<OAuth1Token & { id: string }> {
  const oauth_token = `${input.user_id}-${randomText(24)}`
  const oauth_token_secret = randomText(32)
  const token_hash = hashToken(oauth_token)
  const id = newId()
  await db
    .insertInto('oauth1_access_tokens')
    .values({
      ...input,
      id,
      token_hash,
      token_secret: vault.encrypt(oauth_token_secret, sealedAccess(token_hash)),
      created_at: now
    })
    .execute()
  // What the user allows through OAuth 1.0a overrides the scopes of tokens that may be remembered.
  await announce(db, { user: input.user_id })
  return { id, oauth_token, oauth_token_secret }
}

export const openAccessSecret = (vault: Vault, row: { token_hash: Buffer; token_secret: Buffer }) =>
  vault.decrypt(row.token_secret, sealedAccess(row.token_hash))

/** Whether there was such a live token. */
export async function revokeOAuth1Token(db: Db, token: { hash: Buffer } | { id: string }, now: Date) {
  const revoked = await db
    .updateTable('oauth1_access_tokens')
    .set({ revoked_at: now })
    .where((eb) => ('id' in token ? eb('id', '=', token.id) : eb('token_hash', '=', token.hash)))
    .where('revoked_at', 'is', null)
    .returning(['app_id', 'user_id', 'token_hash'])
    .executeTakeFirst()
  if (!revoked) return false
  await announce(db, { token: revoked.token_hash.toString('base64url') })
  await reportRevoked(db, { app_id: revoked.app_id, user_id: revoked.user_id, via: 'oauth1' }, now)
  return true
}
