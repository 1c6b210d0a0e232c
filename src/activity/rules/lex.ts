/** A rule's text to lexemes. Unreadable characters and refused operators are noted and reading goes on. */
import type { ClauseBody } from './ast.ts'
import { CONJUNCTION_REQUIRED, OPERATORS, type OperatorValue, PROXIMITY_MAX, REFUSED_OPERATORS } from './operators.ts'
import { isEmoji, tokenize } from './tokens.ts'

export interface RuleError {
  message: string
  /** Counted in characters from 1. */
  position: number
}

export type Lexeme = { offset: number; text: string } & (
  | { kind: '(' | ')' | '[' | ']' | 'OR' | '-' | 'end' }
  | { kind: 'clause'; clause: ClauseBody }
  /** Already reported; stands for a clause so that the rest is still checked. */
  | { kind: 'faulty clause'; standalone: boolean }
)

/** The position is added to the message, unless told otherwise; a hint follows it. */
export type Report = (offset: number, message: string, options?: { positioned?: boolean; hint?: string }) => void

const SPACE = /\s/
const WORD_START = /[\p{L}\p{M}\p{N}\p{So}_]/u
/** Punctuation inside a word is let through: it only separates tokens. These characters end a word. */
const WORD_END = /[\s()[\]{}":,;|<>~^\\`]/u
const HASHTAG = /^[\p{L}\p{M}\p{N}_]+/u
const CASHTAG = /^[a-z]{1,6}(?:[._][a-z]{1,2})?(?![\p{L}\p{N}_])/iu
const MENTION = /^[a-z0-9_]{1,15}(?![\p{L}\p{N}_])/iu

export function lex(text: string, report: Report): Lexeme[] {
  const lexemes: Lexeme[] = []
  let at = 0

  const faulty = (offset: number, standalone = true) =>
    lexemes.push({ kind: 'faulty clause', offset, text: text.slice(offset, at), standalone })

  const clause = (offset: number, body: ClauseBody) =>
    lexemes.push({ kind: 'clause', offset, text: text.slice(offset, at), clause: body })

  /** Reads from the opening quote; undefined when there is no closing one, which is then reported. */
  function readQuoted(): string | undefined {
    const opening = at
    let value = ''
    for (at++; at < text.length; at++) {
      const character = text[at]
      if (character === '"') {
        at++
        return value
      }
      if (character === '\\' && (text[at + 1] === '"' || text[at + 1] === '\\')) at++
      value += text[at]
    }
    report(opening, `missing closing '"' at '<EOF>'`)
    return undefined
  }

  function readPhrase() {
    const offset = at
    const value = readQuoted()
    if (value === undefined) return faulty(offset)
    const tokens = tokenize(value)
    let distance: number | undefined
    if (text[at] === '~') {
      const digits = /^[0-9]+/.exec(text.slice(at + 1))?.[0] ?? ''
      distance = digits === '' ? 0 : Number(digits)
      at += 1 + digits.length
      if (distance < 1 || distance > PROXIMITY_MAX) {
        report(offset, `Proximity must be a number from 1 to ${PROXIMITY_MAX}`)
        return faulty(offset)
      }
      if (tokens.length < 2) {
        report(offset, 'Proximity needs at least two words')
        return faulty(offset)
      }
    }
    if (tokens.length === 0) {
      report(offset, `Phrase '${value}' has no letters, digits or emoji to match`)
      return faulty(offset)
    }
    if (distance === undefined) clause(offset, { type: 'phrase', text: value, tokens })
    else clause(offset, { type: 'proximity', text: value, tokens, distance })
  }

  function readEntity(type: 'hashtag' | 'cashtag' | 'mention', pattern: RegExp) {
    const offset = at
    const value = pattern.exec(text.slice(at + 1))?.[0]
    if (value === undefined) {
      while (at < text.length && !WORD_END.test(text[at] as string)) at++
      report(offset, `no viable alternative at input '${text.slice(offset, at)}'`)
      return faulty(offset)
    }
    at += 1 + value.length
    clause(offset, { type, value })
  }

  /** After the colon: a quoted text, a list in brackets, or whatever goes up to a space or parenthesis. */
  function readValue(): OperatorValue | undefined {
    if (text[at] === '"') {
      const value = readQuoted()
      return value === undefined ? undefined : { text: value, form: 'quoted' }
    }
    if (text[at] === '[') {
      const closing = text.indexOf(']', at)
      if (closing < 0) {
        report(at, `missing ']' at '<EOF>'`)
        at = text.length
        return undefined
      }
      const value = text.slice(at + 1, closing)
      at = closing + 1
      return { text: value, form: 'list' }
    }
    const start = at
    while (at < text.length && !/[\s()"]/.test(text[at] as string)) at++
    return { text: text.slice(start, at), form: 'bare' }
  }

  function readOperator(offset: number, spelled: string) {
    const name = spelled.toLowerCase()
    const operator = OPERATORS.get(name)
    const value = readValue()
    if (!operator) {
      report(offset, `Reference to invalid operator '${spelled}'`, { hint: REFUSED_OPERATORS.get(name) })
      return faulty(offset)
    }
    const { standalone } = operator
    if (value === undefined) return faulty(offset, standalone)
    if (value.text === '') {
      report(offset, `Operator '${spelled}' has no value`)
      return faulty(offset, standalone)
    }
    const body = operator.read(value)
    if (!('refused' in body)) return clause(offset, body)
    if (operator.name === 'is' || operator.name === 'has') {
      // The public message names the whole operator and gives no position.
      report(offset, `Reference to invalid operator '${name}:${value.text}'.`, { positioned: false })
    } else {
      report(offset, `Invalid value '${value.text}' for operator '${spelled}': ${body.refused}`)
    }
    faulty(offset, standalone)
  }

  function readWord() {
    const offset = at
    while (at < text.length && !WORD_END.test(text[at] as string)) at++
    const word = text.slice(offset, at)
    if (text[at] === ':') {
      at++
      return readOperator(offset, word)
    }
    if (word === 'OR') return lexemes.push({ kind: 'OR', offset, text: word })
    if (word.toLowerCase() === 'and') {
      report(
        offset,
        'Ambiguous use of and as a keyword. Use a space to logically join two clauses, or "and" to find occurrences of and in text'
      )
      return faulty(offset)
    }
    const tokens = tokenize(word)
    if (tokens.length > 0) return clause(offset, { type: 'keyword', text: word, tokens })
    report(offset, `Keyword '${word}' has no letters, digits or emoji to match`)
    faulty(offset)
  }

  while (at < text.length) {
    const character = String.fromCodePoint(text.codePointAt(at) as number)
    const offset = at
    if (SPACE.test(character)) at++
    else if (character === '(' || character === ')' || character === '[' || character === ']' || character === '-') {
      at++
      lexemes.push({ kind: character, offset, text: character })
    } else if (character === '"') readPhrase()
    else if (character === '#' || character === '＃') readEntity('hashtag', HASHTAG)
    else if (character === '$') readEntity('cashtag', CASHTAG)
    else if (character === '@' || character === '＠') readEntity('mention', MENTION)
    else if (WORD_START.test(character) || isEmoji(character)) readWord()
    else {
      at += character.length
      report(offset, `no viable alternative at character '${character}'`)
    }
  }
  lexemes.push({ kind: 'end', offset: text.length, text: '<EOF>' })
  return lexemes
}

export const standsAlone = (lexeme: Lexeme) =>
  lexeme.kind === 'clause'
    ? !CONJUNCTION_REQUIRED.has(lexeme.clause.type)
    : lexeme.kind === 'faulty clause' && lexeme.standalone
