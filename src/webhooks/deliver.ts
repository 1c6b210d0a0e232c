/** The delivery engine of a node: sends what is due to the webhooks whose lanes it has, and records what became of it. */
import { setTimeout as sleep } from 'node:timers/promises'
import type { Clock } from '../clock.ts'
import type { Egress } from '../egress/index.ts'
import { type Database, type Db, isDatabaseAway } from '../storage/db.ts'
import type { Listener } from '../storage/listen.ts'
import { type Log, silentLog } from '../storage/log.ts'
import type { DeliveryConfig } from './deliver-config.ts'
import { createFlush } from './deliver-flush.ts'
import { createMeasures, type MeasuresOptions } from './deliver-measures.ts'
import { retryDelayMs } from './deliver-outcome.ts'
import { createSecretCache, type SecretsOf } from './deliver-secrets.ts'
import { createWake, DELIVERIES_CHANNEL, parseWake } from './deliver-wake.ts'
import type { Lane } from './lanes.ts'
import { createClaims } from './lanes-claim.ts'
import { Ownership } from './lanes-ownership.ts'
import { createSender, type Sent } from './lanes-send.ts'
import {
  createDeliveryLog,
  type Delivery,
  type LaneKey,
  type NewDelivery,
  type Pruned,
  type Settled,
  type Waiting
} from './log.ts'
import { createReplays } from './replay-run.ts'

export interface DeliveryOptions {
  database: Database
  egress: Pick<Egress, 'send'>
  clock: Clock
  config: DeliveryConfig
  /** The app's consumer secrets that are valid now, the newest first. */
  secrets: SecretsOf
  listener?: Listener
  log?: Log
  metrics?: MeasuresOptions
  random?: () => number
}

export interface DeliveryStats {
  nodeId: string
  leaseRemainingMs: number
  lanes: number
  inFlight: number
  buffered: number
  unrecorded: number
}

export interface DeliveryEngine {
  /** In the publisher's transaction. What it returns goes to `dispatch` after the commit. */
  append(tx: Db, deliveries: readonly NewDelivery[]): Promise<Delivery[]>
  /** Before a publisher's transaction writes into the tables that are cut by time. Undefined when there is nothing to wait for. */
  ensurePartitions(): Promise<void> | undefined
  /** After the commit: sends at once what belongs to this node, and wakes the others. Never fails, never waits. */
  dispatch(appended: readonly Delivery[]): void
  /** After the commit of a new replay: whoever has the lane begins. */
  wakeReplay(lane: LaneKey): void
  /** Begins to take lanes and to send. Without it, a node only publishes. */
  start(): Promise<void>
  /** Waits for what is in flight, records it, and gives the lanes to others. */
  stop(): Promise<void>
  /** Sends everything that is due by the clock, on whichever node, and resolves when none is left. True if there was any. */
  drain(timeoutMs?: number): Promise<boolean>
  /** When the next retry is due by the clock. */
  nextDueAt(): Promise<number | undefined>
  /** Drops records that are past their time; a job does it now and then (see `retentionJob`). */
  prune(): Promise<Pruned>
  stats(): DeliveryStats
}

/** Looks for retries that became due in between searches of the queue. */
const TICK_MS = 50
/** What waits for its first attempt longer than this may have been announced to nobody. */
const OVERDUE_MS = 1_500
/** A lane that nobody has taken for so long is taken by any node, not only by the one that should. */
const ABANDONED_MS = 5_000
const DRAIN_TIMEOUT_MS = 30_000
const RECORD_FAILURES_MAX = 5
const NOT_SENT_PAUSE_MS = 1_000
/** Beyond the deadline of what is in flight, for recording it and giving back lanes. */
const STOP_GRACE_MS = 1_000

export function createDelivery(options: DeliveryOptions): DeliveryEngine {
  return new Engine(options)
}

class Engine implements DeliveryEngine {
  readonly #config: DeliveryConfig
  readonly #clock: Clock
  readonly #logger: Log
  readonly #random: () => number
  readonly #listener: Listener | undefined
  readonly #log
  readonly #wake
  readonly #ownership
  readonly #sender
  readonly #claims
  readonly #flush
  readonly #measures
  readonly #replays
  readonly #unlisten: (() => void)[] = []
  #running = false
  #loops: Promise<void>[] = []
  #stopping = new AbortController()
  #tick: NodeJS.Timeout | undefined
  #stopped: Promise<void> | undefined
  /** Set when stopping has taken as long as it may. */
  #outOfTime = false

