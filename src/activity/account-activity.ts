/** Account activity subscriptions: a user lets an app have everything that happens to their account at a webhook. */
import { sql } from 'kysely'
import type { Clock } from '../clock.ts'
import { forbidden } from '../errors.ts'
import { invalidBecause } from '../http/problems.ts'
import { heldAuthorizations } from '../identity/index.ts'
import type { AppPrincipal, UserPrincipal } from '../identity/principal.ts'
import { type Db, violatedConstraint } from '../storage/db.ts'
import { newId } from '../storage/ids.ts'
import { getWebhook, webhookIdInvalid } from '../webhooks/index.ts'
import { sustainsAccountActivity } from './consent.ts'

declare module '../storage/db.ts' {
  interface Tables {
    account_activity_subscriptions: {
      app_id: string
      webhook_id: string
      user_id: string
      id: string
      created_at: Time
    }
  }
}

export interface AccountActivityDeps {
  db: Db
  clock: Clock
  perAppMax: number
}

const quotaOf = ({ app }: AppPrincipal | UserPrincipal, perAppMax: number) => app.quotas.account_activity ?? perAppMax

export async function countAccountSubscriptions(db: Db, appId: string) {
  const { count } = await db
    .selectFrom('account_activity_subscriptions')
    .select((eb) => eb.fn.countAll<bigint>().as('count'))
    .where('app_id', '=', appId)
    .executeTakeFirstOrThrow()
  return Number(count)
}

/** Subscriptions of one app wait for each other here, so that the quota holds; and for a revocation, which must see them. */
export const lockAccountSubscriptions = (tx: Db, appId: string) =>
  sql`select pg_advisory_xact_lock(hashtextextended(${`account activity ${appId}`}, 0))`.execute(tx)

/** The subscribed user is the token's user. Two at once: one of them finds the other. */
export async function subscribe(
  { db, clock, perAppMax }: AccountActivityDeps,
  caller: UserPrincipal,
  webhookId: string
) {
  const { app, user } = caller
  await getWebhook(db, app.id, webhookId)
  await db.transaction().execute(async (tx) => {
    await lockAccountSubscriptions(tx, app.id)
    const held = await heldAuthorizations(tx, [{ app_id: app.id, user_id: user.id }])
    if (!sustainsAccountActivity(held({ app_id: app.id, user_id: user.id })))
      throw forbidden('FORBIDDEN', 'The user has taken back what they had allowed this app.')
    if (await isSubscribed(tx, app.id, webhookId, user.id))
      throw invalidBecause('DuplicateSubscriptionFailed', 'Subscription already exists', {
        parameters: { webhook_id: [webhookId], user_id: [user.id] }
      })
    const total = await countAccountSubscriptions(tx, app.id)
    const max = quotaOf(caller, perAppMax)
    if (total >= max)
      throw invalidBecause(
        'SubscriptionLimitExceeded',
        `this app may have ${max} account activity subscriptions and has ${total}; delete some first`
      )
    await tx
      .insertInto('account_activity_subscriptions')
      .values({
        app_id: app.id,
        webhook_id: webhookId,
        user_id: user.id,
        id: newId(),
        created_at: new Date(clock.now())
      })
      .execute()
      .catch((error) => {
        // The webhook went away between the check and the insert.
        if (violatedConstraint(error)?.includes('webhook')) throw webhookIdInvalid(webhookId)
        throw error
      })
  })
  return { subscribed: true }
}

async function isSubscribed(db: Db, appId: string, webhookId: string, userId: string) {
  const row = await db
    .selectFrom('account_activity_subscriptions')
    .select('user_id')
    .where('app_id', '=', appId)
    .where('webhook_id', '=', webhookId)
    .where('user_id', '=', userId)
    .executeTakeFirst()
  return row !== undefined
}

export async function checkSubscription(db: Db, { app, user }: UserPrincipal, webhookId: string) {
  await getWebhook(db, app.id, webhookId)
  return { subscribed: await isSubscribed(db, app.id, webhookId, user.id) }
}

/** In the order in which they were made. */
export async function listAccountSubscriptions(db: Db, appId: string, webhookId: string) {
  const { url } = await getWebhook(db, appId, webhookId)
  const subscriptions = await db
    .selectFrom('account_activity_subscriptions')
    .select('user_id')
    .where('app_id', '=', appId)
    .where('webhook_id', '=', webhookId)
    .orderBy('created_at')
    .orderBy('user_id')
    .execute()
  return { application_id: appId, webhook_id: webhookId, webhook_url: url, subscriptions }
}

export async function unsubscribe(db: Db, appId: string, webhookId: string, userId: string) {
  await getWebhook(db, appId, webhookId)
  const deleted = await db
    .deleteFrom('account_activity_subscriptions')
    .where('app_id', '=', appId)
    .where('webhook_id', '=', webhookId)
    .where('user_id', '=', userId)
    .returning('user_id')
    .executeTakeFirst()
  if (!deleted)
    throw invalidBecause('SubscriptionNotFound', `user ${userId} is not subscribed to webhook ${webhookId}`, {
      parameters: { webhook_id: [webhookId], user_id: [userId] }
    })
  return { subscribed: false }
}

/** Counts are text, as clients of this API know them. Messages are not counted apart any more. */
export async function subscriptionsCount({ db, perAppMax }: AccountActivityDeps, caller: AppPrincipal) {
  return {
    account_name: caller.app.name,
    provisioned_count: String(quotaOf(caller, perAppMax)),
    subscriptions_count_all: String(await countAccountSubscriptions(db, caller.app.id)),
    subscriptions_count_direct_messages: '0'
  }
}
