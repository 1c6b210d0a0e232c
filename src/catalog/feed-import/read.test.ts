import assert from 'node:assert/strict'
import { test } from 'node:test'
import { gzipSync } from 'node:zlib'
import type { FeedFormat } from './detect.ts'
import { readFeed } from './read.ts'

const cells = {
  id: 'größe-1',
  title: 'Canvas shoes',
  description: 'Light',
  availability: 'in stock',
  condition: 'new',
  price: '20.00 USD',
  link: 'https://shop.example/p',
  image_link: 'https://shop.example/i.jpg',
  brand: 'Acme'
}
const lines = (separator: string) => `${Object.keys(cells).join(separator)}\n${Object.values(cells).join(separator)}\n`
const files: Record<FeedFormat, string> = {
  CSV: lines(','),
  TSV: lines('\t'),
  XML: `<rss xmlns:g="http://base.google.com/ns/1.0"><channel><item>${Object.entries(cells)
    .map(([name, value]) => `<g:${name}>${value}</g:${name}>`)
    .join('')}</item></channel></rss>`
}

test('reads one product to the same fields from every format, packed or not', async () => {
  const read: unknown[] = []
  for (const [format, content] of Object.entries(files)) {
    for (const bytes of [Buffer.from(content), gzipSync(content)]) {
      async function* source() {
        for (let at = 0; at < bytes.length; at += 50) yield bytes.subarray(at, at + 50)
      }
      for await (const { rows, rejected, warnings } of readFeed(source(), format as FeedFormat)) {
        assert.deepEqual([rejected, warnings], [[], []])
        for (const { fields } of rows) read.push(fields.filter(Boolean))
      }
    }
  }

  assert.deepEqual(read, Array(6).fill(Object.values(cells)))
})
