/** The table in which the rows of a file wait until all of them are known. One per attempt, gone when it is over. */
import type pg from 'pg'
import { PRODUCT_FIELDS } from '../product-fields.ts'

/** What is to become of a staged row. */
export const KIND = { write: 0, unchanged: 1, rejected: 2, duplicate: 3 } as const

const PREFIX = 'feed_stage_'

export const stagingTable = (runId: string, attempt: string) => `${PREFIX}${runId}_${attempt}`

/** The run that a table belongs to. */
export const runOf = (table: string) => /^feed_stage_([0-9]+)_/.exec(table)?.[1]

const NUMBERS: Record<string, string> = { inventory: 'int', price_amount: 'bigint', sale_price_amount: 'bigint' }
const COLLATED = new Set(['id', 'item_group_id', 'price_currency'])

/** In the order of the lines that are copied in: ours, then the product as `productText` has it. */
export const STAGED_COLUMNS = [
  'row',
  'kind',
  'content_hash',
  'price_amount',
  'price_currency',
  'sale_price_amount',
  ...PRODUCT_FIELDS
]

const OWN: Record<string, string> = { row: 'bigint not null', kind: 'smallint not null', content_hash: 'uuid' }

/** Unlogged: what a crash of the database would lose is fetched again. */
export const createStaging = (table: string) => `
  create unlogged table ${table} (
    ${STAGED_COLUMNS.map((name) => `${name} ${OWN[name] ?? NUMBERS[name] ?? `text${COLLATED.has(name) ? ' collate "C"' : ''}`}`).join(',\n    ')}
  ) with (autovacuum_enabled = false)`

export const COPY_STAGED = (table: string) => `copy ${table} (${STAGED_COLUMNS.join(', ')}) from stdin`

export const dropStaging = (db: { query(text: string): Promise<unknown> }, table: string) =>
  db.query(`drop table if exists ${table}`)

/** Whether the rows are still there: an unlogged table is emptied when the database crashes. */
export async function isStaged(db: pg.Pool, table: string, rows: number): Promise<boolean> {
  const { rows: found } = await db.query<{ there: boolean }>('select to_regclass($1) is not null as there', [table])
  if (!found[0]!.there) return false
  return rows === 0 || (await db.query(`select from ${table} limit 1`)).rowCount === 1
}

/** Staging tables of this database. */
export async function listStaging(db: pg.Pool): Promise<string[]> {
  const { rows } = await db.query<{ name: string }>(
    `select relname::text as name from pg_class
     where relkind = 'r' and relname like '${PREFIX.replaceAll('_', '\\_')}%' and relnamespace = current_schema()::regnamespace`
  )
  return rows.map(({ name }) => name).filter((name) => runOf(name) !== undefined)
}
