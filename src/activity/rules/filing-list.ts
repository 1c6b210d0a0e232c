/** The rules under one term, as numbers side by side: passing over a rule that cannot match costs a few nanoseconds. */
const NO_GUARD = 0

export class FilingList {
  length = 0
  /** Pairs: the rule, and its guard: 0 none, a positive number one term, a negative one the place of a set of terms. */
  private entries = new Int32Array(4)
  private guardSets: (readonly number[])[] | undefined
  private freeSets: number[] | undefined

  ruleAt(entry: number): number {
    return this.entries[entry * 2] as number
  }

  rules(): number[] {
    return Array.from({ length: this.length }, (_, entry) => this.ruleAt(entry))
  }

  /** A guard is a set of terms of which the post must have one; an empty one lets every post pass. */
  add(rule: number, guard: readonly number[]) {
    if (this.length * 2 === this.entries.length) {
      const larger = new Int32Array(this.entries.length * 2)
      larger.set(this.entries)
      this.entries = larger
    }
    this.entries[this.length * 2] = rule
    this.entries[this.length * 2 + 1] = this.store(guard)
    this.length++
  }

  remove(rule: number) {
    let entry = 0
    while (entry < this.length && this.ruleAt(entry) !== rule) entry++
    if (entry === this.length) return
    const guard = this.entries[entry * 2 + 1] as number
    if (guard < 0) {
      this.freeSets ??= []
      this.freeSets.push(guard)
    }
    this.length--
    this.entries[entry * 2] = this.entries[this.length * 2] as number
    this.entries[entry * 2 + 1] = this.entries[this.length * 2 + 1] as number
  }

  passes(entry: number, marks: Int32Array, serial: number): boolean {
    const guard = this.entries[entry * 2 + 1] as number
    if (guard === NO_GUARD) return true
    if (guard > 0) return marks[guard] === serial
    const terms = (this.guardSets as (readonly number[])[])[-guard - 1] as readonly number[]
    for (let at = 0; at < terms.length; at++) if (marks[terms[at] as number] === serial) return true
    return false
  }

  private store(guard: readonly number[]): number {
    if (guard.length === 0) return NO_GUARD
    if (guard.length === 1) return guard[0] as number
    this.guardSets ??= []
    const place = this.freeSets?.pop() ?? -this.guardSets.length - 1
    this.guardSets[-place - 1] = guard
    return place
  }
}
