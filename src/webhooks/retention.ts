/** Tables that grow with traffic are cut into partitions by time: made before they are needed, dropped as a whole. */
import type pg from 'pg'
import type { Clock } from '../clock.ts'
import { defineJob } from '../storage/jobs.ts'

export const PARTITIONED_TABLES = ['events', 'deliveries', 'attempts'] as const
/** Few enough that queries which must look everywhere stay cheap, small enough that little is kept past its time. */
export const PARTITION_HOURS = 6
const PARTITION_MS = PARTITION_HOURS * 3_600_000
/** Made this long before they are needed, so that no publisher ever waits for one. */
const AHEAD_MS = 24 * 3_600_000
/** Nodes that make the same partition take turns. Any number that nobody else uses will do. */
const PARTITION_LOCK = 7_263_010
/** Detaching waits for transactions that still look at the partition; the next run tries again. */
const DETACH_TIMEOUT_MS = 30_000

const NAME = new RegExp(`^(${PARTITIONED_TABLES.join('|')})_(\\d{4})(\\d{2})(\\d{2})(\\d{2})$`)

const startOf = (slot: number) => new Date(slot * PARTITION_MS)
const slotOf = (ms: number) => Math.floor(ms / PARTITION_MS)
/** `deliveries_2026011506`: the table and the hour, in UTC, at which the partition begins. */
const nameOf = (table: string, slot: number) =>
  `${table}_${startOf(slot).toISOString().replace(/\D/g, '').slice(0, 10)}`

export interface Partitions {
  /** Undefined, without waiting, when the partitions of that moment are known to exist. */
  ensure(ms: number): Promise<void> | undefined
  /** Makes those of the coming day. */
  ensureAhead(): Promise<void>
}

/** `pool` must not be the one a publisher's transaction comes from: waiting for each other would be a deadlock. */
export function createPartitions(pool: pg.Pool, clock: Clock): Partitions {
  const known = new Set<number>()
  const making = new Map<number, Promise<void>>()

  function make(slot: number) {
    let promise = making.get(slot)
    if (!promise) {
      promise = makePartitions(pool, slot).then(() => void known.add(slot))
      making.set(slot, promise)
      promise.finally(() => making.delete(slot)).catch(() => {})
    }
    return promise
  }

  return {
    ensure(ms) {
      const slot = slotOf(ms)
      return known.has(slot) ? undefined : make(slot)
    },
    async ensureAhead() {
      const now = clock.now()
      for (let slot = slotOf(now); slot <= slotOf(now + AHEAD_MS); slot++) if (!known.has(slot)) await make(slot)
    }
  }
}

async function makePartitions(pool: pg.Pool, slot: number) {
  const client = await pool.connect()
  try {
    await client.query('begin')
    await client.query('select pg_advisory_xact_lock($1)', [PARTITION_LOCK])
    const names = PARTITIONED_TABLES.map((table) => nameOf(table, slot))
    const { rows } = await client.query<{ name: string }>(
      'select relname as name from pg_class where relname = any($1) and relispartition',
      [names]
    )
    const existing = new Set(rows.map((row) => row.name))
    const from = startOf(slot).toISOString()
    const to = startOf(slot + 1).toISOString()
    for (const [i, table] of PARTITIONED_TABLES.entries()) {
      const name = names[i]!
      if (existing.has(name)) continue
      // Made apart and attached: `create table … partition of` would stop all traffic on the parent for a moment.
      await client.query(`create table ${name} (like ${table} including all)`)
      await client.query(`alter table ${table} attach partition ${name} for values from ('${from}') to ('${to}')`)
    }
    await client.query('commit')
    client.release()
  } catch (error) {
    await client.query('rollback').catch(() => {})
    client.release(error as Error)
    throw error
  }
}

/** The last moment, at or before this one, at which a partition ends: what is older can be dropped without a remainder. */
export const partitionEnd = (ms: number) => slotOf(ms) * PARTITION_MS

/** Drops every partition that ended before that moment, and returns their names. */
export async function dropPartitions(pool: pg.Pool, beforeMs: number): Promise<string[]> {
  const dropped: string[] = []
  const client = await pool.connect()
  try {
    await client.query(`set statement_timeout = ${DETACH_TIMEOUT_MS}`)
    const { rows } = await client.query<{ name: string; attached: boolean; detaching: boolean }>(
      `select c.relname as name, i.inhrelid is not null as attached, coalesce(i.inhdetachpending, false) as detaching
       from pg_class c left join pg_inherits i on i.inhrelid = c.oid
       where c.relkind = 'r' and c.relnamespace = current_schema()::regnamespace and c.relname ~ $1 order by c.relname`,
      [NAME.source]
    )
    for (const { name, attached, detaching } of rows) {
      const [, table, year, month, day, hour] = NAME.exec(name)!
      const startMs = Date.UTC(Number(year), Number(month) - 1, Number(day), Number(hour))
      if (startMs + PARTITION_MS > beforeMs) continue
      // Step by step and each repeatable: a node that dies in between leaves nothing that the next run cannot finish.
      if (detaching) await client.query(`alter table ${table} detach partition ${name} finalize`)
      else if (attached) await client.query(`alter table ${table} detach partition ${name} concurrently`)
      await client.query(`drop table if exists ${name}`)
      dropped.push(name)
    }
    await client.query('reset statement_timeout')
    client.release()
  } catch (error) {
    client.release(error as Error)
    throw error
  }
  return dropped
}

const RETENTION_EVERY_MS = 60 * 60_000

/** One job row for all nodes, claimed with a lease: never "the first node". */
export const retentionJob = (delivery: { prune(): Promise<unknown> }) =>
  defineJob<object>('webhooks.retention', {
    everyMs: RETENTION_EVERY_MS,
    async run() {
      await delivery.prune()
    }
  })
