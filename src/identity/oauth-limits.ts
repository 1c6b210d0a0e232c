/** How often the OAuth endpoints may be asked, and how each says that it was too often. See decisions/0081. */
import type { FastifyInstance, FastifyReply, FastifyRequest, FastifySchema } from 'fastify'
import type { Allowance, Limit } from '../http/rate-limits.ts'
import { refuseAppToken } from './app-token-routes.ts'
import type { OAuthDeps } from './oauth-deps.ts'
import { parseOAuthHeader } from './oauth1.ts'
import { errorPage, sendPage } from './pages.ts'
import { basicCredentials, bodyParameters } from './parameters.ts'

const limit = (name: string, max: number): Limit => ({ name: `oauth.${name}`, max, windowSeconds: 900 })

/** Everything that comes from one address, whomever it claims to be. */
const ADDRESS = limit('address', 6_000)
/** One app at one endpoint from one address: others cannot use up what an app may ask by naming it. */
const CLIENT = limit('client', 3_000)
/** Requests that name no app. */
const STRANGER = limit('stranger', 450)
/** People on the pages where they sign in and consent, by address. */
const PAGE = limit('page', 1_500)

const isPage = (url: string) => /\/(authorize|authenticate)$/.test(url)
const CLIENT_CHARACTERS_MAX = 64

/** Not proven yet; it only says whose share of the address's requests this one belongs to. */
const claimedClient = (req: FastifyRequest) =>
  basicCredentials(req.headers.authorization)?.name ??
  parseOAuthHeader(req.headers.authorization ?? '')?.consumerKey ??
  bodyParameters(req).get('client_id')

function refuse(reply: FastifyReply, url: string) {
  if (isPage(url)) return sendPage(reply, 429, errorPage('Too many requests', 'Wait a few minutes and try again.'))
  // "Any failure (bad grant, bad credentials, too frequent)" is the same there.
  if (url.startsWith('/oauth2/')) return refuseAppToken(reply)
  reply.code(429)
  return url.startsWith('/2/')
    ? reply.send({ error: 'temporarily_unavailable', error_description: 'Too many requests; try again later.' })
    : reply.send({ errors: [{ code: 88, message: 'Rate limit exceeded' }] })
}

function tell(reply: FastifyReply, { limit, remaining, reset }: Allowance) {
  reply.headers({
    'x-rate-limit-limit': String(limit),
    'x-rate-limit-remaining': String(remaining),
    'x-rate-limit-reset': String(reset)
  })
}

export function limitOAuth(scope: FastifyInstance, { limiter, clock }: OAuthDeps) {
  // The published description tells each limit by its name.
  scope.addHook('onRoute', (route) => {
    if (!isPage(route.url)) route.schema = { ...route.schema, 'x-rate-limit': CLIENT } as FastifySchema
  })
  // After the body was read, because a public client names itself there.
  scope.addHook('preHandler', async (req, reply) => {
    const url = req.routeOptions.url!
    const client = isPage(url) ? undefined : claimedClient(req)?.slice(0, CLIENT_CHARACTERS_MAX)
    const ofAddress = await limiter.take(ADDRESS, req.ip)
    const ofClient = isPage(url)
      ? await limiter.take(PAGE, req.ip)
      : client === undefined
        ? await limiter.take(STRANGER, `${url} ${req.ip}`)
        : await limiter.take(CLIENT, `${url} ${req.ip} ${client}`)
    const refused = ofAddress.refused ? ofAddress : ofClient
    tell(reply, refused)
    if (!refused.refused) return
    reply.header('retry-after', String(Math.max(1, Math.ceil(refused.reset - clock.now() / 1000))))
    await refuse(reply, url)
    return reply
  })
}
