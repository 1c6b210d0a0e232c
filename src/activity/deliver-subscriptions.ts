/** The Activity API as a product: which subscriptions an event meets. Found by type and user, never by scanning. */
import { sql } from 'kysely'
import type { Db } from '../storage/db.ts'
import type { NewDelivery } from '../webhooks/index.ts'
import { activityEnvelope } from './envelope.ts'
import type { Incoming } from './events.ts'
import type { Facet, PublishedEvent } from './facets.ts'

export interface FoundSubscription {
  app_id: string
  id: string
  event_type: string
  event_type_given: string
  user_id: string | null
  keyword: string | null
  direction: 'inbound' | 'outbound' | null
  filter: unknown
  tag: string | null
  webhook_id: string | null
}

export interface Meeting {
  event: PublishedEvent
  facet: Facet
  subscription: FoundSubscription
}

/** One query for a whole batch. `appIds` narrows it to apps with open streams. */
export async function meetings(db: Db, incoming: readonly Incoming[], appIds?: readonly string[]): Promise<Meeting[]> {
  const byKey = new Map<string, { event: PublishedEvent; facet: Facet }[]>()
  for (const { event, facets } of incoming) {
    for (const facet of facets) {
      const key = `${facet.event_type} ${facet.user_id ?? ''}`
      byKey.set(key, [...(byKey.get(key) ?? []), { event, facet }])
    }
  }
  const facets = [...byKey.values()].map((entries) => entries[0]!.facet)
  const { rows } = await sql<FoundSubscription>`
    select s.app_id, s.id, s.event_type, s.event_type_given, s.user_id, s.keyword, s.direction, s.filter, s.tag, s.webhook_id
    from unnest(${facets.map((facet) => facet.event_type)}::text[], ${facets.map((facet) => facet.user_id)}::text[]) as k (event_type, user_id)
    join activity_subscriptions s on s.event_type = k.event_type and (s.user_id = k.user_id or s.user_id is null)
    ${appIds ? sql`where s.app_id = any(${appIds}::text[])` : sql``}`.execute(db)
  const found: Meeting[] = []
  const seen = new Set<string>()
  for (const subscription of rows) {
    const keys =
      subscription.user_id === null
        ? [...byKey.keys()].filter((key) => key.startsWith(`${subscription.event_type} `))
        : [`${subscription.event_type} ${subscription.user_id}`]
    for (const { event, facet } of keys.flatMap((key) => byKey.get(key) ?? [])) {
      const once = `${subscription.id} ${event.id} ${facet.direction}`
      if (seen.has(once) || !fits(subscription, event, facet)) continue
      seen.add(once)
      found.push({ event, facet, subscription })
    }
  }
  return found
}

/** The filters beyond type and user. */
export function fits({ keyword, direction }: FoundSubscription, event: PublishedEvent, facet: Facet) {
  return (
    (direction === null || direction === facet.direction) &&
    (keyword === null || mentionsKeyword(event, keyword)) &&
    !isProtected(event, facet)
  )
}

/** Posts of protected accounts are never delivered. */
export function isProtected(event: PublishedEvent, { event_type }: Facet) {
  if (!event_type.startsWith('post.')) return false
  const author = event.includes?.users?.find((user) => user.id === event.payload.author_id)
  return author?.protected === true
}

/** Whether the words of the keyword occur in the texts of the payload, next to each other, as whole words. */
export function mentionsKeyword(event: PublishedEvent, keyword: string) {
  const words = ` ${textsOf(event.payload).join(' ')} `
  return normalised(words).includes(normalised(keyword))
}

const normalised = (text: string) =>
  ` ${text
    .toLowerCase()
    .normalize('NFC')
    .split(/[^\p{L}\p{N}\p{M}_]+/u)
    .filter(Boolean)
    .join(' ')} `

const TEXT_KEYS = new Set([
  'text',
  'name',
  'headline',
  'hook',
  'summary',
  'title',
  'before',
  'after',
  'description',
  'category',
  'full_text'
])

function textsOf(value: unknown, depth = 0): string[] {
  if (value === null || typeof value !== 'object' || depth > 4) return []
  return Object.entries(value).flatMap(([key, child]) =>
    typeof child === 'string' ? (TEXT_KEYS.has(key) ? [child] : []) : textsOf(child, depth + 1)
  )
}

export async function subscriptionDeliveries(tx: Db, incoming: readonly Incoming[]): Promise<NewDelivery[]> {
  const found = await meetings(tx, incoming)
  return found
    .filter(({ subscription }) => subscription.webhook_id !== null)
    .map(({ event, facet, subscription }) => ({
      app_id: subscription.app_id,
      webhook_id: subscription.webhook_id!,
      event_id: event.id,
      kind: 'activity',
      body: JSON.stringify(activityEnvelope(event, facet.event_type, subscription))
    }))
}
