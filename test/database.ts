/** A database of its own for every test that asks, cloned from a migrated template and dropped afterwards. */
import { createHash, randomBytes } from 'node:crypto'
import { setTimeout as sleep } from 'node:timers/promises'
import pg from 'pg'
import { type Database, openDatabase } from '../src/storage/db.ts'
import { migrate, readMigrations } from '../src/storage/migrate.ts'
import { testServerUrl } from './server.ts'

/** A test context, or `{ after }` of node:test for one database per file. */
export interface Cleanup {
  after(cleanup: () => Promise<void>): void
}

export interface TestDatabase {
  database: Database
  url: string
}

/** Any number will do, as long as all test processes use the same. */
const TEMPLATE_LOCK = 7_263_001
const CLOSE_TIMEOUT_MS = 2_000

export async function testDatabase(t: Cleanup): Promise<TestDatabase> {
  return createDatabase(t, await migratedTemplate())
}

/** Without any table, for tests of migrations themselves. */
export async function emptyDatabase(t: Cleanup): Promise<TestDatabase> {
  return createDatabase(t, 'template0')
}

async function createDatabase(t: Cleanup, template: string): Promise<TestDatabase> {
  const name = `herald_test_${Date.now().toString(36)}_${randomBytes(5).toString('hex')}`
  await onServer((client) => client.query(`create database ${name} template ${template} strategy wal_log`))
  const url = await urlOf(name)
  const database = openDatabase({ url, connectionsMax: 10 })
  t.after(async () => {
    // A connection that a failed test never gave back must not hang the run: dropping by force ends it.
    await Promise.race([database.close(), sleep(CLOSE_TIMEOUT_MS, undefined, { ref: false })])
    await onServer((client) => drop(client, name))
  })
  return { database, url }
}

let template: Promise<string> | undefined

/** Named after the migrations, so that people with different ones can share a server. */
function migratedTemplate() {
  template ??= (async () => {
    const hash = createHash('sha256')
    for (const { file, sql } of await readMigrations()) hash.update(`${file}\n${sql}\n`)
    const name = `herald_template_${hash.digest('hex').slice(0, 16)}`
    await onServer(async (client) => {
      await client.query(`select pg_advisory_lock(${TEMPLATE_LOCK})`)
      if (await exists(client, name)) return
      // Made under another name and renamed, so that a half-migrated one is never cloned.
      const unfinished = `${name}_new`
      await client.query(`drop database if exists ${unfinished} with (force)`)
      await client.query(`create database ${unfinished} template template0`)
      await migrate({ connectionString: await urlOf(unfinished) })
      await client.query(`alter database ${unfinished} with allow_connections false`)
      await client.query(`alter database ${unfinished} rename to ${name}`)
    })
    return name
  })()
  return template
}

async function drop(client: pg.Client, name: string) {
  // A backend needs a moment to exit, and PostgreSQL looks again only every 100 ms; asking first is quicker.
  for (let tries = 0; tries < 20; tries++) {
    const { rowCount } = await client.query('select 1 from pg_stat_activity where datname = $1', [name])
    if (rowCount === 0) break
    await sleep(1)
  }
  await client.query(`drop database if exists ${name} with (force)`)
}

async function exists(client: pg.Client, name: string) {
  const { rowCount } = await client.query('select 1 from pg_database where datname = $1', [name])
  return rowCount === 1
}

async function onServer(act: (client: pg.Client) => Promise<unknown>) {
  const client = new pg.Client({ connectionString: await testServerUrl() })
  client.on('error', () => {})
  await client.connect()
  try {
    await act(client)
  } finally {
    await client.end()
  }
}

async function urlOf(name: string) {
  const url = new URL(await testServerUrl())
  url.pathname = `/${name}`
  return url.href
}
