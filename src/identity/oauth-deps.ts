/** What the OAuth endpoints need of the program. */
import type { Clock } from '../clock.ts'
import type { RateLimiter } from '../http/rate-limits.ts'
import type { Database } from '../storage/db.ts'
import type { Authenticator } from './authenticate.ts'
import type { Vault } from './secrets.ts'

export interface OAuthDeps {
  database: Database
  vault: Vault
  clock: Clock
  authenticator: Authenticator
  limiter: RateLimiter
}
