/** What the thread does: fetches a file and stages its rows. */
import pg from 'pg'
import { createEgress, EgressError } from '../../egress/index.ts'
import { type Fetched, fetchError, fetchFeed, isTransient } from './fetch.ts'
import { RejectedRows } from './rejected.ts'
import { IssueReport } from './report.ts'
import { FeedError } from './rows.ts'
import { stageFeed } from './stage.ts'
import type { FromThread, StageOutcome, StageTask } from './stage-thread.ts'

const PROGRESS_EVERY_MS = 500

async function open(task: StageTask, egress: ReturnType<typeof createEgress>): Promise<Fetched> {
  const { source, deadlineMs } = task
  if ('url' in source) return fetchFeed(egress, source, deadlineMs)
  const bytes = Buffer.from(source.bytes)
  const body = (async function* () {
    yield bytes
  })()
  return { kind: 'file', body, bytesTotal: bytes.length, etag: null, lastModified: null }
}

export async function runTask(task: StageTask, say: (message: FromThread) => void) {
  const egress = createEgress(task.egress)
  const pool = new pg.Pool({ ...task.connection, max: 2 })
  pool.on('error', () => {})
  try {
    say({ outcome: await perform(task, egress, pool, say) })
  } catch (error) {
    say({ broken: error instanceof Error ? (error.stack ?? error.message) : String(error) })
  } finally {
    await Promise.all([egress.close(), pool.end().catch(() => {})])
  }
}

async function perform(
  task: StageTask,
  egress: ReturnType<typeof createEgress>,
  pool: pg.Pool,
  say: (message: FromThread) => void
): Promise<StageOutcome> {
  const fetched = await open(task, egress)
  if (fetched.kind === 'not modified') return fetched
  if (fetched.kind === 'failed') return { ...fetched, issues: [], bytes: 0 }

  const report = new IssueReport()
  const rejected = new RejectedRows(pool, task.run, task.limits)
  let bytes = 0
  async function* counted() {
    for await (const chunk of (fetched as { body: AsyncIterable<Buffer> }).body) {
      bytes += chunk.length
      yield chunk
    }
  }
  let nextAt = 0
  const progress = (rows: number) => {
    if (performance.now() < nextAt) return
    nextAt = performance.now() + PROGRESS_EVERY_MS
    say({ progress: { rows, bytes, bytesTotal: fetched.bytesTotal } })
  }
  try {
    const { table, format, run } = task
    const staged = await stageFeed({
      pool,
      table,
      catalogId: run.catalog_id,
      source: counted(),
      format,
      report,
      keep: (rows) => rejected.keep(rows),
      progress
    })
    const { etag, lastModified } = fetched
    return { kind: 'staged', ...staged, issues: report.list(), rejectedKept: rejected.rows, bytes, etag, lastModified }
  } catch (error) {
    const issues = report.list()
    if (error instanceof FeedError) {
      const { code, message, at } = error
      return { kind: 'failed', error: { code, message, ...at }, transient: false, issues, bytes }
    }
    if (error instanceof EgressError)
      return { kind: 'failed', error: fetchError(error), transient: isTransient(error), issues, bytes }
    throw error
  }
}
