/** How deliveries are doing right now, from queries that stay cheap under load. */
import { sql } from 'kysely'
import { type Clock, isoTime } from '../clock.ts'
import type { Db } from '../storage/db.ts'
import { reading } from './records.ts'

/** The figures are of the past five minutes, or of as much of it as holds about this many attempts. */
const WINDOW_SECONDS_MAX = 300
const ATTEMPTS_READ_MAX = 100_000
const PROBE_SECONDS = 10
const BACKLOG_COUNTED_MAX = 100_000
const LANES_LOOKED_AT_MAX = 1_000
const LANES_SHOWN_MAX = 20
const LANE_BACKLOG_COUNTED_MAX = 10_000

interface Figures {
  attempts: number
  delivered: number
  retried: number
  failed: number
  p50: number | null
  p95: number | null
  p99: number | null
}

/** Only what was sent counts: `attempt > 0`. */
async function attemptsSince(db: Db, fromMs: number, toMs: number) {
  const { rows } = await sql<Figures>`
    select count(*)::int as attempts, count(*) filter (where outcome = 'delivered')::int as delivered,
      count(*) filter (where outcome = 'retry')::int as retried, count(*) filter (where outcome = 'failed')::int as failed,
      percentile_disc(0.5) within group (order by latency_ms) as p50,
      percentile_disc(0.95) within group (order by latency_ms) as p95,
      percentile_disc(0.99) within group (order by latency_ms) as p99
    from attempts where created_at >= ${isoTime(fromMs)} and created_at <= ${isoTime(toMs)} and attempt > 0`.execute(db)
  return rows[0]!
}

export const overview = (db: Db, clock: Clock) => reading(db, (tx) => figuresOf(tx, clock), { blocks: true })

async function figuresOf(db: Db, clock: Clock) {
  const nowMs = clock.now()
  const probe = await attemptsSince(db, nowMs - PROBE_SECONDS * 1_000, nowMs)
  const perSecond = probe.attempts / PROBE_SECONDS
  const windowSeconds = Math.round(
    Math.max(PROBE_SECONDS, Math.min(WINDOW_SECONDS_MAX, ATTEMPTS_READ_MAX / Math.max(perSecond, 1)))
  )
  const figures =
    windowSeconds === PROBE_SECONDS ? probe : await attemptsSince(db, nowMs - windowSeconds * 1_000, nowMs)
  const { attempts, delivered, retried, failed, p50, p95, p99 } = figures
  const backlog = await countBacklog(db)
  const webhooks = await countWebhooks(db)
  const lanes = await oldestLanes(db)
  return {
    at: isoTime(nowMs),
    window_seconds: windowSeconds,
    ...{ attempts, delivered, retried, failed },
    deliveries_per_second: Math.round((delivered / windowSeconds) * 100) / 100,
    success_rate: attempts === 0 ? null : delivered / attempts,
    latency_ms: { p50, p95, p99 },
    backlog: Math.min(backlog, BACKLOG_COUNTED_MAX),
    backlog_counted_to_end: backlog <= BACKLOG_COUNTED_MAX,
    oldest_due_at: lanes[0]?.oldest_due_at ?? null,
    ...webhooks,
    oldest_by_webhook: lanes
  }
}

async function countBacklog(db: Db) {
  const { rows } = await sql<{ count: number }>`
    select count(*)::int as count from (select from delivery_queue limit ${BACKLOG_COUNTED_MAX + 1}) as counted`.execute(
    db
  )
  return rows[0]!.count
}

async function countWebhooks(db: Db) {
  const { rows } = await sql<{ webhooks: number; invalid_webhooks: number }>`
    select count(*)::int as webhooks, count(*) filter (where not valid)::int as invalid_webhooks from webhooks`.execute(
    db
  )
  return rows[0]!
}

/** A walk over the queue's key, one step per webhook, as the delivery engine does it. */
async function oldestLanes(db: Db) {
  const { rows } = await sql<{ app_id: string; webhook_id: string; oldest_due_at: string; backlog: number }>`
    with recursive lanes as (
      (select app_id, webhook_id, 1 as step from delivery_queue order by app_id, webhook_id limit 1)
      union all
      select next.app_id, next.webhook_id, lanes.step + 1 from lanes cross join lateral (
        select queue.app_id, queue.webhook_id from delivery_queue as queue
        where (queue.app_id, queue.webhook_id) > (lanes.app_id, lanes.webhook_id)
        order by queue.app_id, queue.webhook_id limit 1
      ) as next
      where lanes.step < ${LANES_LOOKED_AT_MAX}
    ), oldest as (
      select lanes.app_id, lanes.webhook_id, least(
        (select min(due_at) from delivery_queue as q where q.app_id = lanes.app_id and q.webhook_id = lanes.webhook_id and not retry),
        (select min(due_at) from delivery_queue as q where q.app_id = lanes.app_id and q.webhook_id = lanes.webhook_id and retry)
      ) as oldest_due_at
      from lanes order by oldest_due_at limit ${LANES_SHOWN_MAX}
    )
    select oldest.*, (select count(*)::int from (
      select from delivery_queue as q where q.app_id = oldest.app_id and q.webhook_id = oldest.webhook_id
      limit ${LANE_BACKLOG_COUNTED_MAX}
    ) as counted) as backlog
    from oldest order by oldest_due_at`.execute(db)
  return rows
}
