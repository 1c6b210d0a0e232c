import assert from 'node:assert/strict'
import { after, test } from 'node:test'
import { startApp } from '../../../test/app.ts'
import { givenUser } from '../../../test/given.ts'
import { newId } from '../../storage/ids.ts'
import { findPosts } from './posts.ts'

const app = await startApp({ after })
const { db } = app.deps.database

async function publish(...events: object[]) {
  const answer = await app.apps.main.inject({
    method: 'POST',
    url: '/admin/events',
    headers: { authorization: `Bearer ${app.adminToken}` },
    payload: { events }
  })
  assert.equal(answer.statusCode, 202, answer.body)
}

const created = (payload: object, includes?: object) => ({
  event_type: 'post.create',
  payload: { author_id: '42', text: 'hello', ...payload },
  ...(includes ? { includes } : {})
})

test('keeps a post from the moment it is published until it is deleted', async () => {
  const id = newId()

  await publish(created({ id, public_metrics: { like_count: 3 } }, { users: [{ id: '42', username: 'ann' }] }))
  const [kept] = await findPosts(db, [id])
  await publish({ event_type: 'post.delete', payload: { id, author_id: '42' } })

  assert.deepEqual(kept?.payload, { author_id: '42', text: 'hello', id, public_metrics: { like_count: 3 } })
  assert.deepEqual(kept?.includes, { users: [{ id: '42', username: 'ann' }] })
  assert.equal(kept?.author_id, '42')
  assert.deepEqual(await findPosts(db, [id]), [])
})

test('believes the last word of a batch about a post', async () => {
  const [gone, back] = [newId(), newId()]
  const deleted = (id: string) => ({ event_type: 'post.delete', payload: { id, author_id: '42' } })

  await publish(created({ id: gone }), deleted(gone), created({ id: back }), deleted(back), created({ id: back }))

  assert.deepEqual(
    (await findPosts(db, [gone, back])).map((post) => post.id),
    [back]
  )
})

test('keeps the newest telling of a post, but never that of another author', async () => {
  const id = newId()

  await publish(created({ id, text: 'first' }))
  await publish(created({ id, text: 'second' }))
  await publish(created({ id, text: 'not mine', author_id: '43' }))

  assert.equal((await findPosts(db, [id]))[0]?.payload.text, 'second')
})

test('dates a post by what it says, else by its event, and never later than now', async () => {
  const [said, told, future] = [newId(), newId(), newId()]
  const hourAgo = new Date(app.deps.clock.now() - 3_600_000).toISOString()

  await publish(
    created({ id: said, created_at: hourAgo }),
    { ...created({ id: told, created_at: 'yesterday' }), occurred_at: hourAgo },
    created({ id: future, created_at: '2199-01-01T00:00:00.000Z' })
  )
  const times = new Map((await findPosts(db, [said, told, future])).map((post) => [post.id, post.created_at]))

  assert.equal(times.get(said), hourAgo)
  assert.equal(times.get(told), hourAgo)
  assert.ok(Date.parse(times.get(future)!) <= app.deps.clock.now())
})

test('knows posts of protected authors as such', async () => {
  const author = await givenUser(app, { protected: true })
  const id = newId()

  await publish(created({ id, author_id: author.id }))

  assert.equal((await findPosts(db, [id]))[0]?.protected, true)
})

test('publishes and keeps a post whose other fields make no sense', async () => {
  const id = newId()

  await publish(created({ id, note_tweet: { text: 5 }, entities: { hashtags: 'none', mentions: [] } }))

  assert.equal((await findPosts(db, [id])).length, 1)
})

test('forgets posts at the end of their time', async () => {
  const [old, recent] = [newId(), newId()]
  const daysAgo = (days: number) => new Date(app.deps.clock.now() - days * 86_400_000).toISOString()

  await publish(created({ id: old, created_at: daysAgo(31) }), created({ id: recent, created_at: daysAgo(29) }))
  await app.drain()

  assert.deepEqual(
    (await findPosts(db, [old, recent])).map((post) => post.id),
    [recent]
  )
})
