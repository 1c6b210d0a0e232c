/** /console/session: who has signed in with this browser, signing in and out. See decisions/0070. */
import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify'
import { type Static, Type } from 'typebox'
import type { Deps } from '../deps.ts'
import { ApiError, badRequest, forbidden, unauthorized } from '../errors.ts'
import { isFromOurPage, sessionCookie, setSessionCookie } from '../http/browser-session.ts'
import { Data } from '../http/v2.ts'
import {
  ATTEMPT_WINDOW_SECONDS,
  admitAdminAttempt,
  createOperatorSession,
  createSession,
  endConsoleSessions,
  listApps,
  SESSION_SECONDS,
  verifyPassword
} from '../identity/index.ts'

const Person = Type.Object({
  user: Type.Unsafe<{ id: string; username: string; name: string } | null>({
    type: 'object',
    nullable: true,
    properties: { id: { type: 'string' }, username: { type: 'string' }, name: { type: 'string' } }
  }),
  operator: Type.Boolean(),
  apps: Type.Array(Type.Object({ id: Type.String(), name: Type.String() }))
})
const Session = Type.Object({
  /** Absent: nobody has signed in. */
  person: Type.Optional(Person),
  /** Where clients reach the two listeners, for ready-to-paste requests. */
  urls: Type.Object({ main: Type.String(), sandbox: Type.String() })
})
type Session = Static<typeof Session>

export interface SessionInput {
  username?: unknown
  password?: unknown
  admin_token?: unknown
}

const given = (value: unknown) => (typeof value === 'string' && value !== '' ? value : undefined)
const TOO_MANY = 'Too many attempts to sign in. Wait a quarter of an hour and try again.'

export function sessionRoutes(app: FastifyInstance, deps: Deps) {
  const { database, clock, authenticator } = deps
  const { db } = database
  const now = () => new Date(clock.now())
  const hidden = { hide: true, response: Data(Session) }

  /** Everything but reading who one is must come from our own page, signing in included. */
  const refuseOthers = async (req: FastifyRequest) => {
    if (!isFromOurPage(req)) throw forbidden('FORBIDDEN', 'This call is only for the pages of the console.')
  }

  async function session(req: FastifyRequest, token: string | undefined): Promise<Session> {
    const urls = urlsOf(req, deps)
    const person = token === undefined ? undefined : await authenticator.person(token)
    if (!person) return { urls }
    const { user, operator } = person
    const apps = user ? await listApps(db, { owner_user_id: user.id }) : []
    return {
      urls,
      person: {
        user: user && { id: user.id, username: user.username, name: user.name },
        operator,
        apps: apps.filter(({ suspended }) => !suspended).map(({ id, name }) => ({ id, name }))
      }
    }
  }

  app.get('/console/session', { schema: hidden }, async (req) => ({
    data: await session(req, sessionCookie(req))
  }))

  app.post<{ Body: SessionInput | null }>(
    '/console/session',
    { schema: hidden, onRequest: refuseOthers, bodyLimit: 16_384 },
    async (req, reply) => {
      const token = await signIn(req, reply)
      setSessionCookie(req, reply, token, SESSION_SECONDS)
      return { data: await session(req, token) }
    }
  )

  app.delete<{ Querystring: { everywhere?: string } }>(
    '/console/session',
    { schema: hidden, onRequest: refuseOthers },
    async (req, reply) => {
      const token = sessionCookie(req)
      if (token) await endConsoleSessions(db, token, { everywhere: req.query.everywhere === 'true' })
      // Other nodes hear of it from the database; this one has forgotten before it answers.
      authenticator.forget()
      setSessionCookie(req, reply, '', 0)
      return { data: await session(req, undefined) }
    }
  )

  async function signIn(req: FastifyRequest<{ Body: SessionInput | null }>, reply: FastifyReply) {
    const body = req.body ?? {}
    const adminToken = given(body.admin_token)?.trim()
    if (adminToken !== undefined) return signInOperator(req, reply, adminToken)
    const username = given(body.username)?.trim().replace(/^@/, '')
    const password = given(body.password)
    if (!username || !password) throw badRequest('INVALID_PARAMETER', 'Give a username and a password.')
    const result = await verifyPassword(db, { username, password, address: req.ip }, now())
    if (result.outcome === 'too-many-attempts') throw tooMany(reply)
    if (result.outcome === 'refused')
      throw unauthorized('UNAUTHORIZED', 'The username and password do not fit together.')
    return createSession(db, result.user.id, 'console', now())
  }

  async function signInOperator(req: FastifyRequest, reply: FastifyReply, adminToken: string) {
    const attempt = await admitAdminAttempt(db, req.ip, now())
    if (!attempt.admitted) throw tooMany(reply)
    const principal = await authenticator.authenticate({
      authorization: `Bearer ${adminToken}`,
      method: req.method,
      scheme: req.protocol,
      host: req.host,
      rawUrl: req.url
    })
    if ('failure' in principal || principal.kind !== 'admin')
      throw unauthorized('UNAUTHORIZED', 'This is not an admin token that is valid.')
    await attempt.succeeded()
    return createOperatorSession(db, adminToken, now())
  }
}

const tooMany = (reply: FastifyReply) => {
  reply.header('retry-after', String(ATTEMPT_WINDOW_SECONDS))
  return new ApiError(429, [{ code: 'TOO_MANY_REQUESTS', message: TOO_MANY }])
}

/** As configured, else as this browser sees us: the sandbox is the same host at its own port. */
function urlsOf(req: FastifyRequest, { config }: Deps) {
  const main = config.HERALD_PUBLIC_URL || `${req.protocol}://${req.host}`
  const sandbox = new URL(main)
  sandbox.port = String(config.HERALD_SANDBOX_PORT)
  return { main: main.replace(/\/$/, ''), sandbox: config.HERALD_SANDBOX_PUBLIC_URL || sandbox.origin }
}
