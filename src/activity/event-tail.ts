/** GET /admin/events: what was published last, for those who watch. */
import type { FastifyInstance } from 'fastify'
import { sql } from 'kysely'
import { type Static, Type } from 'typebox'
import { type Clock, isoTime } from '../clock.ts'
import { Data, Id, Timestamp } from '../http/v2.ts'
import type { Db } from '../storage/db.ts'
import { idTime } from '../storage/ids.ts'
import { eventFrom, type StoredEvent } from './events.ts'

const RESULTS_MAX = 200
/** Looked at in turn until there is enough: a busy minute is not read to find its last events. */
const WINDOWS_SECONDS = [5, 60, 900, 3_600, 86_400]
/** Nodes that publish side by side may commit a little out of order. */
const OVERLAP_MS = 5_000

const Query = Type.Object({
  after: Type.Optional(Id),
  event_type: Type.Optional(Type.String({ maxLength: 100 })),
  user_id: Type.Optional(Id),
  max_results: Type.Optional(Type.Integer({ minimum: 1, maximum: RESULTS_MAX }))
})
const Event = Type.Object({
  id: Type.String(),
  event_type: Type.String(),
  user_id: Type.Unsafe<string | null>({ type: 'string', nullable: true }),
  payload: Type.Unknown(),
  occurred_at: Timestamp,
  created_at: Timestamp
})

export async function latestEvents(
  db: Db,
  clock: Clock,
  { after, event_type, user_id, max_results = 50 }: Static<typeof Query>
) {
  const nowMs = clock.now()
  const find = async (sinceMs: number) => {
    const { rows } = await sql<StoredEvent>`
      select id, event_type, user_id, payload, includes, occurred_at, created_at from events
      where created_at >= ${isoTime(sinceMs)}
        ${after === undefined ? sql`` : sql`and id > ${after}`}
        ${event_type === undefined ? sql`` : sql`and event_type = ${event_type}`}
        ${user_id === undefined ? sql`` : sql`and user_id = ${user_id}`}
      order by created_at desc, id desc limit ${max_results}`.execute(db)
    return rows.map(eventFrom)
  }
  if (after !== undefined) return find(Math.max(idTime(BigInt(after)) - OVERLAP_MS, nowMs - 86_400_000))
  for (const seconds of WINDOWS_SECONDS) {
    const events = await find(nowMs - seconds * 1_000)
    if (events.length === max_results || seconds === WINDOWS_SECONDS.at(-1)) return events
  }
  return []
}

export function eventTailRoutes(app: FastifyInstance, { db, clock }: { db: Db; clock: Clock }) {
  app.get<{ Querystring: Static<typeof Query> }>(
    '/events',
    {
      schema: {
        summary: 'The latest events, newest first; `after` an id only those since.',
        tags: ['admin', 'events'],
        querystring: Query,
        response: Data(Type.Array(Event))
      }
    },
    async (req) => ({ data: await latestEvents(db, clock, req.query) })
  )
}
