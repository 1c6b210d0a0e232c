import assert from 'node:assert/strict'
import { after, test } from 'node:test'
import { startApp } from '../../../test/app.ts'
import { givenApp, givenOAuth1, givenUser, givenUserToken } from '../../../test/given.ts'
import { startReceiving } from '../../../test/given-activity.ts'
import { newId } from '../../storage/ids.ts'
import { findPosts } from './posts.ts'

const herald = await startReceiving({ after })
const { app, call } = herald
const { db } = app.deps.database
const by = await givenApp(app)

async function author(input: Parameters<typeof givenUser>[1] = {}) {
  const user = await givenUser(app, { username: `u${newId().slice(-12)}`, ...input })
  const headers = await givenUserToken(app, by, user)
  return {
    user,
    headers,
    post: (payload: object, url = '/2/tweets') => call('POST', url, headers, payload),
    async posted(payload: object) {
      const { status, body } = await call('POST', '/2/tweets', headers, payload)
      assert.equal(status, 201, JSON.stringify(body))
      return body.data.id as string
    }
  }
}

test('creates a post that is told to subscribers and found at once', async () => {
  const { by: reader, webhook } = await herald.appWithWebhook()
  const { user, post } = await author()
  await call('POST', '/2/activity/subscriptions', await givenUserToken(app, reader, user), {
    event_type: 'post.create',
    filter: { user_id: user.id },
    webhook_id: webhook.id
  })
  const text = `fresh${newId()} #news`

  const { status, body } = await post({ text, paid_partnership: true })
  const found = await call('GET', `/2/tweets/search/recent?query=from:${user.id}`, reader.headers)
  await app.drain()

  assert.equal(status, 201)
  assert.deepEqual(body, { data: { id: body.data.id, text, edit_history_tweet_ids: [body.data.id] } })
  assert.deepEqual(found.body.data, [body.data])
  const [{ data }] = webhook.bodies()
  assert.equal(data.event_type, 'post.create')
  assert.equal(data.payload.id, body.data.id)
  assert.equal(data.payload.author_id, user.id)
  assert.equal(data.payload.paid_partnership, true)
  assert.deepEqual(data.payload.entities.hashtags, [{ tag: 'news', start: text.length - 5, end: text.length }])
  assert.equal(data.includes.users[0].username, user.username)
})

test('tells the rules of the filtered stream', async () => {
  const { by: reader, webhook } = await herald.appWithWebhook()
  const word = `stream${newId()}`
  await call('POST', '/2/tweets/search/stream/rules', reader.headers, { add: [{ value: word, tag: 'mine' }] })
  const linked = await call('POST', `/2/tweets/search/webhooks/${webhook.id}`, reader.headers)
  assert.equal(linked.status, 200, JSON.stringify(linked.body))

  const id = await (await author()).posted({ text: `about ${word}` })
  await app.drain()

  assert.equal(webhook.bodies()[0].data.id, id)
  assert.equal(webhook.bodies()[0].matching_rules[0].tag, 'mine')
})

test('tells those whom it mentions, answers or quotes', async () => {
  const { by: reader, webhook } = await herald.appWithWebhook()
  const { user: ann, posted: annPosts } = await author()
  const headers = await givenUserToken(app, reader, ann)
  for (const kind of ['mention', 'reply', 'quote']) {
    const { status, body } = await call('POST', '/2/activity/subscriptions', headers, {
      event_type: `post.${kind}.create`,
      filter: { user_id: ann.id },
      webhook_id: webhook.id
    })
    assert.equal(status, 200, JSON.stringify(body))
  }
  const original = await annPosts({ text: 'first' })
  const { posted } = await author()

  await posted({ text: `hi @${ann.username.toUpperCase()}` })
  const reply = await posted({ text: 'I agree', reply: { in_reply_to_tweet_id: original } })
  await posted({ text: 'look', quote_tweet_id: original })
  await app.drain()

  assert.deepEqual(
    webhook
      .bodies()
      .map(({ data }) => data.event_type)
      .sort(),
    ['post.mention.create', 'post.quote.create', 'post.reply.create']
  )
  const [kept] = await findPosts(db, [reply])
  assert.equal(kept?.payload.conversation_id, original)
  assert.equal(kept?.payload.in_reply_to_user_id, ann.id)
  assert.deepEqual(kept?.payload.referenced_tweets, [{ type: 'replied_to', id: original }])
})

