import assert from 'node:assert/strict'
import { test } from 'node:test'
import { presets } from '../../test/consumer.ts'
import { startWebhooks } from '../../test/given-webhooks.ts'
import { createMetrics } from '../http/metrics.ts'
import { silentLog } from '../storage/log.ts'
import { createCrcMeasures } from './crc-measures.ts'

test('a webhook that turns invalid shows in the metrics, and so does one that is valid again', async (t) => {
  const { app, consumer, register, v2, advance } = await startWebhooks(t)
  const webhook = await register()
  await register()
  const metrics = async () =>
    (await app.apps.main.inject('/metrics')).body.split('\n').filter((line) => /^herald_(webhooks|crc)/.test(line))

  assert.deepEqual(await metrics(), [
    'herald_crc_checks_total{cause="create",outcome="pass"} 2',
    'herald_webhooks{state="valid"} 2',
    'herald_webhooks{state="invalid"} 0'
  ])
  consumer.respond(presets.redirect())
  await v2('PUT', `/webhooks/${webhook.id}`)
  consumer.respond(presets.status(500))
  await advance('24h1m')

  assert.deepEqual(await metrics(), [
    'herald_crc_checks_total{cause="create",outcome="pass"} 2',
    'herald_crc_checks_total{cause="put",outcome="definitive"} 1',
    'herald_crc_checks_total{cause="tick",outcome="transient"} 2',
    'herald_webhooks{state="valid"} 1',
    'herald_webhooks{state="invalid"} 1'
  ])
})

test('the log says which webhook turned, why and what to do, and keeps its URL to itself', async (t) => {
  const { app } = await startWebhooks(t, {}, { start: false })
  const lines: unknown[] = []
  const log = { ...silentLog, info: (...line: unknown[]) => lines.push(line) }
  const { turned } = createCrcMeasures({ db: app.deps.database.db, log, metrics: createMetrics() })
  const webhook = { app_id: '1', id: '2', url: 'https://hooks.example.test/?token=secret' }

  turned({ ...webhook, valid: false, invalid_reason: 'REDIRECT: status 302' })
  turned({ ...webhook, valid: true, invalid_reason: null })

  assert.deepEqual(lines, [
    [
      { app_id: '1', webhook_id: '2', reason: 'REDIRECT: status 302' },
      'a webhook became invalid; nothing is sent to it until PUT /2/webhooks/2 succeeds'
    ],
    [{ app_id: '1', webhook_id: '2' }, 'a webhook is valid again']
  ])
})
