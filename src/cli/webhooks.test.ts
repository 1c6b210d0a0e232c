import assert from 'node:assert/strict'
import { after, test } from 'node:test'
import { presets } from '../../test/consumer.ts'
import { startWebhooks } from '../../test/given-webhooks.ts'
import { WEBHOOK_COMMANDS } from './webhooks.ts'

const { app, consumer, register, deliver } = await startWebhooks({ after })
const { main } = await app.listen()
const env = { HERALD_PUBLIC_URL: main, HERALD_ADMIN_TOKEN: app.adminToken }

const herald = (name: string, ...positionals: string[]) =>
  WEBHOOK_COMMANDS.find((command) => command.name === name)!.run({ values: {}, positionals, env })

test('an operator sees at the terminal what failed, why, and sends it again', async () => {
  const webhook = await register()
  consumer.respond(presets.redirect())
  await deliver(webhook, { body: '{}', event_id: '77' })
  await app.drain()

  const [listed] = (await herald('webhook list')) as Record<string, unknown>[]
  const why = await herald('webhook why', webhook.id, '77')
  const [failed] = (await herald('delivery list', webhook.id)) as { id: string; state: string }[]
  consumer.respond(presets.ok)
  await herald('delivery resend', failed!.id)
  await app.drain()
  await herald('webhook test', webhook.id)
  await app.drain()
  const shown = JSON.parse((await herald('delivery show', failed!.id)) as string)

  assert.deepEqual([listed!.id, listed!.valid, listed!.success_rate], [webhook.id, true, 0])
  assert.match(String(why), /failed for good after 1 attempt.*\nNext: POST \/admin\/deliveries\/\d+\/resend$/)
  assert.equal(failed!.state, 'failed')
  assert.equal(shown.state, 'delivered')
  assert.equal(((await herald('webhook validate', webhook.id)) as { valid: boolean }).valid, true)
  assert.deepEqual(await herald('replay list'), [])
  await assert.rejects(async () => herald('webhook test'), /The id of the webhook is missing/)
  await assert.rejects(async () => herald('delivery resend', '1'), /There is no delivery 1/)
})
