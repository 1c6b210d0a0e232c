import assert from 'node:assert/strict'
import { test } from 'node:test'
import { FIELD_INDEX, PRODUCT_FIELDS } from '../product-fields.ts'
import { mapColumns } from './columns.ts'

const required = ['id', 'title', 'description', 'availability', 'condition', 'price', 'link', 'image_link', 'brand']
const map = (names: string[]) => mapColumns(names, 'commas')

test('finds every field of the document in any order', () => {
  const names = [...PRODUCT_FIELDS].reverse()

  const { targets, columns, warnings } = map(names)

  assert.deepEqual(
    [...targets].map((target) => PRODUCT_FIELDS[target]),
    names
  )
  assert.equal(columns[FIELD_INDEX.get('custom_label_4')!], 1)
  assert.deepEqual(warnings, [])
})

test('reads names trimmed and in any case', () => {
  const { targets } = map([' ID ', 'Title', 'DESCRIPTION', ...required.slice(3), 'Sale Price'])

  assert.deepEqual([...targets].slice(0, 3), [0, 1, 2])
  assert.equal(PRODUCT_FIELDS[targets.at(-1)!], 'sale_price')
})

test('knows the taxonomy field by its name in shopping feeds', () => {
  const { columns } = map([...required, 'google_product_category'])

  assert.equal(columns[FIELD_INDEX.get('ext_product_category')!], 10)
})

test('ignores unknown columns with a warning each, which names the column', () => {
  const { targets, warnings } = map([...required, 'colour', '', 'product_key'])

  assert.deepEqual([...targets].slice(-3), [-1, -1, -1])
  assert.deepEqual(
    warnings.map(({ code, value }) => [code, value]),
    [
      ['UNKNOWN_COLUMN', 'colour'],
      ['UNKNOWN_COLUMN', '']
    ]
  )
  assert.match(warnings[0]!.message, /Column 10, "colour"/)
})

test('ends the import when two columns hold one field', () => {
  assert.throws(() => map([...required, 'TITLE']), {
    code: 'DUPLICATE_COLUMN',
    message: /Columns 2 and 10 both hold title/
  })
})

test('ends the import when required columns are missing, and names them all', () => {
  assert.throws(() => map(['id', 'title', 'price']), {
    code: 'MISSING_COLUMN',
    message: /description, availability, condition, link, image_link, one of brand, gtin, mpn\./
  })
  assert.throws(() => map(required.slice(0, -1)), { message: /for: one of brand, gtin, mpn\./ })
  for (const identifier of ['gtin', 'mpn']) assert.doesNotThrow(() => map([...required.slice(0, -1), identifier]))
})

test('guesses the separator when the whole header is one column', () => {
  assert.throws(() => map([required.join(';')]), {
    message: /separated by semicolons; this feed format separates them by commas/
  })
  assert.throws(() => map([required.join('\t')]), { message: /separated by tabs/ })
  assert.throws(() => map(['sku-1', 'Shoes', '20.00 USD']), { message: /begins with "sku-1 Shoes 20\.00 USD"/ })
})
