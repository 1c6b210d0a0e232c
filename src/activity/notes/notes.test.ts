import assert from 'node:assert/strict'
import { after, test } from 'node:test'
import type { InjectOptions } from 'fastify'
import { startApp } from '../../../test/app.ts'
import { givenApp, givenOAuth1, givenUser, givenUserToken } from '../../../test/given.ts'
import { newId } from '../../storage/ids.ts'
import { claimOpinionScore, testResult } from './evaluate.ts'

const app = await startApp({ after })
const mine = await givenApp(app)
const user = await givenUser(app)
const headers = await givenUserToken(app, mine, user)

type Headers = Record<string, string>
async function call(method: string, url: string, payload?: object, by: Headers = headers) {
  const response = await app.apps.main.inject({
    method: method as 'GET',
    url,
    headers: by,
    ...(payload ? { payload } : {})
  } as InjectOptions)
  return { status: response.statusCode, body: response.json(), headers: response.headers }
}
const ADMIN = { authorization: `Bearer ${app.adminToken}` }

let minutes = 0
/** Each younger than the one before. */
async function givenPost(more: object = {}, includes?: object) {
  const id = newId()
  const created_at = new Date(app.deps.clock.now() - 90_000_000 + ++minutes * 60_000).toISOString()
  const payload = { id, text: 'Tacos are banned in schools.', author_id: '42', created_at, ...more }
  const event = { event_type: 'post.create', payload, ...(includes ? { includes } : {}) }
  const { status, body } = await call('POST', '/admin/events', { events: [event] }, ADMIN)
  assert.equal(status, 202, JSON.stringify(body))
  return payload.id
}
const deletePost = (id: string) =>
  call('POST', '/admin/events', { events: [{ event_type: 'post.delete', payload: { id, author_id: '42' } }] }, ADMIN)

const TEXT = 'No ban: see the menu of June 2026, published at https://school.example/menu'
const info = (more: object = {}) => ({
  text: TEXT,
  classification: 'misinformed_or_potentially_misleading',
  misleading_tags: ['factual_error', 'other'],
  trustworthy_sources: true,
  ...more
})
const note = (post_id: string, more: object = {}) => ({ test_mode: false, post_id, info: info(), ...more })
async function written(post_id: string, more: object = {}, by: Headers = headers): Promise<string> {
  const { status, body } = await call('POST', '/2/notes', note(post_id, more), by)
  assert.equal(status, 200, JSON.stringify(body))
  return body.data.id
}
const WRITTEN = '/2/notes/search/notes_written'
const ELIGIBLE = '/2/notes/search/posts_eligible_for_notes'
const list = async (query: string, by: Headers = headers, url = WRITTEN) => {
  const { status, body } = await call('GET', `${url}?${query}`, undefined, by)
  assert.equal(status, 200, JSON.stringify(body))
  return body
}
const idsOf = ({ data }: { data: { id: string }[] }) => data.map(({ id }) => id)
const fresh = async () => givenUserToken(app, mine, await givenUser(app))

test('a note is written, listed and deleted by its user', async () => {
  const by = await fresh()
  const post = await givenPost()

  const created = await call('POST', '/2/notes', note(post, { info: info({ is_media_note: false }) }), by)
  const listed = await list('test_mode=false', by)
  const deleted = await call('DELETE', `/2/notes/${created.body.data.id}`, undefined, by)

  assert.match(created.body.data.id, /^[0-9]{19}$/)
  assert.deepEqual(listed, {
    data: [{ id: created.body.data.id, info: { ...info({ is_media_note: false }), post_id: post } }],
    meta: { result_count: 1 }
  })
  assert.deepEqual([deleted.status, deleted.body], [200, { data: { deleted: true } }])
  assert.deepEqual(await list('test_mode=false', by), { data: [], meta: { result_count: 0 } })
})

