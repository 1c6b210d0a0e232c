/** For property tests: rules and posts from one small vocabulary, so that they really meet. */
import fc from 'fast-check'
import type { Includes, RawPost, RawUser } from './post.ts'

const WORDS = ['cat', 'dog', 'snow', 'new', 'york', 'day', 'été', 'naïve', '東京', '😀', '👍🏽', 'café', 'x1']
const USERS = ['ann', 'bob', 'cy_1', '42']
const SITES = ['example.com/cat', 'news.example.com/a-b', 'shop.example/snow?q=dog']
const SYMBOLS = ['abc', 'xyz', 'brk.b']

const word = fc.constantFrom(...WORDS)
const words = (max: number) => fc.array(word, { minLength: 1, maxLength: max }).map((list) => list.join(' '))
const site = fc.constantFrom(...SITES)
const id = fc.integer({ min: 1, max: 4 }).map(String)
const username = fc.constantFrom(...USERS)
const userValue = fc.oneof(username, fc.integer({ min: 1, max: 4 }).map(String))
const tag = fc.constantFrom('cat', 'Snow', 'été', 'x1', '東京')
const symbol = fc.constantFrom(...SYMBOLS)
const small = fc.integer({ min: 0, max: 6 })

const operator = <Value>(names: string[], value: fc.Arbitrary<Value>) =>
  fc.tuple(fc.constantFrom(...names), value).map(([name, text]) => `${name}:${text}`)
const quoted = (text: fc.Arbitrary<string>) => text.map((value) => `"${value}"`)
const range = fc
  .tuple(small, fc.option(small))
  .map(([min, more]) => (more === null ? `${min}` : `${min}..${min + more}`))

const standaloneClause: fc.Arbitrary<string> = fc.oneof(
  { weight: 8, arbitrary: word },
  { weight: 4, arbitrary: quoted(words(3)) },
  { weight: 3, arbitrary: fc.tuple(word, word, fc.integer({ min: 1, max: 6 })).map(([a, b, n]) => `"${a} ${b}"~${n}`) },
  { weight: 2, arbitrary: tag.map((name) => `#${name}`) },
  symbol.map((name) => `$${name}`),
  { weight: 2, arbitrary: username.map((name) => `@${name}`) },
  {
    weight: 5,
    arbitrary: operator(['from', 'to', 'retweets_of', 'from_affiliate_of', 'to_affiliate_of'], userValue)
  },
  operator(['url'], quoted(fc.oneof(site, word))),
  operator(['url_title', 'url_description', 'bio', 'bio_name', 'bio_location', 'entity'], quoted(words(2))),
  operator(['url_contains'], quoted(fc.constantFrom('example.com', 'Q=', 't.co', 'SNOW'))),
  operator(
    ['context'],
    fc.tuple(id, id).chain(([a, b]) => fc.constantFrom(`${a}.${b}`, `${a}.*`, `*.${b}`))
  ),
  operator(['conversation_id', 'in_reply_to_tweet_id', 'retweets_of_tweet_id'], id),
  operator(['place'], fc.oneof(quoted(words(2)), fc.constantFrom('p1', 'p2'))),
  operator(['place_country'], fc.constantFrom('US', 'fr')),
  operator(['point_radius'], fc.constantFrom('[0.5 0.5 20mi]', '[179.9 10 20km]', '[10 89.9 20km]')),
  operator(['bounding_box'], fc.constantFrom('[0.4 0.4 0.6 0.6]', '[-0.1 -0.1 0.1 0.1]', '[179.8 9.9 180 10.1]')),
  operator(['followers_count', 'tweets_count', 'following_count', 'listed_count'], range),
  operator(['min_followers', 'min_likes', 'min_replies', 'min_reposts'], small),
  operator(['embedding'], quoted(words(3)))
)

const otherClause = fc.oneof(
  operator(['is'], fc.constantFrom('retweet', 'reply', 'quote', 'verified')),
  operator(
    ['has'],
    fc.constantFrom('hashtags', 'cashtags', 'links', 'mentions', 'media', 'images', 'video_link', 'geo', 'symbols')
  ),
  operator(['lang'], fc.constantFrom('en', 'fr', 'iw', 'zh-CN', 'und')),
  operator(['source'], quoted(fc.constantFrom('web', 'app')))
)

const group = (text: string) => `(${text})`
const negatable = fc.oneof(standaloneClause, otherClause).filter((text) => !text.startsWith('embedding'))

const { rule: plainRule } = fc.letrec<{ rule: string; all: string; one: string; negation: string }>((tie) => ({
  rule: fc.oneof(
    { depthSize: 'small', withCrossShrink: true },
    { weight: 3, arbitrary: tie('all') },
    { weight: 1, arbitrary: fc.array(tie('all'), { minLength: 2, maxLength: 3 }).map((parts) => parts.join(' OR ')) }
  ),
  all: fc
    .tuple(tie('one'), fc.array(fc.oneof(tie('one'), otherClause, tie('negation')), { maxLength: 2 }), fc.boolean())
    .map(([first, others, last]) => (last ? [...others, first] : [first, ...others]).join(' ')),
  one: fc.oneof(
    { depthSize: 'small', withCrossShrink: true },
    { weight: 6, arbitrary: standaloneClause },
    { weight: 1, arbitrary: tie('rule').map(group) }
  ),
  negation: fc.oneof(
    { depthSize: 'small', withCrossShrink: true },
    { weight: 4, arbitrary: negatable.map((text) => `-${text}`) },
    {
      weight: 1,
      arbitrary: fc.array(negatable, { minLength: 2, maxLength: 3 }).map((list) => `-(${list.join(' OR ')})`)
    },
    { weight: 1, arbitrary: fc.array(negatable, { minLength: 2, maxLength: 3 }).map((list) => `-(${list.join(' ')})`) }
  )
}))

