/** What account activity delivers of each event: `for_user_id`, exactly one array, and who is who. See docs/decisions/0067. */
import type { Scope } from '../identity/index.ts'
import { findIncludedPost, legacyPost, onlyId, type PostContext } from './account-activity-posts.ts'
import { likeId } from './envelope.ts'
import { type Facet, findIncluded, mentionedIds, type PublishedEvent } from './facets.ts'
import {
  eventUser,
  type FindUser,
  isObject,
  type Json,
  known,
  objectsIn,
  oldTime,
  postUser,
  textOf,
  unwrapped
} from './legacy.ts'
import { MESSAGE_KEYS, messageElement, parties } from './messages.ts'

export interface Group {
  /** The key of the array. */
  key: string
  /** What a user must have granted through OAuth 2.0 to have it delivered. */
  scope: Scope
}

const GROUPS: readonly [types: RegExp, group: Group][] = [
  [/^post\.((mention|reply|quote|repost)\.)?create$/, { key: 'tweet_create_events', scope: 'tweet.read' }],
  [/^post\.delete$/, { key: 'tweet_delete_events', scope: 'tweet.read' }],
  [/^like\.create$/, { key: 'favorite_events', scope: 'like.read' }],
  [/^follow\.(un)?follow$/, { key: 'follow_events', scope: 'follows.read' }],
  [/^block\.(un)?block$/, { key: 'block_events', scope: 'block.read' }],
  [/^mute\.(un)?mute$/, { key: 'mute_events', scope: 'mute.read' }],
  ...Object.entries(MESSAGE_KEYS).map(
    ([type, key]) => [new RegExp(`^${type.replace('.', '\\.')}$`), { key, scope: 'dm.read' }] as [RegExp, Group]
  )
]

/** Typing and reading are told to the other side only. */
const TOLD_TO_OTHERS = /^dm\.(read|indicate_typing)$/

/** To which group of account activity a facet belongs, if it is part of it at all. */
export function groupOf({ event_type, direction }: Pick<Facet, 'event_type' | 'direction'>): Group | undefined {
  if (TOLD_TO_OTHERS.test(event_type) && direction === 'outbound') return undefined
  return GROUPS.find(([types]) => types.test(event_type))?.[1]
}

export interface App {
  id: string
  name: string
}

/** What Herald knows of users and apps that a publisher did not send along. */
export interface Directory {
  users: ReadonlyMap<string, Json>
  apps: ReadonlyMap<string, App>
}

const apart = (value: unknown) => textOf(unwrapped(value)?.id)

/** Everybody whom the payload of an event names. */
export function peopleIn({ event_type, user_id, payload, includes }: PublishedEvent): string[] {
  const posts = [payload, ...objectsIn(includes?.tweets)]
  const { sender_id, recipient_id } = event_type.startsWith('dm.')
    ? parties({ event_type, user_id, payload, occurred_at: '' })
    : { sender_id: undefined, recipient_id: undefined }
  const ids = [
    user_id,
    sender_id,
    recipient_id,
    apart(payload.source),
    apart(payload.target),
    payload.liked_tweet_author_id,
    payload.tweet_author_id,
    ...posts.flatMap((post) => [post.author_id, post.in_reply_to_user_id, ...mentionedIds(post, includes)])
  ]
  return [...new Set(ids.flatMap((id) => textOf(id) ?? []))]
}

export const sourceAppOf = ({ payload }: PublishedEvent): string | undefined => {
  const [element] = objectsIn(payload.direct_message_events)
  return isObject(element?.message_create)
    ? textOf(element.message_create.source_app_id)
    : textOf(payload.source_app_id)
}

