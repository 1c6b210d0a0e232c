/** One open stream: lines out, a sign of life when there are none, an end that says why. See decisions/0037. */
import type { ServerResponse } from 'node:http'
import type { Problem } from '../../http/problems.ts'
import type { DisconnectReason, StreamEndpoint } from '../connections.ts'
import type { Selection } from '../filtered-stream/post-fields.ts'

export interface StreamLimits {
  keepAliveMs: number
  /** What waits in memory for the reader. */
  bufferBytesMax: number
  /** Events that wait in the database. */
  backlogMax: number
  stallMs: number
}

export interface ConnectionOptions {
  id: string
  appId: string
  endpoint: StreamEndpoint
  /** Fields of posts; means nothing to other events. */
  selection: Selection
  response: ServerResponse
  limits: StreamLimits
  /** The lines of these events for this stream, read again. */
  reread(connection: StreamConnection, eventIds: readonly string[]): Promise<string[]>
  disconnected(type: 'SlowReader' | 'InternalError', detail: string): Problem
  onFailure(error: unknown): void
}

export interface StreamLine {
  eventId: string
  text: string
}

/** Whoever is cut off has this long to read what was sent before. */
const LINGER_MS = 5_000
/** Idle peers are asked by TCP itself, which finds the dead ones in about ten seconds more. */
const TCP_KEEP_ALIVE_MS = 5_000
const REREAD_EVENTS = 100
/** Many lines go out in one write, but not so many that a reader could not keep up with one. */
const WRITE_CHARACTERS = 64_000
/** Old events that may also be announced as new ones are remembered for this long. */
const REMEMBER_MS = 30_000

export class StreamConnection {
  readonly id: string
  readonly appId: string
  readonly endpoint: StreamEndpoint
  readonly selection: Selection
  /** Resolves with the reason once nothing more will be sent. */
  readonly over: Promise<DisconnectReason>
  /** Resolves when the socket is gone, too. */
  readonly closed: Promise<void>
  readonly #options: ConnectionOptions
  readonly #response: ServerResponse
  readonly #limits: StreamLimits
  /** New events, in order, that are not sent before the older ones are. */
  readonly #backlog = new Set<string>()
  readonly #sentAsOld = new Set<string>()
  #catchingUp = false
  #caughtUpMs = 0
  #reason: DisconnectReason | undefined
  readonly #end: (reason: DisconnectReason) => void
  #lastWriteMs = performance.now()
  #lastProgressMs = performance.now()
  #flushedBytes = 0

  constructor(options: ConnectionOptions) {
    const { response } = options
    this.id = options.id
    this.appId = options.appId
    this.endpoint = options.endpoint
    this.selection = options.selection
    this.#options = options
    this.#response = response
    this.#limits = options.limits
    const over = Promise.withResolvers<DisconnectReason>()
    const closed = Promise.withResolvers<void>()
    this.over = over.promise
    this.closed = closed.promise
    this.#end = (reason) => {
      this.#reason ??= reason
      this.#backlog.clear()
      over.resolve(this.#reason)
    }
    const close = () => {
      this.#end('client_disconnect')
      closed.resolve()
    }
    response.on('error', () => {})
    response.once('close', close)
    const { socket } = response
    if (!socket || socket.destroyed) close()
    else {
      socket.setKeepAlive(true, TCP_KEEP_ALIVE_MS)
      socket.setNoDelay(true)
    }
  }

  get ended() {
    return this.#reason !== undefined
  }

  get bufferedBytes() {
    return this.#response.writableLength
  }

