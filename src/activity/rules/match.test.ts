import assert from 'node:assert/strict'
import { test } from 'node:test'
import { clausesOf, type Rule } from './ast.ts'
import { createRuleEngine } from './engine.ts'
import { embeddingScore, matches } from './match.ts'
import { HAS_VALUES, IS_VALUES, OPERATORS } from './operators.ts'
import { parseRule } from './parse.ts'
import { type Includes, PostView, type RawPost } from './post.ts'

interface Published {
  post?: Partial<RawPost>
  includes?: Includes
}

const parse = (text: string): Rule => {
  const parsed = parseRule(text)
  assert.ok(parsed.ok, `${text}: ${JSON.stringify(parsed)}`)
  return parsed.rule
}

const view = ({ post = {}, includes }: Published) =>
  new PostView({ id: '1902800000000000001', text: '', ...post }, includes)

const text = (body: string): Published => ({ post: { text: body } })
const by = (user: object): Published => ({ post: { author_id: '7' }, includes: { users: [{ id: '7', ...user }] } })
const counts = (public_metrics: object) => by({ public_metrics })
const url = (link: object): Published => ({ post: { entities: { urls: [{ url: 'https://t.co/aB1', ...link }] } } })

const reply: Published = {
  post: { referenced_tweets: [{ type: 'replied_to', id: '77' }], in_reply_to_user_id: '8' },
  includes: {
    users: [{ id: '8', username: 'Bob', affiliation: { user_id: ['9'], url: 'https://social.example/Acme' } }]
  }
}
const repost: Published = {
  post: { author_id: '7', text: 'RT @Ann: the original…', referenced_tweets: [{ type: 'retweeted', id: '55' }] },
  includes: {
    users: [{ id: '6', username: 'Ann' }],
    tweets: [
      {
        id: '55',
        author_id: '6',
        text: 'the original words, with an ending',
        entities: { hashtags: [{ tag: 'Deep' }] }
      }
    ]
  }
}
const quote: Published = {
  post: { text: 'look at this', referenced_tweets: [{ type: 'quoted', id: '66' }] },
  includes: {
    tweets: [{ id: '66', author_id: '6', text: 'quoted words #quoted $qqq @quinn https://q.example/page', lang: 'fr' }]
  }
}
const paris = { id: '09f6a7707f18e0b1', name: 'Paris', full_name: 'Paris, Île-de-France', country_code: 'FR' }
const inParis: Published = {
  post: { geo: { place_id: paris.id } },
  includes: { places: [{ ...paris, geo: { bbox: [2.22, 48.81, 2.47, 48.91] } }] }
}
const atNotreDame: Published = { post: { geo: { coordinates: { coordinates: [2.3499, 48.853] } } } }
const repostFromParis: Published = {
  post: { ...inParis.post, referenced_tweets: [{ type: 'retweeted', id: '55' }] },
  includes: { places: [paris], tweets: [{ id: '55', text: 'x', geo: { place_id: paris.id } }] }
}
const annotated: Published = {
  post: {
    context_annotations: [{ domain: { id: '10' }, entity: { id: '799022225751871488', name: 'Michael Jordan' } }],
    entities: { annotations: [{ normalized_text: 'Chicago' }] }
  }
}
const media = (type: string): Published => ({
  post: { attachments: { media_keys: ['3_1'] } },
  includes: { media: [{ media_key: '3_1', type }] }
})
const affiliated = by({ affiliation: { user_id: ['9'], url: 'https://social.example/Acme' } })

