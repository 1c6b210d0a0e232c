/** A feed host in a process of its own: makes feeds of any size, and the same rows as lines for COPY. */
import { once } from 'node:events'
import { createReadStream, createWriteStream } from 'node:fs'
import http from 'node:http'
import type { AddressInfo } from 'node:net'
import path from 'node:path'
import { PRODUCT_FIELDS } from '../../src/catalog/product-fields.ts'
import { contentHash, productText } from '../../src/catalog/product-rows.ts'
import { validateFields } from '../../src/catalog/product-rules.ts'

const SHOP = 'https://shop.example.com'
const DESCRIPTIONS = Array.from({ length: 64 }, (_, i) =>
  `Light canvas shoes, series ${i}, made of cotton & rubber, for warm days. `.repeat(4).trim()
)

/** Row `i` of every feed; `round` makes another price. */
export function cells(i: number, round = 0): string[] {
  const cents = 2_000 + ((i * 7 + round) % 9_000)
  return [
    `sku-${i}`,
    `Canvas shoes, model ${i}${i % 10 === 0 ? ' – größe' : ''}`,
    DESCRIPTIONS[i % 64]!,
    'in stock',
    'new',
    `${Math.floor(cents / 100)}.${String(cents % 100).padStart(2, '0')} USD`,
    `${SHOP}/products/canvas-shoes-${i}?ref=feed`,
    `${SHOP}/i/${i}/1.jpg`,
    'Acme',
    '4006381333931',
    `CS-${i}`,
    `${SHOP}/m/${i}`,
    `${SHOP}/i/${i}/2.jpg,${SHOP}/i/${i}/3.jpg`,
    'Apparel & Accessories > Shoes',
    'Shoes > Canvas',
    `${1 + (i % 50)}`,
    i % 4 === 0 ? '10.50 USD' : '',
    i % 4 === 0 ? '2026-01-15T08:00+01:00/2026-01-31T20:00+01:00' : '',
    `group-${i >> 2}`,
    'unisex',
    'navy blue',
    '42',
    'adult',
    'summer',
    '',
    '',
    '',
    ''
  ]
}

const quoted = (cell: string) => (cell.includes(',') ? `"${cell}"` : cell)
const csvLine = (i: number, round: number) => `${cells(i, round).map(quoted).join(',')}\r\n`
/** As many bytes as an average row has, to turn a size into a number of rows. */
export const rowsFor = (bytes: number) => Math.round(bytes / (Buffer.byteLength(csvLine(123_457, 0)) + 20))

/** As the import itself stages it. */
function copyLine(i: number, round: number) {
  const { product } = validateFields(cells(i, round))
  const text = productText(product!)
  const { price_amount, price_currency, sale_price_amount } = product!
  return `${i}\t0\t${contentHash(text)}\t${price_amount}\t${price_currency}\t${sale_price_amount ?? '\\N'}\t${text}\n`
}

async function write(file: string, rows: number, header: string, line: (i: number) => string) {
  const out = createWriteStream(file, { highWaterMark: 1024 * 1024 })
  for (let i = 0, text = header; i < rows || text !== ''; text = '') {
    for (; i < rows && text.length < 64 * 1024; i++) text += line(i)
    if (!out.write(text)) await once(out, 'drain')
  }
  out.end()
  await once(out, 'close')
}

/** Made beforehand, so that making it is no part of what is measured. */
async function prepare({ directory, rows }: PrepareCommand) {
  for (const round of [0, 1]) {
    await write(path.join(directory, `feed-${round}.csv`), rows, `${PRODUCT_FIELDS.join(',')}\r\n`, (i) =>
      csvLine(i, round)
    )
  }
  await write(path.join(directory, 'copy.txt'), rows, '', (i) => copyLine(i, 0))
}

export interface PrepareCommand {
  directory: string
  rows: number
}

if (import.meta.main) {
  let directory = ''
  const server = http.createServer((req, res) => {
    createReadStream(path.join(directory, path.basename(req.url ?? '')), { highWaterMark: 256 * 1024 }).pipe(res)
  })
  server.listen(0, '127.0.0.1', () => process.send?.({ port: (server.address() as AddressInfo).port }))
  process.on('message', async (command: PrepareCommand) => {
    directory = command.directory
    await prepare(command)
    process.send?.({ prepared: true })
  })
  process.on('disconnect', () => process.exit(0))
}