test('puts the people a reply goes to in front of it when asked to', async () => {
  const ann = await author()
  const bob = await author()
  const cy = await author()
  const original = await ann.posted({ text: `@${bob.user.username} @${cy.user.username} hello` })

  const { body } = await cy.post({
    text: 'yes',
    reply: { in_reply_to_tweet_id: original, auto_populate_reply_metadata: true, exclude_reply_user_ids: [bob.user.id] }
  })

  assert.equal(body.data.text, `@${ann.user.username} yes`)
})

test('keeps polls, media, places and settings as they are told', async () => {
  const { posted } = await author()
  const poll = await posted({
    text: 'which?',
    poll: { options: ['a', 'b'], duration_minutes: 60 },
    reply_settings: 'mentionedUsers',
    geo: { place_id: 'abc' },
    community_id: '5',
    share_with_followers: true
  })
  const media = await posted({ media: { media_ids: ['71'], tagged_user_ids: ['5'] } })

  const kept = new Map((await findPosts(db, [poll, media])).map((post) => [post.id, post]))
  const polls = kept.get(poll)?.includes?.polls as { id: string; options: unknown }[]
  assert.deepEqual(polls[0]?.options, [
    { position: 1, label: 'a', votes: 0 },
    { position: 2, label: 'b', votes: 0 }
  ])
  assert.deepEqual(kept.get(poll)?.payload.attachments, { poll_ids: [polls[0]?.id] })
  assert.equal(kept.get(poll)?.payload.reply_settings, 'mentionedUsers')
  assert.deepEqual(kept.get(poll)?.payload.geo, { place_id: 'abc' })
  assert.deepEqual(kept.get(media)?.payload.attachments, { media_keys: ['0_71'] })
})

test('refuses what is no post', async () => {
  const { post } = await author()
  const refused = async (payload: object, message: RegExp) => {
    const { status, body } = await post(payload)
    assert.equal(status, 400, JSON.stringify(payload))
    assert.match(body.errors[0].message, message)
  }
  const poll = { options: ['a', 'b'], duration_minutes: 5 }

  await refused({}, /\$\.text: is missing/)
  await refused({ text: '' }, /text/)
  await refused({ text: '  ' }, /nothing but space/)
  await refused({ text: 'x'.repeat(281) }, /is 281 characters long, the maximum is 280/)
  await refused({ text: '日'.repeat(141) }, /is 282 characters long/)
  await refused({ text: 'x', colour: 'red' }, /colour/)
  await refused({ text: 'x', media: { media_ids: ['1'] }, poll }, /media and poll are mutually exclusive/)
  await refused({ text: 'x', quote_tweet_id: '1', card_uri: 'card://1' }, /quote_tweet_id and card_uri/)
  await refused({ poll }, /\$\.text: is missing/)
  await refused({ text: 'x', poll: { ...poll, options: ['a'] } }, /options/)
  await refused({ text: 'x', poll: { ...poll, options: ['a', 'x'.repeat(26)] } }, /options/)
  await refused({ text: 'x', poll: { ...poll, duration_minutes: 4 } }, /duration_minutes/)
  await refused({ text: 'x', poll: { ...poll, duration_minutes: 10_081 } }, /duration_minutes/)
  await refused({ text: 'x', media: { media_ids: [] } }, /media_ids/)
  await refused({ text: 'x', media: { media_ids: ['1', '2', '3', '4', '5'] } }, /media_ids/)
  await refused({ text: 'x', reply_settings: 'everybody' }, /reply_settings/)
  await refused({ text: 'x', share_with_followers: true }, /needs community_id/)
  await refused({ text: 'x', reply: {} }, /in_reply_to_tweet_id/)
  assert.equal((await post({ text: 'x'.repeat(280) })).status, 201)
})

test('answers and quotes nobody who protects their posts', async () => {
  const hidden = await author({ protected: true })
  const original = await hidden.posted({ text: 'between us' })
  const { post } = await author()

  assert.equal((await post({ text: 'x', reply: { in_reply_to_tweet_id: original } })).status, 403)
  assert.equal((await post({ text: 'x', quote_tweet_id: original })).status, 403)
  assert.equal((await hidden.post({ text: 'x', quote_tweet_id: original })).status, 201)
})

