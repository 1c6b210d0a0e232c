/** What the catalog pages of the console work out by themselves: files made ready for a check, messages for their fields. */
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { gzipSync } from 'node:zlib'
import { beginningOf, formatOf } from '../console/src/pages/catalog/feed-file.ts'
import { inWords, problemOfFilter, withAttribute } from '../console/src/pages/catalog/filters.ts'
import { byField, draftOf, productOf } from '../console/src/pages/catalog/product-fields.ts'

const file = (content: string | Buffer, name = 'f.csv') => new File([new Uint8Array(Buffer.from(content))], name)

test('a small file is sent whole, packed or not', async () => {
  const text = 'id,title\r\n1,"Ünder ""the"" sea"\r\n'
  assert.deepEqual(await beginningOf(file(text), 'CSV'), { text, isWhole: true })
  assert.deepEqual(await beginningOf(file(gzipSync(text), 'f.csv.gz'), 'CSV'), { text, isWhole: true })
})

test('a large file is cut behind a whole row, small enough for a request', async () => {
  const row = `"${'ü'.repeat(400)}","a ""quoted"" word"\r\n`
  const { text, isWhole } = await beginningOf(file(row.repeat(20_000)), 'CSV')

  assert.equal(isWhole, false)
  assert.equal(text.length % row.length, 0)
  const bytes = Buffer.byteLength(JSON.stringify({ feed_format: 'CSV', sample: text }))
  assert.ok(bytes < 5_000_000 && bytes > 4_000_000, `${bytes}`)
})

test('what cannot be judged by its beginning, or not at all, is said so', async () => {
  await assert.rejects(beginningOf(file(`<rss>${' '.repeat(6_000_000)}</rss>`), 'XML'), /address/)
  await assert.rejects(beginningOf(file('x'.repeat(6_000_000)), 'CSV'), /first row/)
  await assert.rejects(beginningOf(file(Buffer.from('id\r\nM\xfcnchen\r\n', 'latin1')), 'CSV'), /not UTF-8/)
})

test('formats are told by names of files and addresses', () => {
  const names = ['a.CSV', 'https://x.example/f.xml?v=1', 'a.tsv.gz', 'products.txt', 'feed']
  assert.deepEqual(names.map(formatOf), ['CSV', 'XML', 'TSV', 'TSV', undefined])
})

test('messages of a batch go to the fields they name, the others to the product', () => {
  const { fields, rest } = byField([
    'price "x" is not a number.',
    'sale_price "y" is not lower.',
    'price is zero.',
    'The item is not a JSON object.'
  ])
  assert.deepEqual(fields, {
    price: 'price "x" is not a number. price is zero.',
    sale_price: 'sale_price "y" is not lower.'
  })
  assert.deepEqual(rest, ['The item is not a JSON object.'])
})

test('a product goes through the form unchanged, and what is emptied is left out', () => {
  const draft = draftOf({ id: 'a', title: 'T', inventory: 0, brand: null })
  assert.deepEqual(productOf(draft), { id: 'a', title: 'T', inventory: '0' })
  assert.deepEqual(productOf({ ...draft, title: ' ' }), { id: 'a', inventory: '0' })
})

test('filters read as sentences, and the server’s words find the one they are about', () => {
  const price = { attribute: 'price', operator: 'GREATER_THAN', value: '5.00 USD' }
  assert.equal(inWords(price), 'Price is more than 5.00 USD')
  assert.deepEqual(withAttribute(price, 'sale_price'), { ...price, attribute: 'sale_price' })
  assert.deepEqual(withAttribute(price, 'product_type'), { attribute: 'product_type', operator: 'CONTAINS', value: '' })
  const message = 'filters[0].value "5" must be a price. filters[2].value "x" must be a whole number.'
  assert.equal(problemOfFilter(message, 0), 'Value "5" must be a price.')
  assert.equal(problemOfFilter(message, 1), undefined)
  assert.equal(problemOfFilter(message, 2), 'Value "x" must be a whole number.')
})
