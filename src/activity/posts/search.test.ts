import assert from 'node:assert/strict'
import { after, test } from 'node:test'
import { startApp } from '../../../test/app.ts'
import { givenApp, givenUser, givenUserToken } from '../../../test/given.ts'
import { newId } from '../../storage/ids.ts'
import { searchPosts } from './search.ts'

const app = await startApp({ after })
const by = await givenApp(app)
const now = () => app.deps.clock.now()
const ago = (ms: number) => new Date(now() - ms).toISOString()
const DAY = 86_400_000
let words = 0
/** A word that no other test uses. */
const word = () => `wort${++words}x`

async function publish(...posts: Record<string, unknown>[]) {
  const ids = posts.map((post) => (post.id as string | undefined) ?? newId())
  const answer = await app.apps.main.inject({
    method: 'POST',
    url: '/admin/events',
    headers: { authorization: `Bearer ${app.adminToken}` },
    payload: {
      events: posts.map(({ includes, ...post }, at) => ({
        event_type: 'post.create',
        payload: { author_id: '42', ...post, id: ids[at] },
        ...(includes ? { includes } : {})
      }))
    }
  })
  assert.equal(answer.statusCode, 202, answer.body)
  return ids
}

async function search(query: Record<string, string>, headers: Record<string, string> = by.headers, list = 'recent') {
  const url = `/2/tweets/search/${list}?${new URLSearchParams(query)}`
  const answer = await app.apps.main.inject({ method: 'GET', url, headers })
  return { status: answer.statusCode, body: answer.json() }
}
const idsOf = ({ body }: { body: { data?: { id: string }[] } }) => (body.data ?? []).map(({ id }) => id)

test('finds posts that match, newest first, from the moment they are published', async () => {
  const x = word()
  const [older, newer] = await publish(
    { text: `${x} one`, created_at: ago(2_000) },
    { text: `two ${x.toUpperCase()}`, created_at: ago(1_000) },
    { text: 'nothing of it' }
  )

  const { status, body } = await search({ query: x })

  assert.equal(status, 200)
  assert.deepEqual(body, {
    data: [
      { id: newer, text: `two ${x.toUpperCase()}`, edit_history_tweet_ids: [newer] },
      { id: older, text: `${x} one`, edit_history_tweet_ids: [older] }
    ],
    meta: { newest_id: newer, oldest_id: older, result_count: 2 }
  })
})

test('leaves out data when nothing is found', async () => {
  assert.deepEqual((await search({ query: word() })).body, { meta: { result_count: 0 } })
})

test('speaks the whole rule language, with or without an index to help', async () => {
  const x = word()
  const [cat, dog, just] = await publish(
    { text: `${x} cat #pets`, created_at: ago(3_000), public_metrics: { like_count: 7 } },
    {
      text: `${x} dog @ann`,
      created_at: ago(2_000),
      author_id: '77',
      includes: { users: [{ id: '77', username: 'Bo' }] }
    },
    { text: `the ${x}`, created_at: ago(1_000), lang: 'de' }
  )

  assert.deepEqual(idsOf(await search({ query: `${x} (cat OR dog)` })), [dog, cat])
  assert.deepEqual(idsOf(await search({ query: `${x} -cat` })), [just, dog])
  assert.deepEqual(idsOf(await search({ query: `#pets ${x}` })), [cat])
  assert.deepEqual(idsOf(await search({ query: `@ann ${x}` })), [dog])
  assert.deepEqual(idsOf(await search({ query: `from:bo ${x}` })), [dog])
  assert.deepEqual(idsOf(await search({ query: `"the ${x}"` })), [just])
  assert.deepEqual(idsOf(await search({ query: `the lang:de ${x}` })), [just])
  assert.deepEqual(idsOf(await search({ query: `${x} min_likes:5` })), [cat])
})

test('says where a query is wrong', async () => {
  const { status, body } = await search({ query: 'cat (dog' })

  assert.equal(status, 400)
  assert.equal(body.type, 'https://herald.example/problems/invalid-request')
  assert.match(body.errors[0].message, /missing '\)'.*\(at position \d+\)/)
  assert.deepEqual(body.errors[0].parameters, { query: ['cat (dog'] })
})

