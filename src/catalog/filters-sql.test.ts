import assert from 'node:assert/strict'
import { test } from 'node:test'
import fc from 'fast-check'
import { sql } from 'kysely'
import { testDatabase } from '../../test/database.ts'
import { type CompiledFilter, checkFilters, type FilterableProduct, matchesFilters } from './filters.ts'
import { filterSql } from './filters-sql.ts'

/** Words that a careless comparison gets wrong: cases, dots, sigmas, wildcards, ties. */
const WORDS = [
  'Shoes',
  'SHOES > Canvas',
  'shoes',
  'İstanbul',
  'i̇stanbul',
  'ΑΣ',
  'ας',
  'Straße',
  '100%',
  '100_',
  'a\\b',
  "it's"
]
const text = fc
  .oneof(fc.constantFrom(...WORDS), fc.string({ unit: 'grapheme', minLength: 1, maxLength: 8 }))
  .map((value) => value.replaceAll('\0', '').trim())
  .filter((value) => value !== '' && value.isWellFormed())
const amount = fc.bigInt({ min: 0n, max: 12n }).map((value) => value * 50n)
const currency = fc.constantFrom('USD', 'EUR', 'JPY')
const orNull = <T>(of: fc.Arbitrary<T>) => fc.option(of, { nil: null, freq: 3 })

const product: fc.Arbitrary<FilterableProduct> = fc.record({
  price_amount: amount,
  sale_price_amount: orNull(amount),
  price_currency: currency,
  inventory: orNull(fc.nat(10)),
  product_type: orNull(text),
  ext_product_category: orNull(text),
  custom_label_0: orNull(text),
  custom_label_1: orNull(text),
  custom_label_2: orNull(text),
  custom_label_3: orNull(text),
  custom_label_4: orNull(text)
})
const NUMBER = ['GREATER_THAN', 'EQUAL_TO', 'LESS_THAN']
const TEXT = ['EQUAL_TO', 'MATCH', 'CONTAINS', 'NOT_CONTAINS']
const labels = [0, 1, 2, 3, 4].map((i) => `custom_label_${i}`)
const price = fc
  .tuple(amount, currency)
  .map(
    ([units, code]) => `${code === 'JPY' ? units : `${units / 100n}.${String(units % 100n).padStart(2, '0')}`} ${code}`
  )
const filter = fc.oneof(
  fc.record({ attribute: fc.constantFrom('price', 'sale_price'), operator: fc.constantFrom(...NUMBER), value: price }),
  fc.record({
    attribute: fc.constant('inventory'),
    operator: fc.constantFrom(...NUMBER),
    value: fc.nat(10).map(String)
  }),
  fc.record({
    attribute: fc.constantFrom('product_type', 'ext_product_category', ...labels),
    operator: fc.constantFrom(...TEXT),
    value: text
  })
)

test('the database finds exactly the products that the filters mean', async (t) => {
  const { database } = await testDatabase(t)
  const matching = async (filters: CompiledFilter[], products: FilterableProduct[]) => {
    const rows = products.map((each, n) => ({
      ...each,
      price_amount: Number(each.price_amount),
      sale_price_amount: each.sale_price_amount === null ? null : Number(each.sale_price_amount),
      id: String(n)
    }))
    const found = await sql<{ id: string }>`
      select id from json_populate_recordset(null::products, ${JSON.stringify(rows)}) p
      where ${filterSql(filters)}`.execute(database.db)
    return found.rows.map(({ id }) => Number(id))
  }
  await fc.assert(
    fc.asyncProperty(
      fc.array(product, { minLength: 1, maxLength: 60 }),
      fc.array(filter, { minLength: 1, maxLength: 3 }),
      async (products, filters) => {
        const { compiled, issues } = checkFilters(filters)
        assert.deepEqual(issues, [])
        const expected = products.flatMap((each, n) => (matchesFilters(compiled, each) ? [n] : []))
        assert.deepEqual(await matching(compiled, products), expected)
      }
    ),
    { numRuns: 300 }
  )
})
