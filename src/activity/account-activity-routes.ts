/** /2/account_activity: users subscribe themselves, apps look after it. */
import type { FastifyInstance } from 'fastify'
import { type Static, Type } from 'typebox'
import { APP_ONLY, type AppPrincipal, type UserPrincipal } from '../http/auth.ts'
import { Data, Id } from '../http/v2.ts'
import {
  type AccountActivityDeps,
  checkSubscription,
  listAccountSubscriptions,
  subscribe,
  subscriptionsCount,
  unsubscribe
} from './account-activity.ts'
import { ACCOUNT_ACTIVITY } from './consent.ts'

const Path = Type.Object({ webhook_id: Id })
const UserPath = Type.Object({ webhook_id: Id, user_id: Id })
const Subscribed = Data(Type.Object({ subscribed: Type.Boolean() }))
const List = Type.Object({
  application_id: Id,
  webhook_id: Id,
  webhook_url: Type.String(),
  subscriptions: Type.Array(Type.Object({ user_id: Id }))
})
const Count = Type.Object({
  account_name: Type.String(),
  provisioned_count: Type.String(),
  subscriptions_count_all: Type.String(),
  subscriptions_count_direct_messages: Type.String()
})

/** Requests per 15 minutes. */
const limit = (name: string, max: number) => ({ name: `v2.account_activity.${name}`, max, windowSeconds: 900 })
const product = 'account_activity'
const tags = ['account activity']
const SUBSCRIPTIONS = '/account_activity/webhooks/:webhook_id/subscriptions'

export function accountActivityRoutes(app: FastifyInstance, deps: AccountActivityDeps) {
  app.post<{ Params: Static<typeof Path> }>(
    `${SUBSCRIPTIONS}/all`,
    {
      schema: { summary: 'Subscribe the user of the token. No body, or {}.', tags, params: Path, response: Subscribed },
      config: { accepts: ACCOUNT_ACTIVITY, product, limit: limit('subscribe', 500) }
    },
    async (req) => ({ data: await subscribe(deps, req.principal as UserPrincipal, req.params.webhook_id) })
  )

  app.get<{ Params: Static<typeof Path> }>(
    `${SUBSCRIPTIONS}/all`,
    {
      schema: { summary: 'Whether the user of the token is subscribed.', tags, params: Path, response: Subscribed },
      config: { accepts: ACCOUNT_ACTIVITY, product, limit: limit('check', 500) }
    },
    async (req) => ({ data: await checkSubscription(deps.db, req.principal as UserPrincipal, req.params.webhook_id) })
  )

  app.get<{ Params: Static<typeof Path> }>(
    `${SUBSCRIPTIONS}/all/list`,
    {
      schema: { summary: 'The users who are subscribed to a webhook.', tags, params: Path, response: Data(List) },
      config: { accepts: APP_ONLY, product, limit: limit('list', 50) }
    },
    async (req) => ({
      data: await listAccountSubscriptions(deps.db, (req.principal as AppPrincipal).app.id, req.params.webhook_id)
    })
  )

  app.delete<{ Params: Static<typeof UserPath> }>(
    `${SUBSCRIPTIONS}/:user_id/all`,
    {
      schema: { summary: 'End the subscription of a user.', tags, params: UserPath, response: Subscribed },
      config: { accepts: APP_ONLY, product, limit: limit('unsubscribe', 500) }
    },
    async (req) => ({
      data: await unsubscribe(
        deps.db,
        (req.principal as AppPrincipal).app.id,
        req.params.webhook_id,
        req.params.user_id
      )
    })
  )

  app.get(
    '/account_activity/subscriptions/count',
    {
      schema: { summary: 'How many subscriptions the app has, and may have.', tags, response: Data(Count) },
      config: { accepts: APP_ONLY, product, limit: limit('count', 15) }
    },
    async (req) => ({ data: await subscriptionsCount(deps, req.principal as AppPrincipal) })
  )
}
