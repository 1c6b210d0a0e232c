/** What a readable rule must still respect: which operators can stand alone, be negated, or stand inside an OR. */
import { type Lexeme, type Report, standsAlone } from './lex.ts'

/** The tree before its clauses are known to be good. */
export type Draft = { offset: number } & (
  | { kind: 'and' | 'or'; parts: Draft[] }
  | { kind: 'not'; part: Draft }
  | { kind: 'leaf'; lexeme: Lexeme }
)

/** Whether every way to satisfy the draft satisfies a leaf that is not negated and that `counts`. */
function alwaysHas(draft: Draft, counts: (lexeme: Lexeme) => boolean): boolean {
  switch (draft.kind) {
    case 'leaf':
      return counts(draft.lexeme)
    case 'not':
      return false
    case 'and':
      return draft.parts.some((part) => alwaysHas(part, counts))
    case 'or':
      return draft.parts.every((part) => alwaysHas(part, counts))
  }
}

const isPositive = (draft: Draft) => alwaysHas(draft, () => true)
const isStandalone = (draft: Draft) => alwaysHas(draft, standsAlone)

const typeOf = (lexeme: Lexeme) => (lexeme.kind === 'clause' ? lexeme.clause.type : undefined)

function* leavesOf(draft: Draft, negated = false): Generator<{ lexeme: Lexeme; negated: boolean }> {
  if (draft.kind === 'leaf') yield { lexeme: draft.lexeme, negated }
  else if (draft.kind === 'not') yield* leavesOf(draft.part, !negated)
  else for (const part of draft.parts) yield* leavesOf(part, negated)
}

export function check(draft: Draft, report: Report) {
  const branchesReported = checkBranches(draft, report)
  if (!isPositive(draft) && branchesReported === 0) {
    report(draft.offset, 'Negations cannot stand alone, add a clause that is not negated')
  }
  checkStandalone(draft, report)
  checkClauses(draft, report)
}

/** `apple OR -ipad` would match nearly everything. */
function checkBranches(draft: Draft, report: Report): number {
  if (draft.kind === 'leaf') return 0
  if (draft.kind === 'not') return checkBranches(draft.part, report)
  let reported = 0
  for (const part of draft.parts) {
    const inside = checkBranches(part, report)
    if (draft.kind === 'or' && inside === 0 && !isPositive(part)) {
      report(part.offset, 'A negation cannot be an OR branch by itself, add a clause that is not negated')
      reported++
    }
    reported += inside
  }
  return reported
}

function checkStandalone(draft: Draft, report: Report) {
  if (draft.kind === 'or') {
    for (const part of draft.parts) checkStandalone(part, report)
    return
  }
  // Without a positive clause the rule has been refused already, for that.
  if (isStandalone(draft) || !isPositive(draft)) return
  const [culprit] = [...leavesOf(draft)].filter(({ lexeme, negated }) => !negated && !standsAlone(lexeme))
  if (!culprit) return
  const type = typeOf(culprit.lexeme) ?? culprit.lexeme.text.split(':')[0]?.toLowerCase()
  const name = type === 'is' || type === 'has' || type === 'lang' ? 'is/has/lang' : `'${type}'`
  report(culprit.lexeme.offset, `${name} cannot be used as a standalone operator`)
}

function checkClauses(draft: Draft, report: Report) {
  const seen = new Set<string>()
  const leaves = [...leavesOf(draft)]
  const hasEmbedding = leaves.some(({ lexeme }) => typeOf(lexeme) === 'embedding')
  for (const { lexeme, negated } of leaves) {
    const type = typeOf(lexeme)
    if (lexeme.kind !== 'clause' || type === undefined) continue
    if (lexeme.clause.type === 'is' && lexeme.clause.value === 'nullcast' && !negated) {
      report(lexeme.offset, 'is:nullcast can only be used negated, as -is:nullcast')
    }
    if (type !== 'sample' && type !== 'embedding' && type !== 'embedding_threshold') continue
    if (negated) report(lexeme.offset, `Operator '${type}' cannot be negated`)
    if (type === 'embedding') continue
    if (seen.has(type)) report(lexeme.offset, `Operator '${type}' can be used once in a rule`)
    seen.add(type)
    if (type === 'embedding_threshold' && !hasEmbedding) {
      report(lexeme.offset, "Operator 'embedding_threshold' needs embedding: in the same rule")
    }
    // Both speak for the whole rule, so they must hold for every way to satisfy it.
    if (!negated && !alwaysHas(draft, (other) => other === lexeme)) {
      report(lexeme.offset, `Operator '${type}' applies to the whole rule, put the OR terms in parentheses`)
    }
  }
}