/** Rule, a post that matches, a post that does not. Operators that need company come with the keyword "cat". */
const CASES: [rule: string, matching: Published, other: Published][] = [
  ['pepsi', text('I like Pepsi!'), text('pepsico')],
  ['diacrítica', text('DIACRÍTICA'), text('diacritica')],
  ['coca-cola', text('coca cola'), text('cola coca')],
  ['😃', text('so happy😃😃'), text('so happy 😡')],
  ['"❤️"', text('I ❤ it'), text('I 💔 it')],
  ['東京', text('私は東京に住んでいます'), text('京東')],
  ['"twitter api"', text('the Twitter API, again'), text('the API of Twitter')],
  ['"say \\"hi\\""', text('they say: hi'), text('hi they say')],
  ['"social media"~2', text('social and broadcast media'), text('social x y z media')],
  ['"social media"~3', text('media, social'), text('media a b social')],
  ['#ThankUNext', text('listening #thankunext'), text('#thankunextweek')],
  ['#été', text('vive l’ #ÉTÉ'), text('#ete')],
  ['#cat', { post: { text: 'x', entities: { hashtags: [{ tag: 'Cat' }] } } }, text('cat')],
  ['$TWTR', text('buy $twtr'), text('buy twtr')],
  ['$brk.b', { post: { entities: { cashtags: [{ tag: 'BRK.B' }] } } }, text('$brk')],
  ['@XDevelopers', text('hello @xdevelopers!'), text('mail x@xdevelopers.com')],
  ['@ann', { post: { entities: { mentions: [{ username: 'Ann' }] } } }, text('@anna')],
  ['from:XDevelopers', by({ username: 'xdevelopers' }), by({ username: 'xdev' })],
  ['from:7', by({ username: 'ann' }), reply],
  ['to:bob', reply, by({ username: 'bob' })],
  ['to:8', reply, quote],
  ['retweets_of:ann', repost, quote],
  ['retweets_of:6', repost, reply],
  ['retweets_of:ann', { post: { ...repost.post } }, text('RT @ann: not a repost')],
  ['from_affiliate_of:acme', affiliated, reply],
  ['from_affiliate_of:9', affiliated, by({ username: 'acme' })],
  ['to_affiliate_of:acme', reply, affiliated],
  [
    'url:"https://developer.x.com"',
    url({ expanded_url: 'https://Developer.x.com/docs' }),
    url({ expanded_url: 'https://x.com/developer' })
  ],
  ['url:t.co', url({}), text('t co')],
  ['url:"example.com/a"', text('read https://example.com/a?b'), text('example com a')],
  ['url_title:snow', url({ title: 'Fresh Snow today' }), url({ description: 'snow' })],
  ['url_description:"fresh snow"', url({ description: 'Fresh snow!' }), url({ title: 'fresh snow' })],
  [
    'url_contains:"/a-b/C"',
    url({ expanded_url: 'https://x.example/A-B/c/d' }),
    url({ expanded_url: 'https://x.example/a/b/c' })
  ],
  ['context:10.799022225751871488', annotated, text('michael jordan')],
  ['context:10.*', annotated, { post: { context_annotations: [{ domain: { id: '11' }, entity: { id: '1' } }] } }],
  [
    'context:*.799022225751871488',
    annotated,
    { post: { context_annotations: [{ domain: { id: '10' }, entity: { id: '1' } }] } }
  ],
  ['entity:"michael jordan"', annotated, text('michael jordan')],
  ['entity:Chicago', annotated, { post: { entities: { annotations: [{ normalized_text: 'Chicago Bulls' }] } } }],
  [
    'conversation_id:1334987486343299072',
    { post: { conversation_id: '1334987486343299072' } },
    { post: { conversation_id: '1' } }
  ],
  ['bio:"data science"', by({ description: 'Data-Science, coffee' }), text('data science')],
  ['bio_name:ann', by({ name: 'Ann Lee' }), by({ username: 'ann' })],
  ['bio_location:paris', by({ location: 'Paris, France' }), inParis],
  ['place:"île-de-france"', inParis, repostFromParis],
  ['place:paris', inParis, by({ location: 'paris' })],
  ['place:09f6a7707f18e0b1', { post: inParis.post as RawPost }, atNotreDame],
  ['place_country:fr', inParis, repostFromParis],
  [
    'point_radius:[2.355128 48.861118 16km]',
    inParis,
    { post: { geo: { coordinates: { coordinates: [2.35, 49.2] } } } }
  ],
  ['point_radius:[2.35 48.86 2mi]', atNotreDame, inParis],
  ['bounding_box:[2.2 48.8 2.5 49]', inParis, { post: { geo: { coordinates: { coordinates: [2.6, 48.85] } } } }],
  ['bounding_box:[2.3 48.8 2.4 48.9]', atNotreDame, inParis],
  ['in_reply_to_tweet_id:77', reply, quote],
  ['in_reply_to_tweet_id:78', { post: { in_reply_to_tweet_id: '78' } }, reply],
  ['retweets_of_tweet_id:55', repost, quote],
  ['followers_count:1000', counts({ followers_count: 1000 }), counts({ followers_count: 999 })],
  ['followers_count:10..20', counts({ followers_count: 20 }), counts({ followers_count: 21 })],
  ['tweets_count:5..6', counts({ tweet_count: 5 }), counts({ tweet_count: 4 })],
  ['following_count:5', counts({ following_count: 6 }), counts({})],
  ['listed_count:5', counts({ listed_count: 5 }), text('5')],
  ['min_followers:5', counts({ followers_count: 5 }), counts({ followers_count: 4 })],
  ['min_likes:5', { post: { public_metrics: { like_count: 5 } } }, { post: { public_metrics: { like_count: 4 } } }],
  ['min_replies:5', { post: { public_metrics: { reply_count: 9 } } }, text('x')],
  [
    'min_reposts:5',
    { post: { public_metrics: { retweet_count: 5 } } },
    { post: { public_metrics: { like_count: 5 } } }
  ],
  ['embedding:"electric cars charging"', text('Charging my electric car at home'), text('My cat sleeps at home')],
  [
    'embedding:"electric cars charging" embedding_threshold:0.95',
    text('charge electric cars'),
    text('Charging my electric car at home')
  ],
  ['the is:retweet', repost, text('the')],
  ['@x is:reply', { post: { ...reply.post, text: '@x hi' } }, text('@x hi')],
  ['look is:quote', quote, text('look')],
  ['from:7 is:verified', by({ verified: true }), by({ verified: false })],
  ['cat -is:nullcast', text('cat'), { post: { text: 'cat', nullcast: true } }],
  ['cat has:hashtags', text('cat #x'), text('cat # x #1')],
  ['cat has:cashtags', text('cat $abc'), text('cat $5')],
  ['cat has:links', text('cat http://x.example'), text('cat')],
  ['cat has:mentions', text('cat @ann'), text('cat')],
  ['from:7 has:media', { post: { author_id: '7', attachments: { media_keys: ['16_1'] } } }, by({})],
  ['-cat min_likes:0 has:images', media('photo'), media('video')],
  [
    'min_likes:0 has:images',
    { post: { attachments: { media_keys: ['3_1'] } } },
    { post: { attachments: { media_keys: ['7_1'] } } }
  ],
  ['min_likes:0 has:video_link', media('video'), media('animated_gif')],
  ['min_likes:0 has:geo', inParis, repostFromParis],
  ['cat lang:en', { post: { text: 'cat', lang: 'en' } }, { post: { text: 'cat', lang: 'fr' } }],
  ['cat lang:iw', { post: { text: 'cat', lang: 'he' } }, { post: { text: 'cat', lang: 'ar' } }],
  ['cat lang:zh-cn', { post: { text: 'cat', lang: 'zh' } }, { post: { text: 'cat', lang: 'ja' } }],
  ['cat lang:und', text('cat'), { post: { text: 'cat', lang: 'en' } }],
  ['cat source:"web app"', { post: { text: 'cat', source: 'Web App' } }, { post: { text: 'cat', source: 'Web' } }],
  ['cat sample:100', text('cat'), text('dog')],
  // Content of quoted and reposted posts.
  ['"quoted words"', quote, text('quoted')],
  ['#quoted $qqq @quinn url:"q.example" has:links', quote, repost],
  ['-lang:fr look', quote, { post: { text: 'look', lang: 'fr' } }],
  ['"an ending" #deep', repost, text('RT @ann: the original…')],
  // Phrases end with the text they are in.
  ['this quoted', quote, text('this')],
  ['"look quoted"~6', text('look, it is quoted'), quote],
  [
    'from:7 -"this quoted"',
    { post: { ...quote.post, author_id: '7' }, includes: quote.includes },
    { post: { author_id: '7', text: 'this quoted' } }
  ],
  // Long posts carry their whole text apart.
  ['ending', { post: { text: 'beginning…', note_tweet: { text: 'beginning and ending' } } }, text('beginning…')],
  // Negation and grouping.
  ['skiing -(snow OR day)', text('skiing'), text('skiing day')],
  ['skiing -(snow day)', text('skiing day'), text('skiing day snow')],
  ['(grumpy cat) OR (#meme has:links)', text('#meme https://x.example'), text('grumpy #meme')],
  ['(a OR b) (c OR d)', text('d a'), text('a b')]
]

