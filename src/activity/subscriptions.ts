/** Activity subscriptions: which events of whom an app wants, and where they go. */
import { sql } from 'kysely'
import type { Clock } from '../clock.ts'
import { forbidden } from '../errors.ts'
import { invalidBecause, invalidRequest, unsupportedAuthentication } from '../http/problems.ts'
import { heldAuthorizations } from '../identity/index.ts'
import { AuthenticationKinds, type Principal, permits } from '../identity/principal.ts'
import { type Db, type Defaulted, violatedConstraint } from '../storage/db.ts'
import { newId } from '../storage/ids.ts'
import { getWebhook } from '../webhooks/index.ts'
import { consents, levelFor } from './consent.ts'
import { type EventType, eventTypeNamed, unknownTypeMessage } from './event-types.ts'
import { termOf } from './keywords.ts'

declare module '../storage/db.ts' {
  interface Tables {
    activity_subscriptions: {
      app_id: string
      id: string
      event_type: string
      event_type_given: string
      user_id: string | null
      keyword: string | null
      keyword_term: string | null
      direction: 'inbound' | 'outbound' | null
      filter: Record<string, string>
      tag: Defaulted<string | null>
      webhook_id: Defaulted<string | null>
      consent_user_id: string | null
      created_at: Time
      updated_at: Time
    }
  }
}

/** Document 1 says sent and received, others inbound and outbound; both are understood, and echoed as given. */
export const DIRECTIONS = {
  sent: 'outbound',
  received: 'inbound',
  inbound: 'inbound',
  outbound: 'outbound',
  both: null
} as const
export type DirectionName = keyof typeof DIRECTIONS

export interface NewSubscription {
  event_type: string
  filter: { user_id?: string; keyword?: string; direction?: DirectionName }
  tag?: string
  webhook_id?: string
}

export interface SubscriptionDeps {
  db: Db
  clock: Clock
  perAppMax: number
}

type Caller = Exclude<Principal, { kind: 'admin' }>
type Row = Awaited<ReturnType<typeof getRow>>

/** As clients see it: `tag` and `webhook_id` only where there is one. */
const present = (row: Row) => ({
  subscription_id: row.id,
  event_type: row.event_type_given,
  filter: row.filter,
  created_at: row.created_at,
  updated_at: row.updated_at,
  ...(row.tag === null ? {} : { tag: row.tag }),
  ...(row.webhook_id === null ? {} : { webhook_id: row.webhook_id })
})

const notFound = (id: string) =>
  invalidBecause('SubscriptionNotFound', `there is no subscription with id ${id} for this app`, {
    parameters: { subscription_id: [id] }
  })

async function getRow(db: Db, appId: string, id: string) {
  const row = await db
    .selectFrom('activity_subscriptions')
    .selectAll()
    .where('app_id', '=', appId)
    .where('id', '=', id)
    .executeTakeFirst()
  if (!row) throw notFound(id)
  return row
}

export async function countSubscriptions(db: Db, appId: string) {
  const { count } = await db
    .selectFrom('activity_subscriptions')
    .select((eb) => eb.fn.countAll<bigint>().as('count'))
    .where('app_id', '=', appId)
    .executeTakeFirstOrThrow()
  return Number(count)
}

function checkedType(name: string): EventType {
  const type = eventTypeNamed(name)
  if (!type)
    throw invalidRequest({
      message: `$.event_type: ${unknownTypeMessage(name)}`,
      parameters: { event_type: [name.slice(0, 100)] }
    })
  return type
}

