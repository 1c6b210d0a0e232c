import assert from 'node:assert/strict'
import { after, test } from 'node:test'
import { startApp } from '../../../test/app.ts'
import { type GivenApp, givenApp } from '../../../test/given.ts'
import { openStream } from '../../../test/stream.ts'
import { invalidateAppToken } from '../../identity/index.ts'
import { newId } from '../../storage/ids.ts'

const ENV = { HERALD_STREAM_KEEP_ALIVE: '200ms' }
const a = await startApp({ after }, ENV)
const b = await startApp({ after }, ENV, { beside: a })
const [onA, onB] = [(await a.listen()).main, (await b.listen()).main]

const FILTERED = '/2/tweets/search/stream'
const ACTIVITY = '/2/activity/stream'
const BASE = 'https://herald.example/problems'

async function publish(node: typeof a, ...events: object[]) {
  const answer = await node.apps.main.inject({
    method: 'POST',
    url: '/admin/events',
    headers: { authorization: `Bearer ${node.adminToken}` },
    payload: { events }
  })
  assert.equal(answer.statusCode, 202, answer.body)
  return answer.json().data.map((each: { id: string }) => each.id) as string[]
}

function post(text: string, more: object = {}, includes?: object) {
  const payload = { id: newId(), text, author_id: '42', ...more }
  return { event_type: 'post.create', payload, ...(includes ? { includes } : {}) }
}

const bio = (user_id: string, text: string) => ({
  event_type: 'profile.update.bio',
  user_id,
  payload: { before: '', after: text }
})

const json = { 'content-type': 'application/json' }

async function call(
  node: typeof a,
  { headers }: GivenApp,
  method: 'GET' | 'POST' | 'DELETE',
  url: string,
  body?: object
) {
  const answer = await node.apps.main.inject({
    method,
    url,
    headers: body ? { ...headers, ...json } : headers,
    ...(body ? { payload: JSON.stringify(body) } : {})
  })
  return { status: answer.statusCode, body: answer.json() }
}

async function addRules(node: typeof a, app: GivenApp, ...rules: { value: string; tag?: string }[]): Promise<string[]> {
  const { status, body } = await call(node, app, 'POST', `${FILTERED}/rules`, { add: rules })
  assert.equal(status, 201)
  assert.equal(body.errors, undefined)
  return body.data.map((rule: { id: string }) => rule.id)
}

async function subscribe(node: typeof a, app: GivenApp, user_id: string, tag?: string): Promise<string> {
  const { status, body } = await call(node, app, 'POST', '/2/activity/subscriptions', {
    event_type: 'profile.update.bio',
    filter: { user_id },
    ...(tag ? { tag } : {})
  })
  assert.equal(status, 200, JSON.stringify(body))
  return body.data.subscription.subscription_id
}

const texts = (items: Record<string, unknown>[]) =>
  items.map(
    (item) =>
      (item.data as { text?: string }).text ?? (item as { data: { payload: { after: string } } }).data.payload.after
  )

test('a post published on one node reaches a stream on another, once, with all rules that match', async (t) => {
  const app = await givenApp(a)
  const ids = await addRules(a, app, { value: 'cat', tag: 'cats' }, { value: 'grey cat' }, { value: 'dog' })
  const stream = await openStream(t, onB + FILTERED, app.headers)

  const event = post('a grey cat')
  await publish(a, post('nothing of interest'), event, post('a dog'))
  const [cat, dog] = await stream.received(2)

  assert.equal(stream.status, 200)
  assert.deepEqual(cat, {
    data: { id: event.payload.id, text: 'a grey cat', edit_history_tweet_ids: [event.payload.id] },
    matching_rules: [{ id: ids[0], tag: 'cats' }, { id: ids[1] }]
  })
  assert.deepEqual(dog?.matching_rules, [{ id: ids[2] }])
  assert.ok(!stream.lines.some((line) => line.includes('\n')))
})

test('an answer that streams has the headers of any other', async (t) => {
  const app = await givenApp(a)

  const { status, headers } = await openStream(t, onA + ACTIVITY, app.headers)

  assert.equal(status, 200)
  assert.equal(headers['content-type'], 'application/json')
  assert.equal(headers['transfer-encoding'], 'chunked')
  assert.equal(headers['x-rate-limit-limit'], '450')
  assert.equal(headers['x-rate-limit-remaining'], '449')
  assert.match(headers['x-request-id'] as string, /^[0-9a-f]{16}$/)
  assert.equal(headers['api-version'], '2.166')
  assert.match(headers['cache-control'] as string, /no-store/)
})

