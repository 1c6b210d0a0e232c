/** What the delivery benches share: a durable PostgreSQL, a receiver in its own process, a delivery engine, a publisher. */
import { type ChildProcess, fork } from 'node:child_process'
import { once } from 'node:events'
import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import path from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { type Clock, systemClock } from '../../src/clock.ts'
import { createEgress } from '../../src/egress/index.ts'
import { type Database, openDatabase } from '../../src/storage/db.ts'
import { removeEmbedded, startEmbedded } from '../../src/storage/embedded.ts'
import { groupCalls } from '../../src/storage/group-calls.ts'
import { newId } from '../../src/storage/ids.ts'
import { migrate } from '../../src/storage/migrate.ts'
import { createAuthority, issueCertificate } from '../../src/tools/certificates.ts'
import { createDelivery, type DeliveryEngine } from '../../src/webhooks/deliver.ts'
import { DELIVERY_DEFAULTS, type DeliveryConfig } from '../../src/webhooks/deliver-config.ts'
import type { LaneKey } from '../../src/webhooks/log.ts'
import type { ReceiverCommand, ReceiverReport } from './receiver.ts'

export const SECRET = 'bench-consumer-secret'
export const HOST = 'hooks.example.test'

export interface Receiver {
  port: number
  ca: string
  reset(): void
  report(): Promise<ReceiverReport>
}

export interface Bench {
  database: Database
  engine: DeliveryEngine
  receiver: Receiver
  app_id: string
  webhooks: LaneKey[]
  close(): Promise<void>
}

async function startReceiver(slowMs: number): Promise<{ receiver: Receiver; child: ChildProcess }> {
  const authority = createAuthority({ name: 'bench' })
  const { certPem, keyPem } = issueCertificate(authority, { hosts: [HOST, '127.0.0.1'] })
  const child = fork(path.join(import.meta.dirname, 'receiver.ts'), { stdio: 'inherit' })
  const ask = async (command: ReceiverCommand) => {
    child.send(command)
    const [report] = (await once(child, 'message')) as [ReceiverReport]
    return report
  }
  const { port } = await ask({ serve: { cert: certPem, key: keyPem, slowMs } })
  const receiver: Receiver = {
    port: port!,
    ca: authority.certPem,
    reset: () => void child.send({ reset: true } satisfies ReceiverCommand),
    report: () => ask({ report: true })
  }
  return { receiver, child }
}

export interface SetUp {
  webhooks: number
  config?: Partial<DeliveryConfig>
  slowMs?: number
  clock?: Clock
}

export async function setUp({ webhooks: count, config, slowMs = 10_000, clock = systemClock }: SetUp): Promise<Bench> {
  const dataDir = await mkdtemp(path.join(tmpdir(), 'herald-bench-delivery-'))
  const server = await startEmbedded({ dataDir })
  const database = openDatabase({ url: server.url })
  await migrate({ connectionString: server.url })
  const { receiver, child } = await startReceiver(slowMs)
  const app_id = newId()
  await database.pool.query(
    `insert into apps (id, name, consumer_key, consumer_secret, client_id, client_type, created_at, updated_at)
     values ($1, 'bench', $1, '', $1, 'public', now(), now())`,
    [app_id]
  )
  const webhooks: LaneKey[] = []
  for (let i = 0; i < count; i++) webhooks.push(await addWebhook(database, app_id, `https://${HOST}/${i}`))
  const egress = createEgress({
    allowPrivate: true,
    resolve: new Map([[HOST, { address: '127.0.0.1', port: receiver.port }]]),
    extraCa: receiver.ca,
    connectionsPerTargetMax: 1_024
  })
  const engine = createDelivery({
    database,
    egress,
    clock,
    config: { ...DELIVERY_DEFAULTS, ...config },
    secrets: async () => [SECRET]
  })
  await engine.start()
  return {
    database,
    engine,
    receiver,
    app_id,
    webhooks,
    async close() {
      await engine.stop()
      await egress.close()
      child.disconnect()
      await database.close()
      await server.stop()
      await removeEmbedded(dataDir)
      await rm(dataDir, { recursive: true, force: true })
    }
  }
}

export async function addWebhook(database: Database, app_id: string, url: string): Promise<LaneKey> {
  const id = newId()
  await database.pool.query(
    `insert into webhooks (app_id, id, url, url_key, valid, created_at, last_success_at)
     values ($1, $2, $3, $3, true, now(), now())`,
    [app_id, id, url]
  )
  return { app_id, webhook_id: id }
}

/** About 600 bytes, as an event about a post has. */
export const bodyOf = (n: number, acceptedAt = 0) =>
  `{"data":{"event_uuid":"${n}","accepted_at":${acceptedAt},"filter":{"user_id":"42"},"event_type":"post.create","payload":{"id":"1902399000000000001","author_id":"42","created_at":"2026-01-15T12:00:00.000Z","text":"${'An ordinary post of some length. '.repeat(12)}"}}}`

export const wallNow = () => performance.timeOrigin + performance.now()

/** Accepts events as the publishing endpoint does: the events and their deliveries in one transaction, then dispatch. */
export async function accept({ database, engine }: Bench, items: { lane: LaneKey; n: number; acceptedAt?: number }[]) {
  const now = wallNow()
  const bodies = items.map(({ n, acceptedAt = now }) => bodyOf(n, acceptedAt))
  const ids = items.map(() => newId())
  const appended = await database.db.transaction().execute(async (tx) => {
    const deliveries = items.map(({ lane }, i) => ({
      app_id: lane.app_id,
      webhook_id: lane.webhook_id,
      event_id: ids[i]!,
      kind: 'activity',
      body: bodies[i]!
    }))
    return engine.append(tx, deliveries)
  })
  engine.dispatch(appended)
  return appended.length
}

/** Offers single events at a steady rate, whether or not the ones before are done, and waits until all have arrived. */
export async function offer(bench: Bench, lanes: LaneKey[], perSecond: number, seconds: number): Promise<number[]> {
  const { engine, receiver } = bench
  const call = groupCalls(async (items: { lane: LaneKey; n: number; acceptedAt: number }[]) => {
    await accept(bench, items)
    return items
  })
  receiver.reset()
  const total = perSecond * seconds
  const accepted: Promise<unknown>[] = []
  const begun = performance.now()
  for (let n = 0; n < total; ) {
    const due = Math.min(total, Math.floor(((performance.now() - begun) / 1_000) * perSecond) + 1)
    for (; n < due; n++) accepted.push(call({ lane: lanes[n % lanes.length]!, n, acceptedAt: wallNow() }))
    await sleep(1)
  }
  await Promise.all(accepted)
  for (const end = performance.now() + 30_000; performance.now() < end; await sleep(20)) {
    const { latencies, received } = await receiver.report()
    if (received === total) return latencies!
  }
  throw new Error(`${(await receiver.report()).received} of ${total} were received; ${JSON.stringify(engine.stats())}`)
}

export async function queueLength({ database }: Bench) {
  const { rows } = await database.pool.query('select count(*)::int as count from delivery_queue')
  return rows[0].count as number
}

export const percentile = (values: number[], share: number) => {
  const sorted = Float64Array.from(values).sort()
  return sorted[Math.min(sorted.length - 1, Math.floor(sorted.length * share))] ?? Number.NaN
}
export const median = (values: number[]) => percentile(values, 0.5)
export const round = (value: number, digits = 2) => Number(value.toFixed(digits))
