import assert from 'node:assert/strict'
import { test } from 'node:test'
import { presets } from '../../test/consumer.ts'
import { startWebhooks } from '../../test/given-webhooks.ts'

test('every attempt is in the step it was made in, and steps without any are there', async (t) => {
  const { app, admin, register, deliver, consumer, advance } = await startWebhooks(t, { HERALD_DELIVERY_RETRIES: '' })
  const webhook = await register()
  await deliver(webhook, { kind: 'activity', body: '{}' }, { kind: 'activity', body: '{}' })
  await app.drain()
  await advance('2m')
  consumer.respond(presets.status(500))
  await deliver(webhook, { kind: 'activity', body: '{}' })
  await app.drain()

  const { steps, step_seconds } = await admin<{
    step_seconds: number
    steps: { at: string; delivered: number; failed: number; p50: number | null }[]
  }>('GET', '/overview/series')

  assert.equal(step_seconds, 10)
  assert.equal(steps.length, 90)
  const busy = steps.filter(({ delivered, failed }) => delivered + failed > 0)
  assert.deepEqual(
    busy.map(({ delivered, failed }) => ({ delivered, failed })),
    [
      { delivered: 2, failed: 0 },
      { delivered: 0, failed: 1 }
    ]
  )
  assert.ok(busy[0]!.p50! >= 0)
})