  /** New events. They go out at once unless older ones are waiting; then they are read again when their turn comes. */
  offer(lines: readonly StreamLine[]) {
    let text = ''
    for (const { eventId, text: line } of lines) {
      if (this.ended) return
      if (this.#sentAsOld.has(eventId)) continue
      if (this.#catchingUp || this.bufferedBytes > this.#limits.bufferBytesMax) this.#later(eventId)
      else {
        text += `${line}\r\n`
        if (text.length < WRITE_CHARACTERS) continue
        this.#write(text)
        text = ''
      }
    }
    if (text !== '') this.#write(text)
  }

  #later(eventId: string) {
    this.#backlog.add(eventId)
    if (this.#backlog.size > this.#limits.backlogMax)
      this.#cutOff(`fell more than ${this.#limits.backlogMax} events behind`)
    else if (!this.#catchingUp) void this.catchUp()
  }

  /** First what `older` sends, then the backlog, at the pace of the reader. */
  async catchUp(older?: () => Promise<void>) {
    this.#catchingUp = true
    try {
      await older?.()
      while (!this.ended && this.#backlog.size > 0) {
        const ids = [...this.#backlog.values().take(REREAD_EVENTS)]
        const lines = await this.#options.reread(this, ids)
        for (const id of ids) this.#backlog.delete(id)
        await this.#writeSlowly(lines)
      }
    } catch (error) {
      this.#options.onFailure(error)
      this.disconnect(
        'server_error',
        this.#options.disconnected('InternalError', 'The stream cannot go on; reconnect.')
      )
    }
    this.#catchingUp = false
    this.#caughtUpMs = performance.now()
  }

  /** Events of the past; they may be announced as new ones, too. */
  async sendOld(lines: readonly StreamLine[]) {
    for (const { eventId } of lines) {
      this.#backlog.delete(eventId)
      this.#sentAsOld.add(eventId)
    }
    await this.#writeSlowly(lines.map(({ text }) => text))
  }

  async #writeSlowly(lines: readonly string[]) {
    let text = ''
    for (const [at, line] of lines.entries()) {
      text += `${line}\r\n`
      if (text.length < WRITE_CHARACTERS && at < lines.length - 1) continue
      if (this.bufferedBytes > this.#limits.bufferBytesMax) await this.#drained()
      this.#write(text)
      text = ''
    }
  }

  /** Whole lines, each with its end. */
  #write(text: string) {
    if (this.ended) return
    this.#response.write(text)
    this.#lastWriteMs = performance.now()
  }

  /** Resolves when the reader has taken everything, or is gone. */
  async #drained() {
    if (this.ended || !this.#response.writableNeedDrain) return
    const drained = Promise.withResolvers<void>()
    this.#response.once('drain', drained.resolve)
    await Promise.race([drained.promise, this.over])
    this.#response.off('drain', drained.resolve)
  }

  /** Called every now and then. Real time, whatever the clock of the rules says. */
  tick(nowMs: number) {
    if (this.ended) return
    const { socket } = this.#response
    const flushed = (socket?.bytesWritten ?? 0) - (socket?.writableLength ?? 0)
    if (this.bufferedBytes === 0 || flushed > this.#flushedBytes) this.#lastProgressMs = nowMs
    this.#flushedBytes = flushed
    if (nowMs - this.#lastProgressMs > this.#limits.stallMs)
      return this.#cutOff(`has read nothing for ${Math.round(this.#limits.stallMs / 1000)} seconds`)
    if (!this.#catchingUp && nowMs - this.#caughtUpMs > REMEMBER_MS) this.#sentAsOld.clear()
    if (nowMs - this.#lastWriteMs >= this.#limits.keepAliveMs) this.#write('\r\n')
  }

  #cutOff(why: string) {
    const detail = `The client ${why} and was disconnected. Read faster, or ask for less.`
    this.disconnect('slow_reader', this.#options.disconnected('SlowReader', detail))
  }

  /** The last line says why; without a problem the stream simply ends. */
  disconnect(reason: DisconnectReason, problem?: Problem) {
    if (this.ended) return
    this.#end(reason)
    if (problem) this.#response.write(`${JSON.stringify({ errors: [problem] })}\r\n`)
    this.#response.end()
    const linger = setTimeout(() => this.#response.destroy(), LINGER_MS).unref()
    this.#response.once('close', () => clearTimeout(linger))
  }

  /** Without waiting for the reader. */
  destroy() {
    this.#response.destroy()
  }
}
