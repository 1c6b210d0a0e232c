/** What is wrong with a product, a feed row or a feed file, in words that its owner can act on. */
import { stringifiable } from '../http/json.ts'

export interface Issue {
  code: string
  /** The product field or filter attribute at fault; null when the row or the file as a whole is. */
  field: string | null
  /** The offending value, cut to 100 characters. */
  value: string | null
  /** Names the field, the value and the rule, and says what to do. */
  message: string
}

export const ISSUE_VALUE_CHARS_MAX = 100

/** The start of a value, short enough for a report and never ending in half a character. */
export function cutValue(value: string, charsMax = ISSUE_VALUE_CHARS_MAX): string {
  if (value.length <= charsMax) return value
  const cut = value.slice(0, charsMax - 1)
  return `${cut.isWellFormed() || !value.isWellFormed() ? cut : cut.slice(0, -1)}…`
}

/** Builds an issue; the message receives the value already cut and quoted. */
export function issue(code: string, field: string | null, value: unknown, message: (shown: string) => string): Issue {
  // Large integers of a request are exact, which JSON.stringify alone cannot write.
  const written = () => JSON.stringify(stringifiable(value)) ?? typeof value
  const text = value == null ? null : cutValue(typeof value === 'string' ? value : written())
  return { code, field, value: text, message: message(text === null ? 'nothing' : `"${text}"`) }
}
