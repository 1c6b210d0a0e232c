/** One published event, three products, several apps: everyone who asked for it, and nobody else. */
import assert from 'node:assert/strict'
import { createHmac } from 'node:crypto'
import { after, test } from 'node:test'
import { type GivenApp, givenUser, givenUserToken } from '../given.ts'
import { type ReceivingWebhook, reasonOf, startReceiving } from '../given-activity.ts'

const given = await startReceiving({ after })
const { app, admin, call, publish, consumer } = given

interface Client {
  by: GivenApp
  webhook: ReceivingWebhook
}
const client = (): Promise<Client> => given.appWithWebhook()
const ACCOUNT_SCOPES = ['dm.read', 'dm.write', 'tweet.read', 'users.read']

let numbers = 5000
const fresh = () => String(++numbers)

/** Subscribes the client to an event type, by its own token or the user's. */
async function ask(
  { by, webhook }: Client,
  event_type: string,
  filter: object,
  more: { token?: Record<string, string>; tag?: string } = {}
) {
  const { status, body } = await call('POST', '/2/activity/subscriptions', more.token ?? by.headers, {
    event_type,
    filter,
    webhook_id: webhook.id,
    ...(more.tag ? { tag: more.tag } : {})
  })
  assert.equal(status, 200, JSON.stringify(body))
  return body.data.subscription.subscription_id as string
}
const accountPath = ({ webhook }: Client) => `/2/account_activity/webhooks/${webhook.id}/subscriptions`
async function askForAccount(to: Client, user: { id: string }, scopes = ACCOUNT_SCOPES) {
  const { status, body } = await call('POST', `${accountPath(to)}/all`, await givenUserToken(app, to.by, user, scopes))
  assert.equal(status, 200, JSON.stringify(body))
}
const got = ({ webhook }: Client) => webhook.bodies()
const kinds = (to: Client) =>
  got(to)
    .map(
      (body) =>
        body.data?.event_type ?? Object.keys(body).find((key) => key.endsWith('_events')) ?? Object.keys(body)[0]
    )
    .sort()

test('a post reaches each product of each app that asked, in its own shape, and nobody else', async () => {
  const [ann, bob, cy] = [await givenUser(app), await givenUser(app), await givenUser(app)]
  const activity = await client()
  const account = await client()
  const filtered = await client()
  const everything = await client()
  const elsewhere = await client()
  await ask(activity, 'post.create', { user_id: ann.id }, { tag: 'ann posts' })
  await askForAccount(account, bob)
  await call('POST', '/2/tweets/search/stream/rules', filtered.by.headers, { add: [{ value: 'tacos', tag: 'food' }] })
  assert.equal(
    (await call('POST', `/2/tweets/search/webhooks/${filtered.webhook.id}`, filtered.by.headers)).status,
    200
  )
  await ask(everything, 'post.create', { user_id: ann.id })
  await ask(
    everything,
    'post.mention.create',
    { user_id: bob.id },
    { token: await givenUserToken(app, everything.by, bob) }
  )
  await askForAccount(everything, ann)
  await askForAccount(everything, bob)
  await ask(elsewhere, 'post.create', { user_id: cy.id })
  await ask(elsewhere, 'profile.update.bio', { user_id: ann.id })
  await askForAccount(elsewhere, cy)
  await app.drain()
  const payload = {
    id: '1902345678901234567',
    text: `tacos, @${bob.username}?`,
    author_id: ann.id,
    entities: { mentions: [{ start: 7, end: 12, username: bob.username, id: bob.id }] }
  }

  const [published] = await publish({ event_type: 'post.create', payload })

  assert.deepEqual(got(activity), [
    {
      data: {
        event_uuid: published!.id,
        filter: { user_id: ann.id },
        event_type: 'post.create',
        tag: 'ann posts',
        payload
      }
    }
  ])
  assert.equal(got(account).length, 1)
  assert.equal(got(account)[0].for_user_id, bob.id)
  assert.equal(got(account)[0].user_has_blocked, false)
  assert.match(account.webhook.texts()[0]!, /"id":1902345678901234567,"id_str":"1902345678901234567"/)
  assert.equal(got(account)[0].tweet_create_events[0].user.screen_name, ann.username, 'as Herald knows her')
  assert.equal(got(filtered).length, 1)
  assert.equal(got(filtered)[0].data.id, payload.id)
  assert.deepEqual(
    got(filtered)[0].matching_rules.map(({ tag }: { tag: string }) => tag),
    ['food']
  )
  assert.deepEqual(kinds(everything), [
    'post.create',
    'post.mention.create',
    'tweet_create_events',
    'tweet_create_events'
  ])
  assert.deepEqual(
    got(everything)
      .flatMap((body) => body.for_user_id ?? [])
      .sort(),
    [ann.id, bob.id].sort()
  )
  assert.deepEqual(got(elsewhere), [])
})

