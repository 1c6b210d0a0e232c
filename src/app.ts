/** buildApp(deps): the scopes of both listeners and the list of domains, on one screen. */
import swagger from '@fastify/swagger'
import type { FastifyInstance, FastifyRequest } from 'fastify'
import type { Logger } from 'pino'
import type { Deps } from './deps.ts'
import type { Domain } from './domain.ts'
import { adminScope } from './http/admin.ts'
import { adsScope, type Environment, type FindAccountAccess } from './http/ads.ts'
import { measureRequests } from './http/metrics.ts'
import { documentation, openApiInfo } from './http/openapi.ts'
import { operations } from './http/operations.ts'
import { bridgeSandbox } from './http/sandbox-bridge.ts'
import { lazySerializer } from './http/serializer.ts'
import { createServer } from './http/server.ts'
import { v2Scope } from './http/v2.ts'

export interface Apps {
  main: FastifyInstance
  sandbox: FastifyInstance
}

export interface AppParts {
  deps: Deps
  domains: Domain[]
  findAccountAccess: FindAccountAccess
  /** What /readyz asks beside the domains. */
  notReady: () => Promise<string | undefined>
  /** Sees every answer before it leaves; tests hold them against the published description. */
  checkAnswer?: CheckAnswer
}

export type CheckAnswer = (req: FastifyRequest, status: number, payload: unknown) => void

export async function buildApps({ deps, domains, findAccountAccess, notReady, checkAnswer }: AppParts): Promise<Apps> {
  const main = server(deps, 'main', checkAnswer)
  const sandbox = server(deps, 'sandbox', checkAnswer)
  const ads = (app: FastifyInstance, environment: Environment) =>
    app.register(
      async (scoped) => {
        const scope = adsScope(scoped, deps, environment, findAccountAccess)
        for (const domain of domains) domain.ads?.(scope)
      },
      { prefix: '/12' }
    )

  for (const app of [main, sandbox]) {
    await app.register(swagger, { openapi: openApiInfo })
    operations(app, deps, domains, notReady)
  }
  main.register(
    async (app) => {
      v2Scope(app, deps)
      for (const domain of domains) domain.v2?.(app)
    },
    { prefix: '/2' }
  )
  main.register(
    async (app) => {
      adminScope(app, deps)
      for (const domain of domains) domain.admin?.(app)
    },
    { prefix: '/admin' }
  )
  main.register(async (app) => {
    for (const domain of domains) domain.root?.(app)
  })
  ads(main, 'production')
  ads(sandbox, 'sandbox')
  documentation(main, sandbox)
  bridgeSandbox(main, sandbox)

  await Promise.all([main.ready(), sandbox.ready()])
  return { main, sandbox }
}

function server(deps: Deps, listener: string, checkAnswer?: CheckAnswer) {
  const app = createServer({
    log: quiet(deps.log, listener),
    bodyBytesMax: deps.config.HERALD_BODY_BYTES_MAX,
    trustProxy: deps.config.HERALD_TRUST_PROXY,
    publicUrl:
      (listener === 'main' ? deps.config.HERALD_PUBLIC_URL : deps.config.HERALD_SANDBOX_PUBLIC_URL) || undefined
  })
  app.setSerializerCompiler(lazySerializer)
  measureRequests(app, deps.metrics, listener)
  if (checkAnswer) {
    app.addHook('onSend', async (req, reply, payload) => {
      checkAnswer(req, reply.statusCode, payload)
      return payload
    })
  }
  return app
}

/** Fastify's own chatter ("Server listening") stays out; main.ts says it once. */
function quiet(log: Logger, listener: string) {
  return log.child(
    { listener },
    { level: log.isLevelEnabled('debug') ? log.level : log.isLevelEnabled('info') ? 'warn' : log.level }
  )
}
