/** GET /2/activity/stream and GET /2/tweets/search/stream */
import type { FastifyInstance, FastifyRequest } from 'fastify'
import { type Static, Type } from 'typebox'
import type { Clock } from '../../clock.ts'
import type { Config } from '../../config.ts'
import { APP_ONLY, type AppPrincipal } from '../../http/auth.ts'
import { invalidRequest, problemError } from '../../http/problems.ts'
import type { Db } from '../../storage/db.ts'
import type { StreamEndpoint } from '../connections.ts'
import { PostFields, selectionOf } from '../filtered-stream/post-fields.ts'
import { ruleCounts } from '../filtered-stream/rules.ts'
import type { StreamRequest, Streams } from './index.ts'

const BACKFILL_MINUTES_MAX = 5
/** Document 1 and the open points: a recovery reaches back this far. */
const RECOVERY_HOURS = 24

const Past = {
  backfill_minutes: Type.Optional(
    Type.Integer({ minimum: 0, maximum: BACKFILL_MINUTES_MAX, description: 'Sends this much of the past first.' })
  ),
  start_time: Type.Optional(
    Type.String({ description: `RFC 3339, at most ${RECOVERY_HOURS} hours ago: sends the range and ends.` })
  ),
  end_time: Type.Optional(Type.String({ description: 'RFC 3339, exclusive; now if absent.' }))
}
const ActivityQuery = Type.Object(Past)
const FilteredQuery = Type.Object({ ...Past, ...PostFields })
type PastQuery = Static<typeof ActivityQuery>
/** Described, not enforced: the handler answers with an endless body of its own. */
const Lines = {
  200: Type.String({ description: 'One JSON object per line, each ended by CR LF; an empty line is a sign of life.' })
}

export interface StreamRouteDeps {
  db: Db
  clock: Clock
  config: Config
  streams: Streams
}

const tags = ['streams']

export function streamRoutes(app: FastifyInstance, deps: StreamRouteDeps) {
  const { streams, config, db } = deps
  // Streams never end by themselves, and the server waits for what is open.
  app.addHook('preClose', () => streams.stop())

  app.get<{ Querystring: PastQuery }>(
    '/activity/stream',
    {
      schema: { summary: 'Stream the events of all subscriptions.', tags, querystring: ActivityQuery, response: Lines },
      config: {
        accepts: APP_ONLY,
        product: 'activity',
        limit: { name: 'v2.activity.stream', max: 450, windowSeconds: 900 }
      },
      exposeHeadRoute: false
    },
    async (req, reply) => {
      const { app } = req.principal as AppPrincipal
      await streams.open(reply, {
        ...requestOf(req, 'activity_stream', deps.clock),
        connectionsMax: app.quotas.activity_stream_connections ?? config.HERALD_ACTIVITY_STREAM_CONNECTIONS_MAX,
        selection: selectionOf({})
      })
      return reply
    }
  )

  app.get<{ Querystring: Static<typeof FilteredQuery> }>(
    '/tweets/search/stream',
    {
      schema: { summary: 'Stream the posts that match the rules.', tags, querystring: FilteredQuery, response: Lines },
      config: {
        accepts: APP_ONLY,
        product: 'filtered_stream',
        limit: { name: 'v2.filtered_stream', max: 50, windowSeconds: 900 }
      },
      exposeHeadRoute: false
    },
    async (req, reply) => {
      const { app } = req.principal as AppPrincipal
      const request = requestOf(req, 'filtered_stream', deps.clock)
      await refuseWithoutRules(db, app)
      await streams.open(reply, {
        ...request,
        connectionsMax: app.quotas.filtered_stream_connections ?? config.HERALD_FILTERED_STREAM_CONNECTIONS_MAX,
        selection: selectionOf(req.query)
      })
      return reply
    }
  )
}

type Requested = Omit<StreamRequest, 'connectionsMax' | 'selection'>

function requestOf(req: FastifyRequest<{ Querystring: PastQuery }>, endpoint: StreamEndpoint, clock: Clock): Requested {
  return {
    appId: (req.principal as AppPrincipal).app.id,
    endpoint,
    clientIp: req.ip,
    // A session of the console has none, and its stream ends with the next change of any credential.
    authorization: req.headers.authorization ?? '',
    ...pastOf(req.query, clock.now())
  }
}

function pastOf(query: PastQuery, nowMs: number): Pick<Requested, 'backfillMs' | 'recovery'> {
  const { backfill_minutes = 0, start_time, end_time } = query
  if (start_time === undefined && end_time === undefined)
    return backfill_minutes > 0 ? { backfillMs: backfill_minutes * 60_000 } : {}
  if (start_time === undefined) throw refusedParameter('end_time', end_time!, 'needs `start_time`')
  if (backfill_minutes > 0)
    throw refusedParameter('backfill_minutes', String(backfill_minutes), 'cannot be combined with `start_time`')
  const fromMs = timeOf('start_time', start_time)
  const toMs = end_time === undefined ? nowMs : timeOf('end_time', end_time)
  if (fromMs < nowMs - RECOVERY_HOURS * 3_600_000)
    throw refusedParameter('start_time', start_time, `is more than ${RECOVERY_HOURS} hours ago`)
  if (fromMs > nowMs) throw refusedParameter('start_time', start_time, 'is in the future')
  if (toMs > nowMs) throw refusedParameter('end_time', end_time!, 'is in the future')
  if (toMs <= fromMs) throw refusedParameter('end_time', end_time ?? '', 'is not after `start_time`')
  return { recovery: { fromMs, toMs } }
}

/** `2026-01-15T12:00:00Z`, also with a fraction or an offset. */
const RFC_3339 = /^\d{4}-\d{2}-\d{2}[Tt]\d{2}:\d{2}:\d{2}(\.\d+)?([Zz]|[+-]\d{2}:\d{2})$/

function timeOf(name: string, text: string) {
  const ms = RFC_3339.test(text) ? Date.parse(text) : Number.NaN
  if (Number.isNaN(ms)) throw refusedParameter(name, text, 'is not valid: a time such as 2026-01-15T12:00:00Z')
  return ms
}

const refusedParameter = (name: string, value: string, why: string) =>
  invalidRequest({
    message: `The \`${name}\` query parameter value [${value.slice(0, 100)}] ${why}`,
    parameters: { [name]: [value.slice(0, 100)] }
  })

async function refuseWithoutRules(db: Db, app: AppPrincipal['app']) {
  const { ofApp } = await ruleCounts(db, app)
  if (ofApp > 0) return
  throw problemError(
    'streaming-connection',
    'This app has no rules, so nothing could ever match. Add some with POST /2/tweets/search/stream/rules, then connect.',
    { connection_issue: 'RuleConfigurationIssue' },
    409
  )
}
