/** CSV (RFC 4180) and TSV, read as a stream in bounded memory. */
import { isUtf8 } from 'node:buffer'
import { issue } from '../issues.ts'
import { PRODUCT_FIELDS } from '../product-fields.ts'
import { type ColumnMap, mapColumns } from './columns.ts'
import { COMMA, DelimitedScanner, type Layout, type MalformedRow, type Scanned, TAB } from './delimited-scanner.ts'
import { FEED_LIMITS, type FeedBatch, FeedError, type FeedLimits, RAW_ROW_CHARS_MAX, type RejectedRow } from './rows.ts'
import { firstInvalidUtf8, invalidUtf8Message, nulMessage } from './utf8.ts'

/** Larger chunks are read in slices of this size, so that a batch stays small whatever the source does. */
const SLICE_BYTES = 256 * 1024

export const readCsv = (source: AsyncIterable<Buffer>, limits = FEED_LIMITS) => readDelimited(source, COMMA, limits)

/** As CSV with tabs. A field that begins with a quote but is not quoted throughout is taken as it stands. */
export const readTsv = (source: AsyncIterable<Buffer>, limits = FEED_LIMITS) => readDelimited(source, TAB, limits)

async function* readDelimited(
  source: AsyncIterable<Buffer>,
  delimiter: number,
  limits: FeedLimits
): AsyncGenerator<FeedBatch> {
  const reader = new DelimitedReader(delimiter, limits)
  let waiting: Buffer[] = []
  let waitingBytes = 0
  let wantedBytes = 0
  for await (const chunk of source) {
    for (let at = 0; at < chunk.length; at += SLICE_BYTES) {
      waiting.push(chunk.subarray(at, at + SLICE_BYTES))
      waitingBytes += waiting.at(-1)!.length
      // A row that a chunk cuts off is read again from its start. Waiting until as many bytes more are there keeps the
      // cost in proportion to the length of the row.
      if (waitingBytes < wantedBytes) continue
      const bytes = waiting.length === 1 ? waiting[0]! : Buffer.concat(waiting, waitingBytes)
      const batch = reader.read(bytes, false)
      const rest = bytes.subarray(reader.consumed)
      waiting = rest.length > 0 ? [rest] : []
      waitingBytes = rest.length
      wantedBytes = rest.length * 2
      yield batch
    }
  }
  yield reader.read(Buffer.concat(waiting, waitingBytes), true)
}

const BYTE_ORDER_MARK = Buffer.of(0xef, 0xbb, 0xbf)

const UNSET = PRODUCT_FIELDS.map(() => '')

class DelimitedReader {
  /** How many of the bytes of the last `read` belong to whole rows. */
  consumed = 0

  readonly #delimiterName: string
  readonly #limits: FeedLimits
  readonly #scanner: DelimitedScanner
  #map: ColumnMap | undefined
  #bytes = 0

  constructor(delimiter: number, limits: FeedLimits) {
    this.#delimiterName = delimiter === TAB ? 'tabs' : 'commas'
    this.#limits = limits
    this.#scanner = new DelimitedScanner(delimiter, limits)
  }

  /** Reads all whole rows; the last bytes of the file end a row too. */
  read(bytes: Buffer, final: boolean): FeedBatch {
    const before = this.#scanner.fork()
    this.#refuseNul(bytes, before)
    const isNew = this.#map === undefined
    const found: Scanned = { rows: [], malformed: [] }
    const from = isNew ? this.#readHeader(bytes, final) : 0
    const map = this.#map
    this.consumed = map ? this.#scanner.scan(bytes, from, final, layoutOf(map), found) : from
    this.#refuseOtherEncodings(bytes.subarray(0, this.consumed), before)
    this.#bytes += this.consumed
    return {
      rows: found.rows,
      rejected: found.malformed.map((row) => this.#reject(row, bytes)),
      warnings: isNew && map ? map.warnings : [],
      columns: map?.columns ?? [],
      bytes: this.#bytes
    }
  }

  /** The first row that is not blank names the columns. */
  #readHeader(bytes: Buffer, final: boolean): number {
    const { columnsMax } = this.#limits
    const found: Scanned = { rows: [], malformed: [] }
    const any: Layout = { targets: Int16Array.from({ length: columnsMax }, (_, i) => i), width: -1, unset: [] }
    const start = this.#bytes === 0 && bytes.subarray(0, 3).equals(BYTE_ORDER_MARK) ? 3 : 0
    const end = this.#scanner.scan(bytes, start, final, any, found, 1)
    const [broken] = found.malformed
    if (broken) throw new FeedError('BAD_QUOTE', badQuoteMessage(broken, ''), { row: broken.row, line: broken.line })
    const [header] = found.rows
    if (header) {
      if (this.#scanner.columns > columnsMax) {
        const message = `The header has ${this.#scanner.columns} columns; at most ${columnsMax} are read. Remove the columns that are no product fields.`
        throw new FeedError('TOO_MANY_COLUMNS', message, { row: header.row, line: header.line })
      }
      const names = Array.from({ length: this.#scanner.columns }, (_, i) => header.fields[i] ?? '')
      this.#map = mapColumns(names, this.#delimiterName)
    } else if (final) {
      throw new FeedError(
        'EMPTY_FILE',
        'The file is empty: it has not even a header row. Check what the feed address serves.'
      )
    }
    return end
  }

  #reject(malformed: MalformedRow, bytes: Buffer): RejectedRow {
    const { row, line, problem, columns, start, end } = malformed
    const raw = bytes.toString('utf8', start, Math.min(end, start + RAW_ROW_CHARS_MAX))
    if (problem === 'BAD_QUOTE') {
      const field = PRODUCT_FIELDS[this.#map?.targets[columns - 1] ?? -1] ?? null
      const found = issue(problem, field, raw, () => badQuoteMessage(malformed, field === null ? '' : ` (${field})`))
      return { row, line, column: columns, issue: found, raw }
    }
    const message = `Row ${row} has ${columns} columns, but the header has ${this.#map?.targets.length}. Look for a missing or surplus separator or quote in it.`
    return { row, line, column: null, issue: issue(problem, null, raw, () => message), raw }
  }

  #refuseNul(bytes: Buffer, before: DelimitedScanner) {
    const nul = bytes.indexOf(0)
    if (nul < 0) return
    const at = locate(bytes, nul, before)
    throw new FeedError('NUL_BYTE', nulMessage(this.#bytes + nul, `row ${at.row}`), { ...at, byte: this.#bytes + nul })
  }

  #refuseOtherEncodings(bytes: Buffer, before: DelimitedScanner) {
    if (isUtf8(bytes)) return
    const offset = firstInvalidUtf8(bytes)
    const at = locate(bytes, offset, before)
    const byte = this.#bytes + offset
    throw new FeedError('NOT_UTF8', invalidUtf8Message(bytes[offset], byte, `row ${at.row}`), { ...at, byte })
  }
}

const layoutOf = ({ targets }: ColumnMap): Layout => ({ targets, width: targets.length, unset: UNSET })

/** The row and line in which a byte lies. */
function locate(bytes: Buffer, offset: number, before: DelimitedScanner) {
  const anything: Layout = { targets: new Int16Array(0), width: -1, unset: [] }
  before.scan(bytes.subarray(0, offset), 0, false, anything, { rows: [], malformed: [] })
  return { row: before.row + 1, line: before.line }
}

function badQuoteMessage({ row, columns }: MalformedRow, field: string): string {
  return `Row ${row}, column ${columns}${field}: text follows the closing quote. Write a quote inside a quoted field as "".`
}
