/** How an import looks in answers, to merchants and to the operator alike. */
import { isActive, RUN_STATES } from './feed-run-states.ts'
import type { RunRow } from './feed-runs.ts'
import { Bool, Int, IntOrNull, Text, TextOrNull, Whole, WholeOrNull } from './wire.ts'

const POSITION = { row: IntOrNull, line: IntOrNull, column: IntOrNull }

export const RUN_FIELDS = {
  id: Text,
  product_catalog_id: Text,
  scheduled_feed_id: TextOrNull,
  trigger: Text,
  validate_only: Bool,
  state: { type: 'string', enum: [...RUN_STATES] },
  /** Null for a file that was uploaded. */
  feed_url: TextOrNull,
  feed_format: Text,
  created_at: Text,
  started_at: TextOrNull,
  finished_at: TextOrNull,
  /** When a download that failed is tried again. */
  next_fetch_at: TextOrNull,
  /** The host said that the file is the one imported last. */
  not_modified: Bool,
  progress: Whole({
    bytes_read: Int,
    bytes_total: IntOrNull,
    rows_read: Int,
    seconds: { type: 'number' },
    rows_per_second: IntOrNull,
    bytes_per_second: IntOrNull,
    seconds_left: IntOrNull
  }),
  /** Every row that was read is counted in one of the others. */
  counts: Whole({ read: Int, created: Int, updated: Int, unchanged: Int, rejected: Int, duplicate: Int }),
  error: WholeOrNull({ code: Text, message: Text, ...POSITION, byte: IntOrNull }),
  guard: WholeOrNull({ code: Text, message: Text, catalog_products: Int, created: Int, changed: Int }),
  issues: {
    type: 'array',
    items: Whole({
      severity: Text,
      code: Text,
      field: TextOrNull,
      count: Int,
      samples: {
        type: 'array',
        items: Whole({ ...POSITION, field: TextOrNull, value: TextOrNull, message: Text })
      }
    })
  }
}
export const FeedRun = Whole(RUN_FIELDS)

export function shapeRun(run: RunRow) {
  const { bytes_read, bytes_total, rows_read, elapsed_ms, error } = run
  const seconds = elapsed_ms / 1000
  const perSecond = (count: number) => (seconds > 0 ? Math.round(count / seconds) : null)
  const left =
    run.state === 'FETCHING' && bytes_total !== null && bytes_read > 0
      ? Math.max(0, Math.ceil(((bytes_total - bytes_read) * seconds) / bytes_read))
      : null
  return {
    ...run,
    product_catalog_id: run.catalog_id,
    scheduled_feed_id: run.feed_id,
    feed_url: run.feed_url || null,
    next_fetch_at: isActive(run.state) ? run.next_fetch_at : null,
    progress: {
      bytes_read,
      bytes_total,
      rows_read,
      seconds,
      rows_per_second: perSecond(rows_read),
      bytes_per_second: perSecond(bytes_read),
      seconds_left: left
    },
    counts: {
      read: rows_read,
      created: run.created,
      updated: run.updated,
      unchanged: run.unchanged,
      rejected: run.rejected,
      duplicate: run.duplicate
    },
    error: error && { row: null, line: null, column: null, byte: null, ...error },
    issues: run.issues.map((issue) => ({
      ...issue,
      samples: issue.samples.map((sample) => ({ ...sample, field: issue.field }))
    }))
  }
}
