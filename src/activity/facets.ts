/**
 * Whom an event concerns. A post that mentions somebody is a `post.create` of its author and a `post.mention.create` of the
 * one it mentions; a message is sent by one and received by another. Publishers tell it once; see docs/decisions/0035.
 */
import { entitiesIn, type FindUser, isObject, type Json, objectsIn, textOf, unwrapped } from './legacy.ts'
import { isParticipantChange, messageOf, parties } from './messages.ts'

export interface PublishedEvent {
  id: string
  event_type: string
  user_id: string | null
  payload: Record<string, unknown>
  includes: Includes | null
  /** ISO 8601. */
  occurred_at: string
}

export interface Includes {
  users?: Record<string, unknown>[]
  tweets?: Record<string, unknown>[]
  [more: string]: unknown
}

export type Direction = 'inbound' | 'outbound'

/** One event as it looks to one user. The first facet is the event itself. */
export interface Facet {
  event_type: string
  user_id: string | null
  direction: Direction | null
  /** A name under which the same thing may also be published on its own; null if it cannot. */
  name: string | null
}

const idOf = (value: unknown) => textOf(unwrapped(value)?.id)

/** Users that came with the event, by id or by @name. */
export const findIncluded =
  (includes: Includes | null): FindUser =>
  ({ id, username }) => {
    const folded = username?.toLowerCase()
    return objectsIn(includes?.users)
      .map((user) => unwrapped(user)!)
      .find((user) =>
        id === undefined ? folded !== undefined && textOf(user.username)?.toLowerCase() === folded : user.id === id
      )
  }

/** Whom a payload says it is about; what `user_id` says must not contradict it, as others would be told otherwise. */
export function subjectOf(event_type: string, payload: Json): string | undefined {
  if (event_type === 'post.create' || event_type === 'post.delete') return textOf(payload.author_id)
  if (/^(follow|mute|block)\./.test(event_type)) return idOf(payload.source)
  if (event_type === 'chat.sent') return textOf(payload.sender_id)
  if (/^spaces\./.test(event_type)) return idOf(payload.user)
  if (!event_type.startsWith('dm.') || isParticipantChange(payload)) return undefined
  const { sender_id, recipient_id } = messageOf({ event_type, payload })
  return event_type === 'dm.sent' ? sender_id : recipient_id
}

/** A follow is about both; everything else that names its subject is about that one alone. */
export const subjectIsCertain = (event_type: string) => !event_type.startsWith('follow.')

const DIRECTIONS: Record<string, Direction> = {
  'dm.sent': 'outbound',
  'dm.received': 'inbound',
  'dm.read': 'inbound',
  'dm.indicate_typing': 'inbound',
  'chat.sent': 'outbound',
  'chat.received': 'inbound'
}

export function facetsOf(event: PublishedEvent): Facet[] {
  const { event_type } = event
  const own: Facet = {
    event_type,
    user_id: event.user_id,
    direction: DIRECTIONS[event_type] ?? null,
    name: ownName(event)
  }
  if (event_type === 'post.create') return [own, ...postFacets(event)]
  if (event_type === 'like.create') return likeFacets(event, own)
  if (event_type.startsWith('follow.')) return relationFacets(event, own)
  if (event_type.startsWith('dm.')) return [own, ...messageFacets(event)]
  if (event_type === 'chat.sent' || event_type === 'chat.received') return [own, ...chatFacets(event)]
  return [own]
}

const nameOf = (event_type: string, id: unknown, user_id: string | null) =>
  typeof id === 'string' ? `${event_type} ${id.slice(0, 100)} ${user_id}` : null

/** Events that can also be told by another one carry the same name in both cases, and so happen once. */
function ownName({ event_type, user_id, payload }: PublishedEvent): string | null {
  if (/^post\.(mention|reply|quote|repost)\.create$|^chat\.(sent|received)$/.test(event_type))
    return nameOf(event_type, payload.id, user_id)
  return /^dm\.(sent|received)$/.test(event_type)
    ? nameOf(event_type, messageOf({ event_type, payload }).id, user_id)
    : null
}

