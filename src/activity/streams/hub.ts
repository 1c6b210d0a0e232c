/**
 * The open streams of a node. Events published on any node are announced to all; a node with streams reads them back,
 * finds out for whom they are, and sends them. What was announced while nobody listened is read again by time.
 */
import { setTimeout as sleep } from 'node:timers/promises'
import type { Clock } from '../../clock.ts'
import { type Database, isDatabaseAway } from '../../storage/db.ts'
import type { Listener } from '../../storage/listen.ts'
import type { Log } from '../../storage/log.ts'
import { EVENTS_CHANNEL, incomingAgain } from '../events.ts'
import type { RuleSet } from '../filtered-stream/rule-set.ts'
import type { StreamConnection } from './connection.ts'
import { linesFor } from './lines.ts'
import { RecentIds } from './recent-ids.ts'
import { type EventRange, eventPages, type PastEvent, readEvents } from './stored-events.ts'

const BATCH_EVENTS = 250
/** Events become visible in another order than that of their times; this much is looked through twice. */
const OVERLAP_MS = 60_000
const RETRY_MS = 250
/** So many events unread means that this node cannot keep up; better to say so than to grow. */
const QUEUE_MAX = 500_000

export interface HubOptions {
  database: Database
  listener: Listener
  clock: Clock
  log: Log
  ruleSet: RuleSet
  onOverrun(): void
}

export interface Hub {
  readonly open: ReadonlyMap<string, StreamConnection>
  /** Resolves when every event that is published from now on will be heard. */
  listening(): Promise<void>
  /** From now on it gets new events. */
  add(connection: StreamConnection): void
  remove(connection: StreamConnection): void
  /** The lines of these events for one stream. Waits while the database is away. */
  reread(connection: StreamConnection, eventIds: readonly string[]): Promise<string[]>
  /** Sends a past range to one stream, oldest first, at its pace. */
  sendRange(connection: StreamConnection, range: EventRange): Promise<void>
  stop(): void
}

export function createHub({ database, listener, clock, log, ruleSet, onOverrun }: HubOptions): Hub {
  const { db } = database
  const open = new Map<string, StreamConnection>()
  const recent = new RecentIds(OVERLAP_MS)
  const stopping = new AbortController()
  let queue: string[] = []
  let rereadFromMs: number | undefined
  let lastHeardMs = clock.now()
  let running = false
  let stops: (() => void)[] | undefined

  function heard(payload: string) {
    if (open.size === 0) return
    lastHeardMs = clock.now()
    for (const id of payload.split(',')) if (recent.add(id, lastHeardMs)) queue.push(id)
    if (queue.length > QUEUE_MAX) {
      queue = []
      onOverrun()
    }
    void run()
  }

  function missedSome() {
    if (open.size === 0) return
    rereadFromMs = lastHeardMs - OVERLAP_MS
    void run()
  }

  async function run() {
    if (running) return
    running = true
    while (!stopping.signal.aborted && open.size > 0 && (queue.length > 0 || rereadFromMs !== undefined)) {
      const fromMs = rereadFromMs
      rereadFromMs = undefined
      const ids = fromMs === undefined ? queue.splice(0, BATCH_EVENTS) : []
      try {
        if (fromMs !== undefined) await readAgain(fromMs)
        else await deliver(await readEvents(db, ids, clock.now()))
      } catch (error) {
        if (isDatabaseAway(error)) {
          queue = [...ids, ...queue]
          if (fromMs !== undefined) rereadFromMs = Math.min(fromMs, rereadFromMs ?? fromMs)
          await pause()
        } else log.error({ err: error }, 'events could not be streamed')
      }
    }
    running = false
  }

  const pause = () => sleep(RETRY_MS, undefined, { signal: stopping.signal }).catch(() => {})

  async function readAgain(fromMs: number) {
    for await (const page of eventPages(db, { fromMs }, clock.now())) {
      const fresh = page.filter(({ id }) => recent.add(id, clock.now()))
      try {
        await deliver(fresh)
      } catch (error) {
        recent.forget(fresh.map(({ id }) => id))
        throw error
      }
    }
  }

  async function deliver(events: readonly PastEvent[]) {
    if (events.length === 0) return
    const lines = await linesFor(db, ruleSet, await incomingAgain(db, events), [...open.values()])
    for (const [connection, ofConnection] of lines) connection.offer(ofConnection)
  }

  async function linesOfOne(connection: StreamConnection, events: readonly PastEvent[]) {
    const lines = await linesFor(db, ruleSet, await incomingAgain(db, events), [connection])
    return lines.get(connection) ?? []
  }

  return {
    open,
    async listening() {
      stops ??= [listener.on(EVENTS_CHANNEL, heard), listener.onReconnect(missedSome)]
      await listener.ready()
      if (open.size === 0) lastHeardMs = clock.now()
    },
    add(connection) {
      open.set(connection.id, connection)
    },
    remove(connection) {
      open.delete(connection.id)
      if (open.size > 0) return
      queue = []
      recent.clear()
    },
    async reread(connection, eventIds) {
      while (!connection.ended) {
        try {
          const lines = await linesOfOne(connection, await readEvents(db, eventIds, clock.now()))
          return lines.map(({ text }) => text)
        } catch (error) {
          if (!isDatabaseAway(error)) throw error
          await pause()
        }
      }
      return []
    },
    async sendRange(connection, range) {
      const eventType = connection.endpoint === 'filtered_stream' ? { eventType: 'post.create' } : {}
      for await (const page of eventPages(db, { ...range, ...eventType }, clock.now())) {
        await connection.sendOld(await linesOfOne(connection, page))
        if (connection.ended) return
      }
    },
    stop() {
      stopping.abort()
      for (const stop of stops ?? []) stop()
    }
  }
}
