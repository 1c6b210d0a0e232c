/**
 * Sets of people, compressed. People are numbered from 0 and taken in blocks of 65,536. A set has one of three forms: runs
 * (neighbours, such as a country), the low halves of sparse numbers block by block, or one bit per person.
 */
export const BLOCK = 65_536
export const BLOCK_WORDS = BLOCK / 32

export type PeopleSet =
  /** Pairs, ascending: from, to (not included). */
  | { form: 'runs'; bounds: Uint32Array }
  /** Per block where its numbers start, and where the last one ends. Within a block they come in any order. */
  | { form: 'sparse'; starts: Uint32Array; low: Uint16Array }
  | { form: 'dense'; words: Uint32Array }

export const blocksFor = (held: number) => Math.ceil(held / BLOCK)
export const wordsFor = (held: number) => Math.ceil(held / 32)

/** Up to this many numbers are handled faster, and kept in less space, one by one than bit by bit. */
const sparseMax = (held: number) => held / 32
const RUNS_MAX = 64

/** From ascending, distinct numbers below `held`. */
export function setOf(ids: Uint32Array, held: number): PeopleSet {
  const runs = countRuns(ids)
  if (runs <= RUNS_MAX) return runsOf(ids, runs)
  return ids.length <= sparseMax(held) ? sparseOf(ids, held) : denseOf(ids, held)
}

/** Everyone from one number to another (not included). */
export const rangeSet = (from: number, to: number): PeopleSet => ({
  form: 'runs',
  bounds: Uint32Array.from(from < to ? [from, to] : [])
})

export const EMPTY: PeopleSet = rangeSet(0, 0)

/** Counts only until there are too many to matter. */
function countRuns(ids: Uint32Array) {
  let runs = 0
  for (let i = 0; i < ids.length && runs <= RUNS_MAX; i++) if (i === 0 || ids[i]! !== ids[i - 1]! + 1) runs++
  return runs
}

function runsOf(ids: Uint32Array, runs: number): PeopleSet {
  const bounds = new Uint32Array(runs * 2)
  let at = -1
  for (let i = 0; i < ids.length; i++) {
    if (i === 0 || ids[i]! !== ids[i - 1]! + 1) bounds[++at * 2] = ids[i]!
    bounds[at * 2 + 1] = ids[i]! + 1
  }
  return { form: 'runs', bounds }
}

function sparseOf(ids: Uint32Array, held: number): PeopleSet {
  const starts = new Uint32Array(blocksFor(held) + 1)
  const low = new Uint16Array(ids.length)
  for (let i = 0; i < ids.length; i++) {
    starts[(ids[i]! >>> 16) + 1]!++
    low[i] = ids[i]! & 0xffff
  }
  for (let block = 1; block < starts.length; block++) starts[block]! += starts[block - 1]!
  return { form: 'sparse', starts, low }
}

function denseOf(ids: Uint32Array, held: number): PeopleSet {
  const words = new Uint32Array(wordsFor(held))
  for (let i = 0; i < ids.length; i++) words[ids[i]! >>> 5]! |= 1 << (ids[i]! & 31)
  return { form: 'dense', words }
}

/** Sparse numbers bit by bit, if there are too many of them to stay sparse. */
export function settled(set: PeopleSet, held: number): PeopleSet {
  if (set.form !== 'sparse' || set.low.length <= sparseMax(held)) return set
  const words = new Uint32Array(wordsFor(held))
  for (let block = 0; block < blocksFor(held); block++) {
    const base = block * BLOCK_WORDS
    for (let i = set.starts[block]!; i < set.starts[block + 1]!; i++) {
      words[base + (set.low[i]! >>> 5)]! |= 1 << (set.low[i]! & 31)
    }
  }
  return { form: 'dense', words }
}

export function sizeOf(set: PeopleSet): number {
  if (set.form === 'sparse') return set.low.length
  if (set.form === 'dense') return countBits(set.words)
  let size = 0
  for (let pair = 0; pair < set.bounds.length; pair += 2) size += set.bounds[pair + 1]! - set.bounds[pair]!
  return size
}

export function countBits(words: Uint32Array): number {
  let count = 0
  for (let i = 0; i < words.length; i++) {
    let v = words[i]! | 0
    v -= (v >>> 1) & 0x55555555
    v = (v & 0x33333333) + ((v >>> 2) & 0x33333333)
    count += Math.imul((v + (v >>> 4)) & 0x0f0f0f0f, 0x01010101) >>> 24
  }
  return count
}

export const bytesOf = (set: PeopleSet) =>
  set.form === 'dense'
    ? set.words.byteLength
    : set.form === 'runs'
      ? set.bounds.byteLength
      : set.low.byteLength + set.starts.byteLength

/** Ascending numbers that become a set; grows without boxing. */
export class IdList {
  private ids = new Uint32Array(64)
  length = 0

  push(id: number) {
    if (this.length === this.ids.length) {
      const larger = new Uint32Array(this.length * 2)
      larger.set(this.ids)
      this.ids = larger
    }
    this.ids[this.length++] = id
  }

  last() {
    return this.length === 0 ? -1 : this.ids[this.length - 1]!
  }

  toArray(): Uint32Array {
    return this.ids.subarray(0, this.length)
  }

  toSet(held: number): PeopleSet {
    return setOf(this.toArray(), held)
  }
}
