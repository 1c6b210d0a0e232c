/** The shape of a parsed rule: plain data, so that it can be stored, compared and sent. */

/** Author, replied-to or reposted user; a username without @ or a numeric id. */
export type UserOperator = 'from' | 'to' | 'retweets_of' | 'from_affiliate_of' | 'to_affiliate_of'

/** Values are split into tokens and looked for as consecutive tokens. */
export type TextOperator =
  | 'url'
  | 'url_title'
  | 'url_description'
  | 'bio'
  | 'bio_name'
  | 'bio_location'
  | 'place'
  | 'entity'

/** Values are compared as they stand, case aside. */
export type ExactOperator =
  | 'conversation_id'
  | 'in_reply_to_tweet_id'
  | 'retweets_of_tweet_id'
  | 'place_country'
  | 'url_contains'
  | 'lang'
  | 'source'

export type CountOperator =
  | 'followers_count'
  | 'tweets_count'
  | 'following_count'
  | 'listed_count'
  | 'min_followers'
  | 'min_likes'
  | 'min_replies'
  | 'min_reposts'

export type IsValue = 'retweet' | 'reply' | 'quote' | 'verified' | 'nullcast'
export type HasValue = 'hashtags' | 'cashtags' | 'links' | 'mentions' | 'media' | 'images' | 'video_link' | 'geo'

export type ClauseBody =
  | { type: 'keyword' | 'phrase'; text: string; tokens: string[] }
  | { type: 'proximity'; text: string; tokens: string[]; distance: number }
  | { type: 'hashtag' | 'cashtag' | 'mention'; value: string }
  | { type: UserOperator; value: string }
  | { type: TextOperator; value: string; tokens: string[] }
  | { type: ExactOperator; value: string }
  | { type: CountOperator; min: number; max?: number }
  | { type: 'context'; domain: string; entity: string }
  | { type: 'point_radius'; longitude: number; latitude: number; radius: number; unit: 'mi' | 'km' }
  | { type: 'bounding_box'; west: number; south: number; east: number; north: number }
  | { type: 'is'; value: IsValue }
  | { type: 'has'; value: HasValue }
  | { type: 'sample'; percent: number }
  | { type: 'embedding'; text: string; threshold: number }
  | { type: 'embedding_threshold'; threshold: number }

/** `position` is that of the clause in the rule's text, counted in characters from 1. */
export type Clause = ClauseBody & { position: number }
export type ClauseType = Clause['type']

export interface Conjunction {
  type: 'and'
  rules: Rule[]
  position: number
}

export interface Disjunction {
  type: 'or'
  rules: Rule[]
  position: number
}

export interface Negation {
  type: 'not'
  rule: Rule
  position: number
}

export type Rule = Conjunction | Disjunction | Negation | Clause

export const isClause = (rule: Rule): rule is Clause => rule.type !== 'and' && rule.type !== 'or' && rule.type !== 'not'

/** Every clause of a rule, in reading order. */
export function* clausesOf(rule: Rule): Generator<Clause> {
  if (isClause(rule)) yield rule
  else if (rule.type === 'not') yield* clausesOf(rule.rule)
  else for (const part of rule.rules) yield* clausesOf(part)
}
