/** Account activity as a product: one delivery per subscribed user concerned, in the older shapes. */
import { sql } from 'kysely'
import { type Clock, isoTime } from '../clock.ts'
import { findApps, findUsers, heldAuthorizations, isOfActiveApp } from '../identity/index.ts'
import type { Db } from '../storage/db.ts'
import type { NewDelivery } from '../webhooks/index.ts'
import {
  accountActivityContent,
  accountActivityText,
  type Directory,
  type Group,
  groupOf,
  peopleIn,
  sourceAppOf
} from './account-activity-payloads.ts'
import { mayReceive } from './consent.ts'
import type { Incoming, Product } from './events.ts'
import { type Facet, findIncluded, type PublishedEvent } from './facets.ts'
import { type Json, textOf } from './legacy.ts'

export interface AccountSubscription {
  app_id: string
  webhook_id: string
  user_id: string
}

/** An event, one user whom it concerns, and all the ways in which it does. */
export interface Concern {
  event: PublishedEvent
  user_id: string
  facets: Facet[]
  group: Group
}

/** Whom an event is told by account activity. A protected author's posts only to the author. */
export function concernsOf({ event, facets, protectedAuthor }: Incoming): Concern[] {
  const concerns = new Map<string, Concern>()
  for (const facet of facets) {
    const group = groupOf(facet)
    if (!group || facet.user_id === null) continue
    if (protectedAuthor && facet.user_id !== textOf(event.payload.author_id)) continue
    const concern = concerns.get(facet.user_id)
    if (concern) concern.facets.push(facet)
    else concerns.set(facet.user_id, { event, user_id: facet.user_id, facets: [facet], group })
  }
  return [...concerns.values()]
}

const findSubscriptions = async (db: Db, userIds: readonly string[]) => {
  const { rows } = await sql<AccountSubscription>`
    select app_id, webhook_id, user_id from account_activity_subscriptions
    where user_id = any(${userIds}::text[]) and ${isOfActiveApp('app_id')}`.execute(db)
  return rows
}

export const accountActivityProduct =
  (clock: Clock): Product =>
  async (tx, incoming) => {
    const concerns = incoming.flatMap(concernsOf)
    if (concerns.length === 0) return []
    const subscriptions = await findSubscriptions(tx, [...new Set(concerns.map((concern) => concern.user_id))])
    if (subscriptions.length === 0) return []
    const held = await heldAuthorizations(tx, subscriptions)
    const byUser = Map.groupBy(subscriptions, (subscription) => subscription.user_id)
    const met = concerns.flatMap((concern) => {
      const to = (byUser.get(concern.user_id) ?? []).filter((each) => mayReceive(concern.group.scope, held(each)))
      return to.length === 0 ? [] : [{ ...concern, to }]
    })
    const untold = await notToldBefore(tx, met, isoTime(clock.now()))
    const directory = await directoryFor(
      tx,
      untold.map(({ event }) => event)
    )
    return deliveriesOf(untold, directory)
  }

/**
 * A post may be published as such and again as a mention or reply of somebody; they see it once. Authors need no name: what
 * concerns them is the post itself.
 */
async function notToldBefore<T extends Concern>(tx: Db, concerns: T[], createdAt: string): Promise<T[]> {
  const nameOf = ({ event, group, user_id }: T) =>
    group.key === 'tweet_create_events' && user_id !== event.payload.author_id
      ? `account_activity ${event.payload.id} ${user_id}`
      : undefined
  const names = [...new Set(concerns.flatMap((concern) => nameOf(concern) ?? []))].sort()
  if (names.length === 0) return concerns
  const eventIds = new Map<string, string>()
  for (const concern of concerns) {
    const name = nameOf(concern)
    if (name !== undefined && !eventIds.has(name)) eventIds.set(name, concern.event.id)
  }
  const { rows } = await sql<{ name: string }>`
    insert into published_names (name, event_id, created_at)
    select name, event_id, ${createdAt} from unnest(${names}::text[], ${names.map((name) => eventIds.get(name)!)}::text[]) as t (name, event_id)
    on conflict do nothing returning name`.execute(tx)
  const won = new Set(rows.map((row) => row.name))
  return concerns.filter((concern) => {
    const name = nameOf(concern)
    // Taken by the first concern with this name; a second one in the same batch finds it gone.
    return name === undefined || won.delete(name)
  })
}

/** What Herald knows of people and apps that the publisher did not describe. */
async function directoryFor(db: Db, events: readonly PublishedEvent[]): Promise<Directory> {
  const distinct = [...new Set(events)]
  const people = distinct.flatMap((event) => {
    const find = findIncluded(event.includes)
    return peopleIn(event).filter((id) => !find({ id }))
  })
  const appIds = distinct.flatMap((event) => sourceAppOf(event) ?? [])
  const users = people.length === 0 ? [] : await findUsers(db, [...new Set(people)])
  const apps = appIds.length === 0 ? [] : await findApps(db, [...new Set(appIds)])
  return {
    users: new Map(
      users.map(({ id, username, name, protected: isProtected, created_at, profile }): [string, Json] => [
        id,
        { created_at, ...profile, id, username, name, protected: isProtected }
      ])
    ),
    apps: new Map(apps.map(({ id, name }) => [id, { id, name }]))
  }
}

function deliveriesOf(met: readonly (Concern & { to: AccountSubscription[] })[], directory: Directory): NewDelivery[] {
  const contents = new Map<PublishedEvent, string>()
  return met.flatMap(({ event, user_id, facets, group, to }) => {
    let content = contents.get(event)
    if (content === undefined) {
      content = JSON.stringify(accountActivityContent(event, group, directory))
      contents.set(event, content)
    }
    const body = accountActivityText(user_id, facets, event, content)
    return to.map(({ app_id, webhook_id }) => ({
      app_id,
      webhook_id,
      event_id: event.id,
      kind: 'account_activity',
      body
    }))
  })
}
