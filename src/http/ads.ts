/**
 * Conventions of /12, once: the request echo, data, cursors, the three error shapes, permissions, rate limits. A route is
 * declared with what it needs; the handler gets parsed inputs and returns a row, or rows.
 */
import { Readable } from 'node:stream'
import type { FastifyInstance, FastifyReply, FastifyRequest, RouteShorthandOptions } from 'fastify'
import type { TSchema } from 'typebox'
import type { Deps } from '../deps.ts'
import { ApiError, badRequests, type ErrorItem, forbidden, notFound, unauthorized } from '../errors.ts'
import { bool, type Fields, type InputOf, int, list, readInput, text } from './ads-input.ts'
import { credentialsOf, type UserPrincipal } from './auth.ts'
import { sessionOf } from './browser-session.ts'
import type { Allowance, Limit } from './rate-limits.ts'
import { refuseBadQuery, retryAfter, toApiError, trackRoutes } from './server.ts'

export type Environment = 'production' | 'sandbox'

/** The account of the path, with what the caller may do there. */
export interface AccountAccess {
  account: { id: string; environment: Environment; deleted: boolean }
  permissions: readonly string[]
  /** Whether one of the permissions covers an operation of the access table. */
  may(operation: string): boolean
}

/** How accounts are found; the campaigns domain provides it. */
export type FindAccountAccess = (
  userId: string,
  accountId: string,
  environment: Environment
) => Promise<AccountAccess | undefined>

export interface AdsContext<I> {
  input: I
  path: Record<string, string>
  principal: UserPrincipal
  /** Set on every route below `/accounts/:account_id`. */
  access: AccountAccess
  environment: Environment
  req: FastifyRequest
  reply: FastifyReply
}

/** What a list handler returns. */
export interface Rows<T = unknown> {
  rows: T[]
  next_cursor?: string | null
  total_count?: number
}

export interface AdsRoute<F extends Fields> {
  method: 'GET' | 'POST' | 'PUT' | 'DELETE'
  path: string
  summary: string
  input?: F
  /** Schema of `data` (of one item of it for lists). */
  output: TSchema
  /** The envelope: one object, or a list (with or without `next_cursor`). */
  many?: boolean | 'without_cursor'
  data_type?: string
  /** Operation of the access table that the caller's permissions must cover; required below an account. */
  operation?: string
  limit?: Limit
  /** Beyond the documents; marked in the OpenAPI. */
  extension?: boolean
  sandboxOnly?: boolean
  /** Changes nothing, whatever its method: clients that may only read are welcome. */
  readOnly?: boolean
  /** Answers for a deleted account too; everywhere else it is as if it never was. */
  deletedAccount?: boolean
  /** `request` is an array parallel to the input; `echo` makes it. */
  batch?: boolean
  /** Other names or fewer entries in `request.params` than the inputs. */
  echo?: (params: Record<string, unknown>, path: Record<string, string>) => unknown
  /** Ids in the path that are not base 36 (users, catalogs): decimal. */
  decimalIds?: boolean
  /** Inputs are described as a JSON body; without it, as a query string unless one of them is an object. */
  jsonBody?: boolean
  tag?: string
  /** Who may come in at all, before anything of the request is looked at; throws for those who may not. */
  admit?: (principal: UserPrincipal) => void
  /** Media type of an answer that is a file; the handler returns a Readable. */
  file?: string
  handler: (ctx: AdsContext<InputOf<F>>) => Promise<unknown>
}

export interface AdsScope {
  app: FastifyInstance
  deps: Deps
  environment: Environment
  route<F extends Fields = Record<never, never>>(route: AdsRoute<F>): void
}

const MINUTES_15 = 900
/** Numbers of the open points; names are quoted in docs/rate-limits.md. */
export const ADS_LIMITS = {
  writes: { name: 'ads.writes', max: 450, windowSeconds: 60 },
  coreReads: { name: 'ads.core_reads', max: 10_000, windowSeconds: MINUTES_15 },
  accountReads: { name: 'ads.account_reads', max: 2_000, windowSeconds: MINUTES_15 },
  totalCount: { name: 'ads.with_total_count', max: 200, windowSeconds: MINUTES_15 },
  globalReads: { name: 'ads.global_reads', max: 2_000, windowSeconds: MINUTES_15 },
  lookups: { name: 'ads.targeting_lookups', max: 400, windowSeconds: MINUTES_15 },
  anonymous: { name: 'ads.anonymous', max: 450, windowSeconds: MINUTES_15 }
} as const satisfies Record<string, Limit>

