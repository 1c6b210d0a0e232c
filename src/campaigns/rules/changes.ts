/**
 * What a PUT changes. A client may send back all it loaded: what equals the stored value is no change, and a rule that the
 * stored entity already breaks (it came under the rule later) does not stop a change of something else. See decisions/0050.
 */
import type { ErrorItem } from '../../errors.ts'
import { fieldOf } from './problems.ts'

const TIMES = ['start_time', 'end_time']

function same(key: string, a: unknown, b: unknown): boolean {
  if ((a ?? null) === (b ?? null)) return true
  if (Array.isArray(a) && Array.isArray(b)) {
    const [left, right] = [new Set(a), new Set(b)]
    return left.size === right.size && left.isSubsetOf(right)
  }
  // Stored times have milliseconds, times of the wire have none.
  return TIMES.includes(key) && typeof a === 'string' && typeof b === 'string' && Date.parse(a) === Date.parse(b)
}

/** The inputs that differ from what is stored; where nothing is stored yet, those that have a value. */
export function changesOf<I extends object>(input: I, current: object | null): Partial<I> {
  const before = (current ?? {}) as Record<string, unknown>
  return Object.fromEntries(
    Object.entries(input).filter(([key, value]) => value !== undefined && !same(key, value, before[key]))
  ) as Partial<I>
}

/** Without the problems that were there before and whose field is not touched. */
export function causedBy(changes: object, after: ErrorItem[], before: ErrorItem[]): ErrorItem[] {
  const key = (item: ErrorItem) => `${item.code} ${fieldOf(item)}`
  const known = new Set(before.map(key))
  return after.filter((item) => !known.has(key(item)) || fieldOf(item) in changes)
}

/** The first problem of each field; a bad value is told once, not again by each rule that meets it. */
export function firstPerField(items: ErrorItem[]): ErrorItem[] {
  const seen = new Set<string>()
  return items.filter((item) => {
    const field = fieldOf(item)
    if (seen.has(field)) return false
    seen.add(field)
    return true
  })
}
