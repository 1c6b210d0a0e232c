/** The event types: what each is called, who may ask for it, what its payload must hold. One table. */
import { type TSchema, Type } from 'typebox'
import type { Scope } from '../identity/index.ts'

export interface EventType {
  name: string
  /** Other spellings that are accepted; a subscription echoes the one it was made with. */
  aliases?: readonly string[]
  /** Public ones need no user's consent. */
  visibility: 'public' | 'private'
  /** What a user must have granted for a private one, through OAuth 2.0. */
  scope?: Scope
  /** What a filter must name. */
  filter: 'user_id' | 'keyword'
  /** Whether `direction` means anything. */
  direction?: boolean
  payload: TSchema
  about: string
}

const Anything = Type.Object({}, { additionalProperties: true })
const Id = Type.String({ pattern: '^[0-9]{1,19}$' })
const Text = Type.String()
const open = { additionalProperties: true }
const User = Type.Object({ id: Id }, open)
/** As it is, or wrapped in `data` as some producers do. */
const AnyUser = Type.Union([User, Type.Object({ data: User }, open)])
/** Producers say "none" by leaving a field out or by null. */
const Maybe = <T extends TSchema>(schema: T) => Type.Optional(Type.Union([schema, Type.Null()]))
const Mention = Type.Object({ id: Type.Optional(Id), username: Type.Optional(Text) }, open)
export const Post = Type.Object(
  {
    id: Id,
    text: Text,
    author_id: Id,
    in_reply_to_user_id: Maybe(Id),
    referenced_tweets: Maybe(Type.Array(Type.Object({ type: Text, id: Id }, open))),
    entities: Maybe(Type.Object({ mentions: Maybe(Type.Array(Mention)) }, open))
  },
  open
)
const Change = Type.Object({ before: Maybe(Text), after: Maybe(Text) }, open)
const Relation = Type.Object({ source: AnyUser, target: AnyUser }, open)
const Elements = Type.Optional(Type.Array(Anything, { minItems: 1, maxItems: 1 }))
/** Flat, as a v2 direct message event, or with one element in the older shape. */
const Message = Type.Object(
  {
    id: Type.Optional(Id),
    sender_id: Type.Optional(Id),
    recipient_id: Type.Optional(Id),
    text: Type.Optional(Text),
    participant_ids: Type.Optional(Type.Array(Id)),
    direct_message_events: Elements,
    direct_message_mark_read_events: Elements,
    direct_message_indicate_typing_events: Elements
  },
  open
)

const profile = (name: string, about: string, aliases?: readonly string[]): EventType => ({
  name: `profile.update.${name}`,
  ...(aliases ? { aliases: aliases.map((alias) => `profile.update.${alias}`) } : {}),
  visibility: 'public',
  filter: 'user_id',
  payload: Change,
  about
})
const post = (name: string, about: string): EventType => ({
  name,
  visibility: 'private',
  scope: 'tweet.read',
  filter: 'user_id',
  payload: Post,
  about
})
const relation = (name: string, scope: Scope, about: string, direction = false): EventType => ({
  name,
  visibility: 'private',
  scope,
  filter: 'user_id',
  ...(direction ? { direction } : {}),
  payload: Relation,
  about
})
const message = (name: string, about: string): EventType => ({
  name,
  visibility: 'private',
  scope: 'dm.read',
  filter: 'user_id',
  direction: true,
  payload: Message,
  about
})
const chat = (name: string, about: string, aliases?: readonly string[]): EventType => ({
  name,
  ...(aliases ? { aliases } : {}),
  visibility: 'private',
  scope: 'dm.read',
  filter: 'user_id',
  direction: true,
  payload: Anything,
  about
})
const broadcast = (name: string, visibility: 'public' | 'private', about: string): EventType => ({
  name,
  visibility,
  ...(visibility === 'private' ? { scope: 'broadcast.read' as Scope } : {}),
  filter: 'user_id',
  payload: Anything,
  about
})

