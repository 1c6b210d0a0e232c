/** Imports of feeds as rows: asked for, moved from state to state, looked at. */
import { type JSONColumnType, sql } from 'kysely'
import { badRequest, notFound } from '../errors.ts'
import { type Db, type Tx, violatedConstraint } from '../storage/db.ts'
import { newId } from '../storage/ids.ts'
import { cancelJob, enqueue } from '../storage/jobs.ts'
import type { FeedFormat } from './feed-import/detect.ts'
import type { IssueCount, RunError } from './feed-import/report.ts'
import { ACTIVE_STATES, type RunState, statesBefore } from './feed-run-states.ts'

/** The job that does it; its key is the run. */
export const FEED_RUN = 'catalog.feed_run'

/** Why an import waits for somebody to look at it. */
export interface Guard {
  code: 'MOST_PRODUCTS_CHANGE' | 'MOST_IDS_UNKNOWN'
  message: string
  catalog_products: number
  created: number
  changed: number
}

interface Stored {
  catalog_id: string
  id: string
  feed_id: string | null
  trigger: 'schedule' | 'request' | 'operator'
  validate_only: boolean
  force: boolean
  confirmed: boolean
  state: RunState
  feed_url: string
  feed_format: FeedFormat
  fetch_failures: number
  not_modified: boolean
  etag: string | null
  last_modified: string | null
  staging_table: string | null
}
const COUNTS = [
  'bytes_read',
  'elapsed_ms',
  'rows_read',
  'created',
  'updated',
  'unchanged',
  'rejected',
  'duplicate',
  'last_row'
] as const
type Count = (typeof COUNTS)[number]

export interface RunRow extends Stored, Record<Count, number> {
  created_at: string
  started_at: string | null
  finished_at: string | null
  next_fetch_at: string | null
  bytes_total: number | null
  error: RunError | null
  guard: Guard | null
  issues: IssueCount[]
}

declare module '../storage/db.ts' {
  interface Tables {
    feed_runs: Omit<
      Stored,
      'confirmed' | 'fetch_failures' | 'not_modified' | 'etag' | 'last_modified' | 'staging_table'
    > & {
      confirmed: Defaulted<boolean>
      fetch_failures: Defaulted<number>
      not_modified: Defaulted<boolean>
      etag: Defaulted<string | null>
      last_modified: Defaulted<string | null>
      staging_table: Defaulted<string | null>
      created_at: Time
      started_at: TimeOrNull
      finished_at: TimeOrNull
      next_fetch_at: TimeOrNull
      bytes_total: BigOrNull
      error: JSONColumnType<RunError | null, string | null | undefined, string | null>
      guard: JSONColumnType<Guard | null, string | null | undefined, string | null>
      issues: JSONColumnType<IssueCount[], string | undefined, string>
    } & { [C in Count]: Defaulted<bigint | number> }
    feed_rejected_rows: {
      catalog_id: string
      run_id: string
      row: Big
      line: BigOrNull
      errors: JSONColumnType<object[]>
      fields: (string | null)[] | null
      raw: string | null
    }
  }
}

/** Counts stay far below 2^53, so they are plain numbers from here on. */
const plain = (row: Record<string, unknown>): RunRow =>
  ({
    ...row,
    ...Object.fromEntries(
      [...COUNTS, 'bytes_total'].map((name) => [name, row[name] === null ? null : Number(row[name])])
    )
  }) as unknown as RunRow

export interface NewRun {
  catalog_id: string
  feed_id: string | null
  feed_url: string
  feed_format: FeedFormat
  trigger: RunRow['trigger']
  validate_only?: boolean
  force?: boolean
  confirmed?: boolean
}

/** A run that waits for confirmation gives way to a newer one. */
async function supersede(tx: Db, { catalog_id, feed_id }: NewRun, now: Date) {
  await tx
    .updateTable('feed_runs')
    .set({ state: 'SUPERSEDED', finished_at: now, staging_table: null })
    .where('catalog_id', '=', catalog_id)
    .where('feed_id', '=', feed_id)
    .where('state', '=', 'NEEDS_CONFIRMATION')
    .execute()
}

export async function startRun(tx: Tx, input: NewRun, now: number): Promise<RunRow> {
  const { validate_only = false, force = false, confirmed = false, ...rest } = input
  const at = new Date(now)
  if (!validate_only && input.feed_id !== null) await supersede(tx, input, at)
  try {
    const row = await tx
      .insertInto('feed_runs')
      .values({ ...rest, id: newId(), validate_only, force, confirmed, state: 'QUEUED', created_at: at })
      .returningAll()
      .executeTakeFirstOrThrow()
    await enqueue(tx, FEED_RUN, { catalog_id: row.catalog_id, run_id: row.id }, { key: row.id })
    return plain(row)
  } catch (error) {
    if (violatedConstraint(error) !== 'feed_runs_active') throw error
    throw badRequest('INVALID', 'An import of this feed is already under way; wait for its end', { attribute: 'state' })
  }
}

