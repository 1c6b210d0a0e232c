/** What a running Herald passes to its parts. Built once in main.ts (or a test), never reached for. */
import type { Logger } from 'pino'
import type { Clock } from './clock.ts'
import type { Config } from './config.ts'
import type { Egress, LocalReceiver } from './egress/index.ts'
import type { Metrics } from './http/metrics.ts'
import type { RateLimiter } from './http/rate-limits.ts'
import type { Authenticator } from './identity/index.ts'
import type { Vault } from './identity/secrets.ts'
import type { Database } from './storage/db.ts'
import type { JobRegistry } from './storage/jobs.ts'
import type { Listener } from './storage/listen.ts'

export interface Deps {
  config: Config
  clock: Clock
  log: Logger
  database: Database
  listener: Listener
  jobs: JobRegistry
  vault: Vault
  authenticator: Authenticator
  limiter: RateLimiter
  egress: Egress
  /** Receivers inside this process, by host name: egress reaches them without judging their address. */
  localReceivers: Map<string, LocalReceiver>
  metrics: Metrics
}
