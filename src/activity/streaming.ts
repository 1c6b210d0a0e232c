/** The filtered stream and everything that is streamed, put together for the domain. */
import type { FastifyInstance } from 'fastify'
import type { Deps } from '../deps.ts'
import type { Domain } from '../domain.ts'
import { connectionRoutes } from './connection-routes.ts'
import { forgetConnectionsJob } from './connections.ts'
import type { Product } from './events.ts'
import { ruleExplanationRoutes } from './filtered-stream/explain.ts'
import { linkRoutes } from './filtered-stream/links.ts'
import { filteredStreamDeliveries } from './filtered-stream/matching.ts'
import { ruleRoutes } from './filtered-stream/rule-routes.ts'
import { createRuleSet } from './filtered-stream/rule-set.ts'
import { forgetRuleChangesJob, type RuleDeps } from './filtered-stream/rules.ts'
import { powerstreamRoutes } from './powerstream.ts'
import { createStreams } from './streams/index.ts'
import { streamRoutes } from './streams/routes.ts'

export interface Streaming extends Required<Pick<Domain, 'v2' | 'admin' | 'start' | 'stop'>> {
  product: Product
}

export function createStreaming(deps: Deps): Streaming {
  const { database, clock, config, listener, log } = deps
  const { db } = database
  const ruleSet = createRuleSet({ database, listener, log })
  const streams = createStreams({ ...deps, ruleSet })
  const rules: RuleDeps = {
    db,
    clock,
    ruleSet,
    problemTypeBase: config.HERALD_PROBLEM_TYPE_BASE,
    perAppMax: config.HERALD_RULES_PER_APP_MAX,
    perProjectMax: config.HERALD_RULES_PER_PROJECT_MAX,
    charactersMax: config.HERALD_RULE_CHARACTERS_MAX
  }
  deps.jobs.add(forgetRuleChangesJob())
  deps.jobs.add(forgetConnectionsJob(config.HERALD_RECORDS_RETENTION))

  return {
    product: filteredStreamDeliveries(ruleSet),
    v2(app: FastifyInstance) {
      ruleRoutes(app, rules)
      linkRoutes(app, { db, clock })
      streamRoutes(app, { db, clock, config, streams })
      connectionRoutes(app, { db, clock })
      powerstreamRoutes(app, rules)
    },
    admin(app: FastifyInstance) {
      ruleExplanationRoutes(app, { db, ruleSet })
    },
    async start(roles) {
      // In the background: a start does not wait for rules, a publisher does.
      if (roles.includes('api'))
        ruleSet.ready().catch((error) => log.warn({ err: error }, 'rules not loaded yet; the next event tries again'))
    },
    async stop() {
      await streams.stop()
      ruleSet.stop()
    }
  }
}
