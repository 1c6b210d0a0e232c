/** Posts that a user may write a note on: those that Herald knows, that they may see and have not written one on. */
import { type RawBuilder, sql } from 'kysely'
import { isoTime } from '../../clock.ts'
import { decodeToken, encodeToken } from '../../http/paging-tokens.ts'
import { invalidRequest } from '../../http/problems.ts'
import { type FieldQuery, projectPost, selectionOf } from '../filtered-stream/post-fields.ts'
import { POST_COLUMNS, postFrom, type StoredPost, visibleTo } from '../posts/posts.ts'
import type { NoteDeps } from './notes.ts'

export interface EligibleQuery extends FieldQuery {
  test_mode: boolean
  max_results?: number
  pagination_token?: string
  post_selection?: string
}

const HOUR_MS = 3_600_000
/** How far a feed reaches back; without a size, as far as posts are kept. */
const FEED_SIZES: Record<string, number> = { small: 24 * HOUR_MS, large: 168 * HOUR_MS }
const TOKEN = 'notes.eligible'
/** Tokens hold no negative numbers, and posts may claim to be older than 1970. */
const TIME_OFFSET = 1n << 53n

const refuse = (name: string, value: string, why: string) =>
  invalidRequest({
    message: `The \`${name}\` query parameter value [${value.slice(0, 100)}] ${why}`,
    parameters: { [name]: [value.slice(0, 100)] }
  })

/** `feed_size:small,feed_lang:en`, both optional. */
function feedOf(text: string) {
  const feed: { size?: string; lang?: string } = {}
  for (const part of text.split(',')) {
    const [, name, value] = /^\s*feed_(size|lang)\s*:\s*([A-Za-z-]{2,20})\s*$/.exec(part) ?? []
    if (name === undefined || value === undefined || (name === 'size' && !Object.hasOwn(FEED_SIZES, value)))
      throw refuse(
        'post_selection',
        text,
        `is not a comma list of feed_size:small, feed_size:large and feed_lang:<code>`
      )
    feed[name as 'size' | 'lang'] = value
  }
  return feed
}

/** Two halves: when, with the length of the id (which may start with zeros), and the id. */
const tokenOf = ({ created_at, id }: StoredPost) =>
  [((BigInt(Date.parse(created_at)) + TIME_OFFSET) << 5n) | BigInt(id.length), BigInt(id)]
    .map((half) => encodeToken({ direction: 'next', id: half }, TOKEN))
    .join('')

function positionOf(token: string) {
  const [time, id] = [token.slice(0, 16), token.slice(16)].map((half) => decodeToken(half, TOKEN)?.id)
  const ms = time === undefined ? Number.NaN : Number((time >> 5n) - TIME_OFFSET)
  if (time === undefined || id === undefined || Number.isNaN(new Date(ms).getTime()))
    throw refuse('pagination_token', token, 'is not valid')
  return { created_at: isoTime(ms), id: id.toString().padStart(Number(time & 31n), '0') }
}

type Included = Record<string, unknown>[]

/** What each post brings along, once; media have a key instead of an id. */
function together(all: readonly (Record<string, Included> | undefined)[]) {
  const kinds = new Map<string, Map<unknown, Record<string, unknown>>>()
  for (const includes of all)
    for (const [kind, things] of Object.entries(includes ?? {})) {
      const known = kinds.get(kind) ?? new Map<unknown, Record<string, unknown>>()
      for (const thing of things) known.set(thing.id ?? thing.media_key, thing)
      kinds.set(kind, known)
    }
  return Object.fromEntries([...kinds].map(([kind, things]) => [kind, [...things.values()]]))
}

/** Newest first. */
export async function eligiblePosts({ db, clock }: NoteDeps, userId: string, query: EligibleQuery) {
  const { max_results = 10, pagination_token, post_selection } = query
  const { size, lang } = post_selection === undefined ? {} : feedOf(post_selection)
  const conditions: RawBuilder<unknown>[] = [
    sql`p.replaced_by is null`,
    visibleTo(userId),
    sql`not exists (
      select from notes n where n.user_id = ${userId} and n.test_mode = ${query.test_mode} and n.post_id = p.id)`
  ]
  if (pagination_token !== undefined) {
    const { created_at, id } = positionOf(pagination_token)
    conditions.push(sql`(p.created_at, p.id) < (${created_at}::timestamptz, ${id} collate "C")`)
  }
  if (size !== undefined) conditions.push(sql`p.created_at >= ${isoTime(clock.now() - FEED_SIZES[size]!)}`)
  // Payloads are text, as jsonb would refuse some of them; quotes inside of a value are escaped there, so this finds a field.
  if (lang !== undefined) conditions.push(sql`strpos(p.payload, ${`"lang":${JSON.stringify(lang)}`}) > 0`)
  const { rows } = await sql<Parameters<typeof postFrom>[0]>`
    select ${POST_COLUMNS} from posts p where ${sql.join(conditions, sql` and `)}
    order by p.created_at desc, p.id desc limit ${max_results + 1}`.execute(db)
  const page = rows.slice(0, max_results).map(postFrom)
  const shown = page.filter(({ payload }) => lang === undefined || payload.lang === lang)
  const selection = selectionOf(query)
  const projected = shown.map((post) => projectPost(post, selection))
  const includes = together(projected.map((post) => post.includes as Record<string, Included> | undefined))
  return {
    data: projected.map(({ data }) => data),
    ...(Object.keys(includes).length > 0 && { includes }),
    meta: {
      ...(shown.length > 0 && { newest_id: shown[0]!.id, oldest_id: shown.at(-1)!.id }),
      result_count: shown.length,
      ...(rows.length > max_results && { next_token: tokenOf(page.at(-1)!) })
    }
  }
}