test('refuses what makes no sense', async () => {
  const refused = async (query: Record<string, string>, message: RegExp, list = 'recent') => {
    const { status, body } = await search(query, by.headers, list)
    assert.equal(status, 400, JSON.stringify(query))
    assert.match(body.errors[0].message, message)
  }

  await refused({}, /query/)
  await refused({ query: '' }, /query/)
  await refused({ query: `"${'x'.repeat(4_096)}"` }, /query/)
  await refused({ query: 'cat', max_results: '9' }, /not between 10 and 100/)
  await refused({ query: 'cat', max_results: '101' }, /not between 10 and 100/)
  await refused({ query: 'cat', max_results: '501' }, /not between 10 and 500/, 'all')
  await refused({ query: 'cat', start_time: 'yesterday' }, /start_time.*is not a time/)
  await refused({ query: 'cat', start_time: '2026-02-31T99:00:00Z' }, /start_time.*is not a time/)
  await refused({ query: 'cat', start_time: ago(8 * DAY) }, /7 days/)
  await refused({ query: 'cat', end_time: ago(8 * DAY) }, /end_time/)
  await refused({ query: 'cat', start_time: ago(1_000), end_time: ago(2_000) }, /end_time/)
  await refused({ query: 'cat', start_time: ago(1_000), since_id: '1' }, /cannot be used together/)
  await refused({ query: 'cat', since_id: 'x' }, /since_id/)
  await refused({ query: 'cat', next_token: 'garbage-garbage' }, /next_token.*is not valid/)
  await refused({ query: 'cat', pagination_token: '0kzzzzzzz12300' }, /pagination_token.*is not valid/)
  await refused({ query: 'cat', sort_order: 'best' }, /sort_order/)
  await refused({ query: 'cat', 'tweet.fields': 'nothing' }, /tweet.fields/)
  await refused({ query: 'cat', colour: 'red' }, /colour/)
})

test('pages without gaps or repeats, also through posts of one moment', async () => {
  const x = word()
  const moment = ago(60_000)
  const ids = await publish(...Array.from({ length: 25 }, () => ({ text: x, created_at: moment })))
  const found: string[] = []
  const sizes: number[] = []

  for (let token: string | undefined = ''; token !== undefined; ) {
    const page = await search({
      query: x,
      ...(token ? { [sizes.length === 1 ? 'next_token' : 'pagination_token']: token } : {})
    })
    found.push(...idsOf(page))
    sizes.push(page.body.meta.result_count)
    token = page.body.meta.next_token
  }

  assert.deepEqual(sizes, [10, 10, 5])
  assert.deepEqual(found, ids.toSorted().reverse())
})

test('has no next page when the last post fills this one', async () => {
  const x = word()
  await publish(...Array.from({ length: 10 }, () => ({ text: x })))

  assert.equal((await search({ query: x })).body.meta.next_token, undefined)
})

test('takes no token of another list', async () => {
  const x = word()
  await publish(...Array.from({ length: 11 }, () => ({ text: x })))
  const { body } = await search({ query: x })

  assert.equal((await search({ query: x, next_token: body.meta.next_token }, by.headers, 'all')).status, 400)
  assert.equal(
    (await search({ query: x, next_token: body.meta.next_token, pagination_token: body.meta.next_token })).status,
    400
  )
})

test('takes start_time as the first moment and end_time as the one after the last', async () => {
  const x = word()
  const [one, two] = await publish({ text: x, created_at: ago(3_000) }, { text: x, created_at: ago(2_000) })
  const at = (await search({ query: x, 'tweet.fields': 'created_at' })).body.data[0].created_at

  assert.deepEqual(idsOf(await search({ query: x, start_time: at })), [two])
  assert.deepEqual(idsOf(await search({ query: x, end_time: at })), [one])
})

test('finds what is newer than since_id and older than until_id, whether these are kept or not', async () => {
  const x = word()
  const [a, b, c] = await publish(
    { text: x, id: '1000000000000000001', created_at: ago(3_000) },
    { text: x, id: '1000000000000000002', created_at: ago(2_000) },
    { text: x, id: '1000000000000000003', created_at: ago(1_000) }
  )

  assert.deepEqual(idsOf(await search({ query: x, since_id: a! })), [c, b])
  assert.deepEqual(idsOf(await search({ query: x, until_id: c! })), [b, a])
  assert.deepEqual(idsOf(await search({ query: x, since_id: a!, until_id: c! })), [b])
  assert.deepEqual(idsOf(await search({ query: x, since_id: '999' })), [c, b, a])
  assert.deepEqual(idsOf(await search({ query: x, until_id: '999' })), [])
})

test('looks 7 days back in recent, and at all that is kept in all', async () => {
  const x = word()
  const [week, month] = await publish({ text: x, created_at: ago(6 * DAY) }, { text: x, created_at: ago(29 * DAY) })
  await publish({ text: x, created_at: ago(31 * DAY) })

  assert.deepEqual(idsOf(await search({ query: x })), [week])
  assert.deepEqual(idsOf(await search({ query: x }, by.headers, 'all')), [week, month])
})

