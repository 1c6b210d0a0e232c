/** Filters of a product set: which attribute takes which operators and values, and what they mean. All must hold. */
import { type Issue, issue } from './issues.ts'
import { isLongerThan } from './plain-text.ts'
import { explainPrice, parsePrice } from './prices.ts'
import { INVENTORY_MAX, TEXT_CHARS_MAX } from './product-fields.ts'
import type { ProductColumns } from './product-rules.ts'

export const FILTERS_MAX = 30

export const FILTER_OPERATORS = ['GREATER_THAN', 'EQUAL_TO', 'LESS_THAN', 'MATCH', 'NOT_CONTAINS', 'CONTAINS'] as const

const NUMBER_OPERATORS = ['GREATER_THAN', 'EQUAL_TO', 'LESS_THAN'] as const
const TEXT_OPERATORS = ['EQUAL_TO', 'MATCH', 'CONTAINS', 'NOT_CONTAINS'] as const

/** Not specified which operator suits which attribute; see decisions/0042. */
const ATTRIBUTE_KINDS = {
  price: 'money',
  sale_price: 'money',
  inventory: 'integer',
  product_type: 'text',
  ext_product_category: 'text',
  custom_label_0: 'text',
  custom_label_1: 'text',
  custom_label_2: 'text',
  custom_label_3: 'text',
  custom_label_4: 'text'
} as const

type Attribute = keyof typeof ATTRIBUTE_KINDS
type AttributeOf<Kind> = { [A in Attribute]: (typeof ATTRIBUTE_KINDS)[A] extends Kind ? A : never }[Attribute]
type NumberOperator = (typeof NUMBER_OPERATORS)[number]
type TextOperator = (typeof TEXT_OPERATORS)[number]

export const FILTER_ATTRIBUTES = Object.keys(ATTRIBUTE_KINDS) as Attribute[]

/** A filter on the wire. */
export interface ProductFilter {
  attribute: string
  operator: string
  value: string
}

/** A filter that the database can evaluate without reading text again. */
export type CompiledFilter =
  | {
      kind: 'money'
      attribute: AttributeOf<'money'>
      operator: NumberOperator
      /** Smallest units, compared with `<attribute>_amount` of products in the same currency. */
      amount: bigint
      currency: string
    }
  | { kind: 'integer'; attribute: AttributeOf<'integer'>; operator: NumberOperator; value: number }
  | {
      kind: 'text'
      attribute: AttributeOf<'text'>
      operator: TextOperator
      /** As written for EQUAL_TO; folded to lower case for the operators that ignore case. */
      text: string
    }

export interface FilterCheck {
  /** As stored and answered; empty when there is any issue. */
  filters: ProductFilter[]
  compiled: CompiledFilter[]
  issues: Issue[]
}

/** Checks the `filters` of a request and compiles them. */
export function checkFilters(input: unknown): FilterCheck {
  const issues: Issue[] = []
  const refuse = (code: string, field: string, value: unknown, rule: string) => {
    issues.push(
      issue(code, field, value, (shown) => (value == null ? `${field} ${rule}` : `${field} ${shown} ${rule}`))
    )
    return undefined
  }
  const none = { filters: [], compiled: [], issues }
  if (!Array.isArray(input)) {
    refuse('WRONG_TYPE', 'filters', input ?? null, 'must be an array of {attribute, operator, value}.')
    return none
  }
  if (input.length === 0 || input.length > FILTERS_MAX) {
    refuse('FILTER_COUNT', 'filters', null, `must have 1 to ${FILTERS_MAX} filters; it has ${input.length}.`)
    return none
  }
  const compiled = input.map((filter: unknown, i) => compile(filter, `filters[${i}]`, refuse))
  if (issues.length > 0) return none
  const whole = compiled.filter((filter) => filter !== undefined)
  return {
    filters: input.map(({ attribute, operator, value }) => ({ attribute, operator, value: `${value}`.trim() })),
    compiled: whole,
    issues
  }
}

type Refuse = (code: string, field: string, value: unknown, rule: string) => undefined

