/** /2/activity/subscriptions */
import type { FastifyInstance } from 'fastify'
import { type Static, Type } from 'typebox'
import { APP_ONLY, type AppPrincipal, type UserPrincipal } from '../http/auth.ts'
import { Id, Paging, page, Timestamp } from '../http/v2.ts'
import type { Requirement } from '../identity/principal.ts'
import {
  countSubscriptions,
  createSubscription,
  DIRECTIONS,
  type DirectionName,
  deleteSubscription,
  deleteSubscriptions,
  listSubscriptions,
  type SubscriptionDeps,
  updateSubscription
} from './subscriptions.ts'

const closed = { additionalProperties: false }
const Filter = Type.Object(
  {
    user_id: Type.Optional(Id),
    keyword: Type.Optional(Type.String({ minLength: 1, maxLength: 150 })),
    direction: Type.Optional(Type.Enum(Object.keys(DIRECTIONS) as DirectionName[]))
  },
  closed
)
const Tag = Type.String({ minLength: 1, maxLength: 200 })
const NewSubscription = Type.Object(
  { event_type: Type.String(), filter: Filter, tag: Type.Optional(Tag), webhook_id: Type.Optional(Id) },
  closed
)
const Patch = Type.Object({ tag: Type.Optional(Tag), webhook_id: Type.Optional(Id) }, closed)
const Subscription = Type.Object({
  subscription_id: Id,
  event_type: Type.String(),
  filter: Filter,
  created_at: Timestamp,
  updated_at: Timestamp,
  tag: Type.Optional(Type.String()),
  webhook_id: Type.Optional(Id)
})
const Total = Type.Object({ total_subscriptions: Type.Integer() })
const Path = Type.Object({ subscription_id: Id })
const ListQuery = Type.Object(Paging(1000, 1000))
const Ids = Type.Object({ ids: Type.Array(Id, { minItems: 1, maxItems: 100, uniqueItems: true }) })

/** An app for public events, a user for private ones; which of them is private is a matter of the event type. */
const EITHER: Requirement = { accepts: ['app', 'oauth2', 'oauth1'] }
const limit = (name: string) => ({ name: `v2.activity.subscriptions.${name}`, max: 500, windowSeconds: 900 })
const product = 'activity'
const tags = ['activity']

export function subscriptionRoutes(app: FastifyInstance, deps: SubscriptionDeps) {
  app.post<{ Body: Static<typeof NewSubscription> }>(
    '/activity/subscriptions',
    {
      schema: {
        summary: 'Subscribe to events.',
        tags,
        body: NewSubscription,
        response: {
          200: Type.Object({
            data: Type.Object({ subscription: Subscription, total_subscriptions_for_instance_id: Type.Integer() }),
            meta: Total
          })
        }
      },
      config: { accepts: EITHER, product, limit: limit('create') }
    },
    async (req) => {
      const { subscription, total } = await createSubscription(
        deps,
        req.principal as AppPrincipal | UserPrincipal,
        req.body
      )
      return {
        data: { subscription, total_subscriptions_for_instance_id: total },
        meta: { total_subscriptions: total }
      }
    }
  )

  app.get<{ Querystring: Static<typeof ListQuery> }>(
    '/activity/subscriptions',
    {
      schema: {
        summary: 'List subscriptions, newest first.',
        tags,
        querystring: ListQuery,
        response: {
          200: Type.Object({
            data: Type.Array(Subscription),
            meta: Type.Object({
              result_count: Type.Integer(),
              next_token: Type.Optional(Type.String()),
              previous_token: Type.Optional(Type.String()),
              total_subscriptions: Type.Integer()
            })
          })
        }
      },
      config: { accepts: { ...EITHER, scopes: ['like.read', 'tweet.read'] }, product, limit: limit('list') }
    },
    async (req) => {
      const caller = req.principal as AppPrincipal | UserPrincipal
      const list = {
        name: 'activity.subscriptions',
        defaultResults: 1000,
        idOf: (row: { subscription_id: string }) => row.subscription_id
      }
      const { data, meta } = await page(req.query, list, (bound) => listSubscriptions(deps.db, caller, bound))
      return { data, meta: { ...meta, total_subscriptions: await countSubscriptions(deps.db, caller.app.id) } }
    }
  )

  app.put<{ Params: Static<typeof Path>; Body: Static<typeof Patch> }>(
    '/activity/subscriptions/:subscription_id',
    {
      schema: {
        summary: 'Change the tag or the webhook of a subscription.',
        tags,
        params: Path,
        body: Patch,
        response: {
          200: Type.Object({ data: Type.Object({ subscription: Subscription, total_subscriptions: Type.Integer() }) })
        }
      },
      config: { accepts: APP_ONLY, product, limit: limit('update') }
    },
    async (req) => {
      const { subscription, total } = await updateSubscription(
        deps,
        (req.principal as AppPrincipal).app.id,
        req.params.subscription_id,
        req.body
      )
      return { data: { subscription, total_subscriptions: total } }
    }
  )

  app.delete<{ Params: Static<typeof Path> }>(
    '/activity/subscriptions/:subscription_id',
    {
      schema: {
        summary: 'Delete a subscription.',
        tags,
        params: Path,
        response: { 200: Type.Object({ data: Type.Object({ deleted: Type.Boolean() }), meta: Total }) }
      },
      config: { accepts: APP_ONLY, product, limit: limit('delete') }
    },
    async (req) => ({
      data: { deleted: true },
      meta: {
        total_subscriptions: await deleteSubscription(
          deps.db,
          (req.principal as AppPrincipal).app.id,
          req.params.subscription_id
        )
      }
    })
  )

  app.delete<{ Querystring: Static<typeof Ids> }>(
    '/activity/subscriptions',
    {
      schema: {
        summary: 'Delete up to 100 subscriptions.',
        tags,
        querystring: Ids,
        response: {
          200: Type.Object({
            data: Type.Array(Type.Object({ subscription_id: Id, deleted: Type.Boolean() })),
            errors: Type.Optional(
              Type.Array(Type.Object({ subscription_id: Id, reason: Type.String(), message: Type.String() }))
            ),
            meta: Total
          })
        }
      },
      config: { accepts: APP_ONLY, product, limit: limit('delete_many') }
    },
    async (req) => {
      const { deleted, missing, total } = await deleteSubscriptions(
        deps.db,
        (req.principal as AppPrincipal).app.id,
        req.query.ids
      )
      return { data: deleted, ...(missing.length > 0 ? { errors: missing } : {}), meta: { total_subscriptions: total } }
    }
  )
}
