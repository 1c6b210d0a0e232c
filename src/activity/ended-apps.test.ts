import assert from 'node:assert/strict'
import { test } from 'node:test'
import { givenOAuth1, givenUser } from '../../test/given.ts'
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

test('while its app is suspended nothing is sent for any product, and explanations say so', async (t) => {
  const { app, appWithWebhook, call, admin, publish } = await startReceiving(t)
  const { by, webhook } = await appWithWebhook()
  const user = await givenUser(app)
  const { sign } = await givenOAuth1(app, by, user)
  const path = `/2/account_activity/webhooks/${webhook.id}/subscriptions/all`
  await call('POST', path, sign('POST', path))
  const { body } = await call('POST', '/2/activity/subscriptions', by.headers, {
    event_type: 'post.create',
    filter: { user_id: user.id },
    webhook_id: webhook.id
  })
  const added = await call('POST', '/2/tweets/search/stream/rules', by.headers, { add: [{ value: 'cat' }] })
  await call('POST', `/2/tweets/search/webhooks/${webhook.id}`, by.headers)
  const post = (id: string) => ({ event_type: 'post.create', payload: { id, text: 'a cat', author_id: user.id } })
  const suspend = (suspended: boolean) => admin('PUT', `/apps/${by.id}`, { suspended })

  await publish(post('1'))
  await suspend(true)
  const [{ id } = { id: '' }] = await publish(post('2'))
  const told = webhook.bodies().length
  const subscription = body.data.subscription.subscription_id
  const why = await admin('GET', `/activity/explain?event_id=${id}&subscription_id=${subscription}`)
  const whyRule = await admin('GET', `/activity/rules/explain?rule_id=${added.body.data[0].id}&event_id=${id}`)
  await suspend(false)
  await publish(post('3'))

  assert.equal(told, 3)
  assert.equal(webhook.bodies().length, 6)
  assert.deepEqual(
    why.body.data.reasons.map(({ reason }: { reason: string }) => reason),
    ['app_suspended'],
    JSON.stringify(why)
  )
  assert.match(JSON.stringify(whyRule.body), /The app is suspended/)
})

test('an app whose permissions were lowered is sent no more direct messages, whatever its tokens were granted', async (t) => {
  const { app, appWithWebhook, call, admin, publish } = await startReceiving(t)
  const { by, webhook } = await appWithWebhook()
  const user = await givenUser(app)
  const { sign } = await givenOAuth1(app, by, user)
  const path = '/2/activity/subscriptions'
  for (const event_type of ['dm.received', 'post.mention.create'])
    await call('POST', path, sign('POST', path), { event_type, filter: { user_id: user.id }, webhook_id: webhook.id })
  const message = (id: string) => ({ event_type: 'dm.received', user_id: user.id, payload: { id, sender_id: '7' } })
  const mention = (id: string) => ({
    event_type: 'post.mention.create',
    user_id: user.id,
    payload: { id, text: 'hi', author_id: '7' }
  })
  const types = () => webhook.bodies().map(({ data }) => data.event_type)
  await publish(message('1'), mention('2'))
  assert.deepEqual(types().sort(), ['dm.received', 'post.mention.create'])

  await admin('PUT', `/apps/${by.id}`, { permissions: 'read' })
  await publish(message('3'), mention('4'))

  assert.deepEqual(types().slice(2), ['post.mention.create'])
})
