/**
 * A population as bytes: a head that says what is where, and the sets as they are used in memory, so that reading is one
 * read and no parsing.
 */
import type { PeopleSet } from './people-set.ts'
import type { Population } from './population.ts'

const MAGIC = 0x31504f48
const ALIGN = 4

/** Form, then the length of each array of the form. */
type Entry = [key: string, form: PeopleSet['form'], offset: number, first: number, second: number]

interface Head extends Omit<Population, 'sets'> {
  sets: Entry[]
}

const partsOf = (set: PeopleSet): [Uint32Array, Uint16Array?] =>
  set.form === 'dense' ? [set.words] : set.form === 'runs' ? [set.bounds] : [set.starts, set.low]

const aligned = (bytes: number) => Math.ceil(bytes / ALIGN) * ALIGN

export function encodePopulation({ sets, ...population }: Population): Uint8Array<ArrayBuffer> {
  const entries: Entry[] = []
  let size = 0
  for (const [key, set] of sets) {
    const [first, second] = partsOf(set)
    entries.push([key, set.form, size, first.length, second?.length ?? 0])
    size += first.byteLength + aligned(second?.byteLength ?? 0)
  }
  const head = Buffer.from(JSON.stringify({ ...population, sets: entries } satisfies Head))
  const start = aligned(8 + head.length)
  const bytes = new Uint8Array(start + size)
  new Uint32Array(bytes.buffer, 0, 2).set([MAGIC, head.length])
  bytes.set(head, 8)
  for (const [i, set] of [...sets.values()].entries()) {
    let at = start + entries[i]![2]
    for (const part of partsOf(set)) {
      if (!part) continue
      bytes.set(new Uint8Array(part.buffer, part.byteOffset, part.byteLength), at)
      at += part.byteLength
    }
  }
  return bytes
}

/** The sets are views of `bytes`, which must not change afterwards. */
export function decodePopulation(given: Uint8Array): Population {
  const bytes = given.byteOffset % ALIGN === 0 ? given : new Uint8Array(given)
  const { buffer, byteOffset } = bytes
  if (bytes.length < 8) throw new Error('not a population file')
  const [magic, headLength] = new Uint32Array(buffer, byteOffset, 2)
  if (magic !== MAGIC || bytes.length < 8 + headLength!) throw new Error('not a population file')
  const { sets: entries, ...population } = JSON.parse(
    Buffer.from(bytes.subarray(8, 8 + headLength!)).toString()
  ) as Head
  const start = byteOffset + aligned(8 + headLength!)
  const sets = new Map<string, PeopleSet>()
  for (const [key, form, offset, first, second] of entries) {
    const one = new Uint32Array(buffer, start + offset, first)
    if (form === 'dense') sets.set(key, { form, words: one })
    else if (form === 'runs') sets.set(key, { form, bounds: one })
    else sets.set(key, { form, starts: one, low: new Uint16Array(buffer, start + offset + first * 4, second) })
  }
  return { ...population, sets }
}
