/** Published events, read again: those just announced, by id; those of a past range, by time. */
import { CompiledQuery, sql } from 'kysely'
import { isoTime } from '../../clock.ts'
import type { Db } from '../../storage/db.ts'
import { eventFrom, type StoredEvent } from '../events.ts'
import type { PublishedEvent } from '../facets.ts'

const COLUMNS = 'id, event_type, user_id, payload, includes, occurred_at, created_at'
/** An event that was just announced was published about now, so that few partitions need to be searched. */
const ABOUT_MS = 3_600_000

export type PastEvent = PublishedEvent & { created_at: string }

/** In the order of the ids. What is no longer kept is left out. */
export async function readEvents(db: Db, ids: readonly string[], nowMs: number): Promise<PastEvent[]> {
  const about = `select ${COLUMNS} from events where id = any($1) and created_at between $2 and $3`
  const { rows } = await db.executeQuery<StoredEvent>(
    CompiledQuery.raw(about, [ids, isoTime(nowMs - ABOUT_MS), isoTime(nowMs + ABOUT_MS)])
  )
  const found = new Map(rows.map((row) => [row.id, row]))
  const elsewhere = ids.filter((id) => !found.has(id))
  if (elsewhere.length > 0) {
    const anywhere = await db.executeQuery<StoredEvent>(
      CompiledQuery.raw(`select ${COLUMNS} from events where id = any($1)`, [elsewhere])
    )
    for (const row of anywhere.rows) found.set(row.id, row)
  }
  return ids.flatMap((id) => {
    const row = found.get(id)
    return row ? [eventFrom(row)] : []
  })
}

export interface EventRange {
  fromMs: number
  /** Exclusive; open if absent. */
  toMs?: number
  /** Only events of this type. */
  eventType?: string
}

const PAGE_EVENTS = 250
const SLICE_FIRST_MS = 10_000
const SLICE_MAX_MS = 900_000
/** With an open end, events of nodes whose clocks are ahead are taken along. */
const AHEAD_MS = 60_000

/** Oldest first, a page at a time; the range is cut into slices, so that no query sorts more than it needs to. */
export async function* eventPages(db: Db, range: EventRange, nowMs: number): AsyncGenerator<PastEvent[]> {
  const { fromMs, eventType } = range
  const toMs = range.toMs ?? nowMs + AHEAD_MS
  let sliceMs = SLICE_FIRST_MS
  for (let startMs = fromMs; startMs < toMs; ) {
    const endMs = Math.min(startMs + sliceMs, toMs)
    let read = 0
    for (let last: PastEvent | undefined; ; ) {
      const page = await readPage(db, { startMs, endMs, eventType, last })
      read += page.length
      if (page.length > 0) yield page
      if (page.length < PAGE_EVENTS) break
      last = page.at(-1)
    }
    if (read < PAGE_EVENTS / 2) sliceMs = Math.min(sliceMs * 2, SLICE_MAX_MS)
    else if (read > PAGE_EVENTS * 4) sliceMs = Math.max(1_000, sliceMs / 2)
    startMs = endMs
  }
}

interface PageBounds {
  startMs: number
  endMs: number
  eventType: string | undefined
  last: PastEvent | undefined
}

async function readPage(db: Db, { startMs, endMs, eventType, last }: PageBounds): Promise<PastEvent[]> {
  const { rows } = await sql<StoredEvent>`
    select ${sql.raw(COLUMNS)} from events
    where created_at >= ${last?.created_at ?? isoTime(startMs)} and created_at < ${isoTime(endMs)}
      ${last ? sql`and (created_at, id) > (${last.created_at}, ${last.id})` : sql``}
      ${eventType === undefined ? sql`` : sql`and event_type = ${eventType}`}
    order by created_at, id limit ${sql.lit(PAGE_EVENTS)}`.execute(db)
  return rows.map(eventFrom)
}
