import assert from 'node:assert/strict'
import { test } from 'node:test'
import fc from 'fast-check'
import { PRODUCT_FIELDS, type ProductField } from '../product-fields.ts'
import { validateFields } from '../product-rules.ts'
import { FEED_LIMITS, type FeedBatch, type FeedLimits, type FeedRow } from './rows.ts'
import { readXml } from './xml.ts'

const item = (
  id: string,
  more = ''
) => `<item><g:id>${id}</g:id><title>Canvas shoes</title><description>Light</description>
  <g:availability>in stock</g:availability><g:condition>new</g:condition><g:price>20.00 USD</g:price>
  <link>https://shop.example/p</link><g:image_link>https://shop.example/i.jpg</g:image_link><g:brand>Acme</g:brand>${more}</item>`
const rss = (items: string, head = '<?xml version="1.0" encoding="UTF-8"?>\n') =>
  `${head}<rss version="2.0" xmlns:g="http://base.google.com/ns/1.0"><channel><title>Shop</title>${items}</channel></rss>`
const atom = (entries: string) =>
  `<feed xmlns="http://www.w3.org/2005/Atom" xmlns:g="http://base.google.com/ns/1.0"><title>Shop</title>${entries}</feed>`

async function read(content: string | Buffer, size?: number, limits?: FeedLimits) {
  const bytes = Buffer.from(content)
  const whole: FeedBatch = { rows: [], rejected: [], warnings: [], columns: [], bytes: 0 }
  async function* chunks() {
    for (let at = 0; at < bytes.length; at += size ?? bytes.length)
      yield bytes.subarray(at, at + (size ?? bytes.length))
  }
  for await (const batch of readXml(chunks(), limits)) {
    whole.rows.push(...batch.rows)
    whole.warnings.push(...batch.warnings)
    whole.bytes = batch.bytes
  }
  return whole
}

const value = (row: FeedRow | undefined, field: ProductField) => row?.fields[PRODUCT_FIELDS.indexOf(field)]
const only = async (content: string) => (await read(content)).rows[0]

test('reads the items of RSS into the fields of a product', async () => {
  const { rows, warnings, bytes } = await read(rss(item('1') + item('2')))

  assert.deepEqual(warnings, [])
  assert.deepEqual(
    rows.map(({ row, line, fields }) => [row, line, fields[0]]),
    [
      [1, 2, '1'],
      [2, 4, '2']
    ]
  )
  assert.deepEqual(validateFields(rows[0]!.fields).errors, [])
  assert.equal(bytes, rss(item('1') + item('2')).length)
})

test('reads the entries of Atom, with the link in an attribute and the summary as description', async () => {
  const { rows, warnings } = await read(
    atom(`<entry><id>tag:shop,2026:1</id><updated>2026-01-01T00:00:00Z</updated><g:id>1</g:id><title>Shoes</title>
      <link rel="self" href="https://shop.example/self"/><link href="https://shop.example/p"/><summary>Light</summary></entry>`)
  )

  assert.deepEqual(warnings, [])
  const [row] = rows
  assert.deepEqual(
    (['id', 'title', 'link', 'description'] as const).map((field) => value(row, field)),
    ['1', 'Shoes', 'https://shop.example/p', 'Light']
  )
})

test('knows the shopping namespace whatever its prefix, and no other under that prefix', async () => {
  const other = await only(
    '<rss xmlns:x="http://base.google.com/ns/1.0" xmlns:g="urn:other"><channel><item><x:id>1</x:id><g:price>1 USD</g:price></item></channel></rss>'
  )

  assert.equal(value(other, 'id'), '1')
  assert.equal(value(other, 'price'), '')
})

test('reads RSS whose elements have no namespace at all', async () => {
  const row = await only('<rss><channel><item><id>1</id><price>20.00 USD</price></item></channel></rss>')

  assert.deepEqual([value(row, 'id'), value(row, 'price')], ['1', '20.00 USD'])
})

test('prefers an element of the shopping namespace to a plain one, in either order', async () => {
  for (const more of [
    '<title>plain</title><g:title>shopping</g:title>',
    '<g:title>shopping</g:title><title>plain</title>'
  ]) {
    assert.equal(value(await only(rss(`<item>${more}</item>`)), 'title'), 'shopping')
  }
})

test('joins repeated additional images and knows the taxonomy field by its name in shopping feeds', async () => {
  const row = await only(
    rss(
      item(
        '1',
        '<g:additional_image_link>https://a.example/1.jpg</g:additional_image_link><g:additional_image_link> https://a.example/2.jpg </g:additional_image_link><g:google_product_category>166</g:google_product_category>'
      )
    )
  )

  assert.equal(value(row, 'additional_image_link'), 'https://a.example/1.jpg,https://a.example/2.jpg')
  assert.equal(value(row, 'ext_product_category'), '166')
})

test('decodes entities, character references and CDATA', async () => {
  const row = await only(rss('<item><title>Tom &amp; Jerry &#8364; &#x20AC;<![CDATA[ <b> & ]]>!</title></item>'))

  assert.equal(value(row, 'title'), 'Tom & Jerry € € <b> & !')
})

test('ignores nested structures such as shipping, with one warning for the file', async () => {
  const shipping = '<g:shipping><g:country>US</g:country><g:price>5.00 USD</g:price></g:shipping>'

  const { rows, warnings } = await read(rss(item('1', shipping) + item('2', shipping)))

  assert.equal(value(rows[1], 'price'), '20.00 USD')
  assert.deepEqual(
    warnings.map(({ code, value }) => [code, value]),
    [['UNKNOWN_ELEMENT', 'g:shipping']]
  )
})

