/** Runs replay jobs on the lanes of this node: reads the range, keeps to the rate, records, goes on after a crash. */
import { setTimeout as sleep } from 'node:timers/promises'
import { sql } from 'kysely'
import { type Clock, isoTime } from '../clock.ts'
import type { Database } from '../storage/db.ts'
import type { DeliveryConfig } from './deliver-config.ts'
import { createFlush, type Flush } from './deliver-flush.ts'
import { Fifo, type Lane } from './lanes.ts'
import type { Sent } from './lanes-send.ts'
import type { Delivery, DeliveryLog, Past, Settled } from './log.ts'
import { markReplayed } from './replay-mark.ts'
import { type Replay, statusMessage } from './replays.ts'

export interface ReplaysOptions {
  database: Database
  log: DeliveryLog
  clock: Clock
  config: Pick<DeliveryConfig, 'replayRateMax' | 'flushMs'>
  pump(lane: Lane): void
  /** The lane is not ours any more. */
  lost(lane: Lane): void
  dispatch(appended: readonly Delivery[]): void
  failed(error: unknown): void
}

export interface Replays {
  /** Jobs that are not finished, with the node that owns their lane. */
  unfinished(): Promise<(Replay & { node_id: string | null })[]>
  run(replay: Replay, lane: Lane): void
  settled(sent: Sent): void
  /** Whether something of this lane is not recorded yet. */
  isBusyWith(lane: Lane): boolean
  readonly busy: boolean
  /** Stops reading; what is in flight is still recorded, if that takes no longer than this. */
  stop(withinMs: number): Promise<void>
}

/** Read at once, and kept ready beside what is in flight. */
const PAGE = 200
const READY_MAX = 100
const WAIT_MS = 5

export function createReplays(options: ReplaysOptions): Replays {
  const { database } = options
  const runs = new Map<string, Run>()
  let stopping = false

  return {
    async unfinished() {
      const { rows } = await sql<Replay & { node_id: string | null }>`
        select replay.*, lane.node_id from replays as replay
        left join delivery_lanes as lane on lane.app_id = replay.app_id and lane.webhook_id = replay.webhook_id
        where replay.state in ('pending', 'running')`.execute(database.db)
      return rows
    },

    run(replay, lane) {
      if (stopping || runs.get(lane.webhook_id)?.lane === lane) return
      const run = new Run(replay, lane, options, () => stopping)
      runs.set(lane.webhook_id, run)
      run.done = run
        .run()
        .catch(options.failed)
        .finally(() => runs.get(lane.webhook_id) === run && runs.delete(lane.webhook_id))
    },

    settled: (sent) => runs.get(sent.lane.webhook_id)?.settled(sent),
    isBusyWith: (lane) => runs.get(lane.webhook_id)?.lane === lane,
    get busy() {
      return runs.size > 0
    },
    async stop(withinMs) {
      stopping = true
      const done = Promise.all(Array.from(runs.values(), (run) => run.done))
      await Promise.race([done, sleep(withinMs, undefined, { ref: false })])
    }
  }
}

interface Step {
  past: Past
  recorded: boolean
}

/** One job on one node, while its lane is ours. */
class Run {
  readonly lane: Lane
  done: Promise<unknown> = Promise.resolve()
  readonly #replay: Replay
  readonly #options: ReplaysOptions
  readonly #isStopping: () => boolean
  readonly #flush: Flush<Settled>
  /** In order of the range, from the first that is not recorded. */
  readonly #steps = new Fifo<Step>()
  readonly #stepOf = new Map<string, Step>()
  #cursor: { created_at: string; id: string } | undefined
  #oldest: Step | undefined
  #since = ''
  #lost = false