test('the fields of posts are those the stream asked for', async (t) => {
  const app = await givenApp(a)
  await addRules(a, app, { value: 'expanded' })
  const stream = await openStream(
    t,
    `${onA}${FILTERED}?tweet.fields=lang,public_metrics,non_public_metrics&expansions=author_id,attachments.media_keys&user.fields=verified`,
    app.headers
  )
  const event = post(
    'expanded',
    {
      lang: 'en',
      source: 'left out',
      non_public_metrics: { impression_count: 9 },
      attachments: { media_keys: ['3_1'] },
      edit_history_tweet_ids: ['1', '2']
    },
    {
      users: [
        { id: '42', name: 'Ann', username: 'ann', verified: true, description: 'left out' },
        { id: '43', name: 'Ben', username: 'ben' }
      ],
      media: [{ media_key: '3_1', type: 'photo', url: 'left out' }],
      tweets: [{ id: '7', text: 'left out' }]
    }
  )

  await publish(b, event)
  const [item] = await stream.received(1)

  const { matching_rules: _, ...sent } = item!
  assert.deepEqual(sent, {
    data: {
      id: event.payload.id,
      text: 'expanded',
      edit_history_tweet_ids: ['1', '2'],
      lang: 'en',
      author_id: '42',
      attachments: { media_keys: ['3_1'] }
    },
    includes: {
      users: [{ id: '42', name: 'Ann', username: 'ann', verified: true }],
      media: [{ media_key: '3_1', type: 'photo' }]
    }
  })
})

test('an activity stream gets the events of the subscriptions of its app, and of no other', async (t) => {
  const [mine, other] = [await givenApp(a), await givenApp(a)]
  const user = newId()
  await subscribe(a, mine, user, 'ann bio')
  await subscribe(b, other, newId())
  const stream = await openStream(t, onB + ACTIVITY, mine.headers)
  const others = await openStream(t, onA + ACTIVITY, other.headers)

  const [, id] = await publish(a, bio(newId(), 'for nobody'), bio(user, 'new'))
  const [item] = await stream.received(1)

  assert.deepEqual(item, {
    data: {
      event_uuid: id,
      filter: { user_id: user },
      event_type: 'profile.update.bio',
      tag: 'ann bio',
      payload: { before: '', after: 'new' }
    }
  })
  await others.receivedLines(others.lines.length + 2)
  assert.deepEqual(others.items, [])
})

test('rules and subscriptions work from the moment they are made to the moment they are deleted', async (t) => {
  const app = await givenApp(a)
  const user = newId()
  const [first] = await addRules(a, app, { value: 'first' })
  const posts = await openStream(t, onB + FILTERED, app.headers)
  const activity = await openStream(t, onB + ACTIVITY, app.headers)

  const subscription = await subscribe(b, app, user)
  await addRules(b, app, { value: 'second' })
  await publish(b, post('first 1'), post('second 1'), bio(user, 'bio 1'))
  await Promise.all([posts.received(2), activity.received(1)])
  await call(b, app, 'POST', `${FILTERED}/rules`, { delete: { ids: [first] } })
  await call(b, app, 'DELETE', `/2/activity/subscriptions/${subscription}`)
  await publish(b, post('first 2'), post('second 2'), bio(user, 'bio 2'))
  await posts.received(3)
  await subscribe(a, app, user)
  await publish(a, bio(user, 'bio 3'))
  await activity.received(2)

  assert.deepEqual(texts(posts.items), ['first 1', 'second 1', 'second 2'])
  assert.deepEqual(texts(activity.items), ['bio 1', 'bio 3'])
})

test('a rule added on one node is in force on the other', async (t) => {
  const app = await givenApp(a)
  await addRules(a, app, { value: 'something' })
  const stream = await openStream(t, onB + FILTERED, app.headers)

  await addRules(a, app, { value: 'elsewhere' })
  // The other node hears of it a moment later; each try asks again.
  for (let n = 0; stream.items.length === 0; n++) {
    assert.ok(n < 100, 'the rule never arrived')
    await publish(a, post(`elsewhere ${n}`))
    await stream.receivedLines(stream.lines.length + 1)
  }

  assert.match(texts(stream.items)[0] as string, /^elsewhere/)
})

test('posts of protected accounts are never streamed', async (t) => {
  const app = await givenApp(a)
  await addRules(a, app, { value: 'secret' })
  const stream = await openStream(t, onB + FILTERED, app.headers)

  await publish(a, post('secret 1', {}, { users: [{ id: '42', protected: true }] }), post('secret 2'))
  await stream.received(1)

  assert.deepEqual(texts(stream.items), ['secret 2'])
})

