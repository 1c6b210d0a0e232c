/** What can be wrong with a write, in the words clients of this API know. One constructor per pattern. */
import type { ErrorItem } from '../../errors.ts'

const shown = (value: unknown) => String(Array.isArray(value) ? value.join(',') : (value ?? '')).slice(0, 200)

export const missing = (parameter: string): ErrorItem => ({
  code: 'MISSING_PARAMETER',
  message: `"${parameter}" is a required parameter`,
  parameter
})

export const unexpected = (what: string, value: unknown, parameter: string): ErrorItem => ({
  code: 'INVALID_PARAMETER',
  message: `Expected ${what}, got "${shown(value)}" for ${parameter}`,
  parameter
})

export const notIn = (values: readonly string[], value: unknown, parameter: string): ErrorItem =>
  unexpected(`a value in {${values.join(', ')}}`, value, parameter)

export const tooFew = (parameter: string): ErrorItem => ({
  code: 'INVALID_PARAMETER',
  message: `A minimum of 1 items must be provided for ${parameter}`,
  parameter
})

/** A parameter that may not be set here at all; `details` says where it may. */
export const notAllowed = (parameter: string, details: string): ErrorItem => ({
  code: 'INVALID_PARAMETER',
  message: `setting ${parameter} is not allowed`,
  parameter,
  details
})

export const inclusive = (a: string, b: string, absent: string): ErrorItem => ({
  code: 'INCLUSIVE_PARAMETERS',
  message: `${a} and ${b} are inclusive parameters`,
  parameter: absent
})

/** A value that was understood but breaks a rule: a model error, with the entity's field. */
export const invalid = (attribute: string, message: string, code = 'INVALID'): ErrorItem => ({
  code,
  message,
  attribute
})

export const fieldOf = (item: ErrorItem) => item.parameter ?? item.attribute ?? ''

const NOT_FOUND = [
  'CAMPAIGN_NOT_FOUND',
  'FUNDING_INSTRUMENT_NOT_FOUND',
  'INVALID_IAB_CATEGORY',
  'LINE_ITEM_NOT_FOUND',
  'TWEET_NOT_FOUND'
]

/** The status of a refused write is that of its first problem. */
export const statusOf = (items: readonly ErrorItem[]) => (NOT_FOUND.includes(items[0]?.code ?? '') ? 404 : 400)
