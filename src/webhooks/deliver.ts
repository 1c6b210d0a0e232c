/** The delivery engine of a node: takes lanes, sends what is due to their webhooks, records what became of it. */
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
import { Lane } from './lanes.ts'
import { createClaims } from './lanes-claim.ts'
import { createLease, preferredNode, type TakenLane } from './lanes-lease.ts'
import { createSender, type Sent } from './lanes-send.ts'
import { createDeliveryLog, type Delivery, type LaneKey, type NewDelivery, type Settled, type Waiting } from './log.ts'
import { createReplays } from './replays.ts'

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
  /** Sends everything that is due by the clock, on whichever node, and resolves when none is left. */
  drain(timeoutMs?: number): Promise<void>
  stats(): DeliveryStats
}

/** Renewed so often that a lease survives several failures in a row. */
const RENEWALS_PER_LEASE = 6
const RENEWAL_RETRY_MS = 250
/** Looks for retries that became due in between searches of the queue. */
const TICK_MS = 50
/** What waits for its first attempt longer than this may have been announced to nobody. */
const OVERDUE_MS = 1_500
/** A lane that nobody has taken for so long is taken by any node, not only by the one that should. */
const ABANDONED_MS = 5_000
/** A lane that another node was found to own; asking again at once would be in vain. */
const FOREIGN_MS = 2_000
const DRAIN_TIMEOUT_MS = 30_000
const RECORD_FAILURES_MAX = 5
/** Beyond the deadline of what is in flight, for recording it and giving back lanes. */
const STOP_GRACE_MS = 1_000

export function createDelivery(options: DeliveryOptions): DeliveryEngine {
  return new Engine(options)
}

class Engine implements DeliveryEngine {
  readonly #options: DeliveryOptions
  readonly #config: DeliveryConfig
  readonly #clock: Clock
  readonly #logger: Log
  readonly #log
  readonly #lease
  readonly #wake
  readonly #secrets
  readonly #sender
  readonly #claims
  readonly #flush
  readonly #measures
  readonly #replays
  readonly #lanes = new Map<string, Lane>()
  /** Lanes of other nodes, and until when we believe so. */
  readonly #foreign = new Map<string, number>()
  readonly #wanted = new Map<string, LaneKey>()
  readonly #unlisten: (() => void)[] = []
  #taking: Promise<void> | undefined
  #turns: Promise<void> = Promise.resolve()
  #running = false
  #renewals: Promise<void> = Promise.resolve()
  #polls: Promise<void> = Promise.resolve()
  #stopping = new AbortController()
  #tick: NodeJS.Timeout | undefined
  #stopped: Promise<void> | undefined
  /** Set when stopping has taken as long as it may. */
  #outOfTime = false

