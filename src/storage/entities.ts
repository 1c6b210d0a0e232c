/** Lists of account-owned entities: keyset paging that survives sorting, filters and concurrent writes, at the same cost on every page. */
import { createHash } from 'node:crypto'
import { type RawBuilder, sql } from 'kysely'
import { badRequest } from '../errors.ts'
import type { Db, Tables } from './db.ts'

export interface ListQuery {
  count?: number
  cursor?: string
  sort_by?: string[]
  with_deleted?: boolean
  with_total_count?: boolean
}

export interface ListOf {
  /** The tenant and the filters: rows must equal these (an array: be one of them; undefined: do not care). */
  where: Record<string, string | boolean | readonly string[] | undefined>
  /** More conditions, as SQL on the row's alias `e`. */
  conditions?: RawBuilder<unknown>[]
  /** More to select, as SQL on the row's alias `e`: evaluated only for the rows of the page. */
  columns?: RawBuilder<unknown>
  /** The inputs behind `conditions`: a cursor is good only for the request that it came from. */
  inputs?: unknown
  /** Attributes for sort_by. */
  sortable: readonly string[]
  /** Those of them that can be null; nulls come last in either direction. */
  nullable?: readonly string[]
  countDefault?: number
}

interface SortKey {
  column: string
  descending: boolean
}

const refuse = (parameter: string, message: string) => badRequest('INVALID_PARAMETER', message, { parameter })

/** `sort_by=name-asc,created_at-desc`; the id makes every order total. */
function sortKeys(sortBy: readonly string[] | undefined, sortable: readonly string[]): SortKey[] {
  const keys = (sortBy ?? []).map((entry) => {
    const [column = '', direction = 'asc'] = entry.split('-')
    if (!sortable.includes(column) || !['asc', 'desc'].includes(direction)) {
      const values = sortable.flatMap((name) => [`${name}-asc`, `${name}-desc`])
      throw refuse('sort_by', `Expected a value in {${values.join(', ')}}, got "${entry.slice(0, 100)}" for sort_by`)
    }
    return { column, descending: direction === 'desc' }
  })
  return [...keys, { column: 'id', descending: keys[0]?.descending ?? false }]
}

/** Eight characters that stand for the request a cursor belongs to. */
const fingerprint = (list: ListOf, keys: SortKey[], withDeleted: boolean) =>
  createHash('sha256')
    .update(
      JSON.stringify([list.where, list.inputs, keys, withDeleted], (_key, value) =>
        typeof value === 'bigint' ? `${value}n` : value
      )
    )
    .digest('base64url')
    .slice(0, 8)

/** The last row's sort values, after the fingerprint. */
const encodeCursor = (values: unknown[], print: string) =>
  Buffer.from(
    JSON.stringify([print, ...values.map((value) => (typeof value === 'bigint' ? value.toString() : value))])
  ).toString('base64url')

function decodeCursor(cursor: string, print: string, length: number): unknown[] {
  try {
    const [givenPrint, ...values] = JSON.parse(Buffer.from(cursor, 'base64url').toString()) as unknown[]
    const plain = values.every((value) => value === null || ['string', 'boolean', 'number'].includes(typeof value))
    if (givenPrint === print && plain && values.length === length && typeof values.at(-1) === 'string') return values
  } catch {
    // Falls through to the refusal.
  }
  throw refuse(
    'cursor',
    `The cursor "${cursor.slice(0, 100)}" does not belong to this request; start again without one`
  )
}

const ref = (key: SortKey) => sql.ref(`e.${key.column}`)
const beyond = (key: SortKey) => sql.raw(key.descending ? '<' : '>')
const orderBy = (keys: SortKey[]) =>
  sql.join(keys.map((key) => sql`${ref(key)} ${sql.raw(key.descending ? 'desc' : 'asc')}`))
const both = (...conditions: RawBuilder<unknown>[]) => sql.join(conditions, sql` and `)

/** Orders of one direction over columns that are never null: a row comparison, which an index answers from its middle. */
function plainPage(
  source: RawBuilder<unknown>,
  all: RawBuilder<unknown>,
  keys: SortKey[],
  after: unknown[] | undefined,
  limit: number
) {
  const bound = after && sql`(${sql.join(keys.map(ref))}) ${beyond(keys[0]!)} (${sql.join(after)})`
  return sql`${source} where ${bound ? both(all, bound) : all} order by ${orderBy(keys)} limit ${limit}`
}

