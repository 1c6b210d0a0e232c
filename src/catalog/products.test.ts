import assert from 'node:assert/strict'
import { after, test } from 'node:test'
import { startApp } from '../../test/app.ts'
import { codes, type Json } from '../../test/given-ads.ts'
import { givenMerchant, givenProducts, type Merchant, product } from '../../test/given-catalog.ts'
import { PRODUCT_FIELDS } from './product-fields.ts'

const app = await startApp({ after })

const put = async (merchant: Merchant, products: Json[]) => {
  const { status, data, body } = await merchant.put('products', { products })
  assert.equal(status, 200, JSON.stringify(body))
  return data.products_response as Json[]
}
const statuses = (results: Json[]) => results.map((result) => result.status)
const ids = ({ data }: { data: Json }) => data.map((each: Json) => each.id)

for (const environment of ['production', 'sandbox'] as const) {
  test(`${environment}: a batch creates, updates, leaves alone and refuses, in request order`, async () => {
    const merchant = await givenMerchant(app, { environment })
    const first = await merchant.put('products', { products: [product('a'), product('b'), product('c')] })
    assert.deepEqual(first.body.request, { params: { product_catalog_id: merchant.catalogId } })
    const [a, b] = first.data.products_response
    assert.deepEqual(a, { warnings: [], errors: [], product_key: a.product_key, id: 'a', status: 'CREATE_SUCCESS' })
    assert.match(a.product_key, /^[0-9]{19}$/)

    const results = await put(merchant, [
      product('d'),
      product('a', { price: '25.00 USD' }),
      product('x', { price: 'twenty' }),
      product('b')
    ])

    assert.deepEqual(statuses(results), ['CREATE_SUCCESS', 'UPDATE_SUCCESS', 'ERROR', 'NO_CHANGE'])
    assert.equal(results[1].product_key, a.product_key, 'a product keeps its key')
    assert.equal(results[3].product_key, b.product_key)
    assert.equal(results[2].product_key, null)
    assert.match(results[2].errors[0], /^price "twenty" is not a number, a space and a 3-letter ISO 4217 code/)
    const { data } = await merchant.get('products')
    assert.deepEqual(
      data.map((each: Json) => [each.id, each.price]),
      [
        ['a', '25.00 USD'],
        ['b', '20.00 USD'],
        ['c', '20.00 USD'],
        ['d', '20.00 USD']
      ]
    )
  })

  test(`${environment}: a fetched product lists every field, with null for unset ones`, async () => {
    const merchant = await givenMerchant(app, { environment })
    const whole = product('whole', {
      gtin: '4006381333931',
      mpn: 'CS-1',
      mobile_link: 'https://m.shop.example/1',
      additional_image_link: 'https://shop.example/2.jpg,https://shop.example/3.jpg',
      ext_product_category: 'Apparel & Accessories > Shoes',
      product_type: 'Shoes > Canvas',
      inventory: 5,
      sale_price: '15.00 USD',
      sale_price_effective_date: '2026-01-15T08:00+01:00/2026-01-31T20:00+01:00',
      gender: 'female',
      color: 'navy',
      size: 'M',
      age_group: 'teen',
      ...Object.fromEntries([0, 1, 2, 3, 4].map((i) => [`custom_label_${i}`, `label\t${i}\\n "x"`]))
    })
    const [result, plain] = await givenProducts(merchant, [whole, product('plain')])

    const { data } = await merchant.get('products')
    const unset = Object.fromEntries(PRODUCT_FIELDS.map((field) => [field, null]))
    assert.deepEqual(data, [
      { ...unset, ...whole, item_group_key: null, product_key: result.product_key },
      { ...unset, ...product('plain'), item_group_key: null, product_key: plain.product_key }
    ])
    assert.equal(Object.keys(data[0]).length, 30)
    assert.deepEqual(statuses(await put(merchant, data)), ['NO_CHANGE', 'NO_CHANGE'], 'sent back as fetched')
    const single = await merchant.get(`products/${result.product_key}`)
    assert.deepEqual(single.data, data[0])
  })

  test(`${environment}: "When an id occurs several times in one request, all instances are ignored"`, async () => {
    const merchant = await givenMerchant(app, { environment })

    const results = await put(merchant, [product('twice'), product('once'), product(' twice ', { price: 'x' })])

    assert.deepEqual(statuses(results), ['ERROR', 'CREATE_SUCCESS', 'ERROR'])
    assert.match(results[0].errors[0], /^id "twice" occurs 2 times in this request: all are ignored/)
    assert.deepEqual(ids(await merchant.get('products')), ['once'])
  })

  test(`${environment}: each rule of the product table has an error that names the field`, async () => {
    const merchant = await givenMerchant(app, { environment })
    const without = (field: string) => product('p', { [field]: undefined })
    const cases: [rule: string, input: Json, field: string][] = [
      ...['id', 'title', 'description', 'availability', 'condition', 'price', 'link', 'image_link'].map(
        (field): [string, Json, string] => [`${field} is required`, without(field), field]
      ),
      ['title at most 150 characters', product('p', { title: 'x'.repeat(151) }), 'title'],
      ['description plain text only', product('p', { description: '<b>bold</b>' }), 'description'],
      ['description at most 5000 characters', product('p', { description: 'x'.repeat(5001) }), 'description'],
      ['availability is an enum', product('p', { availability: 'soon' }), 'availability'],
      ['condition is an enum', product('p', { condition: 'broken' }), 'condition'],
      ['id at most 100 characters', product('x'.repeat(101)), 'id'],
      ['price has an ISO 4217 code', product('p', { price: '20.00 XXQ' }), 'price'],
      ['price: a number, a space, then the code', product('p', { price: '20.00USD' }), 'price'],
      ['price: `.` is the decimal point', product('p', { price: '20,00 USD' }), 'price'],
      ['price has the precision of its currency', product('p', { price: '20.50 JPY' }), 'price'],
      ['link must use https', product('p', { link: 'http://shop.example/p' }), 'link'],
      ['one of brand, gtin, mpn', without('brand'), 'brand'],
      ['gtin has a check digit', product('p', { gtin: '4006381333932' }), 'gtin'],
      ['mobile_link must use https', product('p', { mobile_link: 'http://m.shop.example' }), 'mobile_link'],
      [
        'at most 10 additional images',
        product('p', { additional_image_link: Array(11).fill('https://shop.example/i.jpg').join(',') }),
        'additional_image_link'
      ],
      ['inventory at least 1 when in stock', product('p', { inventory: 0 }), 'inventory'],
      ['sale_price lower than price', product('p', { sale_price: '20.00 USD' }), 'sale_price'],
      ['sale_price in the currency of price', product('p', { sale_price: '10.00 EUR' }), 'sale_price'],
      ['sale_price has the format of price', product('p', { sale_price: '10' }), 'sale_price'],
      [
        'sale_price_effective_date has an offset',
        product('p', { sale_price: '10.00 USD', sale_price_effective_date: '2026-01-15T08:00/2026-01-31T20:00' }),
        'sale_price_effective_date'
      ],
      [
        'sale_price_effective_date is a range',
        product('p', { sale_price: '10.00 USD', sale_price_effective_date: 'soon' }),
        'sale_price_effective_date'
      ],
      ['gender is an enum', product('p', { gender: 'any' }), 'gender'],
      ['color has no hex codes', product('p', { color: '#ff0000' }), 'color'],
      ['age_group is an enum', product('p', { age_group: 'old' }), 'age_group']
    ]
    for (const [rule, input, field] of cases) {
      const [result] = await put(merchant, [input])
      assert.equal(result.status, 'ERROR', rule)
      assert.ok(result.errors[0].startsWith(field), `${rule}: ${result.errors[0]}`)
    }
    assert.deepEqual((await merchant.get('products')).data, [])
  })

  test(`${environment}: everything that the product table allows is taken without a warning`, async () => {
    const merchant = await givenMerchant(app, { environment })
    const image = (ending: string) => `https://shop.example/i.${ending}`
    const identified = (more: Json) => ({ brand: undefined, ...more })
    const allowed: Json[] = [
      { title: '👩🏽‍🚀'.repeat(150) },
      { description: '5'.repeat(5_000) },
      ...['in stock', 'available for order', 'preorder', 'out of stock', 'discontinued'].map((availability) => ({
        availability
      })),
      ...['new', 'used', 'refurbished'].map((condition) => ({ condition })),
      ...['20.00 USD', '1000 JPY', '1.234 KWD', '0.01 EUR'].map((price) => ({ price })),
      ...['jpg', 'gif', 'webp', 'png'].map((ending) => ({ image_link: image(ending) })),
      // UPC, EAN-13, EAN-8, JAN, ISBN-10, ISBN-13.
      ...['036000291452', '4006381333931', '96385074', '4901234567894', '0306406152', '9780306406157'].map((gtin) =>
        identified({ gtin })
      ),
      identified({ mpn: 'CS-1' }),
      { mobile_link: 'https://m.shop.example/1' },
      { additional_image_link: Array.from({ length: 10 }, (_, i) => image(`${i}.jpg`)).join(',') },
      { ext_product_category: 'Apparel & Accessories > Shoes' },
      { ext_product_category: '187' },
      { product_type: 'Shoes > Canvas > Low' },
      { inventory: 1 },
      { availability: 'out of stock', inventory: 0 },
      { sale_price: '19.99 USD' },
      ...['2026-01-15T08:00+01:00/2026-01-31T20:00-08:00', '2022-10-04T17:20:31.000Z/2022-10-10T04:00:00.000Z'].map(
        (sale_price_effective_date) => ({ sale_price: '19.99 USD', sale_price_effective_date })
      ),
      { item_group_id: 'shoes' },
      ...['female', 'male', 'unisex'].map((gender) => ({ gender })),
      { color: 'navy blue' },
      ...['large', 'XL', '42'].map((size) => ({ size })),
      ...['adult', 'all ages', 'teen', 'kids', 'toddler', 'infant', 'newborn'].map((age_group) => ({ age_group })),
      ...[0, 1, 2, 3, 4].map((i) => ({ [`custom_label_${i}`]: 'anything' }))
    ]
    const products = allowed.map((more, i) => product(`p${i}`, more))
    for (let at = 0; at < products.length; at += 25)
      for (const [i, { status, errors, warnings }] of (await put(merchant, products.slice(at, at + 25))).entries())
        assert.deepEqual([status, errors, warnings], ['CREATE_SUCCESS', [], []], JSON.stringify(allowed[at + i]))
  })

  test(`${environment}: at most 25 products, at least one, as a JSON array`, async () => {
    const merchant = await givenMerchant(app, { environment })
    const many = Array.from({ length: 26 }, (_, i) => product(`p${i}`))
    for (const [body, expected] of [
      [{}, ['MISSING_PARAMETER products']],
      [{ products: [] }, ['INVALID_PARAMETER products']],
      [{ products: 'all' }, ['INVALID_PARAMETER products']],
      [{ products: many }, ['INVALID_PARAMETER products']]
    ] as const) {
      const answer = await merchant.put('products', body)
      assert.deepEqual([answer.status, codes(answer)], [400, expected])
    }
    assert.equal((await put(merchant, many.slice(1))).length, 25)
    const [wrong, right] = await put(merchant, [7, product('right')])
    assert.deepEqual([wrong.status, wrong.id, right.status], ['ERROR', null, 'CREATE_SUCCESS'])
  })

  test(`${environment}: whole-request problems are 400, and numbers too large for JavaScript are no problem`, async () => {
    const merchant = await givenMerchant(app, { environment })
    const send = (payload: string, method = 'PUT') => {
      const headers = { authorization: `Bearer ${merchant.token}`, 'content-type': 'application/json' }
      return merchant.call(method, 'products', undefined, { payload, headers })
    }
    for (const payload of ['{"products":[', '"products"', '', '[]'])
      assert.equal((await send(payload)).status, 400, payload)
    const body = JSON.stringify({ products: [product('a'), { ...product('b'), id: 7 }] })

    const answer = await send(body.replace('"brand"', '"size":12345678901234567890,"brand"'))

    assert.equal(answer.status, 200, JSON.stringify(answer.body))
    const [large, number] = answer.data.products_response
    assert.match(large.errors[0], /^size "12345678901234567890" is not a string/)
    assert.deepEqual([number.id, number.status], ['7', 'ERROR'], 'which item it was is said')
    assert.match(number.errors[0], /^id "7" is not a string/)
  })

  test(`${environment}: a page has 1 to 100 products, 100 by default, and the cursor leads through all`, async () => {
    const merchant = await givenMerchant(app, { environment })
    await givenProducts(
      merchant,
      Array.from({ length: 105 }, (_, i) => product(`p${String(i).padStart(3, '0')}`))
    )

    const first = await merchant.get('products')
    assert.equal(first.data.length, 100)
    assert.equal(first.body.next_cursor, (BigInt(first.data.at(-1).product_key) + 1n).toString())
    const second = await merchant.get('products', { cursor: first.body.next_cursor, count: 5 })
    assert.deepEqual(second.body.request.params, {
      product_catalog_id: merchant.catalogId,
      count: 5,
      cursor: first.body.next_cursor
    })
    assert.equal(second.body.next_cursor, null)
    assert.deepEqual([...ids(first), ...ids(second)], ids(first).concat(['p100', 'p101', 'p102', 'p103', 'p104']))
    for (const query of [{ count: 0 }, { count: 101 }, { cursor: 'nonsense' }]) {
      const [parameter] = Object.keys(query)
      assert.deepEqual(codes(await merchant.get('products', query)), [`INVALID_PARAMETER ${parameter}`])
    }
  })

  test(`${environment}: a batch delete reports each key`, async () => {
    const merchant = await givenMerchant(app, { environment })
    const [a, b] = await givenProducts(merchant, [product('a'), product('b')])

    const keys = [a.product_key, '99', 'no key']
    const { status, body } = await merchant.remove('products', { product_keys: keys })

    assert.equal(status, 200)
    assert.deepEqual(body, {
      request: { params: { product_keys: keys } },
      data: {
        delete_products: [
          { product_key: a.product_key, failed_product_key: null, message: null },
          { product_key: null, failed_product_key: '99', message: 'product not found' },
          { product_key: null, failed_product_key: 'no key', message: 'product not found' }
        ]
      }
    })
    assert.deepEqual(ids(await merchant.get('products')), ['b'])
    const missing = await merchant.remove('products', {})
    assert.deepEqual([missing.status, codes(missing)], [400, ['MISSING_PARAMETER product_keys']])
    const foreign = await givenMerchant(app, { environment })
    const theirs = await foreign.remove('products', { product_keys: [b.product_key] })
    assert.equal(theirs.data.delete_products[0].message, 'product not found')
    assert.deepEqual(statuses(await put(merchant, [product('a')])), ['CREATE_SUCCESS'], 'a new product with a new key')
  })

  test(`${environment}: lists show the first submitted of a group; its key lists all`, async () => {
    const merchant = await givenMerchant(app, { environment })
    const grouped = (id: string, group: string) => product(id, { item_group_id: group })
    await givenProducts(merchant, [grouped('s', 'shirt'), product('alone'), grouped('lonely', 'one')])
    const before = await merchant.get('products')
    assert.deepEqual(
      before.data.map((each: Json) => [each.id, each.item_group_key]),
      [
        ['s', null],
        ['alone', null],
        ['lonely', null]
      ]
    )

    await givenProducts(merchant, [grouped('m', 'shirt'), grouped('l', 'shirt')])

    const list = await merchant.get('products')
    assert.deepEqual(ids(list), ['s', 'alone', 'lonely'])
    const key = list.data[0].item_group_key
    assert.match(key, /^[0-9]{19}$/)
    const members = await merchant.get('products', { item_group_key: key, count: 2 })
    assert.deepEqual(ids(members), ['s', 'm'])
    const rest = await merchant.get('products', { item_group_key: key, cursor: members.body.next_cursor })
    assert.deepEqual([ids(rest), rest.body.next_cursor], [['l'], null])
    assert.deepEqual((await merchant.get('products', { item_group_key: '1' })).data, [])

    await merchant.remove('products', { product_keys: [list.data[0].product_key] })
    assert.deepEqual(ids(await merchant.get('products')), ['alone', 'lonely', 'm'], 'the next one stands for the group')
    await givenProducts(merchant, [grouped('m', 'one')])
    const moved = await merchant.get('products')
    assert.deepEqual(ids(moved), ['alone', 'lonely', 'l'])
    assert.equal(moved.data[2].item_group_key, key, 'a group keeps its key')
    assert.notEqual(moved.data[1].item_group_key, null, 'and the other one has one now')
  })
}

