import assert from 'node:assert/strict'
import { after, test } from 'node:test'
import { givenApp, givenUser, givenUserToken } from '../../../test/given.ts'
import { startReceiving } from '../../../test/given-activity.ts'
import { updateUser } from '../../identity/index.ts'
import { newId } from '../../storage/ids.ts'
import { findPosts } from './posts.ts'

const herald = await startReceiving({ after })
const { app, call } = herald
const { db } = app.deps.database
const by = await givenApp(app)

async function author(input: Parameters<typeof givenUser>[1] = {}) {
  const user = await givenUser(app, input)
  const headers = await givenUserToken(app, by, user)
  return {
    user,
    headers,
    async posted(text = 'first', more: object = {}) {
      const { status, body } = await call('POST', '/2/tweets', headers, { text, ...more })
      assert.equal(status, 201, JSON.stringify(body))
      return body.data.id as string
    },
    edit: (previous_post_id: string, text = 'second', more: object = {}, url = '/2/posts') =>
      call('POST', url, headers, { text, edit_options: { previous_post_id }, ...more }),
    remove: (id: string) => call('DELETE', `/2/tweets/${id}`, headers)
  }
}
const found = async (query: string) => {
  const { body } = await call('GET', `/2/tweets/search/recent?query=${query}`, by.headers)
  return (body.data ?? []).map(({ id }: { id: string }) => id)
}

test('gives every version an id of its own, keeps the history and finds the newest', async () => {
  const { user, posted, edit } = await author()
  const first = await posted()

  const second = await edit(first)
  const third = await edit(second.body.data.id, 'third', {}, '/2/tweets')

  assert.equal(second.status, 201)
  assert.equal(third.status, 201)
  const ids = [first, second.body.data.id, third.body.data.id]
  assert.deepEqual(third.body.data, { id: ids[2], text: 'third', edit_history_tweet_ids: ids })
  assert.deepEqual(await found(`from:${user.id}`), [ids[2]])
  const kept = await findPosts(db, ids)
  assert.equal(kept.find(({ id }) => id === first)?.payload.text, 'first')
  assert.deepEqual(kept.map(({ replaced_by }) => replaced_by).toSorted(), [ids[2], ids[2], null].toSorted())
})

test('stays the reply that it was', async () => {
  const original = await (await author()).posted()
  const { posted, edit } = await author()
  const reply = await posted('a reply', { reply: { in_reply_to_tweet_id: original } })

  const { body } = await edit(reply, 'a better reply')
  const [kept] = await findPosts(db, [body.data.id])

  assert.equal(kept?.payload.conversation_id, original)
  assert.deepEqual(kept?.payload.referenced_tweets, [{ type: 'replied_to', id: original }])
  assert.equal((await edit(body.data.id, 'x', { reply: { in_reply_to_tweet_id: '1' } })).status, 400)
})

test('edits one version once, however many ask at the same time', async () => {
  const { posted, edit } = await author()
  const first = await posted()

  const answers = await Promise.all(['a', 'b', 'c', 'd'].map((text) => edit(first, text)))
  const later = await edit(first)

  assert.deepEqual(answers.map(({ status }) => status).sort(), [201, 400, 400, 400])
  assert.equal(later.status, 400)
  assert.match(later.body.errors[0].message, /was edited already/)
})

test("edits nobody else's post, none that is unknown and none without a name", async () => {
  const { posted } = await author()
  const first = await posted()
  const other = await author()

  assert.equal((await other.edit(first)).status, 403)
  const unknown = await other.edit(newId())
  assert.equal(unknown.status, 404)
  assert.match(unknown.body.type, /resource-not-found$/)
  assert.equal((await call('POST', '/2/posts', other.headers, { text: 'x' })).status, 400)
  assert.equal(
    (await call('POST', '/2/posts', by.headers, { text: 'x', edit_options: { previous_post_id: first } })).status,
    403
  )
})

test('edits a post five times', async () => {
  const { posted, edit } = await author()
  let id = await posted()
  for (let edits = 0; edits < 5; edits++) id = (await edit(id, `version ${edits}`)).body.data.id

  const { status, body } = await edit(id)

  assert.equal(status, 403)
  assert.match(body.detail, /5 times/)
})

