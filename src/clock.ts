/** Time as the rules see it. Everything that depends on the time of day receives a Clock; nothing calls `new Date()`. */
export interface Clock {
  /** Milliseconds since the Unix epoch. */
  now(): number
}

export const systemClock: Clock = { now: () => Date.now() }

/** A clock that runs with the machine's but can be moved. */
export interface TestClock extends Clock {
  offsetMs: number
}

export const createTestClock = (offsetMs = 0): TestClock => ({
  offsetMs,
  now() {
    return Date.now() + this.offsetMs
  }
})

export const isoTime = (ms: number) => new Date(ms).toISOString()
