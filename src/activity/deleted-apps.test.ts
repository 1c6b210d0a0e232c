import assert from 'node:assert/strict'
import { test } from 'node:test'
import { startReceiving } from '../../test/given-activity.ts'
import { openStream } from '../../test/stream.ts'

test('after its app is deleted nothing is sent to a webhook or a stream, and its tokens open nothing', async (t) => {
  const { app, appWithWebhook, call, admin, publish } = await startReceiving(t)
  const gone = await appWithWebhook()
  const stays = await appWithWebhook()
  const subscription = { event_type: 'profile.update.bio', filter: { user_id: '42' } }
  for (const { by, webhook } of [gone, stays]) {
    await call('POST', '/2/activity/subscriptions', by.headers, { ...subscription, webhook_id: webhook.id })
    await call('POST', '/2/tweets/search/stream/rules', by.headers, { add: [{ value: 'cat' }] })
    await call('POST', `/2/tweets/search/webhooks/${webhook.id}`, by.headers)
  }
  const { main } = await app.listen()
  const stream = await openStream(t, `${main}/2/activity/stream`, gone.by.headers)
  const bio = { event_type: 'profile.update.bio', user_id: '42', payload: { before: 'a', after: 'b' } }
  const post = (id: string) => ({ event_type: 'post.create', payload: { id, text: 'a cat', author_id: '42' } })
  await publish(bio, post('1'))

  const deleted = await admin('DELETE', `/apps/${gone.by.id}`)
  await stream.ended()
  await publish(bio, post('2'))

  assert.deepEqual(deleted, { status: 200, body: { data: { deleted: true } } })
  assert.deepEqual([gone.webhook.bodies().length, stays.webhook.bodies().length], [2, 4])
  assert.match(JSON.stringify(stream.items.at(-1)), /ForceDisconnect/)
  assert.equal((await call('GET', '/2/webhooks', gone.by.headers)).status, 401)
  assert.equal((await admin('DELETE', `/apps/${gone.by.id}`)).status, 404)
})