function compile(filter: unknown, at: string, refuse: Refuse): CompiledFilter | undefined {
  if (typeof filter !== 'object' || filter === null) {
    return refuse('WRONG_TYPE', at, filter ?? null, 'must be an object {attribute, operator, value}.')
  }
  const { attribute, operator, value } = filter as Record<string, unknown>
  if (!isOneOf(FILTER_ATTRIBUTES, attribute)) {
    return refuse('INVALID_VALUE', `${at}.attribute`, attribute, `must be one of: ${FILTER_ATTRIBUTES.join(', ')}.`)
  }
  const kind = ATTRIBUTE_KINDS[attribute]
  const operators: readonly string[] = kind === 'text' ? TEXT_OPERATORS : NUMBER_OPERATORS
  if (!isOneOf(operators, operator)) {
    return refuse(
      'INVALID_VALUE',
      `${at}.operator`,
      operator,
      `must be one of ${operators.join(', ')} for ${attribute}.`
    )
  }
  const given = typeof value === 'number' && kind === 'integer' ? `${value}` : value
  if (typeof given !== 'string' || given.trim() === '' || given.includes('\0') || !given.isWellFormed()) {
    return refuse('INVALID_VALUE', `${at}.value`, value, 'must be a string that is not empty.')
  }
  return compileValue(attribute, operator, given.trim(), `${at}.value`, refuse)
}

function compileValue(
  attribute: Attribute,
  operator: string,
  value: string,
  at: string,
  refuse: Refuse
): CompiledFilter | undefined {
  if (attribute === 'price' || attribute === 'sale_price') {
    const price = parsePrice(value)
    if (price === undefined) return refuse(explainPrice(value).code, at, value, explainPrice(value).rule)
    const { amount, currency } = price
    return { kind: 'money', attribute, operator: operator as NumberOperator, amount, currency }
  }
  if (attribute === 'inventory') {
    const number = /^[0-9]{1,10}$/.test(value) ? Number(value) : Number.NaN
    if (!(number <= INVENTORY_MAX)) {
      return refuse('INVALID_INVENTORY', at, value, `must be a whole number from 0 to ${INVENTORY_MAX}.`)
    }
    return { kind: 'integer', attribute, operator: operator as NumberOperator, value: number }
  }
  if (isLongerThan(value, TEXT_CHARS_MAX)) {
    return refuse('TOO_LONG', at, value, `must have at most ${TEXT_CHARS_MAX} characters.`)
  }
  return {
    kind: 'text',
    attribute,
    operator: operator as TextOperator,
    text: operator === 'EQUAL_TO' ? value : fold(value)
  }
}

function isOneOf<T extends string>(options: readonly T[], value: unknown): value is T {
  return (options as readonly unknown[]).includes(value)
}

/** How text is compared where case does not matter. */
export const fold = (text: string) => text.toLowerCase()

export type FilterableProduct = Pick<
  ProductColumns,
  AttributeOf<'text' | 'integer'> | 'price_amount' | 'sale_price_amount' | 'price_currency'
>

/** Whether a product belongs to the set. The plain meaning of filters, to which the database's answer is held. */
export function matchesFilters(filters: readonly CompiledFilter[], product: FilterableProduct): boolean {
  return filters.every((filter) => matches(filter, product))
}

function matches(filter: CompiledFilter, product: FilterableProduct): boolean {
  if (filter.kind === 'money') {
    const amount = product[`${filter.attribute}_amount`]
    return (
      amount !== null && product.price_currency === filter.currency && compare(amount, filter.operator, filter.amount)
    )
  }
  if (filter.kind === 'integer') {
    const value = product[filter.attribute]
    return value !== null && compare(value, filter.operator, filter.value)
  }
  const text = product[filter.attribute]
  // What is not set contains nothing.
  if (text === null) return filter.operator === 'NOT_CONTAINS'
  if (filter.operator === 'EQUAL_TO') return text === filter.text
  if (filter.operator === 'MATCH') return fold(text) === filter.text
  return fold(text).includes(filter.text) === (filter.operator === 'CONTAINS')
}

function compare<T extends bigint | number>(left: T, operator: NumberOperator, right: T): boolean {
  if (operator === 'GREATER_THAN') return left > right
  return operator === 'LESS_THAN' ? left < right : left === right
}