  constructor(options: DeliveryOptions) {
    const { database, egress, clock, config, secrets, log = silentLog } = options
    this.#options = options
    this.#config = config
    this.#clock = clock
    this.#logger = log
    this.#log = createDeliveryLog({ database, clock })
    this.#lease = createLease(database, config.leaseMs)
    this.#wake = createWake(database)
    this.#secrets = createSecretCache(secrets)
    this.#measures = createMeasures(options.metrics, () => this.stats())
    this.#flush = createFlush<Settled>({
      afterMs: config.flushMs,
      write: (batch) => this.#record(batch),
      retry: (error, batch, failures) => this.#mayStillRecord(error, batch, failures)
    })
    this.#sender = createSender({
      egress,
      clock,
      config,
      secrets: this.#secrets,
      mayBegin: () =>
        this.#running && this.#lease.remainingMs() > config.deadlineMs && this.#flush.pending < config.unrecordedMax,
      settled: (sent) => this.#settled(sent),
      wantsMore: (lane) => this.#claims.want(lane)
    })
    this.#claims = createClaims({
      log: this.#log,
      clock,
      lanes: this.#lanes,
      filled: (lane) => this.#sender.pump(lane),
      failed: (error) => this.#complain(error, 'the queue cannot be read; trying again')
    })
    this.#replays = createReplays({
      database,
      log: this.#log,
      clock,
      config,
      pump: (lane) => this.#sender.pump(lane),
      lost: (lane) => this.#drop(lane),
      dispatch: (appended) => this.dispatch(appended),
      failed: (error) => this.#complain(error, 'a replay is interrupted; it goes on later')
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
      const lane = this.#lanes.get(delivery.webhook_id)
      if (lane && !lane.closed) {
        lane.offer(delivery)
        touched.add(lane)
      } else {
        elsewhere.push(delivery)
      }
    }
    for (const lane of touched) this.#sender.pump(lane)
    if (elsewhere.length > 0) this.#route(elsewhere)
  }

  wakeReplay(lane: LaneKey) {
    this.#wake.replay(lane)
  }

  /** Lanes with work that are not in this node's hands: taken if they should be, announced otherwise. */
  #route(lanes: readonly LaneKey[]) {
    const others: LaneKey[] = []
    const now = performance.now()
    for (const { app_id, webhook_id } of lanes) {
      const lane = { app_id, webhook_id }
      if (this.#running && this.#isPreferred(webhook_id) && !((this.#foreign.get(webhook_id) ?? 0) > now)) {
        this.#wanted.set(webhook_id, lane)
      } else {
        others.push(lane)
      }
    }
    this.#wake.work(others)
    if (this.#wanted.size > 0) void this.#takeWanted()
  }

  #isPreferred(webhookId: string) {
    return preferredNode(this.#lease.nodes, webhookId) === this.#lease.nodeId
  }

  #takeWanted() {
    this.#taking ??= (async () => {
      while (this.#wanted.size > 0 && this.#running) {
        const wanted = [...this.#wanted.values()]
        this.#wanted.clear()
        try {
          await this.#take(wanted)
        } catch (error) {
          this.#complain(error, 'lanes cannot be taken; the next search of the queue tries again')
        }
      }
      this.#wanted.clear()
    })().finally(() => (this.#taking = undefined))
    return this.#taking
  }

  /** One at a time: a lane that is taken twice would be sent to twice. */
  #take(wanted: readonly LaneKey[]): Promise<void> {
    const turn = this.#turns.then(() => this.#takeInTurn(wanted))
    this.#turns = turn.catch(() => {})
    return turn
  }

  async #takeInTurn(wanted: readonly LaneKey[]) {
    if (!this.#running) return
    const missing = wanted.filter(({ webhook_id }) => !this.#lanes.has(webhook_id))
    const taken = await this.#lease.take(missing)
    for (const lane of taken) this.#open(lane)
    const until = performance.now() + FOREIGN_MS
    const others = missing.filter(({ webhook_id }) => !this.#lanes.has(webhook_id))
    for (const { webhook_id } of others) this.#foreign.set(webhook_id, until)
    this.#wake.work(others)
  }

  #open(taken: TakenLane) {
    const lane = new Lane(taken, this.#config)
    this.#lanes.set(lane.webhook_id, lane)
    this.#foreign.delete(lane.webhook_id)
    if (!lane.valid) void this.#hold(lane)
    else this.#claims.want(lane)
  }

  async #hold(lane: Lane) {
    lane.forget()
    try {
      await this.#log.hold(lane)
    } catch (error) {
      this.#complain(error, 'deliveries to an invalid webhook cannot be held; the next search of the queue tries again')
    }
  }

  #settled(sent: Sent) {
    const { lane, delivery, judgement, startedAtMs, latencyMs } = sent
    if (delivery.cause === 'replay') {
      this.#replays.settled(sent)
      if (lane.closed) this.#letGo(lane)
      return
    }
    const { outcome, status, error, detail, response, retryAfterMs } = judgement
    if (outcome === 'none') {
      // Not an attempt: it is in the queue as before.
      lane.known.delete(delivery.id)
      lane.moreWaits()
      return
    }
    const attempts = delivery.attempts + 1
    const delay =
      outcome === 'transient'
        ? retryDelayMs(attempts, this.#config, (this.#options.random ?? Math.random)(), retryAfterMs)
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
      const lane = this.#lanes.get(delivery.webhook_id)
      if (lane?.epoch !== epoch) continue
      lane.known.delete(delivery.id)
      if (nextAttemptAtMs !== undefined) lane.retryWaits(nextAttemptAtMs)
      lanes.add(lane)
    }
    if (completed < batch.length) await this.#lookAgain([...lanes])
    for (const lane of lanes) if (lane.closed) this.#letGo(lane)
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
      const lane = this.#lanes.get(delivery.webhook_id)
      lane?.known.delete(delivery.id)
      lane?.moreWaits()
    }
    return false
  }

  /** Drops lanes that are ours no more, and learns which webhooks have become valid or invalid. */
  async #lookAgain(lanes: readonly Lane[]) {
    const seen = new Map((await this.#lease.look(lanes)).map((lane) => [lane.webhook_id, lane]))
    for (const lane of lanes) {
      const now = seen.get(lane.webhook_id)
      if (!now) {
        this.#drop(lane)
        continue
      }
      const wasValid = lane.valid
      lane.url = now.url
      lane.valid = now.valid
      if (wasValid && !now.valid) void this.#hold(lane)
      if (!wasValid && now.valid) {
        lane.forget()
        this.#claims.want(lane)
      }
    }
  }

  /** Forgets a lane at once: it belongs to someone else, or its webhook is gone. */
  #drop(lane: Lane) {
    lane.closed = true
    lane.forget()
    if (this.#lanes.get(lane.webhook_id) === lane) this.#lanes.delete(lane.webhook_id)
  }

  /** Gives a lane that another node should have to it, once nothing of it is in flight here. */
  #letGo(lane: Lane) {
    if (!lane.closed) {
      lane.closed = true
      lane.forget()
    }
    if (lane.inFlight > 0 || lane.known.size > 0 || this.#replays.isBusyWith(lane)) return
    if (this.#lanes.get(lane.webhook_id) !== lane) return
    this.#lanes.delete(lane.webhook_id)
    this.#lease
      .giveBack([lane])
      .then(() => this.#wake.work([lane]))
      .catch((error) => this.#complain(error, 'a lane cannot be given back; it ends with the lease'))
  }

  async start() {
    this.#running = true
    this.#stopping = new AbortController()
    await this.#log.partitions.ensureAhead()
    await this.#lease.join()
    await this.#lease.renew()
    const { listener } = this.#options
    if (listener) {
      this.#unlisten.push(
        listener.on(DELIVERIES_CHANNEL, (payload) => this.#heard(payload)),
        listener.onReconnect(() => void this.#search().catch(() => {}))
      )
      await listener.ready()
    }
    this.#renewals = this.#keepLease()
    this.#polls = this.#keepSearching()
    this.#tick = setInterval(() => this.#onTick(), TICK_MS)
  }

  #heard(payload: string) {
    const heard = parseWake(payload)
    if (!heard) return
    const known: Lane[] = []
    for (const { app_id, webhook_id } of heard.lanes) {
      const lane = this.#lanes.get(webhook_id)
      if (lane) known.push(lane)
      else if (heard.what === 'work' && this.#isPreferred(webhook_id)) {
        if (!((this.#foreign.get(webhook_id) ?? 0) > performance.now())) {
          this.#wanted.set(webhook_id, { app_id, webhook_id })
        }
      }
    }
    if (this.#wanted.size > 0) void this.#takeWanted()
    if (heard.what === 'replay') {
      this.#searchReplays().catch((error) => this.#complain(error, 'replays cannot be read; trying again later'))
      return
    }
    if (heard.what === 'changed') {
      this.#lookAgain(known).catch((error) => this.#complain(error, 'a webhook cannot be read; trying again later'))
      return
    }
    for (const lane of known) {
      lane.moreWaits()
      this.#claims.want(lane)
    }
  }

  /** Retries that have become due, and lanes whose pause is over. */
  #onTick() {
    const nowMs = this.#clock.now()
    for (const lane of this.#lanes.values()) {
      if (lane.closed) this.#letGo(lane)
      if (lane.retryAtMs <= nowMs && lane.buffered < lane.limit) this.#claims.want(lane)
      if (lane.buffered > 0 && lane.inFlight === 0) this.#sender.pump(lane)
    }
    this.#sender.pumpWaiting()
  }

  async #keepLease() {
    const { signal } = this.#stopping
    while (!signal.aborted) {
      let waitMs = this.#config.leaseMs / RENEWALS_PER_LEASE
      try {
        const before = this.#lease.nodes.join()
        if (!(await this.#lease.renew())) {
          const turn = this.#turns.then(() => this.#startOver())
          this.#turns = turn.catch(() => {})
          await turn
        }
        else if (this.#lease.nodes.join() !== before) this.#rebalance()
        await this.#lookAgain([...this.#lanes.values()].filter((lane) => !lane.closed))
      } catch (error) {
        this.#complain(error, 'the lease cannot be renewed; trying again')
        waitMs = Math.min(waitMs, RENEWAL_RETRY_MS)
      }
      await sleep(waitMs, undefined, { signal }).catch(() => {})
    }
  }

  /** The lease was lost, so others may have our lanes. What is in flight ends, but what becomes of it is not ours to say. */
  async #startOver() {
    this.#logger.warn({ node: this.#lease.nodeId }, 'the delivery lease was lost; starting over')
    for (const lane of [...this.#lanes.values()]) this.#drop(lane)
    // Until the last request of the old lanes is over, they would count in no lane's limit.
    while (this.#sender.inFlight > 0) await sleep(10)
    await this.#lease.join()
    await this.#lease.renew()
  }

  #rebalance() {
    for (const lane of [...this.#lanes.values()]) {
      if (!this.#isPreferred(lane.webhook_id)) this.#letGo(lane)
    }
    this.#foreign.clear()
  }

  async #keepSearching() {
    const { signal } = this.#stopping
    while (!signal.aborted) {
      const begun = performance.now()
      try {
        await this.#search()
        await this.#searchReplays()
      } catch (error) {
        this.#complain(error, 'the queue cannot be searched; trying again')
      }
      // A search that has become slow must not become the load that makes it slow.
      const waitMs = Math.max(this.#config.pollMs, (performance.now() - begun) * 10)
      await sleep(waitMs, undefined, { signal }).catch(() => {})
    }
  }

  /** Finds what no notification announced. Returns the lanes in which something is due. */
  async #search(overdueMs = OVERDUE_MS): Promise<Waiting[]> {
    const rows = await this.#log.waiting()
    const nowMs = this.#clock.now()
    const due: Waiting[] = []
    const wanted: LaneKey[] = []
    for (const row of rows) {
      const freshAtMs = row.fresh_at === null ? Number.POSITIVE_INFINITY : Date.parse(row.fresh_at)
      const retryAtMs = row.retry_at === null ? Number.POSITIVE_INFINITY : Date.parse(row.retry_at)
      const dueAtMs = Math.min(freshAtMs, retryAtMs)
      if (dueAtMs <= nowMs) due.push(row)
      const lane = this.#lanes.get(row.webhook_id)
      if (lane && !lane.closed) {
        if (!lane.valid) void this.#hold(lane)
        if (freshAtMs <= nowMs - overdueMs) lane.moreWaits()
        lane.retryWaits(retryAtMs)
        this.#claims.want(lane)
      } else if (!lane && dueAtMs <= nowMs && (row.node_id === null || row.node_id === this.#lease.nodeId)) {
        if (this.#isPreferred(row.webhook_id) || dueAtMs <= nowMs - ABANDONED_MS) wanted.push(row)
      }
    }
    if (wanted.length > 0) {
      await this.#take(wanted)
      for (const lane of wanted) {
        // Nobody could take it and nobody has it: there is no such webhook any more.
        if (!this.#lanes.has(lane.webhook_id)) await this.#log.forgetOrphans(lane)
      }
    }
    return due
  }

  /** Jobs in progress, ours or not. */
  async #searchReplays(): Promise<LaneKey[]> {
    const jobs = await this.#replays.unfinished()
    const wanted = jobs.filter(({ webhook_id, node_id }) => {
      if (this.#lanes.has(webhook_id) || !this.#running) return false
      return (node_id === null || node_id === this.#lease.nodeId) && this.#isPreferred(webhook_id)
    })
    if (wanted.length > 0) await this.#take(wanted)
    for (const job of jobs) {
      const lane = this.#lanes.get(job.webhook_id)
      if (lane && !lane.closed) this.#replays.run(job, lane)
    }
    return jobs
  }

  async drain(timeoutMs = DRAIN_TIMEOUT_MS) {
    const deadline = performance.now() + timeoutMs
    while (performance.now() < deadline) {
      for (const lane of this.#lanes.values()) lane.pausedUntilMs = Math.min(lane.pausedUntilMs, this.#clock.now())
      const due = await this.#search(0)
      const replays = await this.#searchReplays()
      if (due.length === 0 && replays.length === 0 && this.#isIdle) return
      await this.#settle(deadline)
      // Lanes of other nodes are theirs to send.
      if ([...due, ...replays].some(({ webhook_id }) => !this.#lanes.has(webhook_id))) await sleep(20)
    }
    throw new Error(`Deliveries that are due could not all be sent within ${timeoutMs} ms`)
  }

  get #isIdle() {
    return (
      this.#sender.inFlight === 0 &&
      this.#flush.pending === 0 &&
      !this.#claims.busy &&
      !this.#taking &&
      !this.#replays.busy
    )
  }

  async #settle(deadline: number) {
    while (!this.#isIdle && performance.now() < deadline) {
      await this.#taking
      await this.#flush.done()
      if (!this.#isIdle) await sleep(2)
    }
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
    await Promise.all([this.#renewals, this.#polls, this.#taking, this.#turns])
    const replaysStopped = this.#replays.stop()
    const graceMs = this.#config.deadlineMs + STOP_GRACE_MS
    const timer = setTimeout(() => (this.#outOfTime = true), graceMs)
    await this.#settle(performance.now() + graceMs)
    clearTimeout(timer)
    const lanes = [...this.#lanes.values()]
    for (const lane of lanes) this.#drop(lane)
    await replaysStopped
    if (this.#lease.remainingMs() > 0) {
      await this.#lease.giveBack(lanes).catch((error) => this.#complain(error, 'lanes cannot be given back'))
      await this.#lease.leave().catch((error) => this.#complain(error, 'the lease cannot be given up'))
      this.#wake.work(lanes)
    }
    await this.#wake.done()
    await this.#log.close()
  }

  stats(): DeliveryStats {
    let buffered = 0
    for (const lane of this.#lanes.values()) buffered += lane.buffered
    return {
      nodeId: this.#lease.nodeId,
      leaseRemainingMs: this.#lease.remainingMs(),
      lanes: this.#lanes.size,
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
