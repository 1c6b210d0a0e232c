import assert from 'node:assert/strict'
import { after, test } from 'node:test'
import { givenApp, givenUser, givenUserToken } from '../../test/given.ts'
import { startReceiving } from '../../test/given-activity.ts'
import { createUser } from '../identity/index.ts'

const given = await startReceiving({ after })
const { app, admin, call, publish } = given
const { db } = app.deps.database
const { by, webhook } = await given.appWithWebhook()
const ann = await givenUser(app)
const bob = await givenUser(app)
const token = await givenUserToken(app, by, ann)

let numbers = 100
const fresh = () => String(++numbers)
async function subscription(
  event_type: string,
  filter: object = { user_id: ann.id },
  webhook_id: string | null = webhook.id
) {
  const headers = /^(dm|like)/.test(event_type) ? token : by.headers
  const { status, body } = await call('POST', '/2/activity/subscriptions', headers, {
    event_type,
    filter,
    ...(webhook_id === null ? {} : { webhook_id })
  })
  assert.equal(status, 200, JSON.stringify(body))
  return body.data.subscription.subscription_id as string
}
const explained = async (query: Record<string, string>) => {
  const { status, body } = await admin('GET', `/activity/explain?${new URLSearchParams(query)}`)
  assert.equal(status, 200, JSON.stringify(body))
  return body.data as {
    matched: boolean
    deliverable: boolean
    summary: string
    product: string
    subscription: unknown
    reasons: { reason: string; sentence: string }[]
  }
}
const reasons = async (query: Record<string, string>) => (await explained(query)).reasons.map(({ reason }) => reason)
const idOf = async (event: object) => (await publish(event))[0]!.id
const post = (text: string, author_id = ann.id, more: object = {}) => ({
  event_type: 'post.create',
  payload: { id: fresh(), text, author_id, ...more }
})

const posts = await subscription('post.create')
const tacos = await subscription('post.create', { user_id: ann.id, keyword: 'tacos' })
const outbound = await subscription('like.create', { user_id: ann.id, direction: 'sent' })

test('says that an event matched and can be delivered', async () => {
  const event_id = await idOf(post('hi'))
  const answer = await explained({ event_id, subscription_id: posts })

  assert.equal(answer.matched, true)
  assert.equal(answer.deliverable, true)
  assert.equal(answer.product, 'activity')
  assert.deepEqual(answer.reasons, [])
  const [, next] = /^The event matched\. \/admin(\S+) says what became of its delivery\.$/.exec(answer.summary)!
  assert.equal(next, `/webhooks/${webhook.id}/why?event_id=${event_id}`)
  assert.equal((await admin('GET', next)).status, 200)
})

test('finds an event by the id that its publisher gave it', async () => {
  await publish({ ...post('hi'), id: 'my own id' })

  assert.equal((await explained({ event_id: 'my own id', subscription_id: posts })).matched, true)
})

test('names the filter that failed', async () => {
  const shy = await createUser(db, { username: 'shy_one', protected: true }, new Date(app.deps.clock.now()))
  const ofShy = await subscription('post.create', { user_id: shy.id })
  const like = {
    event_type: 'like.create',
    user_id: bob.id,
    payload: { liked_tweet_id: '1', liked_tweet_author_id: ann.id }
  }

  for (const [subscription_id, event, expected, sentence] of [
    [
      posts,
      { event_type: 'profile.update.bio', user_id: ann.id, payload: {} },
      'event_type',
      /counts as profile\.update\.bio; the subscription asks for post\.create/
    ],
    [posts, post('hi', bob.id), 'user', new RegExp(`concerns ${bob.id}; the subscription asks for user ${ann.id}`)],
    [outbound, like, 'direction', /the event is inbound; the subscription asks for outbound only/],
    [tacos, post('burgers'), 'keyword', /"tacos"/],
    [ofShy, post('hi', shy.id), 'protected_author', /protects their posts/]
  ] as const) {
    const answer = await explained({ event_id: await idOf(event), subscription_id })
    assert.equal(answer.matched, false)
    assert.equal(answer.deliverable, false)
    assert.deepEqual(
      answer.reasons.map(({ reason }) => reason),
      [expected]
    )
    assert.match(answer.reasons[0]!.sentence, sentence)
    assert.equal(answer.summary, `The event did not match. ${answer.reasons[0]!.sentence}`)
  }
})