function checkFilter(type: EventType, filter: NewSubscription['filter']) {
  const missing = type.filter === 'keyword' ? 'keyword' : 'user_id'
  if (filter[missing] === undefined)
    throw invalidRequest({ message: `$.filter.${missing}: is missing but it is required for ${type.name}` })
  if (filter.user_id !== undefined && missing === 'keyword')
    throw invalidRequest({
      message: `$.filter.user_id: ${type.name} is about nobody in particular; leave it out`,
      parameters: { user_id: [filter.user_id] }
    })
  if (filter.keyword !== undefined && termOf(filter.keyword) === undefined)
    throw invalidRequest({
      message: '$.filter.keyword: holds no word that could be looked for',
      parameters: { keyword: [filter.keyword] }
    })
  if (filter.direction !== undefined && !type.direction) {
    throw invalidRequest({
      message: `$.filter.direction: ${type.name} has no direction`,
      parameters: { direction: [filter.direction] }
    })
  }
}

/** "Private events need a user token of the filtered user", with what that user must have granted. */
function checkConsent(type: EventType, userId: string | undefined, caller: Caller) {
  if (type.visibility === 'public') return
  if (caller.kind === 'app')
    throw unsupportedAuthentication(AuthenticationKinds.app, [AuthenticationKinds.oauth2, AuthenticationKinds.oauth1])
  if (caller.user.id !== userId) {
    throw forbidden(
      'FORBIDDEN',
      `${type.name} is private: only user ${userId} can subscribe an app to it, and this token belongs to user ${caller.user.id}.`
    )
  }
  const verdict = permits(caller, {
    accepts: ['oauth2', 'oauth1'],
    scopes: type.scope ? [type.scope] : [],
    oauth1Level: levelFor(type.scope)
  })
  if (verdict.permitted) return
  throw forbidden(
    'FORBIDDEN',
    verdict.reason === 'insufficient-permissions'
      ? `${type.name} needs the OAuth 1.0a permission "${verdict.needed}"; this token has "${verdict.held}".`
      : `${type.name} needs the scope ${type.scope}; ask the user to authorize the app with it.`
  )
}

/** Subscriptions of one app wait for each other here, so that the quota holds; and for a revocation, which must see them. */
export const lockSubscriptions = (tx: Db, appId: string) =>
  sql`select pg_advisory_xact_lock(hashtextextended(${`subscriptions ${appId}`}, 0))`.execute(tx)

/** The user may have changed their mind since the token was looked up. */
async function refuseWithoutConsent(tx: Db, type: EventType, caller: Caller) {
  if (type.visibility === 'public' || caller.kind === 'app') return
  const pair = { app_id: caller.app.id, user_id: caller.user.id }
  if (!consents(type, (await heldAuthorizations(tx, [pair]))(pair)))
    throw forbidden('FORBIDDEN', 'The user has taken back what they had allowed this app.')
}

export async function createSubscription(
  { db, clock, perAppMax }: SubscriptionDeps,
  caller: Caller,
  input: NewSubscription
) {
  const type = checkedType(input.event_type)
  checkFilter(type, input.filter)
  checkConsent(type, input.filter.user_id, caller)
  const { app } = caller
  if (input.webhook_id !== undefined) await getWebhook(db, app.id, input.webhook_id)
  const now = new Date(clock.now())
  const max = app.quotas.subscriptions ?? perAppMax
  return db.transaction().execute(async (tx) => {
    await lockSubscriptions(tx, app.id)
    await refuseWithoutConsent(tx, type, caller)
    const total = await countSubscriptions(tx, app.id)
    const direction = input.filter.direction === undefined ? null : DIRECTIONS[input.filter.direction]
    const key = {
      event_type: type.name,
      user_id: input.filter.user_id ?? null,
      keyword: input.filter.keyword ?? null,
      direction
    }
    await refuseDuplicate(tx, app.id, key)
    if (total >= max)
      throw invalidBecause(
        'SubscriptionLimitExceeded',
        `this app may have ${max} subscriptions and has ${total}; delete some first`
      )
    const row = await tx
      .insertInto('activity_subscriptions')
      .values({
        app_id: app.id,
        id: newId(),
        ...key,
        keyword_term: key.keyword === null ? null : termOf(key.keyword)!,
        event_type_given: input.event_type,
        filter: input.filter as Record<string, string>,
        tag: input.tag ?? null,
        webhook_id: input.webhook_id ?? null,
        consent_user_id: type.visibility === 'private' && caller.kind === 'user' ? caller.user.id : null,
        created_at: now,
        updated_at: now
      })
      .returningAll()
      .executeTakeFirstOrThrow()
      .catch((error) => {
        // The webhook went away between the check and the insert.
        if (violatedConstraint(error)?.includes('webhook'))
          return getWebhook(db, app.id, input.webhook_id!).then(() => Promise.reject(error))
        throw error
      })
    return { subscription: present(row), total: total + 1 }
  })
}

