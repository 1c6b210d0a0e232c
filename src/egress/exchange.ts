/** One request and its answer under one deadline. What becomes of the answer's body is decided by the subclasses. */
import type { Dispatcher } from 'undici'
import { classify, EgressError, type Failure, isReset, type Phase, type Timings, timeout } from './failures.ts'
import { type Connection, type Pool, type Seeker, StaleConnection } from './pool.ts'
import type { Target } from './targets.ts'

export interface ExchangeRequest {
  method: string
  headers?: Record<string, string>
  body?: Buffer | string
  /** Over everything: waiting for a connection, DNS, connecting, TLS, headers and body. */
  deadlineMs?: number
  signal?: AbortSignal
  /**
   * May be sent a second time when a kept-alive connection closes before the first byte of an answer. By default true
   * for GET and HEAD.
   */
  idempotent?: boolean
}

/** Lower-case names; a header that was sent several times is a list. */
export type ResponseHeaders = Record<string, string | string[] | undefined>

/** Ends an exchange inside undici without harm to its connection, because nothing has been sent yet. */
class NotSent extends Error {}

const HARMLESS = new Set(['UND_ERR_INVALID_ARG', 'UND_ERR_NOT_SUPPORTED'])

export abstract class Exchange implements Dispatcher.DispatchHandler, Seeker {
  phase: Phase = 'queue'
  readonly timings: Timings = { queue: 0, dns: 0, connect: 0, tls: 0, firstByte: 0, total: 0 }
  protected readonly target: Target
  protected status: number | undefined
  protected controller: Dispatcher.DispatchController | undefined
  protected ended = false
  readonly #pool: Pool
  readonly #request: ExchangeRequest
  readonly #now: () => number
  readonly #startedAt: number
  #connection: Connection | undefined
  #sentAt = 0
  #sentAgain = false
  /** The target said that it closes the connection after this answer. */
  #lastOne = false
  #timer: NodeJS.Timeout | undefined
  #onAbort: (() => void) | undefined

  constructor(target: Target, pool: Pool, request: ExchangeRequest, monotonicNow: () => number) {
    this.target = target
    this.#pool = pool
    this.#request = request
    this.#now = monotonicNow
    this.#startedAt = monotonicNow()
  }

  /** The exchange failed before it was over. */
  protected abstract fail(error: EgressError): void
  protected abstract begin(status: number, headers: ResponseHeaders): void
  protected abstract data(chunk: Buffer): void
  protected abstract complete(): void

  start() {
    const { deadlineMs, signal } = this.#request
    if (signal) {
      if (signal.aborted) return this.stop(new EgressError('ABORTED', 'The request was given up'))
      this.#onAbort = () => this.stop(new EgressError('ABORTED', 'The request was given up'))
      signal.addEventListener('abort', this.#onAbort)
    }
    if (deadlineMs !== undefined) this.#timer = setTimeout(onDeadline, deadlineMs, this, deadlineMs)
    this.#pool.seek(this)
  }

  /** Ends it now, wherever it is, and reports the error. */
  stop(error: EgressError) {
    if (this.ended) return
    this.end()
    if (!this.#connection) this.#pool.giveUp(this)
    else this.controller?.abort(error)
    this.fail(error)
  }

  onDeadline(limitMs: number) {
    this.stop(timeout(this.target.host, limitMs, this.phase))
  }

  /** Nothing is reported after this. */
  protected end() {
    this.ended = true
    this.timings.total = this.#now() - this.#startedAt
    clearTimeout(this.#timer)
    if (this.#onAbort) this.#request.signal?.removeEventListener('abort', this.#onAbort)
  }

  protected get remoteAddress() {
    return this.#connection?.remoteAddress
  }

  protected failure({ class: failureClass, code, message }: EgressError): Failure {
    const { phase, timings, status, remoteAddress } = this
    return { kind: 'failure', class: failureClass, code, message, phase, timings, status, remoteAddress }
  }

  found(connection: Connection) {
    const { timings } = this
    timings.queue = this.#now() - this.#startedAt - timings.dns - timings.connect - timings.tls
    this.phase = 'headers'
    this.#connection = connection
    const { method, headers, body } = this.#request
    connection.client.dispatch({ path: this.target.path, method, headers, body }, this)
  }

  failed(error: unknown) {
    if (!this.ended) this.stop(classify(error, this.phase, this.target.host))
  }

  onRequestStart(controller: Dispatcher.DispatchController) {
    const { deadlineMs } = this.#request
    const now = this.#now()
    // The last moment before it is written. A process that was stopped comes here before its timers, and whatever is too
    // late must not be sent any more.
    if (deadlineMs !== undefined && now - this.#startedAt >= deadlineMs) this.onDeadline(deadlineMs)
    if (this.ended) throw new NotSent()
    this.controller = controller
    this.#sentAt = now
  }

  onResponseStart(_: Dispatcher.DispatchController, status: number, headers: ResponseHeaders) {
    // 100 Continue, 103 Early Hints: the answer is still to come.
    if (status < 200 || this.ended) return
    this.timings.firstByte = this.#now() - this.#sentAt
    this.phase = 'body'
    this.status = status
    this.#lastOne = headers.connection !== undefined && /\bclose\b/i.test(String(headers.connection))
    this.begin(status, headers)
  }

  onResponseData(_: Dispatcher.DispatchController, chunk: Buffer) {
    if (!this.ended) this.data(chunk)
  }

  onResponseEnd() {
    if (!this.ended) {
      this.end()
      this.complete()
    }
    if (this.#lastOne) this.#pool.discard(this.#connection!)
    else this.#pool.release(this.#connection!)
  }

  onResponseError(_: Dispatcher.DispatchController, error: Error & { code?: string }) {
    const connection = this.#connection!
    if (!this.ended) {
      if (this.#mayTryAgain(error, connection)) {
        this.#connection = this.controller = undefined
        this.#pool.seek(this)
      } else {
        this.stop(classify(error, this.phase, this.target.host))
      }
    }
    if (error instanceof NotSent || HARMLESS.has(error.code ?? '')) this.#pool.release(connection)
    else this.#pool.discard(connection)
  }

  #mayTryAgain(error: Error, { reused }: Connection) {
    if (!reused) return false
    if (!this.controller) return error instanceof StaleConnection
    const { method, idempotent = method === 'GET' || method === 'HEAD' } = this.#request
    if (!idempotent || this.#sentAgain || this.status !== undefined || !isReset(error)) return false
    this.#sentAgain = true
    this.#pool.discardIdle()
    return true
  }
}

function onDeadline(exchange: Exchange, limitMs: number) {
  exchange.onDeadline(limitMs)
}
