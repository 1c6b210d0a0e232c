import assert from 'node:assert/strict'
import { mkdtemp, rm, writeFile } from 'node:fs/promises'
import os from 'node:os'
import path from 'node:path'
import { type TestContext, test } from 'node:test'
import { emptyDatabase } from '../../test/database.ts'
import type { Database } from './db.ts'
import { migrate, pendingMigrations, readMigrations } from './migrate.ts'

async function directoryOf(t: TestContext, files: Record<string, string>) {
  const directory = await mkdtemp(path.join(os.tmpdir(), 'herald-migrations-'))
  t.after(() => rm(directory, { recursive: true }))
  const add = async (more: Record<string, string>) => {
    for (const [name, sql] of Object.entries(more)) await writeFile(path.join(directory, name), sql)
  }
  await add(files)
  return { directory, add }
}

const versionsOf = async (database: Database) =>
  (await database.pool.query('select version from schema_migrations order by version')).rows.map((row) => row.version)

const tableExists = async (database: Database, name: string) =>
  (await database.pool.query('select to_regclass($1) is not null as yes', [name])).rows[0].yes

test('applies every file once when three nodes start at the same moment', async (t) => {
  const { database } = await emptyDatabase(t)
  const { directory } = await directoryOf(t, {
    '0001_one.sql': 'create table one (n int); select pg_sleep(0.05)',
    '0010_ten.sql': 'insert into one values (10)'
  })

  const applied = await Promise.all([1, 2, 3].map(() => migrate(database.connection, { directory })))

  assert.deepEqual(applied.map((list) => list.length).sort(), [0, 0, 2])
  assert.deepEqual((await database.pool.query('select n from one')).rows, [{ n: 10 }])
})

test('fills a gap in the numbers later, in order', async (t) => {
  const { database } = await emptyDatabase(t)
  const { directory, add } = await directoryOf(t, {
    '0001_one.sql': 'create table one ()',
    '0010_ten.sql': 'create table ten ()'
  })
  await migrate(database.connection, { directory })
  await add({ '0006_six.sql': 'create table six ()', '0005_five.sql': 'create table five ()' })

  const applied = await migrate(database.connection, { directory })

  assert.deepEqual(
    applied.map((migration) => migration.name),
    ['five', 'six']
  )
  assert.deepEqual(await versionsOf(database), [1, 5, 6, 10])
})

test('refuses a database that a newer version has migrated, and says what to do', async (t) => {
  const { database } = await emptyDatabase(t)
  const { directory } = await directoryOf(t, { '0001_one.sql': 'create table one ()' })
  const { directory: newer } = await directoryOf(t, {
    '0001_one.sql': 'create table one ()',
    '0002_two.sql': 'create table two ()'
  })
  await migrate(database.connection, { directory: newer })

  await assert.rejects(
    migrate(database.connection, { directory }),
    /newer Herald \(0002_two.*Run that version.*or restore/
  )
})

test('a file that fails leaves nothing behind and is named with its line', async (t) => {
  const { database } = await emptyDatabase(t)
  const { directory, add } = await directoryOf(t, {
    '0001_good.sql': 'create table good ()',
    '0002_bad.sql': 'create table half ();\n\nselect * from nowhere;'
  })

  await assert.rejects(migrate(database.connection, { directory }), /0002_bad\.sql line 3: .*nowhere/)

  assert.equal(await tableExists(database, 'half'), false)
  assert.deepEqual(await versionsOf(database), [1])
  await add({ '0002_bad.sql': 'create table half ()' })
  await migrate(database.connection, { directory })
  assert.equal(await tableExists(database, 'half'), true)
})

test('says which migrations are still to come', async (t) => {
  const { database } = await emptyDatabase(t)
  const { directory } = await directoryOf(t, { '0001_one.sql': 'create table one ()' })

  assert.equal((await pendingMigrations(database.pool, directory)).length, 1)
  await migrate(database.connection, { directory })
  assert.equal((await pendingMigrations(database.pool, directory)).length, 0)
})

test('refuses files it cannot put in order', async (t) => {
  const { directory } = await directoryOf(t, { '0001_a.sql': '', '0001_b.sql': '' })
  await assert.rejects(readMigrations(directory), /0001_a\.sql and 0001_b\.sql have the same number/)
  const { directory: odd } = await directoryOf(t, { 'first.sql': '' })
  await assert.rejects(readMigrations(odd), /first\.sql is not named like/)
})

test('a client of the caller is used and left open', async (t) => {
  const { database } = await emptyDatabase(t)
  const { directory } = await directoryOf(t, { '0001_one.sql': 'create table one ()' })
  const client = await database.pool.connect()

  await migrate(client, { directory })

  assert.equal((await client.query('select 1 as n')).rows[0].n, 1)
  client.release()
})
