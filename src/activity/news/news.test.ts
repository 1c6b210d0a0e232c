import assert from 'node:assert/strict'
import { after, test } from 'node:test'
import { startApp } from '../../../test/app.ts'
import { givenApp, givenOAuth1, givenUser, givenUserToken } from '../../../test/given.ts'
import { newId } from '../../storage/ids.ts'
import { forgetNews, NEWS_FIELDS } from './news.ts'

const app = await startApp({ after })
const mine = await givenApp(app)

async function call(url: string, headers: Record<string, string> = mine.headers) {
  const response = await app.apps.main.inject({ url: `/2/news${url}`, headers })
  return { status: response.statusCode, body: response.json(), headers: response.headers }
}
async function publish(...events: object[]) {
  const response = await app.apps.main.inject({
    method: 'POST',
    url: '/admin/events',
    headers: { authorization: `Bearer ${app.adminToken}` },
    payload: { events: events.map((event) => ({ event_type: 'news.new', ...event })) }
  })
  assert.equal(response.statusCode, 202, response.body)
  return response.json().data as { id: string }[]
}
const story = (payload: object) => ({ payload: { id: newId(), name: 'A story', ...payload } })
const search = async (query: string, more = '') => {
  const { status, body } = await call(`/search?query=${encodeURIComponent(query)}${more}`)
  assert.equal(status, 200, JSON.stringify(body))
  assert.equal(body.meta.result_count, body.data.length)
  return body.data.map(({ id }: { id: string }) => id) as string[]
}
const ago = (hours: number) => new Date(app.deps.clock.now() - hours * 3_600_000).toISOString()

const FULL = {
  id: '1902345678901234700',
  name: 'Tacos win the day',
  category: 'Food',
  hook: 'Lunch is served.',
  summary: 'A whole city sits down for lunch.',
  keywords: ['tortilla', 'salsa'],
  contexts: { topics: ['Food'], entities: { places: ['Springfield'] }, finance: { tickers: ['TACO'] } },
  cluster_posts_results: [{ post_id: '1902345678901234567' }],
  disclaimer: 'May contain salsa.',
  updated_at: ago(1)
}

test('a story that was published can be looked up, with everything it holds', async () => {
  await publish({ payload: { ...FULL, of_the_publisher: true } })

  const { status, body } = await call(`/${FULL.id}`)

  assert.equal(status, 200)
  assert.deepEqual(body, { data: FULL })
  assert.deepEqual(Object.keys(body.data).sort(), [...NEWS_FIELDS])
})

