import assert from 'node:assert/strict'
import { test } from 'node:test'
import fc from 'fast-check'
import { PRODUCT_FIELDS } from './product-fields.ts'
import { validateFields, validateProduct } from './product-rules.ts'

const shoes = {
  id: 'sku-1',
  title: 'Canvas shoes',
  description: 'Light canvas shoes for the summer',
  availability: 'in stock',
  condition: 'new',
  price: '20.00 USD',
  link: 'https://shop.example/p/1',
  image_link: 'https://shop.example/i/1.jpg',
  brand: 'Acme'
}

const whole = {
  ...shoes,
  gtin: '4006381333931',
  mpn: 'CS-1',
  mobile_link: 'https://m.shop.example/p/1',
  additional_image_link: 'https://shop.example/i/2.png,https://shop.example/i/3.webp',
  ext_product_category: 'Apparel & Accessories > Shoes',
  product_type: 'Shoes > Canvas',
  inventory: 5,
  sale_price: '15.50 USD',
  sale_price_effective_date: '2026-01-15T08:00+01:00/2026-01-31T20:00+01:00',
  item_group_id: 'shoes',
  gender: 'unisex',
  color: 'navy blue',
  size: '42',
  age_group: 'all ages',
  custom_label_0: 'summer',
  custom_label_1: 'a',
  custom_label_2: 'b',
  custom_label_3: 'c',
  custom_label_4: 'd'
}

test('accepts a product with the required fields and lists every other column as null', () => {
  const { product, errors, warnings } = validateProduct(shoes)

  assert.deepEqual({ errors, warnings }, { errors: [], warnings: [] })
  assert.equal(product?.price_amount, 2000n)
  assert.equal(product?.price_currency, 'USD')
  const unset = Object.entries(product ?? {}).filter(([, value]) => value === null)
  assert.equal(unset.length, PRODUCT_FIELDS.length - Object.keys(shoes).length + 1)
})

test('accepts a product with every field and keeps each as it was sent', () => {
  const { product, errors, warnings } = validateProduct(whole)

  assert.deepEqual({ errors, warnings }, { errors: [], warnings: [] })
  assert.deepEqual(product, { ...whole, price_amount: 2000n, price_currency: 'USD', sale_price_amount: 1550n })
})

test('takes back a product as it was fetched, generated keys and nulls included', () => {
  const fetched = { ...whole, product_key: '1547080787865939969', item_group_key: null, size: null, product_type: '' }

  const { product, errors, warnings } = validateProduct(fetched)

  assert.deepEqual({ errors, warnings }, { errors: [], warnings: [] })
  assert.equal(product?.size, null)
  assert.equal(product?.product_type, null)
})

for (const field of ['id', 'title', 'description', 'availability', 'condition', 'price', 'link', 'image_link']) {
  for (const unset of [undefined, null, '', ' \t']) {
    test(`requires ${field}: ${JSON.stringify(unset)} is not enough`, () => {
      const { product, errors } = validateProduct({ ...shoes, [field]: unset })

      assert.equal(product, null)
      assert.deepEqual(
        errors.map(({ code, field }) => [code, field]),
        [['MISSING_FIELD', field]]
      )
      assert.match(errors[0]!.message, new RegExp(`^${field} is missing`))
    })
  }
}

