/** Feeds and images: an answer of any size, read as fast as the caller reads and no further than the caller wants. */
import { pipeline, Readable, Transform } from 'node:stream'
import { createGunzip } from 'node:zlib'
import { Exchange, type ExchangeRequest, type ResponseHeaders } from './exchange.ts'
import { EgressError, type Failure, type Timings, timeout } from './failures.ts'
import type { Pool } from './pool.ts'
import type { Scheme, Target } from './targets.ts'

export interface StreamRequest extends Omit<ExchangeRequest, 'body'> {
  url: string
  /** Most time between two pieces of the answer. The time the caller takes to read does not count. */
  idleMs: number
  /** Most bytes on the wire. */
  bytesMax: number
  /** Offers gzip and unpacks it. Without it the body comes as it was sent. */
  decompress: boolean
  /** Most bytes after unpacking. */
  decompressedBytesMax: number
  /** https alone by default. */
  schemes?: readonly Scheme[]
}

export interface StreamResponse {
  kind: 'response'
  status: number
  headers: ResponseHeaders
  /** Fails with an EgressError. Destroying it, or leaving a `for await` early, closes the connection. */
  body: Readable
  /** Up to the headers; `total` grows until the body has ended. */
  timings: Timings
  remoteAddress: string
}

export type StreamOutcome = StreamResponse | Failure

const GZIP = /^\s*(?:x-)?gzip\s*$/i
const UNPACK_CHUNK_BYTES = 64 * 1024

/** Unpacks gzip and stops with TOO_LARGE as soon as more than `bytesMax` comes out. Also for files that are gzip. */
export function gunzipBounded(source: Readable, bytesMax: number, host: string): Readable {
  let bytes = 0
  const counted = new Transform({
    readableHighWaterMark: UNPACK_CHUNK_BYTES,
    transform(chunk: Buffer, _, callback) {
      bytes += chunk.length
      if (bytes <= bytesMax) callback(null, chunk)
      else callback(new EgressError('TOO_LARGE', `The answer of ${host} unpacks to more than ${bytesMax} bytes`))
    },
    destroy(error, callback) {
      // zlib's own errors; those of the connection are ours already.
      const broken = error && 'errno' in error && error.constructor === Error
      callback(broken ? new EgressError('ENCODING', `The gzip data of ${host} is broken (${error.message})`) : error)
    }
  })
  pipeline(source, createGunzip({ chunkSize: UNPACK_CHUNK_BYTES }), counted, () => {})
  return counted
}

export class Stream extends Exchange {
  readonly #resolve: (outcome: StreamOutcome) => void
  readonly #request: StreamRequest
  readonly #wire: Readable
  #idleTimer: NodeJS.Timeout | undefined
  #bytes = 0
  #handedOver = false

  constructor(
    target: Target,
    pool: Pool,
    request: StreamRequest,
    monotonicNow: () => number,
    resolve: (outcome: StreamOutcome) => void
  ) {
    super(target, pool, request, monotonicNow)
    this.#request = request
    this.#resolve = resolve
    this.#wire = new Readable({
      read: () => {
        if (!this.controller?.paused) return
        this.#idleTimer?.refresh()
        this.controller.resume()
      },
      destroy: (error, callback) => {
        // The caller has enough: what is still to come is not read.
        if (!this.ended) {
          this.end()
          this.controller?.abort(new Error('not wanted'))
        }
        callback(error)
      }
    })
  }

  override start() {
    // Until the headers there is only this and, if given, the deadline.
    this.#idleTimer = setTimeout(() => this.#onIdle(), this.#request.idleMs)
    super.start()
  }

  protected override end() {
    clearTimeout(this.#idleTimer)
    super.end()
  }

  #onIdle() {
    if (this.controller?.paused) this.#idleTimer?.refresh()
    else this.stop(timeout(this.target.host, this.#request.idleMs, this.phase))
  }

  protected begin(status: number, headers: ResponseHeaders) {
    const { decompress, decompressedBytesMax } = this.#request
    const { host } = this.target
    const encoding = String(headers['content-encoding'] ?? 'identity')
    const packed = decompress && GZIP.test(encoding)
    if (decompress && !packed && !/^\s*identity\s*$|^$/i.test(encoding)) {
      return this.stop(
        new EgressError('ENCODING', `${host} answered in ${encoding.slice(0, 40)}, but only gzip was offered`)
      )
    }
    if (this.#request.method !== 'HEAD' && Number(headers['content-length'] ?? 0) > this.#request.bytesMax) {
      return this.stop(this.#tooLarge())
    }
    this.#idleTimer?.refresh()
    const body = packed ? gunzipBounded(this.#wire, decompressedBytesMax, host) : this.#wire
    // A caller that needs no more than the status must not be ended by a later reset.
    body.on('error', () => {})
    this.#handedOver = true
    this.#resolve({
      kind: 'response',
      status,
      headers,
      body,
      timings: this.timings,
      remoteAddress: this.remoteAddress!
    })
  }

  protected data(chunk: Buffer) {
    this.#bytes += chunk.length
    if (this.#bytes > this.#request.bytesMax) return this.stop(this.#tooLarge())
    this.#idleTimer?.refresh()
    if (!this.#wire.push(chunk)) this.controller?.pause()
  }

  #tooLarge() {
    const { bytesMax } = this.#request
    return new EgressError('TOO_LARGE', `The answer of ${this.target.host} is larger than ${bytesMax} bytes`)
  }

  protected complete() {
    this.#wire.push(null)
  }

  protected fail(error: EgressError) {
    if (this.#handedOver) this.#wire.destroy(error)
    else this.#resolve(this.failure(error))
  }
}
