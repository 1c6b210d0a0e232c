/** OAuth 2.0 for users: codes, grants, access tokens and refresh tokens that rotate. */
import { hash } from 'node:crypto'
import type { Db } from '../storage/db.ts'
import { newId } from '../storage/ids.ts'
import { announce } from './changes.ts'
import { reportRevoked } from './revocations.ts'
import { hashToken, newToken, sameSecret } from './secrets.ts'

/** "The code lives 30 s." */
export const CODE_SECONDS = 30
/** `expires_in` of an access token. */
export const ACCESS_TOKEN_SECONDS = 7200

export type ChallengeMethod = 'S256' | 'plain'

declare module '../storage/db.ts' {
  interface Tables {
    oauth2_grants: {
      id: string
      app_id: string
      user_id: string
      scopes: string[]
      created_at: Time
      revoked_at: TimeOrNull
    }
    oauth2_codes: {
      code_hash: Buffer
      app_id: string
      user_id: string
      scopes: string[]
      redirect_uri: string
      code_challenge: string
      code_challenge_method: ChallengeMethod
      created_at: Time
      expires_at: Time
      grant_id: string | null
    }
    oauth2_access_tokens: {
      token_hash: Buffer
      id: string
      grant_id: string
      scopes: string[]
      created_at: Time
      expires_at: TimeOrNull
      revoked_at: TimeOrNull
    }
    oauth2_refresh_tokens: {
      token_hash: Buffer
      grant_id: string
      created_at: Time
      rotated_at: TimeOrNull
    }
  }
}

const after = (now: Date, seconds: number) => new Date(now.getTime() + seconds * 1000)

export interface NewCode {
  app_id: string
  user_id: string
  scopes: string[]
  redirect_uri: string
  code_challenge: string
  code_challenge_method: ChallengeMethod
}

export async function createCode(db: Db, input: NewCode, now: Date) {
  const code = newToken('oauth2Code')
  await db
    .insertInto('oauth2_codes')
    .values({ ...input, code_hash: hashToken(code), created_at: now, expires_at: after(now, CODE_SECONDS) })
    .execute()
  return code
}

export interface UserTokens {
  access_token: string
  /** Seconds; null: never. */
  expires_in: number | null
  scopes: string[]
  refresh_token?: string
}

export type CodeExchange =
  | { outcome: 'exchanged'; tokens: UserTokens }
  | { outcome: 'refused'; reason: 'invalid-code' | 'wrong-redirect-uri' | 'wrong-verifier' }

/** Runs in a transaction of the caller, which commits also when the outcome is a refusal: a reused code revokes. */
export async function exchangeCode(
  db: Db,
  input: { app_id: string; code: string; redirect_uri: string; code_verifier: string },
  now: Date
): Promise<CodeExchange> {
  const code = await db
    .selectFrom('oauth2_codes')
    .selectAll()
    .where('code_hash', '=', hashToken(input.code))
    .where('app_id', '=', input.app_id)
    .forUpdate()
    .executeTakeFirst()
  if (!code) return { outcome: 'refused', reason: 'invalid-code' }
  if (code.grant_id !== null) {
    // Someone else has seen the code: whoever exchanged it first may not be the app.
    await revokeGrant(db, code.grant_id, now)
    return { outcome: 'refused', reason: 'invalid-code' }
  }
  if (Date.parse(code.expires_at) <= now.getTime()) return { outcome: 'refused', reason: 'invalid-code' }
  if (code.redirect_uri !== input.redirect_uri) return { outcome: 'refused', reason: 'wrong-redirect-uri' }
  if (!answersChallenge(input.code_verifier, code)) return { outcome: 'refused', reason: 'wrong-verifier' }
  const grantId = await createGrant(db, code, now)
  await db.updateTable('oauth2_codes').set({ grant_id: grantId }).where('code_hash', '=', code.code_hash).execute()
  return { outcome: 'exchanged', tokens: await issueTokens(db, { id: grantId, scopes: code.scopes }, now) }
}

function answersChallenge(
  verifier: string,
  code: { code_challenge: string; code_challenge_method: ChallengeMethod }
): boolean {
  const answer = code.code_challenge_method === 'S256' ? hash('sha256', verifier, 'base64url') : verifier
  return sameSecret(answer, code.code_challenge)
}

async function createGrant(db: Db, grant: { app_id: string; user_id: string; scopes: string[] }, now: Date) {
  const id = newId()
  const { app_id, user_id, scopes } = grant
  await db.insertInto('oauth2_grants').values({ id, app_id, user_id, scopes, created_at: now }).execute()
  return id
}

async function issueTokens(
  db: Db,
  grant: { id: string; scopes: string[] },
  now: Date,
  expiresIn: number | null = ACCESS_TOKEN_SECONDS
): Promise<UserTokens> {
  const access_token = newToken('oauth2Access')
  await db
    .insertInto('oauth2_access_tokens')
    .values({
      token_hash: hashToken(access_token),
      id: newId(),
      grant_id: grant.id,
      scopes: grant.scopes,
      created_at: now,
      expires_at: expiresIn === null ? null : after(now, expiresIn)
    })
    .execute()
  const tokens: UserTokens = { access_token, expires_in: expiresIn, scopes: grant.scopes }
  if (grant.scopes.includes('offline.access')) {
    tokens.refresh_token = newToken('oauth2Refresh')
    await db
      .insertInto('oauth2_refresh_tokens')
      .values({ token_hash: hashToken(tokens.refresh_token), grant_id: grant.id, created_at: now })
      .execute()
  }
  return tokens
}

