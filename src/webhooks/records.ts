/** What operators read of deliveries. Only reads: the pipeline itself goes through log.ts. */
import { sql } from 'kysely'
import { isoTime } from '../clock.ts'
import { notFound } from '../errors.ts'
import type { Db } from '../storage/db.ts'
import { type AttemptOutcome, type DeliveryState, stateOf } from './delivery-state.ts'
import type { Cause, LaneKey } from './log.ts'
import { type Bound, type Mark, type RecordPage, recordPage } from './record-pages.ts'

export interface DeliveryRow extends LaneKey {
  id: string
  created_at: string
  event_id: string | null
  kind: string
}

export interface AttemptRow {
  delivery_id: string
  /** Finds the delivery in its partition. */
  delivery_created_at: string
  created_at: string
  cause: Cause
  attempt: number
  outcome: AttemptOutcome
  status: number | null
  latency_ms: number | null
  error: string | null
  detail: string | null
  response: string | null
  next_attempt_at: string | null
  replay_id: string | null
}

export interface DeliveryRecord extends DeliveryRow {
  state: DeliveryState
  attempts: number
  last_attempt_at: string | null
  /** When the first acknowledgement came. */
  delivered_at: string | null
  status: number | null
  latency_ms: number | null
  error: string | null
  detail: string | null
  next_attempt_at: string | null
}

export interface DeliveryFilter {
  state?: DeliveryState
  event_id?: string
  kind?: string
  /** Created in [from, to). */
  from?: string
  to?: string
}

export interface PageQuery {
  max_results?: number
  pagination_token?: string
}

export const DELIVERIES_PER_PAGE = 50

/** Rows that a filtered page looks at; reading one of them costs a fraction of what its attempts cost. */
const SCAN_ROWS_MAX = 2_000
/** Where every row that is looked at has its attempts read. */
const SCAN_ATTEMPTS_MAX = 200

/**
 * Reads with plans that do not depend on what the tables happened to hold when they were last looked at: a scan that is
 * cheap on a short queue or a quiet day would be what makes a busy one worse. `blocks`: by the indexes that know only in
 * which blocks something may be (times, ids alone), which no other query should be tempted by.
 */
export const reading = <T>(db: Db, act: (tx: Db) => Promise<T>, { blocks = false } = {}): Promise<T> =>
  db.transaction().execute(async (tx) => {
    const off = ['enable_seqscan', 'enable_hashjoin', 'enable_mergejoin', 'jit']
    if (!blocks) off.push('enable_bitmapscan')
    await sql`select set_config(name, 'off', true) from unnest(${off}::text[]) as name`.execute(tx)
    return act(tx)
  })

const columns = sql`delivery.app_id, delivery.webhook_id, delivery.id, delivery.created_at, delivery.event_id, delivery.kind`
const ofLane = ({ app_id, webhook_id }: LaneKey) => sql`app_id = ${app_id} and webhook_id = ${webhook_id}`

/** All attempts at some deliveries of a webhook, in the order in which they were made. To be called within `reading`. */
export async function attemptsAt(db: Db, lane: LaneKey, ids: readonly string[], sinceIso?: string) {
  const byDelivery = new Map<string, AttemptRow[]>(ids.map((id) => [id, []]))
  if (ids.length === 0) return byDelivery
  const { rows } = await sql<AttemptRow>`
    select delivery_id, delivery_created_at, created_at, cause, attempt, outcome, status, latency_ms, error, detail,
      response, next_attempt_at, replay_id
    from attempts
    where ${ofLane(lane)} and outcome in ('delivered', 'retry', 'failed', 'held') and delivery_id = any(${ids}::text[])
      ${sinceIso ? sql`and created_at >= ${sinceIso}` : sql``}
    order by created_at, attempt`.execute(db)
  for (const row of rows) byDelivery.get(row.delivery_id)?.push(row)
  return byDelivery
}

export function recordOf(delivery: DeliveryRow, attempts: readonly AttemptRow[]): DeliveryRecord {
  const { app_id, webhook_id, id, created_at, event_id, kind } = delivery
  const made = attempts.filter(({ attempt }) => attempt > 0)
  const last = attempts.at(-1)
  const state = stateOf(attempts)
  const acknowledged = attempts.find(({ outcome }) => outcome === 'delivered')
  return {
    ...{ id, app_id, webhook_id, event_id, kind, created_at, state },
    attempts: made.length,
    last_attempt_at: made.at(-1)?.created_at ?? null,
    delivered_at: acknowledged ? endOf(acknowledged) : null,
    status: last?.status ?? null,
    latency_ms: last?.latency_ms ?? null,
    error: last?.error ?? null,
    detail: last?.detail ?? null,
    next_attempt_at:
      state === 'waiting'
        ? created_at
        : state === 'retrying'
          ? (attempts.findLast(({ outcome }) => outcome === 'retry')?.next_attempt_at ?? null)
          : null
  }
}

