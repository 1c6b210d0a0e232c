/** Conventions of /2, once: data + meta + errors, problem objects, paging tokens, field selection, strict parameters. */
import type { FastifyInstance, FastifyReply, FastifyRequest, FastifySchema } from 'fastify'
import type { TSchema } from 'typebox'
import type { Deps } from '../deps.ts'
import { ApiError } from '../errors.ts'
import type { Product } from '../identity/index.ts'
import { type Accepts, authenticated, type Principal, refuseNotEnrolled } from './auth.ts'
import { sessionOf } from './browser-session.ts'
import { decodeToken, encodeToken } from './paging-tokens.ts'
import { genericProblem, invalidRequest, toProblem } from './problems.ts'
import type { Allowance, Limit } from './rate-limits.ts'
import { refuseBadQuery, retryAfter, toApiError, trackRoutes } from './server.ts'
import { compileValidator, Fields } from './v2-validation.ts'

export * from './v2-schemas.ts'
export { Fields }

declare module 'fastify' {
  interface FastifyContextConfig {
    /** Which credentials the route takes; the wrong kind is told so. */
    accepts?: Accepts
    /** What an app must be enrolled for to call this. */
    product?: Product
    /** Counted per app, or per user where a user is asking. */
    limit?: Limit
  }
  interface FastifyRequest {
    principal: Principal
    allowance: Allowance | null
  }
}

/** Fallback for routes that name no limit of their own. */
const DEFAULT_LIMIT: Limit = { name: 'v2.default', max: 450, windowSeconds: 900 }
const ANONYMOUS_LIMIT: Limit = { name: 'v2.anonymous', max: 450, windowSeconds: 900 }

export function v2Scope(app: FastifyInstance, deps: Deps) {
  const typeBase = deps.config.HERALD_PROBLEM_TYPE_BASE
  const wrongRoute = trackRoutes(app)

  app.setValidatorCompiler(({ schema, httpPart }) => compileValidator(httpPart, schema as TSchema) as never)
  app.decorateRequest('principal')
  app.decorateRequest('allowance', null)

  const count = async (req: FastifyRequest, reply: FastifyReply, limit: Limit, subject: string) => {
    const allowance = await deps.limiter.take(limit, subject)
    req.allowance = allowance
    reply.headers({
      'x-rate-limit-limit': String(allowance.limit),
      'x-rate-limit-remaining': String(allowance.remaining),
      'x-rate-limit-reset': String(allowance.reset)
    })
    if (allowance.refused) throw new ApiError(429, [{ code: 'TOO_MANY_REQUESTS', message: 'Too Many Requests' }])
  }

  // The published description tells each limit by its name.
  app.addHook('onRoute', (route) => {
    if (route.config?.accepts)
      route.schema = { ...route.schema, 'x-rate-limit': route.config.limit ?? DEFAULT_LIMIT } as FastifySchema
  })
  app.addHook('onRequest', async (_req, reply) => {
    reply.header('api-version', '2.166')
  })

  const admit = async (req: FastifyRequest, reply: FastifyReply) => {
    const { accepts, product, limit = DEFAULT_LIMIT } = req.routeOptions.config
    if (!accepts) return
    try {
      req.principal = await authenticated(req, deps, accepts)
    } catch (error) {
      await count(req, reply, ANONYMOUS_LIMIT, req.ip)
      throw error
    }
    const { principal } = req
    const subject =
      principal.kind === 'user'
        ? `user ${principal.user.id}`
        : principal.kind === 'app'
          ? `app ${principal.app.id}`
          : 'admin'
    // What the console asks as an app is not taken from what the app itself may ask.
    const client = sessionOf(req) ? `console ${subject}` : subject
    await count(req, reply, limit, `${req.method} ${req.routeOptions.url} ${client}`)
    refuseNotEnrolled(req, principal, product)
  }
  // A form body is part of an OAuth 1.0a signature, so those requests are admitted once it was read.
  const signedBody = (req: FastifyRequest) =>
    /^application\/x-www-form-urlencoded\b/i.test(req.headers['content-type'] ?? '')
  app.addHook('onRequest', async (req, reply) => {
    refuseBadQuery(req)
    if (!signedBody(req)) await admit(req, reply)
  })
  app.addHook('preValidation', async (req, reply) => {
    if (signedBody(req)) await admit(req, reply)
  })

  const send = (reply: FastifyReply, status: number, body: unknown) => {
    retryAfter(status, reply)
    return reply.code(status).type('application/problem+json; charset=utf-8').serializer(JSON.stringify).send(body)
  }
  app.setErrorHandler((error, req, reply) => {
    const apiError = toApiError(error, req)
    return send(reply, apiError.status, toProblem(apiError, typeBase))
  })
  app.setNotFoundHandler(async (req, reply) => {
    await count(req, reply, ANONYMOUS_LIMIT, req.ip)
    const error = wrongRoute(req, reply)
    return send(reply, error.status, genericProblem(error.status, error.message))
  })
}

/** One page, newest first. `load` gets a bound and how many rows to fetch (one more than the page, to know if there is more). */
export async function page<T extends object>(
  query: { max_results?: number; pagination_token?: string },
  list: { name: string; defaultResults: number; idOf: (row: T) => string },
  load: (bound: { before?: string; after?: string; limit: number }) => Promise<T[]>
) {
  const size = query.max_results ?? list.defaultResults
  const position = query.pagination_token === undefined ? undefined : decodeToken(query.pagination_token, list.name)
  if (query.pagination_token !== undefined && !position) {
    throw invalidRequest({
      message: `The \`pagination_token\` query parameter value [${query.pagination_token.slice(0, 100)}] is not valid`,
      parameters: { pagination_token: [query.pagination_token.slice(0, 100)] }
    })
  }
  const back = position?.direction === 'previous'
  const bound = position ? { [back ? 'after' : 'before']: position.id.toString() } : {}
  const rows = await load({ ...bound, limit: size + 1 })
  const more = rows.length > size
  const data = rows.slice(0, size)
  // Going back, rows come oldest first; answers are always newest first.
  if (back) data.reverse()
  const token = (direction: 'next' | 'previous', row: T) =>
    encodeToken({ direction, id: BigInt(list.idOf(row)) }, list.name)
  const hasNext = data.length > 0 && (back || more)
  const hasPrevious = data.length > 0 && (back ? more : position !== undefined)
  return {
    data,
    meta: {
      result_count: data.length,
      ...(hasNext ? { next_token: token('next', data.at(-1)!) } : {}),
      ...(hasPrevious ? { previous_token: token('previous', data[0]!) } : {})
    }
  }
}

/** Field selection: the named fields of each row, or all of them. */
export function select<T extends object>(row: T, fields: readonly string[] | undefined): Partial<T> {
  if (!fields) return row
  return Object.fromEntries(Object.entries(row).filter(([name]) => fields.includes(name))) as Partial<T>
}
