/** The shapes of what operators read. */
import { Type } from 'typebox'
import { Id, Paging, Timestamp } from '../http/v2.ts'
import { DELIVERY_STATES } from './delivery-state.ts'
import { DELIVERIES_PER_PAGE } from './records.ts'
import { BACKLOG_COUNTED_MAX, CHECKS_PER_PAGE, RECENT_DELIVERIES_MAX, WEBHOOKS_PER_PAGE } from './records-webhooks.ts'
import { VERDICTS } from './why.ts'

const about = (description: string) => ({ description })
const text = (description?: string) =>
  Type.Unsafe<string | null>({ type: 'string', nullable: true, ...(description ? { description } : {}) })
const time = (description?: string) =>
  Type.Unsafe<string | null>({
    ...{ type: 'string', format: 'date-time', nullable: true },
    ...(description ? { description } : {})
  })
const integer = (description?: string) =>
  Type.Unsafe<number | null>({ type: 'integer', nullable: true, ...(description ? { description } : {}) })
const share = (description: string) => Type.Unsafe<number | null>({ type: 'number', nullable: true, description })

export const WebhookPath = Type.Object({ webhook_id: Id })
export const DeliveryPath = Type.Object({ delivery_id: Id })
export const ReplayPath = Type.Object({ replay_id: Id })

export const WebhooksQuery = Type.Object({
  app_id: Type.Optional(Id),
  valid: Type.Optional(Type.Boolean()),
  ...Paging(200, WEBHOOKS_PER_PAGE)
})
export const ChecksQuery = Type.Object(Paging(200, CHECKS_PER_PAGE))
export const AllChecksQuery = Type.Object({
  app_id: Type.Optional(Id),
  webhook_id: Type.Optional(Id),
  outcome: Type.Optional(Type.Enum(['pass', 'transient', 'definitive'])),
  ...Paging(200, CHECKS_PER_PAGE)
})
export const DeliveriesQuery = Type.Object({
  state: Type.Optional(Type.Enum([...DELIVERY_STATES])),
  event_id: Type.Optional(Type.String({ maxLength: 200 })),
  kind: Type.Optional(Type.String({ maxLength: 40, description: 'activity, test, replay_status …' })),
  from: Type.Optional(Type.String({ description: 'Created at this time or later, ISO 8601.' })),
  to: Type.Optional(Type.String({ description: 'Created before this time, ISO 8601.' })),
  ...Paging(200, DELIVERIES_PER_PAGE)
})
export const WhyQuery = Type.Object({ event_id: Type.String({ maxLength: 200 }) })
export const ReplaysQuery = Type.Object({
  app_id: Type.Optional(Id),
  webhook_id: Type.Optional(Id),
  state: Type.Optional(Type.Enum(['pending', 'running', 'complete', 'incomplete'])),
  ...Paging(200, 50)
})

const Traffic = {
  backlog: Type.Integer(
    about(`Deliveries that wait for an attempt; in lists counted up to ${BACKLOG_COUNTED_MAX.toLocaleString('en')}.`)
  ),
  backlog_counted_to_end: Type.Boolean(),
  oldest_due_at: time('The earliest time at which something is, or was, due.')
}

export const WebhookRecord = Type.Object({
  id: Id,
  app_id: Id,
  url: Type.String(),
  valid: Type.Boolean(),
  created_at: Timestamp,
  invalid_since: time(),
  invalid_reason: text('What was observed.'),
  last_success_at: Timestamp,
  last_crc_at: time(),
  last_crc_outcome: text('pass, transient or definitive.'),
  next_check_at: Timestamp,
  next_check: Type.String(about('check: a CRC is sent then; expire: 28 hours without a success are over then.')),
  ...Traffic,
  recent_deliveries: Type.Integer(
    about(`Deliveries of the past hour that the figures beside are of; the newest ${RECENT_DELIVERIES_MAX} at most.`)
  ),
  recent_attempts: Type.Integer(),
  recent_delivered: Type.Integer(),
  success_rate: share('Acknowledged attempts per attempt; null when there were none.')
})

export const CrcCheck = Type.Object({
  id: Id,
  app_id: Id,
  webhook_id: Id,
  created_at: Timestamp,
  cause: Type.String(about('create, put, tick or replay.')),
  outcome: Type.String(),
  url: Type.String(),
  status: integer(),
  latency_ms: integer(),
  error: text(),
  detail: text(),
  response: text('First characters of the answer.')
})

