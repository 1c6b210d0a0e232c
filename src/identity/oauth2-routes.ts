/** OAuth 2.0 for users over HTTP: authorization code with PKCE, refresh, revoke. */
import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify'
import { answer, ask, type Question, redirectTo } from './browser.ts'
import { type Client, clientSecretFits, findClient } from './clients.ts'
import type { OAuthDeps } from './oauth-deps.ts'
import {
  type ChallengeMethod,
  createCode,
  exchangeCode,
  refreshTokens,
  revokeOAuth2Token,
  type UserTokens
} from './oauth2-tokens.ts'
import { errorPage, sendPage } from './pages.ts'
import { basicCredentials, bodyParameters, type Parameters, queryParameters } from './parameters.ts'
import { parseScopes, SCOPES, type Scope } from './scopes.ts'

export const STATE_LENGTH_MAX = 500
const CHALLENGE = /^[A-Za-z0-9\-._~]{1,128}$/

interface AuthorizationRequest {
  client: Client
  redirect_uri: string
  state: string | undefined
  scopes: Scope[]
  code_challenge: string
  code_challenge_method: ChallengeMethod
}

/** A problem that the app is told by redirect; without an address it is shown to the person. */
interface Problem {
  error: string
  error_description: string
  redirect_uri?: string
  state?: string | undefined
}

async function readAuthorizationRequest(
  { database }: OAuthDeps,
  query: Parameters
): Promise<AuthorizationRequest | Problem> {
  const client_id = query.get('client_id')
  const client = client_id && (await findClient(database.db, client_id))
  if (!client) return { error: 'invalid_request', error_description: 'The app that sent you here is not known.' }
  const redirect_uri = query.get('redirect_uri')
  // Never redirect to an address that the app has not registered.
  if (!redirect_uri || !client.redirect_uris.includes(redirect_uri)) {
    return {
      error: 'invalid_request',
      error_description: 'The app that sent you here asked to return to an address it has not registered.'
    }
  }
  const state = query.get('state')
  const fail = (error: string, error_description: string): Problem => ({
    error,
    error_description,
    redirect_uri,
    state
  })
  if (state !== undefined && state.length > STATE_LENGTH_MAX) {
    return { ...fail('invalid_request', `state is longer than ${STATE_LENGTH_MAX} characters.`), state: undefined }
  }
  if (query.repeated.length > 0) return fail('invalid_request', `Parameter [${query.repeated[0]}] was sent twice.`)
  if (query.get('response_type') !== 'code') return fail('unsupported_response_type', 'response_type must be code.')
  const { scopes, unknown } = parseScopes(query.get('scope') ?? '')
  if (unknown.length > 0) return fail('invalid_scope', `There is no scope [${unknown[0]}].`)
  if (scopes.length === 0) return fail('invalid_scope', 'Missing required parameter [scope].')
  const code_challenge = query.get('code_challenge')
  if (!code_challenge) return fail('invalid_request', 'Missing required parameter [code_challenge].')
  if (!CHALLENGE.test(code_challenge))
    return fail('invalid_request', 'Value passed for the code challenge was invalid.')
  const code_challenge_method = challengeMethod(query.get('code_challenge_method'))
  if (!code_challenge_method) return fail('invalid_request', 'code_challenge_method must be S256 or plain.')
  return { client, redirect_uri, state, scopes, code_challenge, code_challenge_method }
}

/** Clients write s256, too. Absent means plain (RFC 7636, 4.3). */
function challengeMethod(text = 'plain'): ChallengeMethod | undefined {
  const lower = text.toLowerCase()
  return lower === 's256' ? 'S256' : lower === 'plain' ? 'plain' : undefined
}

const DESCRIPTION: Record<string, string> = {
  invalid_request: 'The request is not complete',
  unsupported_response_type: 'The request is not complete'
}

export function oauth2Routes(app: FastifyInstance, deps: OAuthDeps) {
  const { database, clock, authenticator } = deps
  const hidden = { schema: { hide: true } }

  async function question(req: FastifyRequest, reply: FastifyReply): Promise<Question | undefined> {
    const request = await readAuthorizationRequest(deps, queryParameters(req))
    if ('error' in request) {
      if (request.redirect_uri) {
        const { redirect_uri, error, error_description, state } = request
        redirectTo(reply, redirect_uri, { error, error_description, state })
      } else {
        sendPage(reply, 400, errorPage(DESCRIPTION[request.error] ?? 'Something is wrong', request.error_description))
      }
      return undefined
    }
    const { client, redirect_uri, state, scopes, code_challenge, code_challenge_method } = request
    return {
      appName: client.name,
      sentences: scopes.map((scope) => SCOPES[scope]),
      leadsTo: redirect_uri,
      async allowed(user) {
        const code = await createCode(
          database.db,
          { app_id: client.id, user_id: user.id, scopes, redirect_uri, code_challenge, code_challenge_method },
          new Date(clock.now())
        )
        return redirectTo(reply, redirect_uri, { state, code })
      },
      denied: async () => redirectTo(reply, redirect_uri, { error: 'access_denied', state })
    }
  }

  for (const url of ['/i/oauth2/authorize', '/2/oauth2/authorize']) {
    app.get(url, hidden, async (req, reply) => {
      const asked = await question(req, reply)
      return asked ? ask(req, reply, deps, asked) : reply
    })
    app.post(url, hidden, async (req, reply) => {
      const asked = await question(req, reply)
      return asked ? answer(req, reply, deps, asked) : reply
    })
  }

  app.post(
    '/2/oauth2/token',
    { schema: { summary: 'Exchange a code, or refresh a user token.', tags: ['oauth'], security: [] } },
    async (req, reply) => {
      reply.headers({ 'cache-control': 'no-store', pragma: 'no-cache' })
      const body = bodyParameters(req)
      const client = await authenticateClient(deps, req, body)
      if ('error' in client) return refuse(reply, client)
      const now = new Date(clock.now())
      const grant = body.get('grant_type')
      if (grant === 'authorization_code') return exchange(deps, reply, client, body, now)
      if (grant === 'refresh_token') return refresh(deps, reply, client, body, now)
      if (!grant) return refuse(reply, missing('grant_type'))
      return refuse(reply, {
        error: 'unsupported_grant_type',
        error_description: 'Value passed for the grant type was invalid.'
      })
    }
  )

  app.post(
    '/2/oauth2/revoke',
    { schema: { summary: 'Revoke a user token.', tags: ['oauth'], security: [] } },
    async (req, reply) => {
      reply.headers({ 'cache-control': 'no-store', pragma: 'no-cache' })
      const body = bodyParameters(req)
      const client = await authenticateClient(deps, req, body)
      if ('error' in client) return refuse(reply, client)
      const token = body.get('token')
      if (!token) return refuse(reply, missing('token'))
      const now = new Date(clock.now())
      await database.db.transaction().execute((tx) => revokeOAuth2Token(tx, { app_id: client.id, token }, now))
      authenticator.forget()
      return { revoked: true }
    }
  )
}

