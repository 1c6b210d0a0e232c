import assert from 'node:assert/strict'
import { test } from 'node:test'
import { facetsOf, type Includes, subjectOf } from './facets.ts'

const facets = (
  event_type: string,
  user_id: string | null,
  payload: Record<string, unknown>,
  includes: Includes | null = null
) =>
  facetsOf({ id: '1', event_type, user_id, payload, includes, occurred_at: '2026-06-22T10:00:00.000Z' }).map((facet) =>
    `${facet.event_type} ${facet.user_id} ${facet.direction ?? ''}`.trim()
  )
const post = (more: object = {}) => ({ id: '9', text: 'hi', author_id: '42', ...more })
const original = { id: '8', author_id: '43' }

test('a post concerns its author, and whom it mentions, answers, quotes or reposts', () => {
  const includes = { tweets: [original] }

  assert.deepEqual(facets('post.create', '42', post()), ['post.create 42'])
  assert.deepEqual(
    facets('post.create', '42', post({ entities: { mentions: [{ id: '43' }, { id: '44' }, { id: '43' }] } })),
    ['post.create 42', 'post.mention.create 43', 'post.mention.create 44']
  )
  assert.deepEqual(facets('post.create', '42', post({ in_reply_to_user_id: '43' })), [
    'post.create 42',
    'post.reply.create 43'
  ])
  for (const [type, as] of [
    ['replied_to', 'reply'],
    ['quoted', 'quote'],
    ['retweeted', 'repost']
  ]) {
    assert.deepEqual(facets('post.create', '42', post({ referenced_tweets: [{ type, id: '8' }] }), includes), [
      'post.create 42',
      `post.${as}.create 43`
    ])
    assert.deepEqual(facets('post.create', '42', post({ referenced_tweets: [{ type, id: '8' }] })), ['post.create 42'])
  }
})

test('nobody is told of what they did to themselves', () => {
  const self = post({
    in_reply_to_user_id: '42',
    entities: { mentions: [{ id: '42' }] },
    referenced_tweets: [{ type: 'quoted', id: '7' }]
  })

  assert.deepEqual(facets('post.create', '42', self, { tweets: [{ id: '7', author_id: '42' }] }), ['post.create 42'])
})

test('without entities the text says who is mentioned, as far as the users came along', () => {
  const includes = { users: [{ id: '43', username: 'Bob' }, { data: { id: '44', username: 'cy' } }] }

  assert.deepEqual(facets('post.create', '42', post({ text: 'hi @bob, @cy and @nobody; mail x@bob.org' }), includes), [
    'post.create 42',
    'post.mention.create 43',
    'post.mention.create 44'
  ])
  assert.deepEqual(facets('post.create', '42', post({ text: 'hi @bob', entities: {} }), includes), ['post.create 42'])
})

test('a repost mentions nobody anew', () => {
  const repost = post({
    text: 'RT @bob: hi @cy',
    entities: { mentions: [{ id: '43' }, { id: '44' }] },
    referenced_tweets: [{ type: 'retweeted', id: '8' }]
  })

  assert.deepEqual(facets('post.create', '42', repost, { tweets: [original] }), [
    'post.create 42',
    'post.repost.create 43'
  ])
})

test('likes and follows have two sides, also when both are one', () => {
  const like = { liked_tweet_id: '8', liked_tweet_author_id: '43' }

  assert.deepEqual(facets('like.create', '42', like), ['like.create 42 outbound', 'like.create 43 inbound'])
  assert.deepEqual(facets('like.create', '43', like), ['like.create 43 outbound', 'like.create 43 inbound'])
  assert.deepEqual(facets('like.create', '42', { liked_tweet_id: '8' }), ['like.create 42 outbound'])
  for (const user of ['42', '43']) {
    assert.deepEqual(facets('follow.follow', user, { source: { id: '42' }, target: { data: { id: '43' } } }), [
      'follow.follow 42 outbound',
      'follow.follow 43 inbound'
    ])
  }
})

test('whom somebody blocks or mutes is never told', () => {
  for (const type of ['block.block', 'block.unblock', 'mute.mute', 'mute.unmute']) {
    assert.deepEqual(facets(type, '42', { source: { id: '42' }, target: { id: '43' } }), [`${type} 42`])
    assert.equal(subjectOf(type, { source: { id: '42' }, target: { id: '43' } }), '42')
  }
})

const flat = { id: '5', sender_id: '42', recipient_id: '43', text: 'x' }
const conversation = { id: '5', event_type: 'MessageCreate', sender_id: '42', dm_conversation_id: '42-43' }
const legacy = {
  direct_message_events: [{ id: '5', message_create: { sender_id: '42', target: { recipient_id: '43' } } }]
}

for (const [form, payload] of Object.entries({ flat, conversation, legacy })) {
  test(`a message is sent by one and received by the other, whichever is published (${form})`, () => {
    const sent = { event_type: 'dm.sent', user_id: '42', direction: 'outbound', name: 'dm.sent 5 42' }
    const received = { event_type: 'dm.received', user_id: '43', direction: 'inbound', name: 'dm.received 5 43' }
    const event = { id: '1', payload, includes: null, occurred_at: '' }

    assert.deepEqual(facetsOf({ ...event, event_type: 'dm.sent', user_id: '42' }), [sent, received])
    assert.deepEqual(facetsOf({ ...event, event_type: 'dm.received', user_id: '43' }), [received, sent])
    assert.equal(subjectOf('dm.sent', payload), '42')
    assert.equal(subjectOf('dm.received', payload), '43')
  })
}

test('a message that names one side is about the other as the event says', () => {
  assert.deepEqual(facets('dm.sent', '42', { recipient_id: '43', text: 'x' }), [
    'dm.sent 42 outbound',
    'dm.received 43 inbound'
  ])
  assert.deepEqual(facets('dm.received', '43', { sender_id: '42' }), ['dm.received 43 inbound', 'dm.sent 42 outbound'])
  assert.deepEqual(facets('dm.received', '43', { text: 'x' }), ['dm.received 43 inbound'])
})

test('who joins a conversation has sent nobody anything', () => {
  const join = { event_type: 'ParticipantsJoin', sender_id: '42', participant_ids: ['44'] }

  assert.deepEqual(facets('dm.received', '43', join), ['dm.received 43 inbound'])
  assert.equal(subjectOf('dm.received', join), undefined)
})

test('typing and reading reach the other side as inbound, and are outbound for whoever does it', () => {
  for (const type of ['dm.read', 'dm.indicate_typing']) {
    assert.deepEqual(facets(type, '43', { sender_id: '42', recipient_id: '43' }), [
      `${type} 43 inbound`,
      `${type} 42 outbound`
    ])
  }
})

test('a chat of two is sent by one and received by the other', () => {
  const message = { id: 'u-1', conversation_id: '42:43', sender_id: '42' }

  assert.deepEqual(facets('chat.sent', '42', message), ['chat.sent 42 outbound', 'chat.received 43 inbound'])
  assert.deepEqual(facets('chat.received', '43', message), ['chat.received 43 inbound', 'chat.sent 42 outbound'])
  assert.deepEqual(facets('chat.sent', '42', { ...message, conversation_id: 'g77' }), ['chat.sent 42 outbound'])
})

test('everything else concerns the user it names', () => {
  assert.deepEqual(facets('profile.update.bio', '42', {}), ['profile.update.bio 42'])
  assert.deepEqual(facets('news.new', null, { name: 'x' }), ['news.new null'])
})
