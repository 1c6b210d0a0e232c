/**
 * Bench `tables`: whether the tables of deliveries stay bounded. Ten minutes under load with a clock that runs 1,440 times
 * as fast, so that ten days of retention pass; the size of everything is compared between two late parts of the run.
 */
import { setTimeout as sleep } from 'node:timers/promises'
import type { Clock } from '../src/clock.ts'
import { accept, type Bench, round, setUp } from './support/delivery.ts'

const MINUTES = Number(process.env.BENCH_MINUTES ?? 10)
const DAYS_PER_MINUTE = 1
const EVENTS_PER_SECOND = 200
const BATCH = 20
const SAMPLE_MS = 5_000
const BAR = 1.1

const SIZES = `
  select sum(pg_total_relation_size(c.oid)) filter (where c.relname ~ '^(events|deliveries|attempts)')::float8 as records,
    pg_total_relation_size('delivery_queue')::float8 as queue,
    count(*) filter (where c.relname ~ '^(events|deliveries|attempts)_')::int as partitions
  from pg_class as c where c.relkind in ('r', 'p')`

interface Sizes {
  records: number
  queue: number
  partitions: number
}

const sizesOf = async ({ database }: Bench) => (await database.pool.query<Sizes>(SIZES)).rows[0]!
const most = (samples: Sizes[], what: keyof Sizes) => Math.max(...samples.map((sample) => sample[what]))
const megabytes = (bytes: number) => round(bytes / 1e6, 1)

export default async function tables() {
  const startMs = Date.now()
  const clock: Clock = { now: () => Math.floor(startMs + (Date.now() - startMs) * DAYS_PER_MINUTE * 1_440) }
  const bench = await setUp({ webhooks: 20, clock })
  try {
    const samples: Sizes[] = []
    let published = 0
    const begun = performance.now()
    const end = begun + MINUTES * 60_000
    let sampleAt = begun + SAMPLE_MS
    while (performance.now() < end) {
      const due = ((performance.now() - begun) / 1_000) * EVENTS_PER_SECOND
      while (published < due) {
        const from = published
        published += await accept(
          bench,
          Array.from({ length: BATCH }, (_, i) => ({ lane: bench.webhooks[(from + i) % 20]!, n: from + i }))
        )
      }
      if (performance.now() > sampleAt) {
        sampleAt += SAMPLE_MS
        await bench.engine.prune()
        samples.push(await sizesOf(bench))
      }
      await sleep(20)
    }
    await bench.engine.drain()
    // Retention is three days, so the first half only fills the tables.
    const [third, last] = [0.5, 0.75].map((from) =>
      samples.slice(Math.floor(samples.length * from), Math.floor(samples.length * (from + 0.25)))
    ) as [Sizes[], Sizes[]]
    const ratio = Math.max(
      most(last, 'records') / most(third, 'records'),
      most(last, 'partitions') / most(third, 'partitions')
    )
    console.log(
      JSON.stringify({
        bench: 'tables',
        minutes: MINUTES,
        days: MINUTES * DAYS_PER_MINUTE,
        deliveries: published,
        records_mb: megabytes(most(last, 'records')),
        reference: megabytes(most(third, 'records')),
        partitions: most(last, 'partitions'),
        queue_mb: megabytes(most(samples, 'queue')),
        ratio: round(ratio),
        bar: BAR,
        pass: ratio <= BAR && most(samples, 'queue') < 100e6
      })
    )
  } finally {
    await bench.close()
  }
}

if (import.meta.main) await tables()
