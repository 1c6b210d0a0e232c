/** Scheduled feeds: where the products of a catalog are fetched from, and when. One per catalog. */
import { isIP } from 'node:net'
import type { Egress } from '../egress/index.ts'
import { type ApiError, badRequest, badRequests, type ErrorItem, notFound } from '../errors.ts'
import type { AdsScope } from '../http/ads.ts'
import { about, choice, clearable, type InputOf, json, Refused, required, text } from '../http/ads-input.ts'
import { type Db, violatedConstraint } from '../storage/db.ts'
import { newId } from '../storage/ids.ts'
import { cancelJob, enqueue } from '../storage/jobs.ts'
import type { FeedFormat } from './feed-import/detect.ts'
import { deleteRuns } from './feed-runs.ts'
import { URL_CHARS_MAX } from './product-fields.ts'
import { CATALOG, catalogRoute, echoId } from './routes.ts'
import { FREQUENCIES, HOURLY_REPEATS, isStartTime, isTimeZone, nextRun, WEEKDAYS } from './schedule.ts'
import { lockCatalog, transact } from './transactions.ts'
import { Text, TextOrNull, Whole } from './wire.ts'

/** The job that starts an import when its time has come; its key is the feed. */
export const FEED_SCHEDULE = 'catalog.feed_schedule'

export const FEED_FORMATS = ['CSV', 'TSV', 'XML'] as const satisfies FeedFormat[]

interface StoredFeed {
  catalog_id: string
  id: string
  feed_url: string
  feed_format: FeedFormat
  frequency: (typeof FREQUENCIES)[number]
  repeat: string | null
  start_time: string
  time_zone: string
  etag: string | null
  last_modified: string | null
}

declare module '../storage/db.ts' {
  interface Tables {
    scheduled_feeds: StoredFeed & { created_at: Time; updated_at: Time }
  }
}

export interface FeedRow extends StoredFeed {
  created_at: string
  updated_at: string
}

const Feed = Whole({
  id: Text,
  product_catalog_id: Text,
  feed_url: Text,
  feed_format: { type: 'string', enum: [...FEED_FORMATS] },
  frequency: { type: 'string', enum: [...FREQUENCIES] },
  repeat: TextOrNull,
  start_time: Text,
  time_zone: Text,
  created_at: Text,
  updated_at: Text
})

const shaped = (row: FeedRow) => ({ ...row, product_catalog_id: row.catalog_id })

/** A text that must pass a test, explained when it does not. */
const checked = (schema: Record<string, unknown>, check: (value: string) => string | undefined) => ({
  ...json<string>({ type: 'string', ...schema }, (raw, name) => {
    const value = typeof raw === 'string' ? raw.trim() : typeof raw === 'number' ? String(raw) : ''
    const rule = check(value)
    if (rule === undefined) return value
    // A password must not come back in an answer, where it would be logged and shown.
    const got = value.includes('@') ? '' : `, got "${value.slice(0, 200)}"`
    throw new Refused(`Expected ${rule}${got} for ${name}`)
  }),
  list: false,
  refuseEmpty: true
})

/** Fetched over http or https. A password in an address would be shown to everybody who reads the feed. */
export function explainFeedUrl(value: string): string | undefined {
  const url = URL.parse(value)
  if (!url || /\s/.test(value) || (url.protocol !== 'http:' && url.protocol !== 'https:'))
    return 'an address that begins with http:// or https://'
  if (url.username !== '' || url.password !== '') return 'an address without a user name or password'
  return value.length > URL_CHARS_MAX ? `an address of at most ${URL_CHARS_MAX} characters` : undefined
}

export const feedUrl = checked({ maxLength: URL_CHARS_MAX }, explainFeedUrl)
export const feedFormat = choice(FEED_FORMATS)

