/** Claims due jobs and runs them. Any number of workers may share one database. */
import { setTimeout as sleep } from 'node:timers/promises'
import type { Clock } from '../../clock.ts'
import { type Database, isDatabaseAway } from '../db.ts'
import type { JobDefinition, JobRegistry } from '../jobs.ts'
import type { Listener } from '../listen.ts'
import { type Log, silentLog } from '../log.ts'
import {
  type Claim,
  claimJobs,
  ensureRecurring,
  handBack,
  JOBS_CHANNEL,
  nextJobDueAt,
  releaseExpired,
  renewLeases,
  unfinishedKinds
} from './claims.ts'
import { type JobOutcome, LEASE_SECONDS, LeaseLost, type Running, runJob } from './run.ts'

export type { JobOutcome }

export interface WorkerOptions {
  database: Database
  clock: Clock
  registry: JobRegistry
  log?: Log
  /** Wakes the worker at once; without it, polling does. */
  listener?: Listener
  /** How many jobs run at a time, of all kinds together. */
  concurrency?: number
  pollMs?: number
  /** Told how each job ended, for metrics. */
  observe?(kind: string, outcome: JobOutcome, durationMs: number): void
}

export interface Worker {
  start(): void
  /** Claims no more; jobs in flight get a while to finish, then their signal, then go back to the queue. */
  stop(options?: { graceMs?: number }): Promise<void>
  /** Runs what is due by the clock until nothing is due or running, here or on another node. A failed job waits for its retry. */
  drain(options?: { timeoutMs?: number }): Promise<void>
  /** Jobs in flight, and whether the loop is at work with a database that answers. */
  status(): { running: number; working: boolean }
}

const POLL_MS = 1_000
const CONCURRENCY = 20
const CONCURRENCY_PER_KIND = 5
const EXPIRED_CHECK_MS = 5_000
const AWAY_DELAYS_MS = [100, 500, 1_000, 2_000, 5_000]
const DRAIN_POLL_MS = 20
const DRAIN_TIMEOUT_MS = 120_000
const GRACE_MS = 6_000
const ABORTED_GRACE_MS = 2_000

