/** Lists of account-owned entities: keyset paging that survives sorting, filters and concurrent writes, at the same cost on every page. */
import { badRequest } from '../errors.ts'
import type { Database, Db, Tables } from './db.ts'
import { type Fragment, fragment, run, statement } from './statements.ts'

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
  conditions?: Fragment[]
  /** More to select, as SQL on the row's alias `e`: evaluated only for the rows of the page. */
  columns?: string
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

/** A few characters that stand for the request a cursor belongs to: enough to notice a mistake, cheap on every page. */
const fingerprint = (list: ListOf, keys: SortKey[], withDeleted: boolean) =>
  checksum(JSON.stringify([list.where, list.inputs, keys, withDeleted]))

/** FNV-1a of 32 bits. */
function checksum(text: string) {
  let hash = 0x811c9dc5
  for (let i = 0; i < text.length; i++) hash = Math.imul(hash ^ text.charCodeAt(i), 0x01000193)
  return (hash >>> 0).toString(36)
}

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

type Sql = (string | Fragment)[]

const ref = (key: SortKey) => `e.${key.column}`
const beyond = (key: SortKey) => (key.descending ? '<' : '>')
const way = (key: SortKey) => (key.descending ? 'desc' : 'asc')
const value = (of: unknown) => fragment`${of}`
const joined = (parts: Sql[], by: string): Sql => parts.flatMap((part, i) => (i === 0 ? part : [by, ...part]))

interface PageParts {
  /** `select … from … e` */
  source: string
  conditions: Sql[]
  keys: SortKey[]
  /** The last row's sort values, when this is not the first page. */
  after: unknown[] | undefined
  limit: number
}

/** Orders of one direction over columns that are never null: a row comparison, which an index answers from its middle. */
function plainPage({ source, conditions, keys, after, limit }: PageParts): Sql {
  const bound: Sql[] = after
    ? [
        [
          `(${keys.map(ref).join(', ')}) ${beyond(keys[0]!)} (`,
          ...joined(
            after.map((each) => [value(each)]),
            ', '
          ),
          ')'
        ]
      ]
    : []
  const order = keys.map((key) => `${ref(key)} ${way(key)}`).join(', ')
  return [`${source} where `, ...joined([...conditions, ...bound], ' and '), ` order by ${order} limit ${limit}`]
}

/** One nullable attribute: first the rows that have it, then those that do not. Each part is a range of one index. */
function nullablePage({ conditions, keys, after, ...parts }: PageParts): Sql {
  const [key, id] = keys as [SortKey, SortKey]
  const inNulls = after !== undefined && after[0] === null
  const have = {
    ...parts,
    conditions: [...conditions, [`${ref(key)} is not null`]],
    keys,
    after: inNulls ? undefined : after
  }
  const lack = {
    ...parts,
    conditions: [...conditions, [`${ref(key)} is null`]],
    keys: [id],
    after: inNulls ? [after[1]] : undefined
  }
  if (inNulls) return plainPage(lack)
  return [
    'select * from (select * from (',
    ...plainPage(have),
    ') a union all select * from (',
    ...plainPage(lack),
    `) b) u limit ${parts.limit}`
  ]
}

/** Several attributes, perhaps of mixed direction: correct for every case, bounded by the first attribute. */
function mixedPage({ source, conditions, keys, after, limit }: PageParts): Sql {
  const order = keys.map((key) => `${ref(key)} ${key.descending ? 'desc nulls last' : 'asc'}`).join(', ')
  const branches = (after ?? []).map((each, i): Sql => {
    const equals = keys.slice(0, i).map((key, j): Sql => [`${ref(key)} is not distinct from `, value(after![j])])
    const key = keys[i]!
    const later: Sql =
      each === null ? ['false'] : [`(${ref(key)} ${beyond(key)} `, value(each), ` or ${ref(key)} is null)`]
    return ['(', ...joined([...equals, later], ' and '), ')']
  })
  const bound: Sql[] = after ? [['(', ...joined(branches, ' or '), ')']] : []
  return [`${source} where `, ...joined([...conditions, ...bound], ' and '), ` order by ${order} limit ${limit}`]
}

function whereOf(list: ListOf, withDeleted: boolean): Sql[] {
  const conditions = Object.entries(list.where)
    .filter(([, wanted]) => wanted !== undefined)
    .map(([column, wanted]): Sql => {
      if (!Array.isArray(wanted)) return [`e.${column} = `, value(wanted)]
      // One value can be looked up in the order of an index, several cannot.
      return wanted.length === 1
        ? [`e.${column} = `, value(wanted[0])]
        : [`e.${column} = any(`, value(wanted), '::text[])']
    })
  conditions.push(...(list.conditions ?? []).map((each): Sql => [each]))
  if (!withDeleted) conditions.push(['not e.deleted'])
  return conditions
}

/** The statement behind a page, and what its cursor needs. */
export function listStatement(table: keyof Tables & string, query: ListQuery, list: ListOf) {
  if (query.with_total_count && query.cursor !== undefined) {
    throw badRequest('EXCLUSIVE_PARAMETERS', 'with_total_count and cursor are exclusive parameters')
  }
  // Without deleted rows, sorting by `deleted` is sorting by nothing: the order is that of the id.
  const keys = sortKeys(query.sort_by, list.sortable).filter((key) => query.with_deleted || key.column !== 'deleted')
  const print = fingerprint(list, keys, query.with_deleted ?? false)
  const after = query.cursor === undefined ? undefined : decodeCursor(query.cursor, print, keys.length)
  const size = query.count ?? list.countDefault ?? 200
  const nullable = keys.filter((key) => list.nullable?.includes(key.column)).length
  const oneWay = keys.every((key) => key.descending === keys[0]!.descending)
  const build = nullable === 0 && oneWay ? plainPage : nullable === 1 && keys.length === 2 ? nullablePage : mixedPage
  const conditions = whereOf(list, query.with_deleted ?? false)
  const source = `select e.*${list.columns ? `, ${list.columns}` : ''} from ${table} e`
  const page = statement(build({ source, conditions, keys, after, limit: size + 1 }))
  const several = Object.values(list.where).some((wanted) => Array.isArray(wanted) && wanted.length > 1)
  return { ...page, keys, print, size, conditions, prepare: keys.length <= 2 && !several }
}

/** One page of `table`. Rows are whole; the response schema picks the fields. */
export async function listEntities<Row = Record<string, unknown>>(
  db: Database | Db,
  table: keyof Tables & string,
  query: ListQuery,
  list: ListOf
) {
  const { keys, print, size, conditions, prepare, ...page } = listStatement(table, query, list)
  const rows = await run<Record<string, unknown>>(db, page, prepare)
  const more = rows.length > size
  if (more) rows.length = size
  const last = more ? rows.at(-1) : undefined
  return {
    rows: rows as Row[],
    next_cursor: last
      ? encodeCursor(
          keys.map((key) => last[key.column]),
          print
        )
      : null,
    ...(query.with_total_count ? { total_count: await countRows(db, table, conditions) } : {})
  }
}

async function countRows(db: Database | Db, table: string, conditions: Sql[]) {
  const count = statement([`select count(*) from ${table} e where `, ...joined(conditions, ' and ')])
  const rows = await run<{ count: bigint }>(db, count)
  return Number(rows[0]!.count)
}
