/**
 * All rules against one post at a time. Each rule is filed under the rarest terms it cannot match without, so a post
 * meets only the rules that share such a term with it. See decisions/0033.
 */
import type { Rule } from './ast.ts'
import { FIRST_FILING, Filings } from './filings.ts'
import { enlarged } from './int-pool.ts'
import type { PostView } from './post.ts'
import { Programs } from './program.ts'
import { HINT_MASK, newMatchState } from './state.ts'
import { ALWAYS, TermIndex } from './term-index.ts'
import { type PlannedFiling, planOf, type TermKind, type TermName } from './terms.ts'

export interface RuleOwner<Meta> {
  /** Whose rule it is: an app, a project; opaque here. */
  owner: string
  /** Handed back with every match, for instance the rule's tag. */
  meta: Meta
}

export interface MatchedRule<Meta> extends RuleOwner<Meta> {
  id: string
}

export interface RuleEngineStats {
  rules: number
  terms: number
  /** Rules without any term they need: tested against every post. */
  unfiled: number
  posts: number
  /** How often a post met a rule under a term, and how often the whole rule had to be tested. */
  met: number
  tested: number
}

export interface RuleEngine<Meta> {
  readonly size: number
  /** Adds a rule, or puts it in the place of the one with this id. In force with the next post. */
  add(ruleId: string, rule: Rule, owner: RuleOwner<Meta>): void
  remove(ruleId: string): boolean
  /** Removes all rules of an owner and says how many there were. */
  removeOwner(owner: string): number
  has(ruleId: string): boolean
  /** The ids of all rules that match, in order. */
  match(post: PostView): string[]
  /** The same, each owner's rules together. */
  matchByOwner(post: PostView): Map<string, MatchedRule<Meta>[]>
  stats(): RuleEngineStats
}

interface Filed<Meta> extends MatchedRule<Meta> {
  slot: number
  rule: Rule
  /** Terms that its program looks at. */
  uses: number[]
  /** Terms it is filed under, and terms that guard it there. */
  filedUnder: number[]
  guardedBy: number[]
}

/** Terms met this often have the rules under them filed anew, if rarer terms are known by now; then at twice as many. */
const REVIEW_AFTER_HITS = 256
/** Rules reviewed with each post, so that no post waits for all of them; and how many may be waiting for it. */
const REVIEWS_PER_POST = 2
const REVIEWS_WAITING_MAX = 50_000

/** Beyond this, posts are counted from the beginning again, so that serials stay small integers. */
const SERIAL_MAX = 2 ** 30