export const feedInput = {
  feed_url: feedUrl,
  feed_format: feedFormat,
  frequency: choice(FREQUENCIES),
  start_time: checked({ pattern: '^[0-2][0-9]:[0-5][0-9]$' }, (value) =>
    isStartTime(value) ? undefined : 'a time HH:MM'
  ),
  time_zone: checked({}, (value) => (isTimeZone(value) ? undefined : 'an IANA time zone name'))
}
export const repeat = about(
  clearable(text({ max: 20 })),
  'A weekday for WEEKLY; 1, 2, 3, 4, 6, 8 or 12 for HOURLY; omitted for DAILY.'
)
type FeedInput = InputOf<typeof feedInput>

const REPEATS: Record<(typeof FREQUENCIES)[number], readonly string[]> = {
  HOURLY: HOURLY_REPEATS,
  WEEKLY: WEEKDAYS,
  DAILY: []
}

/** Undefined when frequency and repeat belong together. */
export function explainRepeat(frequency: (typeof FREQUENCIES)[number], value: string | null): ErrorItem | undefined {
  const parameter = 'repeat'
  const allowed = REPEATS[frequency]
  if (frequency === 'DAILY') {
    if (value === null) return undefined
    return { code: 'INVALID_PARAMETER', message: 'setting repeat is not allowed for DAILY', parameter }
  }
  if (value === null) return { code: 'MISSING_PARAMETER', message: '"repeat" is a required parameter', parameter }
  if (allowed.includes(value)) return undefined
  const message = `Expected a value in {${allowed.join(', ')}}, got "${value.slice(0, 200)}" for repeat`
  return { code: 'INVALID_PARAMETER', message, parameter }
}

const feedNotFound = (id: string) => notFound('NOT_FOUND', `Scheduled feed ${id} was not found`)

export async function getFeed(db: Db, catalogId: string, id: string, lock = false): Promise<FeedRow> {
  const query = db.selectFrom('scheduled_feeds').selectAll().where('catalog_id', '=', catalogId).where('id', '=', id)
  const row = await (lock ? query.forUpdate() : query).executeTakeFirst()
  if (!row) throw feedNotFound(id)
  return row
}

/** The next import, by the wall clock of the feed. */
const schedule = (db: Db, feed: FeedRow, now: number) =>
  enqueue(
    db,
    FEED_SCHEDULE,
    { catalog_id: feed.catalog_id, feed_id: feed.id },
    { key: feed.id, dueAt: nextRun(feed, now), replaceDue: true }
  )

export async function createFeed(
  db: Db,
  catalogId: string,
  input: Required<FeedInput> & { repeat?: string | null },
  now: number
): Promise<FeedRow> {
  const problem = explainRepeat(input.frequency, input.repeat ?? null)
  if (problem) throw badRequests([problem])
  const stamp = new Date(now)
  return transact(db, async (tx) => {
    await lockCatalog(tx, catalogId, 'key share')
    const feed = await tx
      .insertInto('scheduled_feeds')
      .values({ catalog_id: catalogId, id: newId(), ...input, created_at: stamp, updated_at: stamp, ...NO_VALIDATORS })
      .returningAll()
      .executeTakeFirstOrThrow()
    await schedule(tx, feed, now)
    return feed
  }).catch((error) => {
    if (violatedConstraint(error) !== 'scheduled_feeds_one_per_catalog') throw error
    throw secondFeed()
  })
}

const NO_VALIDATORS = { etag: null, last_modified: null }

const secondFeed = (): ApiError =>
  badRequest('INVALID', 'Only one product feed is supported per user, and this user has one', { attribute: 'user_id' })

