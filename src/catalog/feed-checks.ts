/** Checks (extension): what an import would say about an address or an uploaded sample. Nothing but the report is kept. */
import type { Deps } from '../deps.ts'
import { badRequest, badRequests } from '../errors.ts'
import type { AdsScope } from '../http/ads.ts'
import { about, json, Refused, required } from '../http/ads-input.ts'
import type { FeedFormat } from './feed-import/detect.ts'
import { foresee } from './feed-import/guard.ts'
import { markDuplicates } from './feed-import/merge.ts'
import { type RejectedLimits, RejectedRows } from './feed-import/rejected.ts'
import { IssueReport } from './feed-import/report.ts'
import { stageInThread } from './feed-import/stage-thread.ts'
import { dropStaging, stagingTable } from './feed-import/staging.ts'
import { FeedRun, shapeRun } from './feed-run-wire.ts'
import { getRun, keepCheck, type RunRow, startRun, updateCheck } from './feed-runs.ts'
import { CSV_TYPE, sendRejected } from './rejected-csv.ts'
import { CATALOG, catalogRoute } from './routes.ts'
import { feedFormat, feedUrl, refuseAddress } from './scheduled-feeds.ts'
import { lockCatalog, transact } from './transactions.ts'

const CHECKS = `${CATALOG}/feed_checks`
const ONE = `${CHECKS}/:run_id`
/** A sample is judged while the caller waits. */
const SAMPLE_DEADLINE_MS = 60_000
/** What a report says whose making was cut off. */
const INTERRUPTED = { code: 'INTERRUPTED', message: 'The check was interrupted. Check the file again.' }

const sample = json(
  { type: 'string', description: 'The beginning of a feed file, as text.' },
  (raw, name) => {
    if (typeof raw !== 'string' || raw === '') throw new Refused(`Expected the text of a feed file for ${name}`)
    return raw
  },
  () => undefined
)

/** As an import would do it, up to the point where the catalog would change. */
async function checkSample(
  deps: Deps,
  catalogId: string,
  text: string,
  format: FeedFormat,
  limits: RejectedLimits
): Promise<RunRow> {
  const { database, egress, clock } = deps
  const { db, pool } = database
  const began = performance.now()
  // Rejected rows belong to a run. Until this one has an end it is one that failed, in case this node dies.
  const run = await transact(db, async (tx) => {
    await lockCatalog(tx, catalogId, 'key share')
    return keepCheck(tx, { catalog_id: catalogId, feed_format: format, error: INTERRUPTED }, clock.now())
  })
  const table = stagingTable(run.id, 'sample')
  const { connectionString, options } = database.connection
  const end = (bytes: number, change: Partial<RunRow>) =>
    updateCheck(db, run, {
      bytes_read: bytes,
      bytes_total: bytes,
      elapsed_ms: Math.round(performance.now() - began),
      ...change
    })
  try {
    const outcome = await stageInThread(
      {
        egress: egress.settings,
        connection: { connectionString, options },
        source: { bytes: Buffer.from(text) },
        deadlineMs: SAMPLE_DEADLINE_MS,
        format,
        run: { catalog_id: catalogId, id: run.id },
        limits,
        table
      },
      { signal: AbortSignal.timeout(SAMPLE_DEADLINE_MS), progress: () => {} }
    )
    if (outcome.kind === 'not modified') throw new Error('a sample has no host')
    if (outcome.kind === 'failed') return await end(outcome.bytes, { error: outcome.error, issues: outcome.issues })
    const report = new IssueReport(outcome.issues)
    const duplicate = await markDuplicates(db, table)
    await new RejectedRows(pool, run, limits, outcome.rejectedKept).keepDuplicates(table, duplicate, report)
    const { created, updated, unchanged } = await foresee(db, catalogId, table)
    const { rows: rows_read, rejected, bytes } = outcome
    const counts = { rows_read, rejected, duplicate, created, updated, unchanged }
    return await end(bytes, { ...counts, state: 'DONE', error: null, issues: report.list() })
  } finally {
    await dropStaging(pool, table)
  }
}

export function feedCheckRoutes(scope: AdsScope, limits: RejectedLimits) {
  const { deps } = scope
  const { db } = deps.database
  const shared = { resource: 'scheduled_feeds', output: FeedRun, extension: true } as const

  catalogRoute(scope, {
    ...shared,
    method: 'POST',
    path: CHECKS,
    summary: 'Check a feed address (in the background) or a sample of a file (at once); nothing is imported.',
    jsonBody: true,
    input: {
      feed_format: required(feedFormat),
      feed_url: about(feedUrl, 'Where the file is; the answer is a run to look at again.'),
      sample
    },
    handler: async ({ catalog, input: { feed_format, feed_url, sample: text } }) => {
      if (feed_url !== undefined && text !== undefined)
        throw badRequest('EXCLUSIVE_PARAMETERS', 'feed_url and sample are exclusive parameters')
      if (text !== undefined) {
        return shapeRun(await checkSample(deps, catalog.id, text, feed_format, limits))
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
    summary: 'A check of a feed address or of a sample.',
    handler: async ({ catalog, path }) => shapeRun(await getRun(db, catalog.id, null, path.run_id!))
  })

  catalogRoute(scope, {
    ...shared,
    method: 'GET',
    path: `${ONE}/rejected_rows`,
    summary: 'Rows of a checked file that would not become products, as CSV.',
    file: CSV_TYPE,
    handler: async ({ catalog, path, reply }) =>
      sendRejected(reply, db, await getRun(db, catalog.id, null, path.run_id!))
  })
}
