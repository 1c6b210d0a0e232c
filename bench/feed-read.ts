/**
 * Bench `feed-read`: the part of an import that is ours alone, without a database. Rows per second of a feed read and
 * validated on one core, against cutting the same bytes at line ends and commas without looking at them.
 */
import { pathToFileURL } from 'node:url'
import { readFeed } from '../src/catalog/feed-import/read.ts'
import { PRODUCT_FIELDS } from '../src/catalog/product-fields.ts'
import { validateFields } from '../src/catalog/product-rules.ts'

const ROWS = 40_000
const ROUNDS = 5
const CHUNK_BYTES = 64 * 1024
const BARS = { validated_rows_per_second_min: 150_000, csv_megabytes_per_second_min: 150 }

function product(i: number): string[] {
  const shop = 'https://shop.example.com'
  const more = [`${shop}/i/${i}/2.jpg`, `${shop}/i/${i}/3.jpg`].join(',')
  const description = `Light canvas shoes number ${i}, made of cotton & rubber, for warm days. `.repeat(4)
  return [
    `sku-${i}`,
    `Canvas shoes, model ${i}${i % 10 === 0 ? ' – größe' : ''}`,
    description,
    'in stock',
    'new',
    `${20 + (i % 100)}.${10 + (i % 90)} USD`,
    `${shop}/products/canvas-shoes-${i}?ref=feed`,
    `${shop}/i/${i}/1.jpg`,
    'Acme',
    '4006381333931',
    `CS-${i}`,
    `${shop}/m/${i}`,
    more,
    'Apparel & Accessories > Shoes',
    'Shoes > Canvas',
    `${1 + (i % 50)}`,
    i % 4 === 0 ? `${10 + (i % 9)}.50 USD` : '',
    i % 4 === 0 ? '2026-01-15T08:00+01:00/2026-01-31T20:00+01:00' : '',
    `group-${i >> 2}`,
    'unisex',
    'navy blue',
    '42',
    'adult',
    'summer',
    ...['', '', '', '']
  ]
}

const quoted = (cell: string) => (cell.includes(',') ? `"${cell}"` : cell)
const escaped = (cell: string) => cell.replaceAll('&', '&amp;').replaceAll('>', '&gt;')

async function* chunksOf(bytes: Buffer) {
  for (let at = 0; at < bytes.length; at += CHUNK_BYTES) yield bytes.subarray(at, at + CHUNK_BYTES)
}

/** Rows per second of the best round; the others show what else the machine was doing. */
async function bestRate(round: () => Promise<number> | number): Promise<number> {
  let best = 0
  for (let i = 0; i < ROUNDS; i++) {
    const started = performance.now()
    const rows = await round()
    best = Math.max(best, (rows / (performance.now() - started)) * 1000)
  }
  return Math.round(best)
}

async function readAll(bytes: Buffer, format: 'CSV' | 'XML', validate: boolean): Promise<number> {
  let rows = 0
  for await (const batch of readFeed(chunksOf(bytes), format)) {
    if (!validate) rows += batch.rows.length
    else for (const { fields } of batch.rows) if (validateFields(fields).product) rows++
  }
  return rows
}

export default async function bench() {
  const products = Array.from({ length: ROWS }, (_, i) => product(i))
  const csv = Buffer.from([PRODUCT_FIELDS, ...products].map((row) => row.map(quoted).join(',')).join('\r\n'))
  const items = products.map(
    (row) =>
      `<item>${row.map((cell, i) => cell && `<g:${PRODUCT_FIELDS[i]}>${escaped(cell)}</g:${PRODUCT_FIELDS[i]}>`).join('')}</item>`
  )
  const xml = Buffer.from(
    `<rss version="2.0" xmlns:g="http://base.google.com/ns/1.0"><channel>${items.join('\n')}</channel></rss>`
  )

  const splitRate = await bestRate(() => {
    let rows = 0
    for (let at = 0; at < csv.length; at += CHUNK_BYTES) {
      for (const line of csv.toString('utf8', at, at + CHUNK_BYTES).split('\n')) if (line.split(',').length > 20) rows++
    }
    return rows
  })
  const validateRate = await bestRate(() => products.filter((row) => validateFields(row).product !== null).length)
  const csvRate = await bestRate(() => readAll(csv, 'CSV', false))
  const csvAndRulesRate = await bestRate(() => readAll(csv, 'CSV', true))
  const xmlRate = await bestRate(() => readAll(xml, 'XML', false))

  const megabytesPerRow = csv.length / ROWS / 1e6
  console.log(
    JSON.stringify({
      bench: 'feed-read',
      bytes_per_row: Math.round(csv.length / ROWS),
      validated_rows_per_second: validateRate,
      csv_rows_per_second: csvRate,
      csv_megabytes_per_second: Math.round(csvRate * megabytesPerRow),
      csv_read_and_validated_rows_per_second: csvAndRulesRate,
      xml_rows_per_second: xmlRate,
      reference_split_rows_per_second: splitRate,
      ratio_to_split: Number((csvAndRulesRate / splitRate).toFixed(2)),
      bars: BARS,
      pass:
        validateRate >= BARS.validated_rows_per_second_min &&
        csvRate * megabytesPerRow >= BARS.csv_megabytes_per_second_min
    })
  )
}

if (import.meta.url === pathToFileURL(process.argv[1] ?? '').href) await bench()
