/** Checks (extension): what an import would say about an address or an uploaded sample. Nothing is imported. */
import type { Deps } from '../deps.ts'
import { badRequest, badRequests } from '../errors.ts'
import type { AdsScope } from '../http/ads.ts'
import { about, json, Refused, required } from '../http/ads-input.ts'
import { newId } from '../storage/ids.ts'
import type { FeedFormat } from './feed-import/detect.ts'
import { foresee } from './feed-import/guard.ts'
import { markDuplicates } from './feed-import/merge.ts'
import { RejectedRows } from './feed-import/rejected.ts'
import { IssueReport } from './feed-import/report.ts'
import { stageInThread } from './feed-import/stage-thread.ts'
import { dropStaging, stagingTable } from './feed-import/staging.ts'
import { FeedRun, shapeRun } from './feed-run-wire.ts'
import { getRun, type RunRow, startRun } from './feed-runs.ts'
import { rejectedCsv } from './rejected-csv.ts'
import { CATALOG, catalogRoute } from './routes.ts'
import { feedFormat, feedUrl, refuseAddress } from './scheduled-feeds.ts'
import { lockCatalog, transact } from './transactions.ts'

const CHECKS = `${CATALOG}/feed_checks`
const ONE = `${CHECKS}/:run_id`
/** A sample is judged while the caller waits. */
const SAMPLE_DEADLINE_MS = 60_000
const NOTHING_KEPT = { rowsMax: 0, bytesMax: 0 }

const sample = json(
  { type: 'string', description: 'The beginning of a feed file, as text.' },
  (raw, name) => {
    if (typeof raw !== 'string' || raw === '') throw new Refused(`Expected the text of a feed file for ${name}`)
    return raw
  },
  () => undefined
)

/** As an import would do it, up to the point where the catalog would change. */
async function checkSample(deps: Deps, catalogId: string, text: string, format: FeedFormat): Promise<RunRow> {
  const { database, egress, clock } = deps
  const { db, pool } = database
  const id = newId()
  const table = stagingTable(id, 'sample')
  const now = new Date(clock.now()).toISOString()
  const { connectionString, options } = database.connection
  const began = performance.now()
  const blank = {
    catalog_id: catalogId,
    id,
    feed_id: null,
    trigger: 'request',
    validate_only: true,
    force: false,
    confirmed: false,
    feed_url: '',
    feed_format: format,
    fetch_failures: 0,
    not_modified: false,
    etag: null,
    last_modified: null,
    staging_table: null,
    created_at: now,
    started_at: now,
    finished_at: now,
    next_fetch_at: null,
    guard: null,
    error: null,
    created: 0,
    updated: 0,
    unchanged: 0,
    rejected: 0,
    duplicate: 0,
    rows_read: 0,
    last_row: 0
  } as const
  const spent = (bytes: number) => ({
    bytes_read: bytes,
    bytes_total: bytes,
    elapsed_ms: Math.round(performance.now() - began)
  })
  try {
    const outcome = await stageInThread(
      {
        egress: egress.settings,
        connection: { connectionString, options },
        source: { bytes: Buffer.from(text) },
        deadlineMs: SAMPLE_DEADLINE_MS,
        format,
        run: { catalog_id: catalogId, id },
        limits: NOTHING_KEPT,
        table
      },
      { signal: AbortSignal.timeout(SAMPLE_DEADLINE_MS), progress: () => {} }
    )
    if (outcome.kind === 'not modified') throw new Error('a sample has no host')
    if (outcome.kind === 'failed') {
      const { error, issues, bytes } = outcome
      return { ...blank, ...spent(bytes), state: 'FAILED', error, issues }
    }
    const report = new IssueReport(outcome.issues)
    const duplicate = await markDuplicates(db, table)
    await new RejectedRows(pool, { catalog_id: catalogId, id }, NOTHING_KEPT).keepDuplicates(table, duplicate, report)
    const { created, updated, unchanged } = await foresee(db, catalogId, table)
    const { rows: rows_read, rejected, bytes } = outcome
    const counts = { rows_read, rejected, duplicate, created, updated, unchanged }
    return { ...blank, ...spent(bytes), ...counts, state: 'DONE', issues: report.list() }
  } finally {
    await dropStaging(pool, table)
  }
}

export function feedCheckRoutes(scope: AdsScope) {
  const { deps } = scope
  const { db } = deps.database
  const shared = { resource: 'scheduled_feeds', output: FeedRun, extension: true } as const

  catalogRoute(scope, {
    ...shared,
    method: 'POST',
    path: CHECKS,
    summary: 'Check a feed address (in the background) or a sample of a file (at once); nothing is imported.',
    input: {
      feed_format: required(feedFormat),
      feed_url: about(feedUrl, 'Where the file is; the answer is a run to look at again.'),
      sample
    },
    handler: async ({ catalog, input: { feed_format, feed_url, sample: text } }) => {
      if (feed_url !== undefined && text !== undefined)
        throw badRequest('EXCLUSIVE_PARAMETERS', 'feed_url and sample are exclusive parameters')
      if (text !== undefined) {
        const checked = await checkSample(deps, catalog.id, text, feed_format)
        return shapeRun({ ...checked, id: null, feed_url: null })
      }
      if (feed_url === undefined)
        throw badRequests([
          { code: 'MISSING_PARAMETER', message: '"feed_url" is a required parameter', parameter: 'feed_url' }
        ])
      await refuseAddress(deps.egress, feed_url)
      const input = { catalog_id: catalog.id, feed_id: null, feed_url, feed_format, trigger: 'request' } as const
      const run = await transact(db, async (tx) => {
        await lockCatalog(tx, catalog.id, 'key share')
        return startRun(tx, { ...input, validate_only: true }, deps.clock.now())
      })
      return shapeRun(run)
    }
  })

  catalogRoute(scope, {
    ...shared,
    method: 'GET',
    path: ONE,
    summary: 'A check of a feed address.',
    handler: async ({ catalog, path }) => shapeRun(await getRun(db, catalog.id, null, path.run_id!))
  })

  catalogRoute(scope, {
    ...shared,
    method: 'GET',
    path: `${ONE}/rejected_rows`,
    summary: 'Rows of a checked file that would not become products, as CSV.',
    file: 'text/csv; charset=utf-8',
    handler: async ({ catalog, path, reply }) => {
      const run = await getRun(db, catalog.id, null, path.run_id!)
      reply.header('content-disposition', `attachment; filename="rejected-${run.id}.csv"`)
      return rejectedCsv(db, catalog.id, run.id)
    }
  })
}
