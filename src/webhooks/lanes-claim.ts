/** Fills lanes from the queue: only as much as they can send soon, many lanes with one statement. */
import { setTimeout as sleep } from 'node:timers/promises'
import type { Clock } from '../clock.ts'
import type { Lane } from './lanes.ts'
import type { Delivery, DeliveryLog, Want } from './log.ts'

export interface ClaimsOptions {
  log: Pick<DeliveryLog, 'claim'>
  clock: Clock
  lanes: ReadonlyMap<string, Lane>
  filled(lane: Lane): void
  failed(error: unknown): void
}

export interface Claims {
  want(lane: Lane): void
  readonly busy: boolean
}

const LANES_PER_CLAIM = 64
const FAILURE_DELAY_MS = 200

export function createClaims({ log, clock, lanes, filled, failed }: ClaimsOptions): Claims {
  const wanting = new Set<Lane>()
  let running = false

  /** Twice what it may have in flight: the second half is there when the first is over. */
  const countFor = (lane: Lane) => lane.limit * 2 - lane.buffered

  function wantsOf(lane: Lane, nowMs: number): Want[] {
    const { app_id, webhook_id } = lane
    const count = countFor(lane)
    if (lane.closed || !lane.valid || count <= 0) return []
    const wants: Want[] = []
    if (lane.backlog) wants.push({ app_id, webhook_id, retry: false, count })
    if (lane.retryAtMs <= nowMs) wants.push({ app_id, webhook_id, retry: true, count })
    return wants
  }

  async function run() {
    running = true
    while (wanting.size > 0) {
      const nowMs = clock.now()
      const batch = [...wanting].slice(0, LANES_PER_CLAIM)
      for (const lane of batch) wanting.delete(lane)
      const asked = batch.map((lane) => ({ lane, told: lane.told, wants: wantsOf(lane, nowMs) }))
      const wants = asked.flatMap((each) => each.wants)
      if (wants.length === 0) continue
      const known = asked.flatMap(({ lane }) => [...lane.known])
      try {
        take(asked, await log.claim(wants, known))
      } catch (error) {
        failed(error)
        await sleep(FAILURE_DELAY_MS)
        for (const lane of batch) if (!lane.closed) wanting.add(lane)
      }
    }
    running = false
  }

  function take(asked: { lane: Lane; told: number; wants: Want[] }[], rows: Delivery[]) {
    const got = new Map<string, { fresh: number; retries: number }>()
    for (const row of rows) {
      const counts = got.get(row.webhook_id) ?? { fresh: 0, retries: 0 }
      got.set(row.webhook_id, counts)
      counts[row.retry ? 'retries' : 'fresh']++
      const lane = lanes.get(row.webhook_id)
      // Handed over by a publisher of this node while the database was answering.
      if (!lane || lane.closed || lane.known.has(row.id)) continue
      lane.known.add(row.id)
      if (row.retry) lane.retries.push(row)
      else lane.fresh.push(row)
    }
    for (const { lane, told, wants } of asked) {
      const counts = got.get(lane.webhook_id) ?? { fresh: 0, retries: 0 }
      for (const { retry, count } of wants) {
        const all = counts[retry ? 'retries' : 'fresh'] < count
        if (!retry) lane.nearlyEmpty = all
        // Unless somebody spoke of more meanwhile.
        if (!all || lane.told !== told) continue
        if (retry) lane.retryAtMs = Number.POSITIVE_INFINITY
        else lane.backlog = false
      }
      filled(lane)
    }
  }

  return {
    want(lane) {
      if (lane.closed || !lane.valid) return
      if (!lane.backlog && lane.retryAtMs > clock.now()) return
      wanting.add(lane)
      if (!running) void run()
    },
    get busy() {
      return running
    }
  }
}
