/** Every asynchronous duty is a row: a kind, a payload, a due time, a lease. See docs/decisions/0003-jobs-are-rows.md. */
import { type JSONColumnType, sql } from 'kysely'
import type { Static, TSchema } from 'typebox'
import { type Clock, isoTime } from '../clock.ts'
import type { Database, Db, Tx } from './db.ts'
import { newId } from './ids.ts'
import { JOBS_CHANNEL } from './jobs/claims.ts'
import type { Log } from './log.ts'

export { nextJobDueAt } from './jobs/claims.ts'
export { createWorker, type JobOutcome, type Worker, type WorkerOptions } from './jobs/worker.ts'

declare module './db.ts' {
  interface Tables {
    jobs: {
      id: string
      kind: string
      key: string | null
      payload: JSONColumnType<object>
      state: Defaulted<'pending' | 'running' | 'failed'>
      due_at: Time
      attempts: Defaulted<number>
      revision: Defaulted<number>
      lease_until: TimeOrNull
      lease_token: string | null
      last_error: string | null
      created_at: Time
      updated_at: Time
    }
    test_clock: { id: Defaulted<boolean>; offset_ms: Big }
    rate_limits: { key: string; window_ends_at: Time; used: Big }
  }
}

/** What a job may return: run the same row again, at a time by the clock of the rules. */
export interface RunAgain {
  againAt: number
}

export interface JobContext {
  database: Database
  clock: Clock
  log: Log
  /** Aborted when the lease is lost or the process is about to stop. */
  signal: AbortSignal
  job: { id: string; kind: string; key: string | null; attempts: number; dueAt: number }
  /** A transaction that commits only while the lease is held: nobody else can have taken over the job before it ends. */
  transaction<T>(act: (tx: Tx) => Promise<T>): Promise<T>
  /** Makes the job's completion part of a transaction, so that its effect and its end are one. */
  finish(tx: Tx): Promise<void>
}

export interface JobOptions<Payload> {
  run(payload: Payload, context: JobContext): Promise<RunAgain | undefined> | Promise<void>
  /** Waits after the first, second … failure. */
  retryDelaysSeconds?: readonly number[]
  /** After the last wait: keep the pace of the last, or give up and keep the row as failed. */
  whenExhausted?: 'repeat last' | 'fail'
  /** How long a dead worker holds up its jobs; one that lives renews its leases. */
  leaseSeconds?: number
  /** How many of this kind one worker runs at a time. */
  concurrency?: number
  /** Runs for ever at this interval, from the first start of a worker that knows it. */
  everyMs?: number
}

export interface JobDefinition extends JobOptions<never> {
  kind: string
  schema?: TSchema
}

/** A kind, a payload schema and a function, in the file that owns the behaviour. */
export function defineJob<Schema extends TSchema>(
  kind: string,
  options: JobOptions<Static<Schema>> & { schema: Schema }
): JobDefinition
export function defineJob<Payload extends object>(kind: string, options: JobOptions<Payload>): JobDefinition
export function defineJob(kind: string, options: JobOptions<never> & { schema?: TSchema }): JobDefinition {
  return { kind, ...options }
}

export interface JobRegistry {
  add(...jobs: JobDefinition[]): void
  get(kind: string): JobDefinition | undefined
  all(): JobDefinition[]
}

export function createJobRegistry(): JobRegistry {
  const jobs = new Map<string, JobDefinition>()
  return {
    add(...added) {
      for (const job of added) {
        if (jobs.has(job.kind)) throw new Error(`Two jobs are called ${job.kind}`)
        jobs.set(job.kind, job)
      }
    },
    get: (kind) => jobs.get(kind),
    all: () => [...jobs.values()]
  }
}

export interface JobTime {
  /** At most one job per kind and key. Asked again: the earlier due time and the newer payload; a running one runs again. */
  key?: string
  /** By the clock of the rules; at once if absent. */
  dueAt?: number
}

export interface EnqueueOptions {
  /** A waiting job under this key gets the new due time even if it is later. */
  replaceDue?: boolean
}

/** Immediate jobs are due since ever, whatever clock a worker has; among them, ids keep the order. */
const AT_ONCE = 0

/** Call it with the transaction that wrote the row which causes the work; then neither exists without the other. */
export async function enqueue(
  db: Db,
  kind: string,
  payload: object,
  options: JobTime & EnqueueOptions = {}
): Promise<string> {
  const { key, dueAt, replaceDue } = options
  const [id] = await enqueueMany(db, kind, [{ payload, key, dueAt }], { replaceDue })
  return id!
}

/** As `enqueue`, for many at a time. Returns the ids, in no order. */
export async function enqueueMany(
  db: Db,
  kind: string,
  items: ({ payload: object } & JobTime)[],
  { replaceDue = false }: EnqueueOptions = {}
) {
  const rows = [...new Map(items.map((item) => [item.key ?? Symbol(), item])).values()]
  if (rows.length === 0) return []
  const ids = rows.map(() => newId())
  const keys = rows.map((row) => row.key ?? null)
  const payloads = rows.map((row) => JSON.stringify(row.payload))
  const due = rows.map((row) => isoTime(row.dueAt ?? AT_ONCE))
  const result = await sql<{ id: string }>`
    with added as (
      insert into jobs as job (id, kind, key, payload, due_at, created_at, updated_at)
      select id, ${kind}, key, payload, due_at, now(), now()
      from unnest(${ids}::text[], ${keys}::text[], ${payloads}::jsonb[], ${due}::timestamptz[]) as row (id, key, payload, due_at)
      on conflict (kind, key) where key is not null do update set
        payload = excluded.payload,
        due_at = case when job.state = 'pending' and not ${replaceDue}
          then least(job.due_at, excluded.due_at) else excluded.due_at end,
        state = case when job.state = 'failed' then 'pending' else job.state end,
        attempts = case when job.state = 'failed' then 0 else job.attempts end,
        revision = job.revision + 1,
        updated_at = now()
      returning job.id
    ), woken as (select pg_notify(${JOBS_CHANNEL}, ${kind}))
    select added.id from added, woken`.execute(db)
  return result.rows.map((row) => row.id)
}

/** Forgets the job under a key. One that is running finds its lease gone and cannot complete. */
export async function cancelJob(db: Db, kind: string, key: string) {
  await db.deleteFrom('jobs').where('kind', '=', kind).where('key', '=', key).execute()
}
