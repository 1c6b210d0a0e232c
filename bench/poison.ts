/**
 * Bench `poison`: what 99 healthy webhooks notice of one that always takes 10 seconds and has a backlog of 100,000. Two
 * whole set-ups, one with the poisoned webhook and one without, are measured in turns.
 */
import {
  accept,
  addWebhook,
  type Bench,
  HOST,
  median,
  offer,
  percentile,
  queueLength,
  round,
  setUp
} from './support/delivery.ts'

const HEALTHY = 99
const BACKLOG = 100_000
const EVENTS_PER_SECOND = 500
const ROUNDS = 9
const ROUND_SECONDS = 4
const BAR = 1.1

async function poison(bench: Bench) {
  const lane = await addWebhook(bench.database, bench.app_id, `https://${HOST}/slow`)
  for (let n = 0; n < BACKLOG; n += 1_000) {
    await accept(
      bench,
      Array.from({ length: 1_000 }, (_, i) => ({ lane, n: n + i }))
    )
  }
  // What PostgreSQL does about so many new rows is over when a backlog has been there for a while.
  await bench.database.pool.query('vacuum analyze')
  await bench.database.pool.query('checkpoint')
}

export default async function poisonBench() {
  const clean = await setUp({ webhooks: HEALTHY })
  // The deadline is a little longer than the consumer takes: nothing fails, so nothing slows the lane down for our sake.
  const poisoned = await setUp({ webhooks: HEALTHY, config: { deadlineMs: 10_500 } })
  try {
    await poison(poisoned)
    for (const bench of [clean, poisoned]) await offer(bench, bench.webhooks, EVENTS_PER_SECOND, 2)
    const figures = { clean: [] as number[], poisoned: [] as number[] }
    for (let i = 0; i < ROUNDS; i++) {
      const turns = [['clean', clean] as const, ['poisoned', poisoned] as const]
      for (const [name, bench] of i % 2 === 0 ? turns : turns.reverse()) {
        figures[name].push(percentile(await offer(bench, bench.webhooks, EVENTS_PER_SECOND, ROUND_SECONDS), 0.99))
      }
    }
    const ratio = median(figures.poisoned) / median(figures.clean)
    console.log(
      JSON.stringify({
        bench: 'poison',
        p99_ms: round(median(figures.poisoned), 1),
        reference: round(median(figures.clean), 1),
        rounds: figures.poisoned.map((figure, i) => [round(figure, 1), round(figures.clean[i]!, 1)]),
        backlog_left: await queueLength(poisoned),
        in_flight: poisoned.engine.stats().inFlight,
        memory_mb: Math.round(process.memoryUsage().rss / 1e6),
        ratio: round(ratio),
        bar: BAR,
        pass: ratio <= BAR
      })
    )
  } finally {
    await clean.close()
    await poisoned.close()
  }
}

if (import.meta.main) await poisonBench()
