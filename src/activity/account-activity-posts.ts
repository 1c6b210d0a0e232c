/** Posts as account activity delivers them: the older post object, made from a v2 post and what came with it. */
import {
  type FindUser,
  isObject,
  type Json,
  known,
  type LegacyEntities,
  legacyEntities,
  lengthOf,
  numberOf,
  objectsIn,
  oldTime,
  postUser,
  textOf,
  timeOf
} from './legacy.ts'

/** What `text` may hold; longer posts have their whole text in `extended_tweet`. */
export const TEXT_CHARACTERS_MAX = 140
/** A repost of a quote of a post. */
const REFERENCES_DEPTH_MAX = 2

export interface PostContext {
  findUser: FindUser
  findPost(id: string): Json | undefined
}

export const findIncludedPost = (includes: { tweets?: Json[] } | null) => (id: string) =>
  objectsIn(includes?.tweets).find((post) => post.id === id)

/** `writtenMs`: when it was written, if the post does not say so itself. */
export function legacyPost(post: Json, context: PostContext, writtenMs?: number, depth = 0): Json {
  const { findUser } = context
  const id = textOf(post.id)
  const author = textOf(post.author_id)
  const createdMs = timeOf(post.created_at) ?? writtenMs
  return known({
    ...(createdMs === undefined ? {} : { created_at: oldTime(createdMs) }),
    id: numberOf(id),
    id_str: id,
    ...written(post, findUser),
    source: textOf(post.source) ?? '',
    ...replyFields(post, context),
    user: author === undefined ? undefined : postUser(author, findUser({ id: author })),
    geo: null,
    coordinates: isObject(post.geo) ? (post.geo.coordinates ?? null) : null,
    place: null,
    contributors: null,
    ...references(post, context, depth),
    ...counts(post.public_metrics),
    favorited: false,
    retweeted: false,
    possibly_sensitive: post.possibly_sensitive,
    filter_level: 'low',
    lang: post.lang,
    timestamp_ms: createdMs === undefined ? undefined : String(createdMs)
  })
}

/** Text and entities; of a long post the beginning, with the whole beside it. */
function written(post: Json, findUser: FindUser): Json {
  const note = isObject(post.note_tweet) ? post.note_tweet : undefined
  const text = textOf(note?.text) ?? textOf(post.text) ?? ''
  const entities = legacyEntities(note?.entities ?? post.entities, text, findUser)
  if (lengthOf(text) <= TEXT_CHARACTERS_MAX) return { text, truncated: false, entities }
  const kept = TEXT_CHARACTERS_MAX - 1
  return {
    text: `${[...text].slice(0, kept).join('')}…`,
    truncated: true,
    entities: within(entities, kept),
    extended_tweet: {
      full_text: text,
      display_text_range: Array.isArray(post.display_text_range) ? post.display_text_range : [0, lengthOf(text)],
      entities
    }
  }
}

/** Entities that a shortened text still holds whole. */
function within(entities: LegacyEntities, end: number): LegacyEntities {
  const held = (list: Json[]) => list.filter(({ indices }) => Array.isArray(indices) && Number(indices[1]) <= end)
  return {
    hashtags: held(entities.hashtags),
    urls: held(entities.urls),
    user_mentions: held(entities.user_mentions),
    symbols: held(entities.symbols)
  }
}

const referenced = (post: Json, type: string) =>
  textOf(objectsIn(post.referenced_tweets).find((reference) => reference.type === type)?.id)

function replyFields(post: Json, { findUser, findPost }: PostContext): Json {
  const status = referenced(post, 'replied_to') ?? textOf(post.in_reply_to_tweet_id)
  const user =
    textOf(post.in_reply_to_user_id) ?? (status === undefined ? undefined : textOf(findPost(status)?.author_id))
  return {
    in_reply_to_status_id: numberOf(status),
    in_reply_to_status_id_str: status ?? null,
    in_reply_to_user_id: numberOf(user),
    in_reply_to_user_id_str: user ?? null,
    in_reply_to_screen_name: (user === undefined ? undefined : findUser({ id: user })?.username) ?? null
  }
}

function references(post: Json, context: PostContext, depth: number): Json {
  const quoted = referenced(post, 'quoted')
  const reposted = referenced(post, 'retweeted')
  const whole = (id: string | undefined) => {
    const original = id === undefined || depth >= REFERENCES_DEPTH_MAX ? undefined : context.findPost(id)
    return original && legacyPost(original, context, undefined, depth + 1)
  }
  return {
    retweeted_status: reposted === undefined ? undefined : (whole(reposted) ?? onlyId(reposted)),
    is_quote_status: quoted !== undefined,
    ...(quoted === undefined
      ? {}
      : { quoted_status_id: numberOf(quoted), quoted_status_id_str: quoted, quoted_status: whole(quoted) })
  }
}

/** A post of which nothing but the id is known. */
export const onlyId = (id: string): Json => ({ id: numberOf(id), id_str: id })

function counts(metrics: unknown): Json {
  const { quote_count, reply_count, retweet_count, repost_count, like_count } = isObject(metrics) ? metrics : {}
  return {
    quote_count: quote_count ?? 0,
    reply_count: reply_count ?? 0,
    retweet_count: retweet_count ?? repost_count ?? 0,
    favorite_count: like_count ?? 0
  }
}
