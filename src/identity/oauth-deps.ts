/** What the OAuth endpoints need of the program and of a request. */
import type { FastifyRequest } from 'fastify'
import type { Clock } from '../clock.ts'
import type { Database } from '../storage/db.ts'
import type { Authenticator, Credentials } from './authenticate.ts'
import type { Vault } from './secrets.ts'

export interface OAuthDeps {
  database: Database
  vault: Vault
  clock: Clock
  authenticator: Authenticator
  /** The address clients and people use, if a proxy stands in front. */
  publicUrl?: string | undefined
}

export const credentialsOf = (req: FastifyRequest, { publicUrl }: OAuthDeps): Credentials => ({
  authorization: req.headers.authorization,
  method: req.method,
  scheme: req.protocol,
  host: req.host,
  rawUrl: req.raw.url ?? req.url,
  contentType: req.headers['content-type'],
  rawBody: req.body as Buffer | undefined,
  remoteAddress: req.ip,
  publicUrl
})
