import assert from 'node:assert/strict'
import { after, test } from 'node:test'
import { sql } from 'kysely'
import { givenApp } from '../../test/given.ts'
import { reasonOf, startReceiving } from '../../test/given-activity.ts'
import { createUser } from '../identity/index.ts'
import { EVENT_TYPE_NAMES } from './event-types.ts'

const given = await startReceiving({ after })
const { app, admin, call, publish } = given
const { db } = app.deps.database
const bio = (more: object = {}) => ({
  event_type: 'profile.update.bio',
  user_id: '42',
  payload: { before: 'a', after: 'b' },
  ...more
})
const post = (id: string, more: object = {}) => ({
  event_type: 'post.create',
  payload: { id, text: 'hi', author_id: '42', ...more }
})
let numbers = 700
const fresh = () => String(++numbers)
const countEvents = async () =>
  Number((await sql<{ count: bigint }>`select count(*) as count from events`.execute(db)).rows[0]!.count)
const refused = async (...events: object[]) => {
  const before = await countEvents()
  const answer = await admin('POST', '/events', { events })
  assert.equal(answer.status, 400, JSON.stringify(answer.body))
  assert.match(answer.body.type, /\/invalid-request$/)
  assert.equal(await countEvents(), before, 'nothing may be published')
  return answer.body.errors.map((error: { message: string }) => error.message) as string[]
}

test('answers 202 with an id for each event, which then can be read as it was published', async () => {
  const { status, body } = await admin('POST', '/events', {
    events: [bio({ occurred_at: '2026-06-22T12:00:00+02:00', includes: { users: [{ id: '42' }] } }), bio()]
  })

  assert.equal(status, 202)
  assert.equal(body.data.length, 2)
  assert.deepEqual(body.meta, { result_count: 2, duplicates: 0 })
  const read = await admin('GET', `/events/${body.data[0].id}`)
  assert.deepEqual(
    { ...read.body.data, created_at: undefined },
    {
      id: body.data[0].id,
      event_type: 'profile.update.bio',
      user_id: '42',
      payload: { before: 'a', after: 'b' },
      includes: { users: [{ id: '42' }] },
      occurred_at: '2026-06-22T10:00:00.000Z',
      created_at: undefined
    }
  )
  assert.equal((await admin('GET', '/events/1')).status, 404)
})

test('needs the admin token', async () => {
  const { headers } = await givenApp(app)

  assert.equal((await call('POST', '/admin/events', {}, { events: [bio()] })).status, 401)
  assert.equal((await call('POST', '/admin/events', headers, { events: [bio()] })).status, 403)
  assert.equal((await call('GET', '/admin/events/1', headers)).status, 403)
})

for (const id of ['a name', '1902345678901234567']) {
  test(`the same id again does nothing: ${id}`, async () => {
    const [first] = await publish(bio({ id }))
    const before = await countEvents()

    const again = await publish(bio({ id }), bio({ id, payload: { before: 'x', after: 'y' } }), bio())

    assert.deepEqual(
      again.map((each) => each.duplicate),
      [true, true, false]
    )
    assert.deepEqual([again[0]!.id, again[1]!.id], [first!.id, first!.id])
    assert.equal(await countEvents(), before + 1)
    assert.equal((await admin('GET', `/events/${encodeURIComponent(id)}`)).body.data.id, first!.id)
  })
}

test('the same id twice in one call, or in many calls at once, is published once', async () => {
  const before = await countEvents()

  const inOne = await publish(bio({ id: 'twice' }), bio({ id: 'twice' }))
  const atOnce = await Promise.all(Array.from({ length: 8 }, () => publish(bio({ id: 'at once' }))))

  assert.deepEqual(
    inOne.map((each) => each.duplicate),
    [false, true]
  )
  assert.equal(inOne[0]!.id, inOne[1]!.id)
  assert.equal(atOnce.flat().filter((each) => !each.duplicate).length, 1)
  assert.equal(new Set(atOnce.flat().map((each) => each.id)).size, 1)
  assert.equal(await countEvents(), before + 2)
})

