import assert from 'node:assert/strict'
import { after, test } from 'node:test'
import { type GivenApp, givenApp, givenOAuth1, givenUser, givenUserToken } from '../../test/given.ts'
import { reasonOf, startReceiving } from '../../test/given-activity.ts'
import { EVENT_TYPES } from './event-types.ts'
import { DIRECTIONS } from './subscriptions.ts'

const given = await startReceiving({ after })
const { app, call } = given
const mine = await givenApp(app)
const other = await givenApp(app)
const webhook = await given.webhook(mine)
const foreignWebhook = await given.webhook(other)

const PATH = '/2/activity/subscriptions'
let users = 1000
const freshUser = () => String(++users)
const create = (payload: object, headers: Record<string, string> = mine.headers) => call('POST', PATH, headers, payload)
const bio = (more: object = {}) => ({ event_type: 'profile.update.bio', filter: { user_id: freshUser() }, ...more })
async function created(payload: object = bio(), by: GivenApp = mine) {
  const { status, body } = await create(payload, by.headers)
  assert.equal(status, 200, JSON.stringify(body))
  return body.data.subscription
}
const count = async (by: GivenApp = mine) => (await call('GET', PATH, by.headers)).body.meta.total_subscriptions

test('creates a subscription and answers with it and the total', async () => {
  const total = await count()

  const { status, body } = await create(bio({ filter: { user_id: '42' }, tag: 'ann bio', webhook_id: webhook.id }))

  assert.equal(status, 200)
  const { subscription } = body.data
  assert.match(subscription.subscription_id, /^[0-9]{19}$/)
  assert.equal(subscription.created_at, subscription.updated_at)
  assert.match(subscription.created_at, /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z$/)
  assert.deepEqual(body, {
    data: {
      subscription: {
        subscription_id: subscription.subscription_id,
        event_type: 'profile.update.bio',
        filter: { user_id: '42' },
        created_at: subscription.created_at,
        updated_at: subscription.updated_at,
        tag: 'ann bio',
        webhook_id: webhook.id
      },
      total_subscriptions_for_instance_id: total + 1
    },
    meta: { total_subscriptions: total + 1 }
  })
})

test('has tag and webhook only where they were given', async () => {
  assert.deepEqual(Object.keys(await created()).sort(), [
    'created_at',
    'event_type',
    'filter',
    'subscription_id',
    'updated_at'
  ])
})

test('accepts both spellings of a type and echoes the one that was used', async () => {
  for (const event_type of ['profile.update.verified', 'profile.update.affiliate', 'profile.update.verified_badge'])
    assert.equal((await created(bio({ event_type }))).event_type, event_type)
})

test('two spellings of one type and filter are duplicates', async () => {
  const filter = { user_id: freshUser() }
  const first = await created({ event_type: 'profile.update.verified', filter })

  const again = await create({ event_type: 'profile.update.verified_badge', filter })

  assert.equal(again.status, 400)
  assert.match(reasonOf(again), /^DuplicateSubscriptionFailed: /)
  assert.equal(again.body.errors[0].subscription_id, first.subscription_id)
  assert.match(again.body.type, /\/invalid-request$/)
})

test('a duplicate is one also with another tag or webhook, and is none for another app or keyword', async () => {
  const filter = { user_id: freshUser() }
  await created(bio({ filter }))

  assert.match(
    reasonOf(await create(bio({ filter, tag: 'x', webhook_id: webhook.id }))),
    /^DuplicateSubscriptionFailed/
  )
  await created(bio({ filter }), other)
  await created(bio({ filter: { ...filter, keyword: 'tacos' } }))
})

test('the same subscription at once is made once', async () => {
  const payload = bio()

  const answers = await Promise.all(Array.from({ length: 8 }, () => create(payload)))

  assert.deepEqual(answers.map((answer) => answer.status).sort(), [200, 400, 400, 400, 400, 400, 400, 400])
})

test('the quota holds, also at once, and the app can have one of its own', async () => {
  const small = await givenApp(app, { quotas: { subscriptions: 3 } })

  const answers = await Promise.all(Array.from({ length: 8 }, () => create(bio(), small.headers)))

  assert.equal(answers.filter((answer) => answer.status === 200).length, 3)
  assert.match(
    reasonOf(answers.find((answer) => answer.status === 400)!),
    /^SubscriptionLimitExceeded: this app may have 3 subscriptions and has 3/
  )
})

