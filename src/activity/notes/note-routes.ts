/** /2/notes, and /2/evaluate_note beside it. */
import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify'
import { type Static, Type } from 'typebox'
import { ApiError } from '../../errors.ts'
import type { UserPrincipal } from '../../http/auth.ts'
import type { RateLimiter } from '../../http/rate-limits.ts'
import { Data, Fields, Id, Page, Paging, page } from '../../http/v2.ts'
import type { Requirement } from '../../identity/principal.ts'
import { PostFields } from '../filtered-stream/post-fields.ts'
import { eligiblePosts } from './eligible.ts'
import { BUCKETS, EVALUATORS } from './evaluate.ts'
import {
  CLASSIFICATIONS,
  createNote,
  deleteNote,
  evaluateNote,
  listNotes,
  MISLEADING_TAGS,
  NOTE_FIELDS,
  NOTE_STATUSES,
  type NoteDeps,
  rateNote
} from './notes.ts'

const closed = { additionalProperties: false }
const open = { additionalProperties: true }
const Text = Type.String({ minLength: 1, maxLength: 2_000 })
const Status = Type.Enum([...NOTE_STATUSES])
const Evaluation = Type.Object({ post_id: Id, note_text: Text }, closed)
const info = {
  text: Type.String({ minLength: 1, maxLength: 2_000, description: 'Must hold the URL of a source.' }),
  classification: Type.Enum([...CLASSIFICATIONS]),
  misleading_tags: Type.Array(Type.Enum([...MISLEADING_TAGS]), { maxItems: MISLEADING_TAGS.length, uniqueItems: true }),
  trustworthy_sources: Type.Boolean(),
  is_media_note: Type.Optional(Type.Boolean())
}
const NewNote = Type.Object({ test_mode: Type.Boolean(), post_id: Id, info: Type.Object(info, closed) }, closed)
const Note = Type.Object({
  id: Id,
  info: Type.Optional(Type.Object({ ...info, post_id: Id })),
  status: Type.Optional(Status),
  scoring_status: Type.Optional(Status),
  test_result: Type.Optional(
    Type.Object({ evaluator_type: Type.Enum([...EVALUATORS]), evaluator_score_bucket: Type.Enum([...BUCKETS]) })
  )
})
const Path = Type.Object({ id: Id })
const Written = Type.Object({
  test_mode: Type.Boolean(),
  ...Paging(100, 10),
  'note.fields': Type.Optional(Fields(NOTE_FIELDS))
})
const Eligible = Type.Object({
  test_mode: Type.Boolean(),
  ...Paging(100, 10),
  pagination_token: Type.Optional(Type.String({ minLength: 1, description: '`next_token` of an earlier answer.' })),
  post_selection: Type.Optional(
    Type.String({
      minLength: 1,
      maxLength: 100,
      description: 'Comma list of feed_size:small (a day), feed_size:large (a week) and feed_lang:<code>.'
    })
  ),
  ...PostFields
})
const EligiblePosts = {
  200: Type.Object({
    data: Type.Array(Type.Object({ id: Id, text: Type.String() }, open)),
    includes: Type.Optional(Type.Object({}, open)),
    meta: Type.Object({
      newest_id: Type.Optional(Id),
      oldest_id: Type.Optional(Id),
      result_count: Type.Integer(),
      next_token: Type.Optional(Type.String())
    })
  })
}

const WRITES: Requirement = { accepts: ['oauth2', 'oauth1'], scopes: ['tweet.write'], oauth1Level: 'read-write' }
const READS: Requirement = { accepts: ['oauth2', 'oauth1'], scopes: ['tweet.read'] }
const config = (accepts: Requirement, name: string) => ({
  accepts,
  product: 'notes' as const,
  limit: { name: `v2.notes.${name}`, max: 90, windowSeconds: 900 }
})
const WRITTEN_A_DAY = { name: 'v2.notes.create_per_day', max: 250, windowSeconds: 86_400 }
const tags = ['notes']
const WRITTEN = { name: 'notes.written', defaultResults: 10, idOf: ({ id }: { id: string }) => id }
const userOf = (req: FastifyRequest) => (req.principal as UserPrincipal).user.id

