/** A delivery engine on a database of its own, with webhooks at a consumer on loopback. */
import type { TestClock } from '../src/clock.ts'
import { createEgress, type Egress } from '../src/egress/index.ts'
import type { Database } from '../src/storage/db.ts'
import { newId } from '../src/storage/ids.ts'
import { createListener } from '../src/storage/listen.ts'
import { createDelivery, type DeliveryEngine } from '../src/webhooks/deliver.ts'
import { DELIVERY_DEFAULTS, type DeliveryConfig } from '../src/webhooks/deliver-config.ts'
import type { Delivery, LaneKey, NewDelivery } from '../src/webhooks/log.ts'
import type { Consumer } from './consumer.ts'
import type { Cleanup } from './database.ts'

export const SECRET = 'demo-consumer-secret'

/** Quick enough for tests; everything else as in production. */
export const QUICK: Partial<DeliveryConfig> = { deadlineMs: 3_000, leaseMs: 9_000, pollMs: 200, jitter: 0 }

/** A clock that stands still until it is moved, so that a busy machine cannot make anything due. */
export function stoppedClock(): TestClock {
  const startMs = Date.now()
  return {
    offsetMs: 0,
    now() {
      return startMs + this.offsetMs
    }
  }
}

export async function givenApp(database: Database): Promise<string> {
  const id = newId()
  await database.pool.query(
    `insert into apps (id, name, consumer_key, consumer_secret, client_id, client_type, created_at, updated_at)
     values ($1, 'demo', $1, '', $1, 'public', now(), now())`,
    [id]
  )
  return id
}

export interface WebhookGiven {
  app_id: string
  url?: string
  valid?: boolean
}

export async function givenWebhook(database: Database, { app_id, url, valid = true }: WebhookGiven): Promise<LaneKey> {
  const id = newId()
  await database.pool.query(
    `insert into webhooks (app_id, id, url, url_key, valid, created_at, last_success_at, invalid_since)
     values ($1, $2, $3, $3, $4, now(), now(), case when $4 then null else now() end)`,
    [app_id, id, url ?? `https://hooks.example.test/${id}`, valid]
  )
  return { app_id, webhook_id: id }
}

export async function setValid(database: Database, { app_id, webhook_id }: LaneKey, valid: boolean) {
  await database.pool.query(
    `update webhooks set valid = $3, invalid_since = case when $3 then null else now() end
     where app_id = $1 and id = $2`,
    [app_id, webhook_id, valid]
  )
}

export interface EgressGiven {
  consumer?: Consumer
  connectionsPerTargetMax?: number
}

export function givenEgress(t: Cleanup, { consumer, connectionsPerTargetMax = 256 }: EgressGiven): Egress {
  const resolve = new Map(consumer ? [[consumer.host, { address: '127.0.0.1', port: consumer.port }]] : [])
  const egress = createEgress({ allowPrivate: true, resolve, extraCa: consumer?.ca, connectionsPerTargetMax })
  t.after(() => egress.close())
  return egress
}

export interface EngineGiven {
  database: Database
  consumer?: Consumer
  egress?: Egress
  clock?: TestClock
  config?: Partial<DeliveryConfig>
  secrets?: (appId: string) => Promise<readonly string[]>
  /** Otherwise it only publishes. */
  start?: boolean
}

export interface RunningEngine {
  engine: DeliveryEngine
  clock: TestClock
  /** Append and dispatch in a transaction of its own, as a publisher does. */
  publish(...deliveries: NewDelivery[]): Promise<Delivery[]>
}

export async function givenEngine(t: Cleanup, given: EngineGiven): Promise<RunningEngine> {
  const { database, consumer, clock = stoppedClock(), config, start = true } = given
  const listener = createListener(database)
  const engine = createDelivery({
    database,
    egress: given.egress ?? givenEgress(t, { consumer }),
    clock,
    config: { ...DELIVERY_DEFAULTS, ...QUICK, ...config },
    secrets: given.secrets ?? (async () => [SECRET]),
    listener
  })
  if (start) await engine.start()
  t.after(async () => {
    await engine.stop()
    await listener.close()
  })
  return { engine, clock, publish: (...deliveries) => publish(database, engine, deliveries) }
}

export async function publish(database: Database, engine: DeliveryEngine, deliveries: NewDelivery[]) {
  const appended = await database.db.transaction().execute((tx) => engine.append(tx, deliveries))
  engine.dispatch(appended)
  return appended
}

export interface AttemptRow {
  attempt: number
  outcome: string
  cause: string
  status: number | null
  error: string | null
  latency_ms: number | null
  created_at: string
  next_attempt_at: string | null
}

/** All attempts at a delivery, in order. */
export async function attemptsOf(database: Database, id: string): Promise<AttemptRow[]> {
  const { rows } = await database.pool.query<AttemptRow>(
    'select * from attempts where delivery_id = $1 order by created_at, attempt',
    [id]
  )
  return rows
}

export async function queueLength(database: Database): Promise<number> {
  const { rows } = await database.pool.query('select count(*)::int as count from delivery_queue')
  return rows[0].count
}
