/** The periodic CRC of one webhook: a job per webhook, due when validity.ts says so, and at no other time. */
import { Type } from 'typebox'
import { defineJob } from '../storage/jobs.ts'
import { CRC_JOB, expireWebhook, findWebhook, stepOf, validate, type WebhookDeps } from './webhooks.ts'

const Payload = Type.Object({ app_id: Type.String(), webhook_id: Type.String() })

export const crcJob = (deps: WebhookDeps, autoRecover: boolean) =>
  defineJob(CRC_JOB, {
    schema: Payload,
    concurrency: 20,
    leaseSeconds: 60,
    run: async ({ app_id, webhook_id }) => {
      const webhook = await findWebhook(deps.db, app_id, webhook_id)
      if (!webhook) return
      const step = stepOf(webhook)
      // A check in between (PUT, replay) moved the schedule: this run is not due any more.
      if (step.at > deps.clock.now()) return { againAt: step.at }
      if (step.what === 'expire') await expireWebhook(deps, webhook)
      else await validate(deps, webhook, 'tick', { autoRecover })
      const after = await findWebhook(deps.db, app_id, webhook_id)
      return after && { againAt: stepOf(after).at }
    }
  })
