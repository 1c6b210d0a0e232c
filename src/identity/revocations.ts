/** When a user's authorization of an app ends, others must hear of it: account activity tells the app's webhook. */
import { sql } from 'kysely'
import type { Db } from '../storage/db.ts'
import { enqueue } from '../storage/jobs.ts'
import { lowerLevel, type PermissionLevel } from './scopes.ts'

/** The kind of the job that whoever cares about revocations registers. */
export const REVOKED_JOB = 'identity.revoked'

export interface Revoked {
  app_id: string
  user_id: string
  via: 'oauth1' | 'oauth2'
  revoked_at: string
}

/** In the transaction that revokes, so that there is never one without the other. */
export async function reportRevoked(db: Db, revoked: Omit<Revoked, 'revoked_at'>, now: Date) {
  await enqueue(db, REVOKED_JOB, { ...revoked, revoked_at: now.toISOString() })
}

export type UserAuthorization = { via: 'oauth1'; permissions: PermissionLevel } | { via: 'oauth2'; scopes: string[] }

/**
 * What a user allows an app at this moment, or undefined if nothing is left.
 * OAuth 1.0a permissions, where present, fully override OAuth 2.0 scopes (document 1).
 */
export async function findUserAuthorization(
  db: Db,
  appId: string,
  userId: string
): Promise<UserAuthorization | undefined> {
  const token = await db
    .selectFrom('oauth1_access_tokens')
    .select('permissions')
    .where('app_id', '=', appId)
    .where('user_id', '=', userId)
    .where('revoked_at', 'is', null)
    // The level with the longest name is the highest.
    .orderBy((eb) => eb.fn('length', ['permissions']), 'desc')
    .executeTakeFirst()
  if (token) return { via: 'oauth1', permissions: token.permissions }
  const grants = await db
    .selectFrom('oauth2_grants')
    .select('scopes')
    .where('app_id', '=', appId)
    .where('user_id', '=', userId)
    .where('revoked_at', 'is', null)
    .execute()
  if (grants.length === 0) return undefined
  return { via: 'oauth2', scopes: [...new Set(grants.flatMap((grant) => grant.scopes))] }
}

/** Everything a user allows an app at this moment, through either protocol. */
export interface Held {
  oauth1: PermissionLevel | null
  scopes: string[]
}

export interface Pair {
  app_id: string
  user_id: string
}

/** One query for many; pairs with nothing left are held as nothing. An app that was lowered takes its tokens along. */
export async function heldAuthorizations(db: Db, pairs: readonly Pair[]): Promise<(pair: Pair) => Held> {
  const keyOf = ({ app_id, user_id }: Pair) => `${app_id} ${user_id}`
  const wanted = [...new Map(pairs.map((pair) => [keyOf(pair), pair])).values()]
  if (wanted.length === 0) return () => ({ oauth1: null, scopes: [] })
  const { rows } = await sql<Pair & Held & { app_permissions: PermissionLevel }>`
    select pair.app_id, pair.user_id, app.permissions as app_permissions,
      (select permissions from oauth1_access_tokens as token
       where token.app_id = pair.app_id and token.user_id = pair.user_id and token.revoked_at is null
       order by length(permissions) desc limit 1) as oauth1,
      array(select distinct scope from oauth2_grants as held, unnest(held.scopes) as scope
       where held.app_id = pair.app_id and held.user_id = pair.user_id and held.revoked_at is null) as scopes
    from unnest(${wanted.map((pair) => pair.app_id)}::text[], ${wanted.map((pair) => pair.user_id)}::text[]) as pair (app_id, user_id)
    join apps as app on app.id = pair.app_id`.execute(db)
  const held = new Map(
    rows.map((row) => [
      keyOf(row),
      { oauth1: row.oauth1 && lowerLevel(row.oauth1, row.app_permissions), scopes: row.scopes }
    ])
  )
  return (pair) => held.get(keyOf(pair)) ?? { oauth1: null, scopes: [] }
}
