/** The console: pages that use the public API and /admin, a way to sign in to them, and an inbox to try deliveries with. */
import type { Deps } from '../deps.ts'
import type { Domain } from '../domain.ts'
import { createConsoleBuild } from './build.ts'
import { pageRoutes } from './pages.ts'
import { sessionRoutes } from './session-routes.ts'

export function createConsole(deps: Deps): Domain {
  const build = createConsoleBuild({ log: deps.log, ticks: () => performance.now() })
  return {
    name: 'console',
    root(app) {
      sessionRoutes(app, deps)
      pageRoutes(app, build)
      // Nobody waits for it: a warm start finds the build, a cold one has it made beside everything else.
      app.addHook('onListen', async () => {
        void build.current().catch((error) => deps.log.error({ err: error }, 'the console cannot be built'))
      })
    },
    async stop() {
      build.stop()
    }
  }
}
