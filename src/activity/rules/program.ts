/**
 * A rule as a short program of questions: each says where to go on when the answer is yes and when it is no. Programs
 * are numbers side by side, so that testing a rule touches one or two cache lines instead of a tree of objects.
 */
import type { Clause, Rule } from './ast.ts'
import { IntPool } from './int-pool.ts'
import { matchesClause } from './match.ts'
import { HAS_VALUES, IS_VALUES } from './operators.ts'
import type { PostView } from './post.ts'
import { MARK, type MatchState, TERM_WIDTH } from './state.ts'
import type { TermKind } from './terms.ts'
import { containsWithin, fold } from './tokens.ts'

/** Of each question: what is asked, about what, where to go on for yes, for no; counted from the block. */
const QUESTION_WIDTH = 4
const FIRST_QUESTION = 1
const ACCEPT = -1
const REJECT = -2

/** The kinds of questions, with what their argument is. */
const HAS_TERM = 0
/** A place in the block: how many terms, and the terms. */
const HAS_PHRASE = 1
/** A place in the block: how many terms, the distance, and the terms. */
const HAS_PROXIMITY = 2
/** A number of FLAGS. */
const HAS_FLAG = 3
/** A number of the clauses kept aside. */
const MATCHES_CLAUSE = 4
const IS_TRUE = 5

/** The clauses without a value of their own: asked by many rules, answered once for each post. */
const FLAGS: Clause[] = [
  ...[...new Set(IS_VALUES.values())].map((value): Clause => ({ type: 'is', value, position: 0 })),
  ...[...new Set(HAS_VALUES.values())].map((value): Clause => ({ type: 'has', value, position: 0 }))
]

type Question = { cost: number } & (
  | { kind: typeof HAS_TERM | typeof HAS_FLAG | typeof MATCHES_CLAUSE | typeof IS_TRUE; argument: number }
  | { kind: typeof HAS_PHRASE | typeof HAS_PROXIMITY; data: number[] }
)

type Step =
  | { type: 'question'; question: Question; cost: number }
  | { type: 'not'; step: Step; cost: number }
  | { type: 'and' | 'or'; steps: Step[]; cost: number }

export class Programs {
  private readonly state: MatchState
  private readonly pool = new IntPool()
  private readonly clauses: (Clause | undefined)[] = []
  private readonly freeClauses: number[] = []

  constructor(state: MatchState) {
    this.state = state
  }

  /** The block of the new program. `slotOf` is asked for every term that it will look at. */
  add(rule: Rule, slotOf: (kind: TermKind, key: string) => number): number {
    const code = assemble(this.stepOf(rule, slotOf))
    const block = this.pool.allocate(code.length)
    this.pool.numbers.set(code, block + FIRST_QUESTION)
    return block
  }

  remove(block: number) {
    const { numbers } = this.pool
    // The first number after the capacity is where the questions end; see assemble.
    const end = block + (numbers[block + FIRST_QUESTION] as number)
    for (let at = block + FIRST_QUESTION + 1; at < end; at += QUESTION_WIDTH) {
      if (numbers[at] !== MATCHES_CLAUSE) continue
      const clause = numbers[at + 1] as number
      this.clauses[clause] = undefined
      this.freeClauses.push(clause)
    }
    this.pool.release(block)
  }

  /** Whether the post at hand, whose terms are marked, matches. */
  run(block: number, post: PostView): boolean {
    const { state } = this
    const { terms, serial } = state
    const { numbers } = this.pool
    let at = FIRST_QUESTION + 1
    while (at >= 0) {
      const argument = numbers[block + at + 1] as number
      let yes = true
      switch (numbers[block + at]) {
        case HAS_TERM:
          yes = terms[argument * TERM_WIDTH + MARK] === serial
          break
        case HAS_PHRASE:
          yes = this.hasAll(block + argument + 1, numbers[block + argument] as number) && this.hasRun(block + argument)
          break
        case HAS_PROXIMITY:
          yes = this.hasAll(block + argument + 2, numbers[block + argument] as number) && this.hasNear(block + argument)
          break
        case HAS_FLAG:
          yes = this.hasFlag(argument, post)
          break
        case MATCHES_CLAUSE:
          yes = matchesClause(this.clauses[argument] as Clause, post)
          break
      }
      at = numbers[block + at + (yes ? 2 : 3)] as number
    }
    return at === ACCEPT
  }

  private hasFlag(flag: number, post: PostView): boolean {
    const { state } = this
    const bit = 1 << flag
    if ((state.flagsKnown & bit) === 0) {
      state.flagsKnown |= bit
      if (matchesClause(FLAGS[flag] as Clause, post)) state.flags |= bit
    }
    return (state.flags & bit) !== 0
  }

