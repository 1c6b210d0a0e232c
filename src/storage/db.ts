/** The one place that opens PostgreSQL. Queries take `db` first; no module holds a pool of its own. */
import { type ColumnType, Kysely, PostgresDialect, type Transaction } from 'kysely'
import pg from 'pg'

/** Filled in by the domains: `declare module '../storage/db.ts' { interface Tables { … } }`. */
// biome-ignore lint/suspicious/noEmptyInterface: augmented by every domain
export interface Tables {}

export type Db = Kysely<Tables>
export type Tx = Transaction<Tables>
/** A column the database fills in when an insert leaves it out. */
export type Defaulted<T> = ColumnType<T, T | undefined, T>
/** timestamptz: ISO strings come out; ISO strings or Dates go in. */
export type Time = ColumnType<string, string | Date, string | Date>
export type TimeOrNull = ColumnType<string | null, string | Date | null | undefined, string | Date | null>
/** int8: exact, also beyond 2^53. */
export type Big = ColumnType<bigint, bigint | number | string, bigint | number | string>
export type BigOrNull = ColumnType<
  bigint | null,
  bigint | number | string | null | undefined,
  bigint | number | string | null
>

const parsers = new Map<number, (text: string) => unknown>([
  [20, BigInt],
  [1184, (text) => isoFromPostgres(text)]
])

/** `2026-01-15 12:00:00.12+00` → `2026-01-15T12:00:00.120Z`; every session runs in UTC. */
function isoFromPostgres(text: string) {
  if (text.endsWith('+00') && text.length >= 22 && text[4] === '-') {
    const fraction = text.length > 22 ? text.slice(20, -3).padEnd(3, '0').slice(0, 3) : '000'
    return `${text.slice(0, 10)}T${text.slice(11, 19)}.${fraction}Z`
  }
  return text
}

const types: pg.CustomTypesConfig = {
  getTypeParser: ((oid: number, format?: 'text' | 'binary') =>
    (format !== 'binary' && parsers.get(oid)) || pg.types.getTypeParser(oid, format)) as typeof pg.types.getTypeParser
}

const plannedOnce = new Map<string, string>()
/** A statement that is sent often, for `CompiledQuery.raw`: a connection parses and plans it once. Its text must be fixed. */
export function planOnce(name: string, text: string) {
  plannedOnce.set(text, name)
  return text
}

/** Kysely sends text and values, without a name. */
class PlanningClient extends pg.Client {
  // biome-ignore lint/suspicious/noExplicitAny: one of eight overloads
  override query(...args: any[]): any {
    const [text, values, ...rest] = args
    const name = typeof text === 'string' ? plannedOnce.get(text) : undefined
    return name ? super.query({ name, text, values }, ...(rest as [])) : super.query(...(args as [pg.QueryConfig]))
  }
}

export interface Database {
  db: Db
  pool: pg.Pool
  /** Settings for a connection of its own (LISTEN, COPY): `new pg.Client(connection)`. */
  connection: pg.ClientConfig
  close(): Promise<void>
}

export interface DatabaseOptions {
  url: string
  connectionsMax?: number
  /** Told about errors of idle connections (a restarted database); the pool replaces them by itself. */
  onIdleError?: (error: Error) => void
}

export function openDatabase({ url, connectionsMax = 20, onIdleError }: DatabaseOptions): Database {
  const connection: pg.ClientConfig = {
    connectionString: url,
    types,
    options: '-c timezone=UTC -c datestyle=ISO -c client_min_messages=warning',
    connectionTimeoutMillis: 5_000,
    keepAlive: true,
    application_name: 'herald'
  }
  const pool = new pg.Pool({ ...connection, Client: PlanningClient, max: connectionsMax, idleTimeoutMillis: 30_000 })
  // A connection lost between two queries of a transaction is told to its client alone; unheard, that ends the process.
  pool.on('connect', (client) => client.on('error', () => {}))
  // A connection on its way out may still hear that the database stops; that is no news.
  pool.on('error', (error) => {
    if (!pool.ending) onIdleError?.(error)
  })
  const db = new Kysely<Tables>({ dialect: new PostgresDialect({ pool }) })
  const close = async () => {
    await db.destroy()
    // Kysely ends the pool only if it has run a query itself.
    if (!pool.ending) await pool.end()
  }
  return { db, pool, connection, close }
}

/** SQLSTATE classes and socket errors that mean "the database is away", not "the query is wrong". */
export function isDatabaseAway(error: unknown) {
  if (!(error instanceof Error)) return false
  const code = (error as { code?: string }).code ?? ''
  return (
    /^(08|57P0[123]|53300)/.test(code) ||
    ['ECONNREFUSED', 'ECONNRESET', 'EPIPE', 'ENOENT', 'ETIMEDOUT'].includes(code) ||
    /Connection terminated|timeout exceeded when trying to connect|Client has encountered a connection error/.test(
      error.message
    )
  )
}

/** The unique or check constraint that a failed write violated, if that is why it failed. */
export function violatedConstraint(error: unknown): string | undefined {
  const { code, constraint } = error as { code?: string; constraint?: string }
  return code === '23505' || code === '23514' || code === '23503' ? constraint : undefined
}
