/** /admin/events: how the host platform feeds Herald. */
import type { FastifyInstance } from 'fastify'
import { Type } from 'typebox'
import { notFound } from '../errors.ts'
import { decodeUtf8, parseJson } from '../http/json.ts'
import { invalidRequest } from '../http/problems.ts'
import { Data, Timestamp } from '../http/v2.ts'
import { EVENT_TYPES } from './event-types.ts'
import { EVENTS_PER_CALL_MAX, findEvent, NewEvent, type PublishDeps, type Published, publishEvents } from './events.ts'

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

/** NDJSON holds any number of lines that fit into a body; they are published a thousand at a time. */
function parseLines(bytes: Buffer): unknown[] {
  const lines = decodeUtf8(bytes).split('\n')
  return lines.flatMap((line, at) => {
    if (line.trim() === '') return []
    try {
      return [parseJson(Buffer.from(line))]
    } catch (error) {
      throw invalidRequest({ message: `line ${at + 1}: ${(error as Error).message}` })
    }
  })
}

export function eventRoutes(app: FastifyInstance, deps: PublishDeps) {
  app.addContentTypeParser(/^application\/(x-)?nd-?json\b/, { parseAs: 'buffer' }, (_req, body, done) => {
    try {
      done(null, parseLines(body as Buffer))
    } catch (error) {
      done(error as Error)
    }
  })

  app.post<{ Body: unknown[] | { events: unknown[] } }>(
    '/events',
    {
      schema: {
        summary: 'Publish events (JSON, or NDJSON for bulk); answered when they are durable.',
        tags,
        response: Accepted,
        body: Type.Unknown({ description: 'One batch: {"events": […]}, see NewEvent.' })
      }
    },
    async (req, reply) => {
      const published = await publishAll(deps, eventsOf(req.body))
      return reply
        .code(202)
        .send({
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

/** `{"events": […]}`, a bare array, or the lines of NDJSON. */
function eventsOf(body: unknown): unknown[] {
  if (Array.isArray(body)) return body
  const { events } = (body ?? {}) as { events?: unknown }
  if (!Array.isArray(events)) throw invalidRequest({ message: '$.events: is missing but it is required' })
  return events
}

async function publishAll(deps: PublishDeps, events: unknown[]): Promise<Published[]> {
  if (events.length <= EVENTS_PER_CALL_MAX) return publishEvents(deps, events)
  const published: Published[] = []
  for (let i = 0; i < events.length; i += EVENTS_PER_CALL_MAX)
    published.push(...(await publishEvents(deps, events.slice(i, i + EVENTS_PER_CALL_MAX))))
  return published
}

export { Batch }