const endOf = ({ created_at, latency_ms }: AttemptRow) => isoTime(Date.parse(created_at) + (latency_ms ?? 0))

async function withAttempts(db: Db, lane: LaneKey, deliveries: readonly DeliveryRow[]): Promise<DeliveryRecord[]> {
  const ids = deliveries.map(({ id }) => id)
  const [oldest] = deliveries.map(({ created_at }) => created_at).sort()
  const attempts = await attemptsAt(db, lane, ids, oldest)
  return deliveries.map((delivery) => recordOf(delivery, attempts.get(delivery.id) ?? []))
}

export async function listDeliveries(db: Db, lane: LaneKey, filter: DeliveryFilter & PageQuery) {
  if (filter.event_id !== undefined) return pageOfEvent(db, lane, filter, filter.event_id)
  return reading(db, (tx) => pageOfDeliveries(tx, lane, filter))
}

/** By state, the narrowest table leads: the queue knows what waits, the attempts what ended. */
async function pageOfDeliveries(
  db: Db,
  lane: LaneKey,
  filter: DeliveryFilter & PageQuery
): Promise<RecordPage<DeliveryRecord>> {
  const size = filter.max_results ?? DELIVERIES_PER_PAGE
  const list = { name: `deliveries ${filter.state ?? ''}`, size, token: filter.pagination_token }
  if (filter.state === 'delivered' || filter.state === 'failed' || filter.state === 'held') {
    return byOutcome(db, lane, filter, filter.state, list)
  }
  const queued = filter.state === 'waiting' || filter.state === 'retrying'
  const page = await recordPage<DeliveryRow & { at: string }, DeliveryRow>({
    ...list,
    markOf: ({ at, id }) => ({ atMs: Date.parse(at), id: BigInt(id) }),
    load: (bound) =>
      queued ? loadQueued(db, lane, filter.state === 'retrying', bound) : loadRows(db, lane, filter, bound),
    ...(filter.kind !== undefined || (queued && (filter.from ?? filter.to) !== undefined)
      ? { keep: { scanMax: SCAN_ROWS_MAX, filter: async (rows) => rows.filter(wanted(filter)).map(itself) } }
      : {})
  })
  return { ...page, data: await withAttempts(db, lane, page.data) }
}

const itself = <T>(row: T) => ({ row, kept: row })

const wanted =
  ({ kind, from, to }: DeliveryFilter) =>
  (row: DeliveryRow) =>
    (kind === undefined || row.kind === kind) &&
    (from === undefined || row.created_at >= from) &&
    (to === undefined || row.created_at < to)

/** `column` and `id` are what the list is ordered by. */
function bounded(column: string, id: string, { before, after, limit }: Bound) {
  const order = sql.ref(column)
  const tie = sql.ref(id)
  const row = ({ atMs, id: mark }: Mark) => sql`(${isoTime(atMs)}::timestamptz, ${mark.toString()})`
  // The bound is said twice: the pair decides, the time alone tells which partitions matter.
  if (after)
    return {
      where: sql`and ${order} >= ${isoTime(after.atMs)}::timestamptz and (${order}, ${tie}) > ${row(after)}`,
      order: sql`order by ${order}, ${tie} limit ${limit}`
    }
  return {
    where: before
      ? sql`and ${order} <= ${isoTime(before.atMs)}::timestamptz and (${order}, ${tie}) < ${row(before)}`
      : sql``,
    order: sql`order by ${order} desc, ${tie} desc limit ${limit}`
  }
}

async function loadRows(db: Db, lane: LaneKey, { from, to }: DeliveryFilter, bound: Bound) {
  const { where, order } = bounded('delivery.created_at', 'delivery.id', bound)
  const { rows } = await sql<DeliveryRow & { at: string }>`
    select ${columns}, delivery.created_at as at from deliveries as delivery
    where ${ofLane(lane)} ${where}
      ${from === undefined ? sql`` : sql`and created_at >= ${from}`} ${to === undefined ? sql`` : sql`and created_at < ${to}`}
    ${order}`.execute(db)
  return rows
}

/** Ordered by when they are due, which for first attempts is when they were created. */
async function loadQueued(db: Db, lane: LaneKey, retry: boolean, bound: Bound) {
  const { where, order } = bounded('queue.due_at', 'queue.delivery_id', bound)
  const { rows } = await sql<DeliveryRow & { at: string }>`
    select ${columns}, queue.due_at as at
    from (
      select * from delivery_queue as queue
      where ${ofLane(lane)} and retry = ${retry} and cause = 'live' ${where} ${order}
    ) as queue
    join deliveries as delivery on delivery.app_id = queue.app_id and delivery.webhook_id = queue.webhook_id
      and delivery.created_at = queue.created_at and delivery.id = queue.delivery_id
    order by queue.due_at ${bound.after ? sql`` : sql`desc`}, queue.delivery_id ${bound.after ? sql`` : sql`desc`}`.execute(
    db
  )
  return rows
}

