/** /2/webhooks. App-only bearer tokens and nothing else. */
import type { FastifyInstance } from 'fastify'
import { type Static, Type } from 'typebox'
import { APP_ONLY, type AppPrincipal } from '../http/auth.ts'
import { Data, Fields, Id, select, Timestamp } from '../http/v2.ts'
import { URL_LENGTH_MAX } from './url-rules.ts'
import { deleteWebhook, listWebhooks, registerWebhook, revalidateWebhook, type WebhookDeps } from './webhooks.ts'

const Webhook = Type.Object({ id: Id, url: Type.String(), valid: Type.Boolean(), created_at: Timestamp })
/** Open: other properties are ignored, as the published description of this call says. */
const NewWebhook = Type.Object({
  url: Type.String({ minLength: 1, maxLength: URL_LENGTH_MAX, description: 'https, without a port.' })
})
const Path = Type.Object({ webhook_id: Id })
const ListQuery = Type.Object({ 'webhook_config.fields': Type.Optional(Fields(['created_at', 'id', 'url', 'valid'])) })

const config = (name: string) => ({
  accepts: APP_ONLY,
  product: 'webhooks' as const,
  limit: { name, max: 450, windowSeconds: 900 }
})
const tags = ['webhooks']

export function webhookRoutes(app: FastifyInstance, deps: WebhookDeps) {
  app.post<{ Body: Static<typeof NewWebhook> }>(
    '/webhooks',
    {
      schema: { summary: 'Register a webhook; a CRC is sent first.', tags, body: NewWebhook, response: Data(Webhook) },
      config: config('v2.webhooks.create')
    },
    async (req) => ({ data: await registerWebhook(deps, (req.principal as AppPrincipal).app, req.body.url) })
  )

  app.get<{ Querystring: Static<typeof ListQuery> }>(
    '/webhooks',
    {
      schema: {
        summary: 'List webhooks with their status.',
        tags,
        querystring: ListQuery,
        response: {
          200: Type.Object({
            data: Type.Array(Type.Partial(Webhook)),
            meta: Type.Object({ result_count: Type.Integer() })
          })
        }
      },
      config: config('v2.webhooks.list')
    },
    async (req) => {
      const webhooks = await listWebhooks(deps.db, (req.principal as AppPrincipal).app.id)
      return {
        data: webhooks.map((webhook) => select(webhook, req.query['webhook_config.fields'])),
        meta: { result_count: webhooks.length }
      }
    }
  )

  app.delete<{ Params: Static<typeof Path> }>(
    '/webhooks/:webhook_id',
    {
      schema: {
        summary: 'Delete a webhook.',
        tags,
        params: Path,
        response: Data(Type.Object({ deleted: Type.Boolean() }))
      },
      config: config('v2.webhooks.delete')
    },
    async (req) => ({
      data: await deleteWebhook(deps.db, (req.principal as AppPrincipal).app.id, req.params.webhook_id)
    })
  )

  app.put<{ Params: Static<typeof Path> }>(
    '/webhooks/:webhook_id',
    {
      schema: {
        summary: 'Send a CRC and re-enable the webhook.',
        tags,
        params: Path,
        response: Data(Type.Object({ attempted: Type.Boolean(), valid: Type.Boolean() }))
      },
      config: config('v2.webhooks.validate')
    },
    async (req) => ({
      data: await revalidateWebhook(deps, (req.principal as AppPrincipal).app.id, req.params.webhook_id)
    })
  )
}