export async function updateFeed(
  db: Db,
  catalogId: string,
  id: string,
  input: Partial<FeedInput> & { repeat?: string | null },
  now: number
): Promise<FeedRow> {
  return transact(db, async (tx) => {
    await lockCatalog(tx, catalogId, 'key share')
    const before = await getFeed(tx, catalogId, id, true)
    const frequency = input.frequency ?? before.frequency
    // A repeat belongs to its frequency: another frequency needs another one, and DAILY has none.
    const kept = frequency === before.frequency ? before.repeat : null
    const repeat = input.repeat === undefined ? kept : input.repeat
    const problem = explainRepeat(frequency, repeat)
    if (problem) throw badRequests([problem])
    const after = { ...before, ...input, frequency, repeat }
    const isOtherFile = after.feed_url !== before.feed_url || after.feed_format !== before.feed_format
    const feed = await tx
      .updateTable('scheduled_feeds')
      .set({ ...input, frequency, repeat, updated_at: new Date(now), ...(isOtherFile ? NO_VALIDATORS : {}) })
      .where('catalog_id', '=', catalogId)
      .where('id', '=', id)
      .returningAll()
      .executeTakeFirstOrThrow()
    await schedule(tx, feed, now)
    return feed
  })
}

/** Permanent; products that came from it stay. */
export async function deleteFeed(db: Db, catalogId: string, id: string): Promise<FeedRow> {
  return transact(db, async (tx) => {
    const feed = await getFeed(tx, catalogId, id, true)
    await cancelJob(tx, FEED_SCHEDULE, id)
    await deleteRuns(tx, catalogId, id)
    await tx.deleteFrom('scheduled_feeds').where('catalog_id', '=', catalogId).where('id', '=', id).execute()
    return feed
  })
}

/** An address that is written as a number is judged at once; names are looked up when the feed runs. */
export async function refuseAddress(egress: Egress, url: string | undefined) {
  const host = url === undefined ? undefined : URL.parse(url)?.hostname.replace(/^\[|\]$/g, '')
  if (host === undefined || isIP(host) === 0) return
  const check = await egress.check(url!, { schemes: ['http', 'https'] })
  if (!check.ok) throw badRequest('INVALID_PARAMETER', check.message, { parameter: 'feed_url' })
}

export const FEEDS = `${CATALOG}/scheduled_feeds`
export const ONE_FEED = `${FEEDS}/:scheduled_feed_id`

export function scheduledFeedRoutes(scope: AdsScope) {
  const { database, clock, egress } = scope.deps
  const { db } = database
  const shared = { resource: 'scheduled_feeds', output: Feed, echo: echoId('scheduled_feed_id') } as const

  catalogRoute(scope, {
    ...shared,
    method: 'GET',
    path: FEEDS,
    summary: 'Scheduled feeds of a catalog.',
    many: true,
    handler: async ({ catalog }) => {
      const rows = await db.selectFrom('scheduled_feeds').selectAll().where('catalog_id', '=', catalog.id).execute()
      return { rows: rows.map(shaped) }
    }
  })

  catalogRoute(scope, {
    ...shared,
    method: 'POST',
    path: FEEDS,
    summary: 'Create the scheduled feed of a catalog.',
    input: {
      feed_url: required(feedInput.feed_url),
      feed_format: required(feedInput.feed_format),
      frequency: required(feedInput.frequency),
      start_time: required(feedInput.start_time),
      time_zone: required(feedInput.time_zone),
      repeat
    },
    handler: async ({ catalog, input }) => {
      await refuseAddress(egress, input.feed_url)
      return shaped(await createFeed(db, catalog.id, input, clock.now()))
    }
  })

  catalogRoute(scope, {
    ...shared,
    method: 'PUT',
    path: ONE_FEED,
    summary: 'Change a scheduled feed.',
    input: { ...feedInput, repeat },
    handler: async ({ catalog, path, input }) => {
      await refuseAddress(egress, input.feed_url)
      return shaped(await updateFeed(db, catalog.id, path.scheduled_feed_id!, input, clock.now()))
    }
  })

  catalogRoute(scope, {
    ...shared,
    method: 'DELETE',
    path: ONE_FEED,
    summary: 'Delete a scheduled feed; the products stay.',
    handler: async ({ catalog, path }) => shaped(await deleteFeed(db, catalog.id, path.scheduled_feed_id!))
  })
}