const notAuthenticated = () => unauthorized('UNAUTHORIZED_ACCESS', 'This request is not properly authenticated')
const tooMany = () =>
  new ApiError(429, [
    { code: 'TOO_MANY_REQUESTS', message: 'Too many requests; wait until the time in x-rate-limit-reset.' }
  ])

/** Header names by prefix: limit, remaining, reset. */
const RATE_HEADERS = {
  'x-rate-limit': ['x-rate-limit-limit', 'x-rate-limit-remaining', 'x-rate-limit-reset'],
  'x-account-rate-limit': ['x-account-rate-limit-limit', 'x-account-rate-limit-remaining', 'x-account-rate-limit-reset']
} as const

function rateHeaders(reply: FastifyReply, prefix: keyof typeof RATE_HEADERS, allowance: Allowance) {
  const [limit, remaining, reset] = RATE_HEADERS[prefix]
  reply.header(limit, `${allowance.limit}`).header(remaining, `${allowance.remaining}`)
  reply.header(reset, `${allowance.reset}`)
}

declare module 'fastify' {
  interface FastifyRequest {
    /** What has been parsed so far, for the echo of a failed request. */
    adsEcho: unknown
  }
}

export function adsScope(
  app: FastifyInstance,
  deps: Deps,
  environment: Environment,
  findAccess: FindAccountAccess
): AdsScope {
  const wrongRoute = trackRoutes(app)
  // Inputs are read by readInput; the schemas on routes only describe them.
  app.setValidatorCompiler(() => () => true)
  app.decorateRequest('adsEcho', null)

  app.addHook('onRequest', (req, reply, done) => {
    reply.header('x-current-api-version', '12')
    reply.header('x-api-version', '12')
    req.adsEcho = {}
    try {
      refuseBadQuery(req)
    } catch (error) {
      return done(error as Error)
    }
    if (req.headers.authorization || sessionOf(req)) return done()
    // Nothing of an anonymous request is read, least of all its body.
    countAnonymous(req, reply).then(() => done(notAuthenticated()), done)
  })

  const countAnonymous = async (req: FastifyRequest, reply: FastifyReply) => {
    const allowance = await deps.limiter.take(ADS_LIMITS.anonymous, req.ip)
    rateHeaders(reply, 'x-rate-limit', allowance)
    if (allowance.refused) throw tooMany()
  }

  async function principalOf(req: FastifyRequest, reply: FastifyReply): Promise<UserPrincipal> {
    const principal = await deps.authenticator.authenticate(credentialsOf(req))
    if ('failure' in principal || principal.kind !== 'user') {
      req.log.debug({ failure: 'failure' in principal ? principal.failure : 'not a user' }, 'not authenticated')
      await countAnonymous(req, reply)
      throw notAuthenticated()
    }
    return principal
  }

  /** Whether the client application itself may use this API, and write with it. */
  function admitClient(principal: UserPrincipal, write: boolean) {
    const adsAccess = (principal.app as { ads_access?: string }).ads_access ?? 'none'
    if (adsAccess === 'none') {
      throw forbidden(
        'UNAUTHORIZED_CLIENT_APPLICATION',
        'The client application making this request does not have access to this API'
      )
    }
    const readOnly = () =>
      forbidden('READONLY_CLIENT_APPLICATION', 'The client application making this request may only read')
    if (write && adsAccess === 'read') throw readOnly()
    if (principal.via === 'oauth1') {
      if (write && principal.permissions === 'read') throw readOnly()
      return
    }
    const scope = write ? 'ads.write' : 'ads.read'
    if (!principal.scopes.has(scope)) {
      throw forbidden(
        'UNAUTHORIZED_CLIENT_APPLICATION',
        `The access token lacks the scope ${scope}; ask the user to authorize the app with it`
      )
    }
  }

  /** Counts a request of a route; most of the time that needs no waiting. */
  function counter(route: AdsRoute<Fields>) {
    const write = route.method !== 'GET'
    const limit = limitOf(route)
    const endpoint = `${environment} ${route.method} ${route.path}`
    // Writes share one budget; reads have one per endpoint, and those of an account one per account.
    const perAccount = !write && route.path.includes(':account_id')
    return async (reply: FastifyReply, { user }: UserPrincipal, accountId: string | undefined, withTotal: boolean) => {
      const subject = perAccount ? `account ${accountId}` : `user ${user.id}`
      const taken = deps.limiter.take(
        limit,
        write && !route.limit ? `${environment} ${subject}` : `${endpoint} ${subject}`
      )
      const allowance = taken instanceof Promise ? await taken : taken
      if (perAccount) {
        const quota = deps.limiter.take(GLOBAL_QUOTA, `${environment} user ${user.id}`)
        rateHeaders(reply, 'x-account-rate-limit', allowance)
        rateHeaders(reply, 'x-rate-limit', quota instanceof Promise ? await quota : quota)
      } else rateHeaders(reply, 'x-rate-limit', allowance)
      if (allowance.refused) throw tooMany()
      if (withTotal) {
        const total = await deps.limiter.take(ADS_LIMITS.totalCount, `${endpoint} user ${user.id}`)
        rateHeaders(reply, perAccount ? 'x-account-rate-limit' : 'x-rate-limit', total)
        if (total.refused) throw tooMany()
      }
    }
  }

  async function accessTo(
    route: AdsRoute<Fields>,
    principal: UserPrincipal,
    accountId: string
  ): Promise<AccountAccess> {
    const access = await findAccess(principal.user.id, accountId, environment)
    if (!access || (access.account.deleted && !route.deletedAccount))
      throw forbidden('ACCOUNT_NOT_FOUND', `Account ${accountId.slice(0, 50)} was not found`)
    if (!route.operation || !access.may(route.operation)) {
      throw forbidden(
        'ACTION_NOT_ALLOWED',
        `This action needs a permission that you do not have on account ${accountId} (you have: ${access.permissions.join(', ')})`
      )
    }
    return access
  }

  function route<F extends Fields = Record<never, never>>(definition: AdsRoute<F>) {
    if (definition.sandboxOnly && environment !== 'sandbox') return
    const declared = definition as unknown as AdsRoute<Fields>
    const count = counter(declared)
    const pathErrors = idChecks(declared)
    const fields = declared.input ?? {}
    const handler = async (req: FastifyRequest, reply: FastifyReply) => {
      const principal = await principalOf(req, reply)
      const path = (req.params ?? {}) as Record<string, string>
      const raw = rawInput(req)
      await count(reply, principal, path.account_id, /^(true|1)$/i.test(String(raw.with_total_count ?? '')))
      admitClient(principal, declared.method !== 'GET' && !declared.readOnly)
      declared.admit?.(principal)
      const access =
        path.account_id === undefined
          ? (undefined as unknown as AccountAccess)
          : await accessTo(declared, principal, path.account_id)
      const errors = pathErrors(path)
      const parsed = readInput(fields, raw)
      const echo = declared.echo?.(parsed.params, path) ?? { ...parsed.params, ...path }
      req.adsEcho = echo
      errors.push(...parsed.errors)
      if (errors.length > 0) throw badRequests(errors, errors[0]!.code === 'INVALID_ID_ILLEGAL_CHARACTERS' ? 404 : 400)
      const result = await declared.handler({
        input: parsed.input,
        path,
        principal,
        access,
        environment,
        req,
        reply
      } as never)
      // What is too large to be held in memory is sent as it comes.
      if (result instanceof Readable) return reply.type(declared.file ?? 'application/json; charset=utf-8').send(result)
      return envelope(declared, echo, result)
    }
    const options = { schema: describe(declared) } as RouteShorthandOptions
    app.route({ method: definition.method, url: definition.path, ...options, handler })
  }

  app.setErrorHandler((error, req, reply) => {
    const apiError = toApiError(error, req)
    // The media type is a matter of the request, not of a server resource: the documents know only 400 for it.
    retryAfter(apiError.status, reply)
    return sendErrors(reply, apiError, req.adsEcho)
  })
  app.setNotFoundHandler(async (req, reply) => {
    rateHeaders(reply, 'x-rate-limit', await deps.limiter.take(ADS_LIMITS.anonymous, req.ip))
    return sendErrors(reply, wrongRoute(req, reply), {})
  })

  return { app, deps, environment, route }
}

