/** /2/usage/tweets */
import type { FastifyInstance } from 'fastify'
import { type Static, Type } from 'typebox'
import { APP_ONLY, type AppPrincipal } from '../../http/auth.ts'
import { Data, Fields, Id, select, Timestamp } from '../../http/v2.ts'
import { type UsageDeps, usageOf } from './usage.ts'

const DEFAULT_FIELDS = ['cap_reset_day', 'project_cap', 'project_id', 'project_usage'] as const
const FIELDS = [...DEFAULT_FIELDS, 'daily_client_app_usage', 'daily_project_usage'] as const
const UsageQuery = Type.Object({
  days: Type.Optional(Type.Integer({ minimum: 1, maximum: 90, default: 7 })),
  'usage.fields': Type.Optional(Fields(FIELDS))
})
const Days = Type.Array(Type.Object({ date: Timestamp, usage: Type.Integer() }))
const Usage = Type.Object({
  cap_reset_day: Type.Optional(Type.Integer()),
  daily_client_app_usage: Type.Optional(
    Type.Array(Type.Object({ client_app_id: Id, usage_result_count: Type.Integer(), usage: Days }))
  ),
  daily_project_usage: Type.Optional(Type.Object({ project_id: Type.String(), usage: Days })),
  project_cap: Type.Optional(Type.Integer()),
  project_id: Type.Optional(Type.String()),
  project_usage: Type.Optional(Type.Integer())
})

export function usageRoutes(app: FastifyInstance, deps: UsageDeps) {
  app.get<{ Querystring: Static<typeof UsageQuery> }>(
    '/usage/tweets',
    {
      schema: {
        summary: 'How many posts went to the webhooks of the app and its project, by UTC day.',
        tags: ['usage'],
        querystring: UsageQuery,
        response: Data(Usage)
      },
      config: { accepts: APP_ONLY, limit: { name: 'v2.usage', max: 50, windowSeconds: 900 } }
    },
    async (req) => ({
      data: select(
        await usageOf(deps, (req.principal as AppPrincipal).app, req.query.days ?? 7),
        req.query['usage.fields'] ?? DEFAULT_FIELDS
      )
    })
  )
}
