/** What the index of posts knows a post by. A query that needs one of these looks at few posts only. */
import type { PostView, Rule } from '../rules/index.ts'
import { expectedShare, type KeyTermKind, keysOfPost, planOf, type TermName } from '../rules/terms.ts'

const KEYS = [
  'hashtag',
  'cashtag',
  'mention',
  'from',
  'to',
  'retweets_of',
  'conversation_id',
  'in_reply_to_tweet_id'
] as const satisfies readonly KeyTermKind[]

/** In so many posts that an index of them costs much and narrows nothing. Stored posts lack them, so the list is fixed. */
const LEFT_OUT = new Set(
  'https http t co the to a i and is of in you for s it on that this my with me be so rt at just not are have'.split(
    ' '
  )
)

const isIndexed = ({ kind, key }: TermName) =>
  kind === 'token' ? !LEFT_OUT.has(key) : (KEYS as readonly string[]).includes(kind)

const mixed = (hash: number, text: string) => {
  for (let at = 0; at < text.length; at++) hash = Math.imul(hash ^ text.charCodeAt(at), 0x01000193)
  return hash
}
const begun = new Map<string, number>()

/** FNV-1a, as a signed integer. Two terms with one hash cost a look at the post; a changed hash would lose stored ones. */
function hashOf(kind: TermName['kind'], key: string): number {
  let hash = begun.get(kind)
  if (hash === undefined) {
    hash = mixed(0x811c9dc5, `${kind} `)
    begun.set(kind, hash)
  }
  return mixed(hash, key) | 0
}

export function termsOf(post: PostView): number[] {
  const terms = new Set<number>()
  for (const { tokens } of post.contents)
    for (const key of tokens) if (!LEFT_OUT.has(key)) terms.add(hashOf('token', key))
  for (const kind of KEYS) for (const key of keysOfPost[kind](post)) terms.add(hashOf(kind, key))
  return [...terms]
}

const NOT_INDEXED = 1e9

/** A post that matches has one of these; undefined when the index cannot tell. */
export function neededTerms(rule: Rule): number[] | undefined {
  const plan = planOf(rule, (term) => (isIndexed(term) ? expectedShare(term) : NOT_INDEXED))
  return plan && plan.cost < NOT_INDEXED
    ? [...new Set(plan.filings.map(({ term }) => hashOf(term.kind, term.key)))]
    : undefined
}