test('a stream without events gets empty lines', async (t) => {
  const stream = await openStream(t, onA + ACTIVITY, (await givenApp(a)).headers)

  const lines = await stream.receivedLines(3, 5_000)

  assert.deepEqual(lines.slice(0, 3), ['', '', ''])
})

test('without rules there is nothing to connect to', async (t) => {
  const stream = await openStream(t, onA + FILTERED, (await givenApp(a)).headers)

  assert.equal(stream.status, 409)
  assert.match(stream.headers['content-type'] as string, /^application\/problem\+json/)
  const [{ detail, ...problem }] = stream.items as [{ detail: string }]
  assert.deepEqual(problem, {
    title: 'ConnectionException',
    connection_issue: 'RuleConfigurationIssue',
    type: `${BASE}/streaming-connection`,
    status: 409
  })
  assert.match(detail, /POST \/2\/tweets\/search\/stream\/rules/)
})

test('connections are counted over all nodes: one filtered stream, two activity streams', async (t) => {
  const app = await givenApp(a)
  await addRules(a, app, { value: 'cat' })
  const first = await openStream(t, onA + FILTERED, app.headers)
  await openStream(t, onA + ACTIVITY, app.headers)
  await openStream(t, onB + ACTIVITY, app.headers)

  const tooMany = [
    await openStream(t, onB + FILTERED, app.headers),
    await openStream(t, onA + ACTIVITY, app.headers),
    await openStream(t, onB + ACTIVITY, app.headers)
  ]

  for (const { status, items } of tooMany) {
    assert.equal(status, 429)
    const [problem] = items
    assert.equal(problem?.type, `${BASE}/streaming-connection`)
    assert.equal(problem?.title, 'ConnectionException')
    assert.equal(problem?.connection_issue, 'TooManyConnections')
  }
  first.close()
  await connectionsOf(app, 'filtered_stream', 0)
  assert.equal((await openStream(t, onB + FILTERED, app.headers)).status, 200)
})

test('at the same moment, no more connect than may', async (t) => {
  const app = await givenApp(a, { quotas: { activity_stream_connections: 3 } })

  const streams = await Promise.all(
    Array.from({ length: 12 }, (_, n) => openStream(t, (n % 2 ? onA : onB) + ACTIVITY, app.headers))
  )

  assert.equal(streams.filter(({ status }) => status === 200).length, 3)
  assert.equal(streams.filter(({ status }) => status === 429).length, 9)
})

/** Waits until so many are active; what ended on another node is recorded a moment later. */
async function connectionsOf(app: GivenApp, endpoint: string, count: number) {
  for (;;) {
    const { body } = await call(a, app, 'GET', `/2/connections?endpoints=${endpoint}`)
    if (body.data.length === count) return body.data as Record<string, string>[]
    await new Promise((resolve) => setTimeout(resolve, 5))
  }
}

test('lists connections with what is known of them, the ended ones with why', async (t) => {
  const app = await givenApp(a)
  await addRules(a, app, { value: 'cat' })
  const posts = await openStream(t, onA + FILTERED, app.headers)
  await openStream(t, onB + ACTIVITY, app.headers)

  const active = await call(b, app, 'GET', '/2/connections')
  const some = await call(b, app, 'GET', '/2/connections?endpoints=activity_stream&connection.fields=endpoint_name')
  posts.close()
  await connectionsOf(app, 'filtered_stream', 0)
  const inactive = await call(a, app, 'GET', '/2/connections?status=inactive')
  const all = await call(a, app, 'GET', '/2/connections?status=all&max_results=1')
  const next = await call(
    a,
    app,
    'GET',
    `/2/connections?status=all&max_results=1&pagination_token=${all.body.meta.next_token}`
  )

  assert.equal(active.status, 200)
  assert.deepEqual(
    active.body.data.map((each: { endpoint_name: string }) => each.endpoint_name),
    ['activity_stream', 'filtered_stream']
  )
  assert.deepEqual(Object.keys(active.body.data[0]).sort(), ['client_ip', 'connected_at', 'endpoint_name', 'id'])
  assert.equal(active.body.data[0].client_ip, '127.0.0.1')
  assert.match(active.body.data[0].id, /^[0-9a-f-]{36}$/)
  assert.equal(active.body.meta.result_count, 2)
  assert.deepEqual(some.body.data, [{ endpoint_name: 'activity_stream' }])
  assert.equal(inactive.body.data.length, 1)
  assert.equal(inactive.body.data[0].disconnect_reason, 'client_disconnect')
  assert.match(inactive.body.data[0].disconnected_at, /Z$/)
  assert.equal(all.body.data[0].endpoint_name, 'activity_stream')
  assert.equal(next.body.data[0].endpoint_name, 'filtered_stream')
  for (const query of ['status=gone', 'endpoints=nothing', 'max_results=101', 'connection.fields=ip'])
    assert.equal((await call(a, app, 'GET', `/2/connections?${query}`)).status, 400, query)
})