/** Ids of those whom a post mentions. Without entities the text speaks for itself, as far as the users are included. */
export function mentionedIds(post: Json, includes: Includes | null): string[] {
  const find = findIncluded(includes)
  const mentions = isObject(post.entities)
    ? objectsIn(post.entities.mentions)
    : entitiesIn(textOf(post.text) ?? '').mentions
  return [
    ...new Set(
      mentions.flatMap(
        (mention) => textOf(mention.id) ?? textOf(find({ username: textOf(mention.username) })?.id) ?? []
      )
    )
  ]
}

/** Users that a post mentions, replies to, quotes or reposts, other than its author. */
function postFacets({ payload, includes }: PublishedEvent): Facet[] {
  const { id, author_id } = payload
  const facet = (event_type: string, user_id: string | undefined): Facet[] =>
    user_id !== undefined && user_id !== author_id
      ? [{ event_type, user_id, direction: null, name: nameOf(event_type, id, user_id) }]
      : []
  const authorOf = (postId: unknown) =>
    textOf(objectsIn(includes?.tweets).find((tweet) => tweet.id === postId)?.author_id)
  const referenced = objectsIn(payload.referenced_tweets)
  const typed = (type: string) =>
    referenced.filter((reference) => reference.type === type).map(({ id }) => authorOf(id))
  const repost = referenced.some(({ type }) => type === 'retweeted')
  return [
    // The text of a repost is somebody else's; whoever that one mentioned was told then.
    ...(repost ? [] : mentionedIds(payload, includes)).flatMap((user) => facet('post.mention.create', user)),
    ...facet('post.reply.create', textOf(payload.in_reply_to_user_id) ?? typed('replied_to')[0]),
    ...typed('quoted').flatMap((user) => facet('post.quote.create', user)),
    ...typed('retweeted').flatMap((user) => facet('post.repost.create', user))
  ]
}

function likeFacets({ payload }: PublishedEvent, own: Facet): Facet[] {
  const author = textOf(payload.liked_tweet_author_id) ?? textOf(payload.tweet_author_id)
  return [
    { ...own, direction: 'outbound' },
    ...(author === undefined ? [] : [{ ...own, user_id: author, direction: 'inbound' as const }])
  ]
}

function relationFacets({ payload }: PublishedEvent, own: Facet): Facet[] {
  return [
    { ...own, user_id: idOf(payload.source)!, direction: 'outbound' },
    { ...own, user_id: idOf(payload.target)!, direction: 'inbound' }
  ]
}

/** Whoever sent it has sent it, whoever it is for has received it; who types or reads does so, too. */
function messageFacets(event: PublishedEvent): Facet[] {
  const { event_type, payload } = event
  if (isParticipantChange(payload)) return []
  const { id, sender_id, recipient_id } = parties(event)
  if (event_type === 'dm.read' || event_type === 'dm.indicate_typing')
    return sender_id === undefined ? [] : [{ event_type, user_id: sender_id, direction: 'outbound', name: null }]
  const [other, user_id, direction] =
    event_type === 'dm.sent'
      ? (['dm.received', recipient_id, 'inbound'] as const)
      : (['dm.sent', sender_id, 'outbound'] as const)
  return user_id === undefined ? [] : [{ event_type: other, user_id, direction, name: nameOf(other, id, user_id) }]
}

/** A chat of two is named after both: `42:43`. */
function chatFacets({ event_type, user_id, payload }: PublishedEvent): Facet[] {
  const [, one, two] = /^(\d{1,19}):(\d{1,19})$/.exec(textOf(payload.conversation_id) ?? '') ?? []
  const other = user_id === one ? two : user_id === two ? one : undefined
  if (other === undefined) return []
  const [type, direction] =
    event_type === 'chat.sent' ? (['chat.received', 'inbound'] as const) : (['chat.sent', 'outbound'] as const)
  return [{ event_type: type, user_id: other, direction, name: nameOf(type, payload.id, other) }]
}
