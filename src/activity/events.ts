/** Events in: validated by type, idempotent by name, durable together with everything that is to be sent because of them. */
import { CompiledQuery, sql } from 'kysely'
import { Type } from 'typebox'
import { Compile } from 'typebox/compile'
import { type Clock, isoTime } from '../clock.ts'
import { ApiError } from '../errors.ts'
import { invalidRequest } from '../http/problems.ts'
import type { Database, Db } from '../storage/db.ts'
import { newId } from '../storage/ids.ts'
import { defineJob } from '../storage/jobs.ts'
import type { DeliveryEngine, NewDelivery } from '../webhooks/index.ts'
import { type EventType, eventTypeNamed, unknownTypeMessage } from './event-types.ts'
import { type Facet, facetsOf, type Includes, type PublishedEvent } from './facets.ts'

export const EVENTS_PER_CALL_MAX = 1_000

/** Wakes nodes with open streams; the payload is a comma list of event ids. */
export const EVENTS_CHANNEL = 'herald_events'
/** PostgreSQL takes less than 8,000 bytes per notification. */
const IDS_PER_MESSAGE = 350

export const NewEvent = Type.Object(
  {
    event_type: Type.String(),
    user_id: Type.Optional(Type.String({ pattern: '^[0-9]{1,19}$', description: 'The user whom the event is about.' })),
    payload: Type.Object({}, { additionalProperties: true }),
    id: Type.Optional(
      Type.String({ minLength: 1, maxLength: 200, description: 'Publishing the same id again does nothing.' })
    ),
    occurred_at: Type.Optional(Type.String({ description: 'ISO 8601; now if absent.' })),
    includes: Type.Optional(Type.Object({}, { additionalProperties: true }))
  },
  { additionalProperties: false }
)

/** An event on its way to the products, with what it means to each user concerned. */
export interface Incoming {
  event: PublishedEvent
  facets: Facet[]
}

/** What a product wants sent because of some events. In the publisher's transaction. */
export type Product = (tx: Db, incoming: readonly Incoming[]) => Promise<NewDelivery[]>

export interface PublishDeps {
  database: Database
  clock: Clock
  delivery: DeliveryEngine
  products: readonly Product[]
}

export interface Published {
  id: string
  /** Under this id or name it had been published before; nothing was sent again. */
  duplicate: boolean
}

interface Checked {
  type: EventType
  givenId: string | undefined
  event: PublishedEvent
}

const shape = Compile(NewEvent)
const payloads = new Map<EventType, ReturnType<typeof Compile>>()
const payloadCheck = (type: EventType) => {
  let check = payloads.get(type)
  if (!check) {
    check = Compile(type.payload)
    payloads.set(type, check)
  }
  return check
}

interface Refusal {
  message: string
}

const path = (at: number, pointer: string) => `$.events[${at}]${pointer.replaceAll('/', '.')}`

function check(input: unknown, at: number, nowIso: string): Checked | Refusal[] {
  if (!shape.Check(input))
    return shape
      .Errors(input)
      .slice(0, 3)
      .map((error) => ({ message: `${path(at, error.instancePath)}: ${error.message}` }))
  const type = eventTypeNamed(input.event_type)
  if (!type) return [{ message: `${path(at, '')}.event_type: ${unknownTypeMessage(input.event_type)}` }]
  const fits = payloadCheck(type)
  if (!fits.Check(input.payload)) {
    return fits
      .Errors(input.payload)
      .slice(0, 3)
      .map((error) => ({ message: `${path(at, `/payload${error.instancePath}`)}: ${error.message} (${type.name})` }))
  }
  const user_id = input.user_id ?? (input.payload as { author_id?: string }).author_id ?? null
  if (user_id === null && type.filter === 'user_id')
    return [{ message: `${path(at, '')}.user_id: is missing but it is required for ${type.name}` }]
  const occurred = input.occurred_at === undefined ? nowIso : new Date(input.occurred_at)
  if (typeof occurred !== 'string' && Number.isNaN(occurred.getTime()))
    return [{ message: `${path(at, '')}.occurred_at: is not an ISO 8601 time` }]
  const numeric = input.id !== undefined && /^[0-9]{1,19}$/.test(input.id)
  const event: PublishedEvent = {
    id: numeric ? input.id! : newId(),
    event_type: type.name,
    user_id,
    payload: input.payload as Record<string, unknown>,
    includes: (input.includes as Includes | undefined) ?? null,
    occurred_at: typeof occurred === 'string' ? occurred : occurred.toISOString()
  }
  return { type, givenId: input.id, event }
}

/** Nothing is published unless every event is well formed. */
function checkAll(inputs: readonly unknown[], nowIso: string): Checked[] {
  const results = inputs.map((input, at) => check(input, at, nowIso))
  const refusals = results.flatMap((result) => (Array.isArray(result) ? result : []))
  if (refusals.length > 0) throw invalidRequest(...refusals.slice(0, 50))
  return results as Checked[]
}

