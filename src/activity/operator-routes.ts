/** /admin/activity: who is subscribed to what, and why an event did or did not reach them. */
import type { FastifyInstance } from 'fastify'
import { sql } from 'kysely'
import { type Static, Type } from 'typebox'
import { invalidRequest } from '../http/problems.ts'
import { Data, Id, Page, Paging, page, Timestamp } from '../http/v2.ts'
import type { Db } from '../storage/db.ts'
import { explainAccountActivity, explainSubscription, REASONS } from './explain.ts'

const tags = ['admin', 'activity']
const NullableText = Type.Unsafe<string | null>({ type: 'string', nullable: true })

const ExplainQuery = Type.Object({
  event_id: Type.String({
    minLength: 1,
    maxLength: 200,
    description: "The event's id, or the one its publisher gave."
  }),
  subscription_id: Type.Optional(Id),
  app_id: Type.Optional(Id),
  user_id: Type.Optional(Id)
})
const Explanation = Type.Object({
  event: Type.Object({ id: Id, event_type: Type.String(), user_id: NullableText, created_at: Timestamp }),
  product: Type.Enum(['activity', 'account_activity']),
  subscription: Type.Unsafe<Record<string, unknown> | null>({
    type: 'object',
    additionalProperties: true,
    nullable: true
  }),
  matched: Type.Boolean(),
  deliverable: Type.Boolean(),
  reasons: Type.Array(Type.Object({ reason: Type.Enum([...REASONS]), sentence: Type.String() })),
  summary: Type.String()
})

const ListQuery = Type.Object({ app_id: Type.Optional(Id), user_id: Type.Optional(Id), ...Paging(1000, 100) })
const Subscription = Type.Object({
  id: Id,
  product: Type.Enum(['activity', 'account_activity']),
  app_id: Id,
  user_id: NullableText,
  event_type: NullableText,
  filter: Type.Unsafe<Record<string, unknown> | null>({ type: 'object', additionalProperties: true, nullable: true }),
  tag: NullableText,
  webhook_id: NullableText,
  webhook_valid: Type.Unsafe<boolean | null>({ type: 'boolean', nullable: true }),
  consent_user_id: NullableText,
  created_at: Timestamp
})

function explain(db: Db, { event_id, subscription_id, app_id, user_id }: Static<typeof ExplainQuery>) {
  if (subscription_id !== undefined && app_id === undefined && user_id === undefined)
    return explainSubscription(db, event_id, subscription_id)
  if (subscription_id === undefined && app_id !== undefined && user_id !== undefined)
    return explainAccountActivity(db, event_id, app_id, user_id)
  throw invalidRequest({
    message: 'Send `subscription_id` for an activity subscription, or `app_id` and `user_id` for account activity'
  })
}

/** Both products in one list, newest first. */
async function listForOperators(
  db: Db,
  { app_id, user_id }: { app_id?: string; user_id?: string },
  bound: { before?: string; after?: string; limit: number }
) {
  const chosen = sql`
    (${app_id ?? null}::text is null or s.app_id = ${app_id ?? null}) and (${user_id ?? null}::text is null or s.user_id = ${user_id ?? null})
    and (${bound.before ?? null}::text is null or s.id < ${bound.before ?? null}) and (${bound.after ?? null}::text is null or s.id > ${bound.after ?? null})`
  const order = sql.raw(bound.after === undefined ? 'desc' : 'asc')
  const { rows } = await sql<Static<typeof Subscription>>`
    select s.*, webhook.valid as webhook_valid from (
      (select id, 'activity' as product, app_id, user_id, event_type_given as event_type, filter, tag, webhook_id, consent_user_id, created_at
       from activity_subscriptions s where ${chosen} order by id ${order} limit ${bound.limit})
      union all
      (select id, 'account_activity', app_id, user_id, null, null, null, webhook_id, user_id, created_at
       from account_activity_subscriptions s where ${chosen} order by id ${order} limit ${bound.limit})
    ) s left join webhooks as webhook on webhook.app_id = s.app_id and webhook.id = s.webhook_id
    order by s.id ${order} limit ${bound.limit}`.execute(db)
  return rows
}

export function operatorRoutes(app: FastifyInstance, db: Db) {
  app.get<{ Querystring: Static<typeof ExplainQuery> }>(
    '/activity/explain',
    {
      schema: {
        summary: 'Why an event did or did not reach a subscription.',
        tags,
        querystring: ExplainQuery,
        response: Data(Explanation)
      }
    },
    async (req) => ({ data: await explain(db, req.query) })
  )

  app.get<{ Querystring: Static<typeof ListQuery> }>(
    '/activity/subscriptions',
    {
      schema: {
        summary: 'Subscriptions of both activity products, newest first.',
        tags,
        querystring: ListQuery,
        response: Page(Subscription)
      }
    },
    async (req) => {
      const list = { name: 'admin.activity.subscriptions', defaultResults: 100, idOf: (row: { id: string }) => row.id }
      return page(req.query, list, (bound) => listForOperators(db, req.query, bound))
    }
  )
}
