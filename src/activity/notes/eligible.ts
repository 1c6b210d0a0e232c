/** Posts that a user may write a note on: those that Herald knows, that they may see and have not written one on. */
import { type RawBuilder, sql } from 'kysely'
import { isoTime } from '../../clock.ts'
import { invalidRequest } from '../../http/problems.ts'
import type { FieldQuery } from '../filtered-stream/post-fields.ts'
import { POST_COLUMNS, postFrom, visibleTo } from '../posts/posts.ts'
import { shown } from '../posts/search.ts'
import { decodePosition, encodePosition } from '../posts/search-tokens.ts'
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
const LIST = 'notes.eligible'

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

function positionOf(token: string) {
  const position = decodePosition(token, LIST)
  if (!position) throw refuse('pagination_token', token, 'is not valid')
  return position
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
  const eligible = page.filter(({ payload }) => lang === undefined || payload.lang === lang)
  return {
    ...shown(eligible, query),
    meta: {
      ...(eligible.length > 0 && { newest_id: eligible[0]!.id, oldest_id: eligible.at(-1)!.id }),
      result_count: eligible.length,
      ...(rows.length > max_results && { next_token: encodePosition(page.at(-1)!, LIST) })
    }
  }
}
