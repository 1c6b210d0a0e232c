/** The console: pages that use the public API and /admin, a way to sign in to them, and an inbox to try deliveries with. */
import type { Deps } from '../deps.ts'
import type { Domain } from '../domain.ts'
import { consumerSecrets, validSecrets } from '../identity/index.ts'
import { mayReachListener } from '../tools/listen-files.ts'
import { createConsoleBuild } from './build.ts'
import { createHeartbeat, healthRoutes } from './health.ts'
import { createInbox, INBOX_HOST } from './inbox.ts'
import { inboxRoutes } from './inbox-routes.ts'
import { pageRoutes } from './pages.ts'
import { sessionRoutes } from './session-routes.ts'

export function createConsole(deps: Deps): Domain {
  const { config, clock, database, vault, localReceivers } = deps
  const build = createConsoleBuild({ log: deps.log, ticks: () => performance.now() })
  const heartbeat = createHeartbeat(deps)
  const inbox = mayReachListener(config)
    ? createInbox({
        clock,
        signatureHeader: config.HERALD_SIGNATURE_HEADER.toLowerCase(),
        secretsOf: (appId) =>
          consumerSecrets(database.db, vault, appId).then(
            (secrets) => validSecrets(secrets, clock.now()),
            () => []
          )
      })
    : undefined
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
    admin(app) {
      inboxRoutes(app, inbox)
      healthRoutes(app, database.db)
    },
    async start(roles) {
      await heartbeat.start(roles)
      if (inbox) localReceivers.set(INBOX_HOST, await inbox.start())
    },
    async stop() {
      build.stop()
      await heartbeat.stop()
      localReceivers.delete(INBOX_HOST)
      await inbox?.stop()
    }
  }
}
