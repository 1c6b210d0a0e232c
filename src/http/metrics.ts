/** Prometheus metrics of this node. Domains add theirs with `metrics.counter(…)` and friends. */
import type { FastifyInstance, onResponseHookHandler } from 'fastify'
import { Counter, collectDefaultMetrics, Gauge, Histogram, Registry } from 'prom-client'
import { requestTimes } from './request-times.ts'

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

/** Counts and times every answer by route pattern, never by raw URL. */
export function measureRequests(app: FastifyInstance, metrics: Metrics, listener: string) {
  const times = requestTimes(metrics.registry)
  app.addHook('onRoute', (route) => {
    // Fastify adds HEAD to GET; both count as what was asked.
    const observers = new Map([route.method].flat().map((method) => [method, times.route(listener, method, route.url)]))
    const observe: onResponseHookHandler = (req, reply, done) => {
      observers.get(req.method)?.(reply.statusCode, reply.elapsedTime / 1000)
      done()
    }
    route.onResponse = [...[route.onResponse ?? []].flat(), observe]
  })
  const nowhere = times.route(listener, 'any', 'none')
  app.addHook('onResponse', (req, reply, done) => {
    if (req.is404) nowhere(reply.statusCode, reply.elapsedTime / 1000)
    done()
  })
}
