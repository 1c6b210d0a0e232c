/** Streams over HTTP: opened and counted, fed by the hub, ended by readers, operators, revocations or a stop. */
import type { FastifyReply } from 'fastify'
import type { Gauge } from 'prom-client'
import type { Deps } from '../../deps.ts'
import { ApiError } from '../../errors.ts'
import { problem } from '../../http/problems.ts'
import { IDENTITY_CHANNEL } from '../../identity/index.ts'
import { tokenKey } from '../../identity/secrets.ts'
import { type DisconnectReason, KILLS_CHANNEL, type StreamEndpoint } from '../connections.ts'
import type { Selection } from '../filtered-stream/post-fields.ts'
import type { RuleSet } from '../filtered-stream/rule-set.ts'
import { StreamConnection, type StreamLimits } from './connection.ts'
import { createHub } from './hub.ts'
import { createRegistration } from './registration.ts'

export interface StreamRequest {
  appId: string
  endpoint: StreamEndpoint
  clientIp: string
  /** The header the caller came with; the stream ends when it is worth nothing any more. */
  authorization: string
  connectionsMax: number
  selection: Selection
  /** Sends this much of the past first. */
  backfillMs?: number
  /** Sends this range and ends. */
  recovery?: { fromMs: number; toMs: number }
}

export interface Streams {
  /** Answers with the stream, or throws what the client is told instead. */
  open(reply: FastifyReply, request: StreamRequest): Promise<void>
  /** Ends all streams and tells their clients so. */
  stop(): Promise<void>
}

export type StreamDeps = Pick<
  Deps,
  'config' | 'clock' | 'log' | 'database' | 'listener' | 'authenticator' | 'metrics'
> & {
  ruleSet: RuleSet
}

type DisconnectType =
  | 'OperationalDisconnect'
  | 'UpstreamOperationalDisconnect'
  | 'ForceDisconnect'
  | 'SlowReader'
  | 'InternalError'

/** A reader has this long to take the last line before the server goes. */
const STOP_MS = 1_000

