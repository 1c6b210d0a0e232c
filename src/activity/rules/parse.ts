/** The rule language: a rule's text to its tree, or to everything that is wrong with it. docs/rules.md describes it. */
import { type Clause, clausesOf, isClause, type Rule } from './ast.ts'
import { check, type Draft } from './check.ts'
import { type Lexeme, lex, type Report, type RuleError } from './lex.ts'

export type { RuleError } from './lex.ts'

export const RULE_CHARACTERS_MAX = 2048
/** Deeper nesting than anybody writes by hand, and far from what the call stack holds. */
const NESTING_MAX = 100

export interface RuleInfo {
  characters: number
  clauses: number
  /** Percent of posts that the rule looks at. */
  sample: number
  /** The rule asks for embedding_similarity in what it delivers. */
  embedding: boolean
}

export type ParsedRule = { ok: true; rule: Rule; info: RuleInfo } | { ok: false; errors: RuleError[] }

/** The first mistake of structure ends the reading: what would follow are echoes of it. */
class StructureError extends Error {}

export function parseRule(text: string, { charactersMax = RULE_CHARACTERS_MAX } = {}): ParsedRule {
  const errors: RuleError[] = []
  const positionOf = (offset: number) => charactersIn(text.slice(0, offset)) + 1

  const report: Report = (offset, message, { positioned = true, hint } = {}) => {
    const position = positionOf(offset)
    const where = positioned ? ` (at position ${position})` : ''
    errors.push({ message: `${message}${where}${hint ? `. ${hint}` : ''}`, position })
  }

  const characters = charactersIn(text)
  if (characters > charactersMax) {
    // Not read any further: a list of errors for text of any length helps nobody.
    return {
      ok: false,
      errors: [
        {
          message: `Rule is ${characters} characters long, the maximum is ${charactersMax}`,
          position: charactersMax + 1
        }
      ]
    }
  }

  const lexemes = lex(text, report)
  if (lexemes.length === 1) {
    if (errors.length === 0) report(0, 'Rule is empty')
    return { ok: false, errors }
  }

  const draft = readStructure(lexemes, report)
  if (draft) check(draft, report)
  if (errors.length > 0 || !draft) {
    // Stable: of two errors at one place, the rule about structure is the public first.
    return { ok: false, errors: errors.sort((a, b) => a.position - b.position || standaloneFirst(a, b)) }
  }

  const rule = toRule(draft, positionOf)
  return { ok: true, rule, info: describe(rule, characters) }
}

const standaloneFirst = (a: RuleError, b: RuleError) =>
  Number(b.message.includes('standalone')) - Number(a.message.includes('standalone'))

/** Characters as people count them in a limit: code points. */
const charactersIn = (text: string) => text.length - (text.match(/[\ud800-\udbff][\udc00-\udfff]/g)?.length ?? 0)

/** or := and ( "OR" and )* ; and := unary+ ; unary := "-" atom | atom ; atom := "(" or ")" | clause */
function readStructure(lexemes: Lexeme[], report: Report): Draft | undefined {
  let at = 0
  let depth = 0
  const next = () => lexemes[at] as Lexeme

  function fail(message: string, offset = next().offset): never {
    report(offset, message)
    throw new StructureError(message)
  }

  function readOr(): Draft {
    const { offset } = next()
    const parts = [readAnd()]
    while (next().kind === 'OR') {
      at++
      parts.push(readAnd())
    }
    return parts.length === 1 ? (parts[0] as Draft) : { kind: 'or', parts, offset }
  }

  function readAnd(): Draft {
    const { offset } = next()
    const parts = [readUnary()]
    while (next().kind !== 'OR' && next().kind !== ')' && next().kind !== 'end') parts.push(readUnary())
    return parts.length === 1 ? (parts[0] as Draft) : { kind: 'and', parts, offset }
  }

  function readUnary(): Draft {
    const { kind, offset } = next()
    if (kind !== '-') return readAtom()
    const dash = lexemes[at++] as Lexeme
    if (next().offset !== dash.offset + 1 || next().kind === 'end') fail("no viable alternative at input '-'", offset)
    return { kind: 'not', part: readAtom(), offset }
  }

  function readAtom(): Draft {
    const lexeme = next()
    if (lexeme.kind === 'clause' || lexeme.kind === 'faulty clause') {
      at++
      return { kind: 'leaf', lexeme, offset: lexeme.offset }
    }
    if (lexeme.kind !== '(') return fail(`no viable alternative at input '${lexeme.text}'`)
    if (++depth > NESTING_MAX) fail(`Parentheses are nested more than ${NESTING_MAX} deep`)
    at++
    const inner = readOr()
    if (next().kind !== ')') fail(`missing ')' at '${next().text}'`)
    at++
    depth--
    return inner
  }

  try {
    const draft = readOr()
    if (next().kind !== 'end') fail(`missing EOF at '${next().text}'`)
    return draft
  } catch (error) {
    if (error instanceof StructureError) return undefined
    throw error
  }
}

