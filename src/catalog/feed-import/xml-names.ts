/** Which elements of an item hold which product field. By namespace: a prefix is only a spelling. */
import type { SaxesTagNS } from 'saxes'
import { FIELD_INDEX } from '../product-fields.ts'
import { fieldIndexOf } from './columns.ts'

export const ATOM_NAMESPACE = 'http://www.w3.org/2005/Atom'
const SHOPPING_NAMESPACE = 'http://base.google.com/ns/1.0'

/** When an item gives a field in several ways, the shopping namespace comes first, then a plain element. */
const RANK_SHOPPING = 3
const RANK_PLAIN = 2
const RANK_FALLBACK = 1

export interface FoundField {
  /** In PRODUCT_FIELDS. */
  index: number
  rank: number
  /** The value, where it stands in an attribute. */
  text?: string
}

export function findField(tag: SaxesTagNS, isAtom: boolean): FoundField | undefined {
  if (tag.uri === SHOPPING_NAMESPACE) return found(fieldIndexOf(tag.local), RANK_SHOPPING)
  if (isAtom) return tag.uri === ATOM_NAMESPACE ? findAtomField(tag) : undefined
  return tag.uri === '' ? found(fieldIndexOf(tag.local), RANK_PLAIN) : undefined
}

/** An Atom `id` is the address of the entry, not of the product. */
function findAtomField({ local, attributes }: SaxesTagNS): FoundField | undefined {
  if (local === 'title') return found(FIELD_INDEX.get('title'), RANK_PLAIN)
  if (local === 'summary') return found(FIELD_INDEX.get('description'), RANK_PLAIN)
  if (local === 'content') return found(FIELD_INDEX.get('description'), RANK_FALLBACK)
  if (local !== 'link' || (attributes.rel?.value ?? 'alternate') !== 'alternate') return undefined
  return found(FIELD_INDEX.get('link'), RANK_PLAIN, attributes.href?.value)
}

function found(index: number | undefined, rank: number, text?: string): FoundField | undefined {
  return index === undefined ? undefined : { index, rank, text }
}

const RSS_ELEMENTS = new Set(['author', 'category', 'comments', 'enclosure', 'guid', 'pubDate', 'source'])

/** Elements that belong to RSS, Atom or another vocabulary and need no warning when they are passed over. */
export function isExpectedElsewhere({ local, uri }: SaxesTagNS, isAtom: boolean): boolean {
  if (uri === SHOPPING_NAMESPACE) return false
  return uri !== '' || isAtom || RSS_ELEMENTS.has(local)
}
