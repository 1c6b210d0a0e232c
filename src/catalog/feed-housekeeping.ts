/** Sweeps up after imports: tables of workers that died, runs that nobody confirmed, records past their time. */
import { sql } from 'kysely'
import { isoTime } from '../clock.ts'
import { defineJob, type JobDefinition } from '../storage/jobs.ts'
import { listStaging, runOf } from './feed-import/staging.ts'
import { isActive } from './feed-run-states.ts'

const EVERY_MS = 6 * 3_600_000
const CONFIRM_WITHIN_MS = 7 * 86_400_000
const SAMPLE_MS = 3_600_000

export const feedHousekeepingJob = (retentionMs: number): JobDefinition =>
  defineJob('catalog.feed_housekeeping', {
    everyMs: EVERY_MS,
    async run(_, { database, clock, log }) {
      const { db, pool } = database
      const now = clock.now()
      await db
        .updateTable('feed_runs')
        .set({ state: 'SUPERSEDED', finished_at: new Date(now), staging_table: null })
        .where('state', '=', 'NEEDS_CONFIRMATION')
        .where('created_at', '<', isoTime(now - CONFIRM_WITHIN_MS))
        .execute()
      await db
        .deleteFrom('feed_runs')
        .where('state', 'in', ['DONE', 'FAILED', 'SUPERSEDED'])
        .where('created_at', '<', isoTime(now - retentionMs))
        .execute()
      await db.deleteFrom('image_cache').where('expires_at', '<', isoTime(now)).execute()
      for (const table of await listStaging(pool)) {
        const run = await db
          .selectFrom('feed_runs')
          .select(['state', 'staging_table', 'created_at'])
          .where('id', '=', runOf(table)!)
          .executeTakeFirst()
        const isWanted = run && (isActive(run.state) || run.state === 'NEEDS_CONFIRMATION')
        // While it is being filled, the run does not know its name yet.
        if (isWanted && (run.staging_table ?? table) === table) continue
        // A sample that is being checked has a table too, but no state of being at work.
        if (run && Date.parse(run.created_at) > now - SAMPLE_MS) continue
        // A worker that is stuck may still hold it; next time, then.
        await db
          .transaction()
          .execute(async (tx) => {
            await sql`set local lock_timeout = '1s'`.execute(tx)
            await sql.raw(`drop table if exists ${table}`).execute(tx)
          })
          .catch((error) => log.warn({ err: error, table }, 'a staging table could not be dropped'))
      }
    }
  })
