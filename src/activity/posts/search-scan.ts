/** Goes through posts, newest first, a few hundred at a time, and tells which of them a search finds. */
import { setImmediate as yieldToOthers } from 'node:timers/promises'
import { type RawBuilder, sql } from 'kysely'
import { isoTime } from '../../clock.ts'
import type { Db } from '../../storage/db.ts'
import { matches } from '../rules/index.ts'
import { POST_COLUMNS, postFrom, readingPost, type StoredPost, visibleTo } from './posts.ts'
import type { Criteria, IdBound, SearchDeps } from './search-query.ts'
import type { Position } from './search-tokens.ts'

const POSTS_AT_ONCE = 500

/** `take` says whether it wants more. Where to go on, or undefined when there is nothing left. */
export async function scan(
  { db, looksMax }: SearchDeps,
  criteria: Criteria,
  take: (post: StoredPost) => boolean
): Promise<Position | undefined> {
  const { rule, withoutReposts } = criteria
  let position = criteria.after
  for (let looks = 0; looks < looksMax; ) {
    const limit = Math.min(POSTS_AT_ONCE, looksMax - looks)
    const posts = await nextPosts(db, criteria, position, limit)
    for (const post of posts) {
      const found = readingPost(post, (view) => !(withoutReposts && view.isRepost) && matches(rule, view))
      if (found && !take(post)) return position
      position = { created_at: post.created_at, id: post.id }
    }
    if (posts.length < limit) return undefined
    looks += posts.length
    await yieldToOthers()
  }
  return position
}

async function nextPosts(db: Db, criteria: Criteria, after: Position | undefined, limit: number) {
  const { fromMs, toMs, since, until, terms, userId } = criteria
  const conditions = [
    sql`p.created_at >= ${isoTime(fromMs)}`,
    toMs === undefined ? [] : sql`p.created_at < ${isoTime(toMs)}`,
    after ? sql`(p.created_at, p.id) < (${after.created_at}, ${after.id})` : [],
    since ? beyond(since, sql`>`) : [],
    until ? beyond(until, sql`<`) : [],
    terms ? sql`p.terms && ${terms}::int[]` : [],
    sql`p.replaced_by is null`,
    visibleTo(userId)
  ].flat()
  const { rows } = await sql<Parameters<typeof postFrom>[0]>`
    select ${POST_COLUMNS} from posts p where ${sql.join(conditions, sql` and `)}
    order by p.created_at desc, p.id desc limit ${limit}`.execute(db)
  return rows.map(postFrom)
}

function beyond(bound: IdBound, operator: RawBuilder<unknown>) {
  if ('post' in bound) return sql`(p.created_at, p.id) ${operator} (${bound.post.created_at}, ${bound.post.id})`
  return sql`(length(p.id), p.id) ${operator} (length(${bound.number}), ${bound.number} collate "C")`
}
