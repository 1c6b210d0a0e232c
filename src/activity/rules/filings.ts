/**
 * Which rules are filed under which term. A post that meets a term reads its rules in one go, without following a
 * pointer for each.
 */
import { IntPool } from './int-pool.ts'
import { HEAD, type MatchState, TERM_WIDTH } from './state.ts'

/** After its capacity a block has the place after its last filing, counted from the block. */
const LENGTH = 1
/** Then the filings: the rule's slot, how many terms guard it, and those terms. */
export const FIRST_FILING = 2

export class Filings {
  readonly pool = new IntPool()
  private readonly state: MatchState

  constructor(state: MatchState) {
    this.state = state
  }

  /** The block of a term, 0 when no rule is filed under it. */
  blockOf(term: number): number {
    return this.state.terms[term * TERM_WIDTH + HEAD] as number
  }

  endOf(block: number): number {
    return block + (this.pool.numbers[block + LENGTH] as number)
  }

  /** A guard is a set of terms of which the post must have one; an empty one lets every post pass. */
  add(term: number, rule: number, guard: readonly number[]) {
    const block = this.blockWithRoom(term, 2 + guard.length)
    const { numbers } = this.pool
    const at = this.endOf(block)
    numbers[at] = rule
    numbers[at + 1] = guard.length
    numbers.set(guard, at + 2)
    numbers[block + LENGTH] = at + 2 + guard.length - block
  }

  remove(term: number, rule: number) {
    const block = this.blockOf(term)
    if (block === 0) return
    const { numbers } = this.pool
    const end = this.endOf(block)
    for (let at = block + FIRST_FILING; at < end; at = this.after(at)) {
      if (numbers[at] !== rule) continue
      const next = this.after(at)
      numbers.copyWithin(at, next, end)
      numbers[block + LENGTH] = end - (next - at) - block
      break
    }
    if (numbers[block + LENGTH] !== FIRST_FILING) return
    this.pool.release(block)
    this.setBlock(term, 0)
  }

  rulesUnder(term: number): number[] {
    const block = this.blockOf(term)
    const rules: number[] = []
    if (block === 0) return rules
    const end = this.endOf(block)
    for (let at = block + FIRST_FILING; at < end; at = this.after(at)) rules.push(this.pool.numbers[at] as number)
    return rules
  }

  private after(at: number) {
    return at + 2 + (this.pool.numbers[at + 1] as number)
  }

  private setBlock(term: number, block: number) {
    this.state.terms[term * TERM_WIDTH + HEAD] = block
  }

  private blockWithRoom(term: number, wanted: number): number {
    const { pool } = this
    const block = this.blockOf(term)
    if (block === 0) {
      const fresh = pool.allocate(1 + wanted)
      pool.numbers[fresh + LENGTH] = FIRST_FILING
      this.setBlock(term, fresh)
      return fresh
    }
    const length = pool.numbers[block + LENGTH] as number
    if (length - 1 + wanted <= pool.roomIn(block)) return block
    const larger = pool.allocate(length - 1 + wanted)
    pool.numbers.copyWithin(larger + LENGTH, block + LENGTH, block + length)
    pool.release(block)
    this.setBlock(term, larger)
    return larger
  }
}
