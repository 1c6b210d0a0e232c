/** Rows that belong to an account. Every read starts from the account; someone else's row looks exactly like no row. */
import { sql } from 'kysely'
import { notFound } from '../errors.ts'
import type { Database, Db, Tables } from '../storage/db.ts'
import type { ListOf, ListQuery } from '../storage/entities.ts'
import { listEntities } from '../storage/entities.ts'
import { fragment, run } from '../storage/statements.ts'
import { STAMPS, wire } from './wire.ts'

export interface Stamped {
  account_id: string
  id: string
  created_at: string
  updated_at: string
  deleted: boolean
}

/** A table of account-owned rows, and how a missing one is called. */
export interface Kind<Row extends Stamped> {
  table: keyof Tables & string
  name: string
  notFound: string
  sortable: readonly string[]
  nullable?: readonly string[]
  times: readonly (keyof Row & string)[]
}

/** "all others listing sort_by: created_at, updated_at, deleted". */
export const SORTABLE = ['created_at', 'updated_at', 'deleted'] as const

export const kind = <Row extends Stamped>(
  table: keyof Tables & string,
  name: string,
  notFoundCode = 'NOT_FOUND',
  more: Partial<Pick<Kind<Row>, 'sortable' | 'nullable' | 'times'>> = {}
): Kind<Row> => ({ table, name, notFound: notFoundCode, sortable: SORTABLE, times: STAMPS, ...more })

export const rowNotFound = (of: Pick<Kind<Stamped>, 'notFound' | 'name'>, id: string) =>
  notFound(of.notFound, `${of.name} ${id} was not found`)

export interface GetOptions {
  withDeleted?: boolean | undefined
  /** Until the transaction ends nobody else changes the row. */
  lock?: boolean
}

export async function findRow<Row extends Stamped>(
  db: Database | Db,
  of: Kind<Row>,
  accountId: string,
  id: string,
  { withDeleted = false, lock = false }: GetOptions = {}
): Promise<Row | undefined> {
  const text = `select * from ${of.table} where account_id = $1 and id = $2${lock ? ' for no key update' : ''}`
  const [row] = await run<Row>(db, { text, values: [accountId, id] }, true)
  return row && (withDeleted || !row.deleted) ? row : undefined
}

export async function getRow<Row extends Stamped>(
  db: Database | Db,
  of: Kind<Row>,
  accountId: string,
  id: string,
  options: GetOptions = {}
): Promise<Row> {
  const row = await findRow(db, of, accountId, id, options)
  if (!row) throw rowNotFound(of, id)
  return row
}

export async function insertRow<Row extends Stamped>(db: Db, of: Kind<Row>, values: Partial<Row>): Promise<Row> {
  const row = await db
    .insertInto(of.table)
    .values(values as never)
    .returningAll()
    .executeTakeFirstOrThrow()
  return row as unknown as Row
}

export async function updateRow<Row extends Stamped>(
  db: Db,
  of: Kind<Row>,
  { account_id, id }: Pick<Stamped, 'account_id' | 'id'>,
  set: Partial<Row>
): Promise<Row> {
  const assignments = Object.entries(set).map(([column, value]) => sql`${sql.ref(column)} = ${value}`)
  const { rows } = await sql<Row>`
    update ${sql.table(of.table)} set ${sql.join(assignments)}
    where account_id = ${account_id} and id = ${id} returning *`.execute(db)
  return rows[0]!
}

/** Irreversible; repeating it is a 404. */
export async function removeRow<Row extends Stamped>(db: Db, of: Kind<Row>, accountId: string, id: string, now: Date) {
  const row = await getRow(db, of, accountId, id, { lock: true })
  return updateRow(db, of, row, { deleted: true, updated_at: now.toISOString() } as Partial<Row>)
}

export type ListFilter = Pick<ListOf, 'conditions' | 'inputs' | 'columns'> & { where?: ListOf['where'] }

/** One page of an account's rows, as they are stored. */
export const listRows = <Row extends Stamped>(
  db: Database | Db,
  of: Kind<Row>,
  accountId: string,
  query: ListQuery,
  { where = {}, ...filter }: ListFilter = {}
) =>
  listEntities<Row>(db, of.table, query, {
    where: { account_id: accountId, ...where },
    sortable: of.sortable,
    ...(of.nullable ? { nullable: of.nullable } : {}),
    ...filter
  })

/** One page as it is sent, for kinds that only need their times cut. */
export async function listWire<Row extends Stamped>(
  db: Database | Db,
  of: Kind<Row>,
  accountId: string,
  query: ListQuery,
  filter: ListFilter = {}
) {
  const page = await listRows(db, of, accountId, query, filter)
  return { ...page, rows: page.rows.map((row) => wire(row, of.times)) }
}

/** `q`: the name starts with it, whatever the case. */
export const nameStartsWith = (prefix: string) =>
  fragment`e.name_folded >= ${prefix} and e.name_folded < ${`${prefix}\u{10ffff}`}`

/** Rows in the order of the given ones, as they are by now: what a batch answers. */
export async function wireAll<Row extends Stamped>(
  { tx, account }: { tx: Db; account: { id: string } },
  of: Kind<Row>,
  rows: readonly { id: string }[]
) {
  const found = await sql<Row>`
    select * from ${sql.table(of.table)}
    where account_id = ${account.id} and id = any(${rows.map((row) => row.id)}::text[])`.execute(tx)
  const byId = new Map(found.rows.map((row) => [row.id, wire(row, of.times)]))
  return rows.map((row) => byId.get(row.id)!)
}
