/** Events in: validated by type, idempotent by name, durable together with everything that is to be sent because of them. */
import { CompiledQuery, sql } from 'kysely'
import { Type } from 'typebox'
import { Compile } from 'typebox/compile'
import { type Clock, isoTime } from '../clock.ts'
import { readStored, stringifiable } from '../http/json.ts'
import { invalidRequest } from '../http/problems.ts'
import { bodyRefusals } from '../http/v2-validation.ts'
import { findUsers } from '../identity/index.ts'
import { type Database, type Db, isDatabaseAway, planOnce } from '../storage/db.ts'
import { groupCalls } from '../storage/group-calls.ts'
import { newId } from '../storage/ids.ts'
import type { Delivery, DeliveryEngine, NewDelivery } from '../webhooks/index.ts'
import { type EventType, eventTypeNamed, unknownTypeMessage } from './event-types.ts'
import {
  type Facet,
  facetsOf,
  findIncluded,
  type Includes,
  type PublishedEvent,
  subjectIsCertain,
  subjectOf
} from './facets.ts'
import { textOf } from './legacy.ts'
import { claimNames } from './published-names.ts'

export const EVENTS_PER_CALL_MAX = 1_000

/** Wakes nodes with open streams; the payload is a comma list of event ids. */
export const EVENTS_CHANNEL = 'herald_events'
/** PostgreSQL takes less than 8,000 bytes per notification. */
const IDS_PER_MESSAGE = 350

/** Deliveries are made for so many events at a time, so that a large batch with many subscribers fits into memory. */
const EVENTS_PER_APPEND = 50
/** Bodies that are handed to the delivery engine from memory; it finds the others in its queue. */
const DISPATCHED_BYTES_MAX = 16_000_000

const open = { additionalProperties: true }
const Objects = Type.Optional(Type.Array(Type.Object({}, open)))
export const NewEvent = Type.Object(
  {
    event_type: Type.String(),
    user_id: Type.Optional(Type.String({ pattern: '^[0-9]{1,19}$', description: 'The user whom the event is about.' })),
    payload: Type.Object({}, open),
    id: Type.Optional(
      Type.String({ minLength: 1, maxLength: 200, description: 'Publishing the same id again does nothing.' })
    ),
    occurred_at: Type.Optional(Type.String({ description: 'ISO 8601; now if absent.' })),
    includes: Type.Optional(Type.Object({ users: Objects, tweets: Objects }, open))
  },
  { additionalProperties: false }
)

