/** Terms: the things a rule can be filed under, and that a post has or has not. */
import type { Clause, Rule } from './ast.ts'
import { bagOfText } from './embedding.ts'
import { type Box, boxAround, cellOf, cellsOf, KM_PER_MILE } from './geo.ts'
import type { PostView } from './post.ts'
import { fold, tokenize } from './tokens.ts'

/** Terms found by reading a text. */
export type TextTermKind = 'token' | 'url' | 'url_title' | 'url_description' | 'bio' | 'bio_name' | 'bio_location'

/** Terms that a post has as they stand. Most are named after the operator they serve. */
export type KeyTermKind =
  | 'hashtag'
  | 'cashtag'
  | 'mention'
  | 'from'
  | 'to'
  | 'retweets_of'
  | 'from_affiliate_of'
  | 'to_affiliate_of'
  | 'conversation_id'
  | 'in_reply_to_tweet_id'
  | 'retweets_of_tweet_id'
  | 'context'
  | 'entity'
  | 'place'
  | 'place_country'
  | 'lang'
  /** One-degree cell of the globe, or '*' for any. */
  | 'cell'
  | 'stem'
  /** '*' when the post has a link. */
  | 'link'

export type TermKind = TextTermKind | KeyTermKind

export interface TermName {
  kind: TermKind
  key: string
}

/** Kinds that cost next to nothing to read from a post, so that rules may ask for them at every turn. */
const READY_KINDS = new Set<TermKind>([
  'token',
  'hashtag',
  'cashtag',
  'mention',
  'from',
  'to',
  'retweets_of',
  'conversation_id',
  'lang'
] as const)

/** The texts whose tokens are a post's terms of each kind. */
export const textsOfPost: Record<TextTermKind, (post: PostView) => readonly string[]> = {
  token: ({ contents }) => contents.map(({ text }) => text),
  url: (post) => post.addresses,
  url_title: ({ urls }) => urls.flatMap(({ title }) => title ?? NO_TERMS),
  url_description: ({ urls }) => urls.flatMap(({ description }) => description ?? NO_TERMS),
  bio: ({ author }) => optional(author?.description),
  bio_name: ({ author }) => optional(author?.name),
  bio_location: ({ author }) => optional(author?.location)
}

export const isTextKind = (kind: TermKind): kind is TextTermKind => Object.hasOwn(textsOfPost, kind)

/** A post's terms of each kind. */
export const keysOfPost: Record<KeyTermKind, (post: PostView) => Iterable<string>> = {
  hashtag: (post) => ofContents(post, 'hashtags'),
  cashtag: (post) => ofContents(post, 'cashtags'),
  mention: (post) => ofContents(post, 'mentions'),
  from: (post) => post.authorNames,
  to: (post) => post.repliedToNames,
  retweets_of: (post) => post.repostedNames,
  from_affiliate_of: (post) => post.authorAffiliations,
  to_affiliate_of: (post) => post.repliedToAffiliations,
  conversation_id: (post) => optional(post.post.conversation_id),
  in_reply_to_tweet_id: (post) => optional(post.repliedToId),
  retweets_of_tweet_id: (post) => optional(post.repostedId),
  context: (post) =>
    post.contents.flatMap((content) =>
      (content.post.context_annotations ?? []).flatMap(({ domain, entity }) => [
        `${domain?.id}.${entity?.id}`,
        `${domain?.id}.*`,
        `*.${entity?.id}`
      ])
    ),
  entity: (post) => post.contents.flatMap((content) => content.annotationNames.map((name) => tokenize(name).join(' '))),
  place: ({ place }) =>
    place ? [place.id, ...tokenize(place.name ?? ''), ...tokenize(place.full_name ?? '')] : NO_TERMS,
  place_country: ({ place }) => optional(place?.country_code?.toUpperCase()),
  lang: (post) => post.langs,
  cell: ({ box }) => (box ? ['*', cellOf(box[0], box[1])] : NO_TERMS),
  stem: (post) => post.bag.keys(),
  link: (post) => (post.urls.length > 0 ? ANY : NO_TERMS)
}