/** Newest deliveries first. One that failed and was delivered later, by a replay perhaps, is not among the failed. */
async function byOutcome(
  db: Db,
  lane: LaneKey,
  filter: DeliveryFilter,
  outcome: 'delivered' | 'failed' | 'held',
  list: { name: string; size: number; token: string | undefined }
) {
  return recordPage<string, DeliveryRecord>({
    ...list,
    markOf: (id) => ({ atMs: 0, id: BigInt(id) }),
    load: async ({ before, after, limit }) => {
      const { rows } = await sql<{ delivery_id: string }>`
        select delivery_id from attempts where ${ofLane(lane)} and outcome = ${outcome}
          ${after ? sql`and delivery_id > ${after.id.toString()}` : sql``}
          ${before ? sql`and delivery_id < ${before.id.toString()}` : sql``}
        group by delivery_id order by delivery_id ${after ? sql`` : sql`desc`} limit ${limit}`.execute(db)
      return rows.map((row) => row.delivery_id)
    },
    keep: {
      scanMax: SCAN_ATTEMPTS_MAX,
      filter: async (ids) => {
        const attempts = await attemptsAt(db, lane, ids)
        const fitting = ids.filter((id) => stateOf(attempts.get(id)!) === outcome)
        const keys = fitting.map((id) => attempts.get(id)![0]!)
        const rows = new Map((await deliveriesWithKeys(db, lane, keys)).map((row) => [row.id, row]))
        return fitting.flatMap((id) => {
          const delivery = rows.get(id)
          return delivery && wanted(filter)(delivery) ? [{ row: id, kept: recordOf(delivery, attempts.get(id)!) }] : []
        })
      }
    }
  })
}

type DeliveryKey = Pick<AttemptRow, 'delivery_id' | 'delivery_created_at'>

async function deliveriesWithKeys(db: Db, lane: LaneKey, keys: readonly DeliveryKey[]) {
  if (keys.length === 0) return []
  const { rows } = await sql<DeliveryRow>`
    select ${columns}
    from unnest(
      ${keys.map((key) => key.delivery_created_at)}::timestamptz[], ${keys.map((key) => key.delivery_id)}::text[]
    ) as key (created_at, id)
    cross join lateral (
      select * from deliveries where ${ofLane(lane)} and created_at = key.created_at and id = key.id
    ) as delivery`.execute(db)
  return rows
}

/** Few: one per subscription that matched. */
export async function deliveriesOfEvent(db: Db, lane: LaneKey, eventId: string): Promise<DeliveryRecord[]> {
  // Materialized, so that the order asked for does not lead to a walk through everything in that order.
  const find = sql<DeliveryRow>`
    with found as materialized (
      select ${columns} from deliveries as delivery where ${ofLane(lane)} and event_id = ${eventId}
    )
    select * from found order by created_at desc, id desc limit 1000`
  const { rows } = await reading(db, (tx) => find.execute(tx), { blocks: true })
  return reading(db, (tx) => withAttempts(tx, lane, rows))
}

async function pageOfEvent(
  db: Db,
  lane: LaneKey,
  filter: DeliveryFilter,
  eventId: string
): Promise<RecordPage<DeliveryRecord>> {
  const all = await deliveriesOfEvent(db, lane, eventId)
  const data = all.filter((each) => wanted(filter)(each) && (filter.state ?? each.state) === each.state)
  return { data, meta: { result_count: data.length } }
}

export const deliveryNotFound = (id: string) =>
  notFound('DELIVERY_NOT_FOUND', `There is no delivery ${id}; records are dropped when their retention is over.`)

/** With its body, by its id alone. */
export async function getDelivery(db: Db, id: string) {
  const find = sql<DeliveryRow & { body: Buffer }>`
    select ${columns}, delivery.body from deliveries as delivery where id = ${id}`
  const { rows } = await reading(db, (tx) => find.execute(tx), { blocks: true })
  if (!rows[0]) throw deliveryNotFound(id)
  return rows[0]
}

/** The row that waits for a delivery in the queue, whatever put it there. */
export async function findQueued(db: Db, lane: LaneKey, id: string) {
  const { rows } = await sql<{ due_at: string; cause: Cause; attempts: number }>`
    select due_at, cause, attempts from delivery_queue where ${ofLane(lane)} and delivery_id = ${id}`.execute(db)
  return rows[0]
}
