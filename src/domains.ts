/** The list of domains. Adding one is a line here. */
import { createActivity } from './activity/index.ts'
import { createCampaigns } from './campaigns/index.ts'
import { createCatalog } from './catalog/index.ts'
import { createConsole } from './console/index.ts'
import type { Deps } from './deps.ts'
import type { Domain } from './domain.ts'
import type { FindAccountAccess } from './http/ads.ts'
import { createIdentity } from './identity/index.ts'
import type { DueWork } from './operator/clock.ts'
import { createOperator } from './operator/index.ts'
import { createWebhooks } from './webhooks/index.ts'

export function createDomains(deps: Deps, work: DueWork): { domains: Domain[]; findAccountAccess: FindAccountAccess } {
  const identity = createIdentity(deps)
  const operator = createOperator(deps, work)
  const campaigns = createCampaigns(deps)
  const webhooks = createWebhooks(deps)
  const activity = createActivity(deps, webhooks)
  return {
    domains: [identity, operator, webhooks, activity, createCatalog(deps), campaigns, createConsole(deps)],
    findAccountAccess: campaigns.findAccountAccess
  }
}