test("every delivery is signed with its own app's secret", async () => {
  const [one, two] = [await client(), await client()]
  const user = await givenUser(app)
  for (const each of [one, two]) await ask(each, 'profile.update.bio', { user_id: user.id })

  await publish({ event_type: 'profile.update.bio', user_id: user.id, payload: { before: 'ä', after: '🌮' } })

  for (const { by, webhook } of [one, two]) {
    const [request] = consumer.requests.filter((each) => each.method === 'POST' && each.url === webhook.path)
    const expected = createHmac('sha256', by.consumer_secret).update(request!.body).digest('base64')
    assert.equal(request!.headers['x-svc-webhooks-signature'], `sha256=${expected}`)
    assert.equal(request!.headers['content-type'], 'application/json')
  }
})

test('nothing arrives after unsubscribing, whichever way', async () => {
  const [ann, bob] = [await givenUser(app), await givenUser(app)]
  const to = await client()
  const message = () => ({
    event_type: 'dm.sent',
    payload: { id: fresh(), sender_id: ann.id, recipient_id: bob.id, text: 'hi' }
  })
  const token = await givenUserToken(app, to.by, ann)

  const subscription = await ask(to, 'dm.sent', { user_id: ann.id }, { token })
  await askForAccount(to, bob)
  await publish(message())
  assert.deepEqual(kinds(to), ['direct_message_events', 'dm.sent'])

  await call('DELETE', `/2/activity/subscriptions/${subscription}`, to.by.headers)
  await publish(message())
  assert.deepEqual(kinds(to), ['direct_message_events', 'direct_message_events', 'dm.sent'])

  await call('DELETE', `${accountPath(to)}/${bob.id}/all`, to.by.headers)
  await publish(message())
  assert.equal(got(to).length, 3)

  await ask(to, 'dm.sent', { user_id: ann.id }, { token })
  await askForAccount(to, bob)
  await call('DELETE', `/2/webhooks/${to.webhook.id}`, to.by.headers)
  await publish(message())
  assert.equal(got(to).length, 3)
})

test('nothing of a user arrives after they revoke the app, but the word of it', async () => {
  const ann = await givenUser(app)
  const [to, other] = [await client(), await client()]
  for (const each of [to, other]) {
    await ask(each, 'like.create', { user_id: ann.id }, { token: await givenUserToken(app, each.by, ann) })
    await askForAccount(each, ann)
  }
  const like = () => ({ event_type: 'like.create', user_id: ann.id, payload: { liked_tweet_id: fresh() } })
  await publish(like())
  assert.deepEqual(kinds(to), ['favorite_events', 'like.create'])

  await admin('DELETE', `/users/${ann.id}/apps/${to.by.id}`)
  await app.drain()
  await publish(like(), like())

  assert.deepEqual(kinds(to), ['favorite_events', 'like.create', 'oauth.revoke', 'user_event'])
  assert.equal(got(other).length, 6, 'the other app has what it was allowed')
})

test('private events go to the app that their user allowed, and to no other', async () => {
  const [ann, bob] = [await givenUser(app), await givenUser(app)]
  const [allowed, nosy] = [await client(), await client()]
  await ask(allowed, 'dm.received', { user_id: ann.id }, { token: await givenUserToken(app, allowed.by, ann) })
  await ask(nosy, 'dm.received', { user_id: bob.id }, { token: await givenUserToken(app, nosy.by, bob) })
  for (const event_type of ['post.create', 'follow.follow', 'profile.update.bio'])
    await ask(nosy, event_type, { user_id: ann.id })
  for (const headers of [nosy.by.headers, await givenUserToken(app, nosy.by, bob)]) {
    const refused = await call('POST', '/2/activity/subscriptions', headers, {
      event_type: 'dm.received',
      filter: { user_id: ann.id },
      webhook_id: nosy.webhook.id
    })
    assert.equal(refused.status, 403)
  }
  const borrowed = await call(
    'POST',
    '/2/activity/subscriptions',
    await givenUserToken(app, nosy.by, ann, ['users.read']),
    {
      event_type: 'dm.received',
      filter: { user_id: ann.id },
      webhook_id: allowed.webhook.id
    }
  )
  assert.equal(borrowed.status, 403, reasonOf(borrowed))

  await publish({
    event_type: 'dm.received',
    payload: { id: fresh(), sender_id: fresh(), recipient_id: ann.id, text: 'secret' }
  })

  assert.equal(got(allowed).length, 1)
  assert.deepEqual(got(nosy), [])
})

