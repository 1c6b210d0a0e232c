/**
 * Which rules are filed under which term: all lists in one array of numbers. A post that meets a term reads its rules
 * in one go, without following a pointer for each.
 */

/** A block: its capacity, the length in use, then for each rule its slot, how many terms guard it, and those terms. */
const HEADER = 2
const BLOCK_MIN = 8

export class Filings {
  /** By term: where its block begins, 0 when there is none. */
  heads: Int32Array = new Int32Array(64)
  /** Place 0 is never used, so that 0 can mean nowhere. */
  pool: Int32Array = new Int32Array(1024)
  private end = 1
  /** Blocks given back, by capacity. */
  private readonly free = new Map<number, number[]>()

  has = (term: number) => (this.heads[term] ?? 0) !== 0

  /** Where the first filing of a block is, and where the last one ends. */
  startOf = (block: number) => block + HEADER
  endOf = (block: number) => block + (this.pool[block + 1] as number)

  /** A guard is a set of terms of which the post must have one; an empty one lets every post pass. */
  add(term: number, rule: number, guard: readonly number[]) {
    if (term >= this.heads.length) this.heads = enlarged(this.heads, term + 1)
    const needed = (this.has(term) ? this.usedOf(term) : HEADER) + 2 + guard.length
    if (!this.has(term)) this.heads[term] = this.allocate(needed)
    else if (needed > (this.pool[this.heads[term] as number] as number)) this.move(term, needed)
    const at = this.endOf(this.heads[term] as number)
    this.pool[at] = rule
    this.pool[at + 1] = guard.length
    this.pool.set(guard, at + 2)
    this.pool[(this.heads[term] as number) + 1] = needed
  }

  remove(term: number, rule: number) {
    const block = this.heads[term] ?? 0
    if (block === 0) return
    const end = this.endOf(block)
    for (let at = this.startOf(block); at < end; at = this.after(at)) {
      if (this.pool[at] !== rule) continue
      const next = this.after(at)
      this.pool.copyWithin(at, next, end)
      this.pool[block + 1] = this.usedOf(term) - (next - at)
      break
    }
    if (this.usedOf(term) > HEADER) return
    this.giveBack(block)
    this.heads[term] = 0
  }

  rulesUnder(term: number): number[] {
    const block = this.heads[term] ?? 0
    const rules: number[] = []
    if (block === 0) return rules
    for (let at = this.startOf(block); at < this.endOf(block); at = this.after(at)) rules.push(this.pool[at] as number)
    return rules
  }

  private usedOf = (term: number) => this.pool[(this.heads[term] as number) + 1] as number

  private after = (at: number) => at + 2 + (this.pool[at + 1] as number)

  /** To a larger block. */
  private move(term: number, needed: number) {
    const from = this.heads[term] as number
    const used = this.usedOf(term)
    const to = this.allocate(needed)
    this.pool.copyWithin(to + 1, from + 1, from + used)
    this.giveBack(from)
    this.heads[term] = to
  }

  private allocate(needed: number): number {
    let capacity = BLOCK_MIN
    while (capacity < needed) capacity *= 2
    const block = this.free.get(capacity)?.pop() ?? this.end
    if (block === this.end) {
      this.end += capacity
      if (this.end > this.pool.length) this.pool = enlarged(this.pool, this.end)
    }
    this.pool[block] = capacity
    this.pool[block + 1] = HEADER
    return block
  }

  private giveBack(block: number) {
    const capacity = this.pool[block] as number
    const blocks = this.free.get(capacity)
    if (blocks) blocks.push(block)
    else this.free.set(capacity, [block])
  }
}

/** Twice as large, or as large as needed. */
export function enlarged(numbers: Int32Array, needed: number): Int32Array {
  const larger = new Int32Array(Math.max(needed, numbers.length * 2))
  larger.set(numbers)
  return larger
}
