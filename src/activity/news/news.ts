/** News: the stories that were published as `news.new`, kept for search and lookup. See docs/decisions/0083. */
import { type RawBuilder, sql } from 'kysely'
import { type Clock, isoTime } from '../../clock.ts'
import { notFound } from '../../errors.ts'
import { readStored } from '../../http/json.ts'
import { invalidRequest } from '../../http/problems.ts'
import type { Db } from '../../storage/db.ts'
import { defineJob } from '../../storage/jobs.ts'
import type { Product } from '../events.ts'
import type { PublishedEvent } from '../facets.ts'
import { isObject, objectsIn, textOf } from '../legacy.ts'

declare module '../../storage/db.ts' {
  interface Tables {
    news: { id: string; story: string; words: string; updated_at: Time; occurred_at: Time }
  }
}

/** What `news.fields` may name. */
export const NEWS_FIELDS = [
  'category',
  'cluster_posts_results',
  'contexts',
  'disclaimer',
  'hook',
  'id',
  'keywords',
  'name',
  'summary',
  'updated_at'
] as const
export type NewsField = (typeof NEWS_FIELDS)[number]

export interface Story {
  id: string
  name?: string
  category?: string
  hook?: string
  summary?: string
  keywords?: string[]
  contexts?: Record<string, unknown>
  cluster_posts_results?: Record<string, unknown>[]
  disclaimer?: string
  updated_at: string
}

export const MAX_AGE_HOURS_MAX = 720
const HOUR_MS = 3_600_000
/** More than any story has; PostgreSQL takes a megabyte of words. */
const SEARCHED_CHARACTERS_MAX = 50_000
const ID = /^[0-9]{1,19}$/

const textsIn = (value: unknown) =>
  Array.isArray(value) ? value.filter((each): each is string => typeof each === 'string') : []
const some = <T>(list: T[]) => (list.length > 0 ? list : undefined)

function updatedAt({ payload, occurred_at }: PublishedEvent) {
  const given = textOf(payload.updated_at)
  const ms = given !== undefined && /^(19|20|21)\d\d-/.test(given) ? Date.parse(given) : Number.NaN
  return Number.isNaN(ms) ? occurred_at : isoTime(ms)
}

/** What clients see of an event. Publishers send what they like beside it; what is not of its type is left out. */
export function storyOf(event: PublishedEvent): Story {
  const { payload } = event
  return {
    id: textOf(payload.id) ?? event.id,
    name: textOf(payload.name) ?? textOf(payload.headline),
    category: textOf(payload.category),
    hook: textOf(payload.hook),
    summary: textOf(payload.summary),
    keywords: some(textsIn(payload.keywords)),
    contexts: isObject(payload.contexts) ? payload.contexts : undefined,
    cluster_posts_results: some(
      objectsIn(payload.cluster_posts_results).filter(({ post_id }) => ID.test(textOf(post_id) ?? ''))
    ),
    disclaimer: textOf(payload.disclaimer),
    updated_at: updatedAt(event)
  }
}

/** Stands between two texts, so that no phrase reaches from one into the next. */
const BOUNDARY = ' 0nexttext0 '
const searched = ({ name, summary, hook, keywords = [], category }: Story) =>
  [name, summary, hook, ...keywords, category]
    .filter((text) => text !== undefined)
    .join(BOUNDARY)
    .replaceAll('\0', ' ')
    .slice(0, SEARCHED_CHARACTERS_MAX)