test('a mention that a post has told is a duplicate, and the other way round', async () => {
  const mentions = { entities: { mentions: [{ id: '43' }] } }
  const [one, two] = [fresh(), fresh()]
  const mention = (id: string) => ({ ...post(id, mentions), event_type: 'post.mention.create', user_id: '43' })

  const [told] = await publish(post(one, mentions))
  const [again] = await publish(mention(one))
  const [first] = await publish(mention(two))
  const [whole] = await publish(post(two, mentions))

  assert.deepEqual(again, { id: told!.id, duplicate: true })
  assert.equal(first!.duplicate, false)
  assert.equal(whole!.duplicate, false, 'the post itself is news')
})

test('a duplicate takes nothing away from what comes after it', async () => {
  const id = fresh()
  await publish({ ...post(id), id: `post ${id}` })

  // The same event again, now with a mention, beside that mention on its own: the first is a duplicate, the second is not.
  const changed = { ...post(id, { entities: { mentions: [{ id: '43' }] } }), id: `post ${id}` }
  const mention = { ...post(id), event_type: 'post.mention.create', user_id: '43' }
  const [again] = await publish(changed)
  const [one] = await publish(mention)
  const [both, third] = await publish(changed, mention)

  assert.equal(again!.duplicate, true)
  assert.equal(one!.duplicate, false)
  assert.deepEqual([both!.duplicate, third!.duplicate], [true, true])
  assert.equal(third!.id, one!.id)
})

test('names of messages meet from both sides at once without a deadlock', async () => {
  const pairs = Array.from({ length: 40 }, () => {
    const payload = { id: fresh(), sender_id: '42', recipient_id: '43', text: 'x' }
    return [
      { event_type: 'dm.sent', payload },
      { event_type: 'dm.received', payload }
    ] as const
  })

  const answers = await Promise.all([
    ...pairs.map(([sent]) => publish(sent)),
    ...pairs.map(([, received]) => publish(received)),
    publish(...pairs.map(([sent]) => sent)),
    publish(...pairs.map(([, received]) => received).reverse())
  ])

  assert.equal(answers.flat().filter((each) => !each.duplicate).length, 40)
})

test('keeps every digit of a number', async () => {
  const response = await app.apps.main.inject({
    method: 'POST',
    url: '/admin/events',
    headers: { authorization: `Bearer ${app.adminToken}`, 'content-type': 'application/json' },
    payload:
      '{"events":[{"event_type":"spaces.start","user_id":"42","payload":{"n":[9007199254740993,{"m":-1902345678901234567}]}}]}'
  })
  const { id } = response.json().data[0]

  const read = await app.apps.main.inject({
    url: `/admin/events/${id}`,
    headers: { authorization: `Bearer ${app.adminToken}` }
  })

  assert.match(read.body, /"n":\[9007199254740993,\{"m":-1902345678901234567\}\]/)
})

test('1,000 events fit into a call and 1,001 do not', async () => {
  const before = await countEvents()

  const published = await publish(...Array.from({ length: 1000 }, () => bio()))
  const tooMany = await admin('POST', '/events', { events: Array.from({ length: 1001 }, () => bio()) })

  assert.equal(new Set(published.map((each) => each.id)).size, 1000)
  assert.equal(tooMany.status, 400)
  assert.match(reasonOf(tooMany), /\$\.events.*1000/)
  assert.equal(await countEvents(), before + 1000)
})

const ndjson = (text: string) =>
  app.apps.main.inject({
    method: 'POST',
    url: '/admin/events',
    headers: { authorization: `Bearer ${app.adminToken}`, 'content-type': 'application/x-ndjson' },
    payload: text
  })

test('NDJSON takes any number of lines', async () => {
  const lines = Array.from({ length: 1201 }, (_, i) => JSON.stringify(bio({ id: `line ${i}` })))

  const response = await ndjson(`${lines.join('\n')}\n\n`)

  assert.equal(response.statusCode, 202, response.body)
  assert.deepEqual(response.json().meta, { result_count: 1201, duplicates: 0 })
})

