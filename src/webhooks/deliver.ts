/** The delivery engine of a node: sends what is due to the webhooks whose lanes it has, and records what became of it. */
import { setTimeout as sleep } from 'node:timers/promises'
import type { Clock } from '../clock.ts'
import type { Egress } from '../egress/index.ts'
import { type Database, type Db, isDatabaseAway } from '../storage/db.ts'
import type { Listener } from '../storage/listen.ts'
import { type Log, silentLog } from '../storage/log.ts'
import type { DeliveryConfig } from './deliver-config.ts'
import { createMeasures, type MeasuresOptions } from './deliver-measures.ts'
import { createRecorder } from './deliver-record.ts'
import { createSearch } from './deliver-search.ts'
import { createSecretCache, type SecretsOf } from './deliver-secrets.ts'
import { createWake, DELIVERIES_CHANNEL, parseWake } from './deliver-wake.ts'
import type { Lane } from './lanes.ts'
import { createClaims } from './lanes-claim.ts'
import { Ownership } from './lanes-ownership.ts'
import { createSender } from './lanes-send.ts'
import { createDeliveryLog, type Delivery, type LaneKey, type NewDelivery, type Pruned } from './log.ts'
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
const DRAIN_TIMEOUT_MS = 30_000
/** Beyond the deadline of what is in flight, for recording it and giving back lanes. */
const STOP_GRACE_MS = 1_000

export function createDelivery(options: DeliveryOptions): DeliveryEngine {
  return new Engine(options)
}

class Engine implements DeliveryEngine {
  readonly #config: DeliveryConfig
  readonly #clock: Clock
  readonly #logger: Log
  readonly #listener: Listener | undefined
  readonly #log
  readonly #wake
  readonly #ownership
  readonly #sender
  readonly #claims
  readonly #recorder
  readonly #replays
  readonly #search
  readonly #unlisten: (() => void)[] = []
  #running = false
  #loops: Promise<void>[] = []
  #stopping = new AbortController()
  #tick: NodeJS.Timeout | undefined
  #stopped: Promise<void> | undefined

  constructor(options: DeliveryOptions) {
    const { database, egress, clock, config, log = silentLog, random = Math.random } = options
    this.#config = config
    this.#clock = clock
    this.#logger = log
    this.#listener = options.listener
    this.#log = createDeliveryLog({ database, clock })
    this.#wake = createWake(database)
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
    const { lanes } = this.#ownership
    this.#recorder = createRecorder({
      log: this.#log,
      clock,
      config,
      random,
      ownership: this.#ownership,
      measures: createMeasures(options.metrics, () => this.stats()),
      logger: log,
      recorded: () => this.#sender.pumpWaiting(),
      complain
    })
    this.#sender = createSender({
      egress,
      clock,
      config,
      secrets: createSecretCache(options.secrets),
      mayBegin: () => this.#holdsLease && this.#recorder.pending < config.unrecordedMax,
      holdsLease: () => this.#holdsLease,
      settled: (sent) =>
        sent.delivery.cause === 'replay' ? this.#replays.settled(sent) : this.#recorder.settled(sent),
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
    this.#search = createSearch({
      log: this.#log,
      clock,
      pollMs: config.pollMs,
      ownership: this.#ownership,
      claims: this.#claims,
      replays: this.#replays,
      hold: (lane) => void this.#hold(lane),
      complain
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

  /** Whatever begins now is over before another node may take its lane. */
  get #holdsLease() {
    return this.#running && this.#ownership.lease.remainingMs() > this.#config.deadlineMs
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

  async start() {
    await this.#log.partitions.ensureAhead()
    this.#running = true
    await this.#ownership.join()
    if (this.#listener) {
      this.#unlisten.push(
        this.#listener.on(DELIVERIES_CHANNEL, (payload) => this.#heard(payload)),
        this.#listener.onReconnect(() => void this.#search.all())
      )
      await this.#listener.ready()
    }
    const { signal } = this.#stopping
    this.#loops = [this.#ownership.keepLease(signal), this.#search.keep(signal)]
    this.#tick = setInterval(() => this.#onTick(), TICK_MS)
  }

  #heard(payload: string) {
    const heard = parseWake(payload)
    if (!heard) return
    if (heard.what === 'replay') return void this.#search.all()
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

  async drain(timeoutMs = DRAIN_TIMEOUT_MS) {
    const { lanes, lease } = this.#ownership
    const deadline = performance.now() + timeoutMs
    for (let any = false; performance.now() < deadline; any = true) {
      for (const lane of lanes.values()) lane.pausedUntilMs = Math.min(lane.pausedUntilMs, this.#clock.now())
      const left = [...(await this.#search.deliveries(0)), ...(await this.#search.replays())]
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
    return (
      this.#sender.inFlight === 0 &&
      this.#recorder.pending === 0 &&
      !this.#claims.busy &&
      !this.#ownership.busy &&
      !this.#replays.busy
    )
  }

  async #settle(deadline: number) {
    while (!this.#isIdle && performance.now() < deadline) {
      await this.#ownership.settled()
      await this.#recorder.done()
      if (!this.#isIdle) await sleep(2)
    }
  }

  /** Everything sent so far is over and recorded, as far as it was ours. */
  async #settleSent() {
    while (this.#sender.inFlight > 0) await sleep(10)
    await this.#recorder.done()
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
    const timer = setTimeout(() => this.#recorder.giveUp(), graceMs)
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
      unrecorded: this.#recorder.pending
    }
  }

  #complain(error: unknown, what: string) {
    if (isDatabaseAway(error)) this.#logger.warn({ err: error }, what)
    else this.#logger.error({ err: error }, what)
  }
}
