import assert from 'node:assert/strict'
import { test } from 'node:test'
import fc from 'fast-check'
import { PRODUCT_FIELDS } from '../product-fields.ts'
import { validateFields } from '../product-rules.ts'
import { readCsv, readTsv } from './csv.ts'
import type { FeedBatch } from './rows.ts'

const header = 'id,title,description,availability,condition,price,link,image_link,brand'
const shoes = (id: string) =>
  `${id},Canvas shoes,Light,in stock,new,20.00 USD,https://shop.example/p,https://shop.example/i.jpg,Acme`

async function* chunksOf(bytes: Buffer, size = bytes.length || 1) {
  for (let at = 0; at < bytes.length; at += size) yield bytes.subarray(at, at + size)
}

async function read(content: string | Buffer, { size, as = readCsv }: { size?: number; as?: typeof readCsv } = {}) {
  const whole: FeedBatch = { rows: [], rejected: [], warnings: [], columns: [], bytes: 0 }
  for await (const batch of as(chunksOf(Buffer.from(content), size))) {
    whole.rows.push(...batch.rows)
    whole.rejected.push(...batch.rejected)
    whole.warnings.push(...batch.warnings)
    whole.columns = batch.columns
    whole.bytes = batch.bytes
  }
  return whole
}

test('reads rows into the fields of a product', async () => {
  const { rows, rejected, warnings, columns, bytes } = await read(`${header}\n${shoes('1')}\n${shoes('2')}\n`)

  assert.deepEqual({ rejected, warnings }, { rejected: [], warnings: [] })
  assert.deepEqual(
    rows.map(({ row, line, fields }) => [row, line, fields[0]]),
    [
      [2, 2, '1'],
      [3, 3, '2']
    ]
  )
  assert.deepEqual(validateFields(rows[0]!.fields).errors, [])
  assert.equal(columns[PRODUCT_FIELDS.indexOf('price')], 6)
  assert.equal(bytes, header.length + 1 + 2 * (shoes('1').length + 1))
})

test('reads a file the same way whatever its line ends, and without one at its end', async () => {
  const expected = (await read(`${header}\n${shoes('1')}\n${shoes('2')}\n`)).rows
  for (const eol of ['\n', '\r\n', '\r']) {
    assert.deepEqual((await read([header, shoes('1'), shoes('2')].join(eol))).rows, expected)
    assert.deepEqual((await read([header, shoes('1'), shoes('2'), ''].join(eol))).rows, expected)
  }
})

test('passes over a byte order mark', async () => {
  const { rows, warnings } = await read(`\uFEFF${header}\n${shoes('1')}\n`, { size: 2 })

  assert.deepEqual([rows.length, warnings.length], [1, 0])
})

test('reads quoted commas, quotes and line breaks', async () => {
  const row = shoes('1').replace('Light', '"Light, ""airy""\r\nand soft"')

  const { rows } = await read(`${header}\r\n${row}\r\n`)

  assert.equal(rows[0]!.fields[2], 'Light, "airy"\r\nand soft')
})

test('reads TSV', async () => {
  const { rows } = await read(`${header}\n${shoes('1')}\n`.replaceAll(',', '\t'), { as: readTsv })

  assert.deepEqual(
    rows.map(({ fields }) => fields[8]),
    ['Acme']
  )
})

test('reads the same rows in chunks of any size, through the middle of a character too', async () => {
  const content = Buffer.from(
    `${header}\n${shoes('größe-日本-😀')}\n${shoes('2').replace('Light', '"a ""日本""\n"')}\n`
  )
  const expected = await read(content)

  assert.equal(expected.rows[0]!.fields[0], 'größe-日本-😀')
  await fc.assert(
    fc.asyncProperty(fc.integer({ min: 1, max: 70 }), async (size) =>
      assert.deepEqual(await read(content, { size }), expected)
    ),
    { numRuns: 30 }
  )
})

test('cuts a huge chunk into batches of bounded size', async () => {
  const content = Buffer.from(`${header}\n${`${shoes('1')}\n`.repeat(8000)}`)
  let rows = 0
  for await (const batch of readCsv(chunksOf(content))) {
    assert.ok(batch.rows.length < 3000)
    rows += batch.rows.length
  }

  assert.equal(rows, 8000)
})

test('skips blank rows but counts them', async () => {
  const { rows, rejected } = await read(`\n${header}\n\n${shoes('1')}\n,,,,,,,,\n\n${shoes('2')}\n\n`)

  assert.deepEqual(rejected, [])
  assert.deepEqual(
    rows.map(({ row }) => row),
    [4, 7]
  )
})

