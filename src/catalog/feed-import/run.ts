/** One import from the address to the catalog. The catalog changes in one transaction at the end, or not at all. */
import { sql } from 'kysely'
import { Type } from 'typebox'
import { isoTime } from '../../clock.ts'
import type { Deps } from '../../deps.ts'
import { defineJob, type JobContext, type JobDefinition, type RunAgain } from '../../storage/jobs.ts'
import type { RunState } from '../feed-run-states.ts'
import { FEED_RUN, findRun, moveRun, noteProgress, type RunRow } from '../feed-runs.ts'
import { countProducts, type Effect, foresee, GUARDED_PRODUCTS_MIN, judge } from './guard.ts'
import { markDuplicates, mergeStaged } from './merge.ts'
import { type RejectedLimits, RejectedRows } from './rejected.ts'
import { IssueReport } from './report.ts'
import {
  type StagedFile,
  type StageOutcome,
  type StageProgress,
  type StageTask,
  stageInThread
} from './stage-thread.ts'
import { dropStaging, isStaged, stagingTable } from './staging.ts'

/** A scheduled download that fails for a passing reason is tried again; the next schedule may be a week away. */
const FETCH_AGAIN_SECONDS = [60, 600, 3_600]
const TRIES_MAX = 5

export interface ImportSettings extends RejectedLimits {
  deadlineMs: number
  guardPercent: number
  checkImages: boolean
}

type ImportDeps = Pick<Deps, 'egress' | 'database' | 'clock'>

export const feedRunJob = (deps: ImportDeps, settings: ImportSettings): JobDefinition =>
  defineJob(FEED_RUN, {
    schema: Type.Object({ catalog_id: Type.String(), run_id: Type.String() }),
    concurrency: 2,
    leaseSeconds: 30,
    retryDelaysSeconds: [1, 10, 60, 300],
    async run({ catalog_id, run_id }, context) {
      const run = await findRun(deps.database.db, catalog_id, run_id)
      if (!run) return undefined
      const attempt = new Attempt(deps, settings, run, context)
      if (context.job.attempts > TRIES_MAX) return attempt.giveUp()
      return attempt.run()
    }
  })

type FailedFile = Extract<StageOutcome, { kind: 'failed' }>

const counted = ({ created, updated, unchanged }: Effect) => ({ created, updated, unchanged })

class Attempt {
  readonly #deps: ImportDeps
  readonly #settings: ImportSettings
  readonly #run: RunRow
  readonly #context: JobContext
  readonly #startedAt = performance.now()
  /** Spent and read before; nothing when the file is fetched anew, so that rates are those of this download. */
  #elapsedMs: number
  #bytes: number

  constructor(deps: ImportDeps, settings: ImportSettings, run: RunRow, context: JobContext) {
    this.#deps = deps
    this.#settings = settings
    this.#run = run
    this.#context = context
    this.#elapsedMs = run.elapsed_ms
    this.#bytes = run.bytes_read
  }

