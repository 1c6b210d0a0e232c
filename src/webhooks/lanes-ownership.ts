/** The lanes of this node: taking them, keeping the lease, noticing what has changed, giving them back. */
import { setTimeout as sleep } from 'node:timers/promises'
import type { Database } from '../storage/db.ts'
import type { DeliveryConfig } from './deliver-config.ts'
import type { Wake } from './deliver-wake.ts'
import { Lane } from './lanes.ts'
import { createLease, preferredNode } from './lanes-lease.ts'
import type { LaneKey } from './log.ts'

export interface OwnershipOptions {
  database: Database
  config: DeliveryConfig
  wake: Wake
  /** A lane was taken, or its webhook has become valid. */
  opened(lane: Lane): void
  /** The webhook of a lane is invalid. */
  invalid(lane: Lane): void
  /** Whether something of a lane is in flight or not recorded yet. */
  isBusyWith(lane: Lane): boolean
  /** Resolves when every request that was sent is over, and recorded as far as it was ours. */
  settle(): Promise<void>
  complain(error: unknown, what: string): void
  warn(what: string): void
  inform(what: string): void
}

/** Renewed so often that a lease survives several failures in a row. */
const RENEWALS_PER_LEASE = 6
const RENEWAL_RETRY_MS = 250
/** A lane that another node was found to own; asking again at once would be in vain. */
const FOREIGN_MS = 2_000

export class Ownership {
  readonly lanes = new Map<string, Lane>()
  readonly lease
  readonly #options: OwnershipOptions
  /** Lanes of other nodes, and until when we believe so. */
  readonly #foreign = new Map<string, number>()
  readonly #wanted = new Map<string, LaneKey>()
  #running = false
  #taking: Promise<void> | undefined
  #turns: Promise<unknown> = Promise.resolve()

  constructor(options: OwnershipOptions) {
    this.#options = options
    this.lease = createLease(options.database, options.config.leaseMs)
  }

  get busy() {
    return this.#taking !== undefined
  }

  async settled() {
    await this.#taking
  }

  isOurs(webhookId: string) {
    return preferredNode(this.lease.nodes, webhookId) === this.lease.nodeId
  }

