import assert from 'node:assert/strict'
import { after, test } from 'node:test'
import { givenApp, givenUser, givenUserToken } from '../../../test/given.ts'
import { startReceiving } from '../../../test/given-activity.ts'
import { newId } from '../../storage/ids.ts'

const herald = await startReceiving({ after })
const { app, admin, call } = herald
const USAGE = '/2/usage/tweets'
const all = `${USAGE}?usage.fields=daily_project_usage,daily_client_app_usage,project_usage,project_id,cap_reset_day,project_cap`
const today = () => `${new Date(app.deps.clock.now()).toISOString().slice(0, 10)}T00:00:00.000Z`

/** An app that gets posts with a word by webhook. */
async function reader(word: string, input: Parameters<typeof givenApp>[1] = {}) {
  const by = await givenApp(app, input)
  const webhook = await herald.webhook(by)
  await call('POST', '/2/tweets/search/stream/rules', by.headers, { add: [{ value: word }] })
  const { status, body } = await call('POST', `/2/tweets/search/webhooks/${webhook.id}`, by.headers)
  assert.equal(status, 200, JSON.stringify(body))
  return by
}
const publish = (...texts: string[]) =>
  herald.publish(
    ...texts.map((text) => ({ event_type: 'post.create', payload: { id: newId(), author_id: '42', text } }))
  )
async function counted() {
  await admin('POST', '/clock', { advance: '7m' })
  await app.drain()
}

test('counts a post once for a project and once for each of its apps, and only once it was sent', async () => {
  const one = await reader('apple', { project_id: '900', quotas: { project_posts: 5_000 } })
  const two = await reader('apple OR pear', { project_id: '900' })
  const day = today()
  await publish('apple', 'pear', 'plum')
  await counted()
  await publish('pear again')
  await counted()
  await counted()

  const { status, body } = await call('GET', all, one.headers)

  assert.equal(status, 200)
  assert.deepEqual(body.data, {
    cap_reset_day: 1,
    project_cap: 5_000,
    project_id: '900',
    project_usage: 3,
    daily_project_usage: { project_id: '900', usage: [{ date: day, usage: 3 }] },
    daily_client_app_usage: [
      { client_app_id: one.id, usage_result_count: 1, usage: [{ date: day, usage: 1 }] },
      { client_app_id: two.id, usage_result_count: 1, usage: [{ date: day, usage: 3 }] }
    ].sort((a, b) => (a.client_app_id < b.client_app_id ? -1 : 1))
  })
})

test('counts posts, nothing else, and each day for itself', async () => {
  const { by, webhook } = await herald.appWithWebhook()
  const user = await givenUser(app)
  const headers = await givenUserToken(app, by, user)
  for (const event_type of ['post.create', 'post.delete', 'profile.update.bio'])
    await call('POST', '/2/activity/subscriptions', headers, {
      event_type,
      filter: { user_id: user.id },
      webhook_id: webhook.id
    })
  const told = (event_type: string, payload: object) => ({ event_type, user_id: user.id, payload })
  const first = today()
  const id = newId()
  await herald.publish(
    told('post.create', { id, author_id: user.id, text: 'x' }),
    told('post.delete', { id, author_id: user.id }),
    told('profile.update.bio', { before: 'a', after: 'b' })
  )
  await admin('POST', '/clock', { advance: '24h' })
  const second = today()
  await herald.publish(told('post.create', { id: newId(), author_id: user.id, text: 'y' }))
  await counted()

  const { body } = await call('GET', all, by.headers)
  const oneDay = await call('GET', `${USAGE}?days=1&usage.fields=daily_project_usage`, by.headers)

  assert.equal(webhook.bodies().length, 4)
  assert.deepEqual(body.data.daily_project_usage.usage, [
    { date: first, usage: 1 },
    { date: second, usage: 1 }
  ])
  assert.deepEqual(oneDay.body.data, {
    daily_project_usage: { project_id: body.data.project_id, usage: [{ date: second, usage: 1 }] }
  })
})

test('tells an app of its own project only, and the totals unless asked for more', async () => {
  const { headers } = await givenApp(app)

  const { status, body } = await call('GET', USAGE, headers)

  assert.equal(status, 200)
  assert.deepEqual(Object.keys(body.data).sort(), ['cap_reset_day', 'project_id', 'project_usage'])
  assert.equal(body.data.project_usage, 0)
})

test('refuses bad input, and everybody but apps', async () => {
  const by = await givenApp(app)
  const user = await givenUserToken(app, by, await givenUser(app))

  assert.equal((await call('GET', `${USAGE}?days=0`, by.headers)).status, 400)
  assert.equal((await call('GET', `${USAGE}?days=91`, by.headers)).status, 400)
  assert.equal((await call('GET', `${USAGE}?usage.fields=money`, by.headers)).status, 400)
  assert.equal((await call('GET', USAGE)).status, 401)
  assert.match((await call('GET', USAGE, user)).body.type, /unsupported-authentication$/)
})
