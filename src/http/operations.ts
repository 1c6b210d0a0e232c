/** Health, readiness, metrics, and the plain 404 outside the API scopes. */
import type { FastifyInstance } from 'fastify'
import type { Deps } from '../deps.ts'
import type { Domain } from '../domain.ts'
import { genericProblem, toProblem } from './problems.ts'
import { retryAfter, toApiError, trackRoutes } from './server.ts'

export function operations(
  app: FastifyInstance,
  deps: Deps,
  domains: Domain[],
  notReady: () => Promise<string | undefined>
) {
  const wrongRoute = trackRoutes(app)
  app.setErrorHandler((error, req, reply) => {
    const apiError = toApiError(error, req)
    retryAfter(apiError.status, reply)
    return reply
      .code(apiError.status)
      .type('application/problem+json')
      .send(toProblem(apiError, deps.config.HERALD_PROBLEM_TYPE_BASE))
  })
  app.setNotFoundHandler((req, reply) => {
    const error = wrongRoute(req, reply)
    return reply.code(error.status).type('application/problem+json').send(genericProblem(error.status, error.message))
  })
  // Load balancers ask with HEAD.
  const schema = (summary: string) => ({
    exposeHeadRoute: true,
    schema: { summary, tags: ['operations'], security: [] }
  })
  app.get('/healthz', schema('The process answers.'), () => ({ status: 'ok' }))
  app.get('/readyz', schema('Database, migrations and workers are ready.'), async (_req, reply) => {
    const missing =
      (await notReady()) ?? domains.map((domain) => domain.notReady?.()).find((reason) => reason !== undefined)
    if (missing === undefined) return { status: 'ready' }
    retryAfter(503, reply)
    return reply.code(503).send({ status: 'not ready', reason: missing })
  })
  app.get('/metrics', schema('Prometheus metrics of this node.'), async (_req, reply) =>
    reply.type(deps.metrics.registry.contentType).send(await deps.metrics.registry.metrics())
  )
}
