/**
 * Bench `rules`: posts matched per second against 25,000 filtered-stream rules on one core, and how much more a post
 * costs with 25,000 rules than with 250. Posts are read from raw objects inside the timed part.
 */
import { pathToFileURL } from 'node:url'
import { createRuleEngine, type Includes, PostView, parseRule, type RawPost } from '../src/activity/rules/index.ts'

const RULES = 25_000
const RULES_FEW = 250
const POSTS = 5_000
const POSTS_PER_ROUND = 10_000
const ROUNDS = 9
const BARS = { posts_per_second_min: 50_000, ratio_25000_to_250_max: 3, add_ratio_last_to_early_max: 2 }

/** Small, seeded and the same everywhere, so that two runs compare. */
function randomFrom(seed: number) {
  let state = seed
  return () => {
    state = (state + 0x6d2b79f5) | 0
    let mixed = Math.imul(state ^ (state >>> 15), 1 | state)
    mixed = (mixed + Math.imul(mixed ^ (mixed >>> 7), 61 | mixed)) ^ mixed
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 2 ** 32
  }
}

const FREQUENT =
  `the to a i and is of in you for it on that this my with me be so at just not are have what but like we all was your
  can up if from out when now one good do get new more there how about they know an time love day go people see no too
  who by will has today want some make here think as back need our really would than`.split(/\s+/)

const SYLLABLES =
  'ba be bi bo bu da de do fa fi ga go ha hi ka ke ko la le li lo ma me mi mo na ne no pa pe ra re ri ro sa se si so ta te ti to va vi za'.split(
    ' '
  )

/** Words as frequent as in ordinary text: the n-th word comes up about 1/n as often as the first. */
function vocabulary(random: () => number, size: number) {
  const words = [...FREQUENT]
  const known = new Set(words)
  while (words.length < size) {
    let word = ''
    for (let syllables = 2 + Math.floor(random() * 3); syllables > 0; syllables--) {
      word += SYLLABLES[Math.floor(random() * SYLLABLES.length)]
    }
    if (known.has(word)) continue
    known.add(word)
    words.push(word)
  }
  const sums: number[] = []
  let sum = 0
  for (let rank = 0; rank < words.length; rank++) {
    sum += 1 / (rank + 2.7)
    sums.push(sum)
  }
  /** `from`: the first rank that may come up; people do not write rules about "the". */
  const pick = (from = 0): string => {
    const low = from === 0 ? 0 : (sums[from - 1] as number)
    const wanted = low + random() * (sum - low)
    let [first, last] = [from, words.length - 1]
    while (first < last) {
      const middle = (first + last) >> 1
      if ((sums[middle] as number) < wanted) first = middle + 1
      else last = middle
    }
    return words[first] as string
  }
  return pick
}