test('one bad line and nothing is published, however far down it is', async () => {
  const before = await countEvents()
  const good = Array.from({ length: 1100 }, () => JSON.stringify(bio()))

  const malformed = await ndjson([...good, '{"event_type":'].join('\n'))
  const unknown = await ndjson([...good, '', JSON.stringify(bio({ event_type: 'x.y' }))].join('\n'))

  assert.equal(malformed.statusCode, 400)
  assert.match(malformed.json().errors[0].message, /^line 1101: .*not valid JSON/)
  assert.match(unknown.json().errors[0].message, /^line 1102: \$\.event_type: the event type x\.y is not known/)
  assert.equal(await countEvents(), before)
})

test('an unknown type is refused with the list of those that are known', async () => {
  const [message] = await refused(bio(), bio({ event_type: 'profile.update.mood' }))

  assert.match(message!, /^\$\.events\[1\]\.event_type: the event type profile\.update\.mood is not known; known are /)
  for (const name of EVENT_TYPE_NAMES) assert.ok(message!.includes(name), name)
  assert.match((await refused(bio({ event_type: 'constructor' })))[0]!, /is not known/)
})

test('deprecated names are answered with what they are called now', async () => {
  assert.deepEqual(await refused(bio({ event_type: 'ProfileBioUpdate' })), [
    '$.events[0].event_type: the event type ProfileBioUpdate was renamed to profile.update.bio'
  ])
  assert.match((await refused(bio({ event_type: 'PostCreate' })))[0]!, /dot-separated lower-case names/)
})

test('both spellings of a type are one type', async () => {
  const [one] = await publish(bio({ event_type: 'profile.update.verified' }))

  assert.equal((await admin('GET', `/events/${one!.id}`)).body.data.event_type, 'profile.update.verified_badge')
})

for (const [what, event, message] of [
  [
    'no payload',
    { event_type: 'profile.update.bio', user_id: '42' },
    '$.events[0].payload: is missing but it is required'
  ],
  ['no type', { user_id: '42', payload: {} }, '$.events[0].event_type: is missing but it is required'],
  ['an unknown field', bio({ user: '42' }), '$.events[0].user: is not a known property here'],
  ['a user that is none', bio({ user_id: 'ann' }), '$.events[0].user_id: does not match ^[0-9]{1,19}$'],
  ['no user', bio({ user_id: undefined }), '$.events[0].user_id: is missing but it is required for profile.update.bio'],
  [
    'a mention of nobody',
    { ...post('1'), event_type: 'post.mention.create' },
    '$.events[0].user_id: is missing but it is required for post.mention.create'
  ],
  [
    'a payload of another type',
    bio({ payload: { before: 1 } }),
    '$.events[0].payload.before: integer found, string expected (profile.update.bio)'
  ],
  [
    'a post without text',
    { event_type: 'post.create', payload: { id: '1', author_id: '42' } },
    '$.events[0].payload.text: is missing but it is required (post.create)'
  ],
  [
    'includes that are no list',
    bio({ includes: { users: 'ann' } }),
    '$.events[0].includes.users: string found, array expected'
  ],
  [
    'another author than user',
    { ...post('1'), user_id: '43' },
    '$.events[0].user_id: is 43, but by its payload this post.create is about user 42'
  ],
  [
    'a message of somebody else',
    { event_type: 'dm.received', user_id: '44', payload: { sender_id: '42', recipient_id: '43' } },
    '$.events[0].user_id: is 44, but by its payload this dm.received is about user 43'
  ],
  [
    'a block told to the blocked',
    { event_type: 'block.block', user_id: '43', payload: { source: { id: '42' }, target: { id: '43' } } },
    '$.events[0].user_id: is 43, but by its payload this block.block is about user 42'
  ],
  ...['yesterday', '2026-13-01T00:00:00Z', '2026-06-22', '99999-01-01T00:00:00Z'].map(
    (occurred_at) =>
      [
        `the time ${occurred_at}`,
        bio({ occurred_at }),
        '$.events[0].occurred_at: is not an ISO 8601 time such as 2026-06-22T10:00:00.000Z'
      ] as const
  )
] as const) {
  test(`refuses ${what}`, async () => {
    assert.deepEqual(await refused(event), [message])
  })
}

