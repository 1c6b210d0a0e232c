/** Streams that are open or were open lately, on all nodes. A node that dies takes its connections with it. */
import { sql } from 'kysely'
import { type Clock, isoTime } from '../clock.ts'
import { problemError } from '../http/problems.ts'
import type { Db } from '../storage/db.ts'
import { newId } from '../storage/ids.ts'
import { defineJob } from '../storage/jobs.ts'

declare module '../storage/db.ts' {
  interface Tables {
    stream_nodes: { id: string; lease_until: Time }
    stream_connections: {
      app_id: string
      position: string
      id: string
      node_id: string
      endpoint_name: StreamEndpoint
      recovery: Defaulted<boolean>
      client_ip: string | null
      connected_at: Time
      disconnected_at: TimeOrNull
      disconnect_reason: Defaulted<DisconnectReason | null>
    }
  }
}

export type StreamEndpoint = 'filtered_stream' | 'activity_stream'

/** Every name that clients of this API know; only the first two are streams of ours. */
export const ENDPOINT_NAMES = [
  'filtered_stream',
  'activity_stream',
  'sample_stream',
  'sample10_stream',
  'firehose_stream',
  'tweets_compliance_stream',
  'users_compliance_stream',
  'tweet_label_stream',
  'firehose_stream_lang_en',
  'firehose_stream_lang_ja',
  'firehose_stream_lang_ko',
  'firehose_stream_lang_pt',
  'likes_firehose_stream',
  'likes_sample10_stream',
  'likes_compliance_stream'
] as const
export type EndpointName = (typeof ENDPOINT_NAMES)[number]

/** How a connection came to its end, as `disconnect_reason` says it. */
export type DisconnectReason =
  | 'client_disconnect'
  | 'operator_disconnect'
  | 'slow_reader'
  | 'credentials_revoked'
  | 'recovery_complete'
  | 'server_shutdown'
  | 'server_error'
  | 'node_lost'

/** Tells nodes which of their connections were ended by somebody; a comma list of ids. */
export const KILLS_CHANNEL = 'herald_stream_kills'
/** PostgreSQL takes less than 8,000 bytes per notification. */
const IDS_PER_MESSAGE = 200

/** A node without a sign of life for this long is dead, by the database's time. */
export const NODE_LEASE_SECONDS = 10
export const NODE_RENEWAL_MS = 2_500

export async function registerNode(db: Db, nodeId: string) {
  await sql`insert into stream_nodes (id, lease_until) values (${nodeId}, now() + ${NODE_LEASE_SECONDS} * interval '1 second')`.execute(
    db
  )
}

/** false: others have declared this node dead, and its connections ended. */
export async function renewNode(db: Db, nodeId: string): Promise<boolean> {
  const { rows } = await sql`
    update stream_nodes set lease_until = now() + ${NODE_LEASE_SECONDS} * interval '1 second' where id = ${nodeId} returning 1`.execute(
    db
  )
  return rows.length > 0
}

export const removeNode = (db: Db, nodeId: string) => sql`delete from stream_nodes where id = ${nodeId}`.execute(db)

/** Ends what nodes left open that have died. Any node does it for all. */
export async function buryDeadNodes(db: Db, nowMs: number) {
  await sql`delete from stream_nodes where lease_until < now()`.execute(db)
  await sql`
    update stream_connections c set disconnected_at = ${isoTime(nowMs)}, disconnect_reason = 'node_lost'
    where disconnected_at is null and not exists (select from stream_nodes n where n.id = c.node_id)`.execute(db)
}

export interface NewConnection {
  app_id: string
  id: string
  node_id: string
  endpoint_name: StreamEndpoint
  recovery: boolean
  client_ip: string
  connected_at: string
}

/** Counted across all nodes. Beyond `max` it is refused; nobody else's connection is closed for it. */
export async function openConnection(db: Db, connection: NewConnection, max: number) {
  const { app_id, endpoint_name, recovery } = connection
  await db.transaction().execute(async (tx) => {
    await sql`select pg_advisory_xact_lock(hashtextextended(${`stream_connections ${app_id} ${endpoint_name}`}, 0))`.execute(
      tx
    )
    const { rows } = await sql<{ open: number }>`
      select count(*)::int as open from stream_connections c join stream_nodes n on n.id = c.node_id
      where c.app_id = ${app_id} and c.endpoint_name = ${endpoint_name} and c.recovery = ${recovery}
        and c.disconnected_at is null and n.lease_until > now()`.execute(tx)
    if (rows[0]!.open >= max) {
      const what = recovery ? 'recoveries of a past range' : 'connections'
      throw problemError(
        'streaming-connection',
        `This stream is at its maximum of ${max} ${what} at a time. GET /2/connections lists them; DELETE /2/connections/all ends them.`,
        { connection_issue: 'TooManyConnections' }
      )
    }
    await tx
      .insertInto('stream_connections')
      .values({ ...connection, position: newId() })
      .execute()
  })
}