export const EVENT_TYPES: readonly EventType[] = [
  {
    name: 'post.create',
    visibility: 'public',
    filter: 'user_id',
    payload: Post,
    about: 'A post, reply, quote or repost by the user.'
  },
  {
    name: 'post.delete',
    visibility: 'public',
    filter: 'user_id',
    payload: Type.Object({ id: Id, author_id: Type.Optional(Id) }, open),
    about: 'A post of the user was deleted.'
  },
  post('post.mention.create', 'A post that mentions the user in its text.'),
  post('post.reply.create', 'A direct reply to the user, by somebody else.'),
  post('post.quote.create', 'A quote of a post of the user, by somebody else.'),
  post('post.repost.create', 'A repost of a post of the user, by somebody else.'),
  profile('bio', 'The description of the profile.'),
  profile('profile_picture', 'The picture; before and after are URLs.'),
  profile('banner_picture', 'The banner; before and after are URLs.'),
  profile('screenname', 'The display name.'),
  profile('handle', 'The @name.'),
  profile('geo', 'The location.'),
  profile('url', 'The web address.'),
  profile('verified_badge', 'The verified badge.', ['verified']),
  profile('affiliate_badge', 'The affiliate badge.', ['affiliate']),
  message('dm.received', 'A direct message to the user.'),
  message('dm.sent', 'A direct message by the user.'),
  message('dm.read', 'Somebody read a message of the user.'),
  message('dm.indicate_typing', 'Somebody is typing a message to the user.'),
  chat('chat.received', 'An encrypted message to the user.'),
  chat('chat.sent', 'An encrypted message by the user.'),
  chat('chat.conversation_join', 'The user joined a conversation.', ['chat.conversation.join']),
  chat('chat.conversation.member_added', 'A member was added.'),
  chat('chat.conversation.member_removed', 'A member was removed.'),
  chat('chat.conversation.admin_added', 'An admin was added.'),
  chat('chat.conversation.admin_removed', 'An admin was removed.'),
  chat('chat.update.group_name', 'A group was renamed.'),
  chat('chat.update.restrictions', 'The restrictions of a group changed.'),
  {
    name: 'like.create',
    visibility: 'private',
    scope: 'like.read',
    filter: 'user_id',
    direction: true,
    payload: Type.Object(
      { liked_tweet_id: Id, liked_tweet_author_id: Type.Optional(Id), tweet_author_id: Type.Optional(Id) },
      open
    ),
    about: 'A like by the user (outbound) or of a post of the user (inbound).'
  },
  {
    ...relation('follow.follow', 'follows.read', 'The user follows somebody, or is followed.', true),
    visibility: 'public'
  },
  {
    ...relation('follow.unfollow', 'follows.read', 'The user unfollows somebody, or is unfollowed.', true),
    visibility: 'public'
  },
  relation('mute.mute', 'mute.read', 'The user mutes somebody.'),
  relation('mute.unmute', 'mute.read', 'The user unmutes somebody.'),
  relation('block.block', 'block.read', 'The user blocks somebody.'),
  relation('block.unblock', 'block.read', 'The user unblocks somebody.'),
  {
    name: 'spaces.start',
    visibility: 'public',
    filter: 'user_id',
    payload: Anything,
    about: 'A space of the user starts.'
  },
  {
    name: 'spaces.end',
    visibility: 'public',
    filter: 'user_id',
    payload: Anything,
    about: 'A space of the user ends.'
  },
  broadcast('broadcast.start', 'public', 'A broadcast of the user starts.'),
  broadcast('broadcast.end', 'public', 'A broadcast of the user ends.'),
  broadcast('broadcast.chat', 'private', 'A chat message in a broadcast of the user.'),
  {
    name: 'news.new',
    visibility: 'public',
    filter: 'keyword',
    payload: Type.Object({ id: Type.Optional(Id), name: Type.Optional(Text) }, open),
    about: 'A news story that contains the keyword.'
  }
]

const byName = new Map<string, EventType>()
for (const type of EVENT_TYPES) for (const name of [type.name, ...(type.aliases ?? [])]) byName.set(name, type)

export const eventTypeNamed = (name: string): EventType | undefined => byName.get(name)
/** Every accepted spelling. */
export const EVENT_TYPE_NAMES = [...byName.keys()]

/** Names from before 18 March 2026, and what they are called now. */
const RENAMED: Record<string, string> = {
  ProfileBioUpdate: 'profile.update.bio',
  ProfilePictureUpdate: 'profile.update.profile_picture',
  ProfileBannerPictureUpdate: 'profile.update.banner_picture',
  ProfileBannerUpdate: 'profile.update.banner_picture',
  ProfileScreennameUpdate: 'profile.update.screenname',
  ProfileGeoUpdate: 'profile.update.geo',
  ProfileUrlUpdate: 'profile.update.url',
  ProfileVerifiedBadgeUpdate: 'profile.update.verified_badge',
  ProfileAffiliateBadgeUpdate: 'profile.update.affiliate_badge',
  ProfileHandleUpdate: 'profile.update.handle',
  NewsNew: 'news.new',
  FollowFollow: 'follow.follow',
  FollowUnfollow: 'follow.unfollow'
}

/** Why a name is not a type, in a sentence that helps. */
export function unknownTypeMessage(name: string) {
  const now = Object.hasOwn(RENAMED, name) ? RENAMED[name] : undefined
  if (now) return `the event type ${name} was renamed to ${now}`
  if (/^[A-Z]/.test(name))
    return `event types have dot-separated lower-case names; known are ${EVENT_TYPE_NAMES.join(', ')}`
  return `the event type ${name.slice(0, 100)} is not known; known are ${EVENT_TYPE_NAMES.join(', ')}`
}
