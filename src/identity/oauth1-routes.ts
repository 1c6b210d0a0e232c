/** OAuth 1.0a over HTTP: the three-legged flow, and invalidating a token. */
import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify'
import { credentialsOf } from '../http/auth.ts'
import { openConsumerSecrets, validSecrets } from './apps.ts'
import { answer, ask, type Question, redirectTo } from './browser.ts'
import { type AuthenticationFailure, legacyFailure } from './failures.ts'
import { findConsumer } from './lookups.ts'
import type { OAuthDeps } from './oauth-deps.ts'
import { type OAuthCredentials, parseOAuthHeader } from './oauth1.ts'
import {
  approveRequestToken,
  createRequestToken,
  denyRequestToken,
  exchangeRequestToken,
  findRequestToken,
  OUT_OF_BAND,
  openRequestSecret,
  revokeOAuth1Token
} from './oauth1-tokens.ts'
import { errorPage, pinPage, sendPage } from './pages.ts'
import { bodyParameters, queryParameters } from './parameters.ts'
import type { PrincipalApp } from './principal.ts'
import { includesLevel, lowerLevel, PERMISSION_LEVEL_SENTENCES, type PermissionLevel } from './scopes.ts'
import { hashToken } from './secrets.ts'
import { createSignatureChecks, type SignatureChecks } from './signed-requests.ts'
import { findUser } from './users.ts'

const FORM = 'application/x-www-form-urlencoded; charset=utf-8'
const sendForm = (reply: FastifyReply, values: Record<string, string>) =>
  reply.type(FORM).send(new URLSearchParams(values).toString())
const refuse = (reply: FastifyReply, failure: AuthenticationFailure) => reply.code(401).send(legacyFailure(failure))

/** oauth_callback and oauth_verifier may stand in the header, the form or the query; all of them are signed. */
const oauthParameter = (req: FastifyRequest, credentials: OAuthCredentials, name: string) =>
  credentials.parameters.get(name) || bodyParameters(req).get(name) || queryParameters(req).get(name)

type Signer = { app: PrincipalApp; credentials: OAuthCredentials }

/** The app that signed a request with its own secret and, from the second leg on, that of its request token. */
async function signer(
  deps: OAuthDeps,
  checks: SignatureChecks,
  req: FastifyRequest,
  needsToken: boolean
): Promise<Signer | { failure: AuthenticationFailure }> {
  const { authorization } = req.headers
  if (!authorization) return { failure: 'no-credentials' }
  const credentials = parseOAuthHeader(authorization)
  if (!credentials || (needsToken && !credentials.token)) return { failure: 'malformed' }
  if (!checks.isTimely(credentials)) return { failure: 'stale-timestamp' }
  const consumer = await findConsumer(deps.database, credentials.consumerKey, null)
  if (!consumer) return { failure: 'unknown-consumer' }
  if (consumer.app_suspended) return { failure: 'suspended' }
  let tokenSecret = ''
  if (needsToken) {
    const token = await findRequestToken(deps.database.db, credentials.token!, new Date(deps.clock.now()))
    if (!token || token.app_id !== consumer.app.id) return { failure: 'unknown-token' }
    tokenSecret = openRequestSecret(deps.vault, token)
  }
  const secrets = validSecrets(openConsumerSecrets(deps.vault, consumer.secrets), deps.clock.now())
  const failure = await checks.check(credentialsOf(req), credentials, secrets, tokenSecret)
  return failure ? { failure } : { app: consumer.app, credentials }
}

/** What an app may ask for less of. */
const ACCESS_TYPES: Record<string, PermissionLevel> = { read: 'read', write: 'read-write' }

