import assert from 'node:assert/strict'
import { test } from 'node:test'
import { activityEnvelope, activityPayload, activityText } from './envelope.ts'
import { eventExamples } from './event-examples.ts'
import { publishedExample } from './events-page.ts'
import { facetsOf, type PublishedEvent } from './facets.ts'

const event = (
  event_type: string,
  payload: Record<string, unknown>,
  more: Partial<PublishedEvent> = {}
): PublishedEvent => ({
  id: '1902600000000000001',
  event_type,
  user_id: '42',
  payload,
  includes: null,
  occurred_at: '2026-06-22T10:00:00.123Z',
  ...more
})
const to = { event_type_given: 'profile.update.bio', filter: { user_id: '42' }, tag: 'ann bio' }

test('the envelope is the one of the documents, with a tag only where there is one', () => {
  const bio = event('profile.update.bio', { before: 'old bio', after: 'new bio' })

  assert.deepEqual(activityEnvelope(bio, 'profile.update.bio', to), {
    data: {
      event_uuid: '1902600000000000001',
      filter: { user_id: '42' },
      event_type: 'profile.update.bio',
      tag: 'ann bio',
      payload: { before: 'old bio', after: 'new bio' }
    }
  })
  assert.ok(!('tag' in activityEnvelope(bio, 'profile.update.bio', { ...to, tag: null }).data))
})

test('the text for many is the JSON for each, for every type', () => {
  for (const example of eventExamples()) {
    const published = publishedExample(example, '5')
    for (const { event_type } of facetsOf(published)) {
      for (const addressee of [to, { event_type_given: event_type, filter: {}, tag: null }])
        assert.equal(
          activityText(published, event_type)(addressee),
          JSON.stringify(activityEnvelope(published, event_type, addressee))
        )
    }
  }
})

test('users are wrapped where clients expect it, however they came', () => {
  const [ann, bob] = [{ id: '42' }, { data: { id: '43' } }]
  const wrapped = [{ data: { id: '42' } }, { data: { id: '43' } }]

  for (const type of ['follow.follow', 'mute.mute', 'block.unblock'])
    assert.deepEqual(activityPayload(event(type, { source: ann, target: bob }), type), {
      source: wrapped[0],
      target: wrapped[1]
    })
  for (const user of [ann, wrapped[0]])
    assert.deepEqual(activityPayload(event('spaces.start', { user, broadcast_id: 'x' }), 'spaces.start'), {
      user: wrapped[0],
      broadcast_id: 'x',
      event_type: 'spaces_start'
    })
  const includes = { users: [ann, bob] }
  const deleted = event('post.delete', { id: '9' }, { includes })
  const posted = event('post.create', { id: '9' }, { includes })
  assert.deepEqual(activityEnvelope(deleted, 'post.delete', to).data.includes, { users: wrapped })
  assert.deepEqual(activityEnvelope(posted, 'post.create', to).data.includes, { users: [{ id: '42' }, { id: '43' }] })
  assert.deepEqual(activityPayload(deleted, 'post.delete'), { id: '9', author_id: '42' })
})

test('a like has an id of 32 hexadecimal digits, a time and its milliseconds as text', () => {
  const like = event('like.create', { liked_tweet_id: '9', tweet_author_id: '43' })
  const payload = activityPayload(like, 'like.create')

  assert.match(payload.id as string, /^[0-9a-f]{32}$/)
  assert.equal(payload.id, activityPayload(like, 'like.create').id)
  assert.equal(payload.created_at, '2026-06-22T10:00:00.123Z')
  assert.equal(payload.timestamp_ms, '1782122400123')
  assert.equal(payload.liked_tweet_author_id, '43')
  assert.equal(activityPayload(event('like.create', { id: 'own', liked_tweet_id: '9' }), 'like.create').id, 'own')
})

const users = [
  { id: '42', username: 'ann' },
  { id: '43', username: 'bob' }
]
const element = {
  type: 'message_create',
  id: '5',
  created_timestamp: '1782122400123',
  message_create: {
    target: { recipient_id: '42' },
    sender_id: '43',
    message_data: { text: 'hi', entities: { hashtags: [], symbols: [], urls: [], user_mentions: [] } }
  }
}

test('messages have one shape, whether they came flat, as a v2 event or in that shape', () => {
  const expected = { direct_message_events: [element], users: { '42': { data: users[0] }, '43': { data: users[1] } } }
  const { created_timestamp: _, ...withoutTime } = element

  for (const payload of [
    { id: '5', sender_id: '43', recipient_id: '42', text: 'hi' },
    { id: '5', sender_id: '43', text: 'hi' },
    {
      id: '5',
      event_type: 'MessageCreate',
      sender_id: '43',
      dm_conversation_id: '42-43',
      text: 'hi',
      participant_ids: ['42', '43']
    },
    { direct_message_events: [element] },
    { direct_message_events: [{ ...withoutTime, participant_ids: ['42'] }] }
  ]) {
    const received = event('dm.received', payload, { includes: { users } })
    const { users: order, ...rest } = activityPayload(received, 'dm.received')
    assert.deepEqual({ ...rest, users: order }, expected)
    assert.deepEqual(activityPayload(received, 'dm.sent'), activityPayload(received, 'dm.received'))
  }
})

test('participant_ids is there when somebody joins or leaves, and never on a message', () => {
  for (const [kind, type] of [
    ['ParticipantsJoin', 'participants_join'],
    ['ParticipantsLeave', 'participants_leave']
  ]) {
    const payload = {
      id: '5',
      event_type: kind,
      sender_id: '43',
      dm_conversation_id: '77',
      participant_ids: ['44', '45']
    }
    assert.deepEqual(activityPayload(event('dm.received', payload), 'dm.received').direct_message_events, [
      {
        type,
        event_type: kind,
        id: '5',
        created_timestamp: '1782122400123',
        dm_conversation_id: '77',
        sender_id: '43',
        participant_ids: ['44', '45']
      }
    ])
  }
  const message = { id: '5', event_type: 'MessageCreate', sender_id: '43', text: 'hi', participant_ids: ['42', '43'] }
  assert.ok(!JSON.stringify(activityPayload(event('dm.received', message), 'dm.received')).includes('participant_ids'))
})

test('typing and reading name both sides', () => {
  const payload = { sender_id: '43', last_read_event_id: '5' }

  assert.deepEqual(activityPayload(event('dm.read', payload), 'dm.read').direct_message_mark_read_events, [
    { created_timestamp: '1782122400123', sender_id: '43', target: { recipient_id: '42' }, last_read_event_id: '5' }
  ])
  assert.deepEqual(
    activityPayload(event('dm.indicate_typing', payload), 'dm.indicate_typing').direct_message_indicate_typing_events,
    [{ created_timestamp: '1782122400123', sender_id: '43', target: { recipient_id: '42' } }]
  )
})