interface TokenError {
  error: string
  error_description: string
  status?: number
}

const invalid = (error_description: string): TokenError => ({ error: 'invalid_request', error_description })
const missing = (name: string) => invalid(`Missing required parameter [${name}].`)
const UNAUTHORIZED_CLIENT: TokenError = {
  error: 'unauthorized_client',
  error_description: 'Missing valid authorization header',
  status: 401
}

function refuse(reply: FastifyReply, { status = 400, error, error_description }: TokenError) {
  if (status === 401) reply.header('www-authenticate', 'Basic realm="oauth2"')
  return reply.code(status).send({ error, error_description })
}

/** A confidential client shows its secret; a public one only says who it is. */
async function authenticateClient(
  { database }: OAuthDeps,
  req: FastifyRequest,
  body: Parameters
): Promise<Client | TokenError> {
  if (body.repeated.length > 0) return invalid(`Parameter [${body.repeated[0]}] was sent twice.`)
  const basic = basicCredentials(req.headers.authorization)
  if (req.headers.authorization !== undefined && !basic) return UNAUTHORIZED_CLIENT
  const client_id = basic?.name ?? body.get('client_id')
  if (!client_id) return missing('client_id')
  const client = await findClient(database.db, client_id)
  const secret = basic?.secret ?? body.get('client_secret')
  if (!client)
    return secret === undefined ? invalid('Value passed for the client id was invalid.') : UNAUTHORIZED_CLIENT
  if (client.client_type === 'confidential') {
    return secret !== undefined && clientSecretFits(client, secret) ? client : UNAUTHORIZED_CLIENT
  }
  // Some libraries send an empty secret for public clients; a real one belongs to someone else.
  return secret ? UNAUTHORIZED_CLIENT : client
}

const answerTokens = ({ access_token, expires_in, scopes, refresh_token }: UserTokens) => ({
  token_type: 'bearer',
  ...(expires_in === null ? {} : { expires_in }),
  access_token,
  scope: scopes.join(' '),
  ...(refresh_token ? { refresh_token } : {})
})

async function exchange(deps: OAuthDeps, reply: FastifyReply, client: Client, body: Parameters, now: Date) {
  const [code, redirect_uri, code_verifier] = [body.get('code'), body.get('redirect_uri'), body.get('code_verifier')]
  if (!code) return refuse(reply, missing('code'))
  if (!redirect_uri) return refuse(reply, missing('redirect_uri'))
  if (!code_verifier) return refuse(reply, missing('code_verifier'))
  const input = { app_id: client.id, code, redirect_uri, code_verifier }
  const result = await deps.database.db.transaction().execute((tx) => exchangeCode(tx, input, now))
  if (result.outcome === 'exchanged') return answerTokens(result.tokens)
  deps.authenticator.forget()
  return refuse(reply, CODE_REFUSALS[result.reason])
}

const CODE_REFUSALS = {
  'invalid-code': invalid('Value passed for the authorization code was invalid.'),
  'wrong-redirect-uri': invalid('Value passed for the redirect uri did not match the uri of the authorization code.'),
  'wrong-verifier': invalid('Value passed for the code verifier did not match the code challenge.')
}

async function refresh(deps: OAuthDeps, reply: FastifyReply, client: Client, body: Parameters, now: Date) {
  const refresh_token = body.get('refresh_token')
  if (!refresh_token) return refuse(reply, missing('refresh_token'))
  const scope = body.get('scope')
  const input = {
    app_id: client.id,
    refresh_token,
    ...(scope ? { scopes: parseScopes(scope).scopes as string[] } : {})
  }
  if (scope && parseScopes(scope).unknown.length > 0) return refuse(reply, INVALID_SCOPE)
  const result = await deps.database.db.transaction().execute((tx) => refreshTokens(tx, input, now))
  if (result.outcome === 'refreshed') return answerTokens(result.tokens)
  deps.authenticator.forget()
  return refuse(
    reply,
    result.reason === 'invalid-scope' ? INVALID_SCOPE : invalid('Value passed for the token was invalid.')
  )
}

const INVALID_SCOPE: TokenError = {
  error: 'invalid_scope',
  error_description: 'The scopes are not among those that the user granted.'
}
