/** The Activity API as a product: which subscriptions an event meets. Found by type and user, never by scanning. */
import { sql } from 'kysely'
import { heldAuthorizations, isOfActiveApp } from '../identity/index.ts'
import type { Db } from '../storage/db.ts'
import type { NewDelivery } from '../webhooks/index.ts'
import { consents } from './consent.ts'
import { activityText } from './envelope.ts'
import { eventTypeNamed } from './event-types.ts'
import type { Incoming } from './events.ts'
import { type Facet, findIncluded, type PublishedEvent } from './facets.ts'
import { mentionsKeyword, termsOf } from './keywords.ts'
import { textOf } from './legacy.ts'

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
  consent_user_id: string | null
}

export interface Meeting {
  event: PublishedEvent
  facet: Facet
  subscription: FoundSubscription
}

/** Herald tells it by itself when a user takes back what they had allowed an app; nobody publishes it. */
export const REVOKE_EVENT = 'oauth.revoke'
export const REVOKE_SUBSCRIPTION: Omit<FoundSubscription, 'app_id'> = {
  id: '',
  event_type: REVOKE_EVENT,
  event_type_given: REVOKE_EVENT,
  user_id: null,
  keyword: null,
  direction: null,
  filter: {},
  tag: null,
  webhook_id: null,
  consent_user_id: null
}

const COLUMNS = sql.raw(
  ['app_id', 'id', 'event_type', 'event_type_given', 'user_id', 'keyword', 'direction', 'filter', 'tag', 'webhook_id']
    .concat('consent_user_id')
    .map((column) => `s.${column}`)
    .join(', ')
)

interface Concerned extends Incoming {
  facet: Facet
}

const keyOf = ({ event_type, user_id }: { event_type: string; user_id: string | null }) => `${event_type} ${user_id}`

/** What subscriptions ask for, as far as it stands in an index. `appIds` narrows it to apps with open streams. */
async function found(db: Db, concerned: readonly Concerned[], appIds?: readonly string[]) {
  const byUser = [...new Map(concerned.map(({ facet }) => [keyOf(facet), facet])).values()]
  const byKeyword = concerned.filter(({ facet }) => eventTypeNamed(facet.event_type)?.filter === 'keyword')
  const terms = byKeyword.flatMap(({ event, facet }) =>
    termsOf(event).map((term) => ({ event_type: facet.event_type, term }))
  )
  const ofApps = sql`and ${isOfActiveApp('s.app_id')} ${appIds ? sql`and s.app_id = any(${appIds}::text[])` : sql``}`
  const { rows } = await sql<FoundSubscription>`
    select ${COLUMNS}
    from unnest(${byUser.map((facet) => facet.event_type)}::text[], ${byUser.map((facet) => facet.user_id)}::text[]) as k (event_type, user_id)
    join activity_subscriptions s on s.event_type = k.event_type and s.user_id = k.user_id ${ofApps}`.execute(db)
  if (terms.length === 0) return rows
  const { rows: more } = await sql<FoundSubscription>`
    select distinct ${COLUMNS}
    from unnest(${terms.map((each) => each.event_type)}::text[], ${terms.map((each) => each.term)}::text[]) as k (event_type, term)
    join activity_subscriptions s on s.event_type = k.event_type and s.keyword_term = k.term and s.user_id is null ${ofApps}`.execute(
    db
  )
  return [...rows, ...more]
}

/** Who gets which event. Each subscription gets an event once, however many sides of it concern its user. */
export async function meetings(db: Db, incoming: readonly Incoming[], appIds?: readonly string[]): Promise<Meeting[]> {
  const concerned = incoming.flatMap((each) => each.facets.map((facet) => ({ ...each, facet })))
  const byKey = Map.groupBy(concerned, ({ facet }) => keyOf(facet))
  const byType = Map.groupBy(concerned, ({ facet }) => facet.event_type)
  const met: Meeting[] = []
  const seen = new Set<string>()
  for (const subscription of await found(db, concerned, appIds)) {
    const near = subscription.user_id === null ? byType.get(subscription.event_type) : byKey.get(keyOf(subscription))
    for (const one of near ?? []) {
      const once = `${subscription.id} ${one.event.id}`
      if (seen.has(once) || !fits(subscription, one, one.facet)) continue
      seen.add(once)
      met.push({ event: one.event, facet: one.facet, subscription })
    }
  }
  return [...(await withConsent(db, met)), ...incoming.flatMap((each) => revocation(each, appIds))]
}

/** Told to the app whose user it is, without a subscription. */
function revocation({ event, facets }: Incoming, appIds: readonly string[] | undefined): Meeting[] {
  const app_id = textOf(event.payload.app_id)
  const [facet] = facets
  if (event.event_type !== REVOKE_EVENT || app_id === undefined || !facet || appIds?.includes(app_id) === false)
    return []
  return [{ event, facet, subscription: { ...REVOKE_SUBSCRIPTION, app_id } }]
}

/** Private events never without the consent of their user, also in the moment between its end and that of the subscription. */
async function withConsent(db: Db, met: Meeting[]): Promise<Meeting[]> {
  const pairs = met.flatMap(({ subscription: { app_id, consent_user_id } }) =>
    consent_user_id === null ? [] : [{ app_id, user_id: consent_user_id }]
  )
  if (pairs.length === 0) return met
  const held = await heldAuthorizations(db, pairs)
  return met.filter(({ facet, subscription: { app_id, consent_user_id } }) => {
    if (consent_user_id === null) return true
    return consents(eventTypeNamed(facet.event_type)!, held({ app_id, user_id: consent_user_id }))
  })
}

/** The filters beyond type and user. */
export const fits = (
  subscription: Pick<FoundSubscription, 'direction' | 'keyword'>,
  incoming: Incoming,
  facet: Facet
) =>
  fitsDirection(subscription, facet) &&
  (subscription.keyword === null || mentionsKeyword(incoming.event, subscription.keyword)) &&
  !(incoming.protectedAuthor ?? isProtected(incoming.event, facet))

/** An event without a direction, such as a group that was renamed, passes every filter of directions. */
export const fitsDirection = ({ direction }: Pick<FoundSubscription, 'direction'>, facet: Facet) =>
  direction === null || facet.direction === null || direction === facet.direction

/** Posts of protected accounts are never delivered. */
export function isProtected({ includes, payload }: PublishedEvent, { event_type }: Pick<Facet, 'event_type'>) {
  if (!event_type.startsWith('post.')) return false
  return findIncluded(includes)({ id: textOf(payload.author_id) })?.protected === true
}

export async function subscriptionDeliveries(tx: Db, incoming: readonly Incoming[]): Promise<NewDelivery[]> {
  const texts = new Map<string, ReturnType<typeof activityText>>()
  const deliveries: NewDelivery[] = []
  for (const { event, facet, subscription } of await meetings(tx, incoming)) {
    const { app_id, webhook_id } = subscription
    if (webhook_id === null) continue
    const key = `${event.id} ${facet.event_type}`
    let textFor = texts.get(key)
    if (!textFor) {
      textFor = activityText(event, facet.event_type)
      texts.set(key, textFor)
    }
    deliveries.push({ app_id, webhook_id, event_id: event.id, kind: 'activity', body: textFor(subscription) })
  }
  return deliveries
}