for (const [what, payload, message] of [
  ['no type', { filter: { user_id: '1' } }, /^\$\.event_type: is missing/],
  ['no filter', { event_type: 'profile.update.bio' }, /^\$\.filter: is missing but it is required$/],
  [
    'an empty filter',
    { event_type: 'profile.update.bio', filter: {} },
    /^\$\.filter\.user_id: is missing but it is required/
  ],
  ['a keyword alone', { event_type: 'post.create', filter: { keyword: 'x' } }, /^\$\.filter\.user_id: is missing/],
  ['news without a keyword', { event_type: 'news.new', filter: { user_id: '1' } }, /^\$\.filter\.keyword: is missing/],
  [
    'news of a user',
    { event_type: 'news.new', filter: { keyword: 'x', user_id: '1' } },
    /^\$\.filter\.user_id: news\.new is about nobody/
  ],
  [
    'a keyword without words',
    { event_type: 'news.new', filter: { keyword: '!!' } },
    /^\$\.filter\.keyword: holds no word/
  ],
  [
    'a keyword that is too long',
    { event_type: 'news.new', filter: { keyword: 'x'.repeat(151) } },
    /^\$\.filter\.keyword: may only be 150/
  ],
  ['an unknown filter', bio({ filter: { user_id: '1', mood: 'x' } }), /^\$\.filter\.mood: is not a known property/],
  ['an unknown field', bio({ colour: 'x' }), /^\$\.colour: is not a known property/],
  ['an empty tag', bio({ tag: '' }), /^\$\.tag: must be at least 1/],
  ['a tag that is too long', bio({ tag: 'x'.repeat(201) }), /^\$\.tag: may only be 200/],
  ['a user id that is none', bio({ filter: { user_id: 'ann' } }), /^\$\.filter\.user_id: does not match/],
  [
    'a direction that is none',
    { event_type: 'dm.sent', filter: { user_id: '1', direction: 'up' } },
    /^\$\.filter\.direction: \[up\] is not one of \[sent,received,inbound,outbound,both\]$/
  ],
  [
    'a direction where there is none',
    bio({ filter: { user_id: '1', direction: 'sent' } }),
    /^\$\.filter\.direction: profile\.update\.bio has no direction/
  ],
  [
    'an unknown type',
    bio({ event_type: 'profile.update.mood' }),
    /^\$\.event_type: .*is not known; known are post\.create, /
  ],
  ['a deprecated type', bio({ event_type: 'ProfileBioUpdate' }), /^\$\.event_type: .*renamed to profile\.update\.bio$/],
  ['a webhook that is not there', bio({ webhook_id: '1' }), /^WebhookIdInvalid: /],
  ["another app's webhook", bio({ webhook_id: foreignWebhook.id }), /^WebhookIdInvalid: /]
] as const) {
  test(`refuses ${what}`, async () => {
    const total = await count()

    const answer = await create(payload)

    assert.equal(answer.status, 400)
    assert.match(reasonOf(answer), message)
    assert.equal(await count(), total)
  })
}

test('every public type takes an app token, every private one needs its user', async () => {
  const user = await givenUser(app)
  const all = await givenUserToken(app, mine, user)

  for (const type of EVENT_TYPES) {
    const filter = type.filter === 'keyword' ? { keyword: 'tacos' } : { user_id: user.id }
    const byApp = await create({ event_type: type.name, filter })
    if (type.visibility === 'public') {
      assert.equal(byApp.status, 200, type.name)
      continue
    }
    assert.equal(byApp.status, 403, type.name)
    assert.match(byApp.body.type, /\/unsupported-authentication$/)
    assert.match(
      byApp.body.detail,
      /Supported authentication types are \[OAuth 2\.0 User Context, OAuth 1\.0a User Context\]/
    )
    assert.equal((await create({ event_type: type.name, filter }, all)).status, 200, type.name)
  }
})

test('a private type needs the scope that goes with it', async () => {
  const user = await givenUser(app)

  for (const [event_type, scope] of [
    ['dm.received', 'dm.read'],
    ['chat.sent', 'dm.read'],
    ['like.create', 'like.read'],
    ['mute.mute', 'mute.read'],
    ['block.block', 'block.read'],
    ['post.mention.create', 'tweet.read'],
    ['broadcast.chat', 'broadcast.read']
  ] as const) {
    const payload = { event_type, filter: { user_id: user.id } }
    const without = await create(payload, await givenUserToken(app, mine, user, ['users.read']))
    assert.equal(without.status, 403)
    assert.match(without.body.detail, new RegExp(`needs the scope ${scope}`))
    assert.equal((await create(payload, await givenUserToken(app, mine, user, [scope]))).status, 200, event_type)
  }
})