test('note.fields says which fields; the id always comes along', async () => {
  const by = await fresh()
  const [post, other] = [await givenPost(), await givenPost()]
  const id = await written(post, {}, by)
  const testId = await written(other, { test_mode: true }, by)

  assert.deepEqual((await list('test_mode=false&note.fields=status,scoring_status,test_result', by)).data, [
    { id, status: 'needs_more_ratings', scoring_status: 'needs_more_ratings' }
  ])
  assert.deepEqual((await list('test_mode=true&note.fields=status,test_result', by)).data, [
    { id: testId, test_result: testResult(TEXT, 'Tacos are banned in schools.') }
  ])
  assert.deepEqual((await list('test_mode=false&note.fields=id', by)).data, [{ id }])
  assert.equal((await call('GET', `${WRITTEN}?test_mode=false&note.fields=text`)).status, 400)
})

test('notes of test mode are kept apart, also on the same post', async () => {
  const by = await fresh()
  const post = await givenPost()
  const real = await written(post, {}, by)
  const tried = await written(post, { test_mode: true }, by)

  assert.deepEqual(idsOf(await list('test_mode=false', by)), [real])
  assert.deepEqual(idsOf(await list('test_mode=true', by)), [tried])
})

test('one note per user and post, also at once; another user has one of their own', async () => {
  const by = await fresh()
  const post = await givenPost()

  const answers = await Promise.all(Array.from({ length: 6 }, () => call('POST', '/2/notes', note(post), by)))

  assert.deepEqual(answers.map(({ status }) => status).sort(), [200, 400, 400, 400, 400, 400])
  const first = answers.find(({ status }) => status === 200)!.body.data.id
  for (const { body } of answers.filter(({ status }) => status === 400)) {
    assert.match(body.type, /\/invalid-request$/)
    assert.match(body.errors[0].message, /^DuplicateNoteFailed: this user has written a note on post \d+ already$/)
    assert.equal(body.errors[0].note_id, first)
  }
  await written(post)
  await call('DELETE', `/2/notes/${first}`, undefined, by)
  await written(post, {}, by)
})

test('lists page through everything, newest first, forth and back', async () => {
  const by = await fresh()
  const ids: string[] = []
  for (let i = 0; i < 5; i++) ids.unshift(await written(await givenPost(), {}, by))

  const first = await list('test_mode=false&max_results=2', by)
  const second = await list(`test_mode=false&max_results=2&pagination_token=${first.meta.next_token}`, by)
  const third = await list(`test_mode=false&max_results=2&pagination_token=${second.meta.next_token}`, by)
  const back = await list(`test_mode=false&max_results=2&pagination_token=${second.meta.previous_token}`, by)

  assert.deepEqual([first, second, third].flatMap(idsOf), ids)
  assert.equal(third.meta.next_token, undefined)
  assert.deepEqual(idsOf(back), ids.slice(0, 2))
})

test('a note of somebody else looks like none', async () => {
  const id = await written(await givenPost())
  const by = await fresh()

  const refused = await call('DELETE', `/2/notes/${id}`, undefined, by)
  const missing = await call('DELETE', '/2/notes/4711', undefined, by)

  assert.deepEqual([refused.status, missing.status], [404, 404])
  assert.equal(refused.body.detail.replace(id, '4711'), missing.body.detail)
  assert.equal(idsOf(await list('test_mode=false')).includes(id), true)
  assert.deepEqual(idsOf(await list('test_mode=false', by)), [])
})

test('evaluating a note scores its text against the post, at both paths, and keeps nothing', async () => {
  const by = await fresh()
  const post_id = await givenPost()
  const expected = claimOpinionScore(TEXT, 'Tacos are banned in schools.')

  for (const url of ['/2/evaluate_note', '/2/notes/evaluate']) {
    const { status, body } = await call('POST', url, { post_id, note_text: TEXT }, by)
    assert.deepEqual([status, body], [200, { data: { claim_opinion_score: expected } }])
  }
  const worse = await call('POST', '/2/evaluate_note', { post_id, note_text: 'I think this idiot lies' }, by)
  assert.ok(worse.body.data.claim_opinion_score < expected)
  assert.deepEqual(idsOf(await list('test_mode=false', by)), [])
})

