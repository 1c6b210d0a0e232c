/** Pages of records that are ordered by time and id, newest first, both ways, each at the same cost. See decisions/0028. */
import { invalidRequest } from '../http/problems.ts'

/** A place between rows: next to the row with this time and id. */
export interface Mark {
  atMs: number
  id: bigint
}

export interface Position {
  direction: 'next' | 'previous'
  mark: Mark
}

const BYTES = 16
const DIRECTION = { next: 0x6e, previous: 0x70 } as const

/** The list's name enters the check, so that a token of one list is garbage to another. */
function check(bytes: Buffer, list: string) {
  let sum = 0x35
  for (const byte of [...bytes.subarray(0, BYTES - 1), ...Buffer.from(list)]) sum = (sum * 31 + byte) & 0xff
  return sum
}

export function encodeMark({ direction, mark }: Position, list: string): string {
  const bytes = Buffer.alloc(BYTES)
  bytes[0] = DIRECTION[direction]
  bytes.writeUIntBE(mark.atMs, 1, 6)
  bytes.writeBigUInt64BE(mark.id, 7)
  bytes[15] = check(bytes, list)
  return bytes.toString('base64url')
}

/** undefined when the token is not one of ours. */
export function decodeMark(token: string, list: string): Position | undefined {
  const bytes = Buffer.from(token, 'base64url')
  if (bytes.length !== BYTES || bytes.toString('base64url') !== token || bytes[15] !== check(bytes, list))
    return undefined
  const direction = bytes[0] === DIRECTION.next ? 'next' : bytes[0] === DIRECTION.previous ? 'previous' : undefined
  return direction && { direction, mark: { atMs: bytes.readUIntBE(1, 6), id: bytes.readBigUInt64BE(7) } }
}

/** What a page loads: rows strictly older than `before`, newest first, or strictly newer than `after`, oldest first. */
export interface Bound {
  before?: Mark
  after?: Mark
  limit: number
}

export interface RecordList<T, U> {
  name: string
  size: number
  token: string | undefined
  markOf(row: T): Mark
  load(bound: Bound): Promise<T[]>
  /**
   * Keeps those rows that the filters want, in their order. Without it every row is wanted. With it a page looks at
   * `scanMax` rows at most, so it may hold few rows, or none, and still have a `next_token`.
   */
  keep?: { scanMax: number; filter(rows: T[]): Promise<{ row: T; kept: U }[]> }
}

export interface RecordPage<U> {
  data: U[]
  meta: { result_count: number; next_token?: string; previous_token?: string }
}

export async function recordPage<T, U = T>({
  name,
  size,
  token,
  markOf,
  load,
  keep
}: RecordList<T, U>): Promise<RecordPage<U>> {
  const position = token === undefined ? undefined : decodeMark(token, name)
  if (token !== undefined && !position) {
    const shown = token.slice(0, 100)
    throw invalidRequest({
      message: `The \`pagination_token\` query parameter value [${shown}] is not valid`,
      parameters: { pagination_token: [shown] }
    })
  }
  const back = position?.direction === 'previous'
  const limit = keep?.scanMax ?? size + 1
  const rows = await load({ ...(position ? { [back ? 'after' : 'before']: position.mark } : {}), limit })
  const kept = keep ? await keep.filter(rows) : rows.map((row) => ({ row, kept: row as unknown as U }))
  const shown = kept.slice(0, size)
  const more = kept.length > size || (keep !== undefined && rows.length === limit)
  // Behind the last row shown, or, when all that fit are shown, behind the last that was looked at.
  const last = kept.length > size ? shown.at(-1)?.row : rows.at(-1)
  const onward = more && last !== undefined ? markOf(last) : undefined
  // The page on the other side begins with the row that this one was asked to start next to.
  const backward = position && { ...position.mark, id: position.mark.id + (back ? 1n : -1n) }
  const [older, newer] = back ? [backward, onward] : [onward, backward]
  const data = shown.map((each) => each.kept)
  if (back) data.reverse()
  return {
    data,
    meta: {
      result_count: data.length,
      ...(older ? { next_token: encodeMark({ direction: 'next', mark: older }, name) } : {}),
      ...(newer ? { previous_token: encodeMark({ direction: 'previous', mark: newer }, name) } : {})
    }
  }
}