test('passes over the elements of RSS itself and of other vocabularies without a word', async () => {
  const more =
    '<guid>1</guid><pubDate>x</pubDate><media:thumbnail xmlns:media="http://search.yahoo.com/mrss/" url="x"/>'

  assert.deepEqual((await read(rss(item('1', more)))).warnings, [])
})

test('warns when a field is given twice and takes the first', async () => {
  const { rows, warnings } = await read(rss(item('1', '<g:price>30.00 USD</g:price>')))

  assert.equal(value(rows[0], 'price'), '20.00 USD')
  assert.deepEqual(
    warnings.map(({ code, field }) => [code, field]),
    [['REPEATED_ELEMENT', 'price']]
  )
})

test('lets the product rules see markup inside a description', async () => {
  const row = await only(rss(item('1').replace('Light', '<p>Light</p>')))

  assert.deepEqual(
    validateFields(row!.fields).errors.map(({ code }) => code),
    ['HTML_NOT_ALLOWED']
  )
})

test('reads the same in chunks of any size, through the middle of a character too', async () => {
  const content = `\uFEFF${rss(item('größe-日本-😀') + item('2', '<x>é</x>'))}`
  const expected = await read(content)

  assert.equal(expected.rows[0]!.fields[0], 'größe-日本-😀')
  await fc.assert(
    fc.asyncProperty(fc.integer({ min: 1, max: 60 }), async (size) =>
      assert.deepEqual(await read(content, size), expected)
    ),
    { numRuns: 30 }
  )
})

const doctype = (subset: string) =>
  rss('<item><title>&x;</title></item>', `<?xml version="1.0"?><!DOCTYPE rss ${subset}>`)
const laughs = `[<!ENTITY a "ha">${Array.from({ length: 9 }, (_, i) => `<!ENTITY ${'bcdefghij'[i]} "${`&${'abcdefghi'[i]};`.repeat(10)}">`).join('')}<!ENTITY x "&j;">]`

const small = { ...FEED_LIMITS, fieldBytesMax: 100_000, rowBytesMax: 200_000 }
const broken: [name: string, content: string | Buffer, code: string, message: RegExp][] = [
  ['an external entity', doctype('[<!ENTITY x SYSTEM "file:///etc/passwd">]'), 'DOCTYPE', /line 1.*document type/],
  ['an external document type', doctype('SYSTEM "https://evil.example/x.dtd"'), 'DOCTYPE', /never read/],
  ['a billion laughs', doctype(laughs), 'DOCTYPE', /document type/],
  [
    'an unknown entity',
    rss('<item><title>10&nbsp;cm</title></item>'),
    'NOT_WELL_FORMED',
    /item 1, line 2.*write the character itself/
  ],
  [
    'a prefix that is not declared',
    '<rss><channel><item><g:id>1</g:id></item></channel></rss>',
    'NOT_WELL_FORMED',
    /xmlns:g=/
  ],
  ['tags that do not match', rss('<item><title>x</item>'), 'NOT_WELL_FORMED', /item 1, line 2/],
  ['a file that breaks off', rss(item('1')).slice(0, -20), 'NOT_WELL_FORMED', /unclosed tag/],
  ['an empty file', '', 'EMPTY_FILE', /empty/],
  ['a file of blanks', '  \n', 'NOT_WELL_FORMED', /root element/],
  ['text that is no XML', 'id,title\n1,Shoes\n', 'NOT_WELL_FORMED', /line 3/],
  ['another vocabulary', '<products><product/></products>', 'UNKNOWN_XML', /<products>.*RSS 2\.0.*Atom/],
  ['deep nesting', rss(`<item>${'<a>'.repeat(40)}`), 'TOO_DEEP', /32 deep/],
  ['a NUL byte', rss(item('1\0')), 'NUL_BYTE', /offset 139 \(line 2\)/],
  ['Latin-1 that does not say so', Buffer.from(rss(item('größe')), 'latin1'), 'NOT_UTF8', /byte 0xF6 at offset 140/],
  [
    'Latin-1 that says so',
    Buffer.from(rss(item('größe'), '<?xml version="1.0" encoding="ISO-8859-1"?>'), 'latin1'),
    'NOT_UTF8',
    /ISO-8859-1/
  ],
  ['a character that XML forbids', rss(item('1\u0001')), 'NOT_WELL_FORMED', /disallowed character/],
  ['half a character at the end', Buffer.concat([Buffer.from(rss('')), Buffer.of(0xe6, 0x97)]), 'NOT_UTF8', /0xE6/],
  ['an endless text', rss(`<item><title>${'x'.repeat(200_000)}</title></item>`), 'FIELD_TOO_LONG', /item 1/],
  ['an endless tag', rss(`<item ${'x'.repeat(200_000)}="1"/>`), 'FIELD_TOO_LONG', /tag/],
  ['an endless comment', rss(`<!--${'x'.repeat(200_000)}-->`), 'FIELD_TOO_LONG', /comment/],
  ['an endless document type', `<!DOCTYPE rss [${' '.repeat(200_000)}]><rss/>`, 'FIELD_TOO_LONG', /line 1/],
  ['an item that never ends', rss(`<item>${'<a>x</a>'.repeat(60_000)}`), 'ROW_TOO_LONG', /item 1/]
]

for (const [name, content, code, message] of broken) {
  test(`stops at ${name} with ${code}, in chunks of any size`, async () => {
    for (const size of [undefined, 1000]) {
      await assert.rejects(read(content, size, small), (error: { code: string; message: string }) => {
        assert.equal(error.code, code, error.message)
        assert.match(error.message, message)
        return true
      })
    }
  })
}
