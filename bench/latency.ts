/**
 * Bench `latency`: from accepted to received at 1,000 events per second, each published by a call of its own, to 50
 * webhooks. The clock starts with the call, before its group commit, and stops when the consumer has the request.
 */
import { offer, percentile, round, setUp } from './support/delivery.ts'

const EVENTS_PER_SECOND = 1_000
const SECONDS = 10
const WARM_UP_SECONDS = 3
const WEBHOOKS = 50
const BAR_MS = 50

export default async function latency() {
  const bench = await setUp({ webhooks: WEBHOOKS })
  try {
    await offer(bench, bench.webhooks, EVENTS_PER_SECOND, WARM_UP_SECONDS)
    const latencies = await offer(bench, bench.webhooks, EVENTS_PER_SECOND, SECONDS)
    const p99 = percentile(latencies, 0.99)
    console.log(
      JSON.stringify({
        bench: 'latency',
        events_per_second: EVENTS_PER_SECOND,
        p50_ms: round(percentile(latencies, 0.5), 1),
        p90_ms: round(percentile(latencies, 0.9), 1),
        p99_ms: round(p99, 1),
        max_ms: round(percentile(latencies, 1), 1),
        bar: BAR_MS,
        pass: p99 < BAR_MS
      })
    )
  } finally {
    await bench.close()
  }
}

if (import.meta.main) await latency()