export function createRuleEngine<Meta = undefined>({
  reviewAfterHits = REVIEW_AFTER_HITS,
  serialMax = SERIAL_MAX
} = {}): RuleEngine<Meta> {
  const rules = new Map<string, Filed<Meta>>()
  const owners = new Map<string, Set<string>>()
  const bySlot: (Filed<Meta> | undefined)[] = []
  const freeSlots: number[] = []
  /** The last post that a rule was tested against: filed under two terms of one post, it is tested once. */
  let testedAt: Int32Array = new Int32Array(64)
  /** The program of each rule. */
  let programOf: Int32Array = new Int32Array(64)
  const state = newMatchState()
  const index = new TermIndex(state, serialMax)
  const filings = new Filings(state)
  const programs = new Programs(state)
  const present: number[] = []
  const toReview: number[] = []
  const count = { posts: 0, met: 0, tested: 0 }

  const costOf = (name: TermName) => index.costOf(name)

  function file(filed: Filed<Meta>, plan: PlannedFiling[] | undefined) {
    const guards = new Map<number, Set<number>>()
    for (const { term, guard } of plan ?? []) {
      const slot = index.use(term.kind, term.key)
      const guardSlots = (guard ?? []).map(({ kind, key }) => index.use(kind, key))
      filed.filedUnder.push(slot)
      filed.guardedBy.push(...guardSlots)
      // Two ways to match by one term: what guards one of them must not shut out the other.
      const known = guards.get(slot)
      if (!known) guards.set(slot, new Set(guard ? guardSlots : [ALWAYS]))
      else for (const other of guard ? guardSlots : [ALWAYS]) known.add(other)
    }
    if (!plan) guards.set(ALWAYS, new Set([ALWAYS]))
    for (const [term, guard] of guards) {
      filings.add(term, filed.slot, guard.has(ALWAYS) ? [] : [...guard])
    }
  }

  function unfile({ slot, filedUnder, guardedBy }: Pick<Filed<Meta>, 'slot' | 'filedUnder' | 'guardedBy'>) {
    for (const term of new Set(filedUnder.length > 0 ? filedUnder : [ALWAYS])) filings.remove(term, slot)
    for (const term of filedUnder) index.release(term)
    for (const term of guardedBy) index.release(term)
  }

  /** A word that seemed rare may have become the talk of the day. */
  function review(filed: Filed<Meta>) {
    const plan = planOf(filed.rule, costOf)
    if (!plan) return
    const current = filed.filedUnder.reduce((sum, term) => sum + index.costOfSlot(term), 0)
    if (plan.cost > current / 2) return
    const { slot, filedUnder, guardedBy } = filed
    // Terms that serve before and after must not be forgotten in between.
    for (const term of filedUnder) index.retain(term)
    unfile({ slot, filedUnder, guardedBy })
    filed.filedUnder = []
    filed.guardedBy = []
    file(filed, plan.filings)
    for (const term of filedUnder) index.release(term)
  }

  function remove(ruleId: string): boolean {
    const filed = rules.get(ruleId)
    if (!filed) return false
    rules.delete(ruleId)
    bySlot[filed.slot] = undefined
    freeSlots.push(filed.slot)
    const ids = owners.get(filed.owner)
    ids?.delete(ruleId)
    if (ids?.size === 0) owners.delete(filed.owner)
    unfile(filed)
    for (const term of filed.uses) index.release(term)
    programs.remove(programOf[filed.slot] as number)
    return true
  }

  function newSlot(): number {
    const slot = freeSlots.pop() ?? bySlot.length
    if (slot >= testedAt.length) {
      testedAt = enlarged(testedAt, slot + 1)
      programOf = enlarged(programOf, slot + 1)
    }
    return slot
  }

  function meet(term: number) {
    present.push(term)
    const hits = index.hitsOf(term)
    // Powers of two only: the test is cheap and the reviews become rare.
    if (hits < reviewAfterHits || (hits & (hits - 1)) !== 0 || toReview.length > REVIEWS_WAITING_MAX) return
    for (const rule of filings.rulesUnder(term)) toReview.push(rule)
  }

  function findMatches(post: PostView): Filed<Meta>[] {
    present.length = 0
    if (index.markTermsOf(post, meet)) testedAt.fill(0)
    if (filings.blockOf(ALWAYS) !== 0) present.push(ALWAYS)
    count.posts++

    const matched: Filed<Meta>[] = []
    const { serial, hints } = state
    const { numbers } = filings.pool
    for (let at = 0; at < present.length; at++) {
      const block = filings.blockOf(present[at] as number)
      const end = filings.endOf(block)
      let filing = block + FIRST_FILING
      while (filing < end) {
        const slot = numbers[filing] as number
        const guards = numbers[filing + 1] as number
        const next = filing + 2 + guards
        let passes = guards === 0
        for (let guard = filing + 2; !passes && guard < next; guard++) {
          passes = hints[(numbers[guard] as number) & HINT_MASK] === serial
        }
        filing = next
        count.met++
        if (!passes || testedAt[slot] === serial) continue
        testedAt[slot] = serial
        count.tested++
        if (programs.run(programOf[slot] as number, post)) matched.push(bySlot[slot] as Filed<Meta>)
      }
    }

    for (let reviews = Math.min(toReview.length, REVIEWS_PER_POST); reviews > 0; reviews--) {
      const filed = bySlot[toReview.pop() as number]
      if (filed) review(filed)
    }
    // The order in which rules were met is an accident of this node; ids are the same on all.
    return matched.length > 1 ? matched.sort((a, b) => (a.id < b.id ? -1 : 1)) : matched
  }

  return {
    get size() {
      return rules.size
    },

    add(ruleId, rule, { owner, meta }) {
      remove(ruleId)
      const uses: number[] = []
      const slotOf = (kind: TermKind, key: string) => {
        const term = index.use(kind, key)
        uses.push(term)
        return term
      }
      const slot = newSlot()
      programOf[slot] = programs.add(rule, slotOf)
      const filed: Filed<Meta> = {
        id: ruleId,
        owner,
        meta,
        slot,
        rule,
        uses,
        filedUnder: [],
        guardedBy: []
      }
      file(filed, planOf(rule, costOf)?.filings)
      bySlot[filed.slot] = filed
      rules.set(ruleId, filed)
      const ids = owners.get(owner)
      if (ids) ids.add(ruleId)
      else owners.set(owner, new Set([ruleId]))
    },

    remove,

    removeOwner(owner) {
      const ids = [...(owners.get(owner) ?? [])]
      for (const id of ids) remove(id)
      return ids.length
    },

    has: (ruleId) => rules.has(ruleId),

    match: (post) => findMatches(post).map(({ id }) => id),

    matchByOwner(post) {
      const byOwner = new Map<string, MatchedRule<Meta>[]>()
      for (const { id, owner, meta } of findMatches(post)) {
        const matched = byOwner.get(owner)
        if (matched) matched.push({ id, owner, meta })
        else byOwner.set(owner, [{ id, owner, meta }])
      }
      return byOwner
    },

    stats: () => ({
      rules: rules.size,
      terms: index.size,
      unfiled: filings.rulesUnder(ALWAYS).length,
      ...count
    })
  }
}