function generator(seed: number) {
  const random = randomFrom(seed)
  const word = vocabulary(random, 40_000)
  const chance = (share: number) => random() < share
  const below = (count: number) => Math.floor(random() * count)
  const oneOf = <Item>(items: Item[]) => items[below(items.length)] as Item
  const times = <Item>(count: number, make: () => Item) => Array.from({ length: count }, make)
  /** Few are talked about much, many a little. */
  const skewed = (count: number) => Math.floor(random() ** 3 * count)
  const username = () => `user${skewed(200_000)}`
  /** Most posts are by people that no rule knows. */
  const authorName = () => (chance(0.2) ? username() : `user${below(2_000_000)}`)
  const hashtag = () => `topic${skewed(20_000)}`
  const lang = () => (chance(0.5) ? 'en' : oneOf(['ja', 'es', 'pt', 'ar', 'fr', 'de', 'tr', 'in', 'und']))
  const conversation = () => String(1900000000000000000n + BigInt(below(1e6)))
  const topic = () => word(400)

  const someTopics = (least: number, more: number) => times(least + below(more), topic)
  const anyOf = (terms: string[]) => `(${terms.join(' OR ')})`

  /** What rules begin with, and how many in a hundred do. */
  const heads: [percent: number, make: () => string][] = [
    [20, () => `from:${username()}`],
    [5, () => anyOf(times(2 + below(6), () => `from:${username()}`))],
    [5, () => `${anyOf(times(2 + below(6), () => `from:${username()}`))} ${topic()}`],
    [15, () => `"${times(2 + below(2), () => word(100)).join(' ')}"`],
    [15, () => `#${hashtag()}`],
    [15, () => someTopics(2, 2).join(' ')],
    [15, () => `${anyOf(someTopics(2, 4))} ${anyOf(someTopics(2, 3))}`],
    [4, () => `@${username()}`],
    [2, () => `"${topic()} ${topic()}"~${2 + below(4)}`],
    [1, () => `url:"https://${topic()}.com"`],
    [1, () => `conversation_id:${conversation()}`],
    [1, () => `retweets_of:${username()}`],
    [1, () => `bio:${topic()} followers_count:1000`]
  ]
  const headsByPercent = heads.flatMap(([percent, make]) => Array<() => string>(percent).fill(make))

  const rule = (): string =>
    [
      oneOf(headsByPercent)(),
      chance(0.35) && '-is:retweet',
      chance(0.35) && `lang:${oneOf(['en', 'en', 'es', 'pt', 'fr', 'ja'])}`,
      chance(0.2) && oneOf(['has:images', 'has:links', 'has:media', 'has:hashtags', '-is:reply', 'is:verified']),
      chance(0.2) && `-${topic()}`
    ]
      .filter(Boolean)
      .join(' ')

  const user = (name: string) => ({
    id: `7${name.slice(4).padStart(9, '0')}`,
    name: `${word()} ${word()}`,
    username: name,
    description: times(12, () => word()).join(' '),
    verified: chance(0.1),
    public_metrics: {
      followers_count: skewed(50_000),
      following_count: below(2000),
      tweet_count: below(9000),
      listed_count: below(50)
    }
  })

  let nextId = 1902800000000000000n
  const post = (): { post: RawPost; includes: Includes } => {
    nextId += BigInt(1 + below(1_000_000))
    const id = String(nextId)
    const author = user(authorName())
    const mentions = times(chance(0.4) ? 1 + below(2) : 0, username)
    const hashtags = times(chance(0.25) ? 1 + below(3) : 0, hashtag)
    const links = chance(0.25)
      ? [
          {
            start: 0,
            end: 1,
            url: `https://t.co/${below(1e9).toString(36)}`,
            expanded_url: `https://${topic()}.com/${word()}/${word()}`
          }
        ]
      : []
    const media = chance(0.2) ? [{ media_key: `3_${id}`, type: 'photo' }] : []
    const text = [
      ...mentions.map((name) => `@${name}`),
      ...times(6 + below(22), () => (chance(0.1) ? `${word()},` : word())),
      ...(chance(0.25) ? [oneOf(['😀', 'été', '🔥🔥', '“cita”', 'ação'])] : []),
      ...hashtags.map((tag) => `#${tag}`),
      ...links.map(({ url }) => url)
    ].join(' ')
    const reposted = chance(0.25)
    const originalId = String(nextId - 5_000_000n)
    const original = reposted ? { author: user(authorName()), text } : undefined
    const entities = {
      ...(mentions.length > 0 && { mentions: mentions.map((name) => ({ start: 0, end: 1, username: name, id: '1' })) }),
      ...(hashtags.length > 0 && { hashtags: hashtags.map((tag) => ({ start: 0, end: 1, tag })) }),
      ...(links.length > 0 && { urls: links })
    }
    return {
      post: {
        id,
        text: original
          ? `RT @${original.author.username}: ${text.slice(0, 100)}`
          : text[0]?.toUpperCase() + text.slice(1),
        author_id: author.id,
        conversation_id: conversation(),
        lang: lang(),
        entities,
        ...(media.length > 0 && { attachments: { media_keys: media.map(({ media_key }) => media_key) } }),
        ...(original && { referenced_tweets: [{ type: 'retweeted', id: originalId }] }),
        public_metrics: { like_count: below(100), reply_count: below(10), retweet_count: below(10) }
      },
      includes: {
        users: original ? [author, original.author] : [author],
        ...(original && { tweets: [{ id: originalId, text, author_id: original.author.id, entities }] }),
        ...(media.length > 0 && { media })
      }
    }
  }
  return { rule, post, times }
}

