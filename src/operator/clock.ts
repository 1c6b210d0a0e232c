/** The test clock: one offset in the database, followed by every node. Refused unless HERALD_TEST_CLOCK=1. */
import type { FastifyInstance } from 'fastify'
import { Type } from 'typebox'
import { isoTime, type TestClock } from '../clock.ts'
import { parseDuration } from '../config.ts'
import type { Deps } from '../deps.ts'
import { forbidden } from '../errors.ts'
import { parseTime } from '../http/ads-input.ts'
import { invalidRequest } from '../http/problems.ts'
import { Data, Timestamp } from '../http/v2.ts'
import type { Database } from '../storage/db.ts'
import type { Listener } from '../storage/listen.ts'

const CHANNEL = 'herald_clock'

/** Follows the offset in the database, whichever node moved it. */
export async function followTestClock(clock: TestClock, database: Database, listener: Listener) {
  const read = async () => {
    const row = await database.db.selectFrom('test_clock').select('offset_ms').executeTakeFirst()
    clock.offsetMs = Number(row?.offset_ms ?? 0)
  }
  listener.on(CHANNEL, () => void read().catch(() => {}))
  listener.onReconnect(() => void read().catch(() => {}))
  await read()
}

async function moveTo(clock: TestClock, database: Database, ms: number) {
  clock.offsetMs = Math.round(ms - Date.now())
  await database.pool.query(
    `with moved as (
       insert into test_clock (offset_ms) values ($1) on conflict (id) do update set offset_ms = excluded.offset_ms returning 1
     ) select pg_notify('${CHANNEL}', '') from moved`,
    [clock.offsetMs]
  )
}

export interface DueWork {
  nextDueAt(): Promise<number | undefined>
  drain(): Promise<void>
}

/** Time passes on the way: everything that is due at 10:00 is done at 10:00, also when the clock is moved from 9 to 12. */
export async function moveClock(clock: TestClock, database: Database, work: DueWork, targetMs: number) {
  await work.drain()
  for (let before = clock.now(); ; ) {
    const due = await work.nextDueAt()
    if (due === undefined || due > targetMs || due <= before) break
    await moveTo(clock, database, due)
    await work.drain()
    before = due
  }
  await moveTo(clock, database, targetMs)
  await work.drain()
}

const Moved = Type.Object({ now: Timestamp })
const Move = Type.Object(
  {
    advance: Type.Optional(Type.String({ description: 'A duration such as 28h or 1h30m.' })),
    now: Type.Optional(Type.String({ description: 'ISO 8601.' }))
  },
  { additionalProperties: false }
)

export function clockRoutes(app: FastifyInstance, { clock, config, database }: Deps, work: DueWork) {
  app.get('/clock', { schema: { summary: 'The time as the rules see it.', response: Data(Moved) } }, async () => ({
    data: { now: isoTime(clock.now()) }
  }))

  app.post<{ Body: { advance?: string; now?: string } }>(
    '/clock',
    {
      schema: {
        summary: 'Move the test clock; the work that becomes due is done before the answer.',
        body: Move,
        response: Data(Moved)
      }
    },
    async (req) => {
      if (!config.HERALD_TEST_CLOCK)
        throw forbidden(
          'FORBIDDEN',
          'The clock can only be moved on a server that was started with HERALD_TEST_CLOCK=1.'
        )
      await moveClock(clock as TestClock, database, work, target(req.body, clock.now()))
      return { data: { now: isoTime(clock.now()) } }
    }
  )
}

function target({ advance, now }: { advance?: string; now?: string }, currentMs: number) {
  if ((advance === undefined) === (now === undefined))
    throw invalidRequest({ message: 'Send either `advance` or `now`.' })
  const ms = advance !== undefined ? parseDuration(advance) : parseTime(now!)
  if (ms === undefined) {
    throw invalidRequest(
      advance !== undefined
        ? { message: '$.advance: must be a duration such as 28h, 30m or 90s', parameters: { advance: [advance] } }
        : { message: '$.now: must be an ISO 8601 time such as 2026-01-15T12:00:00Z', parameters: { now: [now!] } }
    )
  }
  return advance !== undefined ? currentMs + ms : ms
}
