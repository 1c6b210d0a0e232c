import assert from 'node:assert/strict'
import { after, test } from 'node:test'
import { type GivenApp, givenApp, givenOAuth1, givenUser, givenUserToken } from '../../test/given.ts'
import { reasonOf, startReceiving } from '../../test/given-activity.ts'

const given = await startReceiving({ after })
const { app, call } = given
const mine = await givenApp(app, { name: 'demo-app' })
const other = await givenApp(app)
const webhook = await given.webhook(mine)
const foreign = await given.webhook(other)

const SCOPES = ['dm.read', 'dm.write', 'tweet.read', 'users.read']
const path = (id = webhook.id) => `/2/account_activity/webhooks/${id}/subscriptions/all`
const list = (id = webhook.id, by: GivenApp = mine) => call('GET', `${path(id)}/list`, by.headers)
const remove = (userId: string, id = webhook.id, by: GivenApp = mine) =>
  call('DELETE', `/2/account_activity/webhooks/${id}/subscriptions/${userId}/all`, by.headers)
const countOf = async (by: GivenApp = mine) =>
  (await call('GET', '/2/account_activity/subscriptions/count', by.headers)).body.data
async function subscribed(by: GivenApp = mine, id = webhook.id) {
  const user = await givenUser(app)
  const token = await givenUserToken(app, by, user, SCOPES)
  const { status, body } = await call('POST', path(id), token)
  assert.equal(status, 200, JSON.stringify(body))
  return { user, token }
}

test('subscribes the user of the token, by OAuth 2.0 with four scopes', async () => {
  const user = await givenUser(app)
  const token = await givenUserToken(app, mine, user, SCOPES)

  assert.deepEqual((await call('GET', path(), token)).body, { data: { subscribed: false } })
  const answer = await call('POST', path(), token)

  assert.equal(answer.status, 200)
  assert.deepEqual(answer.body, { data: { subscribed: true } })
  assert.deepEqual((await call('GET', path(), token)).body, { data: { subscribed: true } })
  const another = await givenUserToken(app, mine, await givenUser(app), SCOPES)
  assert.deepEqual((await call('GET', path(), another)).body, { data: { subscribed: false } })
})

test('subscribes by OAuth 1.0a', async () => {
  const user = await givenUser(app)
  const { sign } = await givenOAuth1(app, mine, user)

  assert.deepEqual((await call('POST', path(), sign('POST', path()))).body, { data: { subscribed: true } })
  assert.deepEqual((await call('GET', path(), sign('GET', path()))).body, { data: { subscribed: true } })
  assert.ok((await list()).body.data.subscriptions.some((each: { user_id: string }) => each.user_id === user.id))
})

test('takes no body, an empty one, {} and a body announced as JSON that is not there', async () => {
  for (const more of [
    {},
    { payload: {} },
    { headers: { 'content-type': 'application/json' } },
    { payload: '', headers: { 'content-type': 'application/json;charset=utf-8' } },
    { payload: '', headers: { 'content-type': 'application/x-www-form-urlencoded' } }
  ] as { payload?: object | string; headers?: Record<string, string> }[]) {
    const token = await givenUserToken(app, mine, await givenUser(app), SCOPES)
    const response = await app.apps.main.inject({
      method: 'POST',
      url: path(),
      ...more,
      headers: { ...token, ...more.headers }
    })
    assert.equal(response.statusCode, 200, `${JSON.stringify(more)} ${response.body}`)
  }
})

test('every one of the scopes is needed', async () => {
  const user = await givenUser(app)

  for (const missing of SCOPES) {
    const token = await givenUserToken(
      app,
      mine,
      user,
      SCOPES.filter((scope) => scope !== missing)
    )
    for (const method of ['POST', 'GET']) {
      const answer = await call(method, path(), token)
      assert.equal(answer.status, 403, `${method} without ${missing}`)
      assert.match(answer.body.detail, new RegExp(`lacks the scope ${missing}`))
    }
  }
})

test('OAuth 1.0a permissions, where there are any, override the scopes of OAuth 2.0', async () => {
  const user = await givenUser(app)
  const token = await givenUserToken(app, mine, user, SCOPES)
  const low = await givenOAuth1(app, mine, user, 'read-write')

  const refused = await call('POST', path(), token)
  assert.equal(refused.status, 403)
  assert.match(refused.body.detail, /permission is "read-write"; this call needs "read-write-directmessages"/)
  assert.equal((await call('POST', path(), low.sign('POST', path()))).status, 403)

  await givenOAuth1(app, mine, user)
  const narrow = await givenUserToken(app, mine, user, ['users.read'])
  assert.equal((await call('POST', path(), narrow)).status, 200, 'the permission is enough, whatever the scopes')
})

test('a second subscription is told apart from the first', async () => {
  const { token } = await subscribed()

  const again = await call('POST', path(), token)

  assert.equal(again.status, 400)
  assert.equal(reasonOf(again), 'DuplicateSubscriptionFailed: Subscription already exists')
  assert.match(again.body.type, /\/invalid-request$/)
})

test('at once, a user is subscribed once', async () => {
  const user = await givenUser(app)
  const token = await givenUserToken(app, mine, user, SCOPES)

  const answers = await Promise.all(Array.from({ length: 8 }, () => call('POST', path(), token)))

  assert.deepEqual(answers.map((answer) => answer.status).sort(), [200, 400, 400, 400, 400, 400, 400, 400])
  for (const answer of answers)
    if (answer.status === 400)
      assert.match(reasonOf(answer), /^DuplicateSubscriptionFailed: Subscription already exists$/)
  const { subscriptions } = (await list()).body.data
  assert.equal(subscriptions.filter((each: { user_id: string }) => each.user_id === user.id).length, 1)
})