/** A check that is made while somebody waits: no job will ever touch it. */
export async function keepCheck(
  tx: Tx,
  { error, ...input }: { catalog_id: string; feed_format: FeedFormat; error: RunError },
  now: number
): Promise<RunRow> {
  const at = new Date(now)
  const row = await tx
    .insertInto('feed_runs')
    .values({
      ...input,
      id: newId(),
      feed_id: null,
      feed_url: '',
      trigger: 'request',
      validate_only: true,
      force: false,
      state: 'FAILED',
      error: JSON.stringify(error),
      created_at: at,
      started_at: at,
      finished_at: at
    })
    .returningAll()
    .executeTakeFirstOrThrow()
  return plain(row)
}

/** What came of it. */
export async function updateCheck(db: Db, run: RunRow, change: Partial<RunRow>): Promise<RunRow> {
  await db
    .updateTable('feed_runs')
    .set(stored(change))
    .where('catalog_id', '=', run.catalog_id)
    .where('id', '=', run.id)
    .execute()
  return { ...run, ...change }
}

export async function findRun(db: Db, catalogId: string, id: string): Promise<RunRow | undefined> {
  const row = await db
    .selectFrom('feed_runs')
    .selectAll()
    .where('catalog_id', '=', catalogId)
    .where('id', '=', id)
    .executeTakeFirst()
  return row && plain(row)
}

/** Of this feed; null stands for checks of addresses that are no feed. */
export async function getRun(db: Db, catalogId: string, feedId: string | null, id: string): Promise<RunRow> {
  const run = await findRun(db, catalogId, id)
  if (!run || run.feed_id !== feedId) throw notFound('NOT_FOUND', `Feed run ${id} was not found`)
  return run
}

export interface RunFilter {
  id?: string | undefined
  catalog_id?: string | undefined
  feed_id?: string | undefined
  state?: RunState | undefined
  /** Ids below this one. */
  before?: string
  /** Ids above this one, which come oldest first. */
  after?: string
  limit: number
}

/** Newest first, unless asked from below. */
export async function listRuns(db: Db, { before, after, limit, ...equal }: RunFilter): Promise<RunRow[]> {
  let query = db.selectFrom('feed_runs').selectAll()
  for (const column of ['id', 'catalog_id', 'feed_id', 'state'] as const) {
    const value = equal[column]
    if (value !== undefined) query = query.where(column, '=', value)
  }
  if (before !== undefined) query = query.where('id', '<', before)
  if (after !== undefined) query = query.where('id', '>', after)
  const rows = await query
    .orderBy('id', after === undefined ? 'desc' : 'asc')
    .limit(limit)
    .execute()
  return rows.map(plain)
}

type RunChange = Partial<Omit<RunRow, 'state'>>

const stored = ({ error, guard, issues, ...rest }: RunChange) => ({
  ...rest,
  ...(error === undefined ? {} : { error: error && JSON.stringify(error) }),
  ...(guard === undefined ? {} : { guard: guard && JSON.stringify(guard) }),
  ...(issues === undefined ? {} : { issues: JSON.stringify(issues) })
})

/** From one state to the next; false if the run is not where it could come from (or is gone). */
export async function moveRun(db: Db, run: Pick<RunRow, 'catalog_id' | 'id'>, to: RunState, change: RunChange = {}) {
  const { numUpdatedRows } = await db
    .updateTable('feed_runs')
    .set({ ...stored(change), state: to })
    .where('catalog_id', '=', run.catalog_id)
    .where('id', '=', run.id)
    .where('state', 'in', statesBefore(to))
    .executeTakeFirst()
  return numUpdatedRows === 1n
}

/** Counts and bytes, without another state. */
export async function noteProgress(db: Db, run: Pick<RunRow, 'catalog_id' | 'id'>, change: RunChange) {
  await db
    .updateTable('feed_runs')
    .set(stored(change))
    .where('catalog_id', '=', run.catalog_id)
    .where('id', '=', run.id)
    .execute()
}

/** "Only what was looked at": the rows that wait are merged, not those that the host has by now. */
export async function confirmRun(tx: Tx, run: RunRow) {
  if (run.state !== 'NEEDS_CONFIRMATION' || !(await moveRun(tx, run, 'MERGING', { confirmed: true })))
    throw badRequest('INVALID', `The run is ${run.state}; there is nothing to confirm`, { attribute: 'state' })
  await enqueue(tx, FEED_RUN, { catalog_id: run.catalog_id, run_id: run.id }, { key: run.id })
}

/** Forgets the runs of a feed or of a whole catalog, those under way included. */
export async function deleteRuns(tx: Db, catalogId: string, feedId?: string) {
  const ofFeed = feedId === undefined ? sql<boolean>`true` : sql<boolean>`feed_id = ${feedId}`
  const active = await tx
    .selectFrom('feed_runs')
    .select('id')
    .where('catalog_id', '=', catalogId)
    .where('state', 'in', ACTIVE_STATES)
    .where(ofFeed)
    .execute()
  for (const { id } of active) await cancelJob(tx, FEED_RUN, id)
  await tx.deleteFrom('feed_runs').where('catalog_id', '=', catalogId).where(ofFeed).execute()
}