test('who sees which group of account activity is a matter of scopes', async () => {
  const [ann, bob] = [await givenUser(app), await givenUser(app)]
  const [little, more] = [await client(), await client()]
  await askForAccount(little, ann)
  await askForAccount(more, ann, [
    ...ACCOUNT_SCOPES,
    'follow.read',
    'like.read',
    'follows.read',
    'block.read',
    'mute.read'
  ])
  const relation = { source: { id: ann.id }, target: { id: bob.id } }

  await publish(
    { event_type: 'post.create', payload: { id: fresh(), text: 'x', author_id: ann.id } },
    { event_type: 'post.delete', payload: { id: fresh(), author_id: ann.id } },
    { event_type: 'dm.sent', payload: { id: fresh(), sender_id: ann.id, recipient_id: bob.id, text: 'x' } },
    { event_type: 'like.create', user_id: ann.id, payload: { liked_tweet_id: fresh() } },
    { event_type: 'follow.unfollow', payload: relation },
    { event_type: 'block.block', payload: relation },
    { event_type: 'mute.mute', payload: relation }
  )

  assert.deepEqual(kinds(little), ['direct_message_events', 'tweet_create_events', 'tweet_delete_events'])
  assert.deepEqual(kinds(more), [
    'block_events',
    'direct_message_events',
    'favorite_events',
    'follow_events',
    'mute_events',
    'tweet_create_events',
    'tweet_delete_events'
  ])
})

test('two subscribed users of one conversation get one delivery each', async () => {
  const [ann, bob] = [await givenUser(app), await givenUser(app)]
  const to = await client()
  await askForAccount(to, ann)
  await askForAccount(to, bob)

  await publish({ event_type: 'dm.sent', payload: { id: fresh(), sender_id: ann.id, recipient_id: bob.id, text: 'x' } })

  assert.deepEqual(
    got(to)
      .map((body) => body.for_user_id)
      .sort(),
    [ann.id, bob.id].sort()
  )
})

test('what is published twice, under its id or as two sides of one thing, arrives once', async () => {
  const [ann, bob] = [await givenUser(app), await givenUser(app)]
  const to = await client()
  const token = await givenUserToken(app, to.by, bob)
  for (const event_type of ['post.mention.create', 'post.reply.create', 'dm.received'])
    await ask(to, event_type, { user_id: bob.id }, { token })
  await askForAccount(to, bob)
  const reply = (id: string) => ({
    id,
    text: 'hi',
    author_id: ann.id,
    in_reply_to_user_id: bob.id,
    entities: { mentions: [{ id: bob.id, username: bob.username }] }
  })
  const message = { id: fresh(), sender_id: ann.id, recipient_id: bob.id, text: 'x' }
  const [one, two] = [reply(fresh()), reply(fresh())]

  await publish({ event_type: 'post.create', payload: one, id: `story ${one.id}` })
  await publish({ event_type: 'post.create', payload: one, id: `story ${one.id}` })
  await publish({ event_type: 'post.mention.create', user_id: bob.id, payload: one })
  await publish(
    { event_type: 'post.mention.create', user_id: bob.id, payload: two },
    { event_type: 'post.create', payload: two }
  )
  await publish({ event_type: 'dm.sent', payload: message })
  await publish({ event_type: 'dm.received', payload: message })

  assert.deepEqual(kinds(to), [
    'direct_message_events',
    'dm.received',
    'post.mention.create',
    'post.mention.create',
    'post.reply.create',
    'post.reply.create',
    'tweet_create_events',
    'tweet_create_events'
  ])
})

