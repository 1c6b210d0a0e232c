/** Runs one claimed job and records how it ended. */
import { Value } from 'typebox/value'
import type { Clock } from '../../clock.ts'
import type { Database } from '../db.ts'
import type { JobContext, JobDefinition, RunAgain } from '../jobs.ts'
import type { Log } from '../log.ts'
import { type Claim, completeJob, failJob, handBack, lockLease, rescheduleJob } from './claims.ts'

export type JobOutcome = 'done' | 'again' | 'retry' | 'failed' | 'lost' | 'handed back'

export const RETRY_DELAYS_SECONDS: readonly number[] = [1, 5, 30, 120, 600]
export const LEASE_SECONDS = 60
const ERROR_CHARS_MAX = 2_000
const WORKERS_DIED = 'every worker that ran this job stopped before it had ended'

/** The job belongs to another worker now; whatever this one still does must leave no trace. */
export class LeaseLost extends Error {
  constructor(claim: Claim) {
    super(`The lease on job ${claim.id} (${claim.kind}) was lost`)
    this.name = 'LeaseLost'
  }
}

export interface Running {
  claim: Claim
  job: JobDefinition
  abort: AbortController
  /** The process is stopping: an interrupted job is handed back, not failed. */
  stopping: boolean
  ended: Promise<void>
}

export interface RunDeps {
  database: Database
  clock: Clock
  log: Log
}

export async function runJob(running: Running, { database, clock, log }: RunDeps): Promise<JobOutcome> {
  const { claim, job, abort } = running
  const { db } = database
  const startedAt = clock.now()
  // Only a worker that died can have used up the attempts without recording it.
  if (retryDelay(job, claim.attempts - 1) === undefined)
    return (await failJob(db, claim, WORKERS_DIED)) ? 'failed' : 'lost'

  let finishedInside = false
  const context: JobContext = {
    database,
    clock,
    log,
    signal: abort.signal,
    job: {
      id: claim.id,
      kind: claim.kind,
      key: claim.key,
      attempts: claim.attempts,
      dueAt: Date.parse(claim.due_at)
    },
    transaction: (act) =>
      db.transaction().execute(async (tx) => {
        if (!(await lockLease(tx, claim))) throw new LeaseLost(claim)
        return act(tx)
      }),
    async finish(tx) {
      if (!(await completeJob(tx, claim))) throw new LeaseLost(claim)
      finishedInside = true
    }
  }

  let again: RunAgain | undefined
  try {
    if (job.schema && !Value.Check(job.schema, claim.payload)) return await refusePayload(running, database)
    again = (await job.run(claim.payload as never, context)) ?? undefined
  } catch (error) {
    return await recordFailure(running, error, { database, clock, log })
  }
  const next = again?.againAt ?? (job.everyMs === undefined ? undefined : startedAt + job.everyMs)
  if (next !== undefined) return (await rescheduleJob(db, claim, next)) ? 'again' : 'lost'
  return (await completeJob(db, claim)) || finishedInside ? 'done' : 'lost'
}

/** Seconds to wait before another try after this many, or undefined when there is none. */
function retryDelay(job: JobDefinition, failures: number): number | undefined {
  const delays = job.retryDelaysSeconds ?? RETRY_DELAYS_SECONDS
  if (failures <= 0) return 0
  if (failures <= delays.length) return delays[failures - 1]
  if (job.everyMs !== undefined) return job.everyMs / 1_000
  return job.whenExhausted === 'fail' ? undefined : delays.at(-1)
}

async function recordFailure(running: Running, error: unknown, { database, clock, log }: RunDeps): Promise<JobOutcome> {
  const { claim, job, stopping, abort } = running
  if (error instanceof LeaseLost) return 'lost'
  if (stopping && abort.signal.aborted) return (await handBack(database.db, claim)) ? 'handed back' : 'lost'
  const reason = (error instanceof Error ? error.message : String(error)).slice(0, ERROR_CHARS_MAX)
  const delay = retryDelay(job, claim.attempts)
  const about = { err: error, job: claim.id, kind: claim.kind, attempts: claim.attempts }
  if (delay === undefined) {
    log.error(about, 'job failed for good')
    return (await failJob(database.db, claim, reason)) ? 'failed' : 'lost'
  }
  log.warn(about, `job failed; next try in ${delay} s`)
  return (await rescheduleJob(database.db, claim, clock.now() + delay * 1_000, reason)) ? 'retry' : 'lost'
}

async function refusePayload({ claim, job }: Running, database: Database): Promise<JobOutcome> {
  const [first] = Value.Errors(job.schema!, claim.payload)
  const reason = `the payload is not what ${job.kind} expects: ${first?.instancePath ?? ''} ${first?.message ?? ''}`
  return (await failJob(database.db, claim, reason)) ? 'failed' : 'lost'
}
