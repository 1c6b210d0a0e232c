import assert from 'node:assert/strict'
import { after, test } from 'node:test'
import { sql } from 'kysely'
import { type GivenApp, givenApp, givenOAuth1, givenUser, givenUserToken } from '../../test/given.ts'
import { startReceiving } from '../../test/given-activity.ts'
import { openStream } from '../../test/stream.ts'
import { reportRevoked } from '../identity/index.ts'

// One test makes a job fail on purpose, which is worth a warning otherwise.
const given = await startReceiving({ after }, { HERALD_LOG_LEVEL: 'error' })
const { app, admin, call, publish } = given
const { db } = app.deps.database

const SCOPES = ['dm.read', 'dm.write', 'tweet.read', 'users.read']
const accountActivity = (webhookId: string) => `/2/account_activity/webhooks/${webhookId}/subscriptions/all`
const subscribe = async (event_type: string, userId: string, headers: Record<string, string>, webhook_id?: string) => {
  const { status, body } = await call('POST', '/2/activity/subscriptions', headers, {
    event_type,
    filter: { user_id: userId },
    ...(webhook_id ? { webhook_id } : {})
  })
  assert.equal(status, 200, JSON.stringify(body))
}
const types = async (by: GivenApp) =>
  (await call('GET', '/2/activity/subscriptions', by.headers)).body.data
    .map((each: { event_type: string }) => each.event_type)
    .sort()
const revokeAll = async (by: GivenApp, userId: string) => {
  assert.equal((await admin('DELETE', `/users/${userId}/apps/${by.id}`)).body.data.revoked, true)
  await app.drain()
}
const bodiesOf = (webhook: { bodies(): unknown[] }) => JSON.parse(JSON.stringify(webhook.bodies()))

test('when a user revokes everything, what stood on it ends and each webhook is told once', async () => {
  const by = await givenApp(app)
  const [one, two, three] = [await given.webhook(by), await given.webhook(by), await given.webhook(by)]
  const user = await givenUser(app)
  const token = await givenUserToken(app, by, user)
  const { sign } = await givenOAuth1(app, by, user)
  for (const { id } of [one, two]) assert.equal((await call('POST', accountActivity(id), token)).status, 200)
  await subscribe('dm.received', user.id, sign('POST', '/2/activity/subscriptions'), two.id)
  await subscribe('like.create', user.id, token)
  await subscribe('profile.update.bio', user.id, by.headers, three.id)

  await revokeAll(by, user.id)

  const [notice] = bodiesOf(one)
  assert.deepEqual(notice, {
    user_event: {
      revoke: {
        date_time: notice.user_event.revoke.date_time,
        target: { app_id: by.id },
        source: { user_id: user.id }
      }
    }
  })
  assert.match(notice.user_event.revoke.date_time, /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\+00:00$/)
  assert.equal(one.bodies().length, 1)
  const [first, second] = bodiesOf(two).sort((a: object) => ('user_event' in a ? -1 : 1))
  assert.deepEqual(first, notice)
  assert.deepEqual(second, {
    data: {
      event_uuid: second.data.event_uuid,
      filter: {},
      event_type: 'oauth.revoke',
      payload: { date_time: notice.user_event.revoke.date_time, user_id: user.id, app_id: by.id }
    }
  })
  assert.equal(two.bodies().length, 2)
  assert.deepEqual(bodiesOf(three), [second], 'where the app receives activity it hears of it')
  assert.deepEqual(await types(by), ['profile.update.bio'], 'public subscriptions stand on nobody')
  assert.deepEqual((await call('GET', `${accountActivity(one.id)}/list`, by.headers)).body.data.subscriptions, [])
})

test('nothing of the user arrives afterwards, not even before the job has run', async () => {
  const { by, webhook } = await given.appWithWebhook()
  const user = await givenUser(app)
  const token = await givenUserToken(app, by, user)
  assert.equal((await call('POST', accountActivity(webhook.id), token)).status, 200)
  await subscribe('dm.received', user.id, token, webhook.id)
  const message = (id: string) => ({
    event_type: 'dm.received',
    payload: { id, sender_id: '43', recipient_id: user.id, text: 'x' }
  })
  await publish(message('900'))
  assert.equal(webhook.bodies().length, 2)

  // The grant ends and no job says so: as long as a worker is away, the events must stop all the same.
  await db.updateTable('oauth2_grants').set({ revoked_at: new Date() }).where('user_id', '=', user.id).execute()
  await publish(message('901'))

  assert.equal(webhook.bodies().length, 2)
})

