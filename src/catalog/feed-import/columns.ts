/** Names of product fields in feed files. */
import { cutValue, type Issue, issue } from '../issues.ts'
import { FIELD_INDEX, GENERATED_FIELDS, IDENTIFIER_FIELDS, PRODUCT_FIELDS, REQUIRED_FIELDS } from '../product-fields.ts'
import { FeedError } from './rows.ts'

/** The taxonomy field under the name by which shopping feeds know it. */
const ALIASES: ReadonlyMap<string, string> = new Map([['google_product_category', 'ext_product_category']])

/** Index in PRODUCT_FIELDS of a column or element name, whatever its case; undefined when it is none. */
export function fieldIndexOf(name: string): number | undefined {
  const exact = FIELD_INDEX.get(name)
  if (exact !== undefined) return exact
  const plain = name.trim().toLowerCase().replaceAll(/\s+/g, '_')
  return FIELD_INDEX.get(ALIASES.get(plain) ?? plain)
}

export interface ColumnMap {
  /** For each column of the file, its index in PRODUCT_FIELDS, or -1 when it is ignored. */
  targets: Int16Array
  /** For each of PRODUCT_FIELDS, its column, counted from 1. */
  columns: (number | undefined)[]
  warnings: Issue[]
}

/** Reads the header row. Missing and repeated columns end the import; unknown ones are ignored with a warning each. */
export function mapColumns(names: readonly string[], delimiterName: string): ColumnMap {
  const targets = new Int16Array(names.length).fill(-1)
  const columns: (number | undefined)[] = new Array(PRODUCT_FIELDS.length).fill(undefined)
  const warnings: Issue[] = []
  for (const [i, name] of names.entries()) {
    const field = fieldIndexOf(name)
    if (field === undefined) {
      if (!GENERATED_FIELDS.has(name.trim().toLowerCase())) warnings.push(unknownColumn(name, i + 1))
    } else if (columns[field] !== undefined) {
      const message = `Columns ${columns[field]} and ${i + 1} both hold ${PRODUCT_FIELDS[field]}. Keep one of them.`
      throw new FeedError('DUPLICATE_COLUMN', message, { row: 1, column: i + 1 })
    } else {
      targets[i] = field
      columns[field] = i + 1
    }
  }
  requireColumns(names, columns, delimiterName)
  return { targets, columns, warnings }
}

function unknownColumn(name: string, column: number): Issue {
  return issue('UNKNOWN_COLUMN', cutValue(name), name, (shown) =>
    name.trim() === ''
      ? `Column ${column} has no name and was ignored. Name it or remove it.`
      : `Column ${column}, ${shown}, is not a product field and was ignored. Check its spelling or remove it.`
  )
}

function requireColumns(names: readonly string[], columns: readonly (number | undefined)[], delimiterName: string) {
  const lacks = (field: string) => columns[FIELD_INDEX.get(field)!] === undefined
  const missing: string[] = REQUIRED_FIELDS.filter(lacks)
  if (IDENTIFIER_FIELDS.every(lacks)) missing.push('one of brand, gtin, mpn')
  if (missing.length === 0) return
  const hint = missing.length >= REQUIRED_FIELDS.length ? hintAtHeader(names, delimiterName) : ''
  const message = `The header row has no column for: ${missing.join(', ')}.${hint} Add the missing columns to the first row.`
  throw new FeedError('MISSING_COLUMN', message, { row: 1 })
}

/** When nothing fits, the file probably has another separator or no header at all. */
function hintAtHeader(names: readonly string[], delimiterName: string): string {
  const row = names.join(' ')
  for (const [separator, name] of [
    [';', 'semicolons'],
    ['\t', 'tabs'],
    ['|', 'vertical bars'],
    [',', 'commas']
  ] as const) {
    if (row.split(separator).some((part) => fieldIndexOf(part) !== undefined)) {
      return ` Its columns seem to be separated by ${name}; this feed format separates them by ${delimiterName}.`
    }
  }
  return ` It begins with "${cutValue(row, 60)}": the first row must hold the names of the columns.`
}
