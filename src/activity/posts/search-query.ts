/** What search and counts are asked: a query in the rule language, times, ids, a place to go on from. */
import { type Static, Type } from 'typebox'
import { type Clock, isoTime } from '../../clock.ts'
import { invalidRequest } from '../../http/problems.ts'
import { Id } from '../../http/v2.ts'
import type { Db } from '../../storage/db.ts'
import { clausesOf } from '../rules/ast.ts'
import { parseRule, type Rule } from '../rules/index.ts'
import { findPosts } from './posts.ts'
import { decodePosition, type Position } from './search-tokens.ts'
import { neededTerms } from './terms.ts'

export const QUERY_CHARACTERS_MAX = 4_096
/** How far back `recent` looks. */
export const RECENT_MS = 7 * 86_400_000

const Token = Type.Optional(Type.String({ minLength: 11, description: '`next_token` of an earlier answer.' }))
const Time = (description: string) => Type.Optional(Type.String({ description: `${description} UTC, ISO 8601.` }))

export const SearchParameters = {
  query: Type.String({ minLength: 1, maxLength: QUERY_CHARACTERS_MAX, description: 'A rule; see docs/rules.md.' }),
  start_time: Time('Posts made then or later.'),
  end_time: Time('Posts made before.'),
  since_id: Type.Optional(Id),
  until_id: Type.Optional(Id),
  next_token: Token,
  pagination_token: Token
}
const Parameters = Type.Object(SearchParameters)
export type SearchQuery = Static<typeof Parameters>

export interface SearchDeps {
  db: Db
  clock: Clock
  retentionMs: number
  /** Posts that one call looks at before it answers with what it has and a token to go on. */
  looksMax: number
}

/** Newer than a post, or older: by time where the post is kept, else by what its id says. */
export type IdBound = { post: Position } | { number: string }

export interface Criteria {
  rule: Rule
  terms: number[] | undefined
  /** Keyword search finds no reposts. */
  withoutReposts: boolean
  fromMs: number
  /** Exclusive; undefined: everything until now. */
  toMs: number | undefined
  since: IdBound | undefined
  until: IdBound | undefined
  after: Position | undefined
  /** Who may see their own protected posts. */
  userId: string | undefined
}

export interface List {
  /** Tokens of one list are none of another. */
  name: string
  recent: boolean
}

export async function criteriaOf(
  deps: SearchDeps,
  query: SearchQuery,
  list: List,
  userId: string | undefined
): Promise<Criteria> {
  if (query.since_id !== undefined && query.start_time !== undefined)
    throw refused(query, 'since_id', '`since_id` and `start_time` cannot be used together')
  const rule = readRule(query.query)
  const now = deps.clock.now()
  const kept = now - deps.retentionMs
  const oldest = list.recent ? Math.max(kept, now - RECENT_MS) : kept
  const start = timeIn(query, 'start_time')
  const toMs = timeIn(query, 'end_time')
  if (list.recent && start !== undefined && start < now - RECENT_MS)
    throw refused(
      query,
      'start_time',
      `\`start_time\` must be ${isoTime(now - RECENT_MS)} or later: this searches 7 days`
    )
  const fromMs = Math.max(start ?? oldest, oldest)
  if (toMs !== undefined && toMs <= (start ?? (list.recent ? oldest : Number.NEGATIVE_INFINITY)))
    throw refused(query, 'end_time', '`end_time` must be later than the start of the search')
  return {
    rule,
    terms: neededTerms(rule),
    withoutReposts: clausesOf(rule).some(({ type }) => type === 'keyword' || type === 'phrase' || type === 'proximity'),
    fromMs,
    toMs,
    ...(await idBounds(deps.db, query)),
    after: positionIn(query, list),
    userId
  }
}

const refused = (query: SearchQuery, name: keyof SearchQuery, message: string) =>
  invalidRequest({ message, parameters: { [name]: [query[name] ?? ''] } })

function readRule(query: string): Rule {
  const parsed = parseRule(query, { charactersMax: QUERY_CHARACTERS_MAX })
  if (parsed.ok) return parsed.rule
  throw invalidRequest(...parsed.errors.map(({ message }) => ({ message, parameters: { query: [query] } })))
}

const TIME = /^\d{4}-\d\d-\d\dT\d\d:\d\d(:\d\d(\.\d{1,9})?)?Z$/

function timeIn(query: SearchQuery, name: 'start_time' | 'end_time'): number | undefined {
  const text = query[name]
  if (text === undefined) return undefined
  const ms = TIME.test(text) ? Date.parse(text) : Number.NaN
  if (!Number.isNaN(ms)) return ms
  const shown = text.slice(0, 100)
  throw invalidRequest({
    message: `The \`${name}\` query parameter value [${shown}] is not a time such as 2026-06-22T10:00:00Z`,
    parameters: { [name]: [shown] }
  })
}

function positionIn(query: SearchQuery, list: List): Position | undefined {
  if (query.next_token !== undefined && query.pagination_token !== undefined)
    throw refused(query, 'pagination_token', '`next_token` and `pagination_token` cannot be used together')
  const name = query.next_token === undefined ? 'pagination_token' : 'next_token'
  const token = query[name]
  if (token === undefined) return undefined
  const position = decodePosition(token, list.name)
  if (position) return position
  const shown = token.slice(0, 100)
  throw invalidRequest({
    message: `The \`${name}\` query parameter value [${shown}] is not valid`,
    parameters: { [name]: [shown] }
  })
}

async function idBounds(db: Db, { since_id, until_id }: SearchQuery) {
  const kept = await findPosts(db, [since_id ?? [], until_id ?? []].flat())
  const bound = (id: string | undefined): IdBound | undefined => {
    if (id === undefined) return undefined
    const post = kept.find((each) => each.id === id)
    return post ? { post: { created_at: post.created_at, id } } : { number: id }
  }
  return { since: bound(since_id), until: bound(until_id) }
}