export function createWorker(options: WorkerOptions): Worker {
  const { database, clock, registry, log = silentLog, listener, concurrency = CONCURRENCY, pollMs = POLL_MS } = options
  const { db } = database
  const inFlight = new Set<Running>()
  let loop: Promise<void> | undefined
  let stopped = false
  let failures = 0
  let expiredCheckedAt = Number.NEGATIVE_INFINITY
  let recurringEnsured = false
  let woken = Promise.withResolvers<void>()
  let heartbeat: NodeJS.Timeout | undefined

  const wake = () => woken.resolve()
  const kinds = () => registry.all().map(({ kind }) => kind)

  /** Kinds with room for more, and how much. */
  function wanted() {
    return registry.all().flatMap((job) => {
      const busy = [...inFlight].filter(({ claim }) => claim.kind === job.kind).length
      const free = (job.concurrency ?? CONCURRENCY_PER_KIND) - busy
      return free > 0 ? [{ kind: job.kind, free, leaseSeconds: job.leaseSeconds ?? LEASE_SECONDS }] : []
    })
  }

  /** Takes as much as there is room for; returns how many. */
  async function claim(): Promise<number> {
    if (!recurringEnsured) {
      const recurring = registry.all().filter((job) => job.everyMs !== undefined)
      await ensureRecurring(
        db,
        recurring.map(({ kind }) => kind)
      )
      recurringEnsured = true
    }
    if (performance.now() - expiredCheckedAt > EXPIRED_CHECK_MS) {
      const released = await releaseExpired(db, kinds())
      if (released.length > 0) log.warn({ jobs: released }, 'jobs of a worker that died are back in the queue')
      expiredCheckedAt = performance.now()
    }
    const room = concurrency - inFlight.size
    const some = wanted()
    if (room <= 0 || some.length === 0) return 0
    const claims = await claimJobs(db, some, room, clock.now())
    for (const each of claims) launch(each, registry.get(each.kind)!)
    return claims.length
  }

  function launch(claim: Claim, job: JobDefinition) {
    const { id, kind } = claim
    const startedAt = performance.now()
    const running: Running = { claim, job, abort: new AbortController(), stopping: false, ended: Promise.resolve() }
    if (inFlight.size === 0) heartbeat = setInterval(() => void renew(), renewEveryMs()).unref()
    inFlight.add(running)
    running.ended = runJob(running, { database, clock, log })
      .then((outcome) => {
        if (outcome === 'lost') log.warn({ job: id, kind }, 'the lease was lost; another worker has this job')
        options.observe?.(kind, outcome, performance.now() - startedAt)
      })
      // Its end could not be recorded: the lease runs out and the job runs again.
      .catch((error) => log.error({ err: error, job: id, kind }, 'the end of a job was not recorded'))
      .finally(() => {
        inFlight.delete(running)
        if (inFlight.size === 0) clearInterval(heartbeat)
        wake()
      })
  }

  const renewEveryMs = () => (Math.min(...registry.all().map((job) => job.leaseSeconds ?? LEASE_SECONDS)) * 1_000) / 3

  async function renew() {
    const held = [...inFlight]
    try {
      const still = await renewLeases(
        db,
        held.map(({ claim, job }) => ({
          id: claim.id,
          leaseToken: claim.lease_token,
          leaseSeconds: job.leaseSeconds ?? LEASE_SECONDS
        }))
      )
      for (const running of held) {
        const { claim, abort } = running
        if (!still.has(claim.lease_token + claim.id) && inFlight.has(running)) abort.abort(new LeaseLost(claim))
      }
    } catch {
      // The database is away. It will say who holds what when it is back.
    }
  }

  async function work() {
    const forget = [listener?.on(JOBS_CHANNEL, wake), listener?.onReconnect(wake)]
    while (!stopped) {
      woken = Promise.withResolvers()
      let waitMs = pollMs
      try {
        const claimed = await claim()
        if (failures > 0) log.info('the database answers again; jobs go on')
        failures = 0
        if (claimed === 0) waitMs = Math.min(pollMs, await untilNextDue())
        else if (inFlight.size < concurrency) waitMs = 0
      } catch (error) {
        if (failures === 0)
          log.error({ err: error }, `jobs wait: ${isDatabaseAway(error) ? 'the database is away' : 'claiming failed'}`)
        waitMs = AWAY_DELAYS_MS[Math.min(failures++, AWAY_DELAYS_MS.length - 1)]!
        await pause(waitMs)
        continue
      }
      await pause(waitMs, woken.promise)
    }
    for (const stop of forget) stop?.()
  }

  async function untilNextDue() {
    const due = await nextJobDueAt(
      db,
      wanted().map(({ kind }) => kind)
    )
    return due === undefined ? pollMs : Math.max(due - clock.now(), pollMs / 20)
  }

  const stopping = Promise.withResolvers<void>()
  async function pause(ms: number, ...until: Promise<void>[]) {
    const timer = new AbortController()
    await Promise.race([sleep(ms, undefined, { signal: timer.signal }).catch(() => {}), stopping.promise, ...until])
    timer.abort()
  }

  return {
    start() {
      loop ??= work()
    },

    async stop({ graceMs = GRACE_MS } = {}) {
      stopped = true
      stopping.resolve()
      await loop
      const all = () => Promise.all([...inFlight].map(({ ended }) => ended))
      await Promise.race([all(), sleep(graceMs, undefined, { ref: false })])
      for (const running of inFlight) {
        running.stopping = true
        running.abort.abort(new Error('Herald is stopping'))
      }
      await Promise.race([all(), sleep(ABORTED_GRACE_MS, undefined, { ref: false })])
      for (const { claim } of inFlight) await handBack(db, claim).catch(() => {})
      clearInterval(heartbeat)
    },

    async drain({ timeoutMs = DRAIN_TIMEOUT_MS } = {}) {
      const deadline = performance.now() + timeoutMs
      while (true) {
        if (performance.now() > deadline) {
          const left = await unfinishedKinds(db, kinds(), clock.now())
          throw new Error(`Jobs are still at work: ${left.join(', ')}`)
        }
        expiredCheckedAt = Number.NEGATIVE_INFINITY
        if ((await claim()) > 0 && inFlight.size < concurrency) continue
        if (inFlight.size > 0) {
          await Promise.race([...[...inFlight].map(({ ended }) => ended), sleep(DRAIN_POLL_MS)])
        } else {
          if ((await unfinishedKinds(db, kinds(), clock.now())).length === 0) return
          await sleep(DRAIN_POLL_MS)
        }
      }
    },

    status: () => ({ running: inFlight.size, working: loop !== undefined && !stopped && failures === 0 })
  }
}
