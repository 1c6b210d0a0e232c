import assert from 'node:assert/strict'
import { test } from 'node:test'
import { concernsOf } from './account-activity-deliver.ts'
import { accountActivityContent, accountActivityText, type Directory, groupOf } from './account-activity-payloads.ts'
import { TEXT_CHARACTERS_MAX } from './account-activity-posts.ts'
import { facetsOf, type Includes, type PublishedEvent } from './facets.ts'
import { oldTime } from './legacy.ts'

// biome-ignore lint/suspicious/noExplicitAny: payloads are looked into, and a test fails if something is not there
type Loose = any

const NOBODY: Directory = { users: new Map(), apps: new Map() }
const AT = '2018-03-26T16:33:26.123Z'
const event = (
  event_type: string,
  user_id: string,
  payload: Record<string, unknown>,
  includes: Includes | null = null
): PublishedEvent => ({
  id: '1',
  event_type,
  user_id,
  payload,
  includes,
  occurred_at: AT
})

/** What each user concerned would get, as text by user. */
function texts(published: PublishedEvent, { directory = NOBODY, protectedAuthor = false } = {}) {
  return Object.fromEntries(
    concernsOf({ event: published, facets: facetsOf(published), protectedAuthor }).map(({ user_id, facets, group }) => [
      user_id,
      accountActivityText(
        user_id,
        facets,
        published,
        JSON.stringify(accountActivityContent(published, group, directory))
      )
    ])
  )
}
const bodies = (published: PublishedEvent, options?: Parameters<typeof texts>[1]): Record<string, Loose> =>
  Object.fromEntries(Object.entries(texts(published, options)).map(([user, text]) => [user, JSON.parse(text)]))

const ann = {
  id: '42',
  name: 'Ann',
  username: 'ann',
  created_at: '2015-01-29T18:27:49.340Z',
  description: 'eats',
  protected: false,
  verified: true,
  profile_image_url: 'https://img.example.org/a.png',
  public_metrics: { followers_count: 1, following_count: 2, tweet_count: 3, listed_count: 4, like_count: 5 }
}
const post = (more: object = {}) => ({ id: '1902345678901234567', text: 'hi', author_id: '42', ...more })

test('times are in the old format', () => {
  assert.equal(oldTime(Date.parse(AT)), 'Mon Mar 26 16:33:26 +0000 2018')
  assert.equal(oldTime(Date.parse('2026-01-05T04:03:02Z')), 'Mon Jan 05 04:03:02 +0000 2026')
})

