/** What the Activity API delivers, the same on webhooks and streams. */
import { createHash } from 'node:crypto'
import { findIncluded, type Includes, type PublishedEvent } from './facets.ts'
import { isObject, type Json, known, textOf, unwrapped } from './legacy.ts'
import { MESSAGE_KEYS, messageElement, parties } from './messages.ts'

const wrapped = (user: unknown) => ({ data: unwrapped(user) })

/** Shapes as clients of this API know them; what a publisher sends is passed on otherwise. */
export function activityPayload(event: PublishedEvent, eventType: string): Json {
  const { payload, user_id, occurred_at } = event
  if (/^(follow|mute|block)\./.test(eventType))
    return { ...payload, source: wrapped(payload.source), target: wrapped(payload.target) }
  if (eventType.startsWith('dm.')) return messagePayload(event, eventType)
  if (eventType === 'like.create') {
    return known({
      id: likeId(event),
      created_at: occurred_at,
      timestamp_ms: String(Date.parse(occurred_at)),
      ...payload,
      liked_tweet_author_id: payload.liked_tweet_author_id ?? payload.tweet_author_id
    })
  }
  if (eventType === 'post.delete') return { ...payload, author_id: payload.author_id ?? user_id }
  if (/^(spaces|broadcast)\.(start|end)$/.test(eventType)) {
    const user = payload.user ?? findIncluded(event.includes)({ id: user_id ?? '' })
    return {
      ...(user ? { user: wrapped(user) } : {}),
      ...without(payload, 'user'),
      event_type: eventType.replace('.', '_')
    }
  }
  return payload
}

/** Of likes that come without one: 32 hexadecimal digits, the same whoever is told. */
export const likeId = ({ id, payload }: PublishedEvent) =>
  textOf(payload.id) ?? createHash('md5').update(`like ${id}`).digest('hex')

const without = ({ ...copy }: Json, key: string) => {
  delete copy[key]
  return copy
}

/** The element of account activity, with the users as v2 objects. */
function messagePayload(event: PublishedEvent, eventType: string): Json {
  const find = findIncluded(event.includes)
  const { sender_id, recipient_id } = parties(event)
  const told = isObject(event.payload.users) ? event.payload.users : {}
  const users = [sender_id, recipient_id].flatMap((id) => {
    const user = id === undefined ? undefined : (told[id] ?? find({ id }))
    return user ? [[id, wrapped(user)]] : []
  })
  return { [MESSAGE_KEYS[eventType]!]: [messageElement(event, find)], users: Object.fromEntries(users) }
}

/** `post.delete` wraps its users; everything else has them flat. */
const activityIncludes = (includes: Includes, eventType: string): Includes =>
  includes.users
    ? {
        ...includes,
        users: includes.users.map((user) => (eventType === 'post.delete' ? wrapped(user) : unwrapped(user)!))
      }
    : includes

export interface Addressee {
  event_type_given: string
  filter: unknown
  tag: string | null
}

const content = (event: PublishedEvent, eventType: string) => ({
  payload: activityPayload(event, eventType),
  ...(event.includes ? { includes: activityIncludes(event.includes, eventType) } : {})
})

const address = (event: PublishedEvent, { event_type_given, filter, tag }: Addressee) => ({
  event_uuid: event.id,
  filter,
  event_type: event_type_given,
  ...(tag === null ? {} : { tag })
})

export const activityEnvelope = (event: PublishedEvent, eventType: string, to: Addressee) => ({
  data: { ...address(event, to), ...content(event, eventType) }
})

/** The envelope as JSON, for many addressees: what is the same for all of them is written once. */
export function activityText(event: PublishedEvent, eventType: string): (to: Addressee) => string {
  const rest = JSON.stringify(content(event, eventType)).slice(1)
  return (to) => `{"data":${JSON.stringify(address(event, to)).slice(0, -1)},${rest}}`
}
