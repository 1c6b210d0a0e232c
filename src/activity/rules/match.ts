/** Does a post match a rule? The plain reading of the language: clear, complete, and the judge of the engine. */
import type { Clause, CountOperator, HasValue, IsValue, Rule } from './ast.ts'
import { bagOfText, similarity } from './embedding.ts'
import { boxInBox, boxInCircle, KM_PER_MILE } from './geo.ts'
import type { PostView } from './post.ts'
import { containsPhrase, containsWithin, fold, tokenize } from './tokens.ts'

export function matches(rule: Rule, post: PostView): boolean {
  switch (rule.type) {
    case 'and':
      return rule.rules.every((part) => matches(part, post))
    case 'or':
      return rule.rules.some((part) => matches(part, post))
    case 'not':
      return !matches(rule.rule, post)
    default:
      return matchesClause(rule, post)
  }
}

/** Operators about what is said look at the quoted post, too; operators about who, where and how do not. */
export function matchesClause(clause: Clause, post: PostView): boolean {
  switch (clause.type) {
    case 'keyword':
    case 'phrase':
      return post.contents.some(({ tokens }) => containsPhrase(tokens, clause.tokens))
    case 'proximity':
      return post.contents.some(({ tokens }) => containsWithin(tokens, clause.tokens, clause.distance))
    case 'hashtag':
      return post.contents.some(({ hashtags }) => hashtags.includes(fold(clause.value)))
    case 'cashtag':
      return post.contents.some(({ cashtags }) => cashtags.includes(fold(clause.value)))
    case 'mention':
      return post.contents.some(({ mentions }) => mentions.includes(fold(clause.value)))
    case 'from':
      return post.authorNames.includes(fold(clause.value))
    case 'to':
      return post.repliedToNames.includes(fold(clause.value))
    case 'retweets_of':
      return post.repostedNames.includes(fold(clause.value))
    case 'from_affiliate_of':
      return post.authorAffiliations.includes(fold(clause.value))
    case 'to_affiliate_of':
      return post.repliedToAffiliations.includes(fold(clause.value))
    case 'url':
      return post.urlTokens('address').some((tokens) => containsPhrase(tokens, clause.tokens))
    case 'url_title':
      return post.urlTokens('title').some((tokens) => containsPhrase(tokens, clause.tokens))
    case 'url_description':
      return post.urlTokens('description').some((tokens) => containsPhrase(tokens, clause.tokens))
    case 'url_contains':
      return post.addresses.some((address) => fold(address).includes(fold(clause.value)))
    case 'context':
      return post.contents.some((content) =>
        (content.post.context_annotations ?? []).some(
          ({ domain, entity }) =>
            (clause.domain === '*' || clause.domain === domain?.id) &&
            (clause.entity === '*' || clause.entity === entity?.id)
        )
      )
    case 'entity':
      return post.contents.some((content) =>
        content.annotationNames.some((name) => tokenize(name).join(' ') === clause.tokens.join(' '))
      )
    case 'conversation_id':
      return post.post.conversation_id === clause.value
    case 'in_reply_to_tweet_id':
      return post.repliedToId === clause.value
    case 'retweets_of_tweet_id':
      return post.repostedId === clause.value
    case 'bio':
      return containsPhrase(post.bioTokens('description'), clause.tokens)
    case 'bio_name':
      return containsPhrase(post.bioTokens('name'), clause.tokens)
    case 'bio_location':
      return containsPhrase(post.bioTokens('location'), clause.tokens)
    case 'place': {
      const place = post.place
      if (!place) return false
      if (place.id === clause.value.toLowerCase()) return true
      return [place.name, place.full_name].some((name) => containsPhrase(tokenize(name ?? ''), clause.tokens))
    }
    case 'place_country':
      return post.place?.country_code?.toUpperCase() === clause.value
    case 'point_radius': {
      const radiusKm = clause.unit === 'mi' ? clause.radius * KM_PER_MILE : clause.radius
      const box = post.box
      return box !== undefined && boxInCircle(box, { longitude: clause.longitude, latitude: clause.latitude, radiusKm })
    }
    case 'bounding_box': {
      const box = post.box
      return box !== undefined && boxInBox(box, [clause.west, clause.south, clause.east, clause.north])
    }
    case 'is':
      return is(clause.value, post)
    case 'has':
      return has(clause.value, post)
    case 'lang':
      return post.langs.includes(clause.value)
    case 'source':
      return fold(post.post.source ?? '') === fold(clause.value)
    case 'sample':
      return post.sampleSlot < clause.percent
    case 'embedding':
      return similarity(bagOfText(clause.text), post.bag) >= clause.threshold
    case 'embedding_threshold':
      // Says how alike embedding: must be, nothing about the post.
      return true
    default: {
      const count = countOf(clause.type, post)
      return count >= clause.min && (clause.max === undefined || count <= clause.max)
    }
  }
}

export function countOf(type: CountOperator, { author, post }: PostView): number {
  switch (type) {
    case 'followers_count':
    case 'min_followers':
      return author?.public_metrics?.followers_count ?? 0
    case 'following_count':
      return author?.public_metrics?.following_count ?? 0
    case 'tweets_count':
      return author?.public_metrics?.tweet_count ?? 0
    case 'listed_count':
      return author?.public_metrics?.listed_count ?? 0
    case 'min_likes':
      return post.public_metrics?.like_count ?? 0
    case 'min_replies':
      return post.public_metrics?.reply_count ?? 0
    case 'min_reposts':
      return post.public_metrics?.repost_count ?? post.public_metrics?.retweet_count ?? 0
  }
}

function is(value: IsValue, post: PostView): boolean {
  switch (value) {
    case 'retweet':
      return post.isRepost
    case 'reply':
      return post.isReply
    case 'quote':
      return post.isQuote
    case 'verified':
      return post.author?.verified === true
    case 'nullcast':
      return post.post.nullcast === true
  }
}

function has(value: HasValue, post: PostView): boolean {
  switch (value) {
    case 'hashtags':
      return post.contents.some(({ hashtags }) => hashtags.length > 0)
    case 'cashtags':
      return post.contents.some(({ cashtags }) => cashtags.length > 0)
    case 'mentions':
      return post.contents.some(({ mentions }) => mentions.length > 0)
    case 'links':
      return post.urls.length > 0
    case 'media':
      return post.mediaTypes.length > 0
    case 'images':
      return post.mediaTypes.includes('photo')
    case 'video_link':
      return post.mediaTypes.includes('video')
    case 'geo':
      return post.hasGeo
  }
}

/** What matching_rules says about a rule with embedding:, undefined for all others. */
export function embeddingScore(rule: Rule, post: PostView) {
  const best = embeddings(rule)
    .map(({ text, threshold }) => ({
      embedding_similarity: similarity(bagOfText(text), post.bag),
      embedding_threshold: threshold
    }))
    .sort((a, b) => b.embedding_similarity - a.embedding_similarity)
  return best[0]
}

function embeddings(rule: Rule): Extract<Clause, { type: 'embedding' }>[] {
  if (rule.type === 'and' || rule.type === 'or') return rule.rules.flatMap(embeddings)
  return rule.type === 'embedding' ? [rule] : []
}