const NO_TERMS: readonly string[] = []
const ANY: readonly string[] = ['*']
const optional = (value: string | undefined) => (value === undefined ? NO_TERMS : [value])

function ofContents(post: PostView, kind: 'hashtags' | 'cashtags' | 'mentions'): readonly string[] {
  const [first, quoted] = post.contents
  if (!first) return NO_TERMS
  return quoted ? [...first[kind], ...quoted[kind]] : first[kind]
}

/** Where to file a rule: under `term`; and a post that has none of the `guard` cannot match by way of it. */
export interface PlannedFiling {
  term: TermName
  guard?: TermName[]
}

/** A post must have one of the filings' terms to match. The cost is the share of posts that have. */
export interface Plan {
  filings: PlannedFiling[]
  cost: number
}

type CostOf = (term: TermName) => number

/** Near a pole a region covers many cells; then any place on the globe will do. */
const CELLS_MAX = 32
/** A longer guard would take as long as the rule itself. */
const GUARD_TERMS_MAX = 16

/** The cheapest way to file a rule, undefined when there is no term that it needs. */
export function planOf(rule: Rule, costOf: CostOf): Plan | undefined {
  switch (rule.type) {
    case 'not':
      return undefined
    case 'and':
      return planOfAll(
        rule.rules.map((part) => planOf(part, costOf)),
        costOf
      )
    case 'or': {
      const filings: PlannedFiling[] = []
      let cost = 0
      for (const part of rule.rules) {
        const plan = planOf(part, costOf)
        if (!plan) return undefined
        filings.push(...plan.filings)
        cost += plan.cost
      }
      return { filings, cost }
    }
    default: {
      const requirements = requirementsOf(rule)
      return planOfAll(
        requirements.map((terms) => ({
          filings: terms.map((term) => ({ term })),
          cost: terms.reduce((sum, term) => sum + costOf(term), 0)
        })),
        costOf
      )
    }
  }
}

/** All of them must be met: the cheapest files the rule, the next one guards. */
function planOfAll(plans: (Plan | undefined)[], costOf: CostOf): Plan | undefined {
  const [first, ...others] = plans.filter((plan) => plan !== undefined).sort((a, b) => a.cost - b.cost)
  const second = others.find(
    ({ filings }) => filings.length <= GUARD_TERMS_MAX && filings.every(({ term }) => READY_KINDS.has(term.kind))
  )
  if (!first || !second) return first
  const guard = second.filings.map(({ term }) => term)
  const isCheaper = (other: TermName[] | undefined) =>
    other !== undefined && other.reduce((sum, term) => sum + costOf(term), 0) < second.cost
  return {
    filings: first.filings.map((filing) => (isCheaper(filing.guard) ? filing : { term: filing.term, guard })),
    cost: first.cost
  }
}

