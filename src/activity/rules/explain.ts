/** Why a post does not match a rule, clause by clause, with what the post has instead. */
import { type Clause, isClause, type Negation, type Rule } from './ast.ts'
import { countOf, embeddingScore, matches, matchesClause } from './match.ts'
import { printRule } from './parse.ts'
import type { PostView } from './post.ts'

export interface ExplainedClause {
  /** As one would write it, a negation with its dash. */
  clause: string
  position: number
  matched: boolean
  /** What the post has where the clause looks; left out where "no" says it all. */
  found?: unknown
  /** The clauses of a negated group. */
  group?: ExplainedClause[]
}

export interface Explanation {
  matched: boolean
  /** Every clause of the rule, in reading order. */
  clauses: ExplainedClause[]
  /** Those to which it is due that the rule did not match; empty when it did. */
  failed: ExplainedClause[]
}

export function explain(rule: Rule, post: PostView): Explanation {
  const clauses: ExplainedClause[] = []
  const failed = visit(rule, post, clauses)
  return { matched: matches(rule, post), clauses, failed }
}

/** Notes every clause and returns the ones at fault. */
function visit(rule: Rule, post: PostView, clauses: ExplainedClause[]): ExplainedClause[] {
  if (rule.type === 'and') return rule.rules.flatMap((part) => visit(part, post, clauses))
  if (rule.type === 'or') {
    const failures = rule.rules.map((part) => visit(part, post, clauses))
    return failures.some((branch) => branch.length === 0) ? [] : failures.flat()
  }
  const explained = explainOne(rule, post)
  clauses.push(explained)
  return explained.matched ? [] : [explained]
}

function explainOne(rule: Clause | Negation, post: PostView): ExplainedClause {
  const { position } = rule
  const clause = printRule(rule)
  if (rule.type !== 'not') return { clause, position, matched: matchesClause(rule, post), ...found(rule, post) }
  if (isClause(rule.rule)) {
    return { clause, position, matched: !matchesClause(rule.rule, post), ...found(rule.rule, post) }
  }
  return { clause, position, matched: !matches(rule.rule, post), group: explain(rule.rule, post).clauses }
}

const LISTED_MAX = 50

function found(clause: Clause, post: PostView): { found?: unknown } {
  const value = lookup(clause, post)
  if (value === undefined) return {}
  return { found: Array.isArray(value) ? value.slice(0, LISTED_MAX) : value }
}

function lookup(clause: Clause, post: PostView): unknown {
  switch (clause.type) {
    case 'keyword':
    case 'phrase':
    case 'proximity':
      return post.contents.flatMap(({ tokens }) => tokens)
    case 'hashtag':
      return post.contents.flatMap(({ hashtags }) => hashtags)
    case 'cashtag':
      return post.contents.flatMap(({ cashtags }) => cashtags)
    case 'mention':
      return post.contents.flatMap(({ mentions }) => mentions)
    case 'from':
      return post.authorNames
    case 'to':
      return post.repliedToNames
    case 'retweets_of':
      return post.repostedNames
    case 'from_affiliate_of':
      return post.authorAffiliations
    case 'to_affiliate_of':
      return post.repliedToAffiliations
    case 'url':
    case 'url_contains':
      return post.addresses
    case 'url_title':
      return post.urls.flatMap(({ title }) => title ?? [])
    case 'url_description':
      return post.urls.flatMap(({ description }) => description ?? [])
    case 'context':
      return post.contents.flatMap((content) =>
        (content.post.context_annotations ?? []).map(({ domain, entity }) => `${domain?.id}.${entity?.id}`)
      )
    case 'entity':
      return post.contents.flatMap(({ annotationNames }) => annotationNames)
    case 'conversation_id':
      return post.post.conversation_id
    case 'in_reply_to_tweet_id':
      return post.repliedToId
    case 'retweets_of_tweet_id':
      return post.repostedId
    case 'bio':
      return post.author?.description
    case 'bio_name':
      return post.author?.name
    case 'bio_location':
      return post.author?.location
    case 'place':
      return post.place && [post.place.id, post.place.full_name ?? post.place.name].filter(Boolean)
    case 'place_country':
      return post.place?.country_code
    case 'point_radius':
    case 'bounding_box':
      return post.box
    case 'is':
    case 'embedding_threshold':
      return undefined
    case 'has':
      return /media|images|video/.test(clause.value) ? post.mediaTypes : undefined
    case 'lang':
      return post.post.lang ?? 'und'
    case 'source':
      return post.post.source
    case 'sample':
      return post.sampleSlot
    case 'embedding':
      return embeddingScore(clause, post)?.embedding_similarity
    default:
      return countOf(clause.type, post)
  }
}
