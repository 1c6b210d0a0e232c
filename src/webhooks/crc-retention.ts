/** CRC checks are kept longer than deliveries: they are few, and tell when and why a webhook began to fail. */
import { sql } from 'kysely'
import { isoTime } from '../clock.ts'
import { defineJob } from '../storage/jobs.ts'

export const CHECKS_KEPT_DAYS = 30
const DAY_MS = 86_400_000
/** Rows of one statement, so that its locks are short. */
const ROWS_MAX = 5_000

export const forgetChecksJob = defineJob<object>('webhooks.forget_checks', {
  everyMs: 3_600_000,
  async run(_payload, { database, clock, signal }) {
    const before = isoTime(clock.now() - CHECKS_KEPT_DAYS * DAY_MS)
    for (let deleted = ROWS_MAX; deleted === ROWS_MAX && !signal.aborted; ) {
      const { numAffectedRows } = await sql`
        delete from crc_checks where ctid in (
          select ctid from crc_checks where created_at < ${before} order by created_at limit ${ROWS_MAX}
        )`.execute(database.db)
      deleted = Number(numAffectedRows)
    }
  }
})
