/** Identity as the program mounts it. */
import type { Deps } from '../deps.ts'
import type { Domain } from '../domain.ts'
import { identityAdminRoutes } from './admin.ts'
import { pruneIdentityJob } from './prune.ts'
import { oauthRoutes } from './routes.ts'
import { checkSecretKey } from './vault-check.ts'

export function createIdentity(deps: Deps): Domain {
  deps.jobs.add(pruneIdentityJob)
  return {
    name: 'identity',
    root: (app) => oauthRoutes(app, { ...deps, publicUrl: deps.config.HERALD_PUBLIC_URL || undefined }),
    admin: (app) => identityAdminRoutes(app, deps),
    start: () => checkSecretKey(deps.database.db, deps.vault)
  }
}
