/** Catalogs: products, product sets, scheduled feeds. */
import type { Deps } from '../deps.ts'
import type { Domain } from '../domain.ts'
import { catalogAccessRoutes } from './access.ts'
import { catalogAdminRoutes } from './admin.ts'
import { catalogFigureRoutes } from './catalog-figures.ts'
import { catalogRoutes } from './catalogs.ts'
import { feedCheckRoutes } from './feed-checks.ts'
import { feedHousekeepingJob } from './feed-housekeeping.ts'
import { feedRunJob } from './feed-import/run.ts'
import { feedRunRoutes } from './feed-run-routes.ts'
import { feedScheduleJob } from './feed-schedule.ts'
import { imageChecksJob } from './image-checks.ts'
import { pictureRoutes } from './pictures.ts'
import { productReviewRoutes } from './product-review.ts'
import { productSearchRoutes } from './product-search.ts'
import { productSetRoutes } from './product-set-routes.ts'
import { productRoutes } from './products.ts'
import { purgeCatalogJob, purgeSetJob } from './purge.ts'
import { scheduledFeedRoutes } from './scheduled-feeds.ts'
import { setCountRoutes } from './set-count.ts'
import { computeSetJob } from './set-job.ts'

/** How much of the rejected rows of one run is kept, whatever their number. */
const REJECTED_BYTES_MAX = 256 * 1024 ** 2

export function createCatalog(deps: Deps): Domain {
  const { config, jobs } = deps
  const rejected = { rowsMax: config.HERALD_FEED_REJECTED_ROWS_MAX, bytesMax: REJECTED_BYTES_MAX }
  jobs.add(
    purgeCatalogJob,
    purgeSetJob,
    computeSetJob,
    feedScheduleJob,
    feedRunJob(deps, {
      deadlineMs: config.HERALD_FEED_DEADLINE,
      guardPercent: config.HERALD_FEED_GUARD_PERCENT,
      checkImages: config.HERALD_IMAGE_CHECKS,
      ...rejected
    }),
    imageChecksJob(deps, config.HERALD_IMAGE_CHECKS_IN_FLIGHT_MAX),
    feedHousekeepingJob(config.HERALD_FEED_RUNS_RETENTION)
  )
  return {
    name: 'catalog',
    ads(scope) {
      catalogRoutes(scope)
      catalogFigureRoutes(scope)
      productRoutes(scope)
      productSearchRoutes(scope)
      productReviewRoutes(scope)
      productSetRoutes(scope)
      setCountRoutes(scope)
      scheduledFeedRoutes(scope)
      feedRunRoutes(scope)
      feedCheckRoutes(scope, rejected)
    },
    root(app) {
      pictureRoutes(app, deps)
    },
    admin(app) {
      catalogAccessRoutes(app, deps)
      catalogAdminRoutes(app, deps)
    }
  }
}
