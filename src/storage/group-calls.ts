/** Group commit: calls that arrive while others are being served are served together, in one transaction. */

export interface GroupOptions<Input> {
  /** Together, the calls of a group weigh no more than this; a heavier call is served alone. */
  weightMax?: number
  /** 1 for every call by default. */
  weightOf?: (input: Input) => number
  /** Groups under way at once; one waits for the disk while the next does its work. */
  concurrency?: number
  /**
   * Whether, after a group of several failed this way, each call may be run alone, so that one bad call does not fail its
   * neighbours. Not when it is unknown whether the group was committed.
   */
  mayRunAlone?: (error: unknown) => boolean
}

const WEIGHT_MAX = 200
const CONCURRENCY = 2

/** `run` answers for every input, in order. A single call waits for nobody. */
export function groupCalls<Input, Output>(
  run: (inputs: Input[]) => Promise<Output[]>,
  {
    weightMax = WEIGHT_MAX,
    weightOf = () => 1,
    concurrency = CONCURRENCY,
    mayRunAlone = () => false
  }: GroupOptions<Input> = {}
): (input: Input) => Promise<Output> {
  interface Call {
    input: Input
    resolve(output: Output): void
    reject(error: unknown): void
  }
  const waiting: Call[] = []
  let running = 0

  async function serve(calls: Call[]) {
    try {
      const outputs = await run(calls.map(({ input }) => input))
      for (const [i, { resolve }] of calls.entries()) resolve(outputs[i]!)
    } catch (error) {
      if (calls.length === 1 || !mayRunAlone(error)) for (const { reject } of calls) reject(error)
      else for (const call of calls) await serve([call])
    }
  }

  async function work() {
    running++
    while (waiting.length > 0) {
      let count = 1
      let weight = weightOf(waiting[0]!.input)
      while (count < waiting.length) {
        weight += weightOf(waiting[count]!.input)
        if (weight > weightMax) break
        count++
      }
      await serve(waiting.splice(0, count))
    }
    running--
  }

  return (input) =>
    new Promise((resolve, reject) => {
      waiting.push({ input, resolve, reject })
      // After the current turn of the event loop: requests that were read together are served together.
      if (running < concurrency) setImmediate(() => running < concurrency && waiting.length > 0 && void work())
    })
}
