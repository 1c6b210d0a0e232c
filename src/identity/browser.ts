/** The part that both authorize pages share: who has signed in with this browser, and forms that only our pages can send. */
import { createHmac } from 'node:crypto'
import type { FastifyReply, FastifyRequest } from 'fastify'
import type { Clock } from '../clock.ts'
import type { Database } from '../storage/db.ts'
import { consentPage, errorPage, sendPage, signInPage } from './pages.ts'
import { bodyParameters, cookie, rawQuery } from './parameters.ts'
import { randomText, sameSecret } from './secrets.ts'
import {
  ATTEMPT_WINDOW_SECONDS,
  createSession,
  endSession,
  findSessionUser,
  SESSION_SECONDS,
  verifyPassword
} from './sign-in.ts'

export const SESSION_COOKIE = 'herald_session'
/** Identifies a browser that has not signed in yet, so that nobody can sign it in as someone else. */
export const BROWSER_COOKIE = 'herald_browser'

export interface BrowserDeps {
  database: Database
  clock: Clock
}

export interface SignedInUser {
  id: string
  username: string
  name: string
}

/** What is being asked of the person. */
export interface Question {
  appName: string
  sentences: readonly string[]
  leadsTo?: string
  /** May send the answer itself; the page that asked is gone then. */
  allowed(user: SignedInUser): Promise<FastifyReply>
  denied(): Promise<FastifyReply>
  /** Whether the person answered before and need not be asked again. */
  answered?(user: SignedInUser): Promise<boolean>
}

const setCookie = (req: FastifyRequest, reply: FastifyReply, name: string, value: string, seconds: number) => {
  // For https only if people come over https.
  const secure = req.protocol === 'https' || req.server.publicUrl?.startsWith('https:') ? '; Secure' : ''
  reply.header('set-cookie', `${name}=${value}; Path=/; HttpOnly; SameSite=Lax; Max-Age=${seconds}${secure}`)
}

/** Good for this browser, this form and this very request only. */
const csrfToken = (secret: string, form: string, req: FastifyRequest) =>
  createHmac('sha256', secret)
    .update(JSON.stringify([form, req.url.split('?', 1)[0], rawQuery(req)]))
    .digest('base64url')

const isCsrfToken = (given: string | undefined, secret: string | undefined, form: string, req: FastifyRequest) => {
  // Browsers say where a form comes from; what they say cannot be forged by a page.
  const site = req.headers['sec-fetch-site']
  if (site !== undefined && site !== 'same-origin' && site !== 'none') return false
  return given !== undefined && secret !== undefined && sameSecret(given, csrfToken(secret, form, req))
}

/** Shows the page that is next for this browser: sign in, then consent. */
export async function ask(req: FastifyRequest, reply: FastifyReply, deps: BrowserDeps, question: Question) {
  const session = cookie(req, SESSION_COOKIE)
  const user = session && (await findSessionUser(deps.database.db, session, 'authorize', new Date(deps.clock.now())))
  if (!user) return showSignIn(req, reply, question, 200)
  if (await question.answered?.(user)) return question.allowed(user)
  const { appName, sentences, leadsTo } = question
  const csrf = csrfToken(session, 'consent', req)
  const page = { appName, sentences, csrf, username: user.username, ...(leadsTo ? { leadsTo } : {}) }
  return sendPage(reply, 200, consentPage(page))
}

function showSignIn(
  req: FastifyRequest,
  reply: FastifyReply,
  question: Question,
  status: number,
  more: { username?: string; problem?: string } = {}
) {
  let browser = cookie(req, BROWSER_COOKIE)
  if (!browser || !/^[A-Za-z0-9_-]{43}$/.test(browser)) {
    browser = randomText(32)
    setCookie(req, reply, BROWSER_COOKIE, browser, SESSION_SECONDS)
  }
  const csrf = csrfToken(browser, 'sign-in', req)
  return sendPage(reply, status, signInPage({ appName: question.appName, csrf, ...more }))
}

/** Handles what one of our forms sent. */
export async function answer(req: FastifyRequest, reply: FastifyReply, deps: BrowserDeps, question: Question) {
  const { db } = deps.database
  const now = new Date(deps.clock.now())
  const form = bodyParameters(req)
  const action = form.get('action')
  if (action === 'sign_in') return signIn(req, reply, deps, question, now)

  const session = cookie(req, SESSION_COOKIE)
  const user = session && (await findSessionUser(db, session, 'authorize', now))
  // The session ran out while the page was open: start over.
  if (!user) return backToPage(req, reply)
  if (!isCsrfToken(form.get('csrf'), session, 'consent', req)) return refuseForm(reply)
  if (action === 'sign_out') {
    await endSession(db, session)
    setCookie(req, reply, SESSION_COOKIE, '', 0)
    return backToPage(req, reply)
  }
  if (action === 'allow') return question.allowed(user)
  return action === 'deny' ? question.denied() : refuseForm(reply)
}

async function signIn(req: FastifyRequest, reply: FastifyReply, deps: BrowserDeps, question: Question, now: Date) {
  const form = bodyParameters(req)
  if (!isCsrfToken(form.get('csrf'), cookie(req, BROWSER_COOKIE), 'sign-in', req)) return refuseForm(reply)
  const username = (form.get('username') ?? '').trim().replace(/^@/, '')
  const password = form.get('password') ?? ''
  const result = await verifyPassword(deps.database.db, { username, password, address: req.ip }, now)
  if (result.outcome === 'too-many-attempts') {
    reply.header('retry-after', String(ATTEMPT_WINDOW_SECONDS))
    const problem = 'Too many attempts to sign in. Wait a quarter of an hour and try again.'
    return showSignIn(req, reply, question, 429, { username, problem })
  }
  if (result.outcome === 'refused') {
    const problem = 'The username and password do not fit together.'
    return showSignIn(req, reply, question, 401, { username, problem })
  }
  const session = await createSession(deps.database.db, result.user.id, 'authorize', now)
  setCookie(req, reply, SESSION_COOKIE, session, SESSION_SECONDS)
  return backToPage(req, reply)
}

/** The same address again with GET; relative, so that it holds behind any proxy. */
const backToPage = (req: FastifyRequest, reply: FastifyReply) => reply.redirect(`?${rawQuery(req)}`, 303)

const refuseForm = (reply: FastifyReply) =>
  sendPage(reply, 403, errorPage('This form is no longer valid', 'Go back to the app and start again from there.'))

/** A redirect to an app, with parameters added to whatever its address already has. */
export function redirectTo(reply: FastifyReply, uri: string, parameters: Record<string, string | undefined>) {
  const added = new URLSearchParams(
    Object.entries(parameters).filter((entry): entry is [string, string] => entry[1] !== undefined)
  )
  return reply
    .headers({ 'cache-control': 'no-store', 'referrer-policy': 'no-referrer' })
    .redirect(`${uri}${uri.includes('?') ? (/[?&]$/.test(uri) ? '' : '&') : '?'}${added}`, 303)
}
