/** All tokens as people see them: what each is for, never what it is. */
import { sql } from 'kysely'
import { notFound } from '../errors.ts'
import type { Db } from '../storage/db.ts'
import { revokeAdminToken } from './admin-tokens.ts'
import { announce } from './changes.ts'
import { revokeOAuth1Token } from './oauth1-tokens.ts'
import { revokeAccessToken, revokeGrant } from './oauth2-tokens.ts'

export interface TokenSummary {
  id: string
  kind: 'app' | 'oauth2' | 'oauth1' | 'admin'
  app_id: string | null
  user_id: string | null
  scopes: string[] | null
  permissions: string | null
  name: string | null
  created_at: string
  expires_at: string | null
  revoked_at: string | null
}

/** Newest first. */
export async function listTokens(
  db: Db,
  filter: { app_id?: string; user_id?: string; id?: string; limit?: number } = {}
): Promise<TokenSummary[]> {
  const { rows } = await sql<TokenSummary>`
    select * from (
      select id, 'app' as kind, app_id, null as user_id, null::text[] as scopes, null as permissions, null as name,
        created_at, null::timestamptz as expires_at, revoked_at
      from app_bearer_tokens
      union all
      select token.id, 'oauth2', app_id, user_id, token.scopes, null, null,
        token.created_at, token.expires_at, token.revoked_at
      from oauth2_access_tokens token join oauth2_grants on oauth2_grants.id = token.grant_id
      union all
      select id, 'oauth1', app_id, user_id, null, permissions, null, created_at, null, revoked_at
      from oauth1_access_tokens
      union all
      select id, 'admin', null, null, null, null, name, created_at, expires_at, revoked_at
      from admin_tokens
    ) token
    where (${filter.app_id ?? null}::text is null or app_id = ${filter.app_id ?? null})
      and (${filter.user_id ?? null}::text is null or user_id = ${filter.user_id ?? null})
      and (${filter.id ?? null}::text is null or id = ${filter.id ?? null})
    order by id collate "C" desc
    limit ${filter.limit ?? 1000}`.execute(db)
  return rows
}

/** By the id that `listTokens` shows; in a transaction of the caller. Revoking twice changes nothing. */
export async function revokeTokenById(db: Db, id: string, now: Date): Promise<TokenSummary> {
  const [token] = await listTokens(db, { id })
  if (!token) throw notFound('TOKEN_NOT_FOUND', `Token ${id} was not found`)
  if (token.kind === 'admin') await revokeAdminToken(db, id, now)
  if (token.kind === 'oauth1') await revokeOAuth1Token(db, { id }, now)
  if (token.kind === 'oauth2') {
    const row = await db
      .selectFrom('oauth2_access_tokens')
      .select(['id', 'grant_id'])
      .where('id', '=', id)
      .executeTakeFirstOrThrow()
    await revokeAccessToken(db, row, now)
  }
  if (token.kind === 'app') await revokeAppTokenById(db, id, now)
  return (await listTokens(db, { id }))[0]!
}

async function revokeAppTokenById(db: Db, id: string, now: Date) {
  const revoked = await db
    .updateTable('app_bearer_tokens')
    .set({ revoked_at: now, token: null })
    .where('id', '=', id)
    .where('revoked_at', 'is', null)
    .returning('token_hash')
    .executeTakeFirst()
  if (revoked) await announce(db, { token: revoked.token_hash.toString('base64url') })
}

/** Everything a user has granted an app, through either protocol; in a transaction of the caller. Whether there was something. */
export async function revokeUserApp(db: Db, appId: string, userId: string, now: Date) {
  let found = false
  const grants = await db
    .selectFrom('oauth2_grants')
    .select('id')
    .where('app_id', '=', appId)
    .where('user_id', '=', userId)
    .where('revoked_at', 'is', null)
    .execute()
  for (const grant of grants) found = (await revokeGrant(db, grant.id, now)) || found
  const tokens = await db
    .selectFrom('oauth1_access_tokens')
    .select('id')
    .where('app_id', '=', appId)
    .where('user_id', '=', userId)
    .where('revoked_at', 'is', null)
    .execute()
  for (const token of tokens) found = (await revokeOAuth1Token(db, token, now)) || found
  return found
}
