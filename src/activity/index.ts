/** Activity knows events: who asked for them and what they look like to each product. It does not know retries. */
import type { Deps } from '../deps.ts'
import type { Domain } from '../domain.ts'
import type { Webhooks } from '../webhooks/index.ts'
import type { AccountActivityDeps } from './account-activity.ts'
import { accountActivityProduct } from './account-activity-deliver.ts'
import { accountActivityRoutes } from './account-activity-routes.ts'
import { subscriptionDeliveries } from './deliver-subscriptions.ts'
import { eventRoutes } from './event-routes.ts'
import { eventTailRoutes } from './event-tail.ts'
import type { Product, PublishDeps } from './events.ts'
import { forgetNewsJob, keepNews } from './news/news.ts'
import { newsRoutes } from './news/news-routes.ts'
import { noteAdminRoutes, noteRoutes } from './notes/note-routes.ts'
import { operatorRoutes } from './operator-routes.ts'
import { createPosts } from './posts/index.ts'
import { forgetNamesJob } from './published-names.ts'
import { revokedJob } from './revocations.ts'
import { createStreaming } from './streaming.ts'
import { subscriptionRoutes } from './subscription-routes.ts'
import type { SubscriptionDeps } from './subscriptions.ts'

export function createActivity(deps: Deps, { delivery }: Webhooks): Domain {
  const { database, clock, config } = deps
  const streaming = createStreaming(deps)
  const posts = createPosts(deps)
  const products: Product[] = [
    subscriptionDeliveries,
    accountActivityProduct(clock),
    streaming.product,
    posts.product,
    keepNews
  ]
  const publishing: PublishDeps = { database, clock, delivery, products }
  const subscriptions: SubscriptionDeps = { db: database.db, clock, perAppMax: config.HERALD_SUBSCRIPTIONS_PER_APP_MAX }
  const accountActivity: AccountActivityDeps = {
    db: database.db,
    clock,
    perAppMax: config.HERALD_ACCOUNT_ACTIVITY_PER_APP_MAX
  }
  deps.jobs.add(
    forgetNamesJob(config.HERALD_RECORDS_RETENTION),
    forgetNewsJob(config.HERALD_RECORDS_RETENTION),
    revokedJob(delivery)
  )

  return {
    name: 'activity',
    v2(app) {
      subscriptionRoutes(app, subscriptions)
      accountActivityRoutes(app, accountActivity)
      streaming.v2(app)
      posts.v2(app, publishing)
      newsRoutes(app, { db: database.db, clock })
      noteRoutes(app, { db: database.db, clock, limiter: deps.limiter })
    },
    admin(app) {
      eventRoutes(app, publishing)
      eventTailRoutes(app, { db: database.db, clock })
      operatorRoutes(app, database.db)
      noteAdminRoutes(app, { db: database.db, clock })
      streaming.admin(app)
    },
    start: streaming.start,
    stop: streaming.stop
  }
}
