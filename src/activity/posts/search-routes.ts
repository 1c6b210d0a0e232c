/** /2/tweets/search and /2/tweets/counts; the filtered stream is next door. */
import type { FastifyInstance } from 'fastify'
import { type Static, Type } from 'typebox'
import { APP_ONLY, type Principal } from '../../http/auth.ts'
import { Fields, Id, select, Timestamp } from '../../http/v2.ts'
import type { Requirement } from '../../identity/principal.ts'
import { PostFields } from '../filtered-stream/post-fields.ts'
import { countPosts, GRANULARITIES, type Granularity } from './counts.ts'
import { searchPosts } from './search.ts'
import { type SearchDeps, SearchParameters } from './search-query.ts'

const open = { additionalProperties: true }
const Things = Type.Optional(Type.Array(Type.Object({}, open)))
export const FoundPosts = Type.Object({
  data: Type.Optional(Type.Array(Type.Object({ id: Id, text: Type.String() }, open))),
  includes: Type.Optional(Type.Object({ users: Things, tweets: Things, media: Things, polls: Things, places: Things })),
  meta: Type.Object({
    newest_id: Type.Optional(Id),
    oldest_id: Type.Optional(Id),
    result_count: Type.Integer(),
    next_token: Type.Optional(Type.String())
  })
})
const Search = (maxResults: number) =>
  Type.Object({
    ...SearchParameters,
    max_results: Type.Optional(Type.Integer({ minimum: 10, maximum: maxResults, default: 10 })),
    sort_order: Type.Optional(
      Type.Enum(['recency', 'relevancy'], { description: 'Herald ranks nothing: both are newest first.' })
    ),
    ...PostFields
  })
const Recent = Search(100)
const All = Search(500)

const COUNT_FIELDS = ['end', 'start', 'tweet_count'] as const
const Count = Type.Object({
  ...SearchParameters,
  granularity: Type.Optional(Type.Enum(Object.keys(GRANULARITIES) as Granularity[], { default: 'hour' })),
  'search_count.fields': Type.Optional(Fields(COUNT_FIELDS))
})
const Counted = Type.Object({
  data: Type.Array(
    Type.Object({
      end: Type.Optional(Timestamp),
      start: Type.Optional(Timestamp),
      tweet_count: Type.Optional(Type.Integer())
    })
  ),
  meta: Type.Object({ total_tweet_count: Type.Integer(), next_token: Type.Optional(Type.String()) })
})

const ANYBODY: Requirement = { accepts: ['app', 'oauth2', 'oauth1'], scopes: ['tweet.read', 'users.read'] }
const config = (accepts: Requirement, name: string, max: number, windowSeconds: number) => ({
  accepts,
  product: 'search' as const,
  limit: { name: `v2.search.${name}`, max, windowSeconds }
})
const tags = ['search']

const userOf = (principal: Principal) => (principal.kind === 'user' ? principal.user.id : undefined)

export function searchRoutes(app: FastifyInstance, deps: SearchDeps) {
  app.get<{ Querystring: Static<typeof Recent> }>(
    '/tweets/search/recent',
    {
      schema: {
        summary: 'Posts of the last 7 days that match a query, newest first.',
        tags,
        querystring: Recent,
        response: { 200: FoundPosts }
      },
      config: config(ANYBODY, 'recent', 450, 900)
    },
    async (req) => searchPosts(deps, req.query, { name: 'search.recent', recent: true }, userOf(req.principal))
  )

  app.get<{ Querystring: Static<typeof All> }>(
    '/tweets/search/all',
    {
      schema: {
        summary: 'All posts kept that match a query, newest first.',
        tags,
        querystring: All,
        response: { 200: FoundPosts }
      },
      config: config(APP_ONLY, 'all', 1, 1)
    },
    async (req) => searchPosts(deps, req.query, { name: 'search.all', recent: false }, userOf(req.principal))
  )

  app.get<{ Querystring: Static<typeof Count> }>(
    '/tweets/counts/recent',
    {
      schema: {
        summary: 'How many posts of the last 7 days match a query, by time.',
        tags,
        querystring: Count,
        response: { 200: Counted }
      },
      config: config(APP_ONLY, 'counts_recent', 300, 900)
    },
    async (req) => counted(deps, req.query, true)
  )

  app.get<{ Querystring: Static<typeof Count> }>(
    '/tweets/counts/all',
    {
      schema: {
        summary: 'How many of all posts kept match a query, by time.',
        tags,
        querystring: Count,
        response: { 200: Counted }
      },
      config: config(APP_ONLY, 'counts_all', 300, 900)
    },
    async (req) => counted(deps, req.query, false)
  )
}

async function counted(deps: SearchDeps, query: Static<typeof Count>, recent: boolean) {
  const list = { name: recent ? 'counts.recent' : 'counts.all', recent }
  const { data, meta } = await countPosts(deps, query, list, undefined)
  return { data: data.map((bucket) => select(bucket, query['search_count.fields'])), meta }
}
