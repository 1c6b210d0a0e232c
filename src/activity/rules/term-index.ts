/** All terms that rules look at, by kind: which of them a post has, and how rare they are. */
import { enlarged } from './int-pool.ts'
import { PROXIMITY_MAX } from './operators.ts'
import type { PostView } from './post.ts'
import { HEAD, HINT_MASK, HITS, MARK, type MatchState, SINCE, TERM_WIDTH } from './state.ts'
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

/** Wider than any proximity reaches, so that two texts never make one. */
const TEXT_GAP = PROXIMITY_MAX + 1
/** What was expected of a term weighs as much as this many posts seen. */
const EXPECTATION_WEIGHT = 1000

export class TermIndex {
  private readonly state: MatchState
  private readonly serialMax: number
  private readonly texts = new Map<TextTermKind, TokenTable>()
  private readonly keys = new Map<KeyTermKind, Map<string, number>>()
  private readonly names: (TermName | undefined)[] = [{ kind: 'token', key: '' }]
  private readonly freeSlots: number[] = []
  /** How many rules need the term; without any it is forgotten. */
  private uses: Int32Array = new Int32Array(64)
  /** The kinds that some rule needs; a post is not read for any other. */
  private textReaders: { kind: TextTermKind; table: TokenTable; read: (post: PostView) => readonly string[] }[] = []
  private keyReaders: { byKey: Map<string, number>; read: (post: PostView) => Iterable<string> }[] = []

  constructor(state: MatchState, serialMax: number) {
    this.state = state
    this.serialMax = serialMax
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
      const { terms, serial } = this.state
      terms.set([0, 0, serial, 0], slot * TERM_WIDTH)
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

  hitsOf(slot: number): number {
    return this.state.terms[slot * TERM_WIDTH + HITS] as number
  }

  /** Share of posts that have a term: expectation at first, experience in the end. */
  costOf(name: TermName): number {
    const slot = this.find(name.kind, name.key)
    return slot === 0 ? expectedShare(name) + readingCost(name.kind) : this.costOfSlot(slot)
  }

  costOfSlot(slot: number): number {
    const name = this.names[slot] as TermName
    const { terms, serial } = this.state
    const seen = serial - (terms[slot * TERM_WIDTH + SINCE] as number)
    const hits = this.hitsOf(slot)
    return (expectedShare(name) * EXPECTATION_WEIGHT + hits) / (EXPECTATION_WEIGHT + seen) + readingCost(name.kind)
  }

  /** Marks the terms of a post, calling `meet` once with each that rules are filed under. True when counting began again with this post. */
  markTermsOf(post: PostView, meet: (slot: number) => void): boolean {
    const { state } = this
    const restarted = state.serial >= this.serialMax
    if (restarted) this.restart()
    state.serial++
    state.flagsKnown = 0
    state.flags = 0
    state.sequenceLength = 0
    const { serial, terms, hints } = state
    const mark = (slot: number) => {
      const term = slot * TERM_WIDTH
      if (terms[term + MARK] === serial) return
      terms[term + MARK] = serial
      hints[slot & HINT_MASK] = serial
      terms[term + HITS] = (terms[term + HITS] as number) + 1
      if (terms[term + HEAD] !== 0) meet(slot)
    }
    for (const { kind, table, read } of this.textReaders) {
      for (const text of read(post)) {
        const start = state.sequenceLength
        this.makeRoom(start + text.length + TEXT_GAP)
        const { sequence } = state
        const end = table.scan(text, sequence, start)
        for (let at = start; at < end; at++) if (sequence[at] !== 0) mark(sequence[at] as number)
        // The order is kept for the post's own texts only, and ends with each.
        if (kind !== 'token') continue
        sequence.fill(0, end, end + TEXT_GAP)
        state.sequenceLength = end + TEXT_GAP
      }
    }
    for (const { byKey, read } of this.keyReaders) {
      for (const key of read(post)) {
        const slot = byKey.get(key)
        if (slot !== undefined) mark(slot)
      }
    }
    return restarted
  }

  private makeRoom(length: number) {
    if (length > this.state.sequence.length) this.state.sequence = enlarged(this.state.sequence, length)
  }

  private restart() {
    const { state } = this
    state.serial = 0
    state.hints.fill(0)
    for (let term = 0; term < state.terms.length; term += TERM_WIDTH) {
      state.terms[term + MARK] = 0
      state.terms[term + HITS] = 0
      state.terms[term + SINCE] = 0
    }
  }

  private find(kind: TermKind, key: string): number {
    return isTextKind(kind) ? (this.texts.get(kind)?.get(key) ?? 0) : (this.keys.get(kind)?.get(key) ?? 0)
  }

  private newSlot(): number {
    const slot = this.freeSlots.pop() ?? this.names.length
    if (slot >= this.uses.length) {
      this.uses = enlarged(this.uses, slot + 1)
      this.state.terms = enlarged(this.state.terms, this.uses.length * TERM_WIDTH)
    }
    return slot
  }

  private tableOf(kind: TextTermKind): TokenTable {
    const known = this.texts.get(kind)
    if (known) return known
    const table = new TokenTable()
    this.texts.set(kind, table)
    this.textReaders.push({ kind, table, read: textsOfPost[kind] })
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
