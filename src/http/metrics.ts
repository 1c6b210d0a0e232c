/** Prometheus metrics of this node. Domains add theirs with `metrics.counter(…)` and friends. */
import type { FastifyInstance } from 'fastify'
import { Counter, collectDefaultMetrics, Gauge, Histogram, Registry } from 'prom-client'

export interface Metrics {
  registry: Registry
  counter<L extends string = never>(name: string, help: string, labelNames?: readonly L[]): Counter<L>
  gauge<L extends string = never>(
    name: string,
    help: string,
    labelNames?: readonly L[],
    collect?: (gauge: Gauge<L>) => void | Promise<void>
  ): Gauge<L>
  histogram<L extends string = never>(
    name: string,
    help: string,
    buckets: number[],
    labelNames?: readonly L[]
  ): Histogram<L>
}

export function createMetrics(): Metrics {
  const registry = new Registry()
  const registers = [registry]
  collectDefaultMetrics({ register: registry, prefix: 'herald_' })
  return {
    registry,
    counter: (name, help, labelNames = []) => new Counter({ name, help, labelNames, registers }),
    gauge: (name, help, labelNames = [], collect) =>
      new Gauge({
        name,
        help,
        labelNames,
        registers,
        ...(collect
          ? {
              collect() {
                return collect(this)
              }
            }
          : {})
      }),
    histogram: (name, help, buckets, labelNames = []) => new Histogram({ name, help, buckets, labelNames, registers })
  }
}

const SECONDS = [0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 10]

/** Counts and times every answer by route pattern, never by raw URL. */
export function measureRequests(app: FastifyInstance, metrics: Metrics, listener: string) {
  const seconds = metrics.registry.getSingleMetric('herald_http_request_seconds') as
    | Histogram<'listener' | 'method' | 'route' | 'status'>
    | undefined
  const histogram =
    seconds ??
    metrics.histogram('herald_http_request_seconds', 'Time to answer a request.', SECONDS, [
      'listener',
      'method',
      'route',
      'status'
    ])
  app.addHook('onResponse', (req, reply, done) => {
    histogram.observe(
      {
        listener,
        method: req.method,
        route: req.routeOptions.url ?? 'none',
        status: `${Math.floor(reply.statusCode / 100)}xx`
      },
      reply.elapsedTime / 1000
    )
    done()
  })
}