export function createStreams(deps: StreamDeps): Streams {
  const { config, clock, log, database, listener, authenticator, ruleSet } = deps
  const limits: StreamLimits = {
    keepAliveMs: config.HERALD_STREAM_KEEP_ALIVE,
    bufferBytesMax: config.HERALD_STREAM_BUFFER_BYTES_MAX,
    backlogMax: config.HERALD_STREAM_BACKLOG_MAX,
    stallMs: config.HERALD_STREAM_STALL
  }
  /** Live streams and recoveries. */
  const connections = new Map<string, { connection: StreamConnection; request: StreamRequest; tokenKey: string }>()
  /** Those whose clients may still be reading the last lines, as well. */
  const sockets = new Set<StreamConnection>()
  let stopping = false
  let ticking: NodeJS.Timeout | undefined
  let stops: (() => void)[] | undefined

  const disconnected = (disconnect_type: DisconnectType, detail: string) =>
    problem(config.HERALD_PROBLEM_TYPE_BASE, 'operational-disconnect', detail, { disconnect_type })
  const end = (id: string, reason: DisconnectReason, type: DisconnectType, detail: string) =>
    connections.get(id)?.connection.disconnect(reason, disconnected(type, detail))
  const endAll = (reason: DisconnectReason, type: DisconnectType, detail: string) => {
    for (const id of connections.keys()) end(id, reason, type, detail)
  }

  const hub = createHub({
    database,
    listener,
    clock,
    log,
    ruleSet,
    onOverrun: () =>
      endAll('server_error', 'UpstreamOperationalDisconnect', 'More events arrived than could be streamed; reconnect.')
  })
  const kill = (ids: Iterable<string>) => {
    for (const id of ids) end(id, 'operator_disconnect', 'ForceDisconnect', 'The connection was ended by request.')
  }
  const registration = createRegistration({
    db: database.db,
    clock,
    log,
    openHere: () => connections.keys(),
    onKilled: kill,
    onBuried: () =>
      endAll('node_lost', 'OperationalDisconnect', 'This server was out of touch with the others; reconnect.')
  })
  measure(deps, connections)

  /** A token or app that changed may have lost its right to the streams it opened. */
  function recheck(message?: string) {
    const change = message === undefined ? {} : (JSON.parse(message) as { token?: string; app?: string; user?: string })
    if (change.user !== undefined) return
    for (const [id, { connection, request, tokenKey }] of connections) {
      if (change.token !== undefined && change.token !== tokenKey) continue
      if (change.app !== undefined && change.app !== connection.appId) continue
      isStillAllowed(request)
        .then((allowed) => {
          if (!allowed)
            end(id, 'credentials_revoked', 'ForceDisconnect', 'The credentials of this connection are no longer valid.')
        })
        .catch((error) => log.warn({ err: error }, 'the credentials of a stream could not be checked'))
    }
  }

  async function isStillAllowed({ authorization, appId }: StreamRequest) {
    const request = { authorization, method: 'GET', scheme: 'https', host: '', rawUrl: '/' }
    const principal = await authenticator.authenticate(request as Parameters<typeof authenticator.authenticate>[0])
    return 'kind' in principal && principal.kind === 'app' && principal.app.id === appId
  }

  async function listening() {
    stops ??= [
      listener.on(KILLS_CHANNEL, (payload) => kill(payload.split(','))),
      listener.on(IDENTITY_CHANNEL, recheck),
      listener.onReconnect(() => recheck())
    ]
    await hub.listening()
  }

  function tick() {
    const nowMs = performance.now()
    for (const { connection } of connections.values()) connection.tick(nowMs)
  }

  function start(reply: FastifyReply, request: StreamRequest, id: string) {
    reply.hijack()
    const { raw: response } = reply
    const connection = new StreamConnection({
      id,
      appId: request.appId,
      endpoint: request.endpoint,
      selection: request.selection,
      response,
      limits,
      reread: hub.reread,
      disconnected,
      onFailure: (error) => log.error({ err: error }, 'a stream failed')
    })
    const token = request.authorization.replace(/^\S+\s+/, '').trim()
    connections.set(id, { connection, request, tokenKey: tokenKey(token) })
    if (!request.recovery) hub.add(connection)
    ticking ??= setInterval(tick, Math.min(1_000, limits.keepAliveMs / 4)).unref()
    sockets.add(connection)
    void connection.closed.then(() => sockets.delete(connection))
    void connection.over.then((reason) => {
      connections.delete(id)
      hub.remove(connection)
      registration.close(request.appId, id, reason)
      if (connections.size > 0) return
      clearInterval(ticking)
      ticking = undefined
    })
    // A stream ends with its connection; nothing else may be asked on it.
    response.shouldKeepAlive = false
    response.writeHead(200, { ...(reply.getHeaders() as Record<string, string>), 'content-type': 'application/json' })
    response.flushHeaders()
    void feed(connection, request)
    if (stopping) endForStop()
  }

  async function feed(connection: StreamConnection, { recovery, backfillMs }: StreamRequest) {
    if (recovery) {
      await connection.catchUp(() => hub.sendRange(connection, recovery))
      connection.disconnect('recovery_complete')
    } else if (backfillMs) {
      await connection.catchUp(() => hub.sendRange(connection, { fromMs: clock.now() - backfillMs }))
    }
  }

  const endForStop = () =>
    endAll('server_shutdown', 'OperationalDisconnect', 'The server is shutting down; reconnect to reach another.')

  return {
    async open(reply, request) {
      if (stopping) throw new ApiError(503, [{ code: 'SERVICE_UNAVAILABLE', message: 'The server is shutting down.' }])
      await listening()
      if (request.endpoint === 'filtered_stream') await ruleSet.ready()
      await registration.open(
        {
          app_id: request.appId,
          endpoint_name: request.endpoint,
          recovery: request.recovery !== undefined,
          client_ip: request.clientIp
        },
        request.recovery ? config.HERALD_STREAM_RECOVERIES_MAX : request.connectionsMax,
        (id) => start(reply, request, id)
      )
    },

    async stop() {
      stopping = true
      endForStop()
      const overdue = setTimeout(() => {
        for (const connection of sockets) connection.destroy()
      }, STOP_MS)
      await Promise.all([...sockets].map(({ closed }) => closed))
      clearTimeout(overdue)
      await registration.stop()
      hub.stop()
      for (const stop of stops ?? []) stop()
    }
  }
}

function measure({ metrics }: StreamDeps, connections: Map<string, { connection: StreamConnection }>) {
  metrics.gauge('herald_streams_open', 'Streams open on this node.', ['endpoint'], (gauge: Gauge<'endpoint'>) => {
    gauge.reset()
    for (const { connection } of connections.values()) gauge.inc({ endpoint: connection.endpoint })
  })
}
