/** "Subscribed but nothing arrives": whether an event met a subscription, and if not, which filter stood in the way. */
import { sql } from 'kysely'
import { notFound } from '../errors.ts'
import { findApp, type Held, heldAuthorizations } from '../identity/index.ts'
import type { Db } from '../storage/db.ts'
import { findWebhook } from '../webhooks/index.ts'
import { concernsOf } from './account-activity-deliver.ts'
import { groupOf } from './account-activity-payloads.ts'
import { consents, levelFor, mayReceive, sustainsAccountActivity } from './consent.ts'
import { type FoundSubscription, fitsDirection } from './deliver-subscriptions.ts'
import { type EventType, eventTypeNamed } from './event-types.ts'
import { findEvent, type Incoming, incomingAgain } from './events.ts'
import { type Facet, facetsOf, type PublishedEvent } from './facets.ts'
import { mentionsKeyword } from './keywords.ts'
import { textOf } from './legacy.ts'

export const REASONS = [
  'event_type',
  'user',
  'direction',
  'keyword',
  'protected_author',
  'told_before',
  'subscribed_later',
  'not_subscribed',
  'no_consent',
  'app_suspended',
  'no_webhook',
  'webhook_invalid'
] as const
export type ReasonCode = (typeof REASONS)[number]

export interface Reason {
  reason: ReasonCode
  /** What it is, for people. */
  sentence: string
}

export interface Explanation {
  event: { id: string; event_type: string; user_id: string | null; created_at: string }
  product: 'activity' | 'account_activity'
  subscription: Record<string, unknown> | null
  /** Every filter let the event through. */
  matched: boolean
  /** It matched, and there is a webhook that takes deliveries. */
  deliverable: boolean
  reasons: Reason[]
  /** All of it in a line, and where to look next. */
  summary: string
}

const because = (reason: ReasonCode, sentence: string): Reason => ({ reason, sentence })
const list = (items: readonly (string | null)[]) => [...new Set(items)].join(', ')

/** What keeps a matching event from being delivered, without being a filter. */
const AFTER_MATCHING: readonly ReasonCode[] = ['app_suspended', 'no_webhook', 'webhook_invalid']

interface Known {
  event: PublishedEvent & { created_at: string }
  incoming: Incoming
}

async function knownEvent(db: Db, eventId: string): Promise<Known> {
  const event = await findEvent(db, eventId)
  if (!event)
    throw notFound('EVENT_NOT_FOUND', `Event ${eventId.slice(0, 50)} was never published, or is no longer kept.`)
  const [incoming] = await incomingAgain(db, [event])
  return { event, incoming: incoming! }
}

function concluded(
  { event }: Known,
  product: Explanation['product'],
  subscription: Record<string, unknown> | null,
  webhookIds: readonly (string | null)[],
  reasons: Reason[]
): Explanation {
  const matched = reasons.every(({ reason }) => AFTER_MATCHING.includes(reason))
  const { id, event_type, user_id, created_at } = event
  return {
    event: { id, event_type, user_id, created_at },
    product,
    subscription,
    matched,
    deliverable: matched && reasons.length === 0,
    reasons,
    summary: [matched ? 'The event matched.' : 'The event did not match.', ...reasons.map(({ sentence }) => sentence)]
      .concat(
        matched
          ? webhookIds.flatMap((webhookId) =>
              webhookId === null
                ? []
                : `/admin/webhooks/${webhookId}/why?event_id=${id} says what became of its delivery.`
            )
          : []
      )
      .join(' ')
  }
}

const laterThan = (subscribedAt: string, event: { created_at: string }): Reason[] =>
  event.created_at < subscribedAt
    ? [
        because(
          'subscribed_later',
          `The event was published at ${event.created_at}; the subscription was made afterwards, at ${subscribedAt}.`
        )
      ]
    : []