  constructor(options: DeliveryOptions) {
    const { database, egress, clock, config, log = silentLog, random = Math.random } = options
    this.#config = config
    this.#clock = clock
    this.#logger = log
    this.#random = random
    this.#listener = options.listener
    this.#log = createDeliveryLog({ database, clock })
    this.#wake = createWake(database)
    this.#measures = createMeasures(options.metrics, () => this.stats())
    const complain = (error: unknown, what: string) => this.#complain(error, what)
    const pump = (lane: Lane) => this.#sender.pump(lane)
    this.#ownership = new Ownership({
      database,
      config,
      wake: this.#wake,
      opened: (lane) => this.#claims.want(lane),
      invalid: (lane) => this.#hold(lane),
      isBusyWith: (lane) => lane.inFlight > 0 || lane.known.size > 0 || this.#replays.isBusyWith(lane),
      settle: () => this.#settleSent(),
      complain,
      warn: (what) => log.warn(what),
      inform: (what) => log.info(what)
    })
    const { lanes, lease } = this.#ownership
    this.#flush = createFlush<Settled>({
      afterMs: config.flushMs,
      write: (batch) => this.#record(batch),
      retry: (error, batch, failures) => this.#mayStillRecord(error, batch, failures)
    })
    this.#sender = createSender({
      egress,
      clock,
      config,
      secrets: createSecretCache(options.secrets),
      mayBegin: () =>
        this.#running && lease.remainingMs() > config.deadlineMs && this.#flush.pending < config.unrecordedMax,
      settled: (sent) => this.#settled(sent),
      wantsMore: (lane) => this.#claims.want(lane)
    })
    this.#claims = createClaims({
      log: this.#log,
      clock,
      lanes,
      filled: pump,
      failed: (error) => complain(error, 'the queue cannot be read; trying again')
    })
    this.#replays = createReplays({
      database,
      log: this.#log,
      clock,
      config,
      pump,
      lost: (lane) => this.#ownership.drop(lane),
      dispatch: (appended) => this.dispatch(appended),
      failed: (error) => complain(error, 'a replay is interrupted; it goes on later')
    })
  }

  append(tx: Db, deliveries: readonly NewDelivery[]) {
    return this.#log.append(tx, deliveries)
  }

  ensurePartitions() {
    return this.#log.partitions.ensure(this.#clock.now())
  }

  dispatch(appended: readonly Delivery[]) {
    const touched = new Set<Lane>()
    const elsewhere: LaneKey[] = []
    for (const delivery of appended) {
      const lane = this.#ownership.lanes.get(delivery.webhook_id)
      if (lane && !lane.closed) {
        lane.offer(delivery)
        touched.add(lane)
      } else {
        elsewhere.push(delivery)
      }
    }
    for (const lane of touched) this.#sender.pump(lane)
    if (elsewhere.length > 0) this.#ownership.want(elsewhere, true)
  }

  wakeReplay(lane: LaneKey) {
    this.#wake.replay(lane)
  }

  /** While a webhook is invalid nothing is sent to it; see decisions/0024. */
  async #hold(lane: Lane) {
    lane.forget()
    try {
      await this.#log.hold(lane, [...lane.known])
    } catch (error) {
      this.#complain(error, 'deliveries to an invalid webhook cannot be held; the next search of the queue tries again')
    }
  }

  #settled(sent: Sent) {
    const { lane, delivery, judgement, startedAtMs, latencyMs } = sent
    if (delivery.cause === 'replay') return this.#replays.settled(sent)
    const { outcome, status, error, detail, response, retryAfterMs } = judgement
    if (outcome === 'none') {
      // Not an attempt: it is in the queue as before. Whatever is missing may come back soon, but not at once.
      if (judgement.detail) this.#logger.warn({ webhook: lane.webhook_id }, `cannot send: ${judgement.detail}`)
      lane.pausedUntilMs = Math.max(lane.pausedUntilMs, this.#clock.now() + NOT_SENT_PAUSE_MS)
      lane.known.delete(delivery.id)
      lane.moreWaits()
      return
    }
    const delay =
      outcome === 'transient'
        ? retryDelayMs(delivery.attempts + 1, this.#config, this.#random(), retryAfterMs)
        : undefined
    const settled: Settled = {
      delivery,
      epoch: lane.epoch,
      outcome: outcome === 'delivered' ? 'delivered' : delay === undefined ? 'failed' : 'retry',
      startedAtMs,
      latencyMs,
      status,
      error,
      detail,
      response,
      nextAttemptAtMs: delay === undefined ? undefined : this.#clock.now() + delay
    }
    this.#measures.attempt(settled)
    this.#flush.add(settled)
  }

  async #record(batch: Settled[]) {
    const completed = await this.#log.complete(batch)
    const lanes = new Set<Lane>()
    for (const { delivery, epoch, nextAttemptAtMs } of batch) {
      const lane = this.#ownership.lanes.get(delivery.webhook_id)
      if (lane?.epoch !== epoch) continue
      lane.known.delete(delivery.id)
      if (nextAttemptAtMs !== undefined) lane.retryWaits(nextAttemptAtMs)
      lanes.add(lane)
    }
    if (completed < batch.length) await this.#ownership.lookAgain([...lanes])
    this.#sender.pumpWaiting()
  }

  /**
   * While the database is away nobody can take our lanes, so what is done waits for it. Any other error is a fault of ours:
   * rather than stop everything, the batch is given up and sent again.
   */
  #mayStillRecord(error: unknown, batch: Settled[], failures: number) {
    this.#complain(error, 'attempts cannot be recorded; trying again')
    if (isDatabaseAway(error) ? !this.#outOfTime : failures < RECORD_FAILURES_MAX) return true
    for (const { delivery } of batch) {
      const lane = this.#ownership.lanes.get(delivery.webhook_id)
      lane?.known.delete(delivery.id)
      lane?.moreWaits()
    }
    return false
  }

  async start() {
    await this.#log.partitions.ensureAhead()
    this.#running = true
    await this.#ownership.join()
    if (this.#listener) {
      this.#unlisten.push(
        this.#listener.on(DELIVERIES_CHANNEL, (payload) => this.#heard(payload)),
        this.#listener.onReconnect(() => void this.#searchAll())
      )
      await this.#listener.ready()
    }
    const { signal } = this.#stopping
    this.#loops = [this.#ownership.keepLease(signal), this.#keepSearching(signal)]
    this.#tick = setInterval(() => this.#onTick(), TICK_MS)
  }

  #heard(payload: string) {
    const heard = parseWake(payload)
    if (!heard) return
    if (heard.what === 'replay') return void this.#searchAll()
    const { lanes } = this.#ownership
    const ours = heard.lanes.flatMap(({ webhook_id }) => lanes.get(webhook_id) ?? [])
    if (heard.what === 'changed') {
      this.#ownership
        .lookAgain(ours)
        .catch((error) => this.#complain(error, 'a webhook cannot be read; trying again later'))
      return
    }
    for (const lane of ours) {
      lane.moreWaits()
      this.#claims.want(lane)
    }
    if (ours.length < heard.lanes.length) {
      this.#ownership.want(
        heard.lanes.filter(({ webhook_id }) => !lanes.has(webhook_id)),
        false
      )
    }
  }

  /** Retries that have become due, lanes whose pause is over, and those that are to be given back. */
  #onTick() {
    const nowMs = this.#clock.now()
    for (const lane of this.#ownership.lanes.values()) {
      if (lane.closed) this.#ownership.letGo(lane)
      if (lane.retryAtMs <= nowMs && lane.buffered < lane.limit) this.#claims.want(lane)
      if (lane.buffered > 0 && lane.inFlight === 0) this.#sender.pump(lane)
    }
    this.#sender.pumpWaiting()
  }

  async #keepSearching(signal: AbortSignal) {
    while (!signal.aborted) {
      const begun = performance.now()
      await this.#searchAll()
      // A search that has become slow must not become the load that makes it slow.
      const waitMs = Math.max(this.#config.pollMs, (performance.now() - begun) * 10)
      await sleep(waitMs, undefined, { signal }).catch(() => {})
    }
  }

  async #searchAll() {
    try {
      await this.#search()
      await this.#searchReplays()
    } catch (error) {
      this.#complain(error, 'the queue cannot be searched; trying again')
    }
  }

  /** Finds what no notification announced. Returns the lanes in which something is due. */
  async #search(overdueMs = OVERDUE_MS): Promise<Waiting[]> {
    const { lanes, lease } = this.#ownership
    const rows = await this.#log.waiting()
    const nowMs = this.#clock.now()
    const due: Waiting[] = []
    const wanted: LaneKey[] = []
    for (const row of rows) {
      const freshAtMs = row.fresh_at === null ? Number.POSITIVE_INFINITY : Date.parse(row.fresh_at)
      const retryAtMs = row.retry_at === null ? Number.POSITIVE_INFINITY : Date.parse(row.retry_at)
      const dueAtMs = Math.min(freshAtMs, retryAtMs)
      if (dueAtMs <= nowMs) due.push(row)
      const lane = lanes.get(row.webhook_id)
      if (lane && !lane.closed) {
        if (!lane.valid) void this.#hold(lane)
        if (freshAtMs <= nowMs - overdueMs) lane.moreWaits()
        lane.retryWaits(retryAtMs)
        this.#claims.want(lane)
      } else if (!lane && dueAtMs <= nowMs && (row.node_id === null || row.node_id === lease.nodeId)) {
        if (this.#ownership.isOurs(row.webhook_id) || dueAtMs <= nowMs - ABANDONED_MS) wanted.push(row)
      }
    }
    if (wanted.length > 0) {
      await this.#ownership.take(wanted)
      for (const key of wanted) {
        // Nobody could take it and nobody has it: there is no such webhook any more.
        if (!lanes.has(key.webhook_id)) await this.#log.forgetOrphans(key)
      }
    }
    return due
  }

  /** Jobs in progress, ours or not. */
  async #searchReplays(): Promise<LaneKey[]> {
    const { lanes, lease } = this.#ownership
    const jobs = await this.#replays.unfinished()
    const wanted = jobs.filter(
      ({ webhook_id, node_id }) =>
        !lanes.has(webhook_id) && (node_id === null || node_id === lease.nodeId) && this.#ownership.isOurs(webhook_id)
    )
    if (wanted.length > 0) await this.#ownership.take(wanted)
    for (const job of jobs) {
      const lane = lanes.get(job.webhook_id)
      if (lane && !lane.closed) this.#replays.run(job, lane)
    }
    return jobs
  }

  async drain(timeoutMs = DRAIN_TIMEOUT_MS) {
    const { lanes, lease } = this.#ownership
    const deadline = performance.now() + timeoutMs
    for (let any = false; performance.now() < deadline; any = true) {
      for (const lane of lanes.values()) lane.pausedUntilMs = Math.min(lane.pausedUntilMs, this.#clock.now())
      const left = [...(await this.#search(0)), ...(await this.#searchReplays())]
      if (left.length === 0 && this.#isIdle) return any
      // This node only publishes, and no other sends either.
      if (!this.#running && !(await lease.anyNode())) return any
      await this.#settle(deadline)
      // Lanes of other nodes are theirs to send.
      if (left.some(({ webhook_id }) => !lanes.has(webhook_id))) await sleep(20)
    }
    throw new Error(`Deliveries that are due could not all be sent within ${timeoutMs} ms`)
  }

  async nextDueAt() {
    const times = (await this.#log.waiting()).flatMap((row) => [row.fresh_at, row.retry_at]).filter((at) => at !== null)
    return times.length > 0 ? Math.min(...times.map((at) => Date.parse(at))) : undefined
  }

  get #isIdle() {
    const { busy } = this.#ownership
    return (
      this.#sender.inFlight === 0 && this.#flush.pending === 0 && !this.#claims.busy && !busy && !this.#replays.busy
    )
  }

  async #settle(deadline: number) {
    while (!this.#isIdle && performance.now() < deadline) {
      await this.#ownership.settled()
      await this.#flush.done()
      if (!this.#isIdle) await sleep(2)
    }
  }

  /** Everything sent so far is over and recorded, as far as it was ours. */
  async #settleSent() {
    while (this.#sender.inFlight > 0) await sleep(10)
    await this.#flush.done()
  }

  stop() {
    this.#stopped ??= this.#stop()
    return this.#stopped
  }

  async #stop() {
    this.#running = false
    this.#stopping.abort()
    clearInterval(this.#tick)
    for (const stop of this.#unlisten.splice(0)) stop()
    await Promise.all([...this.#loops, this.#ownership.close()])
    const graceMs = this.#config.deadlineMs + STOP_GRACE_MS
    const timer = setTimeout(() => (this.#outOfTime = true), graceMs)
    await this.#replays.stop(graceMs)
    await this.#settle(performance.now() + graceMs)
    clearTimeout(timer)
    await this.#ownership.leave()
    await this.#wake.done()
    await this.#log.close()
  }

  prune() {
    return this.#log.prune(this.#config.retentionMs)
  }

  stats(): DeliveryStats {
    const { lanes, lease } = this.#ownership
    let buffered = 0
    for (const lane of lanes.values()) buffered += lane.buffered
    return {
      nodeId: lease.nodeId,
      leaseRemainingMs: lease.remainingMs(),
      lanes: lanes.size,
      inFlight: this.#sender.inFlight,
      buffered,
      unrecorded: this.#flush.pending
    }
  }

  #complain(error: unknown, what: string) {
    if (isDatabaseAway(error)) this.#logger.warn({ err: error }, what)
    else this.#logger.error({ err: error }, what)
  }
}
