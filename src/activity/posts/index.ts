/** Posts: kept as they are published, and made, edited, deleted, searched and counted under /2. */
import type { FastifyInstance } from 'fastify'
import type { Deps } from '../../deps.ts'
import type { Product, PublishDeps } from '../events.ts'
import { forgetPostsJob, keepPosts } from './posts.ts'

export interface Posts {
  product: Product
  v2(app: FastifyInstance, publishing: PublishDeps): void
}

export function createPosts(deps: Deps): Posts {
  const { clock, config } = deps
  const retentionMs = config.HERALD_POSTS_RETENTION
  deps.jobs.add(forgetPostsJob(retentionMs))

  return {
    product: keepPosts({ clock, retentionMs }),
    v2() {}
  }
}