/** Beside the usual window there is one of a day, counted when everything else is right with a request. */
const countDay = (limiter: RateLimiter) => async (req: FastifyRequest, reply: FastifyReply) => {
  const { limit, remaining, reset, refused } = await limiter.take(WRITTEN_A_DAY, `user ${userOf(req)}`)
  reply.headers({
    'x-user-limit-24hour-limit': String(limit),
    'x-user-limit-24hour-remaining': String(remaining),
    'x-user-limit-24hour-reset': String(reset)
  })
  if (refused) throw new ApiError(429, [{ code: 'TOO_MANY_REQUESTS', message: 'Too Many Requests' }])
}

export function noteRoutes(app: FastifyInstance, deps: NoteDeps & { limiter: RateLimiter }) {
  // The second path is how a later description spells it.
  for (const path of ['/evaluate_note', '/notes/evaluate']) {
    app.post<{ Body: Static<typeof Evaluation> }>(
      path,
      {
        schema: {
          summary: 'Score the text of a note: 1 reads like a claim with sources, 0 like an opinion.',
          tags,
          body: Evaluation,
          response: Data(Type.Object({ claim_opinion_score: Type.Number({ minimum: 0, maximum: 1 }) }))
        },
        config: config(WRITES, 'evaluate')
      },
      async (req) => ({ data: await evaluateNote(deps.db, userOf(req), req.body) })
    )
  }

  app.post<{ Body: Static<typeof NewNote> }>(
    '/notes',
    {
      schema: {
        summary: 'Write a note on a post.',
        tags,
        body: NewNote,
        response: Data(Type.Object({ id: Id }))
      },
      config: config(WRITES, 'create'),
      preHandler: countDay(deps.limiter)
    },
    async (req) => ({ data: await createNote(deps, userOf(req), req.body) })
  )

  app.delete<{ Params: Static<typeof Path> }>(
    '/notes/:id',
    {
      schema: {
        summary: 'Delete a note of yours.',
        tags,
        params: Path,
        response: Data(Type.Object({ deleted: Type.Boolean() }))
      },
      config: config(WRITES, 'delete')
    },
    async (req) => ({ data: await deleteNote(deps.db, userOf(req), req.params.id) })
  )

  app.get<{ Querystring: Static<typeof Eligible> }>(
    '/notes/search/posts_eligible_for_notes',
    {
      schema: {
        summary: 'Posts that you have not written a note on, newest first.',
        tags,
        querystring: Eligible,
        response: EligiblePosts
      },
      config: config(READS, 'eligible')
    },
    async (req) => eligiblePosts(deps, userOf(req), req.query)
  )

  app.get<{ Querystring: Static<typeof Written> }>(
    '/notes/search/notes_written',
    {
      schema: {
        summary: 'Notes that you have written, newest first.',
        tags,
        querystring: Written,
        response: Page(Note)
      },
      config: config(READS, 'written')
    },
    async (req) => page(req.query, WRITTEN, (bound) => listNotes(deps.db, userOf(req), req.query, bound))
  )
}

const Rated = Type.Object({ user_id: Id, note_id: Id })
const Rating = Type.Object({ status: Status }, closed)

export function noteAdminRoutes(app: FastifyInstance, deps: NoteDeps) {
  app.put<{ Params: Static<typeof Rated>; Body: Static<typeof Rating> }>(
    '/users/:user_id/notes/:note_id',
    {
      schema: {
        summary: 'Tell how a note is rated.',
        tags: ['admin', 'notes'],
        params: Rated,
        body: Rating,
        response: Data(Type.Object({ id: Id, status: Status }))
      }
    },
    async (req) => ({ data: await rateNote(deps.db, req.params.user_id, req.params.note_id, req.body.status) })
  )
}