const refused: [rule: string, change: Record<string, unknown>, code: string, field: string][] = [
  ['an id has at most 100 characters', { id: 'x'.repeat(101) }, 'TOO_LONG', 'id'],
  ['an id has at most 1,000 bytes', { id: '👨‍👩‍👧‍👦'.repeat(60) }, 'TOO_LONG', 'id'],
  ['a title has at most 150 characters', { title: 'x'.repeat(151) }, 'TOO_LONG', 'title'],
  ['a description has at most 5000 characters', { description: 'x'.repeat(5001) }, 'TOO_LONG', 'description'],
  ['a description is plain text', { description: 'Soft<br>and warm' }, 'HTML_NOT_ALLOWED', 'description'],
  ['availability is one of its values exactly', { availability: 'In Stock' }, 'INVALID_VALUE', 'availability'],
  ['condition is one of its values', { condition: 'mint' }, 'INVALID_VALUE', 'condition'],
  ['gender is one of its values', { gender: 'women' }, 'INVALID_VALUE', 'gender'],
  ['age_group is one of its values', { age_group: 'senior' }, 'INVALID_VALUE', 'age_group'],
  ['a price is a number and a currency', { price: '20,00 USD' }, 'INVALID_PRICE', 'price'],
  ['a price is in a real currency', { price: '20.00 XYZ' }, 'UNKNOWN_CURRENCY', 'price'],
  ['a price has the precision of its currency', { price: '20.5 JPY' }, 'PRICE_PRECISION', 'price'],
  ['a price has an end', { price: '99999999999999.00 USD' }, 'PRICE_TOO_LARGE', 'price'],
  ['a sale price has the format of a price', { sale_price: '15' }, 'INVALID_PRICE', 'sale_price'],
  ['a sale price is lower than the price', { sale_price: '20.00 USD' }, 'SALE_PRICE_NOT_LOWER', 'sale_price'],
  ['a sale price has the currency of the price', { sale_price: '15.00 EUR' }, 'SALE_PRICE_CURRENCY', 'sale_price'],
  [
    'sale dates are an ISO 8601 range',
    { sale_price: '15.00 USD', sale_price_effective_date: '2026-01-15/2026-01-31' },
    'INVALID_EFFECTIVE_DATE',
    'sale_price_effective_date'
  ],
  ['link must use https', { link: 'http://shop.example/p/1' }, 'NOT_HTTPS', 'link'],
  ['mobile_link must use https', { mobile_link: 'http://m.shop.example/p/1' }, 'NOT_HTTPS', 'mobile_link'],
  ['image_link is a URL', { image_link: 'i/1.jpg' }, 'INVALID_URL', 'image_link'],
  [
    'additional images are URLs',
    { additional_image_link: 'https://shop.example/2.jpg,3.jpg' },
    'INVALID_URL',
    'additional_image_link'
  ],
  [
    'there are at most 10 additional images',
    { additional_image_link: Array(11).fill('https://shop.example/2.jpg').join(',') },
    'TOO_MANY_IMAGES',
    'additional_image_link'
  ],
  [
    'there are at most 10 additional images in an array',
    { additional_image_link: Array(11).fill('https://shop.example/2.jpg') },
    'TOO_MANY_IMAGES',
    'additional_image_link'
  ],
  ['one of brand, gtin and mpn is needed', { brand: null }, 'MISSING_IDENTIFIER', 'brand'],
  ['a gtin has a right check digit', { gtin: '4006381333932' }, 'INVALID_GTIN', 'gtin'],
  ['a wrong gtin is no missing identifier', { brand: null, gtin: '12' }, 'INVALID_GTIN', 'gtin'],
  ['inventory is a whole number', { inventory: 1.5 }, 'WRONG_TYPE', 'inventory'],
  ['inventory is not negative', { inventory: -1 }, 'INVALID_INVENTORY', 'inventory'],
  ['inventory is a number', { inventory: 'many' }, 'INVALID_INVENTORY', 'inventory'],
  ['inventory has an end', { inventory: 2_147_483_648 }, 'INVALID_INVENTORY', 'inventory'],
  ['inventory has an end', { inventory: 12345678901234567890n }, 'INVALID_INVENTORY', 'inventory'],
  ['inventory is at least 1 when in stock', { inventory: 0 }, 'IN_STOCK_WITHOUT_INVENTORY', 'inventory'],
  ['a color is no hex code', { color: '#FFAA00' }, 'HEX_COLOR', 'color'],
  ['an item group id has at most 100 characters', { item_group_id: 'x'.repeat(101) }, 'TOO_LONG', 'item_group_id'],
  ['a custom label has at most 1,000 characters', { custom_label_4: 'x'.repeat(1001) }, 'TOO_LONG', 'custom_label_4'],
  ['an id is a string', { id: 1 }, 'WRONG_TYPE', 'id'],
  ['a price is a string', { price: 20 }, 'WRONG_TYPE', 'price'],
  ['a title is a string', { title: { en: 'Shoes' } }, 'WRONG_TYPE', 'title'],
  ['a brand is a string', { brand: ['Acme'] }, 'WRONG_TYPE', 'brand'],
  ['additional images are strings', { additional_image_link: [1] }, 'WRONG_TYPE', 'additional_image_link'],
  ['a size is a string, however large the number', { size: 12345678901234567890n }, 'WRONG_TYPE', 'size'],
  ['a text has no NUL', { title: 'a\0b' }, 'INVALID_CHARACTER', 'title'],
  ['a text is valid Unicode', { size: '\ud800' }, 'INVALID_CHARACTER', 'size']
]

for (const [rule, change, code, field] of refused) {
  test(`${rule}, or the product is refused`, () => {
    const { product, errors } = validateProduct({ ...shoes, ...change })

    assert.equal(product, null)
    assert.deepEqual(
      errors.map((error) => [error.code, error.field]),
      [[code, field]]
    )
    const { message, value } = errors[0]!
    assert.ok(message.includes(field) && message.endsWith('.'), message)
    if (value !== null) assert.ok(message.includes(value) && value.length <= 100, message)
  })
}