test('a post that Herald does not know, or that the user may not see, is not found', async () => {
  const author = await givenUser(app, { protected: true })
  const hidden = await givenPost({ author_id: author.id })
  const gone = await givenPost()
  await deletePost(gone)

  for (const post_id of ['4711', hidden, gone])
    for (const [url, payload] of [
      ['/2/notes', note(post_id)],
      ['/2/evaluate_note', { post_id, note_text: TEXT }]
    ] as const) {
      const { status, body } = await call('POST', url, payload)
      assert.equal(status, 404, url)
      assert.match(body.type, /\/resource-not-found$/)
      assert.deepEqual([body.resource_type, body.parameter, body.value], ['tweet', 'post_id', post_id])
    }
  await written(hidden, {}, await givenUserToken(app, mine, author))
})

for (const [what, payload, message] of [
  ['no test_mode', { post_id: '1', info: info() }, /^\$\.test_mode: is missing but it is required$/],
  ['no post', { test_mode: true, info: info() }, /^\$\.post_id: is missing/],
  ['no info', { test_mode: true, post_id: '1' }, /^\$\.info: is missing/],
  ['an id that is none', note('x'), /^\$\.post_id: does not match/],
  ['test_mode as text', note('1', { test_mode: 'yes' }), /^\$\.test_mode: string found, boolean expected$/],
  ['something unknown', note('1', { extra: 1 }), /^\$\.extra: is not a known property here$/],
  ['something unknown in info', note('1', { info: info({ extra: 1 }) }), /^\$\.info\.extra: is not a known/],
  ['an unknown class', note('1', { info: info({ classification: 'x' }) }), /^\$\.info\.classification: \[x\] is not/],
  ['an unknown tag', note('1', { info: info({ misleading_tags: ['x'] }) }), /^\$\.info\.misleading_tags\[0\]: \[x\]/],
  ['no sources', note('1', { info: { ...info(), trustworthy_sources: undefined } }), /trustworthy_sources: is missing/],
  ['an empty text', note('1', { info: info({ text: '' }) }), /^\$\.info\.text: must be at least 1 characters long$/],
  ['a text too long', note('1', { info: info({ text: 'x'.repeat(2001) }) }), /may only be 2000 characters long$/],
  ['no URL', note('1', { info: info({ text: 'see example.com' }) }), /^\$\.info\.text: must hold the URL of a source$/]
] as const) {
  test(`a note with ${what} is refused with what is wrong`, async () => {
    const { status, body } = await call('POST', '/2/notes', payload)

    assert.equal(status, 400)
    assert.match(body.type, /\/invalid-request$/)
    assert.match(body.errors[0].message, message)
  })
}

for (const [url, message] of [
  [WRITTEN, /^The `test_mode` query parameter can not be empty$/],
  [ELIGIBLE, /^The `test_mode` query parameter can not be empty$/],
  [`${WRITTEN}?test_mode=1`, /\[1\] is not one of \[true,false\]$/],
  [`${WRITTEN}?test_mode=true&max_results=101`, /is not between 1 and 100$/],
  [
    `${WRITTEN}?test_mode=true&pagination_token=0123456789abcdef`,
    /`pagination_token` query parameter value .* is not valid$/
  ],
  [
    `${ELIGIBLE}?test_mode=true&pagination_token=0123456789abcdef`,
    /`pagination_token` query parameter value .* is not valid$/
  ],
  [`${ELIGIBLE}?test_mode=true&max_results=0`, /is not between 1 and 100$/],
  [`${ELIGIBLE}?test_mode=true&tweet.fields=x`, /\[x\] is not one of/],
  [`${ELIGIBLE}?test_mode=true&post_selection=feed_size:tiny`, /\[feed_size:tiny\] is not a comma list of/],
  [`${ELIGIBLE}?test_mode=true&foo=1`, /^The query parameter \[foo\] is not one of/]
] as const) {
  test(`GET ${url.slice(16)} is refused with what is wrong`, async () => {
    const { status, body } = await call('GET', url)

    assert.equal(status, 400)
    assert.match(body.errors[0].message, message)
  })
}

