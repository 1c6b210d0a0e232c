/** A lane: what this node knows of one webhook that it sends to. Memory only; the queue in the database is the truth. */
import type { Delivery, LaneKey } from './log.ts'

export interface LaneLimits {
  /** Requests in flight to one webhook at most. */
  inFlightMax: number
  /** Deliveries kept in memory for one webhook; the rest waits in the queue. */
  bufferMax: number
}

/** A new lane begins carefully; each acknowledgement doubles its pace until the first sign of trouble. */
const START_LIMIT = 8
/** While first attempts wait, one in so many slots goes to a retry, so that retries are behind but not stuck. */
const FIRST_ATTEMPTS_PER_RETRY = 8
/** The same for replays, in a lane that may have one request in flight. */
const LIVE_PER_REPLAY = 4

export class Lane implements LaneKey {
  readonly app_id: string
  readonly webhook_id: string
  readonly epoch: number
  url: string
  valid: boolean
  /** Shown to be ours no more, or on its way to another node: nothing is sent. */
  closed = false
  inFlight = 0
  replaysInFlight = 0
  /** The queue may hold due first attempts that are not in memory. */
  backlog = true
  /** The last claim found fewer than it asked for: what is handed over now is next in line, or nearly. */
  nearlyEmpty = false
  /** Grows whenever somebody says that there is more; a claim that began before does not know of it. */
  told = 0
  /** The earliest retry that is in the queue and not in memory, by the clock of the rules. */
  retryAtMs = 0
  /** The consumer asked to be left alone until then. */
  pausedUntilMs = 0
  readonly fresh = new Fifo<Delivery>()
  readonly retries = new Fifo<Delivery>()
  readonly replayed = new Fifo<Delivery>()
  /** Ids in memory, in flight, or done but not recorded yet: a claim must not take them again. */
  readonly known = new Set<string>()
  readonly #limits: LaneLimits
  #limit: number
  /** Below it the limit doubles per round, above it grows by one. */
  #threshold: number
  /** Answers to requests sent before the last cut say nothing about the new limit. */
  #cutAtSend = 0
  #sends = 0
  #sinceRetry = 0
  #sinceReplay = 0

  constructor(
    { app_id, webhook_id, epoch, url, valid }: LaneKey & { epoch: number; url: string; valid: boolean },
    limits: LaneLimits
  ) {
    this.app_id = app_id
    this.webhook_id = webhook_id
    this.epoch = epoch
    this.url = url
    this.valid = valid
    this.#limits = limits
    this.#limit = Math.min(START_LIMIT, limits.inFlightMax)
    this.#threshold = limits.inFlightMax
  }

  get limit() {
    return Math.floor(this.#limit)
  }

  /** What waits in memory for its turn among live traffic. */
  get buffered() {
    return this.fresh.length + this.retries.length
  }

  get hasRoom() {
    return this.buffered < this.#limits.bufferMax
  }

  /** Takes what a publisher of this node hands over; false if it must come through the queue. */
  offer(delivery: Delivery) {
    if (this.closed || !this.valid || !this.hasRoom || (this.backlog && !this.nearlyEmpty)) {
      this.moreWaits()
      return false
    }
    if (!this.known.has(delivery.id)) {
      this.known.add(delivery.id)
      this.fresh.push(delivery)
    }
    return true
  }

  /** The queue holds due first attempts that are not here. */
  moreWaits() {
    this.backlog = true
    this.told++
  }

  retryWaits(atMs: number) {
    if (atMs >= this.retryAtMs) return
    this.retryAtMs = atMs
    this.told++
  }

  /** Takes the next delivery to send, or nothing if none may be sent now. */
  next(nowMs: number): Delivery | undefined {
    if (this.closed || !this.valid || nowMs < this.pausedUntilMs) return undefined
    const limit = this.limit
    if (this.inFlight >= limit) return undefined
    const replayed = this.#nextReplayed(limit)
    if (replayed) return this.#sent(replayed)
    const delivery = this.#nextLive()
    return delivery && this.#sent(delivery)
  }

  /** A replay has one slot for sure, or one turn in a few where there is only one slot, and never more than half of them. */
  #nextReplayed(limit: number) {
    if (this.replayed.length === 0 || this.replaysInFlight >= Math.max(1, limit >> 1)) return undefined
    const liveWaits = this.buffered > 0
    if (liveWaits && limit === 1 && this.#sinceReplay < LIVE_PER_REPLAY) return undefined
    if (liveWaits && limit > 1 && this.replaysInFlight > 0) return undefined
    this.#sinceReplay = 0
    this.replaysInFlight++
    return this.replayed.shift()
  }

  #nextLive() {
    if (this.retries.length > 0 && (this.fresh.length === 0 || this.#sinceRetry >= FIRST_ATTEMPTS_PER_RETRY)) {
      this.#sinceRetry = 0
      return this.retries.shift()
    }
    this.#sinceRetry++
    return this.fresh.shift()
  }

  #sent(delivery: Delivery) {
    this.inFlight++
    this.#sends++
    this.#sinceReplay++
    return delivery
  }

  /** A request is over. `sentAs` is what `sends` was when it began. */
  over(delivery: Delivery) {
    this.inFlight--
    if (delivery.cause === 'replay') this.replaysInFlight--
  }

  get sends() {
    return this.#sends
  }

  /** The consumer keeps up: more at once, quickly at first and then by one per round. */
  speedUp() {
    const step = this.#limit < this.#threshold ? 1 : 1 / this.#limit
    this.#limit = Math.min(this.#limits.inFlightMax, this.#limit + step)
  }

  /** 429, 5xx or a timeout: half as many at once, at most once per round of requests. */
  slowDown(sentAs: number) {
    if (sentAs <= this.#cutAtSend) return
    this.#cutAtSend = this.#sends
    this.#limit = Math.max(1, this.#limit / 2)
    this.#threshold = Math.max(2, this.#limit)
  }

  /** Drops what waits in memory; it is still in the queue. */
  forget() {
    for (const queue of [this.fresh, this.retries]) {
      for (let delivery = queue.shift(); delivery; delivery = queue.shift()) this.known.delete(delivery.id)
    }
    while (this.replayed.shift());
    this.nearlyEmpty = false
    this.moreWaits()
    this.retryWaits(0)
  }
}

/** A queue whose head is taken in constant time, however long it is. */
export class Fifo<T> {
  #items: (T | undefined)[] = []
  #head = 0

  get length() {
    return this.#items.length - this.#head
  }

  push(item: T) {
    this.#items.push(item)
  }

  shift(): T | undefined {
    if (this.#head === this.#items.length) return undefined
    const item = this.#items[this.#head]
    this.#items[this.#head++] = undefined
    if (this.#head > 64 && this.#head * 2 > this.#items.length) {
      this.#items = this.#items.slice(this.#head)
      this.#head = 0
    }
    return item
  }
}
