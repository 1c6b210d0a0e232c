/** All terms that rules look at, by kind: which of them a post has, and how rare they are. */
import { HINT_MASK, type Marks } from './compile.ts'
import { enlarged } from './filings.ts'
import type { PostView } from './post.ts'
import {
  expectedShare,
  isTextKind,
  type KeyTermKind,
  keysOfPost,
  readingCost,
  type TermKind,
  type TermName,
  type TextTermKind,
  textsOfPost
} from './terms.ts'
import { TokenTable } from './token-table.ts'

/** The term that every post has. */
export const ALWAYS = 0

/** What was expected of a term weighs as much as this many posts seen. */
const EXPECTATION_WEIGHT = 1000
/** Beyond this, counting begins again, so that serials stay small integers. */
const SERIAL_MAX = 2 ** 30

export class TermIndex {
  private readonly now: Marks
  private readonly texts = new Map<TextTermKind, TokenTable>()
  private readonly keys = new Map<KeyTermKind, Map<string, number>>()
  private readonly names: (TermName | undefined)[] = [{ kind: 'token', key: '' }]
  private readonly freeSlots: number[] = []
  /** How many rules need the term; without any it is forgotten. */
  private uses: Int32Array = new Int32Array(64)
  /** Posts that had the term since the post numbered `since`. */
  private hits: Int32Array = new Int32Array(64)
  private since: Int32Array = new Int32Array(64)
  /** The kinds that some rule needs; a post is not read for any other. */
  private textReaders: { table: TokenTable; read: (post: PostView) => readonly string[] }[] = []
  private keyReaders: { byKey: Map<string, number>; read: (post: PostView) => Iterable<string> }[] = []

  constructor(now: Marks) {
    this.now = now
  }

  get size() {
    return this.names.length - this.freeSlots.length - 1
  }

  /** The slot of a term, for one more rule. */
  use(kind: TermKind, key: string): number {
    let slot = this.find(kind, key)
    if (slot === 0) {
      slot = this.newSlot()
      this.names[slot] = { kind, key }
      this.hits[slot] = 0
      this.since[slot] = this.now.serial
      if (isTextKind(kind)) this.tableOf(kind).set(key, slot)
      else this.keysOf(kind).set(key, slot)
    }
    this.retain(slot)
    return slot
  }

  retain(slot: number) {
    this.uses[slot] = (this.uses[slot] as number) + 1
  }

  release(slot: number) {
    const uses = (this.uses[slot] as number) - 1
    this.uses[slot] = uses
    const name = this.names[slot]
    if (uses > 0 || !name) return
    this.names[slot] = undefined
    this.freeSlots.push(slot)
    this.forget(name)
  }

  hitsOf = (slot: number) => this.hits[slot] as number

  /** Share of posts that have a term: expectation at first, experience in the end. */
  costOf(name: TermName): number {
    const slot = this.find(name.kind, name.key)
    return slot === 0 ? expectedShare(name) + readingCost(name.kind) : this.costOfSlot(slot)
  }

  costOfSlot(slot: number): number {
    const name = this.names[slot] as TermName
    const seen = this.now.serial - (this.since[slot] as number)
    const hits = this.hits[slot] as number
    return (expectedShare(name) * EXPECTATION_WEIGHT + hits) / (EXPECTATION_WEIGHT + seen) + readingCost(name.kind)
  }

  /** Marks the terms of a post, calling `meet` once with each. True when counting began again with this post. */
  markTermsOf(post: PostView, meet: (slot: number) => void): boolean {
    const restarted = this.now.serial >= SERIAL_MAX
    if (restarted) this.restart()
    this.now.serial++
    const { marks, hints, serial } = this.now
    const { hits } = this
    const mark = (slot: number) => {
      if (marks[slot] === serial) return
      marks[slot] = serial
      hints[slot & HINT_MASK] = serial
      hits[slot] = (hits[slot] as number) + 1
      meet(slot)
    }
    for (const { table, read } of this.textReaders) for (const text of read(post)) table.scan(text, mark)
    for (const { byKey, read } of this.keyReaders) {
      for (const key of read(post)) {
        const slot = byKey.get(key)
        if (slot !== undefined) mark(slot)
      }
    }
    return restarted
  }

  private restart() {
    this.now.serial = 0
    this.now.marks.fill(0)
    this.now.hints.fill(0)
    this.hits.fill(0)
    this.since.fill(0)
  }

  private find(kind: TermKind, key: string): number {
    return isTextKind(kind) ? (this.texts.get(kind)?.get(key) ?? 0) : (this.keys.get(kind)?.get(key) ?? 0)
  }

  private newSlot(): number {
    const slot = this.freeSlots.pop() ?? this.names.length
    if (slot >= this.uses.length) {
      this.uses = enlarged(this.uses, slot + 1)
      this.hits = enlarged(this.hits, slot + 1)
      this.since = enlarged(this.since, slot + 1)
      this.now.marks = enlarged(this.now.marks, slot + 1)
    }
    return slot
  }

  private tableOf(kind: TextTermKind): TokenTable {
    const known = this.texts.get(kind)
    if (known) return known
    const table = new TokenTable()
    this.texts.set(kind, table)
    this.textReaders.push({ table, read: textsOfPost[kind] })
    return table
  }

  private keysOf(kind: KeyTermKind): Map<string, number> {
    const known = this.keys.get(kind)
    if (known) return known
    const byKey = new Map<string, number>()
    this.keys.set(kind, byKey)
    this.keyReaders.push({ byKey, read: keysOfPost[kind] })
    return byKey
  }

  private forget({ kind, key }: TermName) {
    if (isTextKind(kind)) {
      const table = this.tableOf(kind)
      table.delete(key)
      if (table.size > 0) return
      this.texts.delete(kind)
      this.textReaders = this.textReaders.filter((reader) => reader.table !== table)
    } else {
      const byKey = this.keysOf(kind)
      byKey.delete(key)
      if (byKey.size > 0) return
      this.keys.delete(kind)
      this.keyReaders = this.keyReaders.filter((reader) => reader.byKey !== byKey)
    }
  }
}
