import assert from 'node:assert/strict'
import { test } from 'node:test'
import { checkFilters, FILTER_ATTRIBUTES, FILTER_OPERATORS, matchesFilters } from './filters.ts'
import { validateProduct } from './product-rules.ts'

const shoes = {
  id: 'sku-1',
  title: 'Canvas shoes',
  description: 'Light',
  availability: 'in stock',
  condition: 'new',
  price: '20.00 USD',
  link: 'https://shop.example/p/1',
  image_link: 'https://shop.example/i/1.jpg',
  brand: 'Acme',
  inventory: 5,
  sale_price: '15.50 USD',
  product_type: 'Shoes > Canvas',
  custom_label_0: 'Größe'
}

const holds = (attribute: string, operator: string, value: unknown, change = {}) => {
  const { compiled, issues } = checkFilters([{ attribute, operator, value }])
  assert.deepEqual(issues, [])
  return matchesFilters(compiled, validateProduct({ ...shoes, ...change }).product!)
}

const meanings: [attribute: string, operator: string, value: unknown, expected: boolean, change?: object][] = [
  ['price', 'GREATER_THAN', '19.99 USD', true],
  ['price', 'GREATER_THAN', '20.00 USD', false],
  ['price', 'LESS_THAN', '20.01 USD', true],
  ['price', 'LESS_THAN', '20 USD', false],
  ['price', 'EQUAL_TO', '20 USD', true],
  ['price', 'GREATER_THAN', '1.00 EUR', false],
  ['price', 'EQUAL_TO', '9007199254740.93 USD', true, { price: '9007199254740.93 USD' }],
  ['price', 'EQUAL_TO', '9007199254740.93 USD', false, { price: '9007199254740.92 USD' }],
  ['sale_price', 'LESS_THAN', '16 USD', true],
  ['sale_price', 'LESS_THAN', '16 USD', false, { sale_price: null }],
  ['inventory', 'GREATER_THAN', '4', true],
  ['inventory', 'EQUAL_TO', 5, true],
  ['inventory', 'LESS_THAN', '5', false],
  ['inventory', 'LESS_THAN', '5', false, { inventory: null }],
  ['product_type', 'MATCH', 'shoes > CANVAS', true],
  ['product_type', 'MATCH', 'shoes', false],
  ['product_type', 'EQUAL_TO', 'Shoes > Canvas', true],
  ['product_type', 'EQUAL_TO', 'shoes > canvas', false],
  ['product_type', 'CONTAINS', 'canvas', true],
  ['product_type', 'CONTAINS', 'leather', false],
  ['product_type', 'CONTAINS', '%', false],
  ['product_type', 'NOT_CONTAINS', 'CANVAS', false],
  ['product_type', 'NOT_CONTAINS', 'leather', true],
  ['custom_label_0', 'MATCH', 'GRÖßE', true],
  ['custom_label_4', 'NOT_CONTAINS', 'x', true],
  ['custom_label_4', 'CONTAINS', 'x', false],
  ['ext_product_category', 'EQUAL_TO', 'x', false]
]

for (const [attribute, operator, value, expected, change] of meanings) {
  test(`${attribute} ${operator} ${value} ${expected ? 'takes' : 'leaves out'} the shoes${change ? ` with ${JSON.stringify(change)}` : ''}`, () => {
    assert.equal(holds(attribute, operator, value, change), expected)
  })
}

test('asks that all filters hold', () => {
  const { compiled } = checkFilters([
    { attribute: 'price', operator: 'GREATER_THAN', value: '10 USD' },
    { attribute: 'product_type', operator: 'CONTAINS', value: 'leather' }
  ])

  assert.equal(matchesFilters(compiled, validateProduct(shoes).product!), false)
})

test('takes each operator where it has a meaning and nowhere else', () => {
  const value = { price: '1.00 USD', sale_price: '1.00 USD', inventory: '1' } as Record<string, string>
  for (const attribute of FILTER_ATTRIBUTES) {
    const taken = FILTER_OPERATORS.filter(
      (operator) => checkFilters([{ attribute, operator, value: value[attribute] ?? 'x' }]).issues.length === 0
    )
    const expected =
      attribute in value ? ['GREATER_THAN', 'EQUAL_TO', 'LESS_THAN'] : ['EQUAL_TO', 'MATCH', 'NOT_CONTAINS', 'CONTAINS']
    assert.deepEqual(taken, expected, attribute)
  }
})

test('compiles money to exact smallest units and gives the filter back as it was sent', () => {
  const filter = { attribute: 'price', operator: 'GREATER_THAN', value: '100.00 USD' }

  assert.deepEqual(checkFilters([filter]), {
    filters: [filter],
    compiled: [{ kind: 'money', attribute: 'price', operator: 'GREATER_THAN', amount: 10000n, currency: 'USD' }],
    issues: []
  })
})

const filter = { attribute: 'price', operator: 'EQUAL_TO', value: '1.00 USD' }
const refused: [rule: string, filters: unknown, code: string, field: string][] = [
  ['filters is an array', 'price > 1', 'WRONG_TYPE', 'filters'],
  ['filters is present', undefined, 'WRONG_TYPE', 'filters'],
  ['there is at least one filter', [], 'FILTER_COUNT', 'filters'],
  ['there are at most 30 filters', Array(31).fill(filter), 'FILTER_COUNT', 'filters'],
  ['a filter is an object', [null], 'WRONG_TYPE', 'filters[0]'],
  [
    'the attribute is known',
    [filter, { ...filter, attribute: 'custom_field_5' }],
    'INVALID_VALUE',
    'filters[1].attribute'
  ],
  ['the operator is known', [{ ...filter, operator: 'BETWEEN' }], 'INVALID_VALUE', 'filters[0].operator'],
  ['the operator suits the attribute', [{ ...filter, operator: 'CONTAINS' }], 'INVALID_VALUE', 'filters[0].operator'],
  ['a money value is a price', [{ ...filter, value: '100' }], 'INVALID_PRICE', 'filters[0].value'],
  [
    'a money value has the precision of its currency',
    [{ ...filter, value: '1.001 USD' }],
    'PRICE_PRECISION',
    'filters[0].value'
  ],
  [
    'an inventory value is a whole number',
    [{ ...filter, attribute: 'inventory', value: '1.5' }],
    'INVALID_INVENTORY',
    'filters[0].value'
  ],
  ['a value is not empty', [{ ...filter, value: ' ' }], 'INVALID_VALUE', 'filters[0].value'],
  ['a value is a string', [{ ...filter, value: 5 }], 'INVALID_VALUE', 'filters[0].value'],
  [
    'a value has no NUL',
    [{ attribute: 'product_type', operator: 'MATCH', value: 'a\0' }],
    'INVALID_VALUE',
    'filters[0].value'
  ],
  [
    'a text value has an end',
    [{ attribute: 'product_type', operator: 'MATCH', value: 'x'.repeat(1001) }],
    'TOO_LONG',
    'filters[0].value'
  ]
]

for (const [rule, filters, code, field] of refused) {
  test(`${rule}, or the set is refused`, () => {
    const { compiled, issues } = checkFilters(filters)

    assert.deepEqual(compiled, [])
    assert.deepEqual(
      issues.map((found) => [found.code, found.field]),
      [[code, field]]
    )
    assert.ok(issues[0]!.message.startsWith(field))
  })
}

test('accepts 30 filters', () => assert.equal(checkFilters(Array(30).fill(filter)).compiled.length, 30))
