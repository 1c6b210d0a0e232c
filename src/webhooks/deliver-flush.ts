/** Collects what is done, so that one statement records many: a commit for every group, not for every delivery. */
import { setTimeout as sleep } from 'node:timers/promises'

export interface FlushOptions<T> {
  /** Records a batch; on an error it is asked again with the same batch. */
  write(batch: T[]): Promise<void>
  /** Called after a failed write, with how often it has failed; false gives the batch up. */
  retry(error: unknown, batch: T[], failures: number): boolean
  afterMs: number
  batchMax?: number
}

export interface Flush<T> {
  add(item: T): void
  /** Not written yet. */
  readonly pending: number
  /** Resolves when everything added so far was written or given up. */
  done(): Promise<void>
}

const BATCH_MAX = 1_000
const RETRY_DELAYS_MS = [20, 100, 250, 500]

export function createFlush<T>({ write, retry, afterMs, batchMax = BATCH_MAX }: FlushOptions<T>): Flush<T> {
  let waiting: T[] = []
  let writing = 0
  let running: Promise<void> | undefined
  let timer: NodeJS.Timeout | undefined

  async function run() {
    while (waiting.length > 0) {
      const batch = waiting.length <= batchMax ? waiting : waiting.slice(0, batchMax)
      waiting = waiting.length <= batchMax ? [] : waiting.slice(batchMax)
      writing = batch.length
      for (let failures = 0; ; failures++) {
        try {
          await write(batch)
          break
        } catch (error) {
          if (!retry(error, batch, failures + 1)) break
          await sleep(RETRY_DELAYS_MS[Math.min(failures, RETRY_DELAYS_MS.length - 1)])
        }
      }
      writing = 0
      // Whatever arrived meanwhile may wait for company, unless it has plenty.
      if (waiting.length > 0 && waiting.length < batchMax) await sleep(afterMs)
    }
  }

  function start() {
    clearTimeout(timer)
    timer = undefined
    running ??= run().finally(() => {
      running = undefined
      if (waiting.length > 0) schedule()
    })
    return running
  }

  function schedule() {
    if (running || timer) return
    timer = setTimeout(start, afterMs)
  }

  return {
    add(item) {
      waiting.push(item)
      schedule()
    },
    get pending() {
      return waiting.length + writing
    },
    async done() {
      while (waiting.length + writing > 0) await start()
    }
  }
}
