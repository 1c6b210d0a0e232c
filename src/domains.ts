/** The list of domains. Adding one is a line here. */
import type { Deps } from './deps.ts'
import type { Domain } from './domain.ts'
import type { FindAccountAccess } from './http/ads.ts'
import { createIdentity } from './identity/index.ts'
import type { DueWork } from './operator/clock.ts'
import { createOperator } from './operator/index.ts'

export function createDomains(deps: Deps, work: DueWork): { domains: Domain[]; findAccountAccess: FindAccountAccess } {
  const identity = createIdentity(deps)
  const operator = createOperator(deps, work)
  return { domains: [identity, operator], findAccountAccess: async () => undefined }
}
