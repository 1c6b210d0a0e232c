/** The statements by which workers share one table of jobs. Leases run on the database's own time, due times on the clock. */
import { randomUUID } from 'node:crypto'
import { sql } from 'kysely'
import { isoTime } from '../../clock.ts'
import type { Db } from '../db.ts'
import { newId } from '../ids.ts'

/** Wakes workers; they poll as well. */
export const JOBS_CHANNEL = 'herald_jobs'

/** The key of the one row of a recurring job. */
const RECURRING_KEY = 'every'

export interface Claim {
  id: string
  kind: string
  key: string | null
  payload: unknown
  due_at: string
  attempts: number
  revision: number
  lease_token: string
}

export interface Wanted {
  kind: string
  /** How many of this kind there is room for. */
  free: number
  leaseSeconds: number
}

/** Takes due jobs, the oldest of each kind first; rows that another worker is taking are skipped, not waited for. */
export async function claimJobs(db: Db, wanted: Wanted[], limit: number, now: number): Promise<Claim[]> {
  const kinds = wanted.map(({ kind }) => kind)
  const free = wanted.map((each) => each.free)
  const leases = wanted.map(({ leaseSeconds }) => leaseSeconds)
  const { rows } = await sql<Claim>`
    with picked as materialized (
      select due.id, wanted.lease_seconds
      from unnest(${kinds}::text[], ${free}::int[], ${leases}::float8[]) as wanted (kind, free, lease_seconds)
      cross join lateral (
        select id, due_at from jobs
        where kind = wanted.kind and state = 'pending' and due_at <= ${isoTime(now)}
        order by due_at, id limit wanted.free
        for update skip locked
      ) due
      order by due.due_at, due.id limit ${limit}
    )
    update jobs as job set
      state = 'running',
      attempts = attempts + 1,
      lease_token = ${randomUUID()},
      lease_until = clock_timestamp() + make_interval(secs => picked.lease_seconds),
      updated_at = now()
    from picked where job.id = picked.id
    returning job.id, kind, key, payload, due_at, attempts, revision, lease_token`.execute(db)
  return rows.sort((a, b) => (a.due_at === b.due_at ? (a.id < b.id ? -1 : 1) : a.due_at < b.due_at ? -1 : 1))
}

/** Gives the jobs of dead workers back to the queue. A row locked by its holder's own transaction is still in good hands. */
export async function releaseExpired(db: Db, kinds: string[]): Promise<string[]> {
  const { rows } = await sql<{ id: string }>`
    with expired as materialized (
      select id from jobs where state = 'running' and lease_until < clock_timestamp() and kind = any(${kinds})
      for update skip locked
    )
    update jobs as job set
      state = 'pending', lease_token = null, lease_until = null, updated_at = now(),
      last_error = 'the worker that ran this job did not finish it'
    from expired where job.id = expired.id returning job.id`.execute(db)
  return rows.map(({ id }) => id)
}

/** Renews leases that are still held, and returns token and id of those. */
export async function renewLeases(db: Db, held: { id: string; leaseToken: string; leaseSeconds: number }[]) {
  const ids = held.map(({ id }) => id)
  const tokens = held.map(({ leaseToken }) => leaseToken)
  const seconds = held.map(({ leaseSeconds }) => leaseSeconds)
  const mine = sql`unnest(${ids}::text[], ${tokens}::uuid[], ${seconds}::float8[]) as mine (id, lease_token, seconds)`
  // Rows locked by a job's own transaction are skipped: nobody can take them, and waiting would let other leases lapse.
  await sql`
    with free as materialized (
      select job.id, mine.seconds from jobs as job
      join ${mine} on job.id = mine.id and job.lease_token = mine.lease_token
      for update of job skip locked
    )
    update jobs as job set lease_until = clock_timestamp() + make_interval(secs => free.seconds)
    from free where job.id = free.id`.execute(db)
  const { rows } = await sql<{ id: string; lease_token: string }>`
    select job.id, job.lease_token from jobs as job
    join ${mine} on job.id = mine.id and job.lease_token = mine.lease_token`.execute(db)
  return new Set(rows.map((row) => row.lease_token + row.id))
}

