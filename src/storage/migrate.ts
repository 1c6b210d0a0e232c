/** Brings a database to the schema of this code: numbered SQL files, forward only, one transaction each. */
import { readdir, readFile } from 'node:fs/promises'
import path from 'node:path'
import pg from 'pg'
import { type Log, silentLog } from './log.ts'

export interface Migration {
  version: number
  name: string
  file: string
  sql: string
}

export const MIGRATIONS_DIRECTORY = path.join(import.meta.dirname, 'migrations')
/** "herald" as a number: several nodes that start at once take turns on this advisory lock. */
const MIGRATION_LOCK = 114_917_360_628n
const SERVER_VERSION_MIN = 15

export async function readMigrations(directory = MIGRATIONS_DIRECTORY): Promise<Migration[]> {
  const files = (await readdir(directory)).filter((file) => file.endsWith('.sql')).sort()
  const migrations: Migration[] = []
  for (const file of files) {
    const [, digits, name] = /^(\d{4})_([a-z0-9_]+)\.sql$/.exec(file) ?? []
    if (!digits || !name) throw new Error(`Migration ${file} is not named like 0001_name.sql`)
    const previous = migrations.at(-1)
    if (previous?.version === Number(digits)) {
      throw new Error(`Migrations ${previous.file} and ${file} have the same number`)
    }
    migrations.push({
      version: Number(digits),
      name,
      file,
      sql: await readFile(path.join(directory, file), 'utf8')
    })
  }
  return migrations
}

export interface MigrateOptions {
  log?: Log
  directory?: string
}

/**
 * Applies every migration that the database has not seen, in order of number, and returns those.
 * Safe to call from any number of nodes at once. A config opens a connection of its own; a client is used as it is.
 */
export async function migrate(connection: pg.ClientBase | pg.ClientConfig, options: MigrateOptions = {}) {
  const migrations = await readMigrations(options.directory)
  if ('query' in connection) return migrateWith(connection, migrations, options.log ?? silentLog)
  const client = new pg.Client(connection)
  // A connection lost between two queries fails the next query; without a listener it would end the process.
  client.on('error', () => {})
  await client.connect()
  try {
    return await migrateWith(client, migrations, options.log ?? silentLog)
  } finally {
    await client.end()
  }
}

async function migrateWith(client: pg.ClientBase, migrations: Migration[], log: Log): Promise<Migration[]> {
  await refuseUnfitServer(client)
  await client.query(`select pg_advisory_lock(${MIGRATION_LOCK})`)
  try {
    await client.query(`create table if not exists schema_migrations (
      version int primary key,
      name text not null,
      applied_at timestamptz not null default now()
    )`)
    const { rows } = await client.query<{ version: number; name: string }>(
      'select version, name from schema_migrations order by version'
    )
    refuseUnknown(rows, migrations)
    const applied = new Set(rows.map((row) => row.version))
    const missing = migrations.filter((migration) => !applied.has(migration.version))
    for (const migration of missing) {
      await apply(client, migration)
      log.debug({ migration: migration.file }, 'migration applied')
    }
    if (missing.length > 0) log.info({ count: missing.length, last: missing.at(-1)!.file }, 'migrations applied')
    return missing
  } finally {
    // If the connection is gone, so is its lock.
    await client.query(`select pg_advisory_unlock(${MIGRATION_LOCK})`).catch(() => {})
  }
}

/** Migrations that this database has not seen yet; empty when it is ready for this code. */
export async function pendingMigrations(client: { query: pg.Pool['query'] }, directory?: string) {
  const migrations = await readMigrations(directory)
  const { rows: exists } = await client.query("select to_regclass('schema_migrations') is not null as yes")
  if (!exists[0].yes) return migrations
  const { rows } = await client.query<{ version: number }>('select version from schema_migrations')
  const applied = new Set(rows.map((row) => row.version))
  return migrations.filter((migration) => !applied.has(migration.version))
}

async function refuseUnfitServer(client: pg.ClientBase) {
  const { rows } = await client.query(
    "select current_setting('server_version') as version, current_setting('server_encoding') as encoding"
  )
  const { version, encoding } = rows[0]
  if (Number.parseInt(version, 10) < SERVER_VERSION_MIN) {
    throw new Error(`The database is PostgreSQL ${version}; Herald needs ${SERVER_VERSION_MIN} or newer`)
  }
  if (encoding !== 'UTF8') {
    throw new Error(
      `The database stores text as ${encoding}; Herald needs UTF8 (create database … encoding 'UTF8' template template0)`
    )
  }
}

function refuseUnknown(rows: { version: number; name: string }[], migrations: Migration[]) {
  const known = new Set(migrations.map((migration) => migration.version))
  const unknown = rows.filter((row) => !known.has(row.version))
  if (unknown.length === 0) return
  const names = unknown.map((row) => `${String(row.version).padStart(4, '0')}_${row.name}`).join(', ')
  throw new Error(
    `The database was migrated by a newer Herald (${names} is unknown to this version). ` +
      'Run that version or a later one, or restore the backup made before the upgrade.'
  )
}

async function apply(client: pg.ClientBase, migration: Migration) {
  await client.query('begin')
  try {
    await client.query(migration.sql)
    await client.query('insert into schema_migrations (version, name) values ($1, $2)', [
      migration.version,
      migration.name
    ])
    await client.query('commit')
  } catch (error) {
    await client.query('rollback').catch(() => {})
    throw new Error(`Migration ${migration.file}${lineOf(error, migration.sql)}: ${(error as Error).message}`, {
      cause: error
    })
  }
}

function lineOf(error: unknown, sql: string) {
  const position = Number((error as { position?: string }).position)
  return position ? ` line ${sql.slice(0, position).split('\n').length}` : ''
}
