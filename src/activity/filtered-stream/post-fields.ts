/** Which parts of a post are sent: `tweet.fields`, `expansions` and the fields of what they bring along. */
import { Type } from 'typebox'
import { Fields } from '../../http/v2.ts'
import type { PublishedEvent } from '../facets.ts'
import { isObject, objectsIn, unwrapped } from '../legacy.ts'

const TWEET_FIELDS = [
  'article',
  'attachments',
  'author_id',
  'card_uri',
  'community_id',
  'context_annotations',
  'conversation_id',
  'created_at',
  'display_text_range',
  'edit_controls',
  'edit_history_tweet_ids',
  'entities',
  'geo',
  'id',
  'in_reply_to_tweet_id',
  'in_reply_to_user_id',
  'lang',
  'media_metadata',
  'non_public_metrics',
  'note_tweet',
  'organic_metrics',
  'paid_partnership',
  'possibly_sensitive',
  'promoted_metrics',
  'public_metrics',
  'referenced_tweets',
  'reply_settings',
  'scopes',
  'source',
  'suggested_source_links',
  'text',
  'withheld'
] as const
const USER_FIELDS = [
  'affiliation',
  'confirmed_email',
  'connection_status',
  'created_at',
  'description',
  'entities',
  'id',
  'is_identity_verified',
  'location',
  'most_recent_tweet_id',
  'name',
  'parody',
  'pinned_tweet_id',
  'profile_banner_url',
  'profile_image_url',
  'protected',
  'public_metrics',
  'receives_your_dm',
  'subscription',
  'subscription_type',
  'url',
  'username',
  'verified',
  'verified_followers_count',
  'verified_type',
  'withheld'
] as const
const MEDIA_FIELDS = [
  'alt_text',
  'duration_ms',
  'height',
  'media_key',
  'non_public_metrics',
  'organic_metrics',
  'preview_image_url',
  'promoted_metrics',
  'public_metrics',
  'type',
  'url',
  'variants',
  'width'
] as const
const POLL_FIELDS = ['duration_minutes', 'end_datetime', 'id', 'options', 'voting_status'] as const
const PLACE_FIELDS = [
  'contained_within',
  'country',
  'country_code',
  'full_name',
  'geo',
  'id',
  'name',
  'place_type'
] as const
/** What each expansion follows, and the field of the post that it needs for that. */
const EXPANSIONS = {
  'article.cover_media': 'article',
  'article.media_entities': 'article',
  'attachments.media_keys': 'attachments',
  'attachments.media_source_tweet': 'attachments',
  'attachments.poll_ids': 'attachments',
  author_id: 'author_id',
  edit_history_tweet_ids: 'edit_history_tweet_ids',
  'entities.mentions.username': 'entities',
  'entities.note.mentions.username': 'note_tweet',
  'geo.place_id': 'geo',
  in_reply_to_user_id: 'in_reply_to_user_id',
  'referenced_tweets.id': 'referenced_tweets',
  'referenced_tweets.id.attachments.media_keys': 'referenced_tweets',
  'referenced_tweets.id.author_id': 'referenced_tweets'
} as const
type Expansion = keyof typeof EXPANSIONS

/** Only the author may see these, and an app is no author. */
const PRIVATE_FIELDS: ReadonlySet<string> = new Set([
  'non_public_metrics',
  'organic_metrics',
  'promoted_metrics',
  'confirmed_email',
  'connection_status',
  'receives_your_dm'
])

export const PostFields = {
  'tweet.fields': Type.Optional(Fields(TWEET_FIELDS)),
  expansions: Type.Optional(Fields(Object.keys(EXPANSIONS) as Expansion[])),
  'user.fields': Type.Optional(Fields(USER_FIELDS)),
  'media.fields': Type.Optional(Fields(MEDIA_FIELDS)),
  'poll.fields': Type.Optional(Fields(POLL_FIELDS)),
  'place.fields': Type.Optional(Fields(PLACE_FIELDS))
}
export type FieldParameter = keyof typeof PostFields
export type FieldQuery = Partial<Record<FieldParameter, readonly string[]>>

/** Always sent, whatever else is asked for. */
const DEFAULTS = {
  'tweet.fields': ['id', 'text', 'edit_history_tweet_ids'],
  'user.fields': ['id', 'name', 'username'],
  'media.fields': ['media_key', 'type'],
  'poll.fields': ['id', 'options'],
  'place.fields': ['id', 'full_name']
} as const

export interface Selection {
  /** The same for equal selections. */
  key: string
  expansions: ReadonlySet<Expansion>
  fields: Record<keyof typeof DEFAULTS, readonly string[]>
}

/** `tweet.fields=lang,author_id`, as links keep and show them. */
export const fieldsAsText = (query: FieldQuery): string[] =>
  (Object.keys(PostFields) as FieldParameter[]).flatMap((name) =>
    query[name] ? `${name}=${query[name].join(',')}` : []
  )