/** Holds the row until the transaction ends; false if the lease was lost. */
export async function lockLease(db: Db, claim: Claim): Promise<boolean> {
  const { rows } = await sql`
    select 1 from jobs where id = ${claim.id} and lease_token = ${claim.lease_token} for update`.execute(db)
  return rows.length === 1
}

/** Ends a job; if it was asked for again while it ran, it goes back to the queue instead. False if the lease was lost. */
export async function completeJob(db: Db, claim: Claim): Promise<boolean> {
  const gone = await sql`
    delete from jobs where id = ${claim.id} and lease_token = ${claim.lease_token} and revision = ${claim.revision}`.execute(
    db
  )
  if (gone.numAffectedRows === 1n) return true
  const asked = await sql`
    update jobs set state = 'pending', attempts = 0, last_error = null,
      lease_token = null, lease_until = null, updated_at = now()
    where id = ${claim.id} and lease_token = ${claim.lease_token}`.execute(db)
  return asked.numAffectedRows === 1n
}

/** Keeps the row for another run. A time that was asked for meanwhile counts if it is earlier. */
export async function rescheduleJob(db: Db, claim: Claim, dueAt: number, failure?: string): Promise<boolean> {
  const failed = failure !== undefined
  const done = await sql`
    update jobs set state = 'pending',
      due_at = case when revision = ${claim.revision} then ${isoTime(dueAt)}::timestamptz
        else least(due_at, ${isoTime(dueAt)}::timestamptz) end,
      attempts = case when ${failed} then attempts else 0 end,
      last_error = ${failure ?? null},
      lease_token = null, lease_until = null, updated_at = now()
    where id = ${claim.id} and lease_token = ${claim.lease_token}`.execute(db)
  return done.numAffectedRows === 1n
}

/** Gives up. The row stays, with the reason; asked for again under its key, it starts afresh. */
export async function failJob(db: Db, claim: Claim, failure: string): Promise<boolean> {
  const done = await sql`
    update jobs set state = case when revision = ${claim.revision} then 'failed' else 'pending' end,
      last_error = ${failure}, lease_token = null, lease_until = null, updated_at = now()
    where id = ${claim.id} and lease_token = ${claim.lease_token}`.execute(db)
  return done.numAffectedRows === 1n
}

/** As if it had never been claimed. */
export async function handBack(db: Db, claim: Claim): Promise<boolean> {
  const done = await sql`
    update jobs set state = 'pending', attempts = greatest(attempts - 1, 0),
      lease_token = null, lease_until = null, updated_at = now()
    where id = ${claim.id} and lease_token = ${claim.lease_token}`.execute(db)
  if (done.numAffectedRows === 1n) await sql`select pg_notify(${JOBS_CHANNEL}, ${claim.kind})`.execute(db)
  return done.numAffectedRows === 1n
}

/** A recurring job is one row that goes back to the queue after each run; whoever starts first makes it. */
export async function ensureRecurring(db: Db, kinds: string[]) {
  if (kinds.length === 0) return
  const rows = kinds.map((kind) => ({ id: newId(), kind }))
  await sql`
    insert into jobs (id, kind, key, due_at, created_at, updated_at)
    select id, kind, ${RECURRING_KEY}, to_timestamp(0), now(), now()
    from unnest(${rows.map(({ id }) => id)}::text[], ${kinds}::text[]) as row (id, kind)
    on conflict do nothing`.execute(db)
}

/** Kinds that are due or running anywhere. */
export async function unfinishedKinds(db: Db, kinds: string[], now: number): Promise<string[]> {
  const { rows } = await sql<{ kind: string }>`
    select distinct kind from jobs where kind = any(${kinds})
      and ((state = 'pending' and due_at <= ${isoTime(now)}) or state = 'running')`.execute(db)
  return rows.map(({ kind }) => kind)
}

/** When the next waiting job is due, by the clock of the rules; lets a test clock stop at each on its way. */
export async function nextJobDueAt(db: Db, kinds: string[]): Promise<number | undefined> {
  const { rows } = await sql<{ due_at: string | null }>`
    select min(first.due_at) as due_at from unnest(${kinds}::text[]) as wanted (kind)
    cross join lateral (
      select due_at from jobs where kind = wanted.kind and state = 'pending' order by due_at limit 1
    ) first`.execute(db)
  return rows[0]?.due_at ? Date.parse(rows[0].due_at) : undefined
}
