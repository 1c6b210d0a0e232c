/** Lists of account-owned entities: keyset paging that survives sorting, filters and concurrent writes. */
import { createHash } from 'node:crypto'
import { sql } from 'kysely'
import { badRequest, type ErrorItem } from '../errors.ts'
import type { Db, Tables } from './db.ts'

export interface ListQuery {
  count?: number
  cursor?: string
  sort_by?: string[]
  with_deleted?: boolean
  with_total_count?: boolean
}

export interface ListOf {
  /** The tenant and the filters: rows must equal these (an array: be one of them). */
  where: Record<string, string | boolean | readonly string[] | undefined>
  /** More conditions, as SQL on the row's alias `e`. */
  conditions?: ReturnType<typeof sql<boolean>>[]
  sortable: readonly string[]
  /** Nullable columns sort as this when empty, so that every row has a place. */
  columns?: readonly string[]
}

interface SortKey {
  column: string
  descending: boolean
}

const invalid = (parameter: string, message: string): ErrorItem => ({ code: 'INVALID_PARAMETER', message, parameter })

/** `sort_by=name-asc,created_at-desc`; the id makes every order total. */
export function sortKeys(sortBy: readonly string[] | undefined, sortable: readonly string[]): SortKey[] {
  const keys = (sortBy ?? []).map((entry) => {
    const match = /^([a-z_0-9]+?)(?:-(asc|desc))?$/.exec(entry)
    if (!match || !sortable.includes(match[1]!)) {
      const values = sortable.flatMap((name) => [`${name}-asc`, `${name}-desc`])
      const item = invalid(
        'sort_by',
        `Expected a value in {${values.join(', ')}}, got "${entry.slice(0, 100)}" for sort_by`
      )
      throw badRequest(item.code, item.message, item)
    }
    return { column: match[1]!, descending: match[2] === 'desc' }
  })
  return [...keys, { column: 'id', descending: keys[0]?.descending ?? false }]
}

const fingerprint = (list: ListOf, keys: SortKey[]) =>
  createHash('sha256')
    .update(JSON.stringify([list.where, (list.conditions ?? []).length, keys]))
    .digest('base64url')
    .slice(0, 8)

/** The last row's sort values; `n` stands for null. */
export function encodeCursor(values: unknown[], print: string) {
  return Buffer.from(
    JSON.stringify([print, ...values.map((value) => (typeof value === 'bigint' ? value.toString() : value))])
  ).toString('base64url')
}

export function decodeCursor(cursor: string, print: string): unknown[] {
  try {
    const [givenPrint, ...values] = JSON.parse(Buffer.from(cursor, 'base64url').toString()) as unknown[]
    if (
      givenPrint === print &&
      values.every((v) => v === null || typeof v === 'string' || typeof v === 'boolean' || typeof v === 'number')
    )
      return values
  } catch {
    // Falls through to the refusal.
  }
  const item = invalid(
    'cursor',
    `The cursor "${cursor.slice(0, 100)}" does not belong to this request; start again without one`
  )
  throw badRequest(item.code, item.message, item)
}

/**
 * "After the cursor" for keys of mixed direction and nullable columns:
 * (a beyond A) or (a = A and b beyond B) or …; nulls come last in either direction.
 */
function afterCursor(keys: SortKey[], values: unknown[]) {
  const branches = keys.map((key, i) => {
    const equals = keys
      .slice(0, i)
      .map((k, j) => sql<boolean>`${sql.ref(`e.${k.column}`)} is not distinct from ${values[j]}`)
    const column = sql.ref(`e.${key.column}`)
    const value = values[i]
    const beyond =
      value === null
        ? sql<boolean>`false`
        : key.column === 'id'
          ? sql<boolean>`${column} ${sql.raw(key.descending ? '<' : '>')} ${value}`
          : sql<boolean>`(${column} ${sql.raw(key.descending ? '<' : '>')} ${value} or ${column} is null)`
    return sql<boolean>`(${sql.join([...equals, beyond], sql` and `)})`
  })
  return sql<boolean>`(${sql.join(branches, sql` or `)})`
}

/** One page of `table`. Rows are returned whole; the response schema picks the fields. */
export async function listEntities<T extends keyof Tables & string>(
  db: Db,
  table: T,
  query: ListQuery,
  list: ListOf,
  defaultCount = 200
) {
  if (query.with_total_count && query.cursor !== undefined) {
    throw badRequest('EXCLUSIVE_PARAMETERS', 'with_total_count and cursor are exclusive parameters', {
      parameter: 'with_total_count'
    })
  }
  const keys = sortKeys(query.sort_by, list.sortable)
  const print = fingerprint(list, keys)
  const conditions = Object.entries(list.where)
    .filter(([, value]) => value !== undefined)
    .map(([column, value]) =>
      Array.isArray(value)
        ? sql<boolean>`${sql.ref(`e.${column}`)} = any(${value}::text[])`
        : sql<boolean>`${sql.ref(`e.${column}`)} = ${value}`
    )
  conditions.push(...(list.conditions ?? []))
  if (!query.with_deleted) conditions.push(sql<boolean>`not e.deleted`)
  const all = sql.join(conditions, sql` and `)
  const page =
    query.cursor === undefined ? all : sql`${all} and ${afterCursor(keys, decodeCursor(query.cursor, print))}`
  const order = sql.join(
    keys.map((key) => sql`${sql.ref(`e.${key.column}`)} ${sql.raw(key.descending ? 'desc nulls last' : 'asc')}`)
  )
  const size = query.count ?? defaultCount
  const { rows } = await sql<
    Record<string, unknown>
  >`select e.* from ${sql.table(table)} e where ${page} order by ${order} limit ${size + 1}`.execute(db)
  const more = rows.length > size
  const kept = rows.slice(0, size)
  const last = kept.at(-1)
  return {
    rows: kept,
    next_cursor:
      more && last
        ? encodeCursor(
            keys.map((key) => last[key.column]),
            print
          )
        : null,
    ...(query.with_total_count ? { total_count: await countRows(db, table, all) } : {})
  }
}

async function countRows(db: Db, table: string, conditions: ReturnType<typeof sql>) {
  const { rows } = await sql<{ count: bigint }>`select count(*) from ${sql.table(table)} e where ${conditions}`.execute(
    db
  )
  return Number(rows[0]!.count)
}