  /** Takes lanes soon if they should be ours; those that are not are given to `wake`. */
  want(lanes: readonly LaneKey[], tellOthers: boolean) {
    const others: LaneKey[] = []
    const now = performance.now()
    for (const { app_id, webhook_id } of lanes) {
      const lane = { app_id, webhook_id }
      const foreign = (this.#foreign.get(webhook_id) ?? 0) > now
      if (this.#running && !foreign && this.isOurs(webhook_id)) this.#wanted.set(webhook_id, lane)
      else others.push(lane)
    }
    if (tellOthers) this.#options.wake.work(others)
    if (this.#wanted.size > 0) void this.#takeWanted()
  }

  #takeWanted() {
    this.#taking ??= (async () => {
      while (this.#wanted.size > 0) {
        const wanted = [...this.#wanted.values()]
        this.#wanted.clear()
        try {
          await this.take(wanted)
        } catch (error) {
          this.#options.complain(error, 'lanes cannot be taken; the next search of the queue tries again')
        }
      }
    })().finally(() => (this.#taking = undefined))
    return this.#taking
  }

  /** Takes those lanes that no living node has. */
  take(wanted: readonly LaneKey[]): Promise<void> {
    return this.#inTurn(() => this.#take(wanted))
  }

  /** One change at a time: a lane that is taken twice would be sent to twice. */
  #inTurn<T>(act: () => Promise<T>): Promise<T> {
    const turn = this.#turns.then(act)
    this.#turns = turn.catch(() => {})
    return turn
  }

  async #take(wanted: readonly LaneKey[]) {
    if (!this.#running) return
    const { config, wake, opened, invalid } = this.#options
    const missing = wanted.filter(({ webhook_id }) => !this.lanes.has(webhook_id))
    for (const taken of await this.lease.take(missing)) {
      const lane = new Lane(taken, config)
      this.lanes.set(lane.webhook_id, lane)
      this.#foreign.delete(lane.webhook_id)
      if (lane.valid) opened(lane)
      else invalid(lane)
    }
    const until = performance.now() + FOREIGN_MS
    const others = missing.filter(({ webhook_id }) => !this.lanes.has(webhook_id))
    for (const { webhook_id } of others) this.#foreign.set(webhook_id, until)
    wake.work(others)
  }

  /** Drops lanes that are ours no more, and learns which webhooks have become valid or invalid. */
  async lookAgain(lanes: readonly Lane[]) {
    const seen = new Map((await this.lease.look(lanes)).map((lane) => [lane.webhook_id, lane]))
    for (const lane of lanes) {
      const now = seen.get(lane.webhook_id)
      if (!now) {
        this.drop(lane)
        continue
      }
      const wasValid = lane.valid
      lane.url = now.url
      lane.valid = now.valid
      if (wasValid && !now.valid) this.#options.invalid(lane)
      if (!wasValid && now.valid) {
        lane.forget()
        this.#options.opened(lane)
      }
    }
  }

  /** Forgets a lane at once: it belongs to someone else, or its webhook is gone. */
  drop(lane: Lane) {
    lane.closed = true
    lane.forget()
    if (this.lanes.get(lane.webhook_id) === lane) this.lanes.delete(lane.webhook_id)
  }

  /** Gives a lane back, once nothing of it is in flight here. Call it again until then. */
  letGo(lane: Lane) {
    if (!lane.closed) {
      lane.closed = true
      lane.forget()
    }
    if (this.#options.isBusyWith(lane) || this.lanes.get(lane.webhook_id) !== lane) return
    this.lanes.delete(lane.webhook_id)
    this.lease
      .giveBack([lane])
      .then(() => this.#options.wake.work([lane]))
      .catch((error) => this.#options.complain(error, 'a lane cannot be given back; it ends with the lease'))
  }

  async join() {
    await this.lease.join()
    await this.lease.renew()
    this.#running = true
  }

  async keepLease(signal: AbortSignal) {
    while (!signal.aborted) {
      let waitMs = this.#options.config.leaseMs / RENEWALS_PER_LEASE
      try {
        const before = this.lease.nodes.join()
        if (!(await this.lease.renew())) await this.#inTurn(() => this.#startOver())
        else if (this.lease.nodes.join() !== before) this.#rebalance()
        await this.lookAgain([...this.lanes.values()].filter((lane) => !lane.closed))
      } catch (error) {
        this.#options.complain(error, 'the lease cannot be renewed; trying again')
        waitMs = Math.min(waitMs, RENEWAL_RETRY_MS)
      }
      await sleep(waitMs, undefined, { signal }).catch(() => {})
    }
  }

  /** The lease was lost, so others may have our lanes. What is in flight ends, but what becomes of it is not ours to say. */
  async #startOver() {
    this.#options.warn(`the delivery lease of node ${this.lease.nodeId} was lost; starting over`)
    for (const lane of [...this.lanes.values()]) this.drop(lane)
    // Until the last request of the old lanes is over, it would count in no lane's limit. And if nobody could take our
    // lanes, because the database was away, what is known of them can still be recorded.
    await this.#options.settle()
    await this.lease.join()
    this.#options.inform(`node ${this.lease.nodeId} holds a lease again`)
    await this.lease.renew()
  }

  /** A node has come or gone: what should now be another's is given to it. */
  #rebalance() {
    for (const lane of [...this.lanes.values()]) if (!this.isOurs(lane.webhook_id)) this.letGo(lane)
    this.#foreign.clear()
  }

  /** No more lanes from now on. */
  async close() {
    this.#running = false
    this.#wanted.clear()
    await this.#taking
    await this.#turns
  }

  async leave() {
    const lanes = [...this.lanes.values()]
    for (const lane of lanes) this.drop(lane)
    if (this.lease.remainingMs() <= 0) return
    try {
      await this.lease.giveBack(lanes)
      await this.lease.leave()
    } catch (error) {
      this.#options.complain(error, 'lanes cannot be given back; they end with the lease')
    }
    this.#options.wake.work(lanes)
  }
}
