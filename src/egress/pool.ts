/** Kept-alive connections to one origin. Each was vetted when it was opened and is used for a limited time. */
import type { Socket } from 'node:net'
import { Client } from 'undici'
import type { Connect, Progress } from './connect.ts'
import { stopping } from './failures.ts'
import type { Target } from './targets.ts'

/** One that wants a connection. Gets exactly one of the two calls, unless it gives up first. */
export interface Seeker extends Progress {
  found(connection: Connection): void
  failed(error: unknown): void
}

export interface PoolOptions {
  connect: Connect
  connectionsMax: number
  /** A connection older than this is replaced by one whose address is looked up and judged anew. */
  connectionAgeMaxMs: number
  monotonicNow: () => number
}

/** A request was given to a connection that had just closed: it was not sent and may go to another. */
export class StaleConnection extends Error {
  readonly code = 'ECONNRESET'
}

export interface Connection {
  readonly client: Client
  readonly remoteAddress: string
  /** Whether it has carried a request before the one it carries now. */
  reused: boolean
}

interface Kept extends Connection {
  readonly socket: Socket
  readonly usableUntil: number
}

export class Pool {
  readonly #target: Target
  readonly #options: PoolOptions
  readonly #whenEmpty: () => void
  readonly #open = new Set<Kept>()
  readonly #idle: Kept[] = []
  readonly #opening = new Map<Seeker, AbortController>()
  readonly #waiting = new Set<Seeker>()
  #closed = false

  constructor(target: Target, options: PoolOptions, whenEmpty: () => void) {
    this.#target = target
    this.#options = options
    this.#whenEmpty = whenEmpty
  }

  seek(seeker: Seeker) {
    if (this.#closed) return seeker.failed(stopping())
    // The one used last: the others may fall idle and close.
    for (let kept = this.#idle.pop(); kept; kept = this.#idle.pop()) {
      if (!kept.socket.destroyed && kept.usableUntil > this.#options.monotonicNow()) {
        kept.reused = true
        return seeker.found(kept)
      }
      this.#drop(kept)
    }
    if (this.#open.size + this.#opening.size < this.#options.connectionsMax) {
      this.#openFor(seeker)
    } else {
      seeker.phase = 'queue'
      this.#waiting.add(seeker)
    }
  }

  /** Ends the wait of a seeker that has not been given a connection yet. */
  giveUp(seeker: Seeker) {
    if (this.#waiting.delete(seeker)) return
    this.#opening.get(seeker)?.abort()
  }

  /** Takes back a connection whose exchange is complete. */
  release(connection: Connection) {
    const kept = connection as Kept
    if (!this.#open.has(kept)) return
    if (kept.socket.destroyed || kept.usableUntil <= this.#options.monotonicNow()) return this.discard(kept)
    this.#idle.push(kept)
    this.#serveNext()
  }

  /** Closes a connection that cannot be used again. */
  discard(connection: Connection) {
    this.#drop(connection as Kept)
    this.#serveNext()
    this.#checkEmpty()
  }

  /** One kept connection turned out to be closed by the other side; the idle ones are likely to be, too. */
  discardIdle() {
    for (const kept of this.#idle.splice(0)) this.#drop(kept)
  }

  close() {
    this.#closed = true
    for (const seeker of this.#waiting) seeker.failed(stopping())
    this.#waiting.clear()
    for (const abort of this.#opening.values()) abort.abort(stopping())
    return Promise.all(Array.from(this.#open, ({ client }) => client.destroy(stopping())))
  }

  #serveNext() {
    for (const seeker of this.#waiting) {
      this.#waiting.delete(seeker)
      return this.seek(seeker)
    }
  }

  #checkEmpty() {
    if (this.#open.size + this.#opening.size + this.#waiting.size === 0) this.#whenEmpty()
  }

  #drop(kept: Kept) {
    this.#open.delete(kept)
    const at = this.#idle.indexOf(kept)
    if (at >= 0) this.#idle.splice(at, 1)
    // Not from inside a callback of the client's parser.
    queueMicrotask(() => kept.client.destroy(new StaleConnection()))
  }

  async #openFor(seeker: Seeker) {
    const abort = new AbortController()
    this.#opening.set(seeker, abort)
    let socket: Socket
    try {
      socket = await this.#options.connect(this.#target, seeker, abort.signal)
    } catch (error) {
      this.#opening.delete(seeker)
      if (!abort.signal.aborted || this.#closed) seeker.failed(error)
      this.#serveNext()
      return this.#checkEmpty()
    }
    this.#opening.delete(seeker)
    if (!abort.signal.aborted) return seeker.found(this.#keep(socket))
    socket.destroy()
    this.#serveNext()
    this.#checkEmpty()
  }

  #keep(socket: Socket): Kept {
    const { connectionAgeMaxMs, monotonicNow } = this.#options
    let fresh = true
    const client = new Client(this.#target.origin, {
      allowH2: false,
      pipelining: 1,
      // The deadline of each exchange covers these.
      headersTimeout: 0,
      bodyTimeout: 0,
      connect: (_, callback) => {
        // A client is one connection: when that is gone it must not make another by itself.
        const first = fresh
        fresh = false
        // undici does not expect an answer within the call.
        queueMicrotask(() => (first ? callback(null, socket) : callback(new StaleConnection(), null)))
      }
    })
    const kept: Kept = {
      client,
      socket,
      remoteAddress: socket.remoteAddress ?? '',
      reused: false,
      usableUntil: monotonicNow() + connectionAgeMaxMs
    }
    this.#open.add(kept)
    socket.once('close', () => this.#open.has(kept) && this.discard(kept))
    return kept
  }
}