  constructor(replay: Replay, lane: Lane, options: ReplaysOptions, isStopping: () => boolean) {
    this.lane = lane
    this.#replay = replay
    this.#options = options
    this.#isStopping = isStopping
    if (replay.cursor_created_at && replay.cursor_id) {
      this.#cursor = { created_at: replay.cursor_created_at, id: replay.cursor_id }
    }
    this.#flush = createFlush<Settled>({
      afterMs: options.config.flushMs,
      write: (batch) => this.#record(batch),
      retry: (error) => {
        options.failed(error)
        return !this.#over
      }
    })
  }

  /** Nothing more may be sent by this run. */
  get #over() {
    return this.#lost || this.lane.closed || this.#isStopping()
  }

  async run() {
    if (!(await this.#begin())) return
    const complete = await this.#sendAll()
    // Whoever has the lane next goes on from the cursor.
    while (this.#stepOf.size > 0 && !this.lane.closed && !this.#lost) {
      await this.#flush.done()
      await sleep(WAIT_MS)
      const quiet = this.lane.replaysInFlight === 0 && this.#flush.pending === 0
      // Nothing waits any more although something is missing: a webhook that became invalid had its lane forget it.
      if (quiet && (this.#isStopping() || this.lane.replayed.length === 0)) break
    }
    await this.#flush.done()
    if (this.#over) return
    if (complete && this.#stepOf.size === 0) await this.#finish()
    else await this.#finish('The webhook became invalid')
  }

  async #begin() {
    const { app_id, webhook_id, id } = this.#replay
    const now = isoTime(this.#options.clock.now())
    const { rows } = await sql<{ started_at: string }>`
      update replays set state = 'running', started_at = coalesce(started_at, ${now})
      where app_id = ${app_id} and webhook_id = ${webhook_id} and id = ${id} and state in ('pending', 'running')
        and exists (select from delivery_lanes as lane where lane.app_id = ${app_id} and lane.webhook_id = ${webhook_id}
          and lane.epoch = ${this.lane.epoch})
      returning started_at`.execute(this.#options.database.db)
    this.#since = rows[0]?.started_at ?? ''
    return rows.length === 1
  }

  /** True when the end of the range was reached. */
  async #sendAll() {
    const { app_id, webhook_id, from_date, to_date, started_at, id } = this.#replay
    const { log, config, pump } = this.#options
    // A job that was under way may have tried some beyond its cursor.
    const notTriedBy = started_at === null ? undefined : { replay_id: id, since: started_at }
    let after = this.#cursor
    let paidUntil = performance.now()
    while (true) {
      const page = await log.readRange({
        app_id,
        webhook_id,
        from: from_date,
        to: to_date,
        after,
        notTriedBy,
        limit: PAGE
      })
      for (const past of page) {
        // One at a time from a budget that fills steadily; a pause earns no burst beyond a page's worth of time.
        paidUntil = Math.max(paidUntil, performance.now() - 100) + 1_000 / config.replayRateMax
        while (
          !this.#over &&
          this.lane.valid &&
          (this.lane.replayed.length >= READY_MAX || paidUntil > performance.now() + 1)
        ) {
          await sleep(WAIT_MS)
        }
        if (this.#over || !this.lane.valid) return false
        this.#add(past)
        pump(this.lane)
      }
      const last = page.at(-1)
      if (!last) return true
      after = { created_at: last.created_at, id: last.id }
    }
  }

  #add(past: Past) {
    const step = { past, recorded: false }
    this.#steps.push(step)
    this.#stepOf.set(past.id, step)
    this.lane.replayed.push(this.#deliveryOf(past))
  }

  #deliveryOf({ id, created_at, body }: Past): Delivery {
    const { app_id, webhook_id } = this.#replay
    const rest = { due_at: created_at, retry: false, attempts: 0, cause: 'replay' as const }
    return { app_id, webhook_id, id, created_at, body: markReplayed(body), ...rest }
  }

  settled({ lane, delivery, judgement, startedAtMs, latencyMs }: Sent) {
    if (lane !== this.lane) return
    const { outcome, status, error, detail, response } = judgement
    if (outcome === 'none') {
      if (!this.#over) lane.replayed.push(delivery)
      return
    }
    const result = outcome === 'delivered' ? 'delivered' : 'failed'
    // Never retried: who misses something submits another job.
    const { epoch } = lane
    this.#flush.add({ delivery, epoch, outcome: result, startedAtMs, latencyMs, status, error, detail, response })
  }

  async #record(settled: Settled[]) {
    const { app_id, webhook_id, id } = this.#replay
    for (const { delivery } of settled) this.#stepOf.get(delivery.id)!.recorded = true
    const ours = await this.#options.log.recordReplayed({
      app_id,
      webhook_id,
      epoch: this.lane.epoch,
      replay_id: id,
      since: this.#since,
      cursor: this.#advance(),
      settled
    })
    for (const { delivery } of settled) this.#stepOf.delete(delivery.id)
    if (ours) return
    this.#lost = true
    this.#options.lost(this.lane)
  }

  /** The last of those before which nothing is missing. */
  #advance() {
    for (;;) {
      this.#oldest ??= this.#steps.shift()
      if (!this.#oldest?.recorded) return this.#cursor
      const { created_at, id } = this.#oldest.past
      this.#cursor = { created_at, id }
      this.#oldest = undefined
    }
  }

  /** The end of the job and the message that tells of it are one change. */
  async #finish(detail: string | null = null) {
    const { app_id, webhook_id, id } = this.#replay
    const { database, clock, log, dispatch } = this.#options
    const appended = await database.db.transaction().execute(async (tx) => {
      const { rows } = await sql<{ state: 'complete' | 'incomplete' }>`
        update replays set finished_at = ${isoTime(clock.now())}, detail = ${detail},
          state = case when failed = 0 and ${detail}::text is null then 'complete' else 'incomplete' end
        where app_id = ${app_id} and webhook_id = ${webhook_id} and id = ${id} and state = 'running'
          and exists (select from delivery_lanes as lane where lane.app_id = ${app_id} and lane.webhook_id = ${webhook_id}
            and lane.epoch = ${this.lane.epoch})
        returning state`.execute(tx)
      return rows[0] ? log.append(tx, [statusMessage(this.#replay, rows[0].state)]) : []
    })
    dispatch(appended)
  }
}
