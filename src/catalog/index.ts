/** Catalogs: products, product sets, scheduled feeds. */
import type { Deps } from '../deps.ts'
import type { Domain } from '../domain.ts'
import { catalogAccessRoutes } from './access.ts'
import { catalogRoutes } from './catalogs.ts'
import { productSetRoutes } from './product-sets.ts'
import { productRoutes } from './products.ts'
import { purgeCatalogJob, purgeSetJob } from './purge.ts'
import { scheduledFeedRoutes } from './scheduled-feeds.ts'
import { computeSetJob } from './set-job.ts'

export function createCatalog(deps: Deps): Domain {
  deps.jobs.add(purgeCatalogJob, purgeSetJob, computeSetJob)
  return {
    name: 'catalog',
    ads(scope) {
      catalogRoutes(scope)
      productRoutes(scope)
      productSetRoutes(scope)
      scheduledFeedRoutes(scope)
    },
    admin(app) {
      catalogAccessRoutes(app, deps)
    }
  }
}
