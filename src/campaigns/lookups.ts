/** Pages of rows that are held in memory: reference data and targeting lookups. */
import { createHash } from 'node:crypto'
import { badRequest } from '../errors.ts'

export interface PageQuery {
  count?: number
  cursor?: string
  with_total_count?: boolean
}

export interface PageOf {
  /** The request that a cursor belongs to. */
  of: string
  countDefault?: number
}

const print = (of: string) => createHash('sha256').update(of).digest('base64url').slice(0, 6)

/** One page; the cursor is the position, good only for the same request. */
export function pageOf<T>(rows: readonly T[], query: PageQuery, { of, countDefault = 200 }: PageOf) {
  if (query.with_total_count && query.cursor !== undefined) {
    throw badRequest('EXCLUSIVE_PARAMETERS', 'with_total_count and cursor are exclusive parameters')
  }
  const start = query.cursor === undefined ? 0 : position(query.cursor, of)
  const end = start + (query.count ?? countDefault)
  return {
    rows: rows.slice(start, end),
    next_cursor: end < rows.length ? `${print(of)}${end.toString(36)}` : null,
    ...(query.with_total_count ? { total_count: rows.length } : {})
  }
}

function position(cursor: string, of: string) {
  const digits = cursor.slice(6)
  if (cursor.slice(0, 6) === print(of) && /^[0-9a-z]{1,8}$/.test(digits)) return Number.parseInt(digits, 36)
  const message = `The cursor "${cursor.slice(0, 100)}" does not belong to this request; start again without one`
  throw badRequest('INVALID_PARAMETER', message, { parameter: 'cursor' })
}