test('a subscription that was made afterwards could not have met the event', async () => {
  const event_id = await idOf({ event_type: 'spaces.start', user_id: ann.id, payload: {} })
  await admin('POST', '/clock', { advance: '1s' })
  const later = await subscription('spaces.start')

  const [reason] = (await explained({ event_id, subscription_id: later })).reasons

  assert.equal(reason!.reason, 'subscribed_later')
  assert.match(reason!.sentence, /published at .*Z; the subscription was made afterwards/)
})

test('what another event has told already is not told again', async () => {
  const mentionedToken = await givenUserToken(app, by, bob)
  const { body } = await call('POST', '/2/activity/subscriptions', mentionedToken, {
    event_type: 'post.mention.create',
    filter: { user_id: bob.id },
    webhook_id: webhook.id
  })
  const event = post('hi', ann.id, { entities: { mentions: [{ id: bob.id }] } })
  await publish({ event_type: 'post.mention.create', user_id: bob.id, payload: event.payload })
  const event_id = await idOf(event)

  assert.deepEqual(await reasons({ event_id, subscription_id: body.data.subscription.subscription_id }), [
    'told_before'
  ])
})

test('a matching event without a webhook, or with an invalid one, says so', async () => {
  const streamOnly = await subscription('profile.update.geo', undefined, null)
  const invalid = await given.webhook(by)
  const held = await subscription('profile.update.url', undefined, invalid.id)
  await db
    .updateTable('webhooks')
    .set({ valid: false, invalid_since: new Date(app.deps.clock.now()), invalid_reason: 'WRONG_TOKEN: seen' })
    .where('id', '=', invalid.id)
    .execute()
  const geo = await explained({
    event_id: await idOf({ event_type: 'profile.update.geo', user_id: ann.id, payload: {} }),
    subscription_id: streamOnly
  })
  const url = await explained({
    event_id: await idOf({ event_type: 'profile.update.url', user_id: ann.id, payload: {} }),
    subscription_id: held
  })

  assert.deepEqual([geo.matched, geo.deliverable, geo.reasons[0]!.reason], [true, false, 'no_webhook'])
  assert.deepEqual([url.matched, url.deliverable, url.reasons[0]!.reason], [true, false, 'webhook_invalid'])
  assert.match(url.reasons[0]!.sentence, new RegExp(`WRONG_TOKEN: seen.*PUT /2/webhooks/${invalid.id}`))
})

test('a consent that is gone is named, with what is left', async () => {
  const cy = await givenUser(app)
  const { status, body } = await call(
    'POST',
    '/2/activity/subscriptions',
    await givenUserToken(app, by, cy, ['dm.read']),
    {
      event_type: 'dm.received',
      filter: { user_id: cy.id },
      webhook_id: webhook.id
    }
  )
  assert.equal(status, 200)
  await db
    .updateTable('oauth2_grants')
    .set({ scopes: ['users.read'] })
    .where('user_id', '=', cy.id)
    .execute()
  const event_id = await idOf({ event_type: 'dm.received', user_id: cy.id, payload: { text: 'x' } })

  const [reason] = (await explained({ event_id, subscription_id: body.data.subscription.subscription_id })).reasons

  assert.equal(reason!.reason, 'no_consent')
  assert.match(reason!.sentence, /dm\.received needs the scope dm\.read .*allows the app the scopes users\.read\.$/)
})

