/** Rows and columns in bytes. Knows quotes, separators and line ends; nothing of products or streams. */
import { FeedError, type FeedLimits, type FeedRow } from './rows.ts'

const LF = 10
const CR = 13
const QUOTE = 34
export const COMMA = 44
export const TAB = 9

/** A row that does not have the columns it should, or in which text follows a closing quote. */
export interface MalformedRow {
  row: number
  line: number
  problem: 'RAGGED_ROW' | 'BAD_QUOTE'
  /** The column at fault for BAD_QUOTE, the number of columns for RAGGED_ROW. */
  columns: number
  start: number
  end: number
}

/** What a scan fills. */
export interface Scanned {
  rows: FeedRow[]
  malformed: MalformedRow[]
}

/** Which columns are wanted, and where they go in the fields of a row. */
export interface Layout {
  /** For each column its place, or -1. */
  targets: Int16Array
  /** How many columns a row must have; -1 when any number will do. */
  width: number
  /** The fields of a row in which nothing is set. */
  unset: readonly string[]
}

/** Counts rows and lines of a file that it sees piece by piece. */
export class DelimitedScanner {
  /** Rows read so far. */
  row = 0
  /** The line on which the next row begins. */
  line = 1
  /** How many columns the last row had. */
  columns = 0

  readonly #delimiter: number
  readonly #limits: FeedLimits

  constructor(delimiter: number, limits: FeedLimits) {
    this.#delimiter = delimiter
    this.#limits = limits
  }

  /** A second counter that continues from here, for looking again at bytes that turned out to be wrong. */
  fork(): DelimitedScanner {
    const copy = new DelimitedScanner(this.#delimiter, this.#limits)
    copy.row = this.row
    copy.line = this.line
    return copy
  }

  /**
   * Reads whole rows from `from` on, at most `rowsMax` of them, and returns where the first unread byte is. The bytes
   * at the end belong to a row only if they are the last of the file.
   */
  scan(bytes: Buffer, from: number, final: boolean, layout: Layout, into: Scanned, rowsMax = Infinity): number {
    const { targets, width, unset } = layout
    const delimiter = this.#delimiter
    const lastStop = Math.max(delimiter, CR)
    const end = bytes.length
    // One conversion for all plain fields; only fields with a byte above 127 are decoded by themselves.
    const latin1 = bytes.toString('latin1')
    let i = from
    rows: while (i < end && into.rows.length < rowsMax) {
      const rowStart = i
      const fields = unset.slice()
      let column = 0
      let isBlank = true
      let linesInside = 0
      let badQuote = 0
      let rowEnd = end
      for (;;) {
        let start = i
        let stop = -1
        let bits = 0
        let isEscaped = false
        const linesBefore = linesInside
        if (i < end && bytes[i] === QUOTE) {
          start++
          i++
          for (;;) {
            while (i < end) {
              const byte = bytes[i]!
              if (byte === QUOTE) break
              if (byte === LF) linesInside++
              bits |= byte
              i++
            }
            if (i >= end || (i + 1 === end && !final)) {
              // The quote may close in bytes to come, or the last byte may be the first half of a doubled one.
              if (final) throw this.#unclosed(column, 'by the end of the file')
              this.#refuseTooLong(rowStart, start, end, column, true)
              break rows
            }
            if (i + 1 < end && bytes[i + 1] === QUOTE) {
              isEscaped = true
              i += 2
              continue
            }
            break
          }
          stop = i
          i++
          const next = i < end ? bytes[i]! : LF
          if (next !== delimiter && next !== LF && next !== CR) {
            if (delimiter === TAB) {
              // Not quoted after all: most TSV files know no quoting.
              start--
              i = start
              stop = -1
              bits = 0
              linesInside = linesBefore
              isEscaped = false
            } else {
              badQuote ||= column + 1
              while (i < end && bytes[i] !== LF && bytes[i] !== CR) i++
            }
          }
        }
        if (stop < 0) {
          while (i < end) {
            const byte = bytes[i]!
            if (byte <= lastStop && (byte === delimiter || byte === LF || byte === CR)) break
            bits |= byte
            i++
          }
          stop = i
        }
        if (stop > start) {
          isBlank = false
          if (stop - start > this.#limits.fieldBytesMax)
            this.#refuseTooLong(rowStart, start, stop, column, start > rowStart && bytes[start - 1] === QUOTE)
          const target = column < targets.length ? targets[column]! : -1
          if (target >= 0) {
            const value = bits < 128 ? latin1.slice(start, stop) : bytes.toString('utf8', start, stop)
            fields[target] = isEscaped ? value.replaceAll('""', '"') : value
          }
        }
        column++
        if (i >= end) {
          if (final) break
          this.#refuseTooLong(rowStart, start, end, column - 1, false)
          break rows
        }
        const byte = bytes[i]
        if (byte === delimiter) {
          i++
          continue
        }
        rowEnd = i
        if (byte === CR) {
          if (i + 1 === end && !final) break rows
          if (bytes[i + 1] === LF) i++
        }
        i++
        break
      }
      if (i - rowStart > this.#limits.rowBytesMax) this.#refuseTooLong(rowStart, i, i, column, false)
      this.row++
      const { row, line } = this
      this.line += 1 + linesInside
      this.columns = column
      from = i
      if (badQuote > 0)
        into.malformed.push({ row, line, problem: 'BAD_QUOTE', columns: badQuote, start: rowStart, end: rowEnd })
      else if (isBlank) continue
      else if (width >= 0 && column !== width) {
        into.malformed.push({ row, line, problem: 'RAGGED_ROW', columns: column, start: rowStart, end: rowEnd })
      } else into.rows.push({ row, line, fields })
    }
    return from
  }

  /** Ends the import when the field or the row has outgrown its limit, so that a broken file cannot fill the memory. */
  #refuseTooLong(rowStart: number, fieldStart: number, end: number, column: number, isQuoted: boolean) {
    const { fieldBytesMax, rowBytesMax } = this.#limits
    if (end - fieldStart > fieldBytesMax && isQuoted) throw this.#unclosed(column, `within ${fieldBytesMax} bytes`)
    const at = { row: this.row + 1, line: this.line, column: column + 1 }
    if (end - fieldStart > fieldBytesMax) {
      const message = `Row ${at.row} (line ${at.line}), column ${at.column} is longer than ${fieldBytesMax} bytes. Shorten it, or check the line ends of the file.`
      throw new FeedError('FIELD_TOO_LONG', message, at)
    }
    if (end - rowStart > rowBytesMax) {
      const message = `Row ${at.row} (line ${at.line}) is longer than ${rowBytesMax} bytes. Check the line ends of the file.`
      throw new FeedError('ROW_TOO_LONG', message, { row: at.row, line: at.line })
    }
  }

  #unclosed(column: number, where: string): FeedError {
    const at = { row: this.row + 1, line: this.line, column: column + 1 }
    const message = `The quote that opens in row ${at.row}, column ${at.column} (the row begins on line ${at.line}) is not closed ${where}. Close it, or write a quote inside a quoted field as "".`
    return new FeedError('UNCLOSED_QUOTE', message, at)
  }
}