test('losing some scopes ends what needed them', async () => {
  const { by, webhook } = await given.appWithWebhook()
  const user = await givenUser(app)
  const likes = await givenUserToken(app, by, user, ['like.read', 'mute.read'])
  const base = await givenUserToken(app, by, user, SCOPES)
  assert.equal((await call('POST', accountActivity(webhook.id), base)).status, 200)
  await subscribe('like.create', user.id, likes, webhook.id)
  await subscribe('mute.mute', user.id, likes)
  await subscribe('dm.received', user.id, base)
  const like = { event_type: 'like.create', user_id: user.id, payload: { liked_tweet_id: '1' } }
  await publish(like)
  assert.equal(webhook.bodies().length, 2, 'to both products')

  const [token] = (await admin('GET', `/tokens?user_id=${user.id}`)).body.data.filter(
    ({ scopes }: { scopes: string[] }) => scopes.includes('like.read')
  )
  assert.equal((await admin('DELETE', `/tokens/${token.id}`)).status, 200)
  await app.drain()
  await publish(like)

  assert.deepEqual(await types(by), ['dm.received'])
  assert.deepEqual((await call('GET', accountActivity(webhook.id), base)).body, { data: { subscribed: true } })
  const told = webhook.bodies().slice(2)
  assert.deepEqual(
    told.map((body) => body.data.event_type),
    ['oauth.revoke']
  )
  await publish({ event_type: 'post.create', payload: { id: '1', text: 'x', author_id: user.id } })
  assert.equal(webhook.bodies().length, 4, 'posts still arrive')
})

test('account activity ends when what is left could not have made it', async () => {
  const { by, webhook } = await given.appWithWebhook()
  const user = await givenUser(app)
  await givenUserToken(app, by, user, ['tweet.read'])
  const { sign, token } = await givenOAuth1(app, by, user)
  assert.equal((await call('POST', accountActivity(webhook.id), sign('POST', accountActivity(webhook.id)))).status, 200)

  assert.equal((await admin('DELETE', `/tokens/${token.id}`)).status, 200)
  await app.drain()

  assert.deepEqual(
    webhook.bodies().map((body) => Object.keys(body)),
    [['user_event']]
  )
  assert.deepEqual((await call('GET', `${accountActivity(webhook.id)}/list`, by.headers)).body.data.subscriptions, [])
})

test('one of two ways to the same permission may go', async () => {
  const { by, webhook } = await given.appWithWebhook()
  const user = await givenUser(app)
  const oauth2 = await givenUserToken(app, by, user)
  const { token } = await givenOAuth1(app, by, user)
  assert.equal((await call('POST', accountActivity(webhook.id), oauth2)).status, 200)
  await subscribe('dm.received', user.id, oauth2, webhook.id)

  assert.equal((await admin('DELETE', `/tokens/${token.id}`)).status, 200)
  await app.drain()

  assert.deepEqual(await types(by), ['dm.received'])
  assert.deepEqual(webhook.bodies(), [])
  assert.deepEqual((await call('GET', accountActivity(webhook.id), oauth2)).body, { data: { subscribed: true } })
})

test('however often a revocation is reported, it is told once; a new one is told again', async () => {
  const { by, webhook } = await given.appWithWebhook()
  const user = await givenUser(app)
  await subscribe('profile.update.bio', user.id, by.headers, webhook.id)
  const again = async () => {
    await givenUserToken(app, by, user)
    await givenOAuth1(app, by, user)
    await revokeAll(by, user.id)
  }
  await again()
  assert.equal(webhook.bodies().length, 1)

  const before = new Date(app.deps.clock.now() - 1000)
  for (const via of ['oauth1', 'oauth2'] as const)
    await reportRevoked(db, { app_id: by.id, user_id: user.id, via }, before)
  await app.drain()
  assert.equal(webhook.bodies().length, 1)

  await admin('POST', '/clock', { advance: '1s' })
  await again()
  assert.equal(webhook.bodies().length, 2)
  assert.notEqual(webhook.bodies()[0].data.event_uuid, webhook.bodies()[1].data.event_uuid)
})

