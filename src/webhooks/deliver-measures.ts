/** Prometheus metrics of the delivery engine. */
import type { Metrics } from '../http/metrics.ts'
import type { Settled } from './log.ts'

export type MeasuresOptions = Pick<Metrics, 'counter' | 'gauge' | 'histogram'>

export interface Measures {
  attempt(settled: Settled): void
}

interface Levels {
  lanes: number
  inFlight: number
  buffered: number
  unrecorded: number
}

const SECONDS = [0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10]

export function createMeasures(metrics: MeasuresOptions | undefined, levels: () => Levels): Measures {
  if (!metrics) return { attempt() {} }
  const attempts = metrics.counter('herald_delivery_attempts_total', 'Attempts to deliver, by outcome and reason.', [
    'outcome',
    'error'
  ])
  const seconds = metrics.histogram('herald_delivery_attempt_seconds', 'Time of an attempt to deliver.', SECONDS, [
    'outcome'
  ])
  const gauges: [keyof Levels, string, string][] = [
    ['lanes', 'herald_delivery_lanes', 'Webhooks this node sends to.'],
    ['inFlight', 'herald_delivery_in_flight', 'Requests to webhooks under way.'],
    ['buffered', 'herald_delivery_buffered', 'Deliveries in memory that wait for their turn.'],
    ['unrecorded', 'herald_delivery_unrecorded', 'Attempts that are over and not recorded yet.']
  ]
  for (const [key, name, help] of gauges) metrics.gauge(name, help, [], (gauge) => gauge.set(levels()[key]))
  return {
    attempt({ outcome, error, latencyMs }) {
      attempts.inc({ outcome, error: error ?? '' })
      seconds.observe({ outcome }, latencyMs / 1_000)
    }
  }
}
