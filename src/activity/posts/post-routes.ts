/** /2/tweets and /2/posts: posts of a user, made by an app for them. */
import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify'
import { type Static, Type } from 'typebox'
import { ApiError } from '../../errors.ts'
import type { UserPrincipal } from '../../http/auth.ts'
import type { RateLimiter } from '../../http/rate-limits.ts'
import { Data, Id } from '../../http/v2.ts'
import type { Requirement } from '../../identity/principal.ts'
import { createPost, type PostDeps } from './create-post.ts'
import { deletePost } from './delete-post.ts'
import { EditedPost, NewPost } from './new-post.ts'

const Created = {
  201: Type.Object({
    data: Type.Object({ id: Id, text: Type.String(), edit_history_tweet_ids: Type.Array(Id) })
  })
}
const Path = Type.Object({ id: Id })

const WRITER: Requirement = {
  accepts: ['oauth2', 'oauth1'],
  scopes: ['tweet.read', 'tweet.write', 'users.read'],
  oauth1Level: 'read-write'
}
const config = (name: string, max: number) => ({
  accepts: WRITER,
  product: 'posts' as const,
  limit: { name: `v2.posts.${name}`, max, windowSeconds: 900 }
})
const tags = ['posts']

/** Whoever it posts for, an app posts so often a day. */
const APP_LIMIT = { name: 'v2.posts.of_app', max: 10_000, windowSeconds: 86_400 }

const countedForApp = (limiter: RateLimiter) => async (req: FastifyRequest, reply: FastifyReply) => {
  const { limit, remaining, reset, refused } = await limiter.take(APP_LIMIT, (req.principal as UserPrincipal).app.id)
  reply.headers({
    'x-app-limit-24hour-limit': String(limit),
    'x-app-limit-24hour-remaining': String(remaining),
    'x-app-limit-24hour-reset': String(reset)
  })
  if (refused) throw new ApiError(429, [{ code: 'TOO_MANY_REQUESTS', message: 'Too Many Requests' }])
}

export function postRoutes(app: FastifyInstance, deps: PostDeps & { limiter: RateLimiter }) {
  app.post<{ Body: Static<typeof NewPost> }>(
    '/tweets',
    {
      schema: { summary: 'Create a post, or edit one with `edit_options`.', tags, body: NewPost, response: Created },
      config: config('create', 100),
      preHandler: countedForApp(deps.limiter)
    },
    async (req, reply) =>
      reply.code(201).send({ data: await createPost(deps, req.principal as UserPrincipal, req.body) })
  )

  app.post<{ Body: Static<typeof EditedPost> }>(
    '/posts',
    {
      schema: { summary: 'Edit a post: every edit has an id of its own.', tags, body: EditedPost, response: Created },
      config: config('edit', 100),
      preHandler: countedForApp(deps.limiter)
    },
    async (req, reply) =>
      reply.code(201).send({ data: await createPost(deps, req.principal as UserPrincipal, req.body) })
  )

  app.delete<{ Params: Static<typeof Path> }>(
    '/tweets/:id',
    {
      schema: {
        summary: 'Delete a post with all its versions.',
        tags,
        params: Path,
        response: Data(Type.Object({ deleted: Type.Boolean() }))
      },
      config: config('delete', 50)
    },
    async (req) => ({ data: await deletePost(deps, req.principal as UserPrincipal, req.params.id) })
  )
}