/** A token without the authorize page: for the admin API, the CLI and the demo tenant. `expiresIn: null` never expires. */
export async function createOAuth2UserToken(
  db: Db,
  input: { app_id: string; user_id: string; scopes: string[]; expiresIn?: number | null },
  now: Date
) {
  const grantId = await createGrant(db, input, now)
  return issueTokens(db, { id: grantId, scopes: input.scopes }, now, input.expiresIn)
}

export type Refresh =
  | { outcome: 'refreshed'; tokens: UserTokens }
  | { outcome: 'refused'; reason: 'invalid-token' | 'invalid-scope' }

/** One-time use: showing a token that was already replaced revokes everything that descends from its grant. */
export async function refreshTokens(
  db: Db,
  input: { app_id: string; refresh_token: string; scopes?: string[] },
  now: Date
): Promise<Refresh> {
  const held = await db
    .selectFrom('oauth2_refresh_tokens as token')
    .innerJoin('oauth2_grants as grant', 'grant.id', 'token.grant_id')
    .innerJoin('users as user', 'user.id', 'grant.user_id')
    .select(['grant.id', 'grant.scopes', 'grant.revoked_at', 'token.rotated_at', 'user.suspended'])
    .where('token.token_hash', '=', hashToken(input.refresh_token))
    .where('grant.app_id', '=', input.app_id)
    .forUpdate('token')
    .executeTakeFirst()
  if (!held || held.revoked_at !== null || held.suspended) return { outcome: 'refused', reason: 'invalid-token' }
  if (held.rotated_at !== null) {
    await revokeGrant(db, held.id, now)
    return { outcome: 'refused', reason: 'invalid-token' }
  }
  const scopes = input.scopes ?? held.scopes
  if (!scopes.every((scope) => held.scopes.includes(scope))) return { outcome: 'refused', reason: 'invalid-scope' }
  await db
    .updateTable('oauth2_refresh_tokens')
    .set({ rotated_at: now })
    .where('token_hash', '=', hashToken(input.refresh_token))
    .execute()
  // Asking for fewer scopes narrows the access token, not the grant; the next refresh may ask for all again.
  const kept = scopes.includes('offline.access') ? scopes : [...scopes, 'offline.access']
  return { outcome: 'refreshed', tokens: await issueTokens(db, { id: held.id, scopes: kept }, now) }
}

/** Ends a grant and every token of it. Whether it was live. */
export async function revokeGrant(db: Db, grantId: string, now: Date) {
  const grant = await db
    .updateTable('oauth2_grants')
    .set({ revoked_at: now })
    .where('id', '=', grantId)
    .where('revoked_at', 'is', null)
    .returning(['app_id', 'user_id'])
    .executeTakeFirst()
  if (!grant) return false
  const tokens = await db
    .updateTable('oauth2_access_tokens')
    .set({ revoked_at: now })
    .where('grant_id', '=', grantId)
    .where('revoked_at', 'is', null)
    .returning('token_hash')
    .execute()
  for (const { token_hash } of tokens) await announce(db, { token: token_hash.toString('base64url') })
  await reportRevoked(db, { ...grant, via: 'oauth2' }, now)
  return true
}

/**
 * Revokes a token that an app shows. A refresh token takes its whole grant along; an access token only itself, unless
 * no refresh token is left to follow it. Whether there was such a token does not show (RFC 7009).
 */
export async function revokeOAuth2Token(db: Db, input: { app_id: string; token: string }, now: Date) {
  const token_hash = hashToken(input.token)
  const refresh = await db
    .selectFrom('oauth2_refresh_tokens as token')
    .innerJoin('oauth2_grants as grant', 'grant.id', 'token.grant_id')
    .select('grant.id')
    .where('token.token_hash', '=', token_hash)
    .where('grant.app_id', '=', input.app_id)
    .executeTakeFirst()
  if (refresh) {
    await revokeGrant(db, refresh.id, now)
    return
  }
  const access = await db
    .selectFrom('oauth2_access_tokens as token')
    .innerJoin('oauth2_grants as grant', 'grant.id', 'token.grant_id')
    .select(['token.id', 'grant.id as grant_id'])
    .where('token.token_hash', '=', token_hash)
    .where('grant.app_id', '=', input.app_id)
    .executeTakeFirst()
  if (access) await revokeAccessToken(db, access, now)
}

/** One access token; its grant as well if nothing can come of it any more. */
export async function revokeAccessToken(db: Db, token: { id: string; grant_id: string }, now: Date) {
  const revoked = await db
    .updateTable('oauth2_access_tokens')
    .set({ revoked_at: now })
    .where('id', '=', token.id)
    .where('revoked_at', 'is', null)
    .returning('token_hash')
    .executeTakeFirst()
  if (!revoked) return false
  await announce(db, { token: revoked.token_hash.toString('base64url') })
  const refresh = await db
    .selectFrom('oauth2_refresh_tokens')
    .select('grant_id')
    .where('grant_id', '=', token.grant_id)
    .where('rotated_at', 'is', null)
    .executeTakeFirst()
  if (!refresh) await revokeGrant(db, token.grant_id, now)
  return true
}
