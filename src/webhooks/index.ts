/** Webhooks deliver bytes to URLs; they do not know what an event means. */
import type { Deps } from '../deps.ts'
import type { Domain } from '../domain.ts'
import { consumerSecrets, validSecrets } from '../identity/index.ts'
import { webhookAdminRoutes } from './admin.ts'
import { crcJob } from './crc-job.ts'
import { createCrcMeasures } from './crc-measures.ts'
import { forgetChecksJob } from './crc-retention.ts'
import { createDelivery, type DeliveryEngine } from './deliver.ts'
import { deliveryConfig } from './deliver-config.ts'
import { replayRoutes } from './replay-routes.ts'
import { retentionJob } from './retention.ts'
import { webhookRoutes } from './routes.ts'
import type { WebhookDeps } from './webhooks.ts'

export type { DeliveryEngine } from './deliver.ts'
export type { Delivery, NewDelivery } from './log.ts'
export { findWebhook, getWebhook, webhookIdInvalid } from './webhooks.ts'

export interface Webhooks extends Domain {
  delivery: DeliveryEngine
}

export function createWebhooks(deps: Deps): Webhooks {
  const { database, clock, config, egress, vault, log, listener, metrics } = deps
  const numbers = deliveryConfig(config)
  const secrets = async (appId: string) => validSecrets(await consumerSecrets(database.db, vault, appId), clock.now())
  const delivery = createDelivery({ database, egress, clock, config: numbers, secrets, listener, log, metrics })
  const webhookDeps: WebhookDeps = {
    db: database.db,
    clock,
    egress,
    secrets,
    crc: { egress, deadlineMs: numbers.deadlineMs, signatureHeader: numbers.signatureHeader },
    perAppMax: config.HERALD_WEBHOOKS_PER_APP_MAX,
    measures: createCrcMeasures({ db: database.db, log, metrics })
  }
  deps.jobs.add(crcJob(webhookDeps, config.HERALD_CRC_AUTO_RECOVER), retentionJob(delivery), forgetChecksJob)

  return {
    name: 'webhooks',
    delivery,
    v2: (app) => {
      webhookRoutes(app, webhookDeps)
      replayRoutes(app, { ...webhookDeps, delivery })
    },
    admin: (app) => webhookAdminRoutes(app, { ...webhookDeps, delivery, retentionMs: config.HERALD_RECORDS_RETENTION }),
    start: async (roles) => {
      if (roles.includes('deliver')) await delivery.start()
    },
    stop: () => delivery.stop(),
    drain: () => delivery.drain(),
    nextDueAt: () => delivery.nextDueAt()
  }
}
