import assert from 'node:assert/strict'
import { test } from 'node:test'
import { Histogram, Registry } from 'prom-client'
import { requestTimes } from './request-times.ts'

test('prints what the histogram of the library would print', async () => {
  const [own, theirs] = [new Registry(), new Registry()]
  const histogram = new Histogram({
    name: 'herald_http_request_seconds',
    help: 'Time to answer a request.',
    labelNames: ['listener', 'method', 'route', 'status'],
    buckets: [0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 10],
    registers: [theirs]
  })
  const observe = requestTimes(own).route('main', 'GET', '/2/webhooks')
  for (const [status, seconds] of [
    [200, 0.0005],
    [200, 0.001],
    [404, 0.3],
    [200, 11]
  ] as const) {
    observe(status, seconds)
    const labels = { listener: 'main', method: 'GET', route: '/2/webhooks', status: `${Math.floor(status / 100)}xx` }
    histogram.observe(labels, seconds)
  }

  assert.equal(await own.metrics(), await theirs.metrics())
  assert.equal(requestTimes(own), requestTimes(own), 'both listeners share it')
})