export interface Ended {
  app_id: string
  id: string
  reason: DisconnectReason
  at: string
}

export async function closeConnections(db: Db, ended: readonly Ended[]) {
  await sql`
    update stream_connections c set disconnected_at = e.at, disconnect_reason = e.reason
    from unnest(${ended.map(({ app_id }) => app_id)}::text[], ${ended.map(({ id }) => id)}::text[],
      ${ended.map(({ reason }) => reason)}::text[], ${ended.map(({ at }) => at)}::timestamptz[]) as e (app_id, id, reason, at)
    where c.app_id = e.app_id and c.id = e.id and c.disconnected_at is null`.execute(db)
}

/** What a node should have open, by what others know of it. */
export async function openOn(db: Db, nodeId: string): Promise<Set<string>> {
  const rows = await db
    .selectFrom('stream_connections')
    .select('id')
    .where('node_id', '=', nodeId)
    .where('disconnected_at', 'is', null)
    .execute()
  return new Set(rows.map((row) => row.id))
}

export type ToKill = 'all' | { endpoint: EndpointName } | { ids: readonly string[] }

/** Ended on the record at once; the node that holds the connection hears of it and tells the client. */
export async function killConnections(db: Db, clock: Clock, appId: string, what: ToKill) {
  await buryDeadNodes(db, clock.now())
  const killed = await db.transaction().execute(async (tx) => {
    const which =
      what === 'all'
        ? sql``
        : 'ids' in what
          ? sql`and id = any(${what.ids}::text[])`
          : sql`and endpoint_name = ${what.endpoint}`
    const { rows } = await sql<{ id: string }>`
      update stream_connections set disconnected_at = ${isoTime(clock.now())}, disconnect_reason = 'operator_disconnect'
      where app_id = ${appId} and disconnected_at is null ${which} returning id`.execute(tx)
    const ids = rows.map((row) => row.id)
    const messages: string[] = []
    for (let at = 0; at < ids.length; at += IDS_PER_MESSAGE)
      messages.push(ids.slice(at, at + IDS_PER_MESSAGE).join(','))
    await sql`select pg_notify(${KILLS_CHANNEL}, message) from unnest(${messages}::text[]) as message`.execute(tx)
    return new Set(ids)
  })
  const asked = typeof what === 'object' && 'ids' in what ? new Set(what.ids) : killed
  const results = [...asked].map((uuid) =>
    killed.has(uuid) ? { uuid, success: true } : { uuid, success: false, error_message: 'Connection not found' }
  )
  return { successful_kills: killed.size, failed_kills: results.length - killed.size, results }
}

export interface ListedConnections {
  status: 'active' | 'inactive' | 'all'
  endpoints?: readonly EndpointName[]
  before?: string
  after?: string
  limit: number
}

export async function listConnections(db: Db, clock: Clock, appId: string, list: ListedConnections) {
  await buryDeadNodes(db, clock.now())
  const { status, endpoints, before, after, limit } = list
  let query = db.selectFrom('stream_connections').where('app_id', '=', appId)
  if (status !== 'all') query = query.where('disconnected_at', status === 'active' ? 'is' : 'is not', null)
  if (endpoints) query = query.where('endpoint_name', 'in', endpoints as StreamEndpoint[])
  if (before !== undefined) query = query.where('position', '<', before)
  if (after !== undefined) query = query.where('position', '>', after)
  return query
    .select(['position', 'id', 'endpoint_name', 'connected_at', 'client_ip', 'disconnected_at', 'disconnect_reason'])
    .orderBy('position', after === undefined ? 'desc' : 'asc')
    .limit(limit)
    .execute()
}

export const forgetConnectionsJob = (retentionMs: number) =>
  defineJob('activity.forget_connections', {
    everyMs: 3_600_000,
    run: async (_payload: object, { database, clock }) => {
      await sql`delete from stream_connections where disconnected_at < ${isoTime(clock.now() - retentionMs)}`.execute(
        database.db
      )
    }
  })