/** Only called without errors, so every leaf is a clause. embedding_threshold: speaks for the whole rule. */
function toRule(draft: Draft, positionOf: (offset: number) => number): Rule {
  const convert = (part: Draft): Rule => {
    const position = positionOf(part.offset)
    if (part.kind === 'leaf') {
      if (part.lexeme.kind !== 'clause') throw new Error(`'${part.lexeme.text}' was refused without a message`)
      return { ...part.lexeme.clause, position }
    }
    if (part.kind === 'not') return { type: 'not', rule: convert(part.part), position }
    return { type: part.kind, rules: part.parts.map(convert), position }
  }
  const rule = convert(draft)
  const clauses = [...clausesOf(rule)]
  const chosen = clauses.find((clause) => clause.type === 'embedding_threshold')
  for (const clause of clauses) if (clause.type === 'embedding' && chosen) clause.threshold = chosen.threshold
  return rule
}

function describe(rule: Rule, characters: number): RuleInfo {
  const clauses = [...clausesOf(rule)]
  return {
    characters,
    clauses: clauses.length,
    sample: clauses.find((clause) => clause.type === 'sample')?.percent ?? 100,
    embedding: clauses.some((clause) => clause.type === 'embedding')
  }
}

const quote = (text: string) => `"${text.replace(/["\\]/g, '\\$&')}"`
const plain = (value: string) => (/^[\p{L}\p{N}_]+$/u.test(value) ? value : quote(value))

/** A clause as one would write it, with the canonical operator name. */
export function printClause(clause: Clause): string {
  switch (clause.type) {
    case 'keyword':
      return clause.text
    case 'phrase':
      return quote(clause.text)
    case 'proximity':
      return `${quote(clause.text)}~${clause.distance}`
    case 'hashtag':
      return `#${clause.value}`
    case 'cashtag':
      return `$${clause.value}`
    case 'mention':
      return `@${clause.value}`
    case 'context':
      return `context:${clause.domain}.${clause.entity}`
    case 'point_radius':
      return `point_radius:[${clause.longitude} ${clause.latitude} ${clause.radius}${clause.unit}]`
    case 'bounding_box':
      return `bounding_box:[${clause.west} ${clause.south} ${clause.east} ${clause.north}]`
    case 'sample':
      return `sample:${clause.percent}`
    case 'embedding':
      return `embedding:${quote(clause.text)}`
    case 'embedding_threshold':
      return `embedding_threshold:${clause.threshold}`
    default:
      if ('value' in clause) return `${clause.type}:${clause.type === 'lang' ? clause.value : plain(clause.value)}`
      return `${clause.type}:${clause.min}${clause.max === undefined ? '' : `..${clause.max}`}`
  }
}

/** The canonical text of a rule; parsing it gives the same tree. */
export function printRule(rule: Rule): string {
  if (isClause(rule)) return printClause(rule)
  if (rule.type === 'not') return isClause(rule.rule) ? `-${printClause(rule.rule)}` : `-(${printRule(rule.rule)})`
  const parts = rule.rules.map((part) =>
    isClause(part) || part.type === 'not' || (part.type === 'and' && rule.type === 'or')
      ? printRule(part)
      : `(${printRule(part)})`
  )
  return parts.join(rule.type === 'or' ? ' OR ' : ' ')
}