/** Writes share a budget; reads below an account have a larger one than the others. */
const limitOf = ({ limit, method, path }: AdsRoute<Fields>): Limit =>
  limit ??
  (method !== 'GET'
    ? ADS_LIMITS.writes
    : path.includes(':account_id')
      ? ADS_LIMITS.accountReads
      : ADS_LIMITS.globalReads)

/** Beside a limit per account, the user-level headers show a large quota that never refuses. */
const GLOBAL_QUOTA: Limit = { name: 'ads.user_reads', max: 1_000_000, windowSeconds: MINUTES_15 }

const sendErrors = (reply: FastifyReply, error: ApiError, params: unknown) => {
  const { operation_errors, request } = error.extra as { operation_errors?: ErrorItem[][]; request?: unknown }
  const body = operation_errors
    ? { operation_errors, request }
    : { errors: error.items, request: request ?? { params: params ?? {} } }
  return reply.code(error.status).type('application/json; charset=utf-8').serializer(JSON.stringify).send(body)
}

/** Query, form and JSON object merged; the body wins over the query. A JSON array is the batch's `body`. */
function rawInput(req: FastifyRequest): Record<string, unknown> {
  if (req.body === undefined || req.body === null) return req.query as Record<string, unknown>
  const raw: Record<string, unknown> = { ...(req.query as object) }
  if (Array.isArray(req.body)) raw.body = req.body
  else if (typeof req.body === 'object') Object.assign(raw, req.body)
  else throw badRequests([{ code: 'INVALID_PARAMETER', message: 'The request body must be a JSON object.' }])
  return raw
}

