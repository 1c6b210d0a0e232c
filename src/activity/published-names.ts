/** Names of what has been published: an id that a publisher gave, or what an event says of itself. See docs/decisions/0035. */
import { sql } from 'kysely'
import { isoTime } from '../clock.ts'
import type { Db } from '../storage/db.ts'
import { defineJob } from '../storage/jobs.ts'
import type { Checked, Incoming, Published } from './events.ts'
import { facetsOf } from './facets.ts'

/** What has been published under one of its names is left out: the event, or one of its facets. */
export async function claimNames(tx: Db, checked: readonly Checked[], createdAt: string) {
  const named = checked.map(({ event, givenId }) => {
    const facets = facetsOf(event)
    const own = [givenId === undefined ? [] : `id ${givenId}`, facets[0]!.name ?? []].flat()
    return { event, facets, own }
  })
  /** Each name, and the first that wants it. */
  const wanted = new Map<string, string>()
  for (const { event, facets, own } of named)
    for (const name of [...own, ...facets.flatMap((facet) => facet.name ?? [])])
      if (!wanted.has(name)) wanted.set(name, event.id)
  const taken = wanted.size === 0 ? new Map<string, string>() : await claim(tx, wanted, createdAt)
  const given = new Map<string, string>()
  const incoming: Incoming[] = []
  const published = named.map(({ event, facets, own }): Published => {
    const before = own.find((name) => taken.has(name) || given.has(name))
    if (before !== undefined) return { id: taken.get(before) ?? given.get(before)!, duplicate: true }
    for (const name of own) given.set(name, event.id)
    const news = facets.filter(({ name }, i) => i === 0 || name === null || !(taken.has(name) || given.has(name)))
    for (const { name } of news) if (name !== null) given.set(name, event.id)
    incoming.push({ event, facets: news })
    return { id: event.id, duplicate: false }
  })
  await giveBack(tx, wanted, taken, given)
  return { published, incoming }
}

/** The names that others hold, and for which event. Sorted, so that two publishers never wait for each other in a circle. */
async function claim(tx: Db, wanted: ReadonlyMap<string, string>, createdAt: string) {
  const names = [...wanted.keys()].sort()
  const { rows: won } = await sql<{ name: string }>`
    insert into published_names (name, event_id, created_at)
    select name, event_id, ${createdAt} from unnest(${names}::text[], ${names.map((name) => wanted.get(name)!)}::text[]) as t (name, event_id)
    on conflict do nothing returning name`.execute(tx)
  if (won.length === names.length) return new Map<string, string>()
  const ours = new Set(won.map((row) => row.name))
  const { rows } = await sql<{ name: string; event_id: string }>`
    select name, event_id from published_names where name = any(${names.filter((name) => !ours.has(name))}::text[])`.execute(
    tx
  )
  return new Map(rows.map((row) => [row.name, row.event_id]))
}

/** What an event claimed that turned out to be a duplicate itself belongs to the next that wants it, or to nobody. */
async function giveBack(
  tx: Db,
  wanted: ReadonlyMap<string, string>,
  taken: ReadonlyMap<string, string>,
  given: ReadonlyMap<string, string>
) {
  for (const [name, eventId] of wanted) {
    const holder = given.get(name)
    if (taken.has(name) || holder === eventId) continue
    if (holder === undefined) await sql`delete from published_names where name = ${name}`.execute(tx)
    else await sql`update published_names set event_id = ${holder} where name = ${name}`.execute(tx)
  }
}

/** Names are kept as long as the events they stand for. */
export const forgetNamesJob = (retentionMs: number) =>
  defineJob('activity.forget_names', {
    everyMs: 3_600_000,
    run: async (_payload: object, { database, clock }) => {
      await sql`delete from published_names where created_at < ${isoTime(clock.now() - retentionMs)}`.execute(
        database.db
      )
    }
  })
