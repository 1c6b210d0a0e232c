/** Campaign management: accounts to creatives, reference data, audience estimate. */
import type { Deps } from '../deps.ts'
import type { Domain } from '../domain.ts'
import type { FindAccountAccess } from '../http/ads.ts'
import { createAccountAccess } from './account-access.ts'
import { accountRowRoutes } from './account-rows.ts'
import { accountRoutes } from './accounts.ts'
import { adAccountAdminRoutes } from './admin-accounts.ts'
import { referenceAdminRoutes } from './admin-reference.ts'
import { adRowAdminRoutes } from './admin-rows.ts'
import { audienceEstimateRoutes, createAudienceEstimates } from './audience-estimate.ts'
import { batchRoutes } from './batch-routes.ts'
import { campaignRoutes } from './campaigns.ts'
import { featureRoutes } from './features.ts'
import { fundingInstrumentRoutes } from './funding-instruments.ts'
import { historyRoutes } from './history.ts'
import { lineItemCuratedCategoryRoutes } from './line-item-curated-categories.ts'
import { lineItemRoutes } from './line-items.ts'
import { mediaCreativeRoutes } from './media-creatives.ts'
import { promotedAccountRoutes } from './promoted-accounts.ts'
import { promotedTweetRoutes } from './promoted-tweets.ts'
import { referenceRoutes } from './reference-routes.ts'
import { createReferenceStore } from './reference-store.ts'
import { servabilityRoutes } from './servability.ts'
import { targetingBatch, targetingCriteriaRoutes } from './targeting-criteria.ts'
import { targetingLookupRoutes } from './targeting-lookups.ts'
import { trackingTagRoutes } from './tracking-tags.ts'

export { createAccount, type NewAccount } from './accounts.ts'
export { importAudience } from './audience-estimate.ts'
export { createFundingInstrument, type NewFundingInstrument } from './funding-instruments.ts'

export function createCampaigns(deps: Deps): Domain & { findAccountAccess: FindAccountAccess } {
  const access = createAccountAccess(deps)
  const reference = createReferenceStore(deps)
  const audience = createAudienceEstimates(deps)
  return {
    name: 'campaigns',
    findAccountAccess: access.find,
    ads(scope) {
      accountRoutes(scope, access)
      featureRoutes(scope, reference)
      accountRowRoutes(scope)
      referenceRoutes(scope, reference)
      fundingInstrumentRoutes(scope, reference)
      campaignRoutes(scope, reference)
      lineItemRoutes(scope, reference)
      batchRoutes(scope, reference)
      targetingCriteriaRoutes(scope, reference)
      targetingBatch(scope, reference)
      targetingLookupRoutes(scope, reference)
      promotedTweetRoutes(scope)
      promotedAccountRoutes(scope)
      mediaCreativeRoutes(scope)
      lineItemCuratedCategoryRoutes(scope, reference)
      trackingTagRoutes(scope)
      historyRoutes(scope)
      servabilityRoutes(scope)
      audienceEstimateRoutes(scope, reference, audience)
    },
    admin(app) {
      adAccountAdminRoutes(app, deps, { access, reference })
      adRowAdminRoutes(app, deps)
      referenceAdminRoutes(app, deps, reference)
    },
    async stop() {
      access.close()
      reference.close()
      audience.close()
    }
  }
}
