/** Finds what no notification announced: deliveries that are due, lanes that nobody has, jobs in progress. */
import { setTimeout as sleep } from 'node:timers/promises'
import type { Clock } from '../clock.ts'
import type { Lane } from './lanes.ts'
import type { Claims } from './lanes-claim.ts'
import type { Ownership } from './lanes-ownership.ts'
import type { DeliveryLog, LaneKey, Waiting } from './log.ts'
import type { Replays } from './replay-run.ts'

export interface SearchOptions {
  log: Pick<DeliveryLog, 'waiting' | 'forgetOrphans'>
  clock: Clock
  pollMs: number
  ownership: Ownership
  claims: Claims
  replays: Replays
  /** The webhook of this lane is invalid, and something waits for it. */
  hold(lane: Lane): void
  complain(error: unknown, what: string): void
}

export interface Search {
  /** Again and again. */
  keep(signal: AbortSignal): Promise<void>
  /** Now; errors are told, not thrown. */
  all(): Promise<void>
  /** The queue. Resolves with the lanes in which something is due. */
  deliveries(overdueMs?: number): Promise<Waiting[]>
  /** Jobs in progress, ours or not. */
  replays(): Promise<LaneKey[]>
}

/** What waits for its first attempt longer than this may have been announced to nobody. */
const OVERDUE_MS = 1_500
/** A lane that nobody has taken for so long is taken by any node, not only by the one that should. */
const ABANDONED_MS = 5_000

const timeOf = (iso: string | null) => (iso === null ? Number.POSITIVE_INFINITY : Date.parse(iso))

export function createSearch(options: SearchOptions): Search {
  const { log, clock, pollMs, ownership, claims, replays, hold, complain } = options
  const { lanes, lease } = ownership

  async function deliveries(overdueMs = OVERDUE_MS): Promise<Waiting[]> {
    const rows = await log.waiting()
    const nowMs = clock.now()
    const due: Waiting[] = []
    const wanted: LaneKey[] = []
    for (const row of rows) {
      const freshAtMs = timeOf(row.fresh_at)
      const retryAtMs = timeOf(row.retry_at)
      const dueAtMs = Math.min(freshAtMs, retryAtMs)
      if (dueAtMs <= nowMs) due.push(row)
      const lane = lanes.get(row.webhook_id)
      if (lane && !lane.closed) {
        if (!lane.valid) hold(lane)
        if (freshAtMs <= nowMs - overdueMs) lane.moreWaits()
        lane.retryWaits(retryAtMs)
        claims.want(lane)
      } else if (!lane && dueAtMs <= nowMs && (row.node_id === null || row.node_id === lease.nodeId)) {
        if (ownership.isOurs(row.webhook_id) || dueAtMs <= nowMs - ABANDONED_MS) wanted.push(row)
      }
    }
    if (wanted.length > 0) await take(wanted)
    return due
  }

  async function take(wanted: LaneKey[]) {
    await ownership.take(wanted)
    for (const key of wanted) {
      // Nobody could take it and nobody has it: there is no such webhook any more.
      if (!lanes.has(key.webhook_id)) await log.forgetOrphans(key)
    }
  }

  async function inProgress(): Promise<LaneKey[]> {
    const jobs = await replays.unfinished()
    const wanted = jobs.filter(
      ({ webhook_id, node_id }) =>
        !lanes.has(webhook_id) && (node_id === null || node_id === lease.nodeId) && ownership.isOurs(webhook_id)
    )
    if (wanted.length > 0) await ownership.take(wanted)
    for (const job of jobs) {
      const lane = lanes.get(job.webhook_id)
      if (lane && !lane.closed) replays.run(job, lane)
    }
    return jobs
  }

  async function all() {
    try {
      await deliveries()
      await inProgress()
    } catch (error) {
      complain(error, 'the queue cannot be searched; trying again')
    }
  }

  return {
    async keep(signal) {
      while (!signal.aborted) {
        const begun = performance.now()
        await all()
        // A search that has become slow must not become the load that makes it slow.
        const waitMs = Math.max(pollMs, (performance.now() - begun) * 10)
        await sleep(waitMs, undefined, { signal }).catch(() => {})
      }
    },
    all,
    deliveries,
    replays: inProgress
  }
}
