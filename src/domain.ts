/** What a domain offers to the program. Everything is optional; app.ts mounts what is there. */
import type { FastifyInstance } from 'fastify'
import type { Role } from './config.ts'
import type { AdsScope } from './http/ads.ts'

export interface Domain {
  name: string
  /** Routes outside the API scopes: OAuth endpoints, pages. */
  root?(app: FastifyInstance): void
  /** Routes below /2. */
  v2?(app: FastifyInstance): void
  /** Routes below /12, called once per listener. */
  ads?(scope: AdsScope): void
  /** Routes below /admin, behind the admin token. */
  admin?(app: FastifyInstance): void
  /** Starts what runs beside requests on a node with these roles. */
  start?(roles: readonly Role[]): Promise<void>
  /** Finishes or hands back what is in flight. */
  stop?(): Promise<void>
  /** Does everything that is due by the clock, and says whether there was anything. */
  drain?(): Promise<boolean>
  /** When the next thing is due by the clock, so that a moved clock can stop there on its way. */
  nextDueAt?(): Promise<number | undefined>
  /** undefined when ready; otherwise what is missing, for /readyz. */
  notReady?(): string | undefined
}
