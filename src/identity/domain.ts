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
    root: (app) => oauthRoutes(app, deps),
    admin: (app) => {
      app.register(async (scope) => {
        // Other nodes hear of a change from the database; this one has forgotten before it answers.
        scope.addHook('onSend', async (req) => {
          if (req.method !== 'GET') deps.authenticator.forget()
        })
        identityAdminRoutes(scope, deps)
      })
    },
    start: () => checkSecretKey(deps.database.db, deps.vault)
  }
}