test('lets only those reply whom a post mentions, if it says so', async () => {
  const ann = await author()
  const bob = await author()
  const original = await ann.posted({ text: `@${bob.user.username} only`, reply_settings: 'mentionedUsers' })
  const reply = { text: 'x', reply: { in_reply_to_tweet_id: original } }

  assert.equal((await (await author()).post(reply)).status, 403)
  assert.equal((await bob.post(reply)).status, 201)
  assert.equal((await ann.post(reply)).status, 201)
})

test('takes replies without a summons unless the setting asks for one', async (t) => {
  const strict = await startApp(t, { HERALD_REPLIES_NEED_SUMMONS: '1' }, { beside: app })
  const [ann, bob, cy] = [await author(), await author(), await author()]
  const bobs = await bob.posted({ text: 'mine' })
  const mention = await ann.posted({ text: `@${bob.user.username} come` })
  const quote = await ann.posted({ text: 'this', quote_tweet_id: bobs })
  const reply = async ({ headers }: typeof ann, in_reply_to_tweet_id: string) =>
    (
      await strict.apps.main.inject({
        method: 'POST',
        url: '/2/tweets',
        headers,
        payload: { text: 'x', reply: { in_reply_to_tweet_id } }
      })
    ).statusCode

  assert.equal(await reply(bob, mention), 201)
  assert.equal(await reply(bob, quote), 201)
  assert.equal(await reply(ann, mention), 201)
  assert.equal(await reply(cy, mention), 403)
  assert.equal(await reply(cy, '12345'), 403)
  assert.equal((await cy.post({ text: 'x', reply: { in_reply_to_tweet_id: mention } })).status, 201)
})

test('needs a user who may write, through an app that may', async () => {
  const user = await givenUser(app)
  const elsewhere = await givenApp(app, { products: ['webhooks'] })
  const payload = { text: 'hello' }
  const signed = await givenApp(app, { permissions: 'read-write' })
  const writer = await givenOAuth1(app, signed, user, 'read-write')
  const reader = await givenOAuth1(app, signed, user, 'read')

  assert.equal((await call('POST', '/2/tweets', {}, payload)).status, 401)
  assert.match((await call('POST', '/2/tweets', by.headers, payload)).body.type, /unsupported-authentication$/)
  const unscoped = await givenUserToken(app, by, user, ['tweet.read', 'users.read'])
  const missing = await call('POST', '/2/tweets', unscoped, payload)
  assert.equal(missing.status, 403)
  assert.match(missing.body.detail, /tweet\.write/)
  const forbidden = await call('POST', '/2/tweets', await givenUserToken(app, elsewhere, user), payload)
  assert.match(forbidden.body.type, /client-forbidden$/)
  assert.equal((await call('POST', '/2/tweets', writer.sign('POST', '/2/tweets'), payload)).status, 201)
  assert.equal((await call('POST', '/2/tweets', reader.sign('POST', '/2/tweets'), payload)).status, 403)
})

test('refuses more than a user or an app may post', async (t) => {
  const strict = await startApp(
    t,
    { HERALD_RATE_LIMITS: 'on', HERALD_RATE_LIMIT_OVERRIDES: 'v2.posts.create=2,v2.posts.of_app=3' },
    { beside: app }
  )
  const fresh = await givenApp(app)
  const headers = async () => givenUserToken(app, fresh, await givenUser(app))
  const post = (by: Record<string, string>) =>
    strict.apps.main.inject({ method: 'POST', url: '/2/tweets', headers: by, payload: { text: 'x' } })
  const [ann, bob] = [await headers(), await headers()]

  assert.deepEqual(
    [(await post(ann)).statusCode, (await post(ann)).statusCode, (await post(ann)).statusCode],
    [201, 201, 429]
  )
  assert.equal((await post(bob)).statusCode, 201)
  const refused = await post(bob)
  assert.equal(refused.statusCode, 429)
  assert.equal(refused.headers['x-app-limit-24hour-limit'], '3')
  assert.equal(refused.headers['x-app-limit-24hour-remaining'], '0')
})