const round1 = (number: number) => Number(number.toFixed(1))

export default async function rules() {
  const { rule, post, times } = generator(2026)
  const values = times(RULES, rule)
  // As they come in: from JSON.
  const posts: ReturnType<typeof post>[] = JSON.parse(JSON.stringify(times(POSTS, post)))

  const engineWith = (count: number) => {
    const engine = createRuleEngine()
    const addUs: number[] = []
    values.slice(0, count).forEach((value, index) => {
      const parsed = parseRule(value)
      if (!parsed.ok) throw new Error(`${value}: ${parsed.errors[0]?.message}`)
      const before = performance.now()
      engine.add(String(index), parsed.rule, { owner: String(index % 50), meta: undefined })
      addUs.push((performance.now() - before) * 1000)
    })
    return { engine, addUs }
  }

  const few = engineWith(RULES_FEW)
  const many = engineWith(RULES)

  let at = 0
  /** Time is that of the processor over all threads, garbage collection included: what one core gets done in a second. */
  const round = (engine: typeof few.engine) => {
    let matched = 0
    const started = process.cpuUsage()
    for (let count = 0; count < POSTS_PER_ROUND; count++) {
      const { post, includes } = posts[at++ % POSTS] as (typeof posts)[number]
      matched += engine.match(new PostView(post, includes)).length
    }
    const { user, system } = process.cpuUsage(started)
    return { postUs: (user + system) / POSTS_PER_ROUND, matchesPerPost: matched / POSTS_PER_ROUND }
  }

  const median = (numbers: number[]) => numbers.toSorted((a, b) => a - b)[numbers.length >> 1] as number
  const mean = (numbers: number[]) => numbers.reduce((sum, number) => sum + number, 0) / numbers.length

  for (let warmUps = 0; warmUps < 3; warmUps++) {
    round(few.engine)
    round(many.engine)
  }
  // In turns, so that a busy moment of the machine falls on both.
  const rounds = times(ROUNDS, () => ({ few: round(few.engine), many: round(many.engine) }))
  const postUs = median(rounds.map((each) => each.many.postUs))
  const ratio = median(rounds.map((each) => each.many.postUs / each.few.postUs))
  const perSecond = 1e6 / postUs
  // Not the very first: those pay for the compiler of the language, not for the engine.
  const addEarlyUs = median(many.addUs.slice(1000, 2000))
  const addLastUs = median(many.addUs.slice(-1000))
  const { unfiled, met, tested, posts: seen } = many.engine.stats()
  const result = {
    bench: 'rules',
    posts_per_second: Math.round(perSecond),
    ratio_25000_to_250: Number(ratio.toFixed(2)),
    rules: RULES,
    unfiled_rules: unfiled,
    per_post: {
      rules_met: Number((met / seen).toFixed(2)),
      rules_tested: Number((tested / seen).toFixed(2)),
      rules_matched: Number(mean(rounds.map((each) => each.many.matchesPerPost)).toFixed(2))
    },
    add_us: { early: round1(addEarlyUs), last: round1(addLastUs) },
    add_ratio_last_to_early: Number((addLastUs / addEarlyUs).toFixed(2)),
    bars: BARS,
    pass:
      perSecond >= BARS.posts_per_second_min &&
      ratio <= BARS.ratio_25000_to_250_max &&
      addLastUs / addEarlyUs <= BARS.add_ratio_last_to_early_max
  }
  console.log(JSON.stringify(result))
  return result
}

if (process.argv[1] !== undefined && import.meta.url === pathToFileURL(process.argv[1]).href) await rules()
