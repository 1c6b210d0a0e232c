/** What both listeners and every scope share: request ids, strict bodies, 405 beside 404, a log line per problem. */
import { randomBytes } from 'node:crypto'
import Fastify, {
  type FastifyBaseLogger,
  type FastifyInstance,
  type FastifyReply,
  type FastifyRequest,
  LogController
} from 'fastify'
import type { Logger } from 'pino'
import { ApiError, badRequest, notFound } from '../errors.ts'
import { isDatabaseAway } from '../storage/db.ts'
import { parseJson, parsePairs } from './json.ts'
import { RequestLog } from './request-log.ts'

declare module 'fastify' {
  interface FastifyRequest {
    /** The body as it came, for signatures. */
    rawBody: Buffer
    /** Form bodies as ordered pairs. */
    formPairs: [string, string][]
    /** Gives back the nonce that this request used up, so that its client may repeat it (decisions/0017). */
    releaseNonce: (() => Promise<void>) | null
  }
  interface FastifyInstance {
    /** The address clients use for this listener, if it is configured. */
    publicUrl: string | undefined
  }
}

export interface ServerOptions {
  log: Logger
  bodyBytesMax: number
  trustProxy: boolean
  publicUrl?: string | undefined
}

const REQUEST_ID_BYTES = 8
let entropy = Buffer.alloc(0)
let taken = 0

/** Random bytes are fetched for many requests at a time; one by one they cost more than the rest of the routing. */
function requestId() {
  if (taken + REQUEST_ID_BYTES > entropy.length) {
    entropy = randomBytes(REQUEST_ID_BYTES * 512)
    taken = 0
  }
  taken += REQUEST_ID_BYTES
  return entropy.toString('hex', taken - REQUEST_ID_BYTES, taken)
}

export function createServer({ log, bodyBytesMax, trustProxy, publicUrl }: ServerOptions): FastifyInstance {
  const app = Fastify({
    loggerInstance: log as FastifyBaseLogger,
    childLoggerFactory: (parent, bindings) => new RequestLog(parent, bindings),
    // Problems are logged where they are understood; a line per request would drown them.
    logController: new LogController({ disableRequestLogging: true, requestIdLogLabel: 'request_id' }),
    bodyLimit: bodyBytesMax,
    trustProxy,
    genReqId: requestId,
    // A second route for every GET would cost megabytes on both listeners; no client of these APIs asks with HEAD.
    exposeHeadRoutes: false,
    // Idle keep-alive connections must not delay a graceful stop.
    forceCloseConnections: 'idle',
    keepAliveTimeout: 65_000,
    requestTimeout: 60_000,
    routerOptions: {
      ignoreTrailingSlash: true,
      maxParamLength: 2_000,
      querystringParser: (text) => queryObject(text),
      onMaxParamLength: (_path, _req, res) => {
        res.statusCode = 414
        res.end()
      }
    },
    frameworkErrors: (_error, req, reply) => {
      // A URL that cannot be decoded never reaches a scope; its prefix still decides the format.
      const message = 'The request path is not valid percent-encoded UTF-8.'
      const body = req.url.startsWith('/12')
        ? { errors: [{ code: 'ILLEGAL_CHARACTERS', message }], request: { params: {} } }
        : { title: 'Bad Request', type: 'about:blank', status: 400, detail: message }
      ;(reply as FastifyReply).code(400).send(body)
    }
  })

  app.decorateRequest('rawBody', null as unknown as Buffer)
  app.decorateRequest('formPairs', null as unknown as [string, string][])
  app.decorateRequest('releaseNonce', null)
  app.decorate('publicUrl', publicUrl)
  app.removeAllContentTypeParsers()
  app.addContentTypeParser(/^application\/(?:[\w.+-]+\+)?json\b/, { parseAs: 'buffer' }, (req, body, done) => {
    req.rawBody = body as Buffer
    try {
      // Clients announce JSON and send nothing; that is no body.
      done(null, body.length === 0 ? undefined : parseJson(body as Buffer))
    } catch (error) {
      done(error as Error)
    }
  })
  app.addContentTypeParser(/^application\/x-www-form-urlencoded\b/, { parseAs: 'buffer' }, (req, body, done) => {
    req.rawBody = body as Buffer
    try {
      req.formPairs = parsePairs((body as Buffer).toString('latin1'))
      done(null, pairsToObject(req.formPairs))
    } catch (error) {
      done(error as Error)
    }
  })

  // Hooks of every request call back instead of returning a promise: that is cheaper by some microseconds each.
  app.addHook('onRequest', (req, reply, done) => {
    reply.header('x-request-id', req.id)
    reply.header('x-transaction-id', req.id)
    reply.header('cache-control', 'no-cache, no-store, max-age=0')
    done()
  })
  app.addHook('onSend', (req, reply, _payload, done) => {
    if (!req.releaseNonce || (reply.statusCode !== 429 && reply.statusCode < 500)) return done()
    // If the database is away, so is the nonce's table; the client then signs again.
    req
      .releaseNonce()
      .catch((error) => req.log.debug({ err: error }, 'nonce not released'))
      .finally(done)
  })
  return app
}

