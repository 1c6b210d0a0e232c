/** The OAuth endpoints, outside the API scopes: their bodies and errors are those of the protocols. */
import type { FastifyInstance } from 'fastify'
import { retryAfter, toApiError } from '../http/server.ts'
import { appTokenRoutes } from './app-token-routes.ts'
import type { OAuthDeps } from './oauth-deps.ts'
import { limitOAuth } from './oauth-limits.ts'
import { oauth1Routes } from './oauth1-routes.ts'
import { oauth2Routes } from './oauth2-routes.ts'

/** No credential or form is longer. */
const BODY_BYTES_MAX = 64 * 1024

export function oauthRoutes(app: FastifyInstance, deps: OAuthDeps) {
  app.register(async (scope) => {
    // Signatures cover the bytes of a form, and broken bodies get the protocol's own answer: bodies stay bytes here.
    scope.removeAllContentTypeParsers()
    scope.addContentTypeParser('*', { parseAs: 'buffer', bodyLimit: BODY_BYTES_MAX }, (req, body, done) => {
      req.rawBody = body as Buffer
      done(null, body)
    })
    scope.setErrorHandler((error, req, reply) => {
      const { status, items } = toApiError(error, req)
      retryAfter(status, reply)
      return reply
        .code(status)
        .send({ errors: items.map(({ message }) => ({ code: LEGACY_CODES[status] ?? 131, message })) })
    })
    limitOAuth(scope, deps)
    appTokenRoutes(scope, deps)
    oauth2Routes(scope, deps)
    oauth1Routes(scope, deps)
  })
}

/** Numbers of the older error shape: over capacity, and what a client can do nothing about. */
const LEGACY_CODES: Record<number, number> = { 503: 130, 413: 214, 400: 214, 415: 214 }
