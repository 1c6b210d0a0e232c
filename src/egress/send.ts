/** Deliveries and challenge-response checks: a small request, a small answer kept in memory. */
import { Exchange, type ExchangeRequest, type ResponseHeaders } from './exchange.ts'
import type { EgressError, Failure, Timings } from './failures.ts'
import type { Pool } from './pool.ts'
import type { Scheme, Target } from './targets.ts'

export interface SendRequest extends ExchangeRequest {
  url: string
  deadlineMs: number
  /** Reading stops here; the rest is not read and the connection is closed. */
  responseBytesMax: number
  /** https alone by default. */
  schemes?: readonly Scheme[]
}

export interface SendResponse {
  kind: 'response'
  /** Any final status, redirects too: they are never followed. */
  status: number
  headers: ResponseHeaders
  /** As it was sent: a `content-encoding` is not decoded. */
  body: Buffer
  truncated: boolean
  timings: Timings
  remoteAddress: string
}

export type Outcome = SendResponse | Failure

const EMPTY = Buffer.alloc(0)

export class Send extends Exchange {
  readonly #resolve: (outcome: Outcome) => void
  readonly #bytesMax: number
  #headers: ResponseHeaders = {}
  #chunks: Buffer[] | undefined
  #bytes = 0

  constructor(
    target: Target,
    pool: Pool,
    request: SendRequest,
    monotonicNow: () => number,
    resolve: (outcome: Outcome) => void
  ) {
    super(target, pool, request, monotonicNow)
    this.#bytesMax = request.responseBytesMax
    this.#resolve = resolve
  }

  protected begin(_: number, headers: ResponseHeaders) {
    this.#headers = headers
  }

  protected data(chunk: Buffer) {
    const left = this.#bytesMax - this.#bytes
    this.#bytes += chunk.length
    this.#chunks ??= []
    this.#chunks.push(chunk.length > left ? chunk.subarray(0, left) : chunk)
    if (chunk.length <= left) return
    this.end()
    this.#settle(true)
    this.controller?.abort(new Error('truncated'))
  }

  protected complete() {
    this.#settle(false)
  }

  #settle(truncated: boolean) {
    const { timings } = this
    // A copy, so that a short answer does not hold on to the whole buffer it was read into.
    const body = this.#chunks ? Buffer.concat(this.#chunks) : EMPTY
    this.#resolve({
      kind: 'response',
      status: this.status!,
      headers: this.#headers,
      body,
      truncated,
      timings,
      remoteAddress: this.remoteAddress!
    })
  }

  protected fail(error: EgressError) {
    this.#resolve(this.failure(error))
  }
}