test('directions in all spellings let through one side or both', async () => {
  const [ann, bob] = [await givenUser(app), await givenUser(app)]
  const like = (from: string, author: string) => ({
    event_type: 'like.create',
    user_id: from,
    payload: { liked_tweet_id: fresh(), liked_tweet_author_id: author }
  })
  const typing = { event_type: 'dm.indicate_typing', payload: { sender_id: bob.id, recipient_id: ann.id } }
  const expected = { sent: [1, 0], outbound: [1, 0], received: [1, 1], inbound: [1, 1], both: [2, 1], absent: [2, 1] }
  const clients: [string, Client, number[]][] = []
  for (const [direction, counts] of Object.entries(expected)) {
    const to = await client()
    const token = await givenUserToken(app, to.by, ann)
    const filter = { user_id: ann.id, ...(direction === 'absent' ? {} : { direction }) }
    for (const event_type of ['like.create', 'dm.indicate_typing']) await ask(to, event_type, filter, { token })
    clients.push([direction, to, counts])
  }

  await publish(like(ann.id, bob.id), like(bob.id, ann.id), typing)

  for (const [direction, to, [likes, typed]] of clients) {
    const count = (type: string) => kinds(to).filter((kind) => kind === type).length
    assert.deepEqual([count('like.create'), count('dm.indicate_typing')], [likes, typed], direction)
  }
})

test('a self-like passes every direction, once', async () => {
  const ann = await givenUser(app)
  const to = await client()
  const token = await givenUserToken(app, to.by, ann)
  for (const direction of ['sent', 'received', 'both'])
    await ask(to, 'like.create', { user_id: ann.id, direction }, { token })

  await publish({
    event_type: 'like.create',
    user_id: ann.id,
    payload: { liked_tweet_id: '1', liked_tweet_author_id: ann.id }
  })

  assert.deepEqual(
    got(to)
      .map((body) => body.data.filter.direction)
      .sort(),
    ['both', 'received', 'sent']
  )
})

test('keywords narrow the events of a user, and find news of nobody in particular', async () => {
  const ann = await givenUser(app)
  const to = await client()
  await ask(to, 'post.create', { user_id: ann.id, keyword: 'Taco Truck' })
  await ask(to, 'news.new', { keyword: 'tacos' }, { tag: 'news' })
  await ask(to, 'news.new', { keyword: 'taco shortage' })
  const post = (text: string, author_id = ann.id) => ({
    event_type: 'post.create',
    payload: { id: fresh(), text, author_id }
  })

  await publish(
    post('the taco truck is here'),
    post('a truck of taco'),
    post('taco truck', fresh()),
    { event_type: 'news.new', payload: { id: fresh(), name: 'Tacos!', summary: 'Lunch' } },
    { event_type: 'news.new', payload: { id: fresh(), name: 'Burgers', summary: 'A taco shortage' } },
    { event_type: 'news.new', payload: { id: fresh(), name: 'Rain' } }
  )

  assert.deepEqual(
    got(to)
      .map(
        ({ data }) =>
          `${data.event_type} ${data.filter.keyword} ${data.tag ?? ''}: ${data.payload.text ?? data.payload.name}`
      )
      .sort(),
    [
      'news.new taco shortage : Burgers',
      'news.new tacos news: Tacos!',
      'post.create Taco Truck : the taco truck is here'
    ]
  )
})

test('a subscription that moves to another webhook takes its events along', async () => {
  const ann = await givenUser(app)
  const to = await client()
  const second = await given.webhook(to.by)
  const subscription = await ask(to, 'spaces.start', { user_id: ann.id })
  const start = { event_type: 'spaces.start', user_id: ann.id, payload: { broadcast_id: 'x' } }
  await publish(start)

  await call('PUT', `/2/activity/subscriptions/${subscription}`, to.by.headers, { webhook_id: second.id, tag: 'moved' })
  await publish(start)

  assert.equal(got(to).length, 1)
  assert.equal(second.bodies().length, 1)
  assert.equal(second.bodies()[0].data.tag, 'moved')
})

test('group conversations tell who joined, and a message never who is in them', async () => {
  const [ann, bob] = [await givenUser(app), await givenUser(app)]
  const to = await client()
  await askForAccount(to, ann)
  const inGroup = (event_type: string, more: object) => ({
    event_type: 'dm.received',
    user_id: ann.id,
    payload: {
      id: fresh(),
      event_type,
      sender_id: bob.id,
      dm_conversation_id: '77',
      participant_ids: ['7', '8'],
      ...more
    }
  })

  await publish(
    inGroup('ParticipantsJoin', {}),
    inGroup('ParticipantsLeave', {}),
    inGroup('MessageCreate', { text: 'hi' })
  )

  const elements = got(to).flatMap((body) => body.direct_message_events)
  assert.deepEqual(elements.map(({ type, participant_ids }) => [type, participant_ids]).sort(), [
    ['message_create', undefined],
    ['participants_join', ['7', '8']],
    ['participants_leave', ['7', '8']]
  ])
})
