import assert from 'node:assert/strict'
import { test } from 'node:test'
import { parse } from 'csv-parse/sync'
import fc from 'fast-check'
import { COMMA, DelimitedScanner, type Layout, type Scanned, TAB } from './delimited-scanner.ts'
import { FEED_LIMITS } from './rows.ts'

const allColumns: Layout = { targets: Int16Array.from({ length: 50 }, (_, i) => i), width: -1, unset: [] }

/** All rows of a text, read in chunks of the given sizes in turn; blank rows are left out. */
function rowsOf(text: string, delimiter = COMMA, chunkBytes = [Infinity]) {
  const bytes = Buffer.from(text)
  const scanner = new DelimitedScanner(delimiter, FEED_LIMITS)
  const found: Scanned = { rows: [], malformed: [] }
  let rest = Buffer.alloc(0)
  for (let at = 0, turn = 0; at < bytes.length; turn++) {
    const size = chunkBytes[turn % chunkBytes.length]!
    const chunk = Buffer.concat([rest, bytes.subarray(at, at + size)])
    at += size
    rest = chunk.subarray(scanner.scan(chunk, 0, false, allColumns, found))
  }
  scanner.scan(rest, 0, true, allColumns, found)
  return { rows: found.rows.map(({ fields }) => [...fields].map((field) => field ?? '')), found, scanner }
}

/** As the library reads it, or undefined when it finds the text malformed. Trailing empty cells are not told apart. */
function rowsByLibrary(text: string, delimiter: string): string[][] | undefined {
  try {
    const rows: string[][] = parse(text, {
      delimiter,
      record_delimiter: ['\r\n', '\n', '\r'],
      relax_column_count: true,
      skip_empty_lines: true
    })
    return rows.filter((row) => row.some((cell) => cell !== '')).map(withoutTrailingEmpty)
  } catch {
    return undefined
  }
}

const withoutTrailingEmpty = (row: string[]) => row.slice(0, row.findLastIndex((cell) => cell !== '') + 1)

const anyChunks = fc.array(fc.integer({ min: 1, max: 9 }), { minLength: 1, maxLength: 5 })

for (const [name, delimiter, code] of [
  ['CSV', ',', COMMA],
  ['TSV', '\t', TAB]
] as const) {
  test(`reads any ${name} that a writer can produce as the library does, however it is cut into chunks`, () => {
    const cell = fc.string({
      unit: fc.constantFrom('a', 'é', '日', '😀', ' ', '"', ',', '\t', '\n', '\r\n', '1'),
      maxLength: 6
    })
    const write = (cells: string[][], eol: string) =>
      cells
        .map((row) =>
          row.map((c) => (/["\n\r,\t]/.test(c) || c === ' ' ? `"${c.replaceAll('"', '""')}"` : c)).join(delimiter)
        )
        .join(eol)
    fc.assert(
      fc.property(
        fc.array(fc.array(cell, { minLength: 1, maxLength: 5 }), { maxLength: 6 }),
        fc.constantFrom('\n', '\r\n', '\r'),
        anyChunks,
        (cells, eol, chunks) => {
          const text = write(cells, eol)
          const expected = cells.filter((row) => row.some((c) => c !== '')).map(withoutTrailingEmpty)

          assert.deepEqual(rowsByLibrary(text, delimiter), expected)
          assert.deepEqual(rowsOf(text, code, chunks).rows.map(withoutTrailingEmpty), expected)
        }
      ),
      { numRuns: 300 }
    )
  })

  test(`agrees with the library on any well-formed ${name}, and with itself on any text at all`, () => {
    const text = fc.string({
      unit: fc.constantFrom('a', 'é', '"', '""', delimiter, '\n', '\r', '\r\n', `${delimiter}"`, `"${delimiter}`),
      maxLength: 30
    })
    fc.assert(
      fc.property(text, anyChunks, (text, chunks) => {
        const attempt = (chunks: number[]) => {
          try {
            const { rows, found, scanner } = rowsOf(text, code, chunks)
            return {
              rows,
              places: found.rows.map(({ row, line }) => [row, line]),
              bad: found.malformed.length,
              row: scanner.row
            }
          } catch (error) {
            return (error as Error).message
          }
        }
        const whole = attempt([Infinity])

        assert.deepEqual(attempt(chunks), whole)
        const expected = rowsByLibrary(text, delimiter)
        if (expected && typeof whole !== 'string') assert.deepEqual(whole.rows.map(withoutTrailingEmpty), expected)
        if (expected) assert.notEqual(typeof whole, 'string')
      }),
      { numRuns: 1000 }
    )
  })
}

test('keeps a quote that stands inside an unquoted field', () => {
  assert.deepEqual(rowsOf('a,5" pipe,b\n').rows, [['a', '5" pipe', 'b']])
})

test('counts rows as a spreadsheet does and lines as an editor does', () => {
  const { found } = rowsOf('a,b\n\n"x\ny","z\n"\nlast,row')

  assert.deepEqual(
    found.rows.map(({ row, line }) => [row, line]),
    [
      [1, 1],
      [3, 3],
      [4, 6]
    ]
  )
})

test('sets a CSV row aside in which text follows a closing quote, and reads on after it', () => {
  const { rows, found } = rowsOf('a,b\nx,"say "hi" now"\nc,d\n')

  assert.deepEqual(rows, [
    ['a', 'b'],
    ['c', 'd']
  ])
  assert.deepEqual(found.malformed, [{ row: 2, line: 2, problem: 'BAD_QUOTE', columns: 2, start: 4, end: 20 }])
})

test('takes a TSV field as it stands when it only begins with a quote', () => {
  assert.deepEqual(rowsOf('a\t"Best" shoes\tb\n', TAB).rows, [['a', '"Best" shoes', 'b']])
})

test('counts lines right when a TSV field turns out not to be quoted', () => {
  const { found } = rowsOf('"x\ny"\t"Best" shoes\nc\td\n', TAB)

  assert.deepEqual(
    found.rows.map(({ line }) => line),
    [1, 3]
  )
})

test('names the row and column of a quote that the end of the file leaves open', () => {
  assert.throws(() => rowsOf('a,b\nc,"d\ne,f\n'), { code: 'UNCLOSED_QUOTE', at: { row: 2, line: 2, column: 2 } })
})