test('explains account activity by app and user', async () => {
  const dee = await givenUser(app)
  const four = ['dm.read', 'dm.write', 'tweet.read', 'users.read']
  const events = {
    bio: await idOf({ event_type: 'profile.update.bio', user_id: dee.id, payload: {} }),
    early: await idOf(post('hi', dee.id))
  }
  const query = (event_id: string, user_id = dee.id) => ({ event_id, app_id: by.id, user_id })
  assert.deepEqual(await reasons(query(events.early)), ['no_consent', 'not_subscribed'])
  await admin('POST', '/clock', { advance: '1s' })
  const path = `/2/account_activity/webhooks/${webhook.id}/subscriptions/all`
  assert.equal((await call('POST', path, await givenUserToken(app, by, dee, four))).status, 200)
  const shy = post('@dee', bob.id, { entities: { mentions: [{ id: dee.id }] } })

  assert.deepEqual(await reasons(query(events.early)), ['subscribed_later'])
  assert.deepEqual(await reasons(query(events.bio)), ['event_type', 'subscribed_later'])
  assert.deepEqual(await reasons(query(await idOf(post('hi', bob.id)))), ['user'])
  assert.deepEqual(
    await reasons(query(await idOf({ ...shy, includes: { users: [{ id: bob.id, protected: true }] } }))),
    ['protected_author']
  )
  const like = await explained(
    query(await idOf({ event_type: 'like.create', user_id: dee.id, payload: { liked_tweet_id: '1' } }))
  )
  assert.match(
    like.reasons[0]!.sentence,
    /^favorite_events need the scope like\.read; user \d+ allows the app the scopes dm\.read/
  )
  const good = await explained(query(await idOf(post('hi', dee.id))))
  assert.deepEqual([good.matched, good.deliverable, good.product], [true, true, 'account_activity'])
  assert.deepEqual((good.subscription as { webhook_ids: string[] }).webhook_ids, [webhook.id])
})

test('what does not exist is said, and so is what is missing in the question', async () => {
  const event_id = await idOf(post('hi'))
  const ask = async (query: string) => admin('GET', `/activity/explain?${query}`)

  assert.equal((await ask(`event_id=1&subscription_id=${posts}`)).status, 404)
  const noSubscription = await ask(`event_id=${event_id}&subscription_id=1`)
  assert.equal(noSubscription.status, 404)
  assert.match(noSubscription.body.detail, /does not exist\. It may have been deleted/)
  for (const query of [
    '',
    `event_id=${event_id}`,
    `event_id=${event_id}&app_id=1`,
    `event_id=${event_id}&user_id=1`,
    `event_id=${event_id}&subscription_id=x`,
    `subscription_id=${posts}`
  ])
    assert.equal((await ask(query)).status, 400, query)
  assert.equal(
    (await call('GET', `/admin/activity/explain?event_id=${event_id}&subscription_id=${posts}`, by.headers)).status,
    403
  )
  assert.equal((await call('GET', '/admin/activity/explain?event_id=1')).status, 401)
})

test('operators list the subscriptions of both products, newest first, by app and user', async () => {
  const mine = await given.appWithWebhook()
  const eve = await givenUser(app)
  const eves = await givenUserToken(app, mine.by, eve)
  const path = `/2/account_activity/webhooks/${mine.webhook.id}/subscriptions/all`
  const payload = (event_type: string, user_id: string) => ({ event_type, filter: { user_id }, tag: 'x' })
  await call('POST', '/2/activity/subscriptions', eves, payload('dm.received', eve.id))
  await call('POST', path, eves)
  await call('POST', '/2/activity/subscriptions', mine.by.headers, payload('post.create', ann.id))
  const list = async (query: string) => (await admin('GET', `/activity/subscriptions?${query}`)).body

  const all = await list(`app_id=${mine.by.id}`)
  const summary = all.data.map((row: Record<string, unknown>) => [
    row.product,
    row.event_type,
    row.user_id,
    row.webhook_valid,
    row.consent_user_id
  ])
  assert.deepEqual(summary, [
    ['activity', 'post.create', ann.id, null, null],
    ['account_activity', null, eve.id, true, eve.id],
    ['activity', 'dm.received', eve.id, null, eve.id]
  ])
  assert.equal((await list(`app_id=${mine.by.id}&user_id=${eve.id}`)).data.length, 2)
  assert.equal((await list(`user_id=${eve.id}`)).data.length, 2)
  assert.equal((await list(`app_id=${(await givenApp(app)).id}`)).data.length, 0)

  const first = await list(`app_id=${mine.by.id}&max_results=2`)
  const second = await list(`app_id=${mine.by.id}&max_results=2&pagination_token=${first.meta.next_token}`)
  const back = await list(`app_id=${mine.by.id}&max_results=2&pagination_token=${second.meta.previous_token}`)
  assert.deepEqual([...first.data, ...second.data], all.data)
  assert.deepEqual(back.data, first.data)
  assert.equal((await admin('GET', '/activity/subscriptions?app_id=x')).status, 400)
  assert.equal((await call('GET', '/admin/activity/subscriptions', mine.by.headers)).status, 403)
})
