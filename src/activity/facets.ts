/**
 * Whom an event concerns. A post that mentions somebody is a `post.create` of its author and a `post.mention.create` of the
 * one it mentions; a message is sent by one and received by another. Publishers tell it once; see docs/decisions/0035.
 */
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

/** One event as it looks to one user. */
export interface Facet {
  event_type: string
  user_id: string | null
  direction: 'inbound' | 'outbound' | null
  /** A name under which the same thing may also be published on its own; null for the event itself. */
  name: string | null
}

const text = (value: unknown) => (typeof value === 'string' ? value : undefined)
const idOf = (value: unknown): string | undefined => {
  if (value === null || typeof value !== 'object') return undefined
  const { id, data } = value as { id?: unknown; data?: unknown }
  return text(id) ?? idOf(data)
}

const DIRECTIONS: Record<string, 'inbound' | 'outbound'> = {
  'dm.sent': 'outbound',
  'dm.received': 'inbound',
  'dm.read': 'inbound',
  'dm.indicate_typing': 'inbound',
  'chat.sent': 'outbound',
  'chat.received': 'inbound'
}

export function facetsOf(event: PublishedEvent): Facet[] {
  const { event_type, payload } = event
  const own: Facet = {
    event_type,
    user_id: event.user_id,
    direction: DIRECTIONS[event_type] ?? null,
    name: ownName(event)
  }
  if (event_type === 'post.create') return [own, ...postFacets(event)]
  if (event_type === 'like.create') return likeFacets(event, own)
  if (event_type.startsWith('follow.')) return relationFacets(event, own)
  if (event_type === 'dm.sent' || event_type === 'dm.received') return [own, ...messageFacets(event)]
  return payload ? [own] : []
}

/** Events that can also be told by another one carry the same name in both cases, and so happen once. */
function ownName({ event_type, user_id, payload }: PublishedEvent): string | null {
  const derivable = /^post\.(mention|reply|quote|repost)\.create$|^dm\.(sent|received)$/.test(event_type)
  const id = messageOf(payload)?.id ?? text(payload.id)
  return derivable && id ? `${event_type} ${id} ${user_id}` : null
}

/** Users that a post mentions, replies to, quotes or reposts, other than its author. */
function postFacets({ payload, includes }: PublishedEvent): Facet[] {
  const id = text(payload.id)
  const author = text(payload.author_id)
  const facet = (event_type: string, user_id: string | undefined): Facet[] =>
    user_id !== undefined && user_id !== author
      ? [{ event_type, user_id, direction: null, name: `${event_type} ${id} ${user_id}` }]
      : []
  const mentions = ((payload.entities as { mentions?: { id?: string }[] } | undefined)?.mentions ?? []).map((mention) =>
    text(mention.id)
  )
  const authorOf = (postId: unknown) => text(includes?.tweets?.find((tweet) => tweet.id === postId)?.author_id)
  const referenced = (payload.referenced_tweets as { type?: string; id?: string }[] | undefined) ?? []
  const typed = (type: string) =>
    referenced.filter((reference) => reference.type === type).map((reference) => authorOf(reference.id))
  const replied = text(payload.in_reply_to_user_id) ?? typed('replied_to')[0]
  return [
    ...new Set(mentions).values().flatMap((user) => facet('post.mention.create', user)),
    ...facet('post.reply.create', replied),
    ...typed('quoted').flatMap((user) => facet('post.quote.create', user)),
    ...typed('retweeted').flatMap((user) => facet('post.repost.create', user))
  ]
}

function likeFacets({ user_id, payload }: PublishedEvent, own: Facet): Facet[] {
  const author = text(payload.liked_tweet_author_id) ?? text(payload.tweet_author_id)
  if (author === undefined || author === user_id) return [{ ...own, direction: author === user_id ? null : 'outbound' }]
  return [
    { ...own, direction: 'outbound' },
    { ...own, user_id: author, direction: 'inbound' }
  ]
}

function relationFacets({ payload }: PublishedEvent, own: Facet): Facet[] {
  const source = idOf(payload.source)
  const target = idOf(payload.target)
  return [
    { ...own, user_id: source ?? own.user_id, direction: 'outbound' },
    ...(target === undefined ? [] : [{ ...own, user_id: target, direction: 'inbound' as const }])
  ]
}

export interface DirectMessage {
  id?: string
  sender_id?: string
  recipient_id?: string
}

/** A message in either form: flat, or as the element of `direct_message_events`. */
export function messageOf(payload: Record<string, unknown>): DirectMessage | undefined {
  const [legacy] = (payload.direct_message_events as Record<string, unknown>[] | undefined) ?? []
  if (!legacy)
    return payload.sender_id === undefined
      ? undefined
      : { id: text(payload.id), sender_id: text(payload.sender_id), recipient_id: text(payload.recipient_id) }
  const create = legacy.message_create as { sender_id?: string; target?: { recipient_id?: string } } | undefined
  return { id: text(legacy.id), sender_id: create?.sender_id, recipient_id: create?.target?.recipient_id }
}

/** Whoever sent it has sent it, whoever it is for has received it. */
function messageFacets(event: PublishedEvent): Facet[] {
  const message = messageOf(event.payload)
  const [event_type, user_id, direction] =
    event.event_type === 'dm.sent'
      ? (['dm.received', message?.recipient_id, 'inbound'] as const)
      : (['dm.sent', message?.sender_id, 'outbound'] as const)
  return user_id === undefined || user_id === event.user_id
    ? []
    : [{ event_type, user_id, direction, name: message?.id ? `${event_type} ${message.id} ${user_id}` : null }]
}
