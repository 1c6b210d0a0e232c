/** /admin: what was sent to webhooks, what became of it and why, and the few things that an operator may do about it. */
import type { FastifyInstance } from 'fastify'
import { type Static, type TSchema, Type } from 'typebox'
import { isoTime } from '../clock.ts'
import { invalidRequest } from '../http/problems.ts'
import { Data, Page } from '../http/v2.ts'
import * as schemas from './admin-schemas.ts'
import type { DeliveryEngine } from './deliver.ts'
import { deliveryDetail } from './delivery-detail.ts'
import { overview } from './overview.ts'
import { overviewSeries } from './overview-series.ts'
import { listDeliveries } from './records.ts'
import { getReplayRecord, listReplayRecords } from './records-replays.ts'
import { getAnyWebhook, getWebhookRecord, listChecks, listChecksOf, listWebhookRecords } from './records-webhooks.ts'
import { resendDelivery, sendTestEvent } from './resend.ts'
import { validate, type WebhookDeps } from './webhooks.ts'
import { whyNotDelivered } from './why.ts'

export interface AdminDeps extends WebhookDeps {
  delivery: DeliveryEngine
  retentionMs: number
}

type Query<S extends TSchema> = { Querystring: Static<S> }
type Params<S extends TSchema> = { Params: Static<S> }

/** Any way to write a time becomes the one that records are written in. */
function timeOf(name: string, given: string | undefined) {
  if (given === undefined) return undefined
  const ms = Date.parse(given)
  if (!Number.isNaN(ms)) return isoTime(ms)
  throw invalidRequest({
    message: `The \`${name}\` query parameter value [${given.slice(0, 100)}] is not an ISO 8601 time`,
    parameters: { [name]: [given.slice(0, 100)] }
  })
}