const warned: [rule: string, change: Record<string, unknown>, code: string, field: string][] = [
  ['an unknown field', { colour: 'red' }, 'UNKNOWN_FIELD', 'colour'],
  ['a price of zero', { price: '0.00 USD' }, 'ZERO_PRICE', 'price'],
  ['an HTML entity in a description', { description: 'Tom &amp; Jerry' }, 'HTML_ENTITY', 'description'],
  [
    'an image that is no JPG, GIF, WEBP or PNG',
    { image_link: 'https://shop.example/i.svg' },
    'IMAGE_TYPE',
    'image_link'
  ],
  ['a product type without spaces around ">"', { product_type: 'Shoes>Canvas' }, 'CATEGORY_SEPARATOR', 'product_type'],
  [
    'sale dates without a sale price',
    { sale_price_effective_date: '2022-10-04T17:20:31.000Z/2022-10-10T04:00:00.000Z' },
    'UNUSED_EFFECTIVE_DATE',
    'sale_price_effective_date'
  ]
]

for (const [rule, change, code, field] of warned) {
  test(`warns of ${rule} and takes the product`, () => {
    const { product, errors, warnings } = validateProduct({ ...shoes, ...change })

    assert.ok(product)
    assert.deepEqual(errors, [])
    assert.deepEqual(
      warnings.map((warning) => [warning.code, warning.field]),
      [[code, field]]
    )
  })
}

test('stores one spelling of a value that can be written in several ways', () => {
  const { product } = validateProduct({
    ...shoes,
    id: ' sku-1 ',
    price: '20 USD',
    gtin: '978-0-306-40615-7',
    inventory: '007',
    additional_image_link: ['https://shop.example/a,b.jpg', 'https://shop.example/2.jpg']
  })

  assert.equal(product?.id, 'sku-1')
  assert.equal(product?.price, '20.00 USD')
  assert.equal(product?.gtin, '9780306406157')
  assert.equal(product?.inventory, 7)
  assert.equal(product?.additional_image_link, 'https://shop.example/a%2Cb.jpg,https://shop.example/2.jpg')
})

test('accepts each way to identify a product alone', () => {
  for (const [field, value] of [
    ['brand', 'Acme'],
    ['gtin', '96385074'],
    ['mpn', 'X-1']
  ] as const) {
    assert.deepEqual(validateProduct({ ...shoes, brand: null, [field]: value }).errors, [], field)
  }
})

test('counts a title of 150 emoji as 150 characters', () => {
  assert.deepEqual(validateProduct({ ...shoes, title: '👩🏽‍🚀'.repeat(150) }).errors, [])
})

test('allows no stock where the product is not in stock', () => {
  for (const availability of ['out of stock', 'preorder', 'available for order', 'discontinued']) {
    assert.equal(validateProduct({ ...shoes, availability, inventory: 0 }).product?.inventory, 0)
  }
})

test('reports everything that is wrong at once, in the order of the fields', () => {
  const { errors } = validateProduct({ ...shoes, title: '', price: 'free', link: 'x', gtin: '1', color: '#fff' })

  assert.deepEqual(
    errors.map((error) => error.field),
    ['title', 'price', 'link', 'gtin', 'color']
  )
})

test('cuts long values in reports to 100 characters', () => {
  const [error] = validateProduct({ ...shoes, title: '😀'.repeat(500) }).errors

  assert.ok(error!.value!.length <= 100 && error!.value!.isWellFormed())
})

test('answers for any JSON whatever, and takes only what is whole', () => {
  const value = fc.oneof(
    fc.jsonValue(),
    fc.bigInt(),
    fc.array(fc.bigInt()),
    fc.string({ unit: 'binary' }),
    fc.constantFrom(...Object.values(whole))
  )
  const input = fc.dictionary(fc.oneof(fc.constantFrom(...PRODUCT_FIELDS), fc.string()), value)
  fc.assert(
    fc.property(input, (change) => {
      const { product, errors, warnings } = validateProduct({ ...whole, ...change })

      assert.equal(product === null, errors.length > 0)
      for (const { message, value } of [...errors, ...warnings]) {
        assert.ok(message.length > 20)
        assert.ok((value ?? '').length <= 100)
      }
      if (product === null) return
      // What is stored passes again and stays the same.
      const { price_amount, price_currency, sale_price_amount, ...fields } = product
      assert.deepEqual(validateProduct(fields).product, product)
    }),
    { numRuns: 300 }
  )
})

test('gives a feed row the same verdict as a request', () => {
  const row = PRODUCT_FIELDS.map((field) => String(whole[field]))

  assert.deepEqual(validateFields(row), validateProduct(whole))
})