/** Part of publishing, with nothing to send. A story that is told again replaces what was kept, unless that is younger. */
export const keepNews: Product = async (tx, incoming) => {
  const latest = new Map<string, { event: PublishedEvent; story: Story }>()
  for (const { event } of incoming) {
    if (event.event_type !== 'news.new') continue
    const story = storyOf(event)
    const other = latest.get(story.id)
    if (!other || other.event.occurred_at <= event.occurred_at) latest.set(story.id, { event, story })
  }
  if (latest.size === 0) return []
  // Sorted, so that two publishers never wait for each other in a circle.
  const rows = [...latest.values()].sort((a, b) => (a.story.id < b.story.id ? -1 : 1))
  await sql`
    insert into news (id, story, words, updated_at, occurred_at)
    select id, story, to_tsvector('simple', searched), updated_at, occurred_at
    from unnest(${rows.map(({ story }) => story.id)}::text[], ${rows.map(({ story }) => JSON.stringify(story))}::text[],
      ${rows.map(({ story }) => searched(story))}::text[], ${rows.map(({ story }) => story.updated_at)}::timestamptz[],
      ${rows.map(({ event }) => event.occurred_at)}::timestamptz[]) as t (id, story, searched, updated_at, occurred_at)
    on conflict (id) do update set story = excluded.story, words = excluded.words, updated_at = excluded.updated_at,
      occurred_at = excluded.occurred_at
    where news.occurred_at <= excluded.occurred_at`.execute(tx)
  return []
}

/** The id always, and the fields that were asked for; all of them if none were. */
function chosen(stored: string, fields: readonly NewsField[] | undefined): Partial<Story> {
  const story = readStored<Story>(stored)
  if (!fields) return story
  return Object.fromEntries(
    Object.entries(story).filter(([name]) => name === 'id' || fields.includes(name as NewsField))
  )
}

export async function getStory(db: Db, id: string, fields?: readonly NewsField[]) {
  const row = await db.selectFrom('news').select('story').where('id', '=', id).executeTakeFirst()
  if (!row) throw notFound('NEWS_NOT_FOUND', `News story ${id} was never published, or is no longer kept.`)
  return chosen(row.story, fields)
}

/** Quoted parts are phrases, everything else words; all of them must be there. A quote that never ends is none. */
function wordsOf(query: string): RawBuilder<string> {
  const phrases: string[] = []
  const words = query.replaceAll(/"([^"]*)"/g, (_all, phrase: string) => {
    phrases.push(phrase)
    return ' '
  })
  const parts = [
    sql`plainto_tsquery('simple', ${words})`,
    ...phrases.map((phrase) => sql`phraseto_tsquery('simple', ${phrase})`)
  ]
  return sql<string>`(${sql.join(parts, sql` && `)})`
}

export interface NewsQuery {
  query: string
  max_results?: number
  max_age_hours?: number
  'news.fields'?: readonly NewsField[]
}

/** Newest first. */
export async function searchNews({ db, clock }: { db: Db; clock: Clock }, input: NewsQuery) {
  const { query, max_results = 10, max_age_hours = 168 } = input
  if (!/[\p{L}\p{N}]/u.test(query))
    throw invalidRequest({
      message: `The \`query\` query parameter value [${query.slice(0, 200)}] holds no word that could be looked for`,
      parameters: { query: [query.slice(0, 200)] }
    })
  const { rows } = await sql<{ story: string }>`
    select story from news
    where words @@ ${wordsOf(query)} and updated_at >= ${isoTime(clock.now() - max_age_hours * HOUR_MS)}
    order by updated_at desc, id desc limit ${max_results}`.execute(db)
  const data = rows.map(({ story }) => chosen(story, input['news.fields']))
  return { data, meta: { result_count: data.length } }
}

/** Kept as long as a search can reach back, or as long as the event itself if that is longer. */
export async function forgetNews({ db, clock }: { db: Db; clock: Clock }, retentionMs: number) {
  const keptMs = Math.max(retentionMs, MAX_AGE_HOURS_MAX * HOUR_MS)
  await sql`delete from news where updated_at < ${isoTime(clock.now() - keptMs)}`.execute(db)
}

export const forgetNewsJob = (retentionMs: number) =>
  defineJob('activity.forget_news', {
    everyMs: HOUR_MS,
    run: (_payload: object, { database, clock }) => forgetNews({ db: database.db, clock }, retentionMs)
  })
