/**
 * Bench `deliver`: durable end-to-end deliveries per second over HTTPS, against a bare undici loop that signs and posts the
 * same bytes to the same receiver. PostgreSQL with fsync, the receiver and Herald share the machine. Rounds alternate.
 */
import { Pool } from 'undici'
import { signature } from '../src/webhooks/sign.ts'
import { accept, type Bench, bodyOf, HOST, median, queueLength, round, SECRET, setUp } from './support/delivery.ts'

const ROUNDS = 3
const DELIVERIES = 15_000
const WEBHOOKS = 10
/** Events in one call of a publisher, and how many may be accepted and not yet delivered. */
const BATCH = 100
const OUTSTANDING_MAX = 2_000
const BAR = 0.5

/** As many at once as Herald may have: 32 for each webhook would only make it slower. */
const REFERENCE_CONNECTIONS = 64

async function reference({ receiver }: Bench, count: number) {
  const pool = new Pool(`https://${HOST}:${receiver.port}`, {
    connections: REFERENCE_CONNECTIONS,
    pipelining: 1,
    allowH2: false,
    connect: {
      ca: receiver.ca,
      servername: HOST,
      host: '127.0.0.1',
      lookup: (_name, _options, done) => done(null, [{ address: '127.0.0.1', family: 4 }])
    }
  })
  let next = 0
  const begun = performance.now()
  await Promise.all(
    Array.from({ length: REFERENCE_CONNECTIONS }, async () => {
      while (next < count) {
        const n = next++
        const body = Buffer.from(bodyOf(n))
        const { statusCode, body: answer } = await pool.request({
          path: `/${n % WEBHOOKS}`,
          method: 'POST',
          headers: { 'content-type': 'application/json', 'x-svc-webhooks-signature': signature(SECRET, body) },
          body
        })
        await answer.dump()
        if (statusCode !== 200) throw new Error(`The receiver answered ${statusCode}`)
      }
    })
  )
  const seconds = (performance.now() - begun) / 1_000
  await pool.close()
  return count / seconds
}

async function herald(bench: Bench, count: number) {
  const { receiver, webhooks } = bench
  receiver.reset()
  let published = 0
  const begun = performance.now()
  while (published < count) {
    const { unrecorded, inFlight, buffered } = bench.engine.stats()
    if (unrecorded + inFlight + buffered > OUTSTANDING_MAX) {
      await new Promise((resolve) => setTimeout(resolve, 2))
      continue
    }
    const items = Array.from({ length: BATCH }, (_, i) => ({
      lane: webhooks[(published + i) % WEBHOOKS]!,
      n: published + i
    }))
    published += await accept(bench, items)
  }
  await bench.engine.drain(60_000)
  const seconds = (performance.now() - begun) / 1_000
  const { received } = await receiver.report()
  if (received !== count || (await queueLength(bench)) !== 0) throw new Error(`${received} of ${count} were received`)
  return count / seconds
}

export default async function deliver() {
  const bench = await setUp({ webhooks: WEBHOOKS })
  try {
    await reference(bench, 3_000)
    await herald(bench, 3_000)
    const references: number[] = []
    const heralds: number[] = []
    for (let i = 0; i < ROUNDS; i++) {
      references.push(await reference(bench, DELIVERIES))
      heralds.push(await herald(bench, DELIVERIES))
    }
    const ratio = median(heralds.map((figure, i) => figure / references[i]!))
    console.log(
      JSON.stringify({
        bench: 'deliver',
        deliveries_per_second: Math.round(median(heralds)),
        reference: Math.round(median(references)),
        rounds: heralds.map((figure, i) => [Math.round(figure), Math.round(references[i]!)]),
        ratio: round(ratio),
        bar: BAR,
        pass: ratio >= BAR
      })
    )
  } finally {
    await bench.close()
  }
}

if (import.meta.main) await deliver()
