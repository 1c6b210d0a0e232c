/** Posts: kept as they are published, and made, edited, deleted, searched and counted under /2. */
import type { FastifyInstance } from 'fastify'
import type { Deps } from '../../deps.ts'
import type { Product, PublishDeps } from '../events.ts'
import { postRoutes } from './post-routes.ts'
import { forgetPostsJob, keepPosts } from './posts.ts'
import type { SearchDeps } from './search-query.ts'
import { searchRoutes } from './search-routes.ts'
import { countUsageJob } from './usage.ts'
import { usageRoutes } from './usage-routes.ts'

export interface Posts {
  product: Product
  v2(app: FastifyInstance, publishing: PublishDeps): void
}

/** Some tenths of a second, while others get their turns. */
const LOOKS_PER_REQUEST_MAX = 20_000

export function createPosts(deps: Deps): Posts {
  const { clock, config, database } = deps
  const retentionMs = config.HERALD_POSTS_RETENTION
  const search: SearchDeps = { db: database.db, clock, retentionMs, looksMax: LOOKS_PER_REQUEST_MAX }
  const writing = {
    db: database.db,
    clock,
    limiter: deps.limiter,
    charactersMax: config.HERALD_POST_CHARACTERS_MAX,
    repliesNeedSummons: config.HERALD_REPLIES_NEED_SUMMONS
  }
  deps.jobs.add(forgetPostsJob(retentionMs), countUsageJob())

  return {
    product: keepPosts({ clock, retentionMs }),
    v2(app, publishing) {
      postRoutes(app, { ...writing, publishing })
      searchRoutes(app, search)
      usageRoutes(app, { db: database.db, clock })
    }
  }
}