/** The array and the maps beside it, the same for everybody concerned. */
export function accountActivityContent(event: PublishedEvent, { key }: Group, directory: Directory): Json {
  const included = findIncluded(event.includes)
  const findUser: FindUser = (by) => included(by) ?? (by.id === undefined ? undefined : directory.users.get(by.id))
  const context: PostContext = { findUser, findPost: findIncludedPost(event.includes) }
  switch (key) {
    case 'tweet_create_events':
      return { [key]: [legacyPost(event.payload, context, Date.parse(event.occurred_at))] }
    case 'tweet_delete_events':
      return { [key]: [deletion(event)] }
    case 'favorite_events':
      return { [key]: [favorite(event, context)] }
    case 'follow_events':
    case 'block_events':
    case 'mute_events':
      return { [key]: [relation(event, findUser)] }
    default:
      return messages(event, key, findUser, directory)
  }
}

const deletion = ({ payload, user_id, occurred_at }: PublishedEvent): Json => ({
  status: { id: payload.id, user_id: payload.author_id ?? user_id },
  timestamp_ms: String(Date.parse(occurred_at))
})

function favorite(event: PublishedEvent, context: PostContext): Json {
  const { payload, user_id } = event
  const ms = Date.parse(event.occurred_at)
  const postId = String(payload.liked_tweet_id)
  const post = context.findPost(postId)
  const author = textOf(payload.liked_tweet_author_id) ?? textOf(payload.tweet_author_id)
  return {
    id: likeId(event),
    created_at: oldTime(ms),
    timestamp_ms: ms,
    favorited_status: post
      ? legacyPost(post, context)
      : {
          ...onlyId(postId),
          ...(author === undefined ? {} : { user: postUser(author, context.findUser({ id: author })) })
        },
    user: postUser(user_id!, context.findUser({ id: user_id! }))
  }
}

/** "unfollow uses the same key": the type says which it was. */
function relation({ event_type, payload, occurred_at }: PublishedEvent, findUser: FindUser): Json {
  const side = (user: unknown) => {
    const id = apart(user)!
    const told = unwrapped(user)!
    // A bare id says nothing that is not known better elsewhere.
    return eventUser(id, Object.keys(told).length > 1 ? told : (findUser({ id }) ?? told))
  }
  return {
    type: event_type.split('.')[1],
    created_timestamp: String(Date.parse(occurred_at)),
    source: side(payload.source),
    target: side(payload.target)
  }
}

function messages(event: PublishedEvent, key: string, findUser: FindUser, directory: Directory): Json {
  const { payload } = event
  const { sender_id, recipient_id } = parties(event)
  const told = isObject(payload.users) ? payload.users : {}
  const users = [...new Set([sender_id, recipient_id])].flatMap((id) =>
    id === undefined ? [] : [[id, eventUser(id, unwrapped(told[id]) ?? findUser({ id }))] as const]
  )
  const appId = sourceAppOf(event)
  const toldApps = isObject(payload.apps) ? payload.apps : {}
  const app = appId === undefined ? undefined : (toldApps[appId] ?? directory.apps.get(appId))
  return known({
    [key]: [messageElement(event, findUser)],
    apps: app === undefined ? undefined : { [appId!]: app },
    users: Object.fromEntries(users)
  })
}

/** Exactly the bytes to send to one user's subscriptions. `content` is the JSON of what everybody gets. */
export function accountActivityText(userId: string, facets: readonly Facet[], event: PublishedEvent, content: string) {
  const mentioned = facets.some((facet) => facet.event_type === 'post.mention.create')
  const head = {
    for_user_id: userId,
    ...(mentioned ? { user_has_blocked: event.payload.user_has_blocked === true } : {})
  }
  return `${JSON.stringify(head).slice(0, -1)},${content.slice(1)}`
}

/** The user took back what they had allowed the app. Not for a user, so there is no `for_user_id`. */
export const revokeNotice = (revoked: { app_id: string; user_id: string; revoked_at: string }) =>
  JSON.stringify({
    user_event: {
      revoke: {
        date_time: revokeTime(revoked.revoked_at),
        target: { app_id: revoked.app_id },
        source: { user_id: revoked.user_id }
      }
    }
  })

/** `2026-06-22T09:48:12+00:00` */
export const revokeTime = (iso: string) => `${iso.slice(0, 19)}+00:00`