test('the app hears of it on its open stream, and another app does not', async (t) => {
  const [by, other] = [await givenApp(app), await givenApp(app)]
  const user = await givenUser(app)
  await givenUserToken(app, by, user)
  await subscribe('profile.update.bio', user.id, other.headers)
  const { main } = await app.listen()
  const cleanup = { after: (fn: () => Promise<void>) => void t.after(fn) }
  const stream = await openStream(cleanup, `${main}/2/activity/stream`, by.headers)
  const foreign = await openStream(cleanup, `${main}/2/activity/stream`, other.headers)

  await revokeAll(by, user.id)
  await publish({ event_type: 'profile.update.bio', user_id: user.id, payload: {} })

  const [line] = (await stream.received(1)) as { data: { filter: object; event_type: string; payload: object } }[]
  assert.equal(line!.data.event_type, 'oauth.revoke')
  assert.deepEqual(line!.data.filter, {})
  assert.deepEqual(Object.keys(line!.data.payload), ['date_time', 'user_id', 'app_id'])
  const lines = (await foreign.received(1)) as { data: { event_type: string } }[]
  assert.deepEqual(
    lines.map(({ data }) => data.event_type),
    ['profile.update.bio']
  )
})

test('a job that fails half-way has done nothing, and its retry does everything once', async (t) => {
  const { by, webhook } = await given.appWithWebhook()
  const user = await givenUser(app)
  const token = await givenUserToken(app, by, user)
  assert.equal((await call('POST', accountActivity(webhook.id), token)).status, 200)
  await subscribe('dm.received', user.id, token, webhook.id)
  // Fails the first time, at the last thing that ends. A sequence is not rolled back.
  await sql`create sequence tries`.execute(db)
  await sql`create function fail_once() returns trigger language plpgsql as $$ begin
    if nextval('tries') = 1 then raise exception 'the first try fails'; end if; return old; end $$`.execute(db)
  await sql`create trigger fail_once before delete on activity_subscriptions for each row execute function fail_once()`.execute(
    db
  )
  t.after(() => sql`drop function fail_once cascade`.execute(db))

  await revokeAll(by, user.id)
  const inBetween = [webhook.bodies().length, (await types(by)).length]
  await admin('POST', '/clock', { advance: '2s' })

  assert.deepEqual(inBetween, [0, 1])
  assert.deepEqual(
    webhook
      .bodies()
      .map((body) => Object.keys(body)[0])
      .sort(),
    ['data', 'user_event']
  )
  assert.deepEqual(await types(by), [])
})

test("another user's and another app's subscriptions stay", async () => {
  const [a, b] = [await given.appWithWebhook(), await given.appWithWebhook()]
  const [user, neighbour] = [await givenUser(app), await givenUser(app)]
  for (const { by, webhook } of [a, b]) {
    for (const each of [user, neighbour]) {
      const token = await givenUserToken(app, by, each)
      assert.equal((await call('POST', accountActivity(webhook.id), token)).status, 200)
      await subscribe('dm.received', each.id, token, webhook.id)
    }
  }

  await revokeAll(a.by, user.id)

  const users = async ({ by, webhook }: typeof a) =>
    (await call('GET', `${accountActivity(webhook.id)}/list`, by.headers)).body.data.subscriptions.length
  assert.deepEqual([await users(a), await users(b)], [1, 2])
  assert.deepEqual([(await types(a.by)).length, (await types(b.by)).length], [1, 2])
  assert.deepEqual(b.webhook.bodies(), [])
})

test('a token that was revoked cannot subscribe in the moment in which nodes still remember it', async () => {
  const { by, webhook } = await given.appWithWebhook()
  const user = await givenUser(app)
  const token = await givenUserToken(app, by, user)
  assert.equal((await call('GET', accountActivity(webhook.id), token)).status, 200)

  // Behind the back of the authenticator, which remembers the token for some seconds.
  await db.updateTable('oauth2_grants').set({ revoked_at: new Date() }).where('user_id', '=', user.id).execute()
  const account = await call('POST', accountActivity(webhook.id), token)
  const activity = await call('POST', '/2/activity/subscriptions', token, {
    event_type: 'dm.sent',
    filter: { user_id: user.id }
  })

  assert.equal(account.status, 403)
  assert.equal(activity.status, 403)
})