test('refuses bodies that hold no events', async () => {
  for (const payload of [{}, { events: [] }, { events: 'x' }, { events: [bio()], more: 1 }, []])
    assert.equal((await admin('POST', '/events', payload)).status, 400, JSON.stringify(payload))
  assert.equal((await ndjson('\n\n')).statusCode, 400)
  assert.equal((await admin('POST', '/events')).status, 400)
})

test('payloads with anything in unexpected places are published or refused, never a fault of ours', async () => {
  const odd = [null, 5, 'x', [], [null], [[]], {}, { id: 5 }, [{ id: null }], { data: null }]
  for (const value of odd) {
    for (const key of [
      'entities',
      'referenced_tweets',
      'in_reply_to_user_id',
      'note_tweet',
      'created_at',
      'geo',
      'source'
    ])
      assert.ok(
        [202, 400].includes((await admin('POST', '/events', { events: [post(fresh(), { [key]: value })] })).status),
        key
      )
  }
  for (const value of odd) {
    for (const key of [
      'direct_message_events',
      'users',
      'target',
      'dm_conversation_id',
      'participant_ids',
      'message_create'
    ]) {
      const payload = { sender_id: '42', [key]: value }
      const { status } = await admin('POST', '/events', {
        events: [{ event_type: 'dm.received', user_id: '43', payload }]
      })
      assert.ok([202, 400].includes(status), `${key} ${JSON.stringify(value)}`)
    }
  }
})

test('every event of a large call reaches its subscriber once', async () => {
  const { by, webhook } = await given.appWithWebhook()
  const subscribe = await call('POST', '/2/activity/subscriptions', by.headers, {
    event_type: 'spaces.start',
    filter: { user_id: '4200' },
    webhook_id: webhook.id
  })
  assert.equal(subscribe.status, 200)

  await publish(
    ...Array.from({ length: 120 }, (_, i) => ({ event_type: 'spaces.start', user_id: '4200', payload: { i } }))
  )

  assert.deepEqual(
    webhook
      .bodies()
      .map((body) => body.data.payload.i)
      .sort((a, b) => a - b),
    Array.from({ length: 120 }, (_, i) => i)
  )
})

test('a protected author is known from the event or from what Herald knows of the user', async () => {
  const { by, webhook } = await given.appWithWebhook()
  const now = new Date(app.deps.clock.now())
  await createUser(db, { id: '4301', username: 'shy', protected: true }, now)
  for (const user_id of ['4301', '4302'])
    await call('POST', '/2/activity/subscriptions', by.headers, {
      event_type: 'post.create',
      filter: { user_id },
      webhook_id: webhook.id
    })
  const of = (author_id: string, text: string, users?: object[]) => ({
    event_type: 'post.create',
    payload: { id: fresh(), text, author_id },
    ...(users ? { includes: { users } } : {})
  })

  await publish(
    of('4301', 'known as protected'),
    of('4302', 'said to be protected', [{ data: { id: '4302', protected: true } }]),
    of('4302', 'open'),
    of('4301', 'open since', [{ id: '4301', protected: false }])
  )

  assert.deepEqual(
    webhook
      .bodies()
      .map((body) => body.data.payload.text)
      .sort(),
    ['open', 'open since']
  )
})

test('names are forgotten with the events they stand for', async () => {
  await publish(bio({ id: 'to be forgotten' }))
  const known = async () =>
    (await sql`select 1 from published_names where name = 'id to be forgotten'`.execute(db)).rows.length

  await admin('POST', '/clock', { advance: '61m' })
  assert.equal(await known(), 1)
  await sql`update published_names set created_at = created_at - interval '72 hours'`.execute(db)
  await admin('POST', '/clock', { advance: '61m' })
  assert.equal(await known(), 0)
})

test('the list of event types says what each needs', async () => {
  const { body } = await admin('GET', '/event_types')
  const like = body.data.find((type: { name: string }) => type.name === 'like.create')

  assert.deepEqual(
    { visibility: like.visibility, scope: like.scope, filter: like.filter, direction: like.direction },
    { visibility: 'private', scope: 'like.read', filter: 'user_id', direction: true }
  )
})