  private hasAll(first: number, count: number): boolean {
    const { terms, serial } = this.state
    const { numbers } = this.pool
    for (let at = first; at < first + count; at++) {
      if (terms[(numbers[at] as number) * TERM_WIDTH + MARK] !== serial) return false
    }
    return true
  }

  private hasRun(data: number): boolean {
    const { sequence, sequenceLength } = this.state
    const { numbers } = this.pool
    const count = numbers[data] as number
    for (let start = 0; start + count <= sequenceLength; start++) {
      let length = 0
      while (length < count && sequence[start + length] === numbers[data + 1 + length]) length++
      if (length === count) return true
    }
    return false
  }

  private hasNear(data: number): boolean {
    const { sequence, sequenceLength } = this.state
    const { numbers } = this.pool
    const words = [...numbers.subarray(data + 2, data + 2 + (numbers[data] as number))]
    return containsWithin(sequence.subarray(0, sequenceLength), words, numbers[data + 1] as number)
  }

  private stepOf(rule: Rule, slotOf: (kind: TermKind, key: string) => number): Step {
    if (rule.type === 'not') {
      const step = this.stepOf(rule.rule, slotOf)
      return { type: 'not', step, cost: step.cost }
    }
    if (rule.type === 'and' || rule.type === 'or') {
      const steps = rule.rules.map((part) => this.stepOf(part, slotOf)).sort((a, b) => a.cost - b.cost)
      return { type: rule.type, steps, cost: steps.reduce((sum, { cost }) => sum + cost, 0) }
    }
    const question = this.questionOf(rule, slotOf)
    return { type: 'question', question, cost: question.cost }
  }

  /** Costs are relative: cheap questions come first. */
  private questionOf(clause: Clause, slotOf: (kind: TermKind, key: string) => number): Question {
    switch (clause.type) {
      case 'keyword':
      case 'phrase': {
        const slots = clause.tokens.map((token) => slotOf('token', token))
        if (slots.length === 1) return { kind: HAS_TERM, argument: slots[0] as number, cost: 1 }
        return { kind: HAS_PHRASE, data: [slots.length, ...slots], cost: 8 }
      }
      case 'proximity': {
        const slots = clause.tokens.map((token) => slotOf('token', token))
        return { kind: HAS_PROXIMITY, data: [slots.length, clause.distance, ...slots], cost: 20 }
      }
      case 'hashtag':
      case 'cashtag':
      case 'mention':
      case 'from':
      case 'to':
      case 'retweets_of':
        return { kind: HAS_TERM, argument: slotOf(clause.type, fold(clause.value)), cost: 1 }
      case 'conversation_id':
      case 'lang':
        return { kind: HAS_TERM, argument: slotOf(clause.type, clause.value), cost: 1 }
      case 'is':
      case 'has': {
        const flag = FLAGS.findIndex(
          ({ type, ...of }) => type === clause.type && 'value' in of && of.value === clause.value
        )
        return { kind: HAS_FLAG, argument: flag, cost: 2 }
      }
      case 'embedding_threshold':
        return { kind: IS_TRUE, argument: 0, cost: 0 }
      default:
        return { kind: MATCHES_CLAUSE, argument: this.keep(clause), cost: 'min' in clause ? 5 : 40 }
    }
  }

  private keep(clause: Clause): number {
    const place = this.freeClauses.pop() ?? this.clauses.length
    this.clauses[place] = clause
    return place
  }
}

/** The end of the questions, the questions, and the data that some of them refer to. */
function assemble(step: Step): number[] {
  const questions: { question: Question; yes: number; no: number }[] = []
  /** By label: the number of the question to go on with. */
  const targets: number[] = []
  const newLabel = () => targets.push(0) - 1

  const emit = (part: Step, yes: number, no: number) => {
    if (part.type === 'question') questions.push({ question: part.question, yes, no })
    else if (part.type === 'not') emit(part.step, no, yes)
    else {
      const last = part.steps.length - 1
      for (const [index, each] of part.steps.entries()) {
        const next = index < last ? newLabel() : undefined
        if (part.type === 'and') emit(each, next ?? yes, no)
        else emit(each, yes, next ?? no)
        if (next !== undefined) targets[next] = questions.length
      }
    }
  }
  emit(step, ACCEPT, REJECT)

  const placeOf = (label: number) =>
    label < 0 ? label : FIRST_QUESTION + 1 + (targets[label] as number) * QUESTION_WIDTH
  const end = FIRST_QUESTION + 1 + questions.length * QUESTION_WIDTH
  const data: number[] = []
  const code = [end]
  for (const { question, yes, no } of questions) {
    let argument: number
    if ('data' in question) {
      argument = end + data.length
      data.push(...question.data)
    } else argument = question.argument
    code.push(question.kind, argument, placeOf(yes), placeOf(no))
  }
  return [...code, ...data]
}