export function oauth1Routes(app: FastifyInstance, deps: OAuthDeps) {
  const { database, vault, clock, authenticator } = deps
  const checks = createSignatureChecks(deps)
  const signed = (summary: string) => ({ schema: { summary, tags: ['oauth'], security: [{ oauth1: [] }] } })

  app.post('/oauth/request_token', signed('First leg of OAuth 1.0a: get a request token.'), async (req, reply) => {
    const signing = await signer(deps, checks, req, false)
    if ('failure' in signing) return refuse(reply, signing.failure)
    const { app: consumer, credentials } = signing
    const callback = oauthParameter(req, credentials, 'oauth_callback')
    const { redirect_uris } = await database.db
      .selectFrom('apps')
      .select('redirect_uris')
      .where('id', '=', consumer.id)
      .executeTakeFirstOrThrow()
    if (!callback || (callback !== OUT_OF_BAND && !redirect_uris.includes(callback))) {
      return reply.code(403).send({
        errors: [
          {
            code: 415,
            message: 'Callback URL not approved for this client application. It must equal a registered one, or be oob.'
          }
        ]
      })
    }
    const asked = ACCESS_TYPES[oauthParameter(req, credentials, 'x_auth_access_type') ?? '']
    const permissions = asked ? lowerLevel(asked, consumer.permissions) : consumer.permissions
    const token = await createRequestToken(
      database.db,
      vault,
      { app_id: consumer.id, callback, permissions },
      new Date(clock.now())
    )
    return sendForm(reply, { ...token, oauth_callback_confirmed: 'true' })
  })

  app.post('/oauth/access_token', signed('Third leg of OAuth 1.0a: get an access token.'), async (req, reply) => {
    const signing = await signer(deps, checks, req, true)
    if ('failure' in signing) return refuse(reply, signing.failure)
    const { app: consumer, credentials } = signing
    const verifier = oauthParameter(req, credentials, 'oauth_verifier') ?? ''
    const now = new Date(clock.now())
    const token = await database.db
      .transaction()
      .execute((tx) =>
        exchangeRequestToken(tx, vault, { app_id: consumer.id, token: credentials.token!, verifier }, now)
      )
    const user = token && (await findUser(database.db, token.user_id))
    if (!user) return refuse(reply, 'unknown-token')
    const { oauth_token, oauth_token_secret } = token
    return sendForm(reply, { oauth_token, oauth_token_secret, user_id: user.id, screen_name: user.username })
  })

  app.post(
    '/1.1/oauth/invalidate_token',
    signed('Invalidate the OAuth 1.0a token that signs the request.'),
    async (req, reply) => {
      const principal = await authenticator.authenticate(credentialsOf(req))
      if ('failure' in principal) return refuse(reply, principal.failure)
      if (principal.kind !== 'user' || principal.via !== 'oauth1') {
        const message = 'Your credentials do not allow access to this resource'
        return reply.code(403).send({ errors: [{ code: 220, message }] })
      }
      const access_token = parseOAuthHeader(req.headers.authorization!)!.token!
      const now = new Date(clock.now())
      await database.db.transaction().execute((tx) => revokeOAuth1Token(tx, { hash: hashToken(access_token) }, now))
      authenticator.forget()
      return { access_token }
    }
  )

  async function question(req: FastifyRequest, reply: FastifyReply, once: boolean): Promise<Question | undefined> {
    const oauthToken = queryParameters(req).get('oauth_token')
    const token = oauthToken && (await findRequestToken(database.db, oauthToken, new Date(clock.now())))
    if (!token || token.user_id !== null) {
      sendPage(
        reply,
        400,
        errorPage(
          'This request is no longer valid',
          'Go back to the app that sent you here and start again from there.'
        )
      )
      return undefined
    }
    const outOfBand = token.callback === OUT_OF_BAND
    return {
      appName: token.app_name,
      sentences: PERMISSION_LEVEL_SENTENCES[token.permissions],
      ...(outOfBand ? {} : { leadsTo: token.callback }),
      async allowed(user) {
        const verifier = await approveRequestToken(database.db, token, user.id)
        // Answered twice, in two tabs: the first answer stands.
        if (!verifier)
          return sendPage(reply, 400, errorPage('This request was answered already', 'Go back to the app.'))
        if (outOfBand) return sendPage(reply, 200, pinPage(token.app_name, verifier))
        return redirectTo(reply, token.callback, { oauth_token: oauthToken, oauth_verifier: verifier })
      },
      async denied() {
        await denyRequestToken(database.db, token)
        if (outOfBand) {
          return sendPage(reply, 200, errorPage('You denied access', `${token.app_name} cannot use your account.`))
        }
        return redirectTo(reply, token.callback, { denied: oauthToken })
      },
      // Signing in with an account that has allowed this much before takes no second consent.
      async answered(user) {
        if (!once || outOfBand) return false
        const held = await database.db
          .selectFrom('oauth1_access_tokens')
          .select('permissions')
          .where('app_id', '=', token.app_id)
          .where('user_id', '=', user.id)
          .where('revoked_at', 'is', null)
          .execute()
        return held.some(({ permissions }) => includesLevel(permissions, token.permissions))
      }
    }
  }

  for (const [url, once] of [
    ['/oauth/authorize', false],
    ['/oauth/authenticate', true]
  ] as const) {
    app.get(url, { schema: { hide: true } }, async (req, reply) => {
      const asked = await question(req, reply, once)
      return asked ? ask(req, reply, deps, asked) : reply
    })
    app.post(url, { schema: { hide: true } }, async (req, reply) => {
      const asked = await question(req, reply, once)
      return asked ? answer(req, reply, deps, asked) : reply
    })
  }
}