test('shows posts of protected authors to themselves alone', async () => {
  const x = word()
  const author = await givenUser(app, { protected: true })
  const [id] = await publish({ text: x, author_id: author.id })
  const own = await givenUserToken(app, by, author)
  const other = await givenUserToken(app, by, await givenUser(app))

  assert.deepEqual(idsOf(await search({ query: x })), [])
  assert.deepEqual(idsOf(await search({ query: x }, other)), [])
  assert.deepEqual(idsOf(await search({ query: x }, own)), [id])
})

test('hides posts once their author begins to protect them', async () => {
  const x = word()
  const author = await givenUser(app)
  const [id] = await publish({ text: x, author_id: author.id })
  const before = await search({ query: x })
  await app.deps.database.db.updateTable('users').set({ protected: true }).where('id', '=', author.id).execute()

  assert.deepEqual(idsOf(before), [id])
  assert.deepEqual(idsOf(await search({ query: x })), [])
})

test('finds no reposts by keyword, but finds those that are asked for', async () => {
  const x = word()
  const author = `4${newId().slice(-8)}`
  const [post] = await publish({ text: x, author_id: author, created_at: ago(1_000) })
  const [repost] = await publish({
    text: `RT @ann: ${x}`,
    author_id: author,
    referenced_tweets: [{ type: 'retweeted', id: post }],
    includes: { tweets: [{ id: post, text: x, author_id: author }] }
  })

  assert.deepEqual(idsOf(await search({ query: x })), [post])
  assert.deepEqual(idsOf(await search({ query: `from:${author}` })), [repost, post])
})

test('gives the fields and includes that are asked for, each included thing once', async () => {
  const x = word()
  const includes = { users: [{ id: '42', username: 'ann', name: 'Ann', protected: false }] }
  await publish({ text: x, lang: 'en', includes }, { text: x, lang: 'en', includes })

  const { body } = await search({
    query: x,
    'tweet.fields': 'lang',
    expansions: 'author_id',
    'user.fields': 'protected'
  })

  assert.deepEqual(body.includes, { users: [{ id: '42', name: 'Ann', username: 'ann', protected: false }] })
  assert.deepEqual(Object.keys(body.data[0]).sort(), ['author_id', 'edit_history_tweet_ids', 'id', 'lang', 'text'])
})

test('stops looking after a while and says where to go on', async () => {
  const x = word()
  const [rare] = await publish({ text: x, created_at: ago(30_000) })
  await publish(...Array.from({ length: 30 }, () => ({ text: 'the', created_at: ago(20_000) })))
  const deps = { db: app.deps.database.db, clock: app.deps.clock, retentionMs: 30 * DAY, looksMax: 15 }
  const list = { name: 'test', recent: true }
  // Some words are in no index, so every post must be looked at.
  const query = { query: `the OR ${x}`, start_time: ago(45_000), end_time: ago(19_000), max_results: 100 }

  const first = await searchPosts(deps, query, list, undefined)
  const found: number[] = [first.meta.result_count]
  let last = first
  while (last.meta.next_token !== undefined) {
    last = await searchPosts(deps, { ...query, next_token: last.meta.next_token }, list, undefined)
    found.push(last.meta.result_count)
  }

  assert.deepEqual(found, [15, 15, 1])
  assert.equal(last.data?.[0]?.id, rare)
})

test('takes an app or a user, with their scopes, and only apps enrolled for it', async () => {
  const user = await givenUser(app)
  const unscoped = await givenUserToken(app, by, user, ['users.read'])
  const elsewhere = await givenApp(app, { products: ['webhooks'] })

  assert.equal((await search({ query: 'cat' }, {})).status, 401)
  assert.equal((await search({ query: 'cat' }, unscoped)).status, 403)
  const forbidden = await search({ query: 'cat' }, elsewhere.headers)
  assert.equal(forbidden.status, 403)
  assert.match(forbidden.body.type, /client-forbidden$/)
  const all = await search({ query: 'cat' }, await givenUserToken(app, by, user), 'all')
  assert.equal(all.status, 403)
  assert.match(all.body.type, /unsupported-authentication$/)
})

test('answers search/all once a second', async (t) => {
  const strict = await startApp(t, { HERALD_RATE_LIMITS: 'on' }, { beside: app })
  const { headers } = await givenApp(strict)
  const ask = async () => (await strict.apps.main.inject({ url: '/2/tweets/search/all?query=cat', headers })).statusCode

  assert.deepEqual([await ask(), await ask()], [200, 429])
})