const ROUTES = [
  ['POST', '/2/evaluate_note', 'tweet.write'],
  ['POST', '/2/notes/evaluate', 'tweet.write'],
  ['POST', '/2/notes', 'tweet.write'],
  ['DELETE', '/2/notes/1', 'tweet.write'],
  ['GET', `${ELIGIBLE}?test_mode=true`, 'tweet.read'],
  ['GET', `${WRITTEN}?test_mode=true`, 'tweet.read']
] as const

for (const [method, url, scope] of ROUTES) {
  test(`${method} ${url.split('?')[0]} is for users who granted ${scope}, through an app that is enrolled`, async () => {
    const other = scope === 'tweet.read' ? 'tweet.write' : 'tweet.read'
    const without = await givenApp(app, { products: ['webhooks', 'activity', 'posts'] })
    const readOnly = await givenOAuth1(app, mine, user, 'read')

    assert.equal((await call(method, url, undefined, {})).status, 401)
    const asApp = await call(method, url, undefined, mine.headers)
    assert.match(asApp.body.type, /\/unsupported-authentication$/)
    const scopeless = await call(method, url, undefined, await givenUserToken(app, mine, user, [other]))
    assert.equal(scopeless.status, 403)
    assert.match(scopeless.body.detail, new RegExp(`lacks the scope ${scope}`))
    const unenrolled = await call(method, url, undefined, await givenUserToken(app, without, user))
    assert.match(unenrolled.body.type, /\/client-forbidden$/)
    const signed = await call(method, url, undefined, readOnly.sign(method, url))
    assert.equal(signed.status === 403, scope === 'tweet.write', JSON.stringify(signed.body))
    assert.equal(signed.headers['x-rate-limit-limit'] ?? '90', scope === 'tweet.write' ? '450' : '90')
  })
}

test('a user may write through OAuth 1.0a with permission to write', async () => {
  const writer = await givenUser(app)
  const { sign } = await givenOAuth1(app, mine, writer, 'read-write')

  await written(await givenPost(), {}, sign('POST', '/2/notes'))
})

test('90 calls in 15 minutes and 250 notes a day, told and kept', async () => {
  const narrow = await startApp(
    { after },
    { HERALD_RATE_LIMITS: 'on', HERALD_RATE_LIMIT_OVERRIDES: 'v2.notes.create_per_day=2,v2.notes.written=1' },
    { beside: app }
  )
  const by = await fresh()
  const write = async () =>
    narrow.apps.main.inject({ method: 'POST', url: '/2/notes', headers: by, payload: note(await givenPost()) })
  const read = () => narrow.apps.main.inject({ url: `${WRITTEN}?test_mode=false`, headers: by })
  const answers = [await write(), await write(), await write()]

  assert.deepEqual(
    answers.map(({ statusCode }) => statusCode),
    [200, 200, 429]
  )
  assert.equal(answers[0]!.headers['x-rate-limit-limit'], '90')
  assert.equal(answers[0]!.headers['x-user-limit-24hour-limit'], '2')
  assert.equal(answers[2]!.headers['x-user-limit-24hour-remaining'], '0')
  assert.deepEqual([(await read()).statusCode, (await read()).statusCode], [200, 429])
})

test('posts without a note of this user are eligible, in each mode on its own', async () => {
  const by = await fresh()
  const [a, b, c] = [await givenPost(), await givenPost(), await givenPost()]
  await written(b, {}, by)
  const among = async (query: string) =>
    idsOf(await list(`${query}&max_results=100`, by, ELIGIBLE)).filter((id) => [a, b, c].includes(id))

  assert.deepEqual(await among('test_mode=false'), [c, a])
  assert.deepEqual(await among('test_mode=true'), [c, b, a])
})

