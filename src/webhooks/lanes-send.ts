/** Sends what lanes have to send, as fast as each lane and this node allow, and says what became of it. */
import type { Clock } from '../clock.ts'
import type { Egress } from '../egress/index.ts'
import type { DeliveryConfig } from './deliver-config.ts'
import { type Judgement, judge } from './deliver-outcome.ts'
import type { SecretCache } from './deliver-secrets.ts'
import type { Lane } from './lanes.ts'
import type { Delivery } from './log.ts'
import { signedHeaders } from './sign.ts'

export interface Sent {
  lane: Lane
  delivery: Delivery
  judgement: Judgement
  startedAtMs: number
  latencyMs: number
}

export interface SenderOptions {
  egress: Pick<Egress, 'send'>
  clock: Clock
  config: DeliveryConfig
  secrets: SecretCache
  /** False while nothing may begin: no lease that outlasts a request, or too much that is not recorded yet. */
  mayBegin(): boolean
  /** Asked again right before a request: reading a secret takes time, and a process may be stopped meanwhile. */
  holdsLease(): boolean
  settled(sent: Sent): void
  /** The lane could send more than it has in memory. */
  wantsMore(lane: Lane): void
}

export interface Sender {
  readonly inFlight: number
  /** Begins whatever may begin now. */
  pump(lane: Lane): void
  /** Those that waited for `mayBegin`, or for a slot of the node. */
  pumpWaiting(): void
}

/** Enough to keep the connection of a consumer that answers with a page; the rest of a longer answer is not read. */
const RESPONSE_BYTES_MAX = 16_384

export function createSender(options: SenderOptions): Sender {
  const { egress, clock, config, secrets, mayBegin, holdsLease, settled, wantsMore } = options
  const waiting = new Set<Lane>()
  let inFlight = 0

  function pump(lane: Lane) {
    if (!mayBegin()) {
      waiting.add(lane)
      return
    }
    const nowMs = clock.now()
    while (true) {
      // While lanes wait for a slot of the node, each has a fair share of them at most: slow ones cannot keep all.
      const crowded = inFlight >= config.nodeInFlightMax
      if (crowded || (waiting.size > 0 && lane.inFlight >= fairShare())) {
        waiting.add(lane)
        return
      }
      const delivery = lane.next(nowMs)
      if (!delivery) break
      void send(lane, delivery, nowMs)
    }
    waiting.delete(lane)
    if (lane.buffered < lane.limit) wantsMore(lane)
  }

  const fairShare = () => Math.max(1, Math.floor(config.nodeInFlightMax / (waiting.size + 1)))

  function pumpWaiting() {
    for (const lane of [...waiting]) {
      if (inFlight >= config.nodeInFlightMax) return
      // To the end of the line: the next slot is someone else's.
      waiting.delete(lane)
      pump(lane)
    }
  }

  async function send(lane: Lane, delivery: Delivery, startedAtMs: number) {
    inFlight++
    const sentAs = lane.sends
    const begun = performance.now()
    const judgement = await attempt(lane, delivery, startedAtMs)
    inFlight--
    lane.over(delivery)
    if (judgement.pace === 'up') lane.speedUp()
    else if (judgement.pace === 'down') lane.slowDown(sentAs)
    if (judgement.retryAfterMs && judgement.pace === 'down') {
      const pauseMs = Math.min(judgement.retryAfterMs, config.retryAfterMaxMs)
      lane.pausedUntilMs = Math.max(lane.pausedUntilMs, clock.now() + pauseMs)
    }
    settled({ lane, delivery, judgement, startedAtMs, latencyMs: performance.now() - begun })
    pump(lane)
    if (waiting.size > 0) pumpWaiting()
  }

  async function attempt(lane: Lane, { app_id, id, body }: Delivery, atMs: number): Promise<Judgement> {
    let headers: Record<string, string>
    try {
      const keys = secrets.get(app_id) ?? (await secrets.load(app_id))
      headers = signedHeaders({ secrets: keys, signatureHeader: config.signatureHeader, id, atMs, body })
    } catch (error) {
      // The database is away, or the app is being deleted together with its webhooks; neither is an attempt.
      return { outcome: 'none', pace: 'same', detail: (error as Error).message }
    }
    if (!holdsLease()) return { outcome: 'none', pace: 'same' }
    const outcome = await egress.send({
      url: lane.url,
      method: 'POST',
      headers,
      body,
      deadlineMs: config.deadlineMs,
      responseBytesMax: RESPONSE_BYTES_MAX,
      // A kept connection may close in the moment it is used. Consumers drop duplicates by id, so it is sent again at once.
      idempotent: true
    })
    return judge(outcome, clock.now())
  }

  return {
    get inFlight() {
      return inFlight
    },
    pump,
    pumpWaiting
  }
}
