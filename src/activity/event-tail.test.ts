import assert from 'node:assert/strict'
import { after, test } from 'node:test'
import { startApp } from '../../test/app.ts'

const app = await startApp({ after })
const admin = async (method: 'GET' | 'POST', url: string, payload?: object) => {
  const answer = await app.apps.main.inject({
    method,
    url: `/admin${url}`,
    headers: { authorization: `Bearer ${app.adminToken}` },
    ...(payload ? { payload } : {})
  })
  assert.ok(answer.statusCode < 300, answer.body)
  return answer.json().data as { id: string; event_type: string; payload: { after: string } }[]
}
const publish = async (user_id: string, text: string) => {
  const events = [{ event_type: 'profile.update.bio', user_id, payload: { before: '', after: text } }]
  return (await admin('POST', '/events', { events }))[0]!.id
}

test('the latest events come first, also those of an hour ago, and only those since when asked so', async () => {
  const old = await publish('42', 'an hour ago')
  await app.apps.main.inject({
    method: 'POST',
    url: '/admin/clock',
    headers: { authorization: `Bearer ${app.adminToken}` },
    payload: { advance: '50m' }
  })
  const ids = [await publish('42', 'one'), await publish('43', 'two'), await publish('42', 'three')]

  const all = await admin('GET', '/events')
  assert.deepEqual(
    all.map(({ payload }) => payload.after),
    ['three', 'two', 'one', 'an hour ago']
  )
  assert.equal(all.at(-1)!.id, old)
  const since = await admin('GET', `/events?after=${ids[0]}`)
  assert.deepEqual(
    since.map(({ id }) => id),
    [ids[2], ids[1]]
  )
  assert.deepEqual(
    (await admin('GET', '/events?user_id=43&event_type=profile.update.bio')).map(({ id }) => id),
    [ids[1]]
  )
  assert.equal((await admin('GET', '/events?max_results=2')).length, 2)
})
