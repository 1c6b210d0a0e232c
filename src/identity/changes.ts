/** Tells every node that something it may have cached about identity has changed. See decisions/0016. */
import { sql } from 'kysely'
import type { Db } from '../storage/db.ts'

export const IDENTITY_CHANNEL = 'identity'

/** What changed: one token (by the text of its hash), or everything about an app or a user. */
export type IdentityChange = { token: string } | { app: string } | { user: string }

/** Arrives when the surrounding transaction commits, and never if it does not. */
export async function announce(db: Db, change: IdentityChange) {
  await sql`select pg_notify(${IDENTITY_CHANNEL}, ${JSON.stringify(change)})`.execute(db)
}
