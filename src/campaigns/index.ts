/** Campaign management: accounts to creatives, reference data, audience estimate. */
import type { Deps } from '../deps.ts'
import type { Domain } from '../domain.ts'
import type { FindAccountAccess } from '../http/ads.ts'
import { createAccountAccess } from './account-access.ts'
import { accountRowRoutes } from './account-rows.ts'
import { accountRoutes } from './accounts.ts'
import { campaignRoutes } from './campaigns.ts'
import { featureRoutes } from './features.ts'
import { fundingInstrumentRoutes } from './funding-instruments.ts'
import { referenceRoutes } from './reference-routes.ts'
import { createReferenceStore } from './reference-store.ts'

export { createAccount, type NewAccount } from './accounts.ts'
export { createFundingInstrument, type NewFundingInstrument } from './funding-instruments.ts'

export function createCampaigns(deps: Deps): Domain & { findAccountAccess: FindAccountAccess } {
  const access = createAccountAccess(deps)
  const reference = createReferenceStore(deps)
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
    },
    async stop() {
      access.close()
      reference.close()
    }
  }
}