test('OAuth 1.0a reaches messages with the highest permission only, everything else with any', async () => {
  const user = await givenUser(app)
  const low = await givenOAuth1(app, mine, user, 'read')
  const high = await givenOAuth1(app, mine, user)
  const messages = { event_type: 'dm.received', filter: { user_id: user.id } }

  const refused = await create(messages, low.sign('POST', PATH))
  assert.equal(refused.status, 403)
  assert.match(
    refused.body.detail,
    /needs the OAuth 1\.0a permission "read-write-directmessages"; this token has "read"/
  )
  assert.equal((await create({ ...messages, event_type: 'like.create' }, low.sign('POST', PATH))).status, 200)
  assert.equal((await create(messages, high.sign('POST', PATH))).status, 200)
})

test("nobody subscribes to somebody else's private events", async () => {
  const [user, stranger] = [await givenUser(app), await givenUser(app)]

  const answer = await create(
    { event_type: 'dm.received', filter: { user_id: stranger.id } },
    await givenUserToken(app, mine, user)
  )

  assert.equal(answer.status, 403)
  assert.match(answer.body.detail, new RegExp(`only user ${stranger.id} can subscribe`))
})

test('all spellings of a direction are echoed, and mean one of two or both', async () => {
  const user = await givenUser(app)
  const token = await givenUserToken(app, mine, user)
  const types = ['dm.read', 'dm.indicate_typing', 'chat.received', 'like.create', 'dm.received']

  for (const [i, direction] of Object.keys(DIRECTIONS).entries()) {
    const { status, body } = await create({ event_type: types[i]!, filter: { user_id: user.id, direction } }, token)
    assert.equal(status, 200)
    assert.deepEqual(body.data.subscription.filter, { user_id: user.id, direction })
  }
  for (const [direction, same] of [
    ['sent', 'outbound'],
    ['received', 'inbound'],
    ['both', undefined]
  ]) {
    const filter = { user_id: user.id, ...(direction ? { direction } : {}) }
    assert.equal((await create({ event_type: 'dm.sent', filter }, token)).status, 200)
    const again = await create(
      { event_type: 'dm.sent', filter: { user_id: user.id, ...(same ? { direction: same } : {}) } },
      token
    )
    assert.match(reasonOf(again), /^DuplicateSubscriptionFailed/)
  }
})

test('lists own subscriptions, newest first, in pages', async () => {
  const lonely = await givenApp(app)
  assert.deepEqual((await call('GET', PATH, lonely.headers)).body, {
    data: [],
    meta: { result_count: 0, total_subscriptions: 0 }
  })
  const ids: string[] = []
  for (let i = 0; i < 5; i++) ids.unshift((await created(bio(), lonely)).subscription_id)

  const pages: string[][] = []
  let token = ''
  for (let more = true; more; ) {
    const { body } = await call('GET', `${PATH}?max_results=2${token}`, lonely.headers)
    pages.push(body.data.map((each: { subscription_id: string }) => each.subscription_id))
    assert.equal(body.meta.total_subscriptions, 5)
    more = body.meta.next_token !== undefined
    token = `&pagination_token=${body.meta.next_token}`
  }

  assert.deepEqual(pages, [ids.slice(0, 2), ids.slice(2, 4), ids.slice(4)])
  assert.match(reasonOf(await call('GET', `${PATH}?max_results=1001`, lonely.headers)), /not between 1 and 1000/)
  assert.match(
    reasonOf(await call('GET', `${PATH}?pagination_token=short`, lonely.headers)),
    /^The `pagination_token` query parameter value \[short\] is not valid$/
  )
  assert.match(
    reasonOf(await call('GET', `${PATH}?pagination_token=${'A'.repeat(20)}`, lonely.headers)),
    /pagination_token/
  )
  assert.match(reasonOf(await call('GET', `${PATH}?colour=x`, lonely.headers)), /\[colour\] is not one of/)
})

test('a user sees the subscriptions that are about them, and needs two scopes for it', async () => {
  const user = await givenUser(app)
  const token = await givenUserToken(app, mine, user)
  await created()
  const about = await created(bio({ filter: { user_id: user.id } }))
  await created(bio({ filter: { user_id: user.id } }), other)

  const { body } = await call('GET', PATH, token)

  assert.deepEqual(
    body.data.map((each: { subscription_id: string }) => each.subscription_id),
    [about.subscription_id]
  )
  assert.equal((await call('GET', PATH, await givenUserToken(app, mine, user, ['tweet.read']))).status, 403)
})

