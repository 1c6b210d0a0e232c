/** /2/news */
import type { FastifyInstance } from 'fastify'
import { type Static, Type } from 'typebox'
import type { Clock } from '../../clock.ts'
import { Data, Fields, Id, Timestamp } from '../../http/v2.ts'
import type { Requirement } from '../../identity/principal.ts'
import type { Db } from '../../storage/db.ts'
import { getStory, MAX_AGE_HOURS_MAX, NEWS_FIELDS, searchNews } from './news.ts'

const open = { additionalProperties: true }
const Text = Type.Optional(Type.String())
const News = Type.Object({
  id: Id,
  name: Text,
  category: Text,
  hook: Text,
  summary: Text,
  keywords: Type.Optional(Type.Array(Type.String())),
  contexts: Type.Optional(Type.Object({}, open)),
  cluster_posts_results: Type.Optional(Type.Array(Type.Object({ post_id: Id }, open))),
  disclaimer: Text,
  updated_at: Type.Optional(Timestamp)
})
const NewsFields = { 'news.fields': Type.Optional(Fields(NEWS_FIELDS)) }
const Path = Type.Object({ id: Id })
const Search = Type.Object({
  query: Type.String({
    minLength: 1,
    maxLength: 2048,
    description: 'Words that must all be there, in any order; "in quotes" as they stand.'
  }),
  max_results: Type.Optional(Type.Integer({ minimum: 1, maximum: 100, default: 10 })),
  max_age_hours: Type.Optional(Type.Integer({ minimum: 1, maximum: MAX_AGE_HOURS_MAX, default: 168 })),
  ...NewsFields
})
const Selected = Type.Object(NewsFields)

/** News are nobody's own: no scope is asked for. */
const ANYBODY: Requirement = { accepts: ['app', 'oauth2', 'oauth1'] }
const config = (name: string) => ({
  accepts: ANYBODY,
  product: 'activity' as const,
  limit: { name: `v2.news.${name}`, max: 200, windowSeconds: 900 }
})
const tags = ['news']

export function newsRoutes(app: FastifyInstance, deps: { db: Db; clock: Clock }) {
  app.get<{ Querystring: Static<typeof Search> }>(
    '/news/search',
    {
      schema: {
        summary: 'Search news stories, newest first.',
        tags,
        querystring: Search,
        response: {
          200: Type.Object({ data: Type.Array(News), meta: Type.Object({ result_count: Type.Integer() }) })
        }
      },
      config: config('search')
    },
    async (req) => searchNews(deps, req.query)
  )

  app.get<{ Params: Static<typeof Path>; Querystring: Static<typeof Selected> }>(
    '/news/:id',
    {
      schema: { summary: 'A news story.', tags, params: Path, querystring: Selected, response: Data(News) },
      config: config('read')
    },
    async (req) => ({ data: await getStory(deps.db, req.params.id, req.query['news.fields']) })
  )
}
