/** The older object shapes that account activity and direct messages are delivered in, made from v2 objects. */
import { exactNumber } from '../http/json.ts'

export type Json = Record<string, unknown>

export const isObject = (value: unknown): value is Json =>
  value !== null && typeof value === 'object' && !Array.isArray(value)
export const objectsIn = (value: unknown): Json[] => (Array.isArray(value) ? value.filter(isObject) : [])
export const textOf = (value: unknown): string | undefined => (typeof value === 'string' ? value : undefined)
/** Some producers wrap users in `data`. */
export const unwrapped = (user: unknown): Json | undefined => {
  if (!isObject(user)) return undefined
  return isObject(user.data) ? user.data : user
}

const DAYS = ['Sun', 'Mon', 'Tue', 'Wed', 'Thu', 'Fri', 'Sat']
const MONTHS = ['Jan', 'Feb', 'Mar', 'Apr', 'May', 'Jun', 'Jul', 'Aug', 'Sep', 'Oct', 'Nov', 'Dec']
const two = (n: number) => String(n).padStart(2, '0')

/** `Mon Mar 26 16:33:26 +0000 2018` */
export function oldTime(ms: number) {
  const d = new Date(ms)
  const time = `${two(d.getUTCHours())}:${two(d.getUTCMinutes())}:${two(d.getUTCSeconds())}`
  return `${DAYS[d.getUTCDay()]} ${MONTHS[d.getUTCMonth()]} ${two(d.getUTCDate())} ${time} +0000 ${d.getUTCFullYear()}`
}

/** Of an ISO time, if it is one. */
export function timeOf(value: unknown): number | undefined {
  const ms = typeof value === 'string' ? Date.parse(value) : Number.NaN
  return Number.isNaN(ms) ? undefined : ms
}

/** An id as a JSON number with all its digits; clients that read doubles have `id_str`. */
export const numberOf = (id: string | undefined) =>
  id !== undefined && /^\d{1,19}$/.test(id) ? exactNumber(BigInt(id)) : null

/** Leaves out what is not known. */
export const known = (fields: Json): Json =>
  Object.fromEntries(Object.entries(fields).filter(([, value]) => value !== undefined))

const metric = (user: Json, name: string, legacyName = name) =>
  (isObject(user.public_metrics) ? user.public_metrics[name] : undefined) ?? user[legacyName]

/** What both user shapes share. Takes v2 users, and users that are in the older shape already. */
const profileOf = (user: Json) => ({
  name: user.name,
  screen_name: user.username ?? user.screen_name,
  location: user.location,
  url: user.url,
  description: user.description,
  protected: user.protected ?? false,
  verified: user.verified ?? false,
  followers_count: metric(user, 'followers_count'),
  friends_count: metric(user, 'following_count', 'friends_count'),
  statuses_count: metric(user, 'tweet_count', 'statuses_count'),
  profile_image_url_https: user.profile_image_url ?? user.profile_image_url_https
})

/** Users beside messages and in follows, blocks and mutes: the id is text, the time in milliseconds. */
export function eventUser(id: string, user: Json | undefined): Json {
  if (!user) return { id }
  const created = timeOf(user.created_at)
  return known({
    id,
    created_timestamp: created === undefined ? textOf(user.created_timestamp) : String(created),
    ...profileOf(user)
  })
}

/** Users of posts and likes: the id is a number, beside its text. */
export function postUser(id: string, user: Json | undefined): Json {
  if (!user) return { id: numberOf(id), id_str: id }
  const created = timeOf(user.created_at)
  return known({
    id: numberOf(id),
    id_str: id,
    ...profileOf(user),
    listed_count: metric(user, 'listed_count'),
    favourites_count: metric(user, 'like_count', 'favourites_count'),
    profile_banner_url: user.profile_banner_url,
    created_at: created === undefined ? undefined : oldTime(created)
  })
}

export interface LegacyEntities {
  hashtags: Json[]
  urls: Json[]
  user_mentions: Json[]
  symbols: Json[]
}

export type FindUser = (by: { id?: string; username?: string }) => Json | undefined

const indices = ({ start, end, indices }: Json) =>
  typeof start === 'number' && typeof end === 'number' ? [start, end] : indices

/** v2 entities in the older shape. A publisher may leave them out; then the text speaks for itself. */
export function legacyEntities(entities: unknown, text: string, find: FindUser): LegacyEntities {
  const given: Json = isObject(entities) ? entities : entitiesIn(text)
  const tags = (list: unknown) =>
    objectsIn(list).map((tag) => known({ text: tag.tag ?? tag.text, indices: indices(tag) }))
  return {
    hashtags: tags(given.hashtags),
    symbols: tags(given.cashtags ?? given.symbols),
    urls: objectsIn(given.urls).map((url) =>
      known({
        url: url.url,
        expanded_url: url.expanded_url,
        display_url: url.display_url,
        indices: indices(url)
      })
    ),
    user_mentions: objectsIn(given.mentions ?? given.user_mentions).map((mention) => {
      const username = textOf(mention.username) ?? textOf(mention.screen_name)
      const user = find({ id: textOf(mention.id) ?? textOf(mention.id_str), username })
      const id = textOf(mention.id) ?? textOf(mention.id_str) ?? textOf(user?.id)
      return known({
        screen_name: username ?? user?.username,
        name: user?.name ?? mention.name,
        id: numberOf(id),
        id_str: id,
        indices: indices(mention)
      })
    })
  }
}

const PATTERNS = {
  hashtags: /(?<![\p{L}\p{M}\p{N}_&])[#＃]((?![0-9_]+(?![\p{L}\p{M}\p{N}_]))[\p{L}\p{M}\p{N}_]+)/gu,
  cashtags: /(?<![\p{L}\p{N}_$])\$([a-z]{1,6}(?:[._][a-z]{1,2})?)(?![\p{L}\p{N}_])/giu,
  mentions: /(?<![\p{L}\p{N}_@])[@＠]([a-z0-9_]{1,50})(?![\p{L}\p{N}_@])/giu,
  urls: /(https?:\/\/[^\s"<>]+)/gi
}

/** Characters as clients count them: code points. */
export const lengthOf = (text: string) => [...text].length

/** As v2 entities, with places counted in code points. */
export function entitiesIn(text: string): Record<keyof typeof PATTERNS, Json[]> {
  const found = (pattern: RegExp, name: string) =>
    [...text.matchAll(pattern)].map((match) => {
      const start = lengthOf(text.slice(0, match.index))
      return { [name]: match[1], start, end: start + lengthOf(match[0]) }
    })
  return {
    hashtags: found(PATTERNS.hashtags, 'tag'),
    cashtags: found(PATTERNS.cashtags, 'tag'),
    mentions: found(PATTERNS.mentions, 'username'),
    urls: found(PATTERNS.urls, 'url')
  }
}
