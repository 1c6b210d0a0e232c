/**
 * Everything the delivery pipeline asks of its log: append, claim, complete, read a time range. PostgreSQL today; a
 * clustered event log may stand beside it here, so nothing else in the pipeline knows these tables. See decisions/0021.
 */
import { CompiledQuery } from 'kysely'
import pg from 'pg'
import { type Clock, isoTime } from '../clock.ts'
import type { Database, Db } from '../storage/db.ts'
import { newId } from '../storage/ids.ts'
import * as statements from './log-statements.ts'
import { createPartitions, dropPartitions, type Partitions, partitionEnd } from './retention.ts'

export type Cause = 'live' | 'resend' | 'replay'
export type FinalOutcome = 'delivered' | 'failed' | 'held'

export interface LaneKey {
  app_id: string
  webhook_id: string
}

/** What a publisher asks to be sent. */
export interface NewDelivery extends LaneKey {
  event_id?: string | null
  /** What the body is, for the records: the name of a product, 'test', 'replay_status'. */
  kind?: string
  /** Exactly the bytes to send: UTF-8 JSON. */
  body: Uint8Array | string
}

/** What a lane sends. The times are ISO strings to the millisecond, as they are in the queue's key. */
export interface Delivery extends LaneKey {
  id: string
  created_at: string
  due_at: string
  retry: boolean
  /** Attempts made before this one. */
  attempts: number
  cause: Cause
  body: Buffer
}

/** What became of an attempt. */
export interface Settled {
  delivery: Delivery
  /** Of the lane, when it was sent. */
  epoch: number
  outcome: 'delivered' | 'retry' | 'failed'
  startedAtMs: number
  latencyMs: number
  status?: number
  error?: string
  detail?: string
  response?: string
  nextAttemptAtMs?: number
}

/** A lane that has something in the queue. */
export interface Waiting extends LaneKey {
  /** The node that owns the lane, if any does. */
  node_id: string | null
  /** First attempts that are due. */
  fresh_at: string | null
  /** The earliest retry, due or not. */
  retry_at: string | null
}

export interface Want extends LaneKey {
  retry: boolean
  count: number
}

/** A delivery of a past range, for a replay. */
export type Past = Pick<Delivery, 'id' | 'created_at' | 'body'>

export interface Range extends LaneKey {
  from: string
  to: string
  after?: { created_at: string; id: string }
  /** Leaves out what this job has already tried; needed only when it continues after a crash. */
  notTriedBy?: { replay_id: string; since: string }
  limit: number
}

/** A batch of a replay, and how far the job has come with it. */
export interface Replayed extends LaneKey {
  epoch: number
  replay_id: string
  /** When the job began. */
  since: string
  cursor: { created_at: string; id: string } | undefined
  settled: readonly Settled[]
}

export interface Pruned {
  expired: number
  /** Names of partitions. */
  dropped: string[]
}

export interface DeliveryLog {
  partitions: Partitions
  append(tx: Db, deliveries: readonly NewDelivery[]): Promise<Delivery[]>
  waiting(): Promise<Waiting[]>
  claim(wants: readonly Want[], known: readonly string[]): Promise<Delivery[]>
  complete(settled: readonly Settled[]): Promise<number>
  hold(lane: LaneKey, except: readonly string[]): Promise<number>
  forgetOrphans(lane: LaneKey): Promise<number>
  prune(retentionMs: number): Promise<Pruned>
  readRange(range: Range): Promise<Past[]>
  recordReplayed(batch: Replayed): Promise<boolean>
  close(): Promise<void>
}

/** Arrays go as literals: much cheaper than the driver's way, and what we put in is nearly always digits. */
export const textArray = (values: readonly (string | null | undefined)[]) => {
  let text = '{'
  for (let i = 0; i < values.length; i++) {
    const value = values[i]
    if (i > 0) text += ','
    if (value === null || value === undefined) text += 'NULL'
    else if (/^[0-9]+$/.test(value)) text += value
    // PostgreSQL's text has no NUL.
    else text += `"${value.replaceAll('\0', '').replace(/["\\]/g, '\\$&')}"`
  }
  return `${text}}`
}
/** For numbers, booleans and times that we wrote ourselves. */
export const plainArray = (values: readonly (string | number | boolean)[]) => `{${values.join(',')}}`

/** Rows of one statement; more would hold its locks, and the connection, for too long. */
const HOLD_ROWS_MAX = 1_000
const CONNECTIONS_MAX = 4

/**
 * Planned once on an empty queue, a statement that may scan would go on scanning when the queue is full. And a completion
 * that is lost when the *database* crashes only means that the delivery is sent again: no need to wait for the disk.
 */
