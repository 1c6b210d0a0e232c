/** This node among those with open streams: its lease, what it opened and closed, what others ended on it. */
import { randomUUID } from 'node:crypto'
import { type Clock, isoTime } from '../../clock.ts'
import type { Db } from '../../storage/db.ts'
import type { Log } from '../../storage/log.ts'
import {
  buryDeadNodes,
  closeConnections,
  type DisconnectReason,
  type Ended,
  type NewConnection,
  NODE_RENEWAL_MS,
  openConnection,
  openOn,
  registerNode,
  removeNode,
  renewNode
} from '../connections.ts'

export interface RegistrationOptions {
  db: Db
  clock: Clock
  log: Log
  /** The ids of the connections that are open here. */
  openHere(): Iterable<string>
  /** Others have ended these. */
  onKilled(ids: string[]): void
  /** Others have declared this node dead: nothing that is open here counts any more. */
  onBuried(): void
}

export type OpeningConnection = Omit<NewConnection, 'id' | 'node_id' | 'connected_at'>

export interface Registration {
  /** Refuses when the app has as many open as it may. `opened` makes it one of those that are open here. */
  open<T>(connection: OpeningConnection, max: number, opened: (id: string) => T): Promise<T>
  /** Recorded soon, and before anything else is opened. */
  close(appId: string, id: string, reason: DisconnectReason): void
  stop(): Promise<void>
}

export function createRegistration(options: RegistrationOptions): Registration {
  const { db, clock, log, openHere } = options
  let node: Promise<string> | undefined
  let opening = 0
  let ended: Ended[] = []
  let recording: Promise<void> | undefined
  let heartbeat: NodeJS.Timeout | undefined
  let beating: Promise<void> | undefined

  async function register() {
    const id = randomUUID()
    await registerNode(db, id)
    heartbeat ??= setInterval(() => {
      beating ??= beat()
        .catch((error) => log.warn({ err: error }, 'streams could not renew their lease; trying again'))
        .finally(() => {
          beating = undefined
        })
    }, NODE_RENEWAL_MS).unref()
    return id
  }

  function record(): Promise<void> {
    recording ??= (async () => {
      while (ended.length > 0) {
        const batch = ended
        ended = []
        try {
          await closeConnections(db, batch)
        } catch (error) {
          ended = [...batch, ...ended]
          throw error
        }
      }
    })().finally(() => {
      recording = undefined
    })
    return recording
  }

  async function beat() {
    if (!node) return
    const id = await node
    await record()
    // Asked before what others know of, so that a connection opened in between is not taken for a killed one.
    const here = [...openHere()]
    if (here.length === 0 && opening === 0) return rest(id)
    if (!(await renewNode(db, id))) {
      node = undefined
      return options.onBuried()
    }
    const known = await openOn(db, id)
    const killed = here.filter((each) => !known.has(each))
    if (killed.length > 0) options.onKilled(killed)
    await buryDeadNodes(db, clock.now())
  }

  /** Without streams there is nothing to be renewed. */
  async function rest(id: string) {
    node = undefined
    clearInterval(heartbeat)
    heartbeat = undefined
    await removeNode(db, id)
  }

  return {
    async open(connection, max, opened) {
      opening++
      try {
        await record()
        node ??= register().catch((error) => {
          node = undefined
          throw error
        })
        const id = randomUUID()
        const connected_at = isoTime(clock.now())
        await openConnection(db, { ...connection, id, node_id: await node, connected_at }, max)
        return opened(id)
      } finally {
        opening--
      }
    },
    close(app_id, id, reason) {
      ended.push({ app_id, id, reason, at: isoTime(clock.now()) })
      record().catch((error) => log.debug({ err: error }, 'the end of a stream is recorded later'))
    },
    async stop() {
      await beating
      await record().catch((error) => log.warn({ err: error }, 'the end of streams was not recorded'))
      if (node) await rest(await node).catch(() => {})
      clearInterval(heartbeat)
    }
  }
}