export function webhookAdminRoutes(app: FastifyInstance, deps: AdminDeps) {
  const { db, clock, retentionMs } = deps
  const { WebhookPath, DeliveryPath, ReplayPath } = schemas
  const about = (summary: string) => ({ summary, tags: ['admin'] })

  app.get(
    '/overview',
    { schema: { ...about('How deliveries are doing right now.'), response: Data(schemas.Overview) } },
    async () => ({ data: await overview(db, clock) })
  )
  app.get(
    '/overview/series',
    { schema: { ...about('Attempts over the past minutes, in short steps.'), response: Data(schemas.Series) } },
    async () => ({ data: await overviewSeries(db, clock) })
  )

  app.get<Query<typeof schemas.WebhooksQuery>>(
    '/webhooks',
    {
      schema: {
        ...about('Webhooks of all apps: why invalid, last CRC, what waits, how they answered lately.'),
        querystring: schemas.WebhooksQuery,
        response: Page(schemas.WebhookRecord)
      }
    },
    (req) => listWebhookRecords(db, clock, req.query)
  )
  app.get<Params<typeof WebhookPath>>(
    '/webhooks/:webhook_id',
    { schema: { ...about('Read a webhook.'), params: WebhookPath, response: Data(schemas.WebhookRecord) } },
    async (req) => ({ data: await getWebhookRecord(db, clock, req.params.webhook_id) })
  )
  app.get<Params<typeof WebhookPath> & Query<typeof schemas.ChecksQuery>>(
    '/webhooks/:webhook_id/crc_checks',
    {
      schema: {
        ...about('Every CRC of a webhook with its outcome.'),
        params: WebhookPath,
        querystring: schemas.ChecksQuery,
        response: Page(schemas.CrcCheck)
      }
    },
    async (req) => listChecksOf(db, await getAnyWebhook(db, req.params.webhook_id), req.query)
  )
  app.get<Query<typeof schemas.AllChecksQuery>>(
    '/crc_checks',
    {
      schema: {
        ...about('CRCs of all apps, those of refused registrations too.'),
        querystring: schemas.AllChecksQuery,
        response: Page(schemas.CrcCheck)
      }
    },
    (req) => listChecks(db, req.query)
  )
  app.post<Params<typeof WebhookPath>>(
    '/webhooks/:webhook_id/validate',
    {
      schema: {
        ...about('Send a CRC now and re-enable the webhook, as PUT does; says what was observed.'),
        params: WebhookPath,
        response: Data(schemas.Validated)
      }
    },
    async (req) => {
      const { webhook, result } = await validate(deps, await getAnyWebhook(db, req.params.webhook_id), 'put')
      return { data: { ...result, valid: webhook.valid } }
    }
  )
  app.post<Params<typeof WebhookPath> & { Body: Static<typeof schemas.TestEvent> | null }>(
    '/webhooks/:webhook_id/test_event',
    {
      schema: {
        ...about('Send a signed test event to a webhook.'),
        params: WebhookPath,
        body: Type.Union([schemas.TestEvent, Type.Null()]),
        response: Data(schemas.TestEventSent)
      }
    },
    async (req) => ({ data: await sendTestEvent(deps, req.params.webhook_id, req.body?.body) })
  )
  app.get<Params<typeof WebhookPath> & Query<typeof schemas.WhyQuery>>(
    '/webhooks/:webhook_id/why',
    {
      schema: {
        ...about('Why was this event not delivered to this webhook?'),
        params: WebhookPath,
        querystring: schemas.WhyQuery,
        response: Data(schemas.Why)
      }
    },
    async (req) => {
      const webhook = await getAnyWebhook(db, req.params.webhook_id)
      const { event_id } = req.query
      const why = await whyNotDelivered({ db, clock, retentionMs }, webhook, event_id)
      return { data: { webhook_id: webhook.id, event_id, ...why } }
    }
  )

  app.get<Params<typeof WebhookPath> & Query<typeof schemas.DeliveriesQuery>>(
    '/webhooks/:webhook_id/deliveries',
    {
      schema: {
        ...about('What was sent to a webhook, or waits to be.'),
        params: WebhookPath,
        querystring: schemas.DeliveriesQuery,
        response: Page(schemas.DeliveryRecord)
      }
    },
    async (req) => {
      const { app_id, id } = await getAnyWebhook(db, req.params.webhook_id)
      const range = { from: timeOf('from', req.query.from), to: timeOf('to', req.query.to) }
      return listDeliveries(db, { app_id, webhook_id: id }, { ...req.query, ...range })
    }
  )
  app.get<Params<typeof DeliveryPath>>(
    '/deliveries/:delivery_id',
    {
      schema: {
        ...about('A delivery with its attempts, what was sent and what was answered.'),
        params: DeliveryPath,
        response: Data(schemas.DeliveryDetail)
      }
    },
    async (req) => ({
      data: await deliveryDetail(
        { db, secrets: deps.secrets, signatureHeader: deps.crc.signatureHeader },
        req.params.delivery_id
      )
    })
  )
  app.post<Params<typeof DeliveryPath>>(
    '/deliveries/:delivery_id/resend',
    {
      schema: {
        ...about('Send a delivery once more: the same bytes under the same id.'),
        params: DeliveryPath,
        response: Data(schemas.Resent)
      }
    },
    async (req) => ({ data: await resendDelivery(deps, req.params.delivery_id) })
  )

  app.get<Query<typeof schemas.ReplaysQuery>>(
    '/replays',
    {
      schema: {
        ...about('Replay jobs with their progress.'),
        querystring: schemas.ReplaysQuery,
        response: Page(schemas.ReplayRecord)
      }
    },
    (req) => listReplayRecords(db, req.query)
  )
  app.get<Params<typeof ReplayPath>>(
    '/replays/:replay_id',
    { schema: { ...about('Read a replay job.'), params: ReplayPath, response: Data(schemas.ReplayRecord) } },
    async (req) => ({ data: await getReplayRecord(db, req.params.replay_id) })
  )
}