/** Repeated keys become arrays. */
export function pairsToObject(pairs: [string, string][]): Record<string, string | string[]> {
  const object: Record<string, string | string[]> = Object.create(null)
  for (const [name, value] of pairs) {
    const before = object[name]
    object[name] = before === undefined ? value : Array.isArray(before) ? [...before, value] : [before, value]
  }
  return object
}

const BAD_QUERY = Symbol('bad query')

/** The router cannot refuse a query string, so a bad one is remembered and refused by the scope (see refuseBadQuery). */
function queryObject(text: string): Record<string, unknown> {
  try {
    return pairsToObject(parsePairs(text))
  } catch (error) {
    return { [BAD_QUERY]: error }
  }
}

export function refuseBadQuery(req: FastifyRequest) {
  const problem = (req.query as Record<symbol, unknown>)[BAD_QUERY]
  if (problem) throw problem
  for (const value of Object.values((req.params ?? {}) as Record<string, string>)) {
    if (value.includes('\0')) throw badRequest('ILLEGAL_CHARACTERS', 'The request path contains a null character.')
  }
}

/** What a failure is, in the words every scope understands. Unknown errors become a plain 500; the log has the rest. */
export function toApiError(error: unknown, req: FastifyRequest): ApiError {
  if (error instanceof ApiError) {
    if (error.status >= 500) req.log.error({ err: error }, 'request failed')
    return error
  }
  if (isDatabaseAway(error)) {
    req.log.warn({ err: error }, 'database is away')
    return new ApiError(503, [
      { code: 'SERVICE_UNAVAILABLE', message: 'The service is temporarily unavailable; try again shortly.' }
    ])
  }
  const { statusCode, code, message } = error as { statusCode?: number; code?: string; message?: string }
  if (code === 'FST_ERR_CTP_BODY_TOO_LARGE') {
    return new ApiError(413, [{ code: 'REQUEST_TOO_COMPLEX', message: 'The request body is too large.' }])
  }
  if (code === 'FST_ERR_CTP_INVALID_MEDIA_TYPE') {
    return new ApiError(415, [
      {
        code: 'UNSUPPORTED_MEDIA_TYPE',
        message: 'Send the body as application/json or application/x-www-form-urlencoded.'
      }
    ])
  }
  if (statusCode && statusCode >= 400 && statusCode < 500) {
    return new ApiError(statusCode, [{ code: 'INVALID_PARAMETER', message: message ?? 'The request is invalid.' }])
  }
  req.log.error({ err: error }, 'request failed')
  return new ApiError(500, [
    { code: 'INTERNAL_ERROR', message: 'Something is broken. The request id identifies this failure in the log.' }
  ])
}

/** Remembers the routes registered on `app`, to tell a wrong method (405) from a wrong path (404). */
export function trackRoutes(app: FastifyInstance) {
  const routes: { pattern: RegExp; methods: string[] }[] = []
  app.addHook('onRoute', (route) => {
    const methods = [route.method].flat()
    const pattern = new RegExp(
      `^${route.url
        .replace(/[.+?^${}()|[\]\\]/g, '\\$&')
        .replace(/:[A-Za-z_]+/g, '[^/]+')
        .replace(/\*/g, '.*')}/?$`
    )
    routes.push({ pattern, methods })
  })
  return (req: FastifyRequest, reply: FastifyReply): ApiError => {
    const path = req.url.split('?', 1)[0]!
    const allowed = [...new Set(routes.filter((r) => r.pattern.test(path)).flatMap((r) => r.methods))]
    if (allowed.length === 0)
      return notFound('ROUTE_NOT_FOUND', `There is nothing at ${req.method} ${path.slice(0, 200)}.`)
    reply.header('allow', allowed.join(', '))
    return new ApiError(405, [
      { code: 'METHOD_NOT_ALLOWED', message: `${req.method} is not allowed here; use ${allowed.join(' or ')}.` }
    ])
  }
}

/** 5xx that pass by themselves tell when to come back. */
export function retryAfter(status: number, reply: FastifyReply) {
  if (status === 503) reply.header('retry-after', '2')
}