async function webhookReasons(db: Db, appId: string, webhookId: string | null): Promise<Reason[]> {
  if (webhookId === null)
    return [because('no_webhook', 'The subscription has no webhook: its events go to open activity streams only.')]
  const webhook = await findWebhook(db, appId, webhookId)
  if (!webhook) return [because('no_webhook', `Webhook ${webhookId} does not exist any more.`)]
  if (webhook.valid) return []
  return [
    because(
      'webhook_invalid',
      `Webhook ${webhookId} is invalid since ${webhook.invalid_since} (${webhook.invalid_reason}); what came since then is held. PUT /2/webhooks/${webhookId} checks and re-enables it, a replay sends what was held.`
    )
  ]
}

async function appReasons(db: Db, appId: string): Promise<Reason[]> {
  if (!(await findApp(db, appId))?.suspended) return []
  return [because('app_suspended', `App ${appId} is suspended: what is published meanwhile is not kept for it.`)]
}

type Row = FoundSubscription & { created_at: string }

export async function explainSubscription(db: Db, eventId: string, subscriptionId: string): Promise<Explanation> {
  const known = await knownEvent(db, eventId)
  const { rows } = await sql<Row>`
    select app_id, id, event_type, event_type_given, user_id, keyword, direction, filter, tag, webhook_id, consent_user_id, created_at
    from activity_subscriptions where id = ${subscriptionId}`.execute(db)
  const row = rows[0]
  if (!row)
    throw notFound(
      'SUBSCRIPTION_NOT_FOUND',
      `Subscription ${subscriptionId} does not exist. It may have been deleted, or ended with the consent it stood on.`
    )
  const reasons = [
    ...filterReasons(known, row),
    ...laterThan(row.created_at, known.event),
    ...(await consentReasons(db, row)),
    ...(await appReasons(db, row.app_id)),
    ...(await webhookReasons(db, row.app_id, row.webhook_id))
  ]
  const { app_id, id, event_type_given, filter, tag, webhook_id, created_at } = row
  const subscription = {
    subscription_id: id,
    app_id,
    event_type: event_type_given,
    filter,
    tag,
    webhook_id,
    created_at
  }
  return concluded(known, 'activity', subscription, [webhook_id], reasons)
}

/** The first filter that fails is told; what comes after it depends on it. */
function filterReasons({ event, incoming }: Known, row: Row): Reason[] {
  const all = facetsOf(event)
  const ofType = all.filter((facet) => facet.event_type === row.event_type)
  if (ofType.length === 0) {
    const types = list(all.map((facet) => facet.event_type))
    return [because('event_type', `The event counts as ${types}; the subscription asks for ${row.event_type_given}.`)]
  }
  const ofUser = row.user_id === null ? ofType : ofType.filter((facet) => facet.user_id === row.user_id)
  if (ofUser.length === 0) {
    const users = list(ofType.map((facet) => facet.user_id))
    return [
      because(
        'user',
        `As ${row.event_type} the event concerns ${users}; the subscription asks for user ${row.user_id}.`
      )
    ]
  }
  const told = ofUser.filter((facet) => !holds(incoming.facets, facet))
  if (told.length === ofUser.length)
    return [
      because(
        'told_before',
        `This ${row.event_type} had been published before as an event of its own, and was delivered then.`
      )
    ]
  const reasons: Reason[] = []
  if (!ofUser.some((facet) => fitsDirection(row, facet))) {
    const directions = list(ofUser.map((facet) => facet.direction))
    reasons.push(
      because(
        'direction',
        `For user ${row.user_id} the event is ${directions}; the subscription asks for ${row.direction} only.`
      )
    )
  }
  if (row.keyword !== null && !mentionsKeyword(event, row.keyword))
    reasons.push(
      because('keyword', `The words "${row.keyword}" do not stand next to each other in the texts of the event.`)
    )
  if (incoming.protectedAuthor)
    reasons.push(
      because(
        'protected_author',
        `User ${textOf(event.payload.author_id)} protects their posts; these are never delivered.`
      )
    )
  return reasons
}