/** What is wrong with the ids of a path. An account's own id is answered like an account that is not there. */
function idChecks({ path, decimalIds }: AdsRoute<Fields>) {
  const names = pathNames(path).filter((name) => name !== 'account_id')
  const form = decimalIds ? /^[0-9]{1,19}$/ : /^[0-9a-z]{1,13}$/
  return (given: Record<string, string>): ErrorItem[] => {
    const errors: ErrorItem[] = []
    for (const name of names) {
      const value = given[name]!
      if (form.test(value)) continue
      const message = `"${value.slice(0, 50)}" is not an id`
      errors.push({ code: 'INVALID_ID_ILLEGAL_CHARACTERS', message, parameter: name })
    }
    return errors
  }
}

const pathNames = (path: string) => [...path.matchAll(/:([a-z_]+)/g)].map((match) => match[1]!)

function envelope(route: AdsRoute<Fields>, params: unknown, result: unknown) {
  const request = route.batch ? params : { params }
  if (!route.many) return { request, data: result }
  const { rows, next_cursor = null, total_count } = result as Rows
  return {
    request,
    ...(route.many === 'without_cursor' ? {} : { next_cursor }),
    ...(route.data_type ? { data_type: route.data_type } : {}),
    ...(total_count === undefined ? {} : { total_count }),
    data: rows
  }
}

/** What Fastify serializes by and the OpenAPI description shows. */
function describe(route: AdsRoute<Fields>) {
  const names = pathNames(route.path)
  const properties = Object.fromEntries(Object.entries(route.input ?? {}).map(([name, field]) => [name, field.schema]))
  const required = Object.entries(route.input ?? {})
    .filter(([, field]) => field.required)
    .map(([name]) => name)
  const bodyOnly =
    route.jsonBody ||
    Object.values(properties).some(
      (schema) => schema.type === 'object' || (schema.items as { type?: string })?.type === 'object'
    )
  const inputs = { type: 'object', properties, ...(required.length > 0 ? { required } : {}) }
  return {
    summary: route.summary,
    tags: [route.tag ?? 'ads'],
    'x-rate-limit': limitOf(route),
    ...(route.extension ? { 'x-herald-extension': true } : {}),
    ...(route.sandboxOnly ? { 'x-sandbox-only': true } : {}),
    params: {
      type: 'object',
      properties: Object.fromEntries(names.map((name) => [name, { type: 'string' }])),
      required: names
    },
    ...(Object.keys(properties).length === 0 ? {} : bodyOnly ? { body: inputs } : { querystring: inputs }),
    response: { 200: route.file ? fileAnswer(route.file) : answer(route) }
  }
}

const fileAnswer = (type: string) => ({
  description: 'A file.',
  content: { [type.split(';')[0]!]: { schema: { type: 'string' } } }
})

const answer = (route: AdsRoute<Fields>) => ({
  type: 'object',
  required: ['request', 'data'],
  properties: {
    request: {},
    ...(route.many && route.many !== 'without_cursor' ? { next_cursor: { type: 'string', nullable: true } } : {}),
    ...(route.data_type ? { data_type: { type: 'string' } } : {}),
    ...(route.many ? { total_count: { type: 'integer' } } : {}),
    data: route.many ? { type: 'array', items: route.output } : route.output
  }
})

/** A thing that is not there, or not yours. */
export const entityNotFound = (code: string, name: string, id: string) => notFound(code, `${name} ${id} was not found`)

/** Shared list parameters of document 3. */
export const listInput = {
  count: int({ min: 1, max: 1000 }),
  cursor: text({ max: 4_000 }),
  sort_by: list(text(), { max: 5 }),
  with_deleted: bool(),
  with_total_count: bool()
}