const CONNECTION_OPTIONS =
  '-c synchronous_commit=off -c enable_seqscan=off -c enable_hashjoin=off -c enable_mergejoin=off -c jit=off'

export function createDeliveryLog({ database, clock }: { database: Database; clock: Clock }): DeliveryLog {
  const { connection } = database
  const pool = new pg.Pool({
    ...connection,
    options: `${connection.options ?? ''} ${CONNECTION_OPTIONS}`,
    max: CONNECTIONS_MAX
  })
  // A restarted database ends idle connections; the next query opens another.
  pool.on('error', () => {})
  pool.on('connect', (client) => client.on('error', () => {}))
  const partitions = createPartitions(pool, clock)

  return {
    partitions,

    /**
     * In the publisher's transaction: durable when that commits, never otherwise. Deliveries to a webhook that is invalid
     * are stored as held; deliveries to one that does not exist are dropped. Returns those that are to be sent.
     */
    async append(tx, deliveries) {
      if (deliveries.length === 0) return []
      const now = clock.now()
      await partitions.ensure(now)
      const createdAt = isoTime(now)
      const appended = deliveries.map(({ app_id, webhook_id, body }): Delivery => {
        const id = newId()
        const bytes = typeof body === 'string' ? Buffer.from(body) : toBuffer(body)
        return {
          app_id,
          webhook_id,
          id,
          created_at: createdAt,
          due_at: createdAt,
          retry: false,
          attempts: 0,
          cause: 'live',
          body: bytes
        }
      })
      // All bodies as one binary value, cut apart by the database: nothing is escaped and nothing is doubled in size.
      const lengths = appended.map(({ body }) => body.length)
      const starts: number[] = []
      let start = 1
      for (const length of lengths) {
        starts.push(start)
        start += length
      }
      const { rows } = await tx.executeQuery<{ id: string }>(
        CompiledQuery.raw(statements.APPEND, [
          textArray(appended.map((row) => row.app_id)),
          textArray(appended.map((row) => row.webhook_id)),
          textArray(appended.map((row) => row.id)),
          textArray(deliveries.map((row) => row.event_id)),
          textArray(deliveries.map((row) => row.kind ?? 'event')),
          plainArray(starts),
          plainArray(lengths),
          createdAt,
          appended.length === 1 ? appended[0]!.body : Buffer.concat(appended.map(({ body }) => body))
        ])
      )
      if (rows.length === 0) return appended
      const notQueued = new Set(rows.map((row) => row.id))
      return appended.filter(({ id }) => !notQueued.has(id))
    },

    /** Every lane with something in the queue; the cost is that of the lanes, not of what waits in them. */
    async waiting() {
      const { rows } = await pool.query<Waiting>({
        name: 'waiting',
        text: statements.WAITING,
        values: [isoTime(clock.now())]
      })
      return rows
    },

    /** Due deliveries of some lanes, oldest first, except those that the caller already has. */
    async claim(wants, known) {
      if (wants.length === 0) return []
      const { rows } = await pool.query<Delivery>({
        name: 'claim',
        text: statements.CLAIM,
        values: [
          textArray(wants.map((want) => want.app_id)),
          textArray(wants.map((want) => want.webhook_id)),
          plainArray(wants.map((want) => want.retry)),
          plainArray(wants.map((want) => want.count)),
          isoTime(clock.now()),
          textArray(known)
        ]
      })
      return rows
    },

    /**
     * Records attempts and takes settled deliveries off the queue, or puts them back with their next time. Returns how many
     * were ours to complete: those whose lane has changed hands since are ignored. May be repeated without harm.
     */
    async complete(settled) {
      for (const { startedAtMs } of settled) {
        const made = partitions.ensure(startedAtMs)
        if (made) await made
      }
      const delivered = settled.filter((row) => row.outcome === 'delivered')
      const others = settled.filter((row) => row.outcome !== 'delivered')
      const completed = await Promise.all([
        delivered.length > 0 ? completeDelivered(pool, delivered) : 0,
        others.length > 0 ? completeOthers(pool, others) : 0
      ])
      return completed[0] + completed[1]
    },

    /** While a webhook is invalid nothing is sent: what waits for it is held, for a later replay. `except`: what is in flight. */
    async hold({ app_id, webhook_id }, except) {
      await partitions.ensure(clock.now())
      for (let total = 0; ; ) {
        const { rowCount } = await pool.query({
          name: 'hold',
          text: statements.HOLD,
          values: [app_id, webhook_id, isoTime(clock.now()), HOLD_ROWS_MAX, textArray(except)]
        })
        total += rowCount ?? 0
        if ((rowCount ?? 0) < HOLD_ROWS_MAX) return total
      }
    },

    /** What was published in the moment in which its webhook was deleted. */
    async forgetOrphans({ app_id, webhook_id }) {
      const { rowCount } = await pool.query(statements.FORGET_ORPHANS, [app_id, webhook_id])
      return rowCount ?? 0
    },

    /**
     * Makes the partitions of the coming day and drops those that are past their time. What still waits in the queue from
     * then is given up first: its body is about to go.
     */
    async prune(retentionMs) {
      await partitions.ensureAhead()
      const beforeMs = partitionEnd(clock.now() - retentionMs)
      const before = isoTime(beforeMs)
      const expired = await pool.query(statements.EXPIRE, [before, isoTime(clock.now())])
      await pool.query(statements.PRUNE_REPLAYS, [before])
      return { expired: expired.rowCount ?? 0, dropped: await dropPartitions(pool, beforeMs) }
    },

    /** Everything that was delivered, attempted or held in [from, to), oldest first. */
    async readRange({ app_id, webhook_id, from, to, after, notTriedBy, limit }) {
      const { rows } = await pool.query<Past>({
        name: notTriedBy ? 'read-range-again' : 'read-range',
        text: notTriedBy ? statements.READ_RANGE_AGAIN : statements.READ_RANGE,
        values: [
          app_id,
          webhook_id,
          after?.created_at ?? from,
          to,
          after?.id ?? '',
          limit,
          ...(notTriedBy ? [notTriedBy.replay_id, notTriedBy.since] : [])
        ]
      })
      return rows
    },

    /** False when the lane has changed hands or the job is over: then nothing was recorded. */
    async recordReplayed({ app_id, webhook_id, epoch, replay_id, since, cursor, settled }) {
      for (const { startedAtMs } of settled) await partitions.ensure(startedAtMs)
      const { rowCount } = await pool.query({
        name: 'record-replayed',
        text: statements.RECORD_REPLAYED,
        values: [
          ...[app_id, webhook_id, epoch, replay_id, since, cursor?.created_at ?? null, cursor?.id ?? null],
          textArray(settled.map(({ delivery }) => delivery.id)),
          plainArray(settled.map(({ delivery }) => delivery.created_at)),
          plainArray(settled.map(({ startedAtMs }) => isoTime(startedAtMs))),
          plainArray(settled.map(({ latencyMs }) => Math.round(latencyMs))),
          ...failureArrays(settled)
        ]
      })
      return rowCount === 1
    },

    close: () => pool.end()
  }
}

