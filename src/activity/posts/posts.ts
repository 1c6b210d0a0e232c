/** The posts that Herald keeps: every published post.create, until its deletion or the end of its time. */
import { CompiledQuery, sql } from 'kysely'
import { type Clock, isoTime } from '../../clock.ts'
import { forbidden } from '../../errors.ts'
import { readStored } from '../../http/json.ts'
import { resourceNotFound } from '../../http/problems.ts'
import { type Db, planOnce } from '../../storage/db.ts'
import { defineJob } from '../../storage/jobs.ts'
import type { Incoming, Product } from '../events.ts'
import type { Includes, PublishedEvent } from '../facets.ts'
import { viewOf } from '../filtered-stream/matching.ts'
import { isObject, objectsIn, textOf, timeOf } from '../legacy.ts'
import type { PostView } from '../rules/index.ts'
import { termsOf } from './terms.ts'

/** A post as it was published, with what came along. */
export interface StoredPost {
  id: string
  author_id: string
  created_at: string
  protected: boolean
  replaced_by: string | null
  payload: Record<string, unknown>
  includes: Includes | null
}

interface PostRow extends Omit<StoredPost, 'payload' | 'includes'> {
  payload: string
  includes: string | null
}

export const POST_COLUMNS = sql.raw(
  ['id', 'author_id', 'created_at', 'protected', 'replaced_by', 'payload', 'includes']
    .map((column) => `p.${column}`)
    .join(', ')
)

export const postFrom = ({ payload, includes, ...row }: PostRow): StoredPost => ({
  ...row,
  payload: readStored<StoredPost['payload']>(payload),
  includes: includes === null ? null : readStored<Includes>(includes)
})

/** Those of them that are kept, also older versions and posts of protected authors: what to show is the caller's business. */
export async function findPosts(db: Db, ids: readonly string[]): Promise<StoredPost[]> {
  if (ids.length === 0) return []
  const { rows } = await sql<PostRow>`select ${POST_COLUMNS} from posts p where p.id = any(${ids}::text[])`.execute(db)
  return rows.map(postFrom)
}

/** Somebody's post, if it is theirs. A protected one of others does not exist to them. */
export async function ownPost(db: Db, userId: string, id: string, parameter: string): Promise<StoredPost> {
  const [post] = await findPosts(db, [id])
  if (!post || (post.protected && post.author_id !== userId)) throw resourceNotFound('tweet', parameter, id)
  if (post.author_id !== userId) throw forbidden('FORBIDDEN', `Post ${id} is not yours.`)
  return post
}

/** Posts of protected authors are shown to nobody else, whether they protected them then or do now. */
export const visibleTo = (userId: string | undefined) => sql<boolean>`(
  p.author_id = ${userId ?? null}::text
  or (not p.protected and not exists (select from users u where u.id = p.author_id and u.protected)))`

/** Publishers may send anything beside the text. What makes no sense must not keep a post from being found by the rest. */
export function readingPost<T>(post: Pick<PublishedEvent, 'payload' | 'includes'>, read: (view: PostView) => T): T {
  try {
    return read(viewOf(post))
  } catch {
    const { id, text, author_id } = post.payload
    return read(viewOf({ payload: { id, text, author_id }, includes: null }))
  }
}

const KEEP = planOnce(
  'posts.keep',
  `insert into posts as p (id, author_id, created_at, protected, terms, payload, includes)
  select id, author_id, created_at, protected, terms::int[], payload, includes
  from unnest($1::text[], $2::text[], $3::timestamptz[], $4::boolean[], $5::text[], $6::text[], $7::text[])
    as t (id, author_id, created_at, protected, terms, payload, includes)
  on conflict (id) do update set
    protected = excluded.protected, terms = excluded.terms, payload = excluded.payload, includes = excluded.includes
  where p.author_id = excluded.author_id`
)