  async run(): Promise<RunAgain | undefined> {
    const run = this.#run
    const { database } = this.#deps
    if (run.state === 'MERGING' && run.staging_table !== null) {
      // Staged before: by a worker that died, or it had to be confirmed.
      if (await isStaged(database.pool, run.staging_table, run.rows_read)) {
        await this.#merge(run.staging_table)
        return undefined
      }
    }
    if (!(await this.#begin())) return undefined
    const { job, signal } = this.#context
    const table = stagingTable(run.id, `${job.id}_${job.attempts}`)
    let kept = false
    try {
      const task = await this.#task(table)
      const outcome = await stageInThread(task, { signal, progress: this.#progress() })
      if (outcome.kind === 'not modified') await this.#end('DONE', { not_modified: true })
      else if (outcome.kind === 'failed') return await this.#failed(outcome)
      else {
        const next = await this.#staged(outcome, table)
        // From here on the rows are worth keeping, whatever happens to this worker.
        kept = next !== 'end'
        if (next === 'merge') await this.#merge(table)
      }
    } finally {
      if (!kept) await dropStaging(database.pool, table).catch(() => {})
    }
    return undefined
  }

  async #task(table: string): Promise<StageTask> {
    const { egress, database } = this.#deps
    const { catalog_id, id, feed_url: url, feed_format: format } = this.#run
    const { deadlineMs, rowsMax, bytesMax } = this.#settings
    const { connectionString, options } = database.connection
    return {
      egress: egress.settings,
      connection: { connectionString, options },
      source: { url, ...(await this.#validators()) },
      deadlineMs,
      format,
      run: { catalog_id, id },
      limits: { rowsMax, bytesMax },
      table
    }
  }

  /** It was tried again and again, and never ended; the reason is in the log. */
  async giveUp(): Promise<undefined> {
    const message =
      'The import stopped several times without a result. Try again; if it happens again, ask the operator.'
    await this.#end('FAILED', { error: { code: 'INTERRUPTED', message } })
  }

  /** Also after a worker that died: whatever it had counted is forgotten. */
  #begin() {
    const { catalog_id, id, started_at, confirmed, guard } = this.#run
    const noRows = { rows_read: 0, rejected: 0, duplicate: 0, created: 0, updated: 0, unchanged: 0 }
    const nothing = { ...noRows, bytes_read: 0, bytes_total: null, elapsed_ms: 0 }
    this.#bytes = 0
    this.#elapsedMs = 0
    return this.#context.transaction(async (tx) => {
      await tx.deleteFrom('feed_rejected_rows').where('catalog_id', '=', catalog_id).where('run_id', '=', id).execute()
      return moveRun(tx, this.#run, 'FETCHING', {
        ...nothing,
        started_at: started_at ?? isoTime(this.#deps.clock.now()),
        next_fetch_at: null,
        staging_table: null,
        // What somebody confirmed is gone; the file may be another by now.
        confirmed: confirmed && guard === null
      })
    })
  }

  /** What the host said about the file imported last, unless it is to be fetched in any case. */
  async #validators() {
    const { catalog_id, feed_id, force, validate_only, feed_url, feed_format } = this.#run
    const none = { etag: null, lastModified: null }
    if (feed_id === null || force || validate_only) return none
    const feed = await this.#deps.database.db
      .selectFrom('scheduled_feeds')
      .select(['etag', 'last_modified as lastModified'])
      .where('catalog_id', '=', catalog_id)
      .where('id', '=', feed_id)
      .where('feed_url', '=', feed_url)
      .where('feed_format', '=', feed_format)
      .executeTakeFirst()
    return feed ?? none
  }

  /** Says what is to become of the staged rows. */
  async #staged(staged: StagedFile, table: string): Promise<'merge' | 'wait' | 'end'> {
    const { db, pool } = this.#deps.database
    const { catalog_id: catalogId, validate_only, confirmed } = this.#run
    this.#bytes = staged.bytes
    const report = new IssueReport(staged.issues)
    const duplicate = await markDuplicates(db, table)
    const rejected = new RejectedRows(pool, this.#run, this.#settings, staged.rejectedKept)
    await rejected.keepDuplicates(table, duplicate, report)
    const facts = {
      ...this.#spent(),
      bytes_total: this.#bytes,
      rows_read: staged.rows,
      rejected: staged.rejected,
      duplicate,
      last_row: staged.lastRow,
      issues: report.list(),
      etag: staged.etag,
      last_modified: staged.lastModified
    }
    if (validate_only) {
      await this.#end('DONE', { ...facts, ...counted(await foresee(db, catalogId, table)) })
      return 'end'
    }
    const worry = confirmed ? undefined : await this.#worry(table, staged.written)
    if (worry) {
      const { effect, guard } = worry
      await this.#end('NEEDS_CONFIRMATION', { ...facts, ...counted(effect), guard, staging_table: table })
      return 'wait'
    }
    const moved = await this.#context.transaction((tx) =>
      moveRun(tx, this.#run, 'MERGING', { ...facts, staging_table: table })
    )
    Object.assign(this.#run, facts)
    return moved ? 'merge' : 'end'
  }

  /** Why the import should not go on by itself, if it should not. */
  async #worry(table: string, written: number) {
    const { db } = this.#deps.database
    const { guardPercent } = this.#settings
    const { catalog_id } = this.#run
    if (written < GUARDED_PRODUCTS_MIN / 100) return undefined
    const products = await countProducts(db, catalog_id)
    if (products < GUARDED_PRODUCTS_MIN || (100 * written) / products <= guardPercent) return undefined
    const effect = await foresee(db, catalog_id, table)
    const guard = judge(products, effect, guardPercent)
    return guard && { effect, guard }
  }

  /** The rows, the report and the end of the job become true together. */
  async #merge(table: string) {
    const { database, clock } = this.#deps
    const { signal } = this.#context
    const { catalog_id: catalogId, feed_id: feedId, rows_read, rejected, duplicate, last_row: lastRow } = this.#run
    let pid: number | undefined
    // A merge may take minutes; a node that stops does not wait for it.
    const cancel = () => pid && database.pool.query('select pg_cancel_backend($1)', [pid]).catch(() => {})
    signal.addEventListener('abort', cancel)
    try {
      await this.#context.transaction(async (tx) => {
        pid = (await sql<{ pid: number }>`select pg_backend_pid() as pid`.execute(tx)).rows[0]!.pid
        signal.throwIfAborted()
        const now = clock.now()
        const { checkImages } = this.#settings
        const { created, updated } = await mergeStaged(tx, { catalogId, table, lastRow, now, checkImages })
        const unchanged = rows_read - rejected - duplicate - created - updated
        const end = { ...this.#spent(), finished_at: isoTime(now), staging_table: null, error: null }
        await moveRun(tx, this.#run, 'DONE', { created, updated, unchanged, ...end })
        await tx
          .updateTable('scheduled_feeds')
          .set({ etag: this.#run.etag, last_modified: this.#run.last_modified })
          .where('catalog_id', '=', catalogId)
          .where('id', '=', feedId)
          // What was said about a file at another address means nothing here.
          .where('feed_url', '=', this.#run.feed_url)
          .where('feed_format', '=', this.#run.feed_format)
          .execute()
        await this.#context.finish(tx)
      })
    } finally {
      signal.removeEventListener('abort', cancel)
    }
    // If it stays behind, it is swept later.
    await dropStaging(database.pool, table).catch(() => {})
  }

  async #failed({ error, transient, issues, bytes }: FailedFile): Promise<RunAgain | undefined> {
    this.#bytes = bytes
    const { trigger, fetch_failures } = this.#run
    const seconds = transient && trigger === 'schedule' ? FETCH_AGAIN_SECONDS[fetch_failures] : undefined
    const facts = { ...this.#spent(), issues, error }
    if (seconds === undefined) {
      await this.#end('FAILED', facts)
      return undefined
    }
    const againAt = this.#deps.clock.now() + seconds * 1_000
    const next = { fetch_failures: fetch_failures + 1, next_fetch_at: isoTime(againAt) }
    await this.#context.transaction((tx) => moveRun(tx, this.#run, 'QUEUED', { ...facts, ...next }))
    return { againAt }
  }

  #end(state: RunState, change: Parameters<typeof moveRun>[3]) {
    const finished = state === 'NEEDS_CONFIRMATION' ? {} : { finished_at: isoTime(this.#deps.clock.now()) }
    return this.#context.transaction(async (tx) => {
      // What went wrong in an earlier try is over.
      await moveRun(tx, this.#run, state, { ...this.#spent(), ...finished, error: null, ...change })
      await this.#context.finish(tx)
    })
  }

  #spent() {
    return {
      bytes_read: this.#bytes,
      elapsed_ms: Math.round(this.#elapsedMs + performance.now() - this.#startedAt)
    }
  }

  /** Writes down now and then how far it has come; stops when this worker is no longer the one to do it. */
  #progress() {
    let noting = false
    let failure: unknown
    const note = async ({ rows, bytes, bytesTotal }: StageProgress) => {
      noting = true
      this.#bytes = bytes
      const change = { ...this.#spent(), rows_read: rows, bytes_total: bytesTotal }
      // Also tells when another worker has this job by now.
      await this.#context
        .transaction((tx) => noteProgress(tx, this.#run, change))
        .catch((error) => {
          failure = error
        })
      noting = false
    }
    return (now: StageProgress) => {
      if (failure !== undefined) throw failure
      if (!noting) void note(now)
    }
  }
}