export const Validated = Type.Object({
  valid: Type.Boolean(),
  outcome: Type.String(),
  status: integer(),
  latency_ms: integer(),
  error: text(),
  detail: text(),
  response: text()
})

const DeliveryFields = {
  id: Id,
  app_id: Id,
  webhook_id: Id,
  event_id: text(),
  kind: Type.String(),
  created_at: Timestamp,
  state: Type.String(about(DELIVERY_STATES.join(', '))),
  attempts: Type.Integer(about('Requests that were sent, replays included.')),
  last_attempt_at: time(),
  delivered_at: time('When the first acknowledgement came.'),
  status: integer('Of the last attempt, as the fields below.'),
  latency_ms: integer(),
  error: text(),
  detail: text(),
  next_attempt_at: time()
}
export const DeliveryRecord = Type.Object(DeliveryFields)

const Attempt = Type.Object({
  created_at: Timestamp,
  cause: Type.String(about('live, resend or replay.')),
  attempt: Type.Integer(about('0: nothing was sent (held, expired).')),
  outcome: Type.String(),
  status: integer(),
  latency_ms: integer(),
  error: text(),
  detail: text(),
  response: text('First characters of an answer that was not an acknowledgement.'),
  next_attempt_at: time(),
  replay_id: text(),
  request_headers: Type.Optional(
    Type.Record(Type.String(), Type.String(), about('Signed again with the secrets that are valid now.'))
  ),
  request_body: Type.Optional(Type.String(about('Where it differed from `body`: replays carry a mark.')))
})
export const DeliveryDetail = Type.Object({
  ...DeliveryFields,
  next_attempt_cause: text(),
  url: text('null when the webhook has been deleted.'),
  body: Type.String(about('The bytes that were signed and sent, as text.')),
  body_bytes: Type.Integer(),
  attempt_records: Type.Array(Attempt)
})

export const Resent = Type.Object({ delivery_id: Id, due_at: Timestamp })
export const TestEvent = Type.Object(
  { body: Type.Optional(Type.Object({}, { additionalProperties: true, description: 'Sent instead of our own.' })) },
  { additionalProperties: false }
)
export const TestEventSent = Type.Object({ delivery_id: Id })

export const Why = Type.Object({
  webhook_id: Id,
  event_id: Type.String(),
  verdict: Type.String(about(VERDICTS.join(', '))),
  sentences: Type.Array(Type.String()),
  next: Type.Optional(Type.String(about('The request that helps on.'))),
  deliveries: Type.Array(DeliveryRecord)
})

export const ReplayRecord = Type.Object({
  id: Id,
  app_id: Id,
  webhook_id: Id,
  from_date: Timestamp,
  to_date: Timestamp,
  state: Type.String(about('pending, running, complete or incomplete.')),
  progress: Type.Number(about('How much of the range lies behind, from 0 to 1.')),
  delivered: Type.Unsafe<bigint>({ type: 'integer' }),
  failed: Type.Unsafe<bigint>({ type: 'integer' }),
  created_at: Timestamp,
  started_at: time(),
  finished_at: time(),
  detail: text()
})

export const Overview = Type.Object({
  at: Timestamp,
  window_seconds: Type.Integer(about('What the figures below are of: 300, or less under heavy load.')),
  attempts: Type.Integer(),
  delivered: Type.Integer(),
  retried: Type.Integer(),
  failed: Type.Integer(),
  deliveries_per_second: Type.Number(),
  success_rate: share('Acknowledged attempts per attempt; null when there were none.'),
  latency_ms: Type.Object({ p50: integer(), p95: integer(), p99: integer() }),
  ...Traffic,
  webhooks: Type.Integer(),
  invalid_webhooks: Type.Integer(),
  oldest_by_webhook: Type.Array(
    Type.Object({ app_id: Id, webhook_id: Id, backlog: Type.Integer(), oldest_due_at: Timestamp })
  )
})

export const Series = Type.Object({
  at: Timestamp,
  step_seconds: Type.Integer(about('10, or less under heavy load.')),
  steps: Type.Array(
    Type.Object({
      at: Timestamp,
      delivered: Type.Integer(),
      failed: Type.Integer(about('Attempts that were not acknowledged.')),
      p50: integer('Milliseconds until the answer.'),
      p95: integer()
    })
  )
})