/** Part of publishing: a post is found from the moment that its event is durable, and no longer once it was deleted. */
export const keepPosts =
  ({ clock, retentionMs }: { clock: Clock; retentionMs: number }): Product =>
  async (tx, incoming) => {
    if (retentionMs === 0) return []
    const { made, gone } = lastOfEach(incoming)
    if (made.length > 0) await keep(tx, made, clock)
    const edits = made.filter(({ event }) => olderVersions(event).length > 0)
    if (edits.length > 0) await replaceVersions(tx, edits)
    if (gone.length > 0)
      await sql`delete from posts where id = any(${gone}::text[]) or replaced_by = any(${gone}::text[])`.execute(tx)
    return []
  }

/** Of what one call says about a post, the last word counts. Sorted, so that publishers never wait for each other in a circle. */
function lastOfEach(incoming: readonly Incoming[]) {
  const last = new Map<string, Incoming>()
  for (const each of incoming)
    if (each.event.event_type === 'post.create' || each.event.event_type === 'post.delete')
      last.set(textOf(each.event.payload.id)!, each)
  const made: Incoming[] = []
  const gone: string[] = []
  for (const id of [...last.keys()].sort()) {
    const each = last.get(id)!
    if (each.event.event_type === 'post.create') made.push(each)
    else gone.push(id)
  }
  return { made, gone }
}

async function keep(tx: Db, made: readonly Incoming[], clock: Clock) {
  const events = made.map(({ event }) => event)
  const now = clock.now()
  await tx.executeQuery(
    CompiledQuery.raw(KEEP, [
      events.map(({ payload }) => payload.id),
      events.map(({ payload }) => payload.author_id),
      events.map((event) => isoTime(Math.min(timeOf(event.payload.created_at) ?? Date.parse(event.occurred_at), now))),
      made.map((each) => each.protectedAuthor === true),
      events.map((event) => `{${readingPost(event, termsOf).join(',')}}`),
      events.map(({ payload }) => JSON.stringify(payload)),
      events.map(({ includes }) => (includes === null ? null : JSON.stringify(includes)))
    ])
  )
}

/** All versions up to this one, oldest first. */
export const historyOf = ({ payload: { id, edit_history_tweet_ids } }: Pick<PublishedEvent, 'payload'>): string[] => {
  const told = Array.isArray(edit_history_tweet_ids) ? edit_history_tweet_ids : []
  return [...told.filter((each) => typeof each === 'string' && each !== id), id as string]
}
const olderVersions = (event: PublishedEvent) => historyOf(event).slice(0, -1)

/** Older versions stay, but are not found any more. Nobody's edit replaces somebody else's post. */
async function replaceVersions(tx: Db, edits: readonly Incoming[]) {
  const pairs = edits.flatMap(({ event }) => olderVersions(event).map((older) => ({ older, event })))
  await sql`
    update posts p set replaced_by = t.newer
    from unnest(${pairs.map(({ older }) => older)}::text[], ${pairs.map(({ event }) => event.payload.id)}::text[],
      ${pairs.map(({ event }) => event.payload.author_id)}::text[]) as t (older, newer, author_id)
    where p.id = t.older and p.author_id = t.author_id`.execute(tx)
}

/** Users and posts that came with a post, for who builds on it. */
export const includedIn = ({ includes }: Pick<StoredPost, 'includes'>, kind: 'users' | 'tweets') =>
  isObject(includes) ? objectsIn(includes[kind]) : []

const FORGOTTEN_AT_ONCE = 5_000

export const forgetPostsJob = (retentionMs: number) =>
  defineJob('activity.forget_posts', {
    everyMs: 3_600_000,
    run: async (_payload: object, { database, clock, signal }) => {
      const before = isoTime(clock.now() - retentionMs)
      for (let forgotten = FORGOTTEN_AT_ONCE; forgotten === FORGOTTEN_AT_ONCE && !signal.aborted; ) {
        const { numAffectedRows } = await sql`
          delete from posts where id in (
            select id from posts where created_at < ${before} order by created_at, id limit ${FORGOTTEN_AT_ONCE})`.execute(
          database.db
        )
        forgotten = Number(numAffectedRows)
      }
    }
  })
