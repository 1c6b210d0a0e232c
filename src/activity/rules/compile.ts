/** A rule as closures that ask cheap questions first. */
import type { Clause, Rule } from './ast.ts'
import { matchesClause } from './match.ts'
import type { PostView } from './post.ts'
import type { TermKind } from './terms.ts'
import { containsPhrase, containsWithin, fold } from './tokens.ts'

export type Test = (post: PostView) => boolean

/** The engine marks the terms of a post before it tests rules: `marks[slot] === serial` says that the post has one. */
export interface Marks {
  serial: number
  marks: Int32Array
  /** The same by `slot & HINT_MASK`, small enough to stay close to the processor; sure only when it says no. */
  hints: Int32Array
}

export const HINT_MASK = 2047

export interface Compiler {
  now: Marks
  slotOf: (kind: TermKind, key: string) => number
}

interface Step {
  test: Test
  /** Relative; only the order matters. */
  cost: number
}

const MARK_COST = 1
const FIELD_COST = 3
const SCAN_COST = 10
const READ_COST = 30

export const compile = (rule: Rule, compiler: Compiler): Test => compileRule(rule, compiler).test

function compileRule(rule: Rule, compiler: Compiler): Step {
  switch (rule.type) {
    case 'not': {
      const { test, cost } = compileRule(rule.rule, compiler)
      return { test: (post) => !test(post), cost }
    }
    case 'and':
      return all(rule.rules.map((part) => compileRule(part, compiler)))
    case 'or':
      return any(rule.rules.map((part) => compileRule(part, compiler)))
    default:
      return compileClause(rule, compiler)
  }
}

const cheapestFirst = (steps: Step[]) => steps.toSorted((a, b) => a.cost - b.cost)
const costOf = (steps: Step[]) => steps.reduce((sum, { cost }) => sum + cost, 0)

function all(steps: Step[]): Step {
  const tests = cheapestFirst(steps).map(({ test }) => test)
  const [first, second] = tests as [Test, Test]
  if (tests.length === 2) return { test: (post) => first(post) && second(post), cost: costOf(steps) }
  return {
    test: (post) => {
      for (let at = 0; at < tests.length; at++) if (!(tests[at] as Test)(post)) return false
      return true
    },
    cost: costOf(steps)
  }
}

function any(steps: Step[]): Step {
  const tests = cheapestFirst(steps).map(({ test }) => test)
  return {
    test: (post) => {
      for (let at = 0; at < tests.length; at++) if ((tests[at] as Test)(post)) return true
      return false
    },
    cost: costOf(steps)
  }
}

function compileClause(clause: Clause, { now, slotOf }: Compiler): Step {
  const marked = (kind: TermKind, key: string): Step => {
    const slot = slotOf(kind, key)
    return { test: () => now.marks[slot] === now.serial, cost: MARK_COST }
  }

  /** Only a post that has all the words is searched for their order. */
  const ordered = (words: readonly string[], inOrder: (tokens: readonly string[]) => boolean): Step => {
    const slots = [...new Set(words)].map((word) => slotOf('token', word))
    return {
      test: ({ contents }) => {
        for (let at = 0; at < slots.length; at++) if (now.marks[slots[at] as number] !== now.serial) return false
        for (const { tokens } of contents) if (inOrder(tokens)) return true
        return false
      },
      cost: SCAN_COST
    }
  }

  const asked = (cost: number): Step => ({ test: (post) => matchesClause(clause, post), cost })

  switch (clause.type) {
    case 'keyword':
    case 'phrase': {
      const { tokens } = clause
      if (tokens.length === 1) return marked('token', tokens[0] as string)
      return ordered(tokens, (present) => containsPhrase(present, tokens))
    }
    case 'proximity': {
      const { tokens, distance } = clause
      return ordered(tokens, (present) => containsWithin(present, tokens, distance))
    }
    case 'hashtag':
    case 'cashtag':
    case 'mention':
    case 'from':
    case 'to':
    case 'retweets_of':
      return marked(clause.type, fold(clause.value))
    case 'conversation_id':
    case 'lang':
      return marked(clause.type, clause.value)
    case 'is':
    case 'sample':
    case 'embedding_threshold':
    case 'in_reply_to_tweet_id':
    case 'retweets_of_tweet_id':
    case 'place_country':
    case 'source':
      return asked(FIELD_COST)
    case 'has':
    case 'context':
    case 'from_affiliate_of':
    case 'to_affiliate_of':
      return asked(SCAN_COST)
    default:
      return 'min' in clause ? asked(FIELD_COST) : asked(READ_COST)
  }
}
