/** Ids seen lately: all of the last minute and a little more, in bounded memory at any steady rate. */
export class RecentIds {
  readonly #spanMs: number
  #current = new Set<string>()
  #previous = new Set<string>()
  #sinceMs = Number.NEGATIVE_INFINITY

  constructor(spanMs: number) {
    this.#spanMs = spanMs
  }

  /** Whether it is new. */
  add(id: string, nowMs: number): boolean {
    if (nowMs - this.#sinceMs > this.#spanMs) {
      this.#previous = this.#current
      this.#current = new Set()
      this.#sinceMs = nowMs
    }
    if (this.has(id)) return false
    this.#current.add(id)
    return true
  }

  has(id: string): boolean {
    return this.#current.has(id) || this.#previous.has(id)
  }

  forget(ids: readonly string[]) {
    for (const id of ids) if (!this.#current.delete(id)) this.#previous.delete(id)
  }

  clear() {
    this.#current.clear()
    this.#previous.clear()
  }
}
