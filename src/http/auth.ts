/** Which credential a route accepts, and the documented answer to every other. Who is asking is identity's business. */
import type { FastifyRequest } from 'fastify'
import type { Deps } from '../deps.ts'
import { forbidden, unauthorized } from '../errors.ts'
import { CONSOLE_APP, type Credentials, type Product } from '../identity/index.ts'
import { type Principal, permits, type Requirement } from '../identity/principal.ts'
import { sessionOf } from './browser-session.ts'
import { clientForbidden, unsupportedAuthentication } from './problems.ts'

export type { AppPrincipal, Principal, UserPrincipal } from '../identity/principal.ts'

/** What a route declares: the admin token, or the kinds of client credentials it takes. */
export type Accepts = 'admin' | Requirement

export const APP_ONLY: Requirement = { accepts: ['app'] }
export const ADMIN = 'admin'

/** A bearer token is all there is to look at; a signature covers the whole request. */
const UNSIGNED = { method: '', scheme: '', host: '', rawUrl: '' }

export function credentialsOf(req: FastifyRequest, { forOperator = false } = {}): Credentials {
  const { authorization } = req.headers
  if (authorization !== undefined && /^bearer /i.test(authorization)) return { authorization, ...UNSIGNED }
  const session = sessionOf(req)
  return {
    authorization,
    session: session && { ...session, forOperator },
    method: req.method,
    scheme: req.protocol,
    host: req.host,
    rawUrl: req.raw.url ?? req.url,
    contentType: req.headers['content-type'],
    rawBody: req.rawBody ?? undefined,
    remoteAddress: req.ip,
    publicUrl: req.server.publicUrl,
    onNonceUsed: (release: () => Promise<void>) => {
      req.releaseNonce = release
    }
  }
}

/** The caller of a /2 or /admin route, or the documented refusal. */
export async function authenticated(req: FastifyRequest, deps: Deps, accepts: Accepts): Promise<Principal> {
  const principal = await deps.authenticator.authenticate(credentialsOf(req, { forOperator: accepts === 'admin' }))
  if ('failure' in principal) {
    req.log.debug({ failure: principal.failure }, 'not authenticated')
    throw unauthorized('UNAUTHORIZED', 'Unauthorized')
  }
  if (accepts === 'admin') {
    if (principal.kind === 'admin') return principal
    throw forbidden('FORBIDDEN', 'This call needs the admin token; an app or user credential does not open it.')
  }
  const verdict = permits(principal, accepts)
  if (verdict.permitted) return principal
  if (verdict.reason === 'unsupported-authentication') throw unsupportedAuthentication(verdict.used, verdict.accepted)
  if (verdict.reason === 'missing-scopes') {
    throw forbidden(
      'FORBIDDEN',
      `This token lacks the scope ${verdict.missing.join(' and ')}; ask the user to authorize the app with it.`
    )
  }
  throw forbidden(
    'FORBIDDEN',
    `This app's OAuth 1.0a permission is "${verdict.held}"; this call needs "${verdict.needed}".`
  )
}

/** An app in no project may use nothing, any other what it was enrolled for. The console itself is nobody's app. */
export function refuseNotEnrolled(req: FastifyRequest, principal: Principal, product: Product | undefined) {
  if (principal.kind === 'admin' || principal.app === CONSOLE_APP) return
  const { id, project_id, products } = principal.app
  const why =
    project_id === null
      ? `App ${id} must be attached to a project before it may call /2.`
      : product !== undefined && !products.includes(product)
        ? `App ${id} is not enrolled for the product "${product}".`
        : undefined
  if (why === undefined) return
  const base = req.server.publicUrl ?? `${req.protocol}://${req.host}`
  throw clientForbidden(id, `${why} Whoever runs this server can change that.`, new URL(`/apps/${id}`, base).href)
}
