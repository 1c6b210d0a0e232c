/** Forgets what has expired, so that no table of identity grows with traffic alone. */
import type { Db } from '../storage/db.ts'
import { defineJob } from '../storage/jobs.ts'

const DAY_MS = 24 * 3600 * 1000
/** Used codes and replaced refresh tokens are kept this long, because showing one again must still be noticed. */
const REUSE_NOTICED_MS = 30 * DAY_MS
/** A used code is only shown again by mistake or by a thief, soon. */
const CODE_KEPT_MS = DAY_MS
/** What was revoked or ran out stays in lists for a while. */
const ENDED_KEPT_MS = 30 * DAY_MS

export async function pruneIdentity(db: Db, now: Date) {
  const before = (ms: number) => new Date(now.getTime() - ms).toISOString()
  const counts: Record<string, number> = {}
  const remove = async (name: string, query: { executeTakeFirst(): Promise<{ numDeletedRows: bigint }> }) => {
    counts[name] = Number((await query.executeTakeFirst()).numDeletedRows)
  }
  await remove('nonces', db.deleteFrom('oauth1_nonces').where('expires_at', '<', before(0)))
  await remove('attempts', db.deleteFrom('sign_in_attempts').where('window_ends_at', '<', before(0)))
  await remove('sessions', db.deleteFrom('sessions').where('expires_at', '<', before(0)))
  await remove('request_tokens', db.deleteFrom('oauth1_request_tokens').where('expires_at', '<', before(0)))
  await remove('codes', db.deleteFrom('oauth2_codes').where('expires_at', '<', before(CODE_KEPT_MS)))
  await remove(
    'refresh_tokens',
    db.deleteFrom('oauth2_refresh_tokens').where('rotated_at', '<', before(REUSE_NOTICED_MS))
  )
  await remove('access_tokens', db.deleteFrom('oauth2_access_tokens').where('expires_at', '<', before(ENDED_KEPT_MS)))
  // A grant ends with its last token; what was revoked goes with everything that descends from it.
  await remove(
    'grants',
    db
      .deleteFrom('oauth2_grants')
      .where((eb) =>
        eb.or([
          eb('revoked_at', '<', before(ENDED_KEPT_MS)),
          eb.and([
            eb('created_at', '<', before(ENDED_KEPT_MS)),
            ...(['oauth2_access_tokens', 'oauth2_refresh_tokens'] as const).map((table) =>
              eb.not(
                eb.exists(
                  eb
                    .selectFrom(table)
                    .select(`${table}.grant_id`)
                    .whereRef(`${table}.grant_id`, '=', 'oauth2_grants.id')
                )
              )
            )
          ])
        ])
      )
  )
  await remove('oauth1_tokens', db.deleteFrom('oauth1_access_tokens').where('revoked_at', '<', before(ENDED_KEPT_MS)))
  await remove('app_tokens', db.deleteFrom('app_bearer_tokens').where('revoked_at', '<', before(ENDED_KEPT_MS)))
  return counts
}

export const pruneIdentityJob = defineJob('identity.prune', {
  everyMs: 5 * 60 * 1000,
  async run(_: object, { database, clock }) {
    await pruneIdentity(database.db, new Date(clock.now()))
  }
})
