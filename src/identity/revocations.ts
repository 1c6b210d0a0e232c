/** When a user's authorization of an app ends, others must hear of it: account activity tells the app's webhook. */
import type { Db } from '../storage/db.ts'
import { enqueue } from '../storage/jobs.ts'
import type { PermissionLevel } from './scopes.ts'

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