const holds = (facets: readonly Facet[], { event_type, user_id, direction }: Facet) =>
  facets.some((facet) => facet.event_type === event_type && facet.user_id === user_id && facet.direction === direction)

const describe = ({ oauth1, scopes }: Held) =>
  [
    ...(oauth1 === null ? [] : [`OAuth 1.0a permission "${oauth1}"`]),
    ...(scopes.length === 0 ? [] : [`the scopes ${[...scopes].sort().join(' ')}`])
  ].join(' and ') || 'nothing'

async function consentReasons(db: Db, row: Row): Promise<Reason[]> {
  if (row.consent_user_id === null) return []
  const type = eventTypeNamed(row.event_type) as EventType
  const pair = { app_id: row.app_id, user_id: row.consent_user_id }
  const held = (await heldAuthorizations(db, [pair]))(pair)
  if (consents(type, held)) return []
  return [
    because(
      'no_consent',
      `${type.name} needs the scope ${type.scope} or OAuth 1.0a permission "${levelFor(type.scope)}"; user ${pair.user_id} allows the app ${describe(held)}.`
    )
  ]
}

export async function explainAccountActivity(
  db: Db,
  eventId: string,
  appId: string,
  userId: string
): Promise<Explanation> {
  const known = await knownEvent(db, eventId)
  const rows = await db
    .selectFrom('account_activity_subscriptions')
    .select(['webhook_id', 'created_at'])
    .where('app_id', '=', appId)
    .where('user_id', '=', userId)
    .orderBy('created_at')
    .execute()
  const [first] = rows
  const pair = { app_id: appId, user_id: userId }
  const held = (await heldAuthorizations(db, [pair]))(pair)
  const webhooks = await Promise.all(rows.map((row) => webhookReasons(db, appId, row.webhook_id)))
  const reasons = [
    ...concernReasons(known, userId, held),
    ...(first
      ? laterThan(first.created_at, known.event)
      : [because('not_subscribed', `User ${userId} is not subscribed to any webhook of app ${appId}.`)]),
    ...(await appReasons(db, appId)),
    ...webhooks.flat()
  ]
  const subscription = {
    ...pair,
    webhook_ids: rows.map((row) => row.webhook_id),
    created_at: first?.created_at ?? null
  }
  return concluded(known, 'account_activity', first ? subscription : null, subscription.webhook_ids, reasons)
}

function concernReasons({ event, incoming }: Known, userId: string, held: Held): Reason[] {
  const part = facetsOf(event).filter((facet) => groupOf(facet) !== undefined)
  if (part.length === 0) return [because('event_type', `${event.event_type} is not part of account activity.`)]
  const mine = part.filter((facet) => facet.user_id === userId)
  if (mine.length === 0)
    return [because('user', `The event concerns ${list(part.map((facet) => facet.user_id))}, not user ${userId}.`)]
  if (!mine.some((facet) => holds(incoming.facets, facet)))
    return [because('told_before', `What concerns user ${userId} had been published before as an event of its own.`)]
  const reasons: Reason[] = []
  if (!concernsOf(incoming).some((concern) => concern.user_id === userId))
    reasons.push(
      because(
        'protected_author',
        `User ${textOf(event.payload.author_id)} protects their posts; only they themselves get them.`
      )
    )
  const { scope, key } = groupOf(mine[0]!)!
  if (!mayReceive(scope, held))
    reasons.push(
      because(
        'no_consent',
        sustainsAccountActivity(held)
          ? `${key} need the scope ${scope}; user ${userId} allows the app ${describe(held)}.`
          : `Account activity needs OAuth 1.0a permission "read-write-directmessages" or the scopes dm.read dm.write tweet.read users.read; user ${userId} allows the app ${describe(held)}.`
      )
    )
  return reasons
}
