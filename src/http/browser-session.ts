/** Requests of the console: a session cookie counts only when our own page sent the request. See decisions/0070. */
import type { FastifyReply, FastifyRequest } from 'fastify'

/** Only a page of the same origin can set it without asking us first, and we never allow others to. */
export const CONSOLE_HEADER = 'x-herald-console'
/** Names the app that a request acts as, for calls that only apps may make. */
export const ACT_AS_HEADER = 'x-herald-app'

const COOKIE = 'herald_console'
/** Browsers keep `__Host-` cookies of https pages from every other host and path. */
const SECURE_COOKIE = `__Host-${COOKIE}`

const isSecure = (req: FastifyRequest) =>
  req.protocol === 'https' || (req.server.publicUrl?.startsWith('https:') ?? false)

const headerOf = (req: FastifyRequest, name: string) => {
  const value = req.headers[name]
  return typeof value === 'string' ? value : undefined
}

export function sessionCookie(req: FastifyRequest): string | undefined {
  const name = isSecure(req) ? SECURE_COOKIE : COOKIE
  for (const part of (req.headers.cookie ?? '').split(';')) {
    const equals = part.indexOf('=')
    if (equals > 0 && part.slice(0, equals).trim() === name) return part.slice(equals + 1).trim() || undefined
  }
  return undefined
}

/** `seconds` 0 takes it back. */
export function setSessionCookie(req: FastifyRequest, reply: FastifyReply, value: string, seconds: number) {
  const secure = isSecure(req)
  const name = secure ? SECURE_COOKIE : COOKIE
  reply.header(
    'set-cookie',
    `${name}=${value}; Path=/; HttpOnly; SameSite=Strict; Max-Age=${seconds}${secure ? '; Secure' : ''}`
  )
}

/** Whether our own page sent this; a form, a link or a script of another site cannot. */
export function isFromOurPage(req: FastifyRequest): boolean {
  if (headerOf(req, CONSOLE_HEADER) !== '1') return false
  const site = headerOf(req, 'sec-fetch-site')
  if (site !== undefined && site !== 'same-origin') return false
  const origin = headerOf(req, 'origin')
  if (origin === undefined) return true
  const ours = req.server.publicUrl ?? `${req.protocol}://${req.host}`
  return URL.canParse(origin) && URL.canParse(ours) && new URL(origin).host === new URL(ours).host
}

/**
 * The session of a request for a picture: an `<img>` of our page sends the cookie, but cannot set a header. The cookie stays
 * with this site (SameSite=Strict), browsers say where the request comes from, and nothing is done but showing a picture.
 */
export function pictureSession(req: FastifyRequest): string | undefined {
  const [site, purpose] = [headerOf(req, 'sec-fetch-site'), headerOf(req, 'sec-fetch-dest')]
  if (req.headers.authorization !== undefined || (site ?? 'same-origin') !== 'same-origin') return undefined
  return (purpose ?? 'image') === 'image' ? sessionCookie(req) : undefined
}

/** The session that authenticates a request, if there is one and it may. */
export function sessionOf(req: FastifyRequest): { token: string; appId?: string } | undefined {
  if (req.headers.authorization !== undefined || !isFromOurPage(req)) return undefined
  const token = sessionCookie(req)
  if (!token) return undefined
  const appId = headerOf(req, ACT_AS_HEADER)
  return appId === undefined ? { token } : { token, appId }
}