export function fieldsFromText(fields: readonly string[]): FieldQuery {
  return Object.fromEntries(
    fields.map((text) => [text.slice(0, text.indexOf('=')), text.slice(text.indexOf('=') + 1).split(',')])
  )
}

export function selectionOf(query: FieldQuery): Selection {
  const expansions = new Set((query.expansions ?? []) as Expansion[])
  const needed = [...expansions].map((expansion) => EXPANSIONS[expansion])
  const fields = (name: keyof typeof DEFAULTS, more: readonly string[] = []) =>
    [...new Set([...DEFAULTS[name], ...(query[name] ?? []), ...more])].filter((field) => !PRIVATE_FIELDS.has(field))
  return {
    key: fieldsAsText(query).join('&'),
    expansions,
    fields: {
      'tweet.fields': fields('tweet.fields', needed),
      'user.fields': fields('user.fields'),
      'media.fields': fields('media.fields'),
      'poll.fields': fields('poll.fields'),
      'place.fields': fields('place.fields')
    }
  }
}

type Thing = Record<string, unknown>

function pick(thing: Thing, fields: readonly string[]): Thing {
  const picked: Thing = {}
  for (const field of fields) if (thing[field] !== undefined && thing[field] !== null) picked[field] = thing[field]
  return picked
}

const withHistory = (post: Thing): Thing =>
  post.edit_history_tweet_ids === undefined ? { ...post, edit_history_tweet_ids: [post.id] } : post

/** The post with the fields that were asked for, and of its includes what the expansions lead to. */
export function projectPost({ payload, includes }: Pick<PublishedEvent, 'payload' | 'includes'>, selection: Selection) {
  const { fields, expansions } = selection
  const data = pick(withHistory(payload), fields['tweet.fields'])
  if (expansions.size === 0 || !includes) return { data }
  const wanted = reached(payload, objectsIn(includes.tweets), expansions)
  const included = {
    users: among(
      objectsIn(includes.users).map(unwrapped),
      fields['user.fields'],
      (user) => wanted.has(user.id) || wanted.has(`@${user.username}`)
    ),
    tweets: among(objectsIn(includes.tweets).map(withHistory), fields['tweet.fields'], (post) => wanted.has(post.id)),
    media: among(includes.media, fields['media.fields'], (media) => wanted.has(media.media_key)),
    polls: among(includes.polls, fields['poll.fields'], (poll) => wanted.has(poll.id)),
    places: among(includes.places, fields['place.fields'], (place) => wanted.has(place.id))
  }
  const found = Object.fromEntries(Object.entries(included).filter(([, things]) => things.length > 0))
  return Object.keys(found).length > 0 ? { data, includes: found } : { data }
}

function among(things: unknown, fields: readonly string[], isWanted: (thing: Thing) => boolean): Thing[] {
  return objectsIn(things)
    .filter(isWanted)
    .map((thing) => pick(thing, fields))
}

const listOf = (value: unknown): unknown[] => (Array.isArray(value) ? value : [])
const objectOf = (value: unknown): Thing => (isObject(value) ? value : {})

/** Ids, keys and @names that the expansions lead to. */
function reached(post: Thing, tweets: readonly Thing[], expansions: ReadonlySet<Expansion>): Set<unknown> {
  const attachments = objectOf(post.attachments)
  const article = objectOf(post.article)
  const mentions = (entities: unknown) => objectsIn(objectOf(entities).mentions).map(({ username }) => `@${username}`)
  const referenced = objectsIn(post.referenced_tweets).map(({ id }) => id)
  const referencedPosts = () => tweets.filter(({ id }) => referenced.includes(id))
  const leads: Record<Expansion, () => unknown[]> = {
    'article.cover_media': () => [article.cover_media],
    'article.media_entities': () => listOf(article.media_entities),
    'attachments.media_keys': () => listOf(attachments.media_keys),
    'attachments.media_source_tweet': () => listOf(attachments.media_source_tweet_id),
    'attachments.poll_ids': () => listOf(attachments.poll_ids),
    author_id: () => [post.author_id],
    edit_history_tweet_ids: () => listOf(post.edit_history_tweet_ids),
    'entities.mentions.username': () => mentions(post.entities),
    'entities.note.mentions.username': () => mentions(objectOf(post.note_tweet).entities),
    'geo.place_id': () => [objectOf(post.geo).place_id],
    in_reply_to_user_id: () => [post.in_reply_to_user_id],
    'referenced_tweets.id': () => referenced,
    'referenced_tweets.id.attachments.media_keys': () =>
      referencedPosts().flatMap((each) => listOf(objectOf(each.attachments).media_keys)),
    'referenced_tweets.id.author_id': () => referencedPosts().map(({ author_id }) => author_id)
  }
  const wanted = new Set([...expansions].flatMap((expansion) => leads[expansion]()))
  wanted.delete(undefined)
  return wanted
}