test('news.fields says which fields; the id always comes along', async () => {
  await publish({ payload: FULL })

  assert.deepEqual((await call(`/${FULL.id}?news.fields=name,keywords`)).body.data, {
    id: FULL.id,
    name: FULL.name,
    keywords: FULL.keywords
  })
  assert.deepEqual((await call('/search?query=tortilla&news.fields=hook')).body.data, [
    { id: FULL.id, hook: FULL.hook }
  ])
  const refused = await call(`/${FULL.id}?news.fields=name,headline`)
  assert.equal(refused.status, 400)
  assert.match(refused.body.errors[0].message, /value \[headline\] is not one of \[category,cluster_posts_results,/)
})

test('words are found in name, summary, hook, keywords and category, all of them and in any case', async () => {
  const { payload } = story({
    name: 'Alpha one',
    summary: 'bravo TWO',
    hook: 'Charlie',
    keywords: ['delta'],
    category: 'Echo',
    disclaimer: 'foxtrot'
  })
  await publish({ payload })

  for (const query of ['alpha', 'Bravo', 'CHARLIE', 'delta', 'echo', 'echo alpha two'])
    assert.deepEqual(await search(query), [payload.id], query)
  for (const query of ['foxtrot', 'alpha golf', 'alph', 'alpha or golf'])
    assert.deepEqual(await search(query), [], query)
})

test('words in quotes are found as they stand, and not across two texts', async () => {
  const { payload } = story({ name: 'quick brown fox', summary: 'jumps high' })
  await publish({ payload })

  assert.deepEqual(await search('"brown fox" quick'), [payload.id])
  assert.deepEqual(await search('"jumps high" "quick brown"'), [payload.id])
  assert.deepEqual(await search('"quick fox"'), [])
  assert.deepEqual(await search('"fox jumps"'), [])
  assert.deepEqual(await search('"brown quick'), [payload.id], 'a quote that never ends is none')
})

test('newest first, as many as asked for, ten without asking', async () => {
  const stories = Array.from({ length: 12 }, (_, i) => story({ name: 'ordered', updated_at: ago(12 - i) }))
  await publish(...stories)
  const newest = stories.map(({ payload }) => payload.id).reverse()

  assert.deepEqual(await search('ordered'), newest.slice(0, 10))
  assert.deepEqual(await search('ordered', '&max_results=100'), newest)
  assert.deepEqual(await search('ordered', '&max_results=1'), newest.slice(0, 1))
})

test('max_age_hours says how old, a week without asking', async () => {
  const old = [1, 100, 167, 169, 719].map((hours) => story({ name: 'aged', updated_at: ago(hours - 0.5) }))
  await publish(...old)
  const count = async (more = '') => (await search('aged', more)).length

  assert.equal(await count(), 3)
  assert.equal(await count('&max_age_hours=1'), 1)
  assert.equal(await count('&max_age_hours=100'), 2)
  assert.equal(await count('&max_age_hours=720'), 5)
})

test('a story told again replaces the first; told again by an older event it does not', async () => {
  const id = newId()
  await publish({ payload: { id, name: 'draft words' }, occurred_at: ago(3) })
  await publish({ payload: { id, name: 'final words', keywords: ['kept'] }, occurred_at: ago(1) })
  await publish({ payload: { id, name: 'late words' }, occurred_at: ago(2) })

  assert.equal((await call(`/${id}`)).body.data.name, 'final words')
  assert.deepEqual(await search('draft'), [])
  assert.deepEqual(await search('final'), [id])
})

test('one batch may tell a story twice, and two publishers the same stories at once', async () => {
  const ids = Array.from({ length: 20 }, newId)
  const tell = (order: string[], name: string) => publish(...order.map((id) => ({ payload: { id, name } })))

  await publish({ payload: { id: ids[0], name: 'twin a' } }, { payload: { id: ids[0], name: 'twin b' } })
  assert.equal((await call(`/${ids[0]}`)).body.data.name, 'twin b')
  await Promise.all([tell(ids, 'chorus'), tell([...ids].reverse(), 'chorus'), tell(ids, 'chorus')])
  assert.equal((await search('chorus', '&max_results=100')).length, 20)
})

test('a story without an id has that of its event, one without a time the time of its event', async () => {
  const [event] = await publish({ payload: { headline: 'Nameless', updated_at: 'soon' }, occurred_at: ago(2) })

  const { data } = (await call(`/${event!.id}`)).body

  assert.deepEqual(data, { id: event!.id, name: 'Nameless', updated_at: data.updated_at })
  assert.ok(Date.parse(data.updated_at) < app.deps.clock.now())
})

test('what is strange in a payload is left out of the story, and keeps no event from being published', async () => {
  const { payload } = story({
    name: 'odd \ud800 and long',
    summary: 7,
    keywords: ['fine', 3],
    contexts: { huge: 1 },
    cluster_posts_results: [{ post_id: 12 }, 'x', { post_id: '34' }],
    hook: 'word '.repeat(60_000)
  })
  await publish({ payload })

  const { data } = (await call(`/${payload.id}?news.fields=summary,keywords,contexts,cluster_posts_results`)).body
  assert.deepEqual(data, {
    id: payload.id,
    keywords: ['fine'],
    contexts: { huge: 1 },
    cluster_posts_results: [{ post_id: '34' }]
  })
  assert.deepEqual(await search('odd and long'), [payload.id])
})

test('whoever has a credential may read news', async () => {
  await publish({ payload: FULL })
  const user = await givenUser(app)
  const { sign } = await givenOAuth1(app, mine, user, 'read')

  assert.equal((await call(`/${FULL.id}`, await givenUserToken(app, mine, user, ['tweet.read']))).status, 200)
  assert.equal((await call(`/${FULL.id}`, sign('GET', `/2/news/${FULL.id}`))).status, 200)
  assert.equal((await call(`/${FULL.id}`, {})).status, 401)
  assert.equal((await call('/search?query=tacos', { authorization: 'Bearer nonsense' })).status, 401)
  const admin = await call('/search?query=tacos', { authorization: `Bearer ${app.adminToken}` })
  assert.match(admin.body.type, /\/unsupported-authentication$/)
})

test('an app that is not enrolled for activity reads no news', async () => {
  const without = await givenApp(app, { products: ['webhooks'] })

  for (const url of ['/search?query=tacos', '/1']) {
    const { status, body } = await call(url, without.headers)
    assert.equal(status, 403)
    assert.match(body.type, /\/client-forbidden$/)
  }
})

test('a story that is not there is not found', async () => {
  const { status, body } = await call('/4711')

  assert.equal(status, 404)
  assert.deepEqual([body.title, body.type], ['Not Found', 'about:blank'])
  assert.match(body.detail, /^News story 4711 was never published/)
})

for (const [url, message] of [
  ['/search', /^The `query` query parameter can not be empty$/],
  ['/search?query=', /^The `query` query parameter can not be empty$/],
  ['/search?query=%22%22', /holds no word that could be looked for$/],
  [`/search?query=${'a'.repeat(2049)}`, /is not between 1 and 2048 characters long$/],
  ['/search?query=a&max_results=0', /\[0\] is not between 1 and 100$/],
  ['/search?query=a&max_results=101', /\[101\] is not between 1 and 100$/],
  ['/search?query=a&max_age_hours=0', /\[0\] is not between 1 and 720$/],
  ['/search?query=a&max_age_hours=721', /\[721\] is not between 1 and 720$/],
  ['/search?query=a&pagination_token=x', /^The query parameter \[pagination_token\] is not one of \[query,/],
  ['/nonsense', /\[nonsense\] is not valid$/]
] as const) {
  test(`${url.slice(0, 60)} is refused with what is wrong`, async () => {
    const { status, body } = await call(url)

    assert.equal(status, 400)
    assert.match(body.type, /\/invalid-request$/)
    assert.match(body.errors[0].message, message)
  })
}

test('the longest query is answered, however many phrases it has', async () => {
  assert.deepEqual(await search('"zz"'.repeat(512)), [])
})

test('each call is counted, 200 in 15 minutes', async () => {
  assert.equal((await call('/search?query=a')).headers['x-rate-limit-limit'], '200')
  assert.equal((await call('/1')).headers['x-rate-limit-limit'], '200')
})

test('old stories are forgotten once no search can reach them', async () => {
  const [kept, gone] = [story({ updated_at: ago(719) }), story({ updated_at: ago(721) })]
  await publish(kept, gone)

  await forgetNews({ db: app.deps.database.db, clock: app.deps.clock }, 72 * 3_600_000)

  assert.equal((await call(`/${kept.payload.id}`)).status, 200)
  assert.equal((await call(`/${gone.payload.id}`)).status, 404)
})
