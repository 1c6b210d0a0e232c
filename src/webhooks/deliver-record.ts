/** What became of what was sent: whether there is a next attempt, and the record of this one, written in batches. */
import type { Clock } from '../clock.ts'
import { isDatabaseAway } from '../storage/db.ts'
import type { Log } from '../storage/log.ts'
import type { DeliveryConfig } from './deliver-config.ts'
import { createFlush } from './deliver-flush.ts'
import type { Measures } from './deliver-measures.ts'
import { retryDelayMs } from './deliver-outcome.ts'
import type { Lane } from './lanes.ts'
import type { Ownership } from './lanes-ownership.ts'
import type { Sent } from './lanes-send.ts'
import type { DeliveryLog, Settled } from './log.ts'

export interface RecorderOptions {
  log: Pick<DeliveryLog, 'complete'>
  clock: Clock
  config: DeliveryConfig
  random: () => number
  ownership: Pick<Ownership, 'lanes' | 'lookAgain'>
  measures: Measures
  logger: Log
  /** Some are recorded, and there is room for more. */
  recorded(): void
  complain(error: unknown, what: string): void
}

export interface Recorder {
  /** An attempt is over. */
  settled(sent: Sent): void
  /** Over, and not recorded yet. */
  readonly pending: number
  done(): Promise<void>
  /** Stopping has taken as long as it may: what cannot be recorded is sent again by others. */
  giveUp(): void
}

const RECORD_FAILURES_MAX = 5
const NOT_SENT_PAUSE_MS = 1_000

export function createRecorder(options: RecorderOptions): Recorder {
  const { log, clock, config, random, ownership, measures, logger, complain } = options
  const { lanes } = ownership
  let outOfTime = false
  const flush = createFlush<Settled>({ afterMs: config.flushMs, write: record, retry: mayStillRecord })

  /** Not an attempt: it is in the queue as before. Whatever is missing may come back soon, but not at once. */
  function notSent({ lane, delivery, judgement }: Sent) {
    if (judgement.detail) logger.warn({ webhook: lane.webhook_id }, `cannot send: ${judgement.detail}`)
    lane.pausedUntilMs = Math.max(lane.pausedUntilMs, clock.now() + NOT_SENT_PAUSE_MS)
    lane.known.delete(delivery.id)
    lane.moreWaits()
  }

  async function record(batch: Settled[]) {
    const completed = await log.complete(batch)
    const touched = new Set<Lane>()
    for (const { delivery, epoch, nextAttemptAtMs } of batch) {
      const lane = lanes.get(delivery.webhook_id)
      if (lane?.epoch !== epoch) continue
      lane.known.delete(delivery.id)
      if (nextAttemptAtMs !== undefined) lane.retryWaits(nextAttemptAtMs)
      touched.add(lane)
    }
    if (completed < batch.length) await ownership.lookAgain([...touched])
    options.recorded()
  }

  /**
   * While the database is away nobody can take our lanes, so what is done waits for it. Any other error is a fault of ours:
   * rather than stop everything, the batch is given up and sent again.
   */
  function mayStillRecord(error: unknown, batch: Settled[], failures: number) {
    complain(error, 'attempts cannot be recorded; trying again')
    if (isDatabaseAway(error) ? !outOfTime : failures < RECORD_FAILURES_MAX) return true
    for (const { delivery } of batch) {
      const lane = lanes.get(delivery.webhook_id)
      lane?.known.delete(delivery.id)
      lane?.moreWaits()
    }
    return false
  }

  return {
    settled(sent) {
      const { lane, delivery, judgement, startedAtMs, latencyMs } = sent
      const { outcome, status, error, detail, response, retryAfterMs } = judgement
      if (outcome === 'none') return notSent(sent)
      const delay =
        outcome === 'transient' ? retryDelayMs(delivery.attempts + 1, config, random(), retryAfterMs) : undefined
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
        nextAttemptAtMs: delay === undefined ? undefined : clock.now() + delay
      }
      measures.attempt(settled)
      flush.add(settled)
    },
    get pending() {
      return flush.pending
    },
    done: () => flush.done(),
    giveUp() {
      outOfTime = true
    }
  }
}
