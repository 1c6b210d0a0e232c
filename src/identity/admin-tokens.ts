/** Tokens of the admin API that were made at run time; the configured one is not stored. */
import type { Db } from '../storage/db.ts'
import { newId } from '../storage/ids.ts'
import { announce } from './changes.ts'
import { hashToken, newToken } from './secrets.ts'

declare module '../storage/db.ts' {
  interface Tables {
    admin_tokens: {
      token_hash: Buffer
      id: string
      name: string
      created_at: Time
      expires_at: TimeOrNull
      revoked_at: TimeOrNull
    }
  }
}

/** The token, shown this once. */
export async function createAdminToken(db: Db, input: { name: string; expiresIn?: number | null }, now: Date) {
  const token = newToken('admin')
  const row = await db
    .insertInto('admin_tokens')
    .values({
      token_hash: hashToken(token),
      id: newId(),
      name: input.name,
      created_at: now,
      expires_at: input.expiresIn == null ? null : new Date(now.getTime() + input.expiresIn * 1000)
    })
    .returning(['id', 'name', 'created_at', 'expires_at'])
    .executeTakeFirstOrThrow()
  return { ...row, token }
}

export async function revokeAdminToken(db: Db, id: string, now: Date) {
  const revoked = await db
    .updateTable('admin_tokens')
    .set({ revoked_at: now })
    .where('id', '=', id)
    .where('revoked_at', 'is', null)
    .returning('token_hash')
    .executeTakeFirst()
  if (revoked) await announce(db, { token: revoked.token_hash.toString('base64url') })
  return revoked !== undefined
}
