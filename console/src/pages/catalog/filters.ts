/** Filters of product sets: what can be compared, how, and in which words. */
export interface Filter {
  attribute: string
  operator: string
  value: string
}

export const FILTERS_MAX = 30

type Kind = 'money' | 'number' | 'text'

const ATTRIBUTES: Record<string, { label: string; kind: Kind }> = {
  price: { label: 'Price', kind: 'money' },
  sale_price: { label: 'Sale price', kind: 'money' },
  inventory: { label: 'Inventory', kind: 'number' },
  product_type: { label: 'Product type', kind: 'text' },
  ext_product_category: { label: 'Category', kind: 'text' },
  custom_label_0: { label: 'Custom label 0', kind: 'text' },
  custom_label_1: { label: 'Custom label 1', kind: 'text' },
  custom_label_2: { label: 'Custom label 2', kind: 'text' },
  custom_label_3: { label: 'Custom label 3', kind: 'text' },
  custom_label_4: { label: 'Custom label 4', kind: 'text' }
}

const OPERATORS: Record<Kind, readonly (readonly [string, string])[]> = {
  money: [
    ['GREATER_THAN', 'is more than'],
    ['LESS_THAN', 'is less than'],
    ['EQUAL_TO', 'is exactly']
  ],
  number: [
    ['GREATER_THAN', 'is more than'],
    ['LESS_THAN', 'is less than'],
    ['EQUAL_TO', 'is exactly']
  ],
  text: [
    ['CONTAINS', 'contains'],
    ['NOT_CONTAINS', 'does not contain'],
    ['MATCH', 'is, in any case'],
    ['EQUAL_TO', 'is exactly']
  ]
}
const EXAMPLES: Record<Kind, string> = { money: '100.00 USD', number: '5', text: 'Shoes' }

const kindOf = (attribute: string): Kind => ATTRIBUTES[attribute]?.kind ?? 'text'

export const ATTRIBUTE_CHOICES = Object.entries(ATTRIBUTES).map(([name, { label }]) => [name, label] as const)
export const operatorsOf = (attribute: string) => OPERATORS[kindOf(attribute)]
export const exampleOf = (attribute: string) => EXAMPLES[kindOf(attribute)]

export const newFilter = (attribute = 'price'): Filter => ({
  attribute,
  operator: operatorsOf(attribute)[0]![0],
  value: ''
})

/** Another attribute keeps what still makes sense. */
export function withAttribute(filter: Filter, attribute: string): Filter {
  const isKnown = operatorsOf(attribute).some(([operator]) => operator === filter.operator)
  const sameKind = kindOf(attribute) === kindOf(filter.attribute)
  return {
    attribute,
    operator: isKnown ? filter.operator : operatorsOf(attribute)[0]![0],
    value: sameKind ? filter.value : ''
  }
}

/** "Price is more than 100.00 USD". */
export function inWords({ attribute, operator, value }: Filter) {
  const words = operatorsOf(attribute).find(([name]) => name === operator)?.[1] ?? operator
  return `${ATTRIBUTES[attribute]?.label ?? attribute} ${words} ${value}`
}

/** What the server said about one of the filters; it names them `filters[0].value`. */
export function problemOfFilter(message: string | undefined, at: number): string | undefined {
  const parts = message?.split(/(?=filters\[\d+\])/) ?? []
  const own = parts.find((part) => part.startsWith(`filters[${at}]`))
  return own
    ?.replace(/^filters\[\d+\]\.?/, '')
    .replace(/^./, (first) => first.toUpperCase())
    .trim()
}