for (const [rule, matching, other] of CASES) {
  test(`${rule} matches one post and not the other`, () => {
    const parsed = parse(rule)
    const engine = createRuleEngine()
    engine.add('1', parsed, { owner: 'app', meta: undefined })

    assert.equal(matches(parsed, view(matching)), true)
    assert.equal(matches(parsed, view(other)), false)
    assert.deepEqual(engine.match(view(matching)), ['1'])
    assert.deepEqual(engine.match(view(other)), [])
  })
}

test('every operator is in the table above', () => {
  const seen = new Set<string>()
  for (const [rule] of CASES) {
    for (const clause of clausesOf(parse(rule))) {
      seen.add(clause.type)
      if (clause.type === 'is' || clause.type === 'has') seen.add(`${clause.type}:${clause.value}`)
    }
  }
  const all = [
    ...['keyword', 'phrase', 'proximity', 'hashtag', 'cashtag', 'mention'],
    ...[...OPERATORS.values()].map(({ name }) => name),
    ...[...IS_VALUES.values()].map((value) => `is:${value}`),
    ...[...HAS_VALUES.values()].map((value) => `has:${value}`)
  ]

  assert.deepEqual(
    all.filter((name) => !seen.has(name)),
    []
  )
})

test('samples the share of posts that was asked for, the same posts every time', () => {
  const ids = Array.from({ length: 10_000 }, (_, index) => String(1902800000000000000n + BigInt(index) * 4194304n))
  const taken = (percent: number) => {
    const rule = parse(`cat sample:${percent}`)
    return ids.filter((id) => matches(rule, new PostView({ id, text: 'cat' })))
  }

  for (const percent of [1, 10, 50, 99]) {
    const share = taken(percent).length / 100
    assert.ok(Math.abs(share - percent) < 2, `${share} % instead of ${percent} %`)
  }
  const larger = new Set(taken(11))
  assert.ok(taken(10).every((id) => larger.has(id)))
})

test('tells how alike the post and the embedding are, for what is delivered', () => {
  const rule = parse('embedding:"electric cars" embedding_threshold:0.4')
  const score = embeddingScore(rule, view(text('electric car')))

  assert.ok(Math.abs((score?.embedding_similarity ?? 0) - 1) < 1e-9)
  assert.equal(score?.embedding_threshold, 0.4)
  assert.equal(embeddingScore(parse('cat'), view(text('cat'))), undefined)
})
