/** /admin/inbox: what the built-in consumer received, and how it answers. */
import type { FastifyInstance } from 'fastify'
import { type Static, Type } from 'typebox'
import { forbidden } from '../errors.ts'
import { Data, Id, Timestamp } from '../http/v2.ts'
import type { Behaviour } from '../tools/listen-behaviour.ts'
import { INBOX_HOST, type Inbox } from './inbox.ts'

const BEHAVIOURS = {
  ok: { kind: 'ok' },
  slow: { kind: 'slow', ms: 3_000 },
  fail: { kind: 'fail', status: 500 },
  lie: { kind: 'lie' },
  stall: { kind: 'stall' }
} as const satisfies Record<string, Behaviour>
type BehaviourName = keyof typeof BEHAVIOURS

const State = Type.Object({
  available: Type.Boolean(),
  url: Type.String({ description: 'Register this as a webhook, with the id of the app in place of {app_id}.' }),
  behaviour: Type.String({ description: Object.keys(BEHAVIOURS).join(', ') })
})
const Change = Type.Object(
  { behaviour: Type.Enum(Object.keys(BEHAVIOURS) as BehaviourName[]) },
  { additionalProperties: false }
)
const Query = Type.Object({
  app_id: Type.Optional(Id),
  after: Type.Optional(Type.Integer({ minimum: 0, description: 'Only what came after this position.' })),
  max_results: Type.Optional(Type.Integer({ minimum: 1, maximum: 500 }))
})
const Received = Type.Object({
  position: Type.Integer(),
  received_at: Timestamp,
  app_id: Id,
  what: Type.String({ description: 'event or crc' }),
  delivery_id: Type.Unsafe<string | null>({ type: 'string', nullable: true }),
  signature: Type.String({ description: 'good, bad or missing' }),
  standard_signature: Type.String(),
  answered: Type.Integer({ description: 'The status; 0 while the sender waits.' }),
  bytes: Type.Integer(),
  body: Type.String()
})

/** `inbox` is undefined on servers that others may reach. */
export function inboxRoutes(app: FastifyInstance, inbox: Inbox | undefined) {
  const state = () => ({
    available: inbox !== undefined,
    url: `https://${INBOX_HOST}/{app_id}`,
    behaviour: inbox?.behaviour.kind ?? 'ok'
  })
  const required = () => {
    if (inbox) return inbox
    throw forbidden(
      'FORBIDDEN',
      'The inbox exists only on a developer’s own server; HERALD_DEV_LISTENER=on turns it on.'
    )
  }

  app.get('/inbox', { schema: { summary: 'The built-in consumer.', response: Data(State) } }, async () => ({
    data: state()
  }))
  app.put<{ Body: Static<typeof Change> }>(
    '/inbox',
    { schema: { summary: 'How the built-in consumer answers from now on.', body: Change, response: Data(State) } },
    async (req) => {
      required().behaviour = BEHAVIOURS[req.body.behaviour]
      return { data: state() }
    }
  )
  app.get<{ Querystring: Static<typeof Query> }>(
    '/inbox/requests',
    {
      schema: {
        summary: 'What the built-in consumer received, newest first.',
        querystring: Query,
        response: Data(Type.Array(Received))
      }
    },
    async (req) => ({
      data: inbox?.list({ ...req.query, limit: req.query.max_results ?? 100 }) ?? []
    })
  )
  app.delete(
    '/inbox/requests',
    { schema: { summary: 'Forget what was received.', response: Data(State) } },
    async () => {
      required().clear()
      return { data: state() }
    }
  )
}
