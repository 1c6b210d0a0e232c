/** One event of each type, as a platform would publish it: for docs/events.md, and for tests that publish all of them. */
import { EVENT_TYPES } from './event-types.ts'

export interface Example {
  event_type: string
  user_id?: string
  payload: Record<string, unknown>
  id: string
  occurred_at: string
  includes?: Record<string, unknown>
}

const ann = { id: '42', name: 'Ann', username: 'ann' }
const bob = { id: '43', name: 'Bob', username: 'bob' }
const both = { users: [ann, bob] }
/** As much of a user as there is; the other examples make do with less. */
const annInFull = {
  ...ann,
  created_at: '2015-01-29T18:27:49.340Z',
  protected: false,
  verified: false,
  profile_image_url: 'https://img.example.org/a.png',
  public_metrics: { followers_count: 1, following_count: 2, tweet_count: 3, listed_count: 0 }
}
const lunch = { id: '1902345678901234500', text: 'Lunch?', author_id: '43' }
const post = (id: string, text: string, more: Record<string, unknown> = {}) => ({
  id,
  text,
  author_id: '42',
  lang: 'en',
  ...more
})
const relation = { source: ann, target: bob }
const change = (before: string, after: string) => ({ user_id: '42', payload: { before, after } })
const chatMessage = {
  id: '0d9f5c1e-58a5-4c57-9a3b-2f6f6a1f7d10',
  conversation_id: '42:43',
  sender_id: '42',
  created_at_msec: '1782121692123',
  conversation_key_version: '1',
  encoded_event: 'CwABAAAAEzE5MDIz'
}
const group = { conversation_id: 'g1902345678901234600', created_at_msec: '1782121692123' }
const space = { user: ann, broadcast_id: '1qxvvkXGlndGB' }

const EXAMPLES: Record<string, Omit<Example, 'event_type' | 'id' | 'occurred_at'>> = {
  'post.create': {
    payload: post('1902345678901234567', '@bob Yes! #tacos', {
      in_reply_to_user_id: '43',
      referenced_tweets: [{ type: 'replied_to', id: lunch.id }],
      entities: {
        mentions: [{ start: 0, end: 4, username: 'bob', id: '43' }],
        hashtags: [{ start: 10, end: 16, tag: 'tacos' }]
      },
      public_metrics: { retweet_count: 0, reply_count: 0, like_count: 0, quote_count: 0 }
    }),
    includes: { users: [annInFull, bob], tweets: [lunch] }
  },
  'post.delete': { payload: { id: '1902345678901234567', author_id: '42' }, includes: { users: [ann] } },
  'post.mention.create': {
    user_id: '43',
    payload: post('1902345678901234568', 'Thank you @bob', {
      entities: { mentions: [{ start: 10, end: 14, username: 'bob', id: '43' }] }
    }),
    includes: both
  },
  'post.reply.create': {
    user_id: '43',
    payload: post('1902345678901234569', 'See you there', {
      in_reply_to_user_id: '43',
      referenced_tweets: [{ type: 'replied_to', id: lunch.id }]
    }),
    includes: { ...both, tweets: [lunch] }
  },
  'post.quote.create': {
    user_id: '43',
    payload: post('1902345678901234570', 'He always asks', { referenced_tweets: [{ type: 'quoted', id: lunch.id }] }),
    includes: { ...both, tweets: [lunch] }
  },
  'post.repost.create': {
    user_id: '43',
    payload: post('1902345678901234571', 'RT @bob: Lunch?', {
      referenced_tweets: [{ type: 'retweeted', id: lunch.id }]
    }),
    includes: { ...both, tweets: [lunch] }
  },
  'profile.update.bio': change('old bio', 'new bio'),
  'profile.update.profile_picture': change('https://img.example.org/a.png', 'https://img.example.org/a2.png'),
  'profile.update.banner_picture': change('https://img.example.org/b1.png', 'https://img.example.org/b2.png'),
  'profile.update.screenname': change('Ann', 'Ann B.'),
  'profile.update.handle': change('ann', 'ann_b'),
  'profile.update.geo': change('Lisbon', 'Porto'),
  'profile.update.url': change('https://ann.example.org', 'https://ann-b.example.org'),
  'profile.update.verified_badge': change('none', 'blue'),
  'profile.update.affiliate_badge': change('', 'https://img.example.org/badge.png'),
  'dm.received': {
    user_id: '42',
    payload: {
      id: '954491830116155396',
      sender_id: '43',
      recipient_id: '42',
      text: 'hi #ann',
      source_app_id: '29893711'
    },
    includes: { users: [annInFull, bob] }
  },
  'dm.sent': {
    user_id: '42',
    payload: { id: '954491830116155397', sender_id: '42', recipient_id: '43', text: 'hello' },
    includes: both
  },
  'dm.read': {
    user_id: '42',
    payload: { sender_id: '43', recipient_id: '42', last_read_event_id: '954491830116155397' },
    includes: both
  },
  'dm.indicate_typing': { user_id: '42', payload: { sender_id: '43', recipient_id: '42' }, includes: both },
  'chat.received': {
    user_id: '42',
    payload: { ...chatMessage, id: '6f1b7a52-0b0e-4f0e-8c5c-7d1d9a1c2e33', sender_id: '43' }
  },
  'chat.sent': { user_id: '42', payload: chatMessage },
  'chat.conversation_join': { user_id: '42', payload: group },
  'chat.conversation.member_added': { user_id: '42', payload: { ...group, member_id: '43' } },
  'chat.conversation.member_removed': { user_id: '42', payload: { ...group, member_id: '43' } },
  'chat.conversation.admin_added': { user_id: '42', payload: { ...group, admin_id: '43' } },
  'chat.conversation.admin_removed': { user_id: '42', payload: { ...group, admin_id: '43' } },
  'chat.update.group_name': { user_id: '42', payload: { ...group, group_name: 'Lunch' } },
  'chat.update.restrictions': { user_id: '42', payload: { ...group, restrictions: ['admins_only'] } },
  'like.create': {
    user_id: '42',
    payload: { liked_tweet_id: lunch.id, liked_tweet_author_id: '43' },
    includes: { ...both, tweets: [lunch] }
  },
  'follow.follow': { payload: relation },
  'follow.unfollow': { payload: relation },
  'mute.mute': { payload: relation },
  'mute.unmute': { payload: relation },
  'block.block': { payload: relation },
  'block.unblock': { payload: relation },
  'spaces.start': { payload: space },
  'spaces.end': { payload: space },
  'broadcast.start': { user_id: '42', payload: { ...space, title: 'Lunch, live', broadcast_state: 'Running' } },
  'broadcast.end': { user_id: '42', payload: { ...space, title: 'Lunch, live', broadcast_state: 'Ended' } },
  'broadcast.chat': { user_id: '42', payload: { broadcast_id: '1qxvvkXGlndGB', sender_id: '43', text: 'Hi!' } },
  'news.new': {
    payload: { id: '1902345678901234700', name: 'Tacos win the day', category: 'Food', summary: 'A city has lunch.' }
  }
}

/** In the order of the table of types. */
export const eventExamples = (): Example[] =>
  EVENT_TYPES.map(({ name }) => ({
    event_type: name,
    id: `example ${name}`,
    occurred_at: '2026-06-22T09:48:12.123Z',
    ...EXAMPLES[name]!
  }))
