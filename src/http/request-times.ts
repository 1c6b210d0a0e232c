/** The histogram of request times. Of the same shape as the library's, but an observation costs an addition, not a hash. */
import type { Registry } from 'prom-client'

const NAME = 'herald_http_request_seconds'
const HELP = 'Time to answer a request.'
const SECONDS = [0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 10]

interface Series {
  labels: { listener: string; method: string; route: string; status: string }
  /** By bucket, the last one for what is longer than all. */
  counts: number[]
  sum: number
}

type Value = { metricName: string; labels: Record<string, string | number>; value: number }

function valuesOf({ labels, counts, sum }: Series): Value[] {
  let count = 0
  const buckets = counts.map((each, i) => {
    count += each
    return { metricName: `${NAME}_bucket`, labels: { le: SECONDS[i] ?? '+Inf', ...labels }, value: count }
  })
  return [
    ...buckets,
    { metricName: `${NAME}_sum`, labels, value: sum },
    { metricName: `${NAME}_count`, labels, value: count }
  ]
}

export class RequestTimes {
  readonly name = NAME
  readonly help = HELP
  readonly type = 'histogram'
  readonly aggregator = 'sum'
  readonly #series: Series[] = []

  /** What the registry asks for. */
  async get() {
    return { ...this, values: this.#series.flatMap(valuesOf) }
  }
  reset() {
    this.#series.length = 0
  }

  /** How the answers of one route are observed. */
  route(listener: string, method: string, route: string) {
    const byStatus: (Series | undefined)[] = []
    return (statusCode: number, seconds: number) => {
      const hundreds = Math.floor(statusCode / 100)
      let series = byStatus[hundreds]
      if (!series) {
        const labels = { listener, method, route, status: `${hundreds}xx` }
        series = { labels, counts: new Array(SECONDS.length + 1).fill(0), sum: 0 }
        byStatus[hundreds] = series
        this.#series.push(series)
      }
      let bucket = 0
      while (bucket < SECONDS.length && seconds > SECONDS[bucket]!) bucket++
      series.counts[bucket]!++
      series.sum += seconds
    }
  }
}

/** One for both listeners. */
export function requestTimes(registry: Registry): RequestTimes {
  const known = registry.getSingleMetric(NAME) as unknown as RequestTimes | undefined
  if (known) return known
  const times = new RequestTimes()
  registry.registerMetric(times as never)
  return times
}
