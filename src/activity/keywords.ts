/** Keyword filters: the words of the keyword stand next to each other in one of the event's texts. */
import type { PublishedEvent } from './facets.ts'
import { isObject, textOf } from './legacy.ts'
import { containsPhrase, tokenize } from './rules/tokens.ts'

/** Where people write, in payloads of any type. */
const TEXT_KEYS = new Set([
  'text',
  'name',
  'headline',
  'hook',
  'summary',
  'title',
  'before',
  'after',
  'description',
  'category'
])
const DEPTH_MAX = 5

function textsIn(value: unknown, depth = 0): string[] {
  if (value === null || typeof value !== 'object' || depth > DEPTH_MAX) return []
  const texts: string[] = []
  for (const [key, child] of Object.entries(value)) {
    if (typeof child !== 'string') texts.push(...textsIn(child, depth + 1))
    else if (TEXT_KEYS.has(key)) texts.push(child)
  }
  return texts
}

/** Of a post only what was written: titles of the pages it links to are not. */
export function textsOf({ event_type, payload }: Pick<PublishedEvent, 'event_type' | 'payload'>): string[] {
  if (!event_type.startsWith('post.')) return textsIn(payload)
  const note = isObject(payload.note_tweet) ? textOf(payload.note_tweet.text) : undefined
  return [note ?? textOf(payload.text) ?? '']
}

const remembered = new WeakMap<object, string[][]>()

function tokensOf(event: Pick<PublishedEvent, 'event_type' | 'payload'>) {
  let tokens = remembered.get(event.payload)
  if (!tokens) {
    tokens = textsOf(event).map(tokenize)
    remembered.set(event.payload, tokens)
  }
  return tokens
}

/** Every word of an event, once. */
export const termsOf = (event: Pick<PublishedEvent, 'event_type' | 'payload'>) => [...new Set(tokensOf(event).flat())]

/** The word of a keyword by which its subscription is found: the longest, as that is likely the rarest. */
export const termOf = (keyword: string): string | undefined =>
  tokenize(keyword).reduce<string | undefined>(
    (best, word) => (best && best.length >= word.length ? best : word),
    undefined
  )

export function mentionsKeyword(event: Pick<PublishedEvent, 'event_type' | 'payload'>, keyword: string) {
  const wanted = tokenize(keyword)
  return tokensOf(event).some((tokens) => containsPhrase(tokens, wanted))
}