test('a product key that is sent along must be the one of the id', async () => {
  const merchant = await givenMerchant(app)
  const [a, b] = await givenProducts(merchant, [product('a'), product('b')])

  const results = await put(merchant, [
    product('a', { product_key: a.product_key, title: 'New' }),
    product('b', { product_key: '1', title: 'New' }),
    product('c', { product_key: b.product_key }),
    product('d', { product_key: '77' }),
    product('e', { product_key: '' })
  ])

  assert.deepEqual(statuses(results), ['UPDATE_SUCCESS', 'ERROR', 'ERROR', 'CREATE_SUCCESS', 'CREATE_SUCCESS'])
  assert.match(results[2].errors[0], /belongs to the product with id "b"/)
  assert.match(results[3].warnings[0], /^product_key "77" was ignored/)
})

test('many requests at once for the same ids: one creates, none is lost, groups stay whole', async () => {
  const merchant = await givenMerchant(app)
  const ids = Array.from({ length: 10 }, (_, i) => `p${i}`)
  const batch = (n: number) => {
    const products = ids.map((id) => product(id, { title: `Title ${n}`, item_group_id: `g${(n + id.length) % 2}` }))
    return n % 2 === 0 ? products : products.reverse()
  }

  const answers = await Promise.all(Array.from({ length: 8 }, (_, n) => put(merchant, batch(n))))

  for (const id of ids) {
    const results = answers.flat().filter((result) => result.id === id)
    assert.deepEqual(
      statuses(results).filter((status) => status === 'CREATE_SUCCESS').length,
      1,
      `${id} was created once: ${statuses(results)}`
    )
    assert.equal(new Set(results.map((result) => result.product_key)).size, 1, 'and has one key')
  }
  const { rows } = await app.deps.database.pool.query(
    `select array_agg(distinct p.title) titles, array_agg(distinct p.item_group_id) groups,
       (select array_agg(item_group_id) from item_groups where catalog_id = $1) known,
       (select count(*)::int from item_groups g where catalog_id = $1 and first_product_key = (
         select min(product_key) from products q where q.catalog_id = $1 and q.item_group_id = g.item_group_id)) right_first
     from products p where catalog_id = $1`,
    [merchant.catalogId]
  )
  assert.equal(rows[0].titles.length, 1, 'the last batch stands as a whole')
  assert.deepEqual(rows[0].known, rows[0].groups)
  assert.equal(rows[0].right_first, 1)
})