test('edits within an hour of the first version, however often it was edited since', async () => {
  const { user, edit } = await author()
  const minutesAgo = (minutes: number) => new Date(app.deps.clock.now() - minutes * 60_000).toISOString()
  const [old, young] = [newId(), newId()]
  await herald.publish(
    ...[
      { id: old, created_at: minutesAgo(61) },
      { id: young, created_at: minutesAgo(59) }
    ].map((post) => ({ event_type: 'post.create', payload: { ...post, text: 'told', author_id: user.id } }))
  )

  const late = await edit(old)
  const inTime = await edit(young)
  const [kept] = await findPosts(db, [inTime.body.data.id])

  assert.equal(late.status, 403)
  assert.match(late.body.detail, /could be edited until/)
  assert.equal(inTime.status, 201)
  const controls = kept!.payload.edit_controls as { edits_remaining: number; editable_until: string }
  assert.equal(controls.edits_remaining, 4)
  assert.ok(Date.parse(controls.editable_until) <= app.deps.clock.now() + 60_000)
})

test('edits for everybody but those whom the host says to have no subscription', async () => {
  const { user, posted, edit } = await author()
  const first = await posted()
  await updateUser(db, user.id, { profile: { subscription_type: 'None' } }, new Date(app.deps.clock.now()))

  assert.match((await edit(first)).body.detail, /premium/)
  await updateUser(db, user.id, { profile: { subscription_type: 'Premium' } }, new Date(app.deps.clock.now()))
  assert.equal((await edit(first)).status, 201)
})

test('deletes a post with all its versions, and tells of each', async () => {
  const { by: reader, webhook } = await herald.appWithWebhook()
  const { user, posted, edit, remove } = await author()
  await call('POST', '/2/activity/subscriptions', reader.headers, {
    event_type: 'post.delete',
    filter: { user_id: user.id },
    webhook_id: webhook.id
  })
  const first = await posted()
  const second = (await edit(first)).body.data.id

  const { status, body } = await remove(first)
  await app.drain()

  assert.equal(status, 200)
  assert.deepEqual(body, { data: { deleted: true } })
  assert.deepEqual(await findPosts(db, [first, second]), [])
  assert.deepEqual(await found(`from:${user.id}`), [])
  assert.deepEqual(
    webhook
      .bodies()
      .map(({ data }) => data.payload.id)
      .sort(),
    [first, second].sort()
  )
})

test('deletes once, however many ask at the same time', async () => {
  const { posted, remove } = await author()
  const id = await posted()

  const answers = await Promise.all([remove(id), remove(id), remove(id)])

  assert.deepEqual(answers.map(({ status }) => status).sort(), [200, 404, 404])
  assert.equal((await remove(id)).status, 404)
})

test("deletes own posts only, and says nothing of others' protected ones", async () => {
  const { posted } = await author()
  const hidden = await author({ protected: true })
  const other = await author()
  const [open, secret] = [await posted(), await hidden.posted()]

  assert.equal((await other.remove(open)).status, 403)
  assert.equal((await other.remove(secret)).status, 404)
  assert.equal((await other.remove('abc')).status, 400)
  assert.equal((await call('DELETE', `/2/tweets/${open}`, {})).status, 401)
  assert.equal((await call('DELETE', `/2/tweets/${open}`, by.headers)).status, 403)
  assert.equal((await findPosts(db, [open, secret])).length, 2)
})

test('an edit and a deletion at the same time leave no version of a deleted post', async () => {
  const { user, posted, edit, remove } = await author()
  for (let i = 0; i < 8; i++) {
    const first = await posted()
    const [edited, removed] = await Promise.all([edit(first), remove(first)])

    assert.equal(removed.status, 200, JSON.stringify(removed.body))
    assert.ok([201, 400, 404].includes(edited.status), JSON.stringify(edited.body))
    assert.deepEqual(await found(`from:${user.id}`), [])
  }
})
