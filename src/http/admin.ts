/** /admin: the conventions of /2, opened by the admin token alone. Routes need no `config.accepts` of their own. */
import type { FastifyInstance } from 'fastify'
import type { Deps } from '../deps.ts'
import { ADMIN } from './auth.ts'
import type { Limit } from './rate-limits.ts'
import { v2Scope } from './v2.ts'

/** A host platform publishes all its events here; the limit only stops a runaway script. */
const ADMIN_LIMIT: Limit = { name: 'admin', max: 1_000_000, windowSeconds: 900 }

export function adminScope(app: FastifyInstance, deps: Deps) {
  app.addHook('onRoute', (route) => {
    route.config = { accepts: ADMIN, limit: ADMIN_LIMIT, ...route.config }
    route.schema = { tags: ['admin'], ...route.schema }
  })
  v2Scope(app, deps)
}
