/** What embedding: compares: the cosine between two bags of word stems. Deterministic, no model. See decisions/0034. */
import { tokenize } from './tokens.ts'

export const EMBEDDING_THRESHOLD_DEFAULT = 0.3

/** Stem → how often. */
export type Bag = Map<string, number>

const STOP_WORDS = new Set(
  `a about after all also am an and any are as at be been before but by can could did do does for from get had has have
  he her here him his how i if in into is it its just like me more most my no not now of on one only or our out over re
  s she should so some such t than that the their them then there these they this to too up us very was we were what
  when where which who why will with would you your https http co rt amp`.split(/\s+/)
)

const SUFFIXES = ['ings', 'ing', 'ies', 'edly', 'ed', 'ers', 'er', 'es', 's', 'ly', 'e', 'y']

/** Crude on purpose: enough for "cars" to meet "car" and "charging" to meet "charge". */
export function stem(token: string): string {
  for (const suffix of SUFFIXES) {
    if (token.length - suffix.length >= 3 && token.endsWith(suffix)) return token.slice(0, -suffix.length)
  }
  return token
}

export function bagOf(tokens: Iterable<string>): Bag {
  const bag: Bag = new Map()
  for (const token of tokens) {
    if (STOP_WORDS.has(token)) continue
    const word = stem(token)
    bag.set(word, (bag.get(word) ?? 0) + 1)
  }
  return bag
}

const bags = new Map<string, Bag>()
const BAGS_MAX = 1000

/** The bag of a rule's text; kept, because every post asks for it again. */
export function bagOfText(text: string): Bag {
  let bag = bags.get(text)
  if (!bag) {
    if (bags.size >= BAGS_MAX) bags.clear()
    bag = bagOf(tokenize(text))
    bags.set(text, bag)
  }
  return bag
}

const lengthOf = (bag: Bag) => Math.sqrt([...bag.values()].reduce((sum, count) => sum + count * count, 0))

/** 0 (no stem in common) to 1 (the same stems in the same proportions). */
export function similarity(one: Bag, other: Bag): number {
  let product = 0
  for (const [word, count] of one) product += count * (other.get(word) ?? 0)
  return product === 0 ? 0 : Math.min(1, product / (lengthOf(one) * lengthOf(other)))
}