/** Sets of terms; a post that matches the clause has a term of each set. */
function requirementsOf(clause: Clause): TermName[][] {
  const each = (kind: TermKind, keys: readonly string[]): TermName[][] =>
    [...new Set(keys)].map((key) => [{ kind, key }])

  const region = (box: Box): TermName[][] => {
    const cells = cellsOf(box)
    return [(cells.length > CELLS_MAX ? ANY : cells).map((key) => ({ kind: 'cell', key }))]
  }

  switch (clause.type) {
    case 'keyword':
    case 'phrase':
    case 'proximity':
      return each('token', clause.tokens)
    case 'url':
    case 'url_title':
    case 'url_description':
    case 'bio':
    case 'bio_name':
    case 'bio_location':
      return each(clause.type, clause.tokens)
    case 'place': {
      const id: TermName = { kind: 'place', key: clause.value.toLowerCase() }
      return each('place', clause.tokens).map((name) => [id, ...name])
    }
    case 'entity':
      return [[{ kind: 'entity', key: clause.tokens.join(' ') }]]
    case 'hashtag':
    case 'cashtag':
    case 'mention':
    case 'from':
    case 'to':
    case 'retweets_of':
    case 'from_affiliate_of':
    case 'to_affiliate_of':
      return [[{ kind: clause.type, key: fold(clause.value) }]]
    case 'conversation_id':
    case 'in_reply_to_tweet_id':
    case 'retweets_of_tweet_id':
    case 'place_country':
    case 'lang':
      return [[{ kind: clause.type, key: clause.value }]]
    case 'context':
      return [[{ kind: 'context', key: `${clause.domain}.${clause.entity}` }]]
    case 'point_radius':
      return region(
        boxAround({ ...clause, radiusKm: clause.unit === 'mi' ? clause.radius * KM_PER_MILE : clause.radius })
      )
    case 'bounding_box':
      return region([clause.west, clause.south, clause.east, clause.north])
    case 'url_contains':
      return [[{ kind: 'link', key: '*' }]]
    case 'embedding':
      // Any similarity above nothing needs a stem in common.
      if (clause.threshold === 0) return []
      return [[...bagOfText(clause.text).keys()].map((key) => ({ kind: 'stem', key }))]
    default:
      return []
  }
}

/** Roughly the most frequent words of posts, most frequent first; rules about them alone are filed elsewhere if possible. */
const COMMON_WORDS =
  `https t co the to a i and is of in you for s it on that this my with me be so rt at just not are have what but like
  de la que y el en o um e no da do os se por con un una es les le des et der die das und ich di na ini yang aku
  we all was your can up if from out when now one good do don get new more there how about they know an time love day
  go people see no too am who by u will or lol has today want some make here think as back need our his her he she
  been really would than http www com amp 1 2 3 4 5 6 7 8 9 0 10 2024 2025 2026`.split(/\s+/)

const commonWordShare = new Map(COMMON_WORDS.map((word, rank) => [word, 0.35 / (1 + rank / 8)]))

const wordShare = (word: string) => commonWordShare.get(word) ?? 0.05 * 0.5 ** Math.min(8, word.length)

/** Share of posts expected to have a term, before any were seen, or a function of its key. */
const EXPECTED_SHARE: Record<TermKind, number | ((key: string) => number)> = {
  token: wordShare,
  hashtag: 1e-4,
  cashtag: 1e-4,
  mention: 1e-5,
  from: 1e-6,
  to: 1e-6,
  retweets_of: 1e-6,
  from_affiliate_of: 1e-5,
  to_affiliate_of: 1e-5,
  conversation_id: 1e-7,
  in_reply_to_tweet_id: 1e-7,
  retweets_of_tweet_id: 1e-7,
  context: 1e-3,
  entity: 1e-4,
  url: wordShare,
  url_title: wordShare,
  url_description: wordShare,
  bio: wordShare,
  bio_name: 1e-3,
  bio_location: 1e-3,
  place: 1e-4,
  place_country: 1e-3,
  lang: (key) => (key === 'en' ? 0.35 : key === 'ja' ? 0.2 : 0.05),
  cell: (key) => (key === '*' ? 0.02 : 1e-5),
  stem: wordShare,
  link: 0.25
}

/** Kinds that make every post pay for reading more of it are chosen only where nothing else will do. */
const READING_COST: Partial<Record<TermKind, number>> = {
  url: 0.003,
  url_title: 0.003,
  url_description: 0.003,
  bio: 0.005,
  bio_name: 0.003,
  bio_location: 0.003,
  stem: 0.005
}

export const readingCost = (kind: TermKind) => READING_COST[kind] ?? 0

export function expectedShare({ kind, key }: TermName): number {
  const share = EXPECTED_SHARE[kind]
  return typeof share === 'number' ? share : share(key)
}