export async function publishEvents(deps: PublishDeps, inputs: readonly unknown[]): Promise<Published[]> {
  if (inputs.length === 0) throw invalidRequest({ message: '$.events: must hold at least one event' })
  if (inputs.length > EVENTS_PER_CALL_MAX)
    throw new ApiError(400, [
      { code: 'TOO_MANY', message: `$.events: may hold ${EVENTS_PER_CALL_MAX} events at most, not ${inputs.length}` }
    ])
  const createdAt = isoTime(deps.clock.now())
  const checked = checkAll(inputs, createdAt)
  await deps.delivery.ensurePartitions()
  const { published, appended } = await deps.database.db.transaction().execute(async (tx) => {
    const { published, incoming } = await claimNames(tx, checked, createdAt)
    if (incoming.length === 0) return { published, appended: [] }
    await insertEvents(tx, incoming, createdAt)
    const wanted: NewDelivery[] = []
    for (const product of deps.products) wanted.push(...(await product(tx, incoming)))
    const appended = await deps.delivery.append(tx, wanted)
    await announce(tx, incoming)
    return { published, appended }
  })
  deps.delivery.dispatch(appended)
  return published
}

/** What has been published under one of its names is left out: the event, or one of its facets. */
async function claimNames(tx: Db, checked: readonly Checked[], createdAt: string) {
  const named = checked.map(({ event, givenId }) => {
    const facets = facetsOf(event)
    const own = [givenId === undefined ? null : `id ${givenId}`, facets[0]?.name ?? null].filter(
      (name) => name !== null
    )
    const all = [...own, ...facets.slice(1).flatMap((facet) => facet.name ?? [])]
    return { event, facets, own, all }
  })
  const claims = new Map<string, string>()
  for (const { event, all } of named) for (const name of all) if (!claims.has(name)) claims.set(name, event.id)
  const taken = claims.size === 0 ? new Map<string, string>() : await claim(tx, claims, createdAt)
  const holds = (name: string, eventId: string) => (taken.get(name) ?? claims.get(name)) === eventId
  const incoming: Incoming[] = []
  const published = named.map(({ event, facets, own }): Published => {
    const before = own.find((name) => !holds(name, event.id))
    if (before !== undefined) return { id: taken.get(before) ?? claims.get(before)!, duplicate: true }
    incoming.push({ event, facets: facets.filter(({ name }, i) => i === 0 || name === null || holds(name, event.id)) })
    return { id: event.id, duplicate: false }
  })
  return { published, incoming }
}

/** The names that others hold, and for which event. Sorted, so that two publishers never wait for each other in a circle. */
async function claim(tx: Db, claims: ReadonlyMap<string, string>, createdAt: string) {
  const names = [...claims.keys()].sort()
  const { rows: won } = await sql<{ name: string }>`
    insert into published_names (name, event_id, created_at)
    select name, event_id, ${createdAt} from unnest(${names}::text[], ${names.map((name) => claims.get(name)!)}::text[]) as t (name, event_id)
    on conflict do nothing returning name`.execute(tx)
  if (won.length === names.length) return new Map<string, string>()
  const ours = new Set(won.map((row) => row.name))
  const { rows } = await sql<{ name: string; event_id: string }>`
    select name, event_id from published_names where name = any(${names.filter((name) => !ours.has(name))}::text[])`.execute(
    tx
  )
  return new Map(rows.map((row) => [row.name, row.event_id]))
}

const INSERT = `insert into events (created_at, occurred_at, id, event_type, user_id, payload, includes)
  select $1, occurred_at, id, event_type, user_id, payload, includes
  from unnest($2::timestamptz[], $3::text[], $4::text[], $5::text[], $6::text[], $7::text[]) as t (occurred_at, id, event_type, user_id, payload, includes)`

async function insertEvents(tx: Db, incoming: readonly Incoming[], createdAt: string) {
  const events = incoming.map(({ event }) => event)
  await tx.executeQuery(
    CompiledQuery.raw(INSERT, [
      createdAt,
      events.map((event) => event.occurred_at),
      events.map((event) => event.id),
      events.map((event) => event.event_type),
      events.map((event) => event.user_id),
      events.map((event) => JSON.stringify(event.payload)),
      events.map((event) => (event.includes === null ? null : JSON.stringify(event.includes)))
    ])
  )
}

async function announce(tx: Db, incoming: readonly Incoming[]) {
  const messages: string[] = []
  for (let i = 0; i < incoming.length; i += IDS_PER_MESSAGE) {
    messages.push(
      incoming
        .slice(i, i + IDS_PER_MESSAGE)
        .map(({ event }) => event.id)
        .join(',')
    )
  }
  await sql`select pg_notify(${EVENTS_CHANNEL}, message) from unnest(${messages}::text[]) as message`.execute(tx)
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

/** An event as it was published, if it is still kept. */
export async function findEvent(db: Db, id: string): Promise<(PublishedEvent & { created_at: string }) | undefined> {
  const { rows } = await sql<{
    id: string
    event_type: string
    user_id: string | null
    payload: string
    includes: string | null
    occurred_at: string
    created_at: string
  }>`
    select id, event_type, user_id, payload, includes, occurred_at, created_at from events where id = ${id} order by created_at limit 1`.execute(
    db
  )
  const row = rows[0]
  return (
    row && {
      ...row,
      payload: JSON.parse(row.payload),
      includes: row.includes === null ? null : JSON.parse(row.includes)
    }
  )
}