async function refuseDuplicate(
  tx: Db,
  appId: string,
  key: { event_type: string; user_id: string | null; keyword: string | null; direction: string | null }
) {
  const { rows } = await sql<{ id: string }>`
    select id from activity_subscriptions where app_id = ${appId} and event_type = ${key.event_type}
      and user_id is not distinct from ${key.user_id} and keyword is not distinct from ${key.keyword} and direction is not distinct from ${key.direction}`.execute(
    tx
  )
  if (rows[0])
    throw invalidBecause(
      'DuplicateSubscriptionFailed',
      `this app has subscription ${rows[0].id} with the same event type and filter`,
      { subscription_id: rows[0].id }
    )
}

/** Newest first. A user sees the subscriptions of the app that are about them. */
export async function listSubscriptions(
  db: Db,
  caller: Caller,
  bound: { before?: string; after?: string; limit: number }
) {
  let query = db.selectFrom('activity_subscriptions').selectAll().where('app_id', '=', caller.app.id)
  if (caller.kind === 'user') query = query.where('user_id', '=', caller.user.id)
  if (bound.before !== undefined) query = query.where('id', '<', bound.before)
  if (bound.after !== undefined) query = query.where('id', '>', bound.after)
  const rows = await query
    .orderBy('id', bound.after === undefined ? 'desc' : 'asc')
    .limit(bound.limit)
    .execute()
  return rows.map(present)
}

export interface SubscriptionPatch {
  tag?: string
  webhook_id?: string
}

/** Only where it goes and what it is called: another filter is another subscription. */
export async function updateSubscription(
  { db, clock }: SubscriptionDeps,
  appId: string,
  id: string,
  patch: SubscriptionPatch
) {
  if (patch.tag === undefined && patch.webhook_id === undefined)
    throw invalidRequest({ message: '$: send `tag`, `webhook_id` or both' })
  if (patch.webhook_id !== undefined) await getWebhook(db, appId, patch.webhook_id)
  const row = await db
    .updateTable('activity_subscriptions')
    .set({ ...patch, updated_at: new Date(clock.now()) })
    .where('app_id', '=', appId)
    .where('id', '=', id)
    .returningAll()
    .executeTakeFirst()
  if (!row) throw notFound(id)
  return { subscription: present(row), total: await countSubscriptions(db, appId) }
}

export async function deleteSubscription(db: Db, appId: string, id: string) {
  const deleted = await db
    .deleteFrom('activity_subscriptions')
    .where('app_id', '=', appId)
    .where('id', '=', id)
    .returning('id')
    .executeTakeFirst()
  if (!deleted) throw notFound(id)
  return countSubscriptions(db, appId)
}

/** What is there is deleted; what is not is told. */
export async function deleteSubscriptions(db: Db, appId: string, ids: readonly string[]) {
  const rows = await db
    .deleteFrom('activity_subscriptions')
    .where('app_id', '=', appId)
    .where('id', 'in', ids)
    .returning('id')
    .execute()
  const deleted = new Set(rows.map((row) => row.id))
  return {
    deleted: ids.filter((id) => deleted.has(id)).map((subscription_id) => ({ subscription_id, deleted: true })),
    missing: ids
      .filter((id) => !deleted.has(id))
      .map((subscription_id) => ({
        subscription_id,
        reason: 'SubscriptionNotFound',
        message: `there is no subscription with id ${subscription_id} for this app`
      })),
    total: await countSubscriptions(db, appId)
  }
}
