/** "Why was this event not delivered to this webhook?", in sentences. */
import { sql } from 'kysely'
import { type Clock, isoTime } from '../clock.ts'
import type { Db } from '../storage/db.ts'
import { idTime } from '../storage/ids.ts'
import { type DeliveryRecord, deliveriesOfEvent } from './records.ts'
import type { Webhook } from './webhooks.ts'

export const VERDICTS = [
  'delivered',
  'waiting',
  'retrying',
  'failed',
  'held',
  'not_matched',
  'webhook_registered_later',
  'event_unknown',
  'event_expired'
] as const
export type Verdict = (typeof VERDICTS)[number]

export interface Why {
  verdict: Verdict
  sentences: string[]
  deliveries: DeliveryRecord[]
  /** Where to ask next. */
  next?: string
}

export interface WhyOptions {
  db: Db
  clock: Clock
  retentionMs: number
}

const HOUR_MS = 3_600_000

/** When the event came in. The table belongs to whoever publishes; its time is all that matters here. */
async function eventTime(db: Db, id: string): Promise<string | undefined> {
  const { rows } = await sql<{ created_at: string }>`
    select created_at from events where id = ${id} order by created_at limit 1`.execute(db)
  return rows[0]?.created_at
}

export async function whyNotDelivered(
  { db, clock, retentionMs }: WhyOptions,
  webhook: Webhook,
  eventId: string
): Promise<Why> {
  const deliveries = await deliveriesOfEvent(db, { app_id: webhook.app_id, webhook_id: webhook.id }, eventId)
  if (deliveries.length > 0) {
    // Of several (one per subscription that matched) the least happy one is what the question is about.
    const worst = VERDICTS.findLast((verdict) => deliveries.some(({ state }) => state === verdict))!
    return {
      verdict: worst,
      sentences: [...countSentence(deliveries), ...deliveries.map((delivery) => fate(delivery, webhook, clock.now()))],
      deliveries,
      ...(worst === 'failed' || worst === 'held'
        ? { next: `POST /admin/deliveries/${deliveries.find(({ state }) => state === worst)!.id}/resend` }
        : {})
    }
  }
  const publishedAt = await eventTime(db, eventId)
  if (publishedAt === undefined) return { ...unknown(eventId, clock.now(), retentionMs), deliveries }
  if (webhook.created_at > publishedAt) {
    return {
      verdict: 'webhook_registered_later',
      sentences: [
        `The event was published at ${publishedAt}, and the webhook was registered only at ${webhook.created_at}; what happened before is never sent to it.`
      ],
      deliveries
    }
  }
  // What an event means to a subscription is for activity to say; here we only know where to ask.
  const subscriptions = `GET /admin/activity/subscriptions?app_id=${webhook.app_id}`
  return {
    verdict: 'not_matched',
    sentences: [
      `The event was published at ${publishedAt}, but no delivery to this webhook was made: no subscription, rule or link that pointed to the webhook at that time matched it.`,
      `${subscriptions} lists the subscriptions of its app, and GET /admin/activity/explain?event_id=${encodeURIComponent(eventId)}&subscription_id=… says why one of them did not match.`
    ],
    deliveries,
    next: subscriptions
  }
}

const countSentence = ({ length }: DeliveryRecord[]) =>
  length === 1 ? [] : [`The event led to ${length} deliveries to this webhook, one for each subscription that matched.`]

function unknown(eventId: string, nowMs: number, retentionMs: number): Pick<Why, 'verdict' | 'sentences'> {
  const kept = `Events and deliveries are kept for ${Math.round(retentionMs / HOUR_MS)} hours`
  const numeric = /^[0-9]{1,19}$/.test(eventId)
  const mintedMs = numeric ? idTime(BigInt(eventId)) : NaN
  if (mintedMs < nowMs - retentionMs && mintedMs > nowMs - 100 * 365 * 24 * HOUR_MS && eventId.length === 19)
    return {
      verdict: 'event_expired',
      sentences: [
        `There is no record of event ${eventId}; its id was made at ${isoTime(mintedMs)}. ${kept}, so it is too old to tell.`
      ]
    }
  return {
    verdict: 'event_unknown',
    sentences: [
      `There is no event ${eventId}. ${kept}; within that time it was never published here.`,
      ...(numeric ? [] : ['Ask by the id that POST /admin/events answered with, which is a number.'])
    ]
  }
}

/** What became of one delivery. */
function fate(delivery: DeliveryRecord, webhook: Webhook, nowMs: number): string {
  const { id, state, created_at, attempts, last_attempt_at, latency_ms, error, detail, status, next_attempt_at } =
    delivery
  const tries = attempts === 1 ? '1 attempt' : `${attempts} attempts`
  const last = [
    error,
    detail,
    status === null || detail?.includes(String(status)) ? undefined : `status ${status}`,
    latency_ms === null ? undefined : `after ${latency_ms} ms`
  ]
  const because = last.filter(Boolean).join(', ')
  if (state === 'delivered') return `Delivery ${id} was acknowledged at ${delivery.delivered_at}; it took ${tries}.`
  if (state === 'waiting')
    return webhook.valid
      ? `Delivery ${id} has been waiting for its first attempt since ${created_at}${nowMs - Date.parse(created_at) > 10_000 ? '; the webhook has a backlog, or no node delivers' : ''}.`
      : `Delivery ${id} waits, and the webhook is invalid since ${webhook.invalid_since}.`
  if (state === 'retrying')
    return `Delivery ${id} was not acknowledged in ${tries} (${because}); the next attempt is at ${next_attempt_at}.`
  if (state === 'held')
    return `Delivery ${id} is held: ${lower(detail)}. ${webhook.valid ? 'The webhook is valid again; a replay of that time or a resend delivers it.' : `The webhook is invalid since ${webhook.invalid_since} (${webhook.invalid_reason}); re-enable it with PUT /2/webhooks/${webhook.id}, then replay or resend.`}`
  return attempts === 0
    ? `Delivery ${id} failed without an attempt: ${lower(detail)}.`
    : `Delivery ${id} failed for good after ${tries}, the last at ${last_attempt_at} (${because}). A replay or a resend tries again.`
}

const lower = (text: string | null) => (text ?? '').replace(/^[A-Z](?=[a-z])/, (letter) => letter.toLowerCase())