test('ends connections on any node, and tells their clients why', async (t) => {
  const app = await givenApp(a, { quotas: { activity_stream_connections: 5 } })
  await addRules(a, app, { value: 'cat' })
  const posts = await openStream(t, onB + FILTERED, app.headers)
  const one = await openStream(t, onB + ACTIVITY, app.headers)
  const [{ id }] = (await connectionsOf(app, 'activity_stream', 1)) as [{ id: string }]
  const two = await openStream(t, onA + ACTIVITY, app.headers)
  const bystander = await openStream(t, onB + ACTIVITY, (await givenApp(a)).headers)

  const byId = await call(a, app, 'DELETE', '/2/connections', { uuids: [id, 'ffff'] })
  await one.ended()
  const byEndpoint = await call(a, app, 'DELETE', '/2/connections/filtered_stream')
  await posts.ended()
  const all = await call(b, app, 'DELETE', '/2/connections/all')
  await two.ended()

  assert.deepEqual(byId.body.data, {
    successful_kills: 1,
    failed_kills: 1,
    results: [
      { uuid: id, success: true },
      { uuid: 'ffff', success: false, error_message: 'Connection not found' }
    ]
  })
  assert.equal(byEndpoint.body.data.successful_kills, 1)
  assert.equal(all.body.data.successful_kills, 1)
  for (const stream of [one, posts, two]) {
    const { errors } = stream.items.at(-1) as { errors: [Record<string, string>] }
    assert.equal(errors[0].type, `${BASE}/operational-disconnect`)
    assert.equal(errors[0].disconnect_type, 'ForceDisconnect')
    assert.equal(errors[0].title, 'operational-disconnect')
  }
  const { body } = await call(a, app, 'GET', '/2/connections?status=inactive')
  assert.deepEqual(
    body.data.map((each: { disconnect_reason: string }) => each.disconnect_reason),
    Array(3).fill('operator_disconnect')
  )
  await bystander.receivedLines(bystander.lines.length + 1)
  assert.equal((await call(a, app, 'DELETE', '/2/connections/elsewhere')).status, 400)
  assert.equal((await call(a, app, 'DELETE', '/2/connections', { uuids: [] })).status, 400)
  assert.deepEqual((await call(a, app, 'DELETE', '/2/connections/all')).body.data.results, [])
})

test("cannot end another app's connection", async (t) => {
  const [mine, other] = [await givenApp(a), await givenApp(a)]
  const stream = await openStream(t, onA + ACTIVITY, other.headers)
  const [{ id }] = (await connectionsOf(other, 'activity_stream', 1)) as [{ id: string }]

  const { body } = await call(a, mine, 'DELETE', '/2/connections', { uuids: [id] })

  assert.equal(body.data.results[0].error_message, 'Connection not found')
  await stream.receivedLines(stream.lines.length + 1)
})

test('a stream ends with the token that opened it', async (t) => {
  const app = await givenApp(a)
  const stream = await openStream(t, onB + ACTIVITY, app.headers)
  const bystander = await openStream(t, onB + ACTIVITY, (await givenApp(a)).headers)

  await invalidateAppToken(a.deps.database.db, app.id, app.bearer, new Date())
  await stream.ended()

  const { errors } = stream.items.at(-1) as { errors: [Record<string, string>] }
  assert.equal(errors[0].disconnect_type, 'ForceDisconnect')
  assert.match(errors[0].detail as string, /no longer valid/)
  await bystander.receivedLines(bystander.lines.length + 1)
})

