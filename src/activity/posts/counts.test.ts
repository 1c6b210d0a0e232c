import assert from 'node:assert/strict'
import { after, test } from 'node:test'
import { startApp } from '../../../test/app.ts'
import { givenApp, givenUser, givenUserToken } from '../../../test/given.ts'
import { newId } from '../../storage/ids.ts'
import { countPosts } from './counts.ts'

const app = await startApp({ after })
const by = await givenApp(app)
const HOUR = 3_600_000
/** The start of an hour, a day ago. */
const base = Math.floor(app.deps.clock.now() / HOUR) * HOUR - 24 * HOUR
const iso = (ms: number) => new Date(ms).toISOString()
let words = 0
const word = () => `zahl${++words}x`

async function publish(text: string, ...times: number[]) {
  const answer = await app.apps.main.inject({
    method: 'POST',
    url: '/admin/events',
    headers: { authorization: `Bearer ${app.adminToken}` },
    payload: {
      events: times.map((at) => ({
        event_type: 'post.create',
        payload: { id: newId(), author_id: '42', text, created_at: iso(at) }
      }))
    }
  })
  assert.equal(answer.statusCode, 202, answer.body)
}

async function count(query: Record<string, string>, headers: Record<string, string> = by.headers, list = 'recent') {
  const url = `/2/tweets/counts/${list}?${new URLSearchParams(query)}`
  const answer = await app.apps.main.inject({ method: 'GET', url, headers })
  return { status: answer.statusCode, body: answer.json() }
}

test('counts by hour, oldest first, with the hours in which there was nothing', async () => {
  const x = word()
  await publish(x, base, base + 1, base + 2 * HOUR, base + 3 * HOUR - 1, base + 3 * HOUR)

  const { status, body } = await count({ query: x, start_time: iso(base), end_time: iso(base + 3 * HOUR) })

  assert.equal(status, 200)
  assert.deepEqual(body, {
    data: [
      { end: iso(base + HOUR), start: iso(base), tweet_count: 2 },
      { end: iso(base + 2 * HOUR), start: iso(base + HOUR), tweet_count: 0 },
      { end: iso(base + 3 * HOUR), start: iso(base + 2 * HOUR), tweet_count: 2 }
    ],
    meta: { total_tweet_count: 4 }
  })
})

test('begins and ends where it is told, within whole minutes and days', async () => {
  const x = word()
  await publish(x, base + 30_000, base + 90_000)

  const { body } = await count({
    query: x,
    granularity: 'minute',
    start_time: iso(base + 10_000),
    end_time: iso(base + 100_000)
  })
  const day = await count({ query: x, granularity: 'day' })

  assert.deepEqual(body.data, [
    { end: iso(base + 60_000), start: iso(base + 10_000), tweet_count: 1 },
    { end: iso(base + 100_000), start: iso(base + 60_000), tweet_count: 1 }
  ])
  assert.equal(day.body.data.length, 8)
  assert.equal(day.body.meta.total_tweet_count, 2)
})

test('counts a post of this very moment', async () => {
  const x = word()
  await publish(x, app.deps.clock.now())

  assert.equal((await count({ query: x })).body.meta.total_tweet_count, 1)
})

test('gives the fields that are asked for', async () => {
  const { body } = await count({ query: word(), granularity: 'day', 'search_count.fields': 'tweet_count' })

  assert.deepEqual(body.data[0], { tweet_count: 0 })
})

test('goes back page by page when there are many minutes, and misses none', async () => {
  const x = word()
  const day = 24 * HOUR
  await publish(x, base, base - 8 * day, base - 16 * day)
  const query = { query: x, granularity: 'minute', start_time: iso(base - 17 * day) }
  const starts: string[] = []
  let total = 0

  for (let token: string | undefined = ''; token !== undefined; ) {
    const { body } = await count({ ...query, ...(token ? { next_token: token } : {}) }, by.headers, 'all')
    starts.unshift(...body.data.map((bucket: { start: string }) => bucket.start))
    total += body.meta.total_tweet_count
    token = body.meta.next_token
  }

  assert.equal(total, 3)
  assert.equal(starts[0], iso(base - 17 * day))
  assert.ok(starts.every((start, at) => at === 0 || Date.parse(start) - Date.parse(starts[at - 1]!) === 60_000))
})

test('adds up to the same when it has to stop within an hour', async () => {
  const x = word()
  await publish(x, ...Array.from({ length: 30 }, (_, at) => base + Math.floor(at / 3)), base + HOUR)
  const deps = { db: app.deps.database.db, clock: app.deps.clock, retentionMs: 30 * 24 * HOUR, looksMax: 7 }
  const query = { query: x, start_time: iso(base), end_time: iso(base + 2 * HOUR) }
  let pages = 0
  let total = 0

  for (let token: string | undefined = ''; token !== undefined; pages++) {
    const page: Awaited<ReturnType<typeof countPosts>> = await countPosts(
      deps,
      { ...query, ...(token ? { next_token: token } : {}) },
      { name: 'test', recent: true },
      undefined
    )
    total += page.data.reduce((sum, bucket) => sum + bucket.tweet_count, 0)
    token = page.meta.next_token
  }

  assert.equal(total, 31)
  assert.equal(pages, 5)
})

test('refuses bad input, and everybody but apps', async () => {
  const user = await givenUserToken(app, by, await givenUser(app))

  assert.equal((await count({ query: 'cat', granularity: 'week' })).status, 400)
  assert.equal((await count({ query: 'cat', max_results: '10' })).status, 400)
  assert.match((await count({ query: '-cat' })).body.errors[0].message, /position|standalone/)
  assert.equal((await count({ query: 'cat' }, {})).status, 401)
  assert.match((await count({ query: 'cat' }, user)).body.type, /unsupported-authentication$/)
})