test('changes tag and webhook, and nothing else', async () => {
  const { subscription_id } = await created(bio({ tag: 'before' }))
  const url = `${PATH}/${subscription_id}`

  const { status, body } = await call('PUT', url, mine.headers, { tag: 'after', webhook_id: webhook.id })

  assert.equal(status, 200)
  assert.equal(body.data.subscription.tag, 'after')
  assert.equal(body.data.subscription.webhook_id, webhook.id)
  assert.equal(body.data.total_subscriptions, await count())
  assert.match(reasonOf(await call('PUT', url, mine.headers, {})), /send `tag`, `webhook_id` or both/)
  assert.match(
    reasonOf(await call('PUT', url, mine.headers, { filter: { user_id: '1' } })),
    /^\$\.filter: is not a known/
  )
  assert.match(reasonOf(await call('PUT', url, mine.headers, { webhook_id: foreignWebhook.id })), /^WebhookIdInvalid/)
})

test('deletes one, once', async () => {
  const { subscription_id } = await created()
  const total = await count()

  const { status, body } = await call('DELETE', `${PATH}/${subscription_id}`, mine.headers)

  assert.equal(status, 200)
  assert.deepEqual(body, { data: { deleted: true }, meta: { total_subscriptions: total - 1 } })
  assert.match(reasonOf(await call('DELETE', `${PATH}/${subscription_id}`, mine.headers)), /^SubscriptionNotFound: /)
})

test('deletes many, and says which were not there', async () => {
  const [one, two, foreign] = [await created(), await created(), await created(bio(), other)]
  const total = await count()
  const ids = [one.subscription_id, foreign.subscription_id, two.subscription_id, '1']

  const { status, body } = await call('DELETE', `${PATH}?ids=${ids.join(',')}`, mine.headers)

  assert.equal(status, 200)
  assert.deepEqual(body.data, [
    { subscription_id: one.subscription_id, deleted: true },
    { subscription_id: two.subscription_id, deleted: true }
  ])
  assert.deepEqual(
    body.errors.map((error: { subscription_id: string; reason: string }) => [error.subscription_id, error.reason]),
    [
      [foreign.subscription_id, 'SubscriptionNotFound'],
      ['1', 'SubscriptionNotFound']
    ]
  )
  assert.deepEqual(body.meta, { total_subscriptions: total - 2 })
  for (const query of ['', '?ids=', '?ids=x', '?ids=1,1', `?ids=${Array.from({ length: 101 }, (_, i) => i).join(',')}`])
    assert.equal((await call('DELETE', `${PATH}${query}`, mine.headers)).status, 400, query)
})

test("another app's subscription looks like none", async () => {
  const { subscription_id } = await created(bio(), other)

  for (const id of [subscription_id, '1']) {
    const words = (text: string) => text.replace(id, 'ID')
    const put = await call('PUT', `${PATH}/${id}`, mine.headers, { tag: 'x' })
    const gone = await call('DELETE', `${PATH}/${id}`, mine.headers)
    assert.equal(words(reasonOf(put)), 'SubscriptionNotFound: there is no subscription with id ID for this app')
    assert.equal(words(reasonOf(gone)), words(reasonOf(put)))
  }
  assert.equal(await count(other), (await call('GET', PATH, other.headers)).body.data.length)
})

test('wants a token, of the right kind', async () => {
  const user = await givenUserToken(app, mine, await givenUser(app))

  for (const [method, url, payload] of [
    ['POST', PATH, bio()],
    ['GET', PATH],
    ['PUT', `${PATH}/1`, { tag: 'x' }],
    ['DELETE', `${PATH}/1`],
    ['DELETE', `${PATH}?ids=1`]
  ] as const) {
    assert.equal((await call(method, url, {}, payload)).status, 401, `${method} ${url}`)
    if (method === 'POST' || method === 'GET') continue
    const answer = await call(method, url, user, payload)
    assert.equal(answer.status, 403, `${method} ${url}`)
    assert.match(answer.body.type, /\/unsupported-authentication$/)
  }
})

test('a subscription outlives its webhook, for streams', async () => {
  const gone = await given.webhook(mine)
  const { subscription_id } = await created(bio({ webhook_id: gone.id }))

  await call('DELETE', `/2/webhooks/${gone.id}`, mine.headers)

  const { body } = await call('GET', PATH, mine.headers)
  const kept = body.data.find((each: { subscription_id: string }) => each.subscription_id === subscription_id)
  assert.ok(kept)
  assert.equal(kept.webhook_id, undefined)
})
