/** App-only bearer tokens: one live token per app, the same on every request until it is invalidated. */
import type { Db } from '../storage/db.ts'
import { newId } from '../storage/ids.ts'
import { announce } from './changes.ts'
import { hashToken, newToken, tokenKey, type Vault } from './secrets.ts'

declare module '../storage/db.ts' {
  interface Tables {
    app_bearer_tokens: {
      token_hash: Buffer
      id: string
      app_id: string
      token: Buffer | null
      created_at: Time
      revoked_at: TimeOrNull
    }
  }
}

const sealedAs = (id: string) => `app_bearer_tokens.token:${id}`

/** The app's token; made if there is none. */
export async function appBearerToken(db: Db, vault: Vault, appId: string, now: Date): Promise<string> {
  for (;;) {
    const live = await db
      .selectFrom('app_bearer_tokens')
      .select(['id', 'token'])
      .where('app_id', '=', appId)
      .where('revoked_at', 'is', null)
      .executeTakeFirst()
    if (live?.token) return vault.decrypt(live.token, sealedAs(live.id))
    const token = newToken('app')
    const id = newId()
    const inserted = await db
      .insertInto('app_bearer_tokens')
      .values({
        token_hash: hashToken(token),
        id,
        app_id: appId,
        token: vault.encrypt(token, sealedAs(id)),
        created_at: now
      })
      .onConflict((oc) => oc.column('app_id').where('revoked_at', 'is', null).doNothing())
      .returning('id')
      .executeTakeFirst()
    // Another request may have made one at the same moment; then that one is the app's token.
    if (inserted) return token
  }
}

/** Whether it was a live token of this app. The next request for a token makes a new one. */
export async function invalidateAppToken(db: Db, appId: string, token: string, now: Date) {
  const revoked = await db
    .updateTable('app_bearer_tokens')
    .set({ revoked_at: now, token: null })
    .where('token_hash', '=', hashToken(token))
    .where('app_id', '=', appId)
    .where('revoked_at', 'is', null)
    .returning('id')
    .executeTakeFirst()
  if (revoked) await announce(db, { token: tokenKey(token) })
  return revoked !== undefined
}
