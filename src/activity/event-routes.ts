/** /admin/events: how the host platform feeds Herald. */
import type { FastifyInstance } from 'fastify'
import { Type } from 'typebox'
import { notFound } from '../errors.ts'
import { decodeUtf8, parseJson } from '../http/json.ts'
import { invalidRequest } from '../http/problems.ts'
import { Data, Timestamp } from '../http/v2.ts'
import { EVENT_TYPES } from './event-types.ts'
import {
  checkEvents,
  EVENTS_PER_CALL_MAX,
  findEvent,
  NewEvent,
  type PublishDeps,
  type Published,
  publishChecked,
  publishEvents
} from './events.ts'

const Batch = Type.Object(
  { events: Type.Array(NewEvent, { minItems: 1, maxItems: EVENTS_PER_CALL_MAX }) },
  { additionalProperties: false }
)
const Accepted = {
  202: Type.Object({
    data: Type.Array(Type.Object({ id: Type.String(), duplicate: Type.Boolean() })),
    meta: Type.Object({ result_count: Type.Integer(), duplicates: Type.Integer() })
  })
}
const tags = ['admin', 'events']

/** NDJSON holds as many lines as fit into a body. All are checked before the first is published, a thousand at a time. */
class Lines {
  readonly events: unknown[] = []
  /** Of each event, counted from 1. */
  readonly numbers: number[] = []

  constructor(bytes: Buffer) {
    for (const [at, line] of decodeUtf8(bytes).split('\n').entries()) {
      if (line.trim() === '') continue
      try {
        this.events.push(parseJson(Buffer.from(line)))
        this.numbers.push(at + 1)
      } catch (error) {
        throw invalidRequest({ message: `line ${at + 1}: ${(error as Error).message}` })
      }
    }
  }
}

export function eventRoutes(app: FastifyInstance, deps: PublishDeps) {
  app.addContentTypeParser(/^application\/(x-)?nd-?json\b/, { parseAs: 'buffer' }, (_req, body, done) => {
    try {
      done(null, new Lines(body as Buffer))
    } catch (error) {
      done(error as Error)
    }
  })

  app.post<{ Body: unknown }>(
    '/events',
    {
      schema: {
        summary: 'Publish events (JSON, or NDJSON for bulk); answered when they are durable.',
        tags,
        response: Accepted,
        body: {
          content: {
            'application/json': { schema: Batch },
            'application/x-ndjson': { schema: Type.Unknown({ description: 'One event per line.' }) }
          }
        }
      }
    },
    async (req, reply) => {
      const published =
        req.body instanceof Lines ? await publishLines(deps, req.body) : await publishEvents(deps, eventsOf(req.body))
      return reply.code(202).send({
        data: published,
        meta: { result_count: published.length, duplicates: published.filter((each) => each.duplicate).length }
      })
    }
  )

  app.get(
    '/event_types',
    {
      schema: {
        summary: 'The event types, with what each needs.',
        tags,
        response: Data(
          Type.Array(
            Type.Object({
              name: Type.String(),
              aliases: Type.Optional(Type.Array(Type.String())),
              visibility: Type.String(),
              filter: Type.String(),
              scope: Type.Optional(Type.String()),
              direction: Type.Optional(Type.Boolean()),
              about: Type.String()
            })
          )
        )
      }
    },
    async () => ({ data: EVENT_TYPES })
  )

  app.get<{ Params: { event_id: string } }>(
    '/events/:event_id',
    {
      schema: {
        summary: 'An event as it was published.',
        tags,
        params: Type.Object({ event_id: Type.String() }),
        response: Data(
          Type.Object({
            id: Type.String(),
            event_type: Type.String(),
            user_id: Type.Unsafe<string | null>({ type: 'string', nullable: true }),
            payload: Type.Unknown(),
            includes: Type.Unknown(),
            occurred_at: Timestamp,
            created_at: Timestamp
          })
        )
      }
    },
    async (req) => {
      const event = await findEvent(deps.database.db, req.params.event_id)
      if (!event)
        throw notFound(
          'EVENT_NOT_FOUND',
          `Event ${req.params.event_id.slice(0, 50)} was never published, or is no longer kept.`
        )
      return { data: event }
    }
  )
}

/** JSON under a name that the description does not know, such as application/hal+json, comes here unchecked. */
function eventsOf(body: unknown): unknown[] {
  const { events } = (body ?? {}) as { events?: unknown }
  if (!Array.isArray(events)) throw invalidRequest({ message: '$.events: is missing but it is required' })
  return events
}

async function publishLines(deps: PublishDeps, { events, numbers }: Lines): Promise<Published[]> {
  const checked = checkEvents(deps.clock, events, (at) => `line ${numbers[at]}: $`)
  const published: Published[] = []
  for (let i = 0; i < checked.length; i += EVENTS_PER_CALL_MAX)
    published.push(...(await publishChecked(deps, checked.slice(i, i + EVENTS_PER_CALL_MAX))))
  return published
}
