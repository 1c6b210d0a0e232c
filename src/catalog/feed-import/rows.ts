/** What every feed format is read into, and the bounds within which it is read. */

import type { Issue } from '../issues.ts'
import type { FieldValues } from '../product-fields.ts'

export interface FeedRow {
  /** As a spreadsheet counts: the header is row 1. For XML, the number of the item. */
  row: number
  /** The line of the file on which the row begins. */
  line: number
  /** The cells, in the order of PRODUCT_FIELDS; empty or undefined when unset. */
  fields: FieldValues
}

/** A row that could not be read; the rows around it can. */
export interface RejectedRow {
  row: number
  line: number
  /** The column at fault, counted from 1, when one is. */
  column: number | null
  issue: Issue
  /** The row as it stands in the file, cut; null where a format has no rows of text. */
  raw: string | null
}

export interface FeedBatch {
  rows: FeedRow[]
  rejected: RejectedRow[]
  /** About the file as a whole, each given once: unknown columns, for instance. */
  warnings: Issue[]
  /** Column numbers in the order of PRODUCT_FIELDS, counted from 1; empty for XML. */
  columns: readonly (number | undefined)[]
  /** Bytes of the (unpacked) file that have been read so far. */
  bytes: number
}

/** A file that cannot be read on. The catalog stays as it was. */
export class FeedError extends Error {
  readonly code: string
  readonly at: FeedPosition

  constructor(code: string, message: string, at: FeedPosition = {}) {
    super(message)
    this.name = 'FeedError'
    this.code = code
    this.at = at
  }
}

export interface FeedPosition {
  row?: number
  line?: number
  column?: number
  /** Offset of the byte at fault in the (unpacked) file. */
  byte?: number
}

export interface FeedLimits {
  columnsMax: number
  fieldBytesMax: number
  rowBytesMax: number
  /** Nested XML elements. */
  depthMax: number
}

/** Not specified; see decisions/0043. */
export const FEED_LIMITS: FeedLimits = {
  columnsMax: 1000,
  fieldBytesMax: 1024 * 1024,
  rowBytesMax: 4 * 1024 * 1024,
  depthMax: 32
}

/** How much of a rejected row is kept for the report. */
export const RAW_ROW_CHARS_MAX = 20_000