test('a post has its id as an exact number and as text', () => {
  const text = texts(event('post.create', '42', post(), { users: [ann] }))['42']!

  assert.match(
    text,
    /^\{"for_user_id":"42","tweet_create_events":\[\{"created_at":"Mon Mar 26 16:33:26 \+0000 2018","id":1902345678901234567,"id_str":"1902345678901234567","text":"hi","truncated":false,/
  )
  const [created] = JSON.parse(text).tweet_create_events
  assert.deepEqual(created.entities, { hashtags: [], urls: [], user_mentions: [], symbols: [] })
  assert.deepEqual(created.user, {
    id: 42,
    id_str: '42',
    name: 'Ann',
    screen_name: 'ann',
    description: 'eats',
    protected: false,
    verified: true,
    followers_count: 1,
    friends_count: 2,
    statuses_count: 3,
    profile_image_url_https: 'https://img.example.org/a.png',
    listed_count: 4,
    favourites_count: 5,
    created_at: 'Thu Jan 29 18:27:49 +0000 2015'
  })
  assert.equal(created.timestamp_ms, String(Date.parse(AT)))
  for (const field of ['in_reply_to_status_id', 'in_reply_to_user_id', 'in_reply_to_screen_name'])
    assert.equal(created[field], null)
  assert.equal(created.is_quote_status, false)
  assert.equal(JSON.parse(text).user_has_blocked, undefined)
})

test('ids that are no JSON numbers as they stand are written as numbers', () => {
  assert.match(texts(event('post.create', '42', post({ id: '007' })))['42']!, /"id":7,"id_str":"007"/)
})

test('entities have indices; without any the text speaks for itself', () => {
  const text = '🌮 #tacos for @bob: $TACO https://t.example/x'
  const entities = {
    hashtags: [{ start: 2, end: 8, tag: 'tacos' }],
    mentions: [{ start: 13, end: 17, username: 'bob', id: '43' }],
    cashtags: [{ start: 19, end: 24, tag: 'TACO' }],
    urls: [
      {
        start: 25,
        end: 44,
        url: 'https://t.example/x',
        expanded_url: 'https://example.org/x',
        display_url: 'example.org/x'
      }
    ]
  }
  const includes = { users: [{ id: '43', username: 'bob', name: 'Bob' }] }
  const of = (more: object) =>
    bodies(event('post.create', '42', post({ text, ...more }), includes))['42'].tweet_create_events[0].entities

  assert.deepEqual(of({ entities }), {
    hashtags: [{ text: 'tacos', indices: [2, 8] }],
    symbols: [{ text: 'TACO', indices: [19, 24] }],
    urls: [
      {
        url: 'https://t.example/x',
        expanded_url: 'https://example.org/x',
        display_url: 'example.org/x',
        indices: [25, 44]
      }
    ],
    user_mentions: [{ screen_name: 'bob', name: 'Bob', id: 43, id_str: '43', indices: [13, 17] }]
  })
  const { expanded_url: _e, display_url: _d, ...bare } = of({ entities }).urls[0]
  assert.deepEqual(of({}), { ...of({ entities }), urls: [bare] })
})

test('a long post is cut, with the whole beside it', () => {
  const long = `${'word '.repeat(27)}#first ${'🌮'.repeat(200)} #last`
  const [created] = bodies(event('post.create', '42', post({ text: 'begins…', note_tweet: { text: long } })))['42']
    .tweet_create_events

  assert.equal(created.truncated, true)
  assert.equal([...created.text].length, TEXT_CHARACTERS_MAX)
  assert.ok(long.startsWith(created.text.slice(0, -1)))
  assert.equal(created.text.at(-1), '…')
  assert.deepEqual(created.entities.hashtags, [])
  assert.equal(created.extended_tweet.full_text, long)
  assert.deepEqual(created.extended_tweet.display_text_range, [0, [...long].length])
  assert.deepEqual(
    created.extended_tweet.entities.hashtags.map(({ text }: { text: string }) => text),
    ['first', 'last']
  )
  const [short] = bodies(event('post.create', '42', post({ text: '🌮'.repeat(TEXT_CHARACTERS_MAX) })))['42']
    .tweet_create_events
  assert.equal(short.truncated, false)
  assert.equal(short.extended_tweet, undefined)
})

test('replies, quotes and reposts refer to what they are about', () => {
  const original = { id: '1902345678901234500', text: 'Lunch?', author_id: '43' }
  const includes = { users: [ann, { id: '43', username: 'bob', name: 'Bob' }], tweets: [original] }
  const of = (type: string) =>
    bodies(event('post.create', '42', post({ referenced_tweets: [{ type, id: original.id }] }), includes))

  const reply = of('replied_to')
  assert.deepEqual(Object.keys(reply), ['42', '43'])
  const [answered] = reply['43'].tweet_create_events
  assert.equal(answered.in_reply_to_status_id_str, original.id)
  assert.equal(answered.in_reply_to_user_id, 43)
  assert.equal(answered.in_reply_to_screen_name, 'bob')

  const [quote] = of('quoted')['43'].tweet_create_events
  assert.equal(quote.is_quote_status, true)
  assert.equal(quote.quoted_status_id_str, original.id)
  assert.equal(quote.quoted_status.text, 'Lunch?')
  assert.equal(quote.quoted_status.user.screen_name, 'bob')

  const [repost] = of('retweeted')['43'].tweet_create_events
  assert.equal(repost.retweeted_status.id_str, original.id)
  assert.match(
    texts(event('post.create', '42', post({ referenced_tweets: [{ type: 'retweeted', id: original.id }] }), includes))[
      '43'
    ]!,
    /"retweeted_status":\{"id":1902345678901234500,/
  )
})

test('whoever is mentioned is told whether they have blocked the author, and others are not', () => {
  const mention = post({ entities: { mentions: [{ id: '43', username: 'bob' }] }, in_reply_to_user_id: '44' })
  const told = bodies(event('post.create', '42', mention))

  assert.equal(told['43'].user_has_blocked, false)
  assert.equal('user_has_blocked' in told['42'], false)
  assert.equal('user_has_blocked' in told['44'], false)
  const explicit = event('post.mention.create', '43', { ...mention, user_has_blocked: true })
  assert.equal(bodies(explicit)['43'].user_has_blocked, true)
  assert.equal(bodies(explicit)['42'], undefined)
})

test("a protected author's posts go to the author alone", () => {
  const mention = event('post.create', '42', post({ entities: { mentions: [{ id: '43' }] } }))

  assert.deepEqual(Object.keys(texts(mention, { protectedAuthor: true })), ['42'])
})

test('a deleted post is told by its id and author, as text', () => {
  assert.deepEqual(bodies(event('post.delete', '42', { id: '1902345678901234567' })), {
    '42': {
      for_user_id: '42',
      tweet_delete_events: [
        { status: { id: '1902345678901234567', user_id: '42' }, timestamp_ms: String(Date.parse(AT)) }
      ]
    }
  })
})

test('a like is told to whoever liked and to the author', () => {
  const like = { liked_tweet_id: '1902345678901234500', liked_tweet_author_id: '43' }
  const includes = { users: [ann], tweets: [{ id: '1902345678901234500', text: 'Lunch?', author_id: '43' }] }
  const told = bodies(event('like.create', '42', like, includes))

  assert.deepEqual(Object.keys(told), ['42', '43'])
  const [favorite] = told['43'].favorite_events
  assert.match(favorite.id, /^[0-9a-f]{32}$/)
  assert.equal(favorite.created_at, 'Mon Mar 26 16:33:26 +0000 2018')
  assert.equal(favorite.timestamp_ms, Date.parse(AT))
  assert.equal(favorite.favorited_status.text, 'Lunch?')
  assert.equal(favorite.user.screen_name, 'ann')
  const [unknown] = bodies(event('like.create', '42', like))['42'].favorite_events
  assert.deepEqual(unknown.favorited_status.user, { id: 43, id_str: '43' })
  assert.deepEqual(unknown.user, { id: 42, id_str: '42' })
})

for (const [type, key, concerned] of [
  ['follow.follow', 'follow_events', ['42', '43']],
  ['follow.unfollow', 'follow_events', ['42', '43']],
  ['block.block', 'block_events', ['42']],
  ['block.unblock', 'block_events', ['42']],
  ['mute.mute', 'mute_events', ['42']],
  ['mute.unmute', 'mute_events', ['42']]
] as const) {
  test(`${type} is told under ${key}, to ${concerned.join(' and ')}`, () => {
    const told = bodies(
      event(type, '42', { source: ann, target: { data: { id: '43', username: 'bob', name: 'Bob' } } })
    )

    assert.deepEqual(Object.keys(told), concerned)
    const { for_user_id, ...rest } = told[concerned[0]]
    assert.equal(for_user_id, concerned[0])
    assert.deepEqual(rest, {
      [key]: [
        {
          type: type.split('.')[1],
          created_timestamp: String(Date.parse(AT)),
          source: {
            id: '42',
            created_timestamp: String(Date.parse(ann.created_at)),
            name: 'Ann',
            screen_name: 'ann',
            description: 'eats',
            protected: false,
            verified: true,
            followers_count: 1,
            friends_count: 2,
            statuses_count: 3,
            profile_image_url_https: 'https://img.example.org/a.png'
          },
          target: { id: '43', name: 'Bob', screen_name: 'bob', protected: false, verified: false }
        }
      ]
    })
  })
}

test('a message comes with its users and the app it was written with', () => {
  const directory: Directory = {
    users: new Map([['43', { id: '43', username: 'bob', name: 'Bob' }]]),
    apps: new Map([['29893711', { id: '29893711', name: 'demo-app' }]])
  }
  const payload = { id: '5', sender_id: '43', recipient_id: '42', text: 'hi', source_app_id: '29893711' }
  const told = bodies(event('dm.received', '42', payload, { users: [ann] }), { directory })

  assert.deepEqual(Object.keys(told), ['42', '43'])
  assert.deepEqual(Object.keys(told['42']), ['for_user_id', 'direct_message_events', 'apps', 'users'])
  assert.deepEqual(told['42'].apps, { '29893711': { id: '29893711', name: 'demo-app' } })
  assert.equal(told['42'].users['42'].screen_name, 'ann')
  assert.equal(told['42'].users['43'].screen_name, 'bob')
  assert.deepEqual(told['42'].direct_message_events[0], {
    type: 'message_create',
    id: '5',
    created_timestamp: String(Date.parse(AT)),
    message_create: {
      target: { recipient_id: '42' },
      sender_id: '43',
      source_app_id: '29893711',
      message_data: { text: 'hi', entities: { hashtags: [], symbols: [], urls: [], user_mentions: [] } }
    }
  })
  assert.deepEqual({ ...told['43'], for_user_id: '42' }, told['42'])
})

test('the app of a message may be told by the publisher', () => {
  const apps = { '7': { id: '7', name: 'elsewhere', url: 'https://app.example.org' } }
  const payload = { id: '5', sender_id: '43', text: 'hi', source_app_id: '7', apps }

  assert.deepEqual(bodies(event('dm.received', '42', payload))['42'].apps, apps)
  const { apps: _, ...unknown } = payload
  assert.equal('apps' in bodies(event('dm.received', '42', unknown))['42'], false)
})

for (const [type, key] of [
  ['dm.indicate_typing', 'direct_message_indicate_typing_events'],
  ['dm.read', 'direct_message_mark_read_events']
] as const) {
  test(`${type} is told to the other side only`, () => {
    const payload = { sender_id: '43', recipient_id: '42', last_read_event_id: '5' }
    const told = bodies(event(type, '42', payload))

    assert.deepEqual(Object.keys(told), ['42'])
    assert.deepEqual(told['42'][key], [
      {
        created_timestamp: String(Date.parse(AT)),
        sender_id: '43',
        target: { recipient_id: '42' },
        ...(type === 'dm.read' ? { last_read_event_id: '5' } : {})
      }
    ])
    assert.deepEqual(told['42'].users, { '43': { id: '43' }, '42': { id: '42' } })
  })
}

test('what is not part of account activity is not told', () => {
  for (const event_type of ['profile.update.bio', 'spaces.start', 'chat.received', 'news.new', 'broadcast.start'])
    assert.equal(groupOf({ event_type, direction: null }), undefined)
})
