/** The log of one request. Most requests have nothing to say, so the real log is made by the first word. */
import type { FastifyBaseLogger } from 'fastify'

type Words = Parameters<FastifyBaseLogger['info']>

export class RequestLog {
  readonly #parent: FastifyBaseLogger
  readonly #bindings: object
  #own: FastifyBaseLogger | undefined

  constructor(parent: FastifyBaseLogger, bindings: object) {
    this.#parent = parent
    this.#bindings = bindings
  }

  get #log() {
    this.#own ??= this.#parent.child(this.#bindings)
    return this.#own
  }

  get level() {
    return this.#parent.level
  }
  child(bindings: object, options?: object): FastifyBaseLogger {
    return this.#log.child(bindings, options)
  }
  trace(...words: Words) {
    this.#log.trace(...words)
  }
  debug(...words: Words) {
    this.#log.debug(...words)
  }
  info(...words: Words) {
    this.#log.info(...words)
  }
  warn(...words: Words) {
    this.#log.warn(...words)
  }
  error(...words: Words) {
    this.#log.error(...words)
  }
  fatal(...words: Words) {
    this.#log.fatal(...words)
  }
  silent() {}
}