test('rejects a row with too few or too many columns, names both counts and keeps the row', async () => {
  const { rows, rejected } = await read(`${header}\n1,Shoes\n${shoes('2')}\n${shoes('3')},more\n`)

  assert.deepEqual(
    rows.map(({ fields }) => fields[0]),
    ['2']
  )
  assert.deepEqual(
    rejected.map(({ row, line, column, raw }) => [row, line, column, raw]),
    [
      [2, 2, null, '1,Shoes'],
      [4, 4, null, `${shoes('3')},more`]
    ]
  )
  assert.match(rejected[0]!.issue.message, /Row 2 has 2 columns, but the header has 9\./)
  assert.match(rejected[1]!.issue.message, /Row 4 has 10 columns, but the header has 9\./)
})

test('rejects a row with a stray quote and names the column and its field', async () => {
  const { rows, rejected } = await read(
    `${header}\n${shoes('1').replace('Light', '"Light" and airy')}\n${shoes('2')}\n`
  )

  assert.deepEqual(
    rows.map(({ fields }) => fields[0]),
    ['2']
  )
  assert.deepEqual([rejected[0]!.column, rejected[0]!.issue.field], [3, 'description'])
  assert.match(rejected[0]!.issue.message, /Row 2, column 3 \(description\)/)
})

test('warns of unknown columns once', async () => {
  const { warnings } = await read(`${header},colour\n${`${shoes('1')},red\n`.repeat(50)}`, { size: 100 })

  assert.deepEqual(
    warnings.map(({ code }) => code),
    ['UNKNOWN_COLUMN']
  )
})

const thirdRow = `${header}\n${shoes('1')}\n`.length
const broken: [name: string, content: string | Buffer, code: string, at: object][] = [
  ['an empty file', '', 'EMPTY_FILE', {}],
  ['a file of blank lines', '\n\n', 'EMPTY_FILE', {}],
  ['a file without required columns', 'id,title\n', 'MISSING_COLUMN', { row: 1 }],
  ['a file with a column twice', `${header},id\n`, 'DUPLICATE_COLUMN', { row: 1, column: 10 }],
  ['100,000 columns', `${header}${',x'.repeat(100_000)}\n`, 'TOO_MANY_COLUMNS', { row: 1, line: 1 }],
  ['a quote open at the end', `${header}\n"${shoes('1')}\n`, 'UNCLOSED_QUOTE', { row: 2, line: 2, column: 1 }],
  ['a NUL byte', `${header}\n${shoes('1')}\n${shoes('\0')}\n`, 'NUL_BYTE', { row: 3, line: 3, byte: thirdRow }],
  ['UTF-16', Buffer.from(`${header}\n`, 'utf16le'), 'NUL_BYTE', { row: 1, line: 1, byte: 1 }],
  [
    'Latin-1',
    Buffer.from(`${header}\n${shoes('1')}\n${shoes('größe')}\n`, 'latin1'),
    'NOT_UTF8',
    { row: 3, line: 3, byte: thirdRow + 2 }
  ],
  [
    'half a character at the end',
    Buffer.concat([Buffer.from(`${header}\n`), Buffer.of(0xe6, 0x97)]),
    'NOT_UTF8',
    { row: 2, line: 2, byte: 72 }
  ],
  [
    'a field above 1 MB',
    `${header}\n${'x'.repeat(1024 * 1024 + 1)},\n`,
    'FIELD_TOO_LONG',
    { row: 2, line: 2, column: 1 }
  ],
  ['a row above 4 MB', `${header}\n${'xxxxxxx,'.repeat(1024 * 512)},\n`, 'ROW_TOO_LONG', { row: 2, line: 2 }]
]

for (const [name, content, code, at] of broken) {
  test(`stops at ${name} with ${code} and its place, in chunks of any size`, async () => {
    for (const size of [undefined, 65_536, 1000]) {
      await assert.rejects(read(content, { size }), (error: { code: string; at: object; message: string }) => {
        assert.deepEqual([error.code, error.at], [code, at])
        return error.message.endsWith('.')
      })
    }
  })
}

test('gives up an unclosed quote soon, however much follows', async () => {
  let taken = 0
  async function* endless() {
    yield Buffer.from(`${header}\n${shoes('1')}\n2,"Canvas`)
    const filler = Buffer.alloc(65_536, 'x,y\n')
    for (; taken < 1024 ** 3; taken += filler.length) yield filler
  }
  const reading = async () => {
    for await (const _ of readCsv(endless()));
  }

  await assert.rejects(reading(), {
    code: 'UNCLOSED_QUOTE',
    at: { row: 3, line: 3, column: 2 },
    message: /opens in row 3, column 2/
  })
  assert.ok(taken < 4 * 1024 ** 2, `${taken} bytes taken`)
})

test('reads rows just below the limits in time that grows with the file only', async () => {
  const big = Array(3)
    .fill('y'.repeat(1024 * 1024))
    .join('","')
  const content = Buffer.from(`${header}\n${`"${big}",,,,,,\n`.repeat(8)}`)
  const started = performance.now()

  const { rows, rejected } = await read(content, { size: 16_384 })

  assert.deepEqual([rows.length, rejected.length], [8, 0])
  assert.ok(performance.now() - started < 3000)
})