/** One nullable attribute: first the rows that have it, then those that do not. Each part is a range of one index. */
function nullablePage(
  source: RawBuilder<unknown>,
  all: RawBuilder<unknown>,
  keys: SortKey[],
  after: unknown[] | undefined,
  limit: number
) {
  const [key, id] = keys as [SortKey, SortKey]
  const have = sql`${ref(key)} is not null`
  const lack = sql`${ref(key)} is null`
  const inNulls = after !== undefined && after[0] === null
  const first = plainPage(source, both(all, have), keys, inNulls ? undefined : after, limit)
  const second = plainPage(source, both(all, lack), [id], inNulls ? [after[1]] : undefined, limit)
  return inNulls
    ? second
    : sql`select * from (select * from (${first}) a union all select * from (${second}) b) u limit ${limit}`
}

/** Several attributes, perhaps of mixed direction: correct for every case, bounded by the first attribute. */
function mixedPage(
  source: RawBuilder<unknown>,
  all: RawBuilder<unknown>,
  keys: SortKey[],
  after: unknown[] | undefined,
  limit: number
) {
  const order = sql.join(keys.map((key) => sql`${ref(key)} ${sql.raw(key.descending ? 'desc nulls last' : 'asc')}`))
  const branches = (after ?? []).map((value, i) => {
    const equals = keys.slice(0, i).map((key, j) => sql`${ref(key)} is not distinct from ${after![j]}`)
    const key = keys[i]!
    const later = value === null ? sql`false` : sql`(${ref(key)} ${beyond(key)} ${value} or ${ref(key)} is null)`
    return sql`(${both(...equals, later)})`
  })
  const bound = after && sql`(${sql.join(branches, sql` or `)})`
  return sql`${source} where ${bound ? both(all, bound) : all} order by ${order} limit ${limit}`
}

/** One page of `table`. Rows are whole; the response schema picks the fields. */
export async function listEntities<Row = Record<string, unknown>>(
  db: Db,
  table: keyof Tables & string,
  query: ListQuery,
  list: ListOf
) {
  if (query.with_total_count && query.cursor !== undefined) {
    throw badRequest('EXCLUSIVE_PARAMETERS', 'with_total_count and cursor are exclusive parameters')
  }
  const keys = sortKeys(query.sort_by, list.sortable)
  const print = fingerprint(list, keys, query.with_deleted ?? false)
  const conditions = Object.entries(list.where)
    .filter(([, value]) => value !== undefined)
    .map(([column, value]) =>
      Array.isArray(value)
        ? sql`${sql.ref(`e.${column}`)} = any(${value}::text[])`
        : sql`${sql.ref(`e.${column}`)} = ${value}`
    )
  conditions.push(...(list.conditions ?? []))
  if (!query.with_deleted) conditions.push(sql`not e.deleted`)
  const all = both(...conditions)
  const after = query.cursor === undefined ? undefined : decodeCursor(query.cursor, print, keys.length)
  const size = query.count ?? list.countDefault ?? 200
  const nullable = keys.filter((key) => list.nullable?.includes(key.column)).length
  const oneWay = keys.every((key) => key.descending === keys[0]!.descending)
  const build = nullable === 0 && oneWay ? plainPage : nullable === 1 && keys.length === 2 ? nullablePage : mixedPage
  const more = list.columns ? sql`, ${list.columns}` : sql``
  const source = sql`select e.*${more} from ${sql.table(table)} e`
  const { rows } = await build(source, all, keys, after, size + 1).execute(db)
  const kept = (rows as Record<string, unknown>[]).slice(0, size)
  const last = rows.length > size ? kept.at(-1) : undefined
  return {
    rows: kept as Row[],
    next_cursor: last
      ? encodeCursor(
          keys.map((key) => last[key.column]),
          print
        )
      : null,
    ...(query.with_total_count ? { total_count: await countRows(db, table, all) } : {})
  }
}

async function countRows(db: Db, table: string, conditions: RawBuilder<unknown>) {
  const { rows } = await sql<{ count: bigint }>`select count(*) from ${sql.table(table)} e where ${conditions}`.execute(
    db
  )
  return Number(rows[0]!.count)
}
