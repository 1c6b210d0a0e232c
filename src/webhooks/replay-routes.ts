/** POST /2/webhooks/replay, and the deprecated path with identical functionality. App-only bearer tokens and nothing else. */
import type { FastifyInstance, FastifyRequest } from 'fastify'
import { type Static, Type } from 'typebox'
import type { ApiError } from '../errors.ts'
import { APP_ONLY, type AppPrincipal } from '../http/auth.ts'
import { invalidBecause } from '../http/problems.ts'
import { Id, Timestamp } from '../http/v2.ts'
import { violatedConstraint } from '../storage/db.ts'
import type { DeliveryEngine } from './deliver.ts'
import { checkReplayRange, inReplayWords, MINUTE_PATTERN } from './replay-request.ts'
import { createReplay, replayInProgress } from './replays.ts'
import { crcFailed, getWebhook, validate, type WebhookDeps, webhookIdInvalid } from './webhooks.ts'

export interface ReplayDeps extends WebhookDeps {
  delivery: Pick<DeliveryEngine, 'wakeReplay'>
}

const Minute = (about: string) => Type.String({ pattern: MINUTE_PATTERN, description: `yyyymmddhhmm, UTC. ${about}` })
const Range = {
  from_date: Minute('The oldest minute, inclusive, from which events are provided; at most 24 hours ago.'),
  to_date: Minute('The end, exclusive; the current minute at the latest.')
}
/** Open: other properties are ignored, as the published description of this call says. */
const NewReplay = Type.Object({ webhook_id: Id, ...Range })
const Accepted = { 200: Type.Object({ job_id: Id, created_at: Timestamp }) }

/** 25 March 2026, 12:00 ET, as RFC 9745 writes it. */
const DEPRECATED_SINCE = '@1774454400'

/** The cheap refusals come before the request to the consumer; the unique index decides between two at once. */
export async function requestReplay(deps: ReplayDeps, appId: string, input: Static<typeof NewReplay>) {
  const { db, clock } = deps
  const range = checkReplayRange(input, clock.now())
  const webhook = await getWebhook(db, appId, input.webhook_id)
  if (!webhook.valid) throw webhookInvalid(webhook)
  const lane = { app_id: webhook.app_id, webhook_id: webhook.id }
  const running = await db
    .selectFrom('replays')
    .select('id')
    .where('app_id', '=', lane.app_id)
    .where('webhook_id', '=', lane.webhook_id)
    .where('state', 'in', ['pending', 'running'])
    .executeTakeFirst()
  if (running) throw replayInProgress()
  const { webhook: checked, result } = await validate(deps, webhook, 'replay')
  if (result.outcome !== 'pass') throw crcFailed(result, webhook.url, '; no replay was started')
  if (!checked.valid) throw webhookInvalid(checked)
  const { id, created_at } = await createReplay(db, clock, { ...lane, ...range }).catch((error) => {
    // Deleted while its CRC was under way.
    throw violatedConstraint(error) === undefined ? error : webhookIdInvalid(webhook.id)
  })
  deps.delivery.wakeReplay(lane)
  return { job_id: id, created_at }
}

const webhookInvalid = ({ id, url, invalid_since, invalid_reason }: Awaited<ReturnType<typeof getWebhook>>) =>
  invalidBecause(
    'CrcValidationFailed',
    `the webhook is marked as invalid since ${invalid_since} (${invalid_reason}); re-enable it with PUT /2/webhooks/${id}`,
    { parameters: { url: [url] } }
  )

/** Every fault of the parameters has one reason, whether the schema or the clock found it. */
function refuseBadParameters(req: FastifyRequest) {
  if (!req.validationError) return
  const { fields } = (req.validationError as unknown as ApiError).extra as { fields?: { errors?: [] } }
  throw fields?.errors ? inReplayWords(fields.errors) : req.validationError
}

export function replayRoutes(app: FastifyInstance, deps: ReplayDeps) {
  const appId = (req: FastifyRequest) => (req.principal as AppPrincipal).app.id
  const config = {
    accepts: APP_ONLY,
    product: 'webhooks' as const,
    limit: { name: 'v2.webhooks.replay', max: 100, windowSeconds: 900 }
  }
  const preHandler = async (req: FastifyRequest) => refuseBadParameters(req)

  app.post<{ Body: Static<typeof NewReplay> }>(
    '/webhooks/replay',
    {
      schema: {
        summary: 'Deliver again what was delivered or attempted in a range of the past 24 hours.',
        tags: ['webhooks'],
        body: NewReplay,
        response: Accepted
      },
      config,
      attachValidation: true,
      preHandler
    },
    (req) => requestReplay(deps, appId(req), req.body)
  )

  const Path = Type.Object({ webhook_id: Id })
  const Query = Type.Object(Range)
  app.post<{ Params: Static<typeof Path>; Querystring: Static<typeof Query> }>(
    '/account_activity/replay/webhooks/:webhook_id/subscriptions/all',
    {
      schema: {
        summary: 'Deprecated: use POST /2/webhooks/replay, which does the same.',
        tags: ['webhooks'],
        deprecated: true,
        params: Path,
        querystring: Query,
        response: Accepted
      },
      config,
      attachValidation: true,
      preHandler,
      onSend: async (_req, reply, payload) => {
        reply.headers({ deprecation: DEPRECATED_SINCE, link: '</2/webhooks/replay>; rel="successor-version"' })
        return payload
      }
    },
    (req) => requestReplay(deps, appId(req), { ...req.params, ...req.query })
  )
}