test('backfill sends the past first, then goes on', async (t) => {
  const app = await givenApp(a)
  await addRules(a, app, { value: 'story' })
  const user = newId()
  await subscribe(a, app, user)
  await publish(a, post('story 0'), bio(user, 'bio 0'))
  await advance(3)
  await publish(a, post('story 1'), post('other'), bio(user, 'bio 1'))
  await publish(b, post('story 2'), bio(user, 'bio 2'))

  const posts = await openStream(t, `${onB}${FILTERED}?backfill_minutes=2`, app.headers)
  const activity = await openStream(t, `${onB}${ACTIVITY}?backfill_minutes=2`, app.headers)
  const all = await openStream(t, `${onB}${ACTIVITY}?backfill_minutes=5`, app.headers)
  await publish(a, post('story 3'), bio(user, 'bio 3'))
  await Promise.all([posts.received(3), activity.received(3), all.received(4)])

  assert.deepEqual(texts(posts.items), ['story 1', 'story 2', 'story 3'])
  assert.deepEqual(texts(activity.items), ['bio 1', 'bio 2', 'bio 3'])
  assert.deepEqual(texts(all.items), ['bio 0', 'bio 1', 'bio 2', 'bio 3'])
})

/** Both nodes follow the same clock. */
async function advance(minutes: number) {
  for (const node of [a, b]) (node.deps.clock as { offsetMs?: number }).offsetMs! += minutes * 60_000
}

test('a range of the past is sent, oldest first, and then the stream ends', async (t) => {
  const app = await givenApp(a)
  await addRules(a, app, { value: 'history' })
  const at = () => new Date(a.deps.clock.now()).toISOString()
  await publish(a, post('history 0'))
  await advance(1)
  const start = at()
  for (let page = 0; page < 3; page++)
    await publish(a, ...Array.from({ length: 200 }, (_, n) => post(`history ${page * 200 + n + 1}`)), post('other'))
  await advance(60)
  await publish(a, post('history 601'))
  await advance(1)
  const end = at()
  await publish(a, post('history 602'))
  const live = await openStream(t, onA + FILTERED, app.headers)
  const range = `${onA}${FILTERED}?start_time=${start}&end_time=${end}`

  const stream = await openStream(t, range, app.headers)
  await stream.ended()

  assert.equal(live.status, 200)
  assert.equal(stream.status, 200)
  const sent = texts(stream.items).map((text) => Number(text.split(' ')[1]))
  assert.equal(sent.length, 601)
  assert.deepEqual(new Set(sent), new Set(Array.from({ length: 601 }, (_, n) => n + 1)))
  // In the order of publishing; those of one call have one time.
  assert.deepEqual(
    sent.map((n) => Math.ceil(n / 200)),
    sent.map((n) => Math.ceil(n / 200)).sort((x, y) => x - y)
  )
  await connectionsOf(app, 'filtered_stream', 1)
  const { body } = await call(a, app, 'GET', '/2/connections?status=inactive')
  assert.equal(body.data[0].disconnect_reason, 'recovery_complete')
})

test('refuses times that make no sense', async (t) => {
  const app = await givenApp(a)
  await addRules(a, app, { value: 'cat' })
  const at = (hours: number) => new Date(a.deps.clock.now() + hours * 3_600_000).toISOString()

  for (const query of [
    'backfill_minutes=6',
    'backfill_minutes=-1',
    'backfill_minutes=x',
    `start_time=${at(-25)}`,
    `start_time=${at(1)}`,
    `start_time=${at(-1)}&end_time=${at(1)}`,
    `start_time=${at(-1)}&end_time=${at(-2)}`,
    `start_time=${at(-1)}&backfill_minutes=2`,
    `end_time=${at(-1)}`,
    'start_time=yesterday',
    'start_time=2026-01-15',
    'unknown=1'
  ]) {
    for (const url of [onA + FILTERED, onA + ACTIVITY]) {
      const stream = await openStream(t, `${url}?${query}`, app.headers)
      assert.equal(stream.status, 400, query)
      assert.equal(stream.items[0]?.type, `${BASE}/invalid-request`)
    }
  }
  assert.equal((await openStream(t, `${onA}${ACTIVITY}?tweet.fields=lang`, app.headers)).status, 400)
  assert.equal((await openStream(t, `${onA}${FILTERED}?tweet.fields=nothing`, app.headers)).status, 400)
})

test('needs an app-only token', async (t) => {
  for (const url of [onA + FILTERED, onA + ACTIVITY]) assert.equal((await openStream(t, url, {})).status, 401)
  for (const [method, url] of [
    ['GET', '/2/connections'],
    ['DELETE', '/2/connections'],
    ['DELETE', '/2/connections/all'],
    ['DELETE', '/2/connections/filtered_stream']
  ] as const)
    assert.equal((await a.apps.main.inject({ method, url })).statusCode, 401)
})
