/** Attempts over the past minutes in short steps, for a picture. Costs what the overview costs: at most so many rows. */
import { sql } from 'kysely'
import { type Clock, isoTime } from '../clock.ts'
import type { Db } from '../storage/db.ts'
import { reading } from './records.ts'

const WINDOW_SECONDS_MAX = 900
const STEPS = 90
const ATTEMPTS_READ_MAX = 200_000
const PROBE_SECONDS = 5

interface Step {
  at: number
  delivered: number
  failed: number
  p50: number | null
  p95: number | null
}

/** Under heavy load the window is shorter. Steps without attempts are there, too. */
export const overviewSeries = (db: Db, clock: Clock) => reading(db, (tx) => seriesOf(tx, clock), { blocks: true })

async function seriesOf(db: Db, clock: Clock) {
  const nowMs = clock.now()
  const probe = await sql<{ count: number }>`
    select count(*)::int as count from attempts
    where created_at >= ${isoTime(nowMs - PROBE_SECONDS * 1_000)} and created_at <= ${isoTime(nowMs)}`.execute(db)
  const perSecond = probe.rows[0]!.count / PROBE_SECONDS
  const affordable = ATTEMPTS_READ_MAX / Math.max(perSecond, 1)
  const stepSeconds = Math.max(1, Math.floor(Math.min(WINDOW_SECONDS_MAX, affordable) / STEPS))
  const stepMs = stepSeconds * 1_000
  const fromMs = (Math.floor(nowMs / stepMs) - STEPS + 1) * stepMs
  const { rows } = await sql<Step>`
    select floor(extract(epoch from created_at) / ${stepSeconds}::int)::int as at,
      count(*) filter (where outcome = 'delivered')::int as delivered,
      count(*) filter (where outcome in ('retry', 'failed'))::int as failed,
      percentile_disc(0.5) within group (order by latency_ms) as p50,
      percentile_disc(0.95) within group (order by latency_ms) as p95
    from attempts
    where created_at >= ${isoTime(fromMs)} and created_at <= ${isoTime(nowMs)} and attempt > 0
    group by 1`.execute(db)
  const known = new Map(rows.map((row) => [row.at, row]))
  const first = fromMs / stepMs
  return {
    at: isoTime(nowMs),
    step_seconds: stepSeconds,
    // The last step is not over yet.
    steps: Array.from({ length: STEPS }, (_, i) => {
      const { delivered = 0, failed = 0, p50 = null, p95 = null } = known.get(first + i) ?? {}
      return { at: isoTime((first + i) * stepMs), delivered, failed, p50, p95 }
    })
  }
}
