/** App-only tokens over HTTP: client credentials in, one bearer token out. */
import type { FastifyInstance, FastifyReply } from 'fastify'
import { credentialsOf } from '../http/auth.ts'
import { appBearerToken, invalidateAppToken } from './app-tokens.ts'
import { appByConsumerSecret } from './clients.ts'
import { legacyFailure } from './failures.ts'
import type { OAuthDeps } from './oauth-deps.ts'
import { basicCredentials, bodyParameters, queryParameters } from './parameters.ts'

/** "Any failure (bad grant, bad credentials, too frequent)." */
export const refuseAppToken = (reply: FastifyReply) =>
  reply.code(403).send({
    errors: [{ code: 99, label: 'authenticity_token_error', message: 'Unable to verify your credentials' }]
  })

export function appTokenRoutes(app: FastifyInstance, deps: OAuthDeps) {
  const { database, vault, clock, authenticator } = deps
  app.post(
    '/oauth2/token',
    { schema: { summary: 'Get the bearer token of an app (client credentials).', tags: ['oauth'], security: [] } },
    async (req, reply) => {
      const credentials = basicCredentials(req.headers.authorization)
      const grant = bodyParameters(req).get('grant_type') ?? queryParameters(req).get('grant_type')
      if (!credentials || grant !== 'client_credentials') return refuseAppToken(reply)
      const client = await appByConsumerSecret(database.db, vault, credentials, clock.now())
      if (!client) return refuseAppToken(reply)
      const access_token = await appBearerToken(database.db, vault, client.id, new Date(clock.now()))
      return { token_type: 'bearer', access_token }
    }
  )

  app.post(
    '/oauth2/invalidate_token',
    { schema: { summary: 'Invalidate the bearer token of an app.', tags: ['oauth'], security: [] } },
    async (req, reply) => {
      const token = bodyParameters(req).get('access_token') ?? queryParameters(req).get('access_token')
      let appId: string | undefined
      const basic = basicCredentials(req.headers.authorization)
      if (basic) appId = (await appByConsumerSecret(database.db, vault, basic, clock.now()))?.id
      else {
        const principal = await authenticator.authenticate(credentialsOf(req))
        if ('failure' in principal) return reply.code(401).send(legacyFailure(principal.failure))
        const isOwner =
          principal.kind === 'user' && principal.via === 'oauth1' && principal.app.owner_user_id === principal.user.id
        if (isOwner) appId = principal.app.id
      }
      if (!appId || !token) return refuseAppToken(reply)
      const now = new Date(clock.now())
      const known = appId
      const invalidated = await database.db.transaction().execute((tx) => invalidateAppToken(tx, known, token, now))
      authenticator.forget()
      return invalidated ? { access_token: token } : refuseAppToken(reply)
    }
  )
}
