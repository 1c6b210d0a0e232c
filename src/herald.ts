/** A whole Herald on one database: the parts, put together. main.ts runs it, the CLI borrows its parts, tests start many. */
import { readFile } from 'node:fs/promises'
import path from 'node:path'
import type { Logger } from 'pino'
import { type Apps, buildApps, type CheckAnswer } from './app.ts'
import { type Clock, createTestClock, systemClock } from './clock.ts'
import type { Config } from './config.ts'
import type { Deps } from './deps.ts'
import type { Domain } from './domain.ts'
import { createDomains } from './domains.ts'
import { createEgress, type LocalReceiver } from './egress/index.ts'
import { createMetrics } from './http/metrics.ts'
import { createRateLimiter } from './http/rate-limits.ts'
import { createAuthenticator } from './identity/index.ts'
import { createVault, parseSecretKey, secretKeyFromFile } from './identity/secrets.ts'
import { followTestClock } from './operator/clock.ts'
import { isDatabaseAway, openDatabase } from './storage/db.ts'
import { setNodeNumber } from './storage/ids.ts'
import { createJobRegistry, createWorker, nextJobDueAt } from './storage/jobs.ts'
import { createListener } from './storage/listen.ts'
import { migrate } from './storage/migrate.ts'
import { findListener, mayReachListener } from './tools/listen-files.ts'
import { DELIVERY_DEFAULTS } from './webhooks/deliver-config.ts'

export interface Herald {
  deps: Deps
  domains: Domain[]
  apps: Apps
  /** Starts what runs beside requests, by this node's roles. */
  start(): Promise<void>
  listen(): Promise<{ main: string; sandbox: string }>
  /** Does everything that is due by the clock. */
  drain(): Promise<void>
  stop(): Promise<void>
}

export interface HeraldOptions {
  config: Config
  databaseUrl: string
  log: Logger
  /** Tests pass their own; otherwise the configuration decides. */
  clock?: Clock
  checkAnswer?: CheckAnswer
}

/** Everything but the listeners; commands of the CLI need no more than this. */
export async function createDeps({ config, databaseUrl, log, clock: givenClock }: HeraldOptions): Promise<Deps> {
  const database = openDatabase({
    url: databaseUrl,
    connectionsMax: config.HERALD_DATABASE_CONNECTIONS_MAX,
    onIdleError: (error) => log.warn({ err: error }, 'lost a database connection')
  })
  const number = await database.pool.query<{ number: bigint }>("select nextval('node_numbers') as number")
  setNodeNumber(Number(number.rows[0]!.number % 1024n))
  const listener = createListener(database, log)
  const testClock = config.HERALD_TEST_CLOCK ? createTestClock() : undefined
  if (testClock) await followTestClock(testClock, database, listener)
  const clock = givenClock ?? testClock ?? systemClock
  const key = config.HERALD_SECRET_KEY
    ? parseSecretKey(config.HERALD_SECRET_KEY)
    : await secretKeyFromFile(path.join(config.HERALD_DATA_DIR, 'secret.key'))
  const vault = createVault(key)
  const metrics = createMetrics()
  const localReceivers = new Map<string, LocalReceiver>()
  return {
    config,
    clock,
    log,
    database,
    listener,
    vault,
    metrics,
    localReceivers,
    jobs: createJobRegistry(),
    authenticator: createAuthenticator({
      database,
      vault,
      clock,
      listener,
      adminToken: config.HERALD_ADMIN_TOKEN || undefined
    }),
    limiter: createRateLimiter({
      database,
      clock,
      enforce: config.HERALD_RATE_LIMITS === 'on',
      overrides: config.HERALD_RATE_LIMIT_OVERRIDES
    }),
    egress: createEgress({
      allowPrivate: config.HERALD_EGRESS_ALLOW_PRIVATE,
      resolve: config.HERALD_EGRESS_RESOLVE,
      ...(config.HERALD_EGRESS_CA ? { extraCa: await readFile(config.HERALD_EGRESS_CA, 'utf8') } : {}),
      ...(mayReachListener(config)
        ? {
            findReceiver: async (host: string) => localReceivers.get(host) ?? findListener(config.HERALD_DATA_DIR)(host)
          }
        : {}),
      // Lanes bound what is in flight to a webhook; a bound per host would let one webhook stop another on the same host.
      connectionsPerTargetMax: DELIVERY_DEFAULTS.nodeInFlightMax
    })
  }
}

export async function closeDeps(deps: Deps) {
  await deps.listener.close()
  await deps.egress.close()
  await deps.database.close()
}

/** Recurring housekeeping this frequent is no reason to stop a moving clock. */
const STOP_FOR_INTERVALS_FROM_MS = 10 * 60_000

export async function createHerald(options: HeraldOptions): Promise<Herald> {
  const { config, log } = options
  await migrate({ connectionString: options.databaseUrl }, { log })
  const deps = await createDeps(options)
  const { database, clock, jobs, listener } = deps
  const seconds = deps.metrics.histogram(
    'herald_job_seconds',
    'Time a background job took.',
    [0.01, 0.1, 1, 10, 60, 600],
    ['kind', 'outcome']
  )
  const worker = createWorker({
    database,
    clock,
    registry: jobs,
    log,
    listener,
    observe: (kind, outcome, ms) => seconds.observe({ kind, outcome }, ms / 1000)
  })

  const work = {
    async drain() {
      for (let more = true; more; ) {
        await worker.drain()
        more = false
        for (const domain of domains) if (await domain.drain?.()) more = true
      }
    },
    async nextDueAt() {
      const kinds = jobs
        .all()
        .filter((job) => (job.everyMs ?? Infinity) >= STOP_FOR_INTERVALS_FROM_MS)
        .map((job) => job.kind)
      const times = await Promise.all([
        nextJobDueAt(database.db, kinds),
        ...domains.map((domain) => domain.nextDueAt?.())
      ])
      const due = times.filter((time) => time !== undefined)
      return due.length > 0 ? Math.min(...due) : undefined
    }
  }
  const { domains, findAccountAccess } = createDomains(deps, work)

  const notReady = async () => {
    try {
      await database.pool.query('select 1')
      return undefined
    } catch (error) {
      return isDatabaseAway(error) ? 'the database is away' : 'the database does not answer'
    }
  }
  const apps = await buildApps({ deps, domains, findAccountAccess, notReady, checkAnswer: options.checkAnswer })
  const roles = config.HERALD_ROLES

  return {
    deps,
    domains,
    apps,
    drain: work.drain,
    async start() {
      for (const domain of domains) await domain.start?.(roles)
      if (roles.includes('work')) worker.start()
    },
    async listen() {
      const host = config.HERALD_HOST
      const main = await apps.main.listen({ host, port: config.HERALD_PORT })
      const sandbox = await apps.sandbox.listen({ host, port: config.HERALD_SANDBOX_PORT })
      return { main, sandbox }
    },
    async stop() {
      await Promise.all([apps.main.close(), apps.sandbox.close()])
      await worker.stop()
      for (const domain of domains.toReversed()) await domain.stop?.()
      await closeDeps(deps)
    }
  }
}
