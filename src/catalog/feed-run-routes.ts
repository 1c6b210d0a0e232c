/** Imports of a feed (extension): look at them, start one now, confirm one, download what was rejected, what comes next. */
import { isoTime } from '../clock.ts'
import { badRequests } from '../errors.ts'
import type { AdsScope } from '../http/ads.ts'
import { about, bool, int, required } from '../http/ads-input.ts'
import { FeedRun, shapeRun } from './feed-run-wire.ts'
import { confirmRun, getRun, listRuns, startRun } from './feed-runs.ts'
import { CSV_TYPE, sendRejected } from './rejected-csv.ts'
import { catalogRoute, keyCursor } from './routes.ts'
import { type FeedSchedule, nextRuns } from './schedule.ts'
import { explainRepeat, FEEDS, feedInput, getFeed, ONE_FEED, repeat } from './scheduled-feeds.ts'
import { lockCatalog, transact } from './transactions.ts'
import { Text, Texts, Whole } from './wire.ts'

const RUNS = `${ONE_FEED}/runs`
const ONE = `${RUNS}/:run_id`
const NEXT_RUNS = 5
const NextRuns = Whole({ time_zone: Text, next_runs: Texts, local_times: Texts })

/** In UTC, and as the clocks of the zone show it. */
function upcoming(schedule: FeedSchedule, now: number) {
  const runs = nextRuns(schedule, now, NEXT_RUNS)
  const local = (ms: number) =>
    Temporal.Instant.fromEpochMilliseconds(ms)
      .toZonedDateTimeISO(schedule.time_zone)
      .toString({ timeZoneName: 'never', smallestUnit: 'minute' })
  return { time_zone: schedule.time_zone, next_runs: runs.map(isoTime), local_times: runs.map(local) }
}

export function feedRunRoutes(scope: AdsScope) {
  const { database, clock } = scope.deps
  const { db } = database
  const shared = { resource: 'scheduled_feeds', output: FeedRun, extension: true } as const
  const find = async (catalogId: string, { scheduled_feed_id, run_id }: Record<string, string>) => {
    const feed = await getFeed(db, catalogId, scheduled_feed_id!)
    return getRun(db, catalogId, feed.id, run_id!)
  }

  catalogRoute(scope, {
    ...shared,
    method: 'GET',
    path: RUNS,
    summary: 'Imports of a feed, newest first.',
    input: { count: int({ min: 1, max: 100 }), cursor: keyCursor() },
    many: true,
    handler: async ({ catalog, path, input: { count = 20, cursor } }) => {
      const feed = await getFeed(db, catalog.id, path.scheduled_feed_id!)
      const filter = { catalog_id: catalog.id, feed_id: feed.id, limit: count + 1 }
      const rows = await listRuns(db, cursor === undefined ? filter : { ...filter, before: cursor })
      const page = rows.slice(0, count)
      return { rows: page.map(shapeRun), next_cursor: rows.length > count ? page.at(-1)!.id : null }
    }
  })

  catalogRoute(scope, {
    ...shared,
    method: 'POST',
    path: RUNS,
    summary: 'Fetch the feed now.',
    input: {
      validate_only: about(bool(), 'Read and report, but change nothing.'),
      force: about(bool(), 'Fetch the file even if its host says that it has not changed.'),
      confirmed: about(bool(), 'Import it even if it changes nearly everything.')
    },
    handler: async ({ catalog, path, input }) => {
      const run = await transact(db, async (tx) => {
        await lockCatalog(tx, catalog.id, 'key share')
        const { id, feed_url, feed_format } = await getFeed(tx, catalog.id, path.scheduled_feed_id!)
        const asked = { catalog_id: catalog.id, feed_id: id, feed_url, feed_format, trigger: 'request' } as const
        return startRun(tx, { ...asked, ...input }, clock.now())
      })
      return shapeRun(run)
    }
  })

  catalogRoute(scope, {
    ...shared,
    method: 'GET',
    path: ONE,
    summary: 'One import: its state, progress, counts, and what was wrong.',
    handler: async ({ catalog, path }) => shapeRun(await find(catalog.id, path))
  })

  catalogRoute(scope, {
    ...shared,
    method: 'POST',
    path: `${ONE}/confirm`,
    summary: 'Let an import go on that would change nearly everything.',
    handler: async ({ catalog, path }) => {
      const run = await find(catalog.id, path)
      await transact(db, (tx) => confirmRun(tx, run))
      return shapeRun(await find(catalog.id, path))
    }
  })

  catalogRoute(scope, {
    ...shared,
    method: 'GET',
    path: `${ONE}/rejected_rows`,
    summary: 'Rows that did not become products, as CSV.',
    file: CSV_TYPE,
    handler: async ({ catalog, path, reply }) => sendRejected(reply, db, await find(catalog.id, path))
  })

  catalogRoute(scope, {
    ...shared,
    method: 'GET',
    path: `${ONE_FEED}/next_runs`,
    summary: 'When the feed will be fetched next.',
    output: NextRuns,
    handler: async ({ catalog, path }) => upcoming(await getFeed(db, catalog.id, path.scheduled_feed_id!), clock.now())
  })

  catalogRoute(scope, {
    ...shared,
    method: 'POST',
    path: `${FEEDS}/next_runs`,
    summary: 'When a feed with this schedule would be fetched; nothing is stored.',
    readOnly: true,
    input: {
      frequency: required(feedInput.frequency),
      start_time: required(feedInput.start_time),
      time_zone: required(feedInput.time_zone),
      repeat
    },
    output: NextRuns,
    handler: async ({ input }) => {
      const schedule = { ...input, repeat: input.repeat ?? null }
      const problem = explainRepeat(schedule.frequency, schedule.repeat)
      if (problem) throw badRequests([problem])
      return upcoming(schedule, clock.now())
    }
  })
}
