/** The numbers of the delivery engine. Those that operators may change come from config.ts; the rest have reasons here. */
import type { Config } from '../config.ts'

export interface DeliveryConfig {
  /** Over everything, from the first byte to the last: document 1 gives the consumer 10 seconds. */
  deadlineMs: number
  /** Before each retry, counted from the end of the attempt before. After the last one it is given up. */
  retryDelaysMs: readonly number[]
  /** Requests in flight to one webhook at most, over all nodes. */
  inFlightMax: number
  /** Requests in flight from one node at most. */
  nodeInFlightMax: number
  signatureHeader: string
  leaseMs: number
  /** Replayed events per second and job. */
  replayRateMax: number
  retentionMs: number
  /** Every retry waits up to this share longer, so that what failed together does not return together. */
  jitter: number
  /** A consumer's Retry-After may make a wait longer than the schedule, but not longer than this. */
  retryAfterMaxMs: number
  /** How often the queue is searched for what no notification announced. */
  pollMs: number
  /** Completions are collected this long, so that one statement records many. */
  flushMs: number
  /** Deliveries kept in memory for one webhook. */
  bufferMax: number
  /** Attempts that may be over and not recorded before sending waits for the database. */
  unrecordedMax: number
}

export const DELIVERY_DEFAULTS: DeliveryConfig = {
  deadlineMs: 10_000,
  retryDelaysMs: [3_000, 27_000, 242_000],
  inFlightMax: 32,
  nodeInFlightMax: 2_048,
  signatureHeader: 'x-svc-webhooks-signature',
  leaseMs: 30_000,
  replayRateMax: 2_500,
  retentionMs: 72 * 3_600_000,
  jitter: 0.1,
  retryAfterMaxMs: 15 * 60_000,
  pollMs: 1_000,
  flushMs: 5,
  bufferMax: 1_000,
  unrecordedMax: 10_000
}

/** A request may only begin when it can end before the lease does. */
const LEASE_PER_DEADLINE_MIN = 2

export function deliveryConfig(config: Config): DeliveryConfig {
  const deadlineMs = config.HERALD_DELIVERY_DEADLINE
  return {
    ...DELIVERY_DEFAULTS,
    deadlineMs,
    retryDelaysMs: config.HERALD_DELIVERY_RETRIES,
    inFlightMax: config.HERALD_DELIVERY_IN_FLIGHT_MAX,
    signatureHeader: config.HERALD_SIGNATURE_HEADER,
    leaseMs: Math.max(config.HERALD_DELIVERY_LANE_LEASE, deadlineMs * LEASE_PER_DEADLINE_MIN),
    replayRateMax: config.HERALD_REPLAY_RATE_MAX,
    retentionMs: config.HERALD_RECORDS_RETENTION
  }
}
