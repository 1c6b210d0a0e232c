/** Starts the import of a feed when its time has come. */
import { Type } from 'typebox'
import { ApiError } from '../errors.ts'
import type { Tx } from '../storage/db.ts'
import { defineJob } from '../storage/jobs.ts'
import { startRun } from './feed-runs.ts'
import { nextRun } from './schedule.ts'
import { FEED_SCHEDULE, type FeedRow } from './scheduled-feeds.ts'

export const feedScheduleJob = defineJob(FEED_SCHEDULE, {
  schema: Type.Object({ catalog_id: Type.String(), feed_id: Type.String() }),
  async run({ catalog_id, feed_id }, context) {
    const { clock, log } = context
    const now = clock.now()
    const start = async (tx: Tx) => {
      const feed: FeedRow | undefined = await tx
        .selectFrom('scheduled_feeds')
        .selectAll()
        .where('catalog_id', '=', catalog_id)
        .where('id', '=', feed_id)
        .executeTakeFirst()
      if (!feed) return undefined
      const { feed_url, feed_format } = feed
      await startRun(tx, { catalog_id, feed_id, feed_url, feed_format, trigger: 'schedule' }, now)
      return feed
    }
    let feed: FeedRow | undefined
    try {
      feed = await context.transaction(start)
    } catch (error) {
      if (!(error instanceof ApiError)) throw error
      // The import before this one is still at work; what it misses, the next one brings.
      log.info({ catalog_id, feed_id }, 'a feed was due while its last import was still under way')
      feed = await context.database.db
        .selectFrom('scheduled_feeds')
        .selectAll()
        .where('id', '=', feed_id)
        .where('catalog_id', '=', catalog_id)
        .executeTakeFirst()
    }
    return feed ? { againAt: nextRun(feed, now) } : undefined
  }
})