test('the quota holds, also at once', async () => {
  const small = await givenApp(app, { quotas: { account_activity: 2 } })
  const { id } = await given.webhook(small)
  const tokens = await Promise.all(
    Array.from({ length: 6 }, async () => givenUserToken(app, small, await givenUser(app), SCOPES))
  )

  const answers = await Promise.all(tokens.map((token) => call('POST', path(id), token)))

  assert.equal(answers.filter((answer) => answer.status === 200).length, 2)
  assert.match(
    reasonOf(answers.find((answer) => answer.status === 400)!),
    /^SubscriptionLimitExceeded: this app may have 2 account activity subscriptions and has 2/
  )
  assert.equal((await countOf(small)).provisioned_count, '2')
})

test('lists the users of a webhook in the order in which they came', async () => {
  const second = await given.webhook(mine)
  const users = [(await subscribed(mine, second.id)).user, (await subscribed(mine, second.id)).user]

  assert.deepEqual((await list(second.id)).body, {
    data: {
      application_id: mine.id,
      webhook_id: second.id,
      webhook_url: second.url,
      subscriptions: users.map(({ id }) => ({ user_id: id }))
    }
  })
  const empty = await given.webhook(mine)
  assert.deepEqual((await list(empty.id)).body.data.subscriptions, [])
})

test('counts are text', async () => {
  const counting = await givenApp(app, { name: 'counting' })
  const { id } = await given.webhook(counting)
  const expected = (all: string) => ({
    account_name: 'counting',
    provisioned_count: '5000',
    subscriptions_count_all: all,
    subscriptions_count_direct_messages: '0'
  })

  assert.deepEqual(await countOf(counting), expected('0'))
  await subscribed(counting, id)
  await subscribed(counting, id)
  assert.deepEqual(await countOf(counting), expected('2'))
})

test('the app ends a subscription, once', async () => {
  const { user, token } = await subscribed()

  assert.deepEqual((await remove(user.id)).body, { data: { subscribed: false } })

  assert.deepEqual((await call('GET', path(), token)).body, { data: { subscribed: false } })
  const again = await remove(user.id)
  assert.equal(again.status, 400)
  assert.match(reasonOf(again), /^SubscriptionNotFound: /)
  assert.equal((await call('POST', path(), token)).status, 200, 'and the user may come back')
})

test("another app's webhook, or none, is no webhook of yours", async () => {
  const token = await givenUserToken(app, mine, await givenUser(app), SCOPES)
  const { user } = await subscribed(other, foreign.id)

  for (const id of [foreign.id, '1']) {
    for (const answer of [
      await call('POST', path(id), token),
      await call('GET', path(id), token),
      await list(id),
      await remove(user.id, id)
    ]) {
      assert.equal(answer.status, 400)
      assert.equal(reasonOf(answer), `WebhookIdInvalid: there is no webhook with id ${id} for this app`)
    }
  }
  assert.equal((await list(foreign.id, other)).body.data.subscriptions.length, 1)
})

test('ids that are none are refused', async () => {
  const token = await givenUserToken(app, mine, await givenUser(app), SCOPES)

  for (const answer of [
    await call('POST', path('abc'), token),
    await call('GET', path('abc'), token),
    await list('abc'),
    await remove('ann')
  ]) {
    assert.equal(answer.status, 400)
    assert.match(reasonOf(answer), /is not valid/)
  }
})

test('users subscribe and check, apps list, delete and count; everybody else is told who may', async () => {
  const user = await givenUser(app)
  const oauth2 = await givenUserToken(app, mine, user, SCOPES)
  const userRoutes = [
    ['POST', path()],
    ['GET', path()]
  ] as const
  const appRoutes = [
    ['GET', `${path()}/list`],
    ['DELETE', `/2/account_activity/webhooks/${webhook.id}/subscriptions/${user.id}/all`],
    ['GET', '/2/account_activity/subscriptions/count']
  ] as const

  for (const [method, url] of [...userRoutes, ...appRoutes]) assert.equal((await call(method, url)).status, 401, url)
  for (const [method, url] of userRoutes) {
    const answer = await call(method, url, mine.headers)
    assert.equal(answer.status, 403)
    assert.match(answer.body.type, /\/unsupported-authentication$/)
    assert.match(
      answer.body.detail,
      /Supported authentication types are \[OAuth 1\.0a User Context, OAuth 2\.0 User Context\]/
    )
  }
  for (const [method, url] of appRoutes) {
    const answer = await call(method, url, oauth2)
    assert.equal(answer.status, 403)
    assert.match(answer.body.detail, /Supported authentication types are \[OAuth 2\.0 Application-Only\]/)
  }
})

test('the limits are those of the documents', async () => {
  const token = await givenUserToken(app, mine, await givenUser(app), SCOPES)

  for (const [method, url, headers, limit] of [
    ['POST', path(), token, '500'],
    ['GET', path(), token, '500'],
    ['GET', `${path()}/list`, mine.headers, '50'],
    ['DELETE', `/2/account_activity/webhooks/${webhook.id}/subscriptions/1/all`, mine.headers, '500'],
    ['GET', '/2/account_activity/subscriptions/count', mine.headers, '15']
  ] as const) {
    const response = await app.apps.main.inject({ method, url, headers })
    assert.equal(response.headers['x-rate-limit-limit'], limit, `${method} ${url}`)
  }
})

test('a subscription ends with its webhook', async () => {
  const gone = await given.webhook(mine)
  await subscribed(mine, gone.id)
  const before = Number((await countOf()).subscriptions_count_all)

  await call('DELETE', `/2/webhooks/${gone.id}`, mine.headers)

  assert.equal(Number((await countOf()).subscriptions_count_all), before - 1)
})
