/** The sandbox's API under the origin of the main listener, for the console: browsers do not reach across ports. See decisions/0070. */
import type { FastifyInstance } from 'fastify'
import { notFound } from '../errors.ts'
import { sessionOf } from './browser-session.ts'

export const SANDBOX_PREFIX = '/console/sandbox'

/** Hands requests of console sessions to the other listener's router as they came, body unread. */
export function bridgeSandbox(main: FastifyInstance, sandbox: FastifyInstance) {
  main.route({
    method: ['GET', 'POST', 'PUT', 'DELETE'],
    url: `${SANDBOX_PREFIX}/12/*`,
    exposeHeadRoute: false,
    schema: { hide: true },
    onRequest: async (req, reply) => {
      if (!sessionOf(req)) throw notFound('ROUTE_NOT_FOUND', 'This address is only for the pages of the console.')
      reply.hijack()
      req.raw.url = req.raw.url!.slice(SANDBOX_PREFIX.length)
      sandbox.routing(req.raw, reply.raw)
    },
    handler: async () => {}
  })
}
