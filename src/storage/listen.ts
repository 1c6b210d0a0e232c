/** One LISTEN connection per process. Notifications only wake: what they announce is always read from tables as well. */
import { setTimeout as sleep } from 'node:timers/promises'
import pg from 'pg'
import type { Database } from './db.ts'
import { type Log, silentLog } from './log.ts'

export interface Listener {
  /** Calls back with each notification's payload; returns how to stop that. */
  on(channel: string, heard: (payload: string) => void): () => void
  /** Calls back after a lost connection is back: notifications sent meanwhile are gone, so read again. */
  onReconnect(reconnected: () => void): () => void
  /** Resolves once every channel asked for so far is listened to. */
  ready(): Promise<void>
  close(): Promise<void>
}

const RECONNECT_DELAYS_MS = [50, 200, 500, 1_000, 2_000, 5_000]
/** A peer that vanished without a word is noticed by a question that gets no answer. */
const PROBE_MS = 30_000
const PROBE_TIMEOUT_MS = 10_000

export function createListener(database: Database, log: Log = silentLog): Listener {
  const channels = new Map<string, Set<(payload: string) => void>>()
  const reconnected = new Set<() => void>()
  let client: pg.Client | undefined
  let closed = false
  const stop = new AbortController()
  let connected = Promise.withResolvers<void>()

  /** One question at a time: the driver no longer queues them. */
  let last: Promise<unknown> = Promise.resolve()
  const ask = (target: pg.Client, text: string) => {
    const answer = last.then(() => target.query(text))
    last = answer.catch(() => {})
    return answer
  }
  const listenTo = (target: pg.Client, channel: string) => ask(target, `listen ${pg.escapeIdentifier(channel)}`)

  async function connect() {
    // query_timeout: see PROBE_MS.
    const next = new pg.Client({ ...database.connection, query_timeout: PROBE_TIMEOUT_MS })
    const lost = new Promise<void>((resolve) => {
      next.on('error', () => resolve())
      next.on('end', () => resolve())
    })
    next.on('notification', ({ channel, payload = '' }) => {
      for (const heard of channels.get(channel) ?? []) call(() => heard(payload))
    })
    try {
      await next.connect()
      for (const channel of channels.keys()) await listenTo(next, channel)
    } catch (error) {
      await next.end().catch(() => {})
      throw error
    }
    return { next, lost }
  }

  async function run() {
    let failures = 0
    let times = 0
    while (!closed) {
      try {
        const { next, lost } = await connect()
        if (closed) {
          // Closed while connecting: nobody else would end this connection.
          await next.end().catch(() => {})
          break
        }
        client = next
        connected.resolve()
        failures = 0
        if (times++ > 0) {
          log.info('listening for notifications again')
          for (const act of reconnected) call(act)
        }
        const probe = setInterval(() => ask(next, 'select 1').catch(() => next.end().catch(() => {})), PROBE_MS)
        await lost
        clearInterval(probe)
        client = undefined
        connected = Promise.withResolvers()
        connected.promise.catch(() => {})
        await next.end().catch(() => {})
      } catch (error) {
        if (failures++ === 0 && !closed) log.warn({ err: error }, 'cannot listen for notifications; trying again')
      }
      const delay = RECONNECT_DELAYS_MS[Math.min(failures, RECONNECT_DELAYS_MS.length - 1)]
      await sleep(delay, undefined, { signal: stop.signal }).catch(() => {})
    }
  }

  function call(act: () => void) {
    try {
      act()
    } catch (error) {
      log.error({ err: error }, 'a notification was not handled')
    }
  }

  const running = run()
  return {
    on(channel, heard) {
      let listeners = channels.get(channel)
      if (!listeners) {
        listeners = new Set()
        channels.set(channel, listeners)
        // A failure here means a lost connection, which listens to everything again when it is back.
        if (client) listenTo(client, channel).catch(() => {})
      }
      listeners.add(heard)
      return () => listeners.delete(heard)
    },
    onReconnect(act) {
      reconnected.add(act)
      return () => reconnected.delete(act)
    },
    async ready() {
      await connected.promise
      // Queries of one connection run in order: when this one is answered, every LISTEN before it was.
      if (client) await ask(client, 'select 1')
    },
    async close() {
      closed = true
      stop.abort()
      connected.resolve()
      await client?.end().catch(() => {})
      await running
    }
  }
}