const toBuffer = (bytes: Uint8Array) =>
  Buffer.isBuffer(bytes) ? bytes : Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength)

/** The key of the queue's row, the fence, and what is recorded of every attempt. */
const keyArrays = (settled: readonly Settled[]) => [
  textArray(settled.map(({ delivery }) => delivery.app_id)),
  textArray(settled.map(({ delivery }) => delivery.webhook_id)),
  plainArray(settled.map(({ delivery }) => delivery.retry)),
  plainArray(settled.map(({ delivery }) => delivery.due_at)),
  textArray(settled.map(({ delivery }) => delivery.id)),
  plainArray(settled.map(({ epoch }) => epoch)),
  plainArray(settled.map(({ startedAtMs }) => isoTime(startedAtMs))),
  plainArray(settled.map(({ latencyMs }) => Math.round(latencyMs)))
]

const failureArrays = (settled: readonly Settled[]) => [
  plainArray(settled.map(({ outcome }) => outcome)),
  textArray(settled.map(({ status }) => status?.toString())),
  textArray(settled.map(({ error }) => error)),
  textArray(settled.map(({ detail }) => detail)),
  textArray(settled.map(({ response }) => response))
]

async function completeDelivered(pool: pg.Pool, settled: readonly Settled[]) {
  const { rows } = await pool.query<{ count: number }>({
    name: 'complete-delivered',
    text: statements.COMPLETE_DELIVERED,
    values: keyArrays(settled)
  })
  return rows[0]!.count
}

async function completeOthers(pool: pg.Pool, settled: readonly Settled[]) {
  const { rows } = await pool.query<{ count: number }>({
    name: 'complete-others',
    text: statements.COMPLETE_OTHERS,
    values: [
      ...keyArrays(settled),
      ...failureArrays(settled),
      textArray(settled.map(({ nextAttemptAtMs }) => (nextAttemptAtMs === undefined ? null : isoTime(nextAttemptAtMs))))
    ]
  })
  return rows[0]!.count
}