/** An event on its way to the products, with what it means to each user concerned. */
export interface Incoming {
  event: PublishedEvent
  facets: Facet[]
  /** The author of the post is known to protect their posts. */
  protectedAuthor?: boolean
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

/** A well-formed event, and the id that its publisher gave it. */
export interface Checked {
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

const ISO_TIME = /^(19|20|21)\d\d-\d\d-\d\dT\d\d:\d\d(:\d\d(\.\d{1,9})?)?(Z|[+-]\d\d:?\d\d)$/
const REFUSALS_PER_EVENT_MAX = 3
const REFUSALS_MAX = 50

type Refusal = ReturnType<typeof bodyRefusals>[number]

/** The event, or why it is none; `at` is where it stands in what was sent. */
function check(input: unknown, at: string, nowIso: string): Checked | Refusal[] {
  if (!shape.Check(input)) return bodyRefusals(shape.Errors(input), input, at).slice(0, REFUSALS_PER_EVENT_MAX)
  const refuse = (message: string): Refusal[] => [{ message: `${at}${message}` }]
  const type = eventTypeNamed(input.event_type)
  if (!type) return refuse(`.event_type: ${unknownTypeMessage(input.event_type)}`)
  const fits = payloadCheck(type)
  if (!fits.Check(input.payload))
    return bodyRefusals(fits.Errors(input.payload), input.payload, `${at}.payload`)
      .slice(0, REFUSALS_PER_EVENT_MAX)
      .map((refusal) => ({ ...refusal, message: `${refusal.message} (${type.name})` }))
  const subject = subjectOf(type.name, input.payload as Record<string, unknown>)
  const user_id = input.user_id ?? subject ?? null
  if (user_id === null && type.filter === 'user_id')
    return refuse(`.user_id: is missing but it is required for ${type.name}`)
  if (subject !== undefined && subject !== user_id && subjectIsCertain(type.name))
    return refuse(`.user_id: is ${user_id}, but by its payload this ${type.name} is about user ${subject}`)
  if (
    input.occurred_at !== undefined &&
    (!ISO_TIME.test(input.occurred_at) || Number.isNaN(Date.parse(input.occurred_at)))
  )
    return refuse('.occurred_at: is not an ISO 8601 time such as 2026-06-22T10:00:00.000Z')
  const event: PublishedEvent = {
    id: input.id !== undefined && /^[0-9]{1,19}$/.test(input.id) ? input.id : newId(),
    event_type: type.name,
    user_id,
    payload: stringifiable(input.payload as Record<string, unknown>),
    includes: stringifiable((input.includes as Includes | undefined) ?? null),
    occurred_at: input.occurred_at === undefined ? nowIso : new Date(input.occurred_at).toISOString()
  }
  return { givenId: input.id, event }
}

/** Nothing is published unless every event is well formed. */
export function checkEvents(clock: Clock, inputs: readonly unknown[], placeOf = (at: number) => `$.events[${at}]`) {
  if (inputs.length === 0) throw invalidRequest({ message: '$.events: must hold at least one event' })
  const nowIso = isoTime(clock.now())
  const checked: Checked[] = []
  const refusals: Refusal[] = []
  for (const [at, input] of inputs.entries()) {
    const result = check(input, placeOf(at), nowIso)
    if (Array.isArray(result)) refusals.push(...result)
    else checked.push(result)
    if (refusals.length >= REFUSALS_MAX) break
  }
  if (refusals.length > 0) throw invalidRequest(...refusals.slice(0, REFUSALS_MAX))
  return checked
}

export async function publishEvents(deps: PublishDeps, inputs: readonly unknown[]): Promise<Published[]> {
  if (inputs.length > EVENTS_PER_CALL_MAX) {
    throw invalidRequest({
      message: `$.events: may hold ${EVENTS_PER_CALL_MAX} events at most, not ${inputs.length}; send more as application/x-ndjson`
    })
  }
  return publishChecked(deps, checkEvents(deps.clock, inputs))
}

const publishers = new WeakMap<PublishDeps, (checked: readonly Checked[]) => Promise<Published[]>>()

/** Calls that come at the same time share a transaction, and with it the wait for the disk. */
export function publishChecked(deps: PublishDeps, checked: readonly Checked[]): Promise<Published[]> {
  let publish = publishers.get(deps)
  if (!publish) {
    publish = groupCalls((calls) => publishTogether(deps, calls), {
      weightMax: EVENTS_PER_CALL_MAX,
      weightOf: ({ length }) => length,
      // When the database went away nobody knows whether the group was committed; the publishers ask again.
      mayRunAlone: (error) => !isDatabaseAway(error)
    })
    publishers.set(deps, publish)
  }
  return publish(checked)
}

async function publishTogether(deps: PublishDeps, calls: readonly (readonly Checked[])[]): Promise<Published[][]> {
  const published = await publishAll(deps, calls.flat())
  let start = 0
  return calls.map(({ length }) => {
    start += length
    return published.slice(start - length, start)
  })
}

/** One transaction: the events, their names, and everything that is to be sent because of them. */
async function publishAll(deps: PublishDeps, checked: readonly Checked[]): Promise<Published[]> {
  const createdAt = isoTime(deps.clock.now())
  await deps.delivery.ensurePartitions()
  const { published, appended } = await deps.database.db.transaction().execute(async (tx) => {
    const { published, incoming } = await claimNames(tx, checked, createdAt)
    if (incoming.length === 0) return { published, appended: [] }
    await insertEvents(tx, incoming, createdAt)
    const appended = await appendDeliveries(deps, tx, await knowingAuthors(tx, incoming))
    await announce(tx, incoming)
    return { published, appended }
  })
  deps.delivery.dispatch(appended)
  return published
}

async function appendDeliveries({ products, delivery }: PublishDeps, tx: Db, incoming: readonly Incoming[]) {
  const kept: Delivery[] = []
  let bytes = 0
  for (let i = 0; i < incoming.length; i += EVENTS_PER_APPEND) {
    const some = incoming.slice(i, i + EVENTS_PER_APPEND)
    for (const product of products) {
      for (const one of await delivery.append(tx, await product(tx, some))) {
        bytes += one.body.length
        if (bytes <= DISPATCHED_BYTES_MAX) kept.push(one)
      }
    }
  }
  return kept
}

/** Events that were published before, as the products saw them: without what another event had told already. */
export async function incomingAgain(db: Db, events: readonly PublishedEvent[]): Promise<Incoming[]> {
  const incoming = events.map((event) => ({ event, facets: facetsOf(event) }))
  const names = incoming.flatMap(({ facets }) => facets.slice(1).flatMap((facet) => facet.name ?? []))
  if (names.length > 0) {
    const { rows } = await sql<{ name: string; event_id: string }>`
      select name, event_id from published_names where name = any(${names}::text[])`.execute(db)
    const holders = new Map(rows.map((row) => [row.name, row.event_id]))
    for (const each of incoming)
      each.facets = each.facets.filter(
        ({ name }, i) => i === 0 || name === null || (holders.get(name) ?? each.event.id) === each.event.id
      )
  }
  return knowingAuthors(db, incoming)
}

/** Whether authors protect their posts: what came with the event says so, or what Herald knows of the user. */
async function knowingAuthors(db: Db, incoming: readonly Incoming[]): Promise<Incoming[]> {
  const authorOf = ({ event }: Incoming) =>
    event.event_type.startsWith('post.') ? (textOf(event.payload.author_id) ?? event.user_id) : null
  const authors = [...new Set(incoming.flatMap((each) => authorOf(each) ?? []))]
  if (authors.length === 0) return [...incoming]
  const protecting = new Set((await findUsers(db, authors)).filter((user) => user.protected).map((user) => user.id))
  return incoming.map((each) => {
    const author = authorOf(each)
    if (author === null) return each
    const included = findIncluded(each.event.includes)({ id: author })
    return { ...each, protectedAuthor: (included?.protected ?? protecting.has(author)) === true }
  })
}

const INSERT = planOnce(
  'events.insert',
  `insert into events (created_at, occurred_at, id, event_type, user_id, payload, includes)
  select $1, occurred_at, id, event_type, user_id, payload, includes
  from unnest($2::timestamptz[], $3::text[], $4::text[], $5::text[], $6::text[], $7::text[]) as t (occurred_at, id, event_type, user_id, payload, includes)`
)

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

/** An event that Herald itself tells of, for open streams; webhooks are the caller's business. */
export async function recordEvent(tx: Db, event: PublishedEvent, createdAt: string) {
  await insertEvents(tx, [{ event, facets: [] }], createdAt)
  await announce(tx, [{ event, facets: [] }])
}

/** An event as it was published, by its own id or the one its publisher gave it, if it is still kept. */
export async function findEvent(db: Db, id: string): Promise<(PublishedEvent & { created_at: string }) | undefined> {
  const { rows } = await sql<StoredEvent>`
    select id, event_type, user_id, payload, includes, occurred_at, created_at from events
    where id = coalesce((select event_id from published_names where name = ${`id ${id}`}), ${id})
    order by created_at limit 1`.execute(db)
  return rows[0] && eventFrom(rows[0])
}

export interface StoredEvent extends Omit<PublishedEvent, 'payload' | 'includes'> {
  payload: string
  includes: string | null
  created_at: string
}

export const eventFrom = ({ payload, includes, ...row }: StoredEvent) => ({
  ...row,
  payload: readStored<PublishedEvent['payload']>(payload),
  includes: includes === null ? null : readStored<Includes>(includes)
})