test("posts that were deleted, replaced or are protected are not eligible, but one's own are", async () => {
  const author = await givenUser(app, { protected: true })
  const hidden = await givenPost({ author_id: author.id })
  const old = await givenPost()
  const edited = await givenPost({ edit_history_tweet_ids: [old] })
  const gone = await givenPost()
  await deletePost(gone)
  const among = async (by: Headers) =>
    idsOf(await list('test_mode=false&max_results=100', by, ELIGIBLE)).filter((id) =>
      [hidden, old, edited, gone].includes(id)
    )

  assert.deepEqual(await among(await fresh()), [edited])
  assert.deepEqual(await among(await givenUserToken(app, mine, author)), [edited, hidden])
})

test('eligible posts have the fields and includes that were asked for, and say which is newest', async () => {
  const by = await fresh()
  const users = [{ id: '42', name: 'Ann', username: 'ann', description: 'cook' }]
  const older = await givenPost({ lang: 'tlh' }, { users })
  const newer = await givenPost({ lang: 'tlh' }, { users })

  const body = await list(
    'test_mode=true&post_selection=feed_lang:tlh&tweet.fields=lang&expansions=author_id&user.fields=description',
    by,
    ELIGIBLE
  )

  const shown = (id: string) => ({
    id,
    text: 'Tacos are banned in schools.',
    edit_history_tweet_ids: [id],
    lang: 'tlh',
    author_id: '42'
  })
  assert.deepEqual(body, {
    data: [shown(newer), shown(older)],
    includes: { users },
    meta: { newest_id: newer, oldest_id: older, result_count: 2 }
  })
  assert.deepEqual(await list('test_mode=true&post_selection=feed_lang:xx', by, ELIGIBLE), {
    data: [],
    meta: { result_count: 0 }
  })
})

test('pages of eligible posts show each once, also when the last one shown is deleted meanwhile', async () => {
  const by = await fresh()
  const same = new Date(app.deps.clock.now()).toISOString()
  const ids: string[] = []
  for (const id of [newId(), newId(), newId(), '0071', '71']) {
    await givenPost({ id, lang: 'qya', created_at: same })
    ids.push(id)
  }
  const seen: string[] = []
  let token = ''
  do {
    const body = await list(`test_mode=true&max_results=2&post_selection=feed_lang:qya${token}`, by, ELIGIBLE)
    seen.push(...idsOf(body))
    token = body.meta.next_token ? `&pagination_token=${body.meta.next_token}` : ''
    await deletePost(seen.at(-1)!)
  } while (token)

  assert.deepEqual(seen, ids.sort().reverse())
})

test('feed_size says how far back', async () => {
  const by = await fresh()
  const at = (hours: number) => new Date(app.deps.clock.now() - hours * 3_600_000).toISOString()
  for (const hours of [1, 30, 200]) await givenPost({ lang: 'epo', created_at: at(hours) })
  const count = async (size: string) =>
    (await list(`test_mode=true&post_selection=${size}feed_lang:epo`, by, ELIGIBLE)).data.length

  assert.deepEqual([await count('feed_size:small,'), await count('feed_size:large,'), await count('')], [1, 2, 3])
})

test('the host platform tells how a note is rated; notes of test mode are not', async () => {
  const writer = await givenUser(app)
  const by = await givenUserToken(app, mine, writer)
  const post = await givenPost()
  const [id, tried] = [await written(post, {}, by), await written(post, { test_mode: true }, by)]
  const rate = (noteId: string, status: string, as: Headers = ADMIN) =>
    call('PUT', `/admin/users/${writer.id}/notes/${noteId}`, { status }, as)

  assert.deepEqual((await rate(id, 'currently_rated_helpful')).body, {
    data: { id, status: 'currently_rated_helpful' }
  })
  assert.deepEqual((await list('test_mode=false&note.fields=status', by)).data, [
    { id, status: 'currently_rated_helpful' }
  ])
  assert.equal((await rate(tried, 'firm_reject')).status, 404)
  assert.equal((await rate(id, 'splendid')).status, 400)
  assert.equal((await rate(id, 'firm_reject', by)).status, 403)
})