/** The text of a rule that must be accepted. */
export const ruleText: fc.Arbitrary<string> = fc
  .tuple(
    plainRule,
    fc.option(fc.constantFrom('sample:1', 'sample:50', 'sample:100'), { freq: 8 }),
    fc.option(fc.constantFrom(0, 0.5))
  )
  .map(([text, sample, threshold]) =>
    [
      sample || (threshold !== null && text.includes('embedding:')) ? group(text) : text,
      sample ?? '',
      threshold !== null && text.includes('embedding:') ? `embedding_threshold:${threshold}` : ''
    ]
      .filter(Boolean)
      .join(' ')
  )

const optional = <Value>(arbitrary: fc.Arbitrary<Value>, freq = 2) => fc.option(arbitrary, { nil: undefined, freq })

const separator = fc.constantFrom(' ', ' ', ' ', ', ', '-', '! ', ' #', ' @', ' $', '')
const text = fc
  .array(fc.tuple(fc.oneof(word, word, tag, username, symbol), separator, fc.boolean()), { maxLength: 10 })
  .map((parts) => parts.map(([part, after, loud]) => (loud ? part.toUpperCase() : part) + after).join(''))

const url = fc.record(
  {
    url: fc.constant('https://t.co/aB1'),
    expanded_url: site.map((path) => `https://${path}`),
    title: words(3),
    description: words(3)
  },
  { requiredKeys: ['url'] }
)

const entities = fc.record(
  {
    hashtags: fc.array(
      tag.map((name) => ({ tag: name })),
      { maxLength: 2 }
    ),
    cashtags: fc.array(
      symbol.map((name) => ({ tag: name.toUpperCase() })),
      { maxLength: 2 }
    ),
    mentions: fc.array(
      username.map((name) => ({ username: name.toUpperCase() })),
      { maxLength: 2 }
    ),
    urls: fc.array(url, { maxLength: 2 }),
    annotations: fc.array(
      words(2).map((name) => ({ normalized_text: name })),
      { maxLength: 1 }
    )
  },
  { requiredKeys: [] }
)

const post = (postId: fc.Arbitrary<string>): fc.Arbitrary<RawPost> =>
  fc.record(
    {
      id: postId,
      text,
      author_id: id,
      conversation_id: id,
      lang: fc.constantFrom('en', 'fr', 'he', 'zh', 'und'),
      source: fc.constantFrom('Web', 'App'),
      nullcast: fc.boolean(),
      in_reply_to_user_id: id,
      referenced_tweets: fc.uniqueArray(fc.record({ type: fc.constantFrom('retweeted', 'quoted', 'replied_to'), id }), {
        maxLength: 2,
        selector: ({ type }) => type
      }),
      entities,
      context_annotations: fc.array(
        fc.record({ domain: fc.record({ id }), entity: fc.record({ id, name: words(2) }) }),
        { maxLength: 2 }
      ),
      attachments: fc.constantFrom({ media_keys: ['3_1'] }, { media_keys: ['7_2', '16_3'] }, {}),
      geo: fc.constantFrom(
        { place_id: 'p1' },
        { place_id: 'p2' },
        { place_id: 'p9' },
        { coordinates: { coordinates: [0.5, 0.5] } },
        { coordinates: { coordinates: [-179.99, 10] } },
        { coordinates: { coordinates: [-100, 89.95] } }
      ),
      public_metrics: fc.record({ like_count: small, reply_count: small, retweet_count: small })
    },
    { requiredKeys: ['id', 'text', 'author_id'] }
  )

const user = (userId: string): fc.Arbitrary<RawUser> =>
  fc.record(
    {
      id: fc.constant(userId),
      username: fc.constant(USERS[Number(userId) - 1] as string),
      name: words(2),
      description: words(4),
      location: words(2),
      verified: fc.boolean(),
      public_metrics: fc.record({
        followers_count: small,
        following_count: small,
        tweet_count: small,
        listed_count: small
      }),
      affiliation: optional(
        fc.constantFrom({ user_id: ['2'] }, { user_id: '3' }, { url: 'https://social.example/ann' })
      )
    },
    { requiredKeys: ['id', 'username'] }
  )

const includes: fc.Arbitrary<Includes> = fc.record(
  {
    users: fc.tuple(user('1'), user('2'), user('3'), user('4')).map((list) => [...list]),
    tweets: fc.tuple(post(fc.constant('1')), post(fc.constant('2')), post(fc.constant('3'))).map((list) => [...list]),
    places: fc.tuple(words(2), words(2)).map(([one, two]) => [
      { id: 'p1', full_name: one, country_code: 'US', geo: { bbox: [0.45, 0.45, 0.55, 0.55] } },
      { id: 'p2', name: two, country_code: 'FR', geo: { bbox: [-1, -1, 1, 1] } }
    ]),
    media: fc.constant([{ media_key: '7_2', type: 'video' }])
  },
  { requiredKeys: ['users'] }
)

export const postAndIncludes = fc.record({ post: post(fc.integer({ min: 10, max: 10_000 }).map(String)), includes })
