import assert from 'node:assert/strict'
import { after, test } from 'node:test'
import { testDatabase } from '../../test/database.ts'
import type { Database } from './db.ts'
import { createListener } from './listen.ts'

const { database } = await testDatabase({ after })

const notify = (database: Database, channel: string, payload = '') =>
  database.pool.query('select pg_notify($1, $2)', [channel, payload])

/** Ends the connection that listens; the pool's own are left alone. */
const cut = (database: Database) =>
  database.pool.query(`select pg_terminate_backend(pid) from pg_stat_activity
    where datname = current_database() and pid <> pg_backend_pid() and (query ilike 'listen%' or query = 'select 1')`)

test('hears what is sent on its channels, and nothing else', async () => {
  const listener = createListener(database)
  const heard: string[] = []
  listener.on('one', (payload) => heard.push(`one ${payload}`))
  await listener.ready()
  // Asked for after the connection stands.
  const last = Promise.withResolvers<void>()
  listener.on('Two', (payload) => {
    heard.push(`two ${payload}`)
    last.resolve()
  })
  await listener.ready()

  await notify(database, 'one', 'a')
  await notify(database, 'three', 'b')
  await notify(database, 'Two', 'c')
  await last.promise

  assert.deepEqual(heard, ['one a', 'two c'])
  await listener.close()
})

test('a listener that fails does not keep the others from hearing', async () => {
  const listener = createListener(database)
  const heard = Promise.withResolvers<string>()
  listener.on('one', () => {
    throw new Error('cannot bear it')
  })
  listener.on('one', heard.resolve)
  await listener.ready()

  await notify(database, 'one', 'a')

  assert.equal(await heard.promise, 'a')
  await listener.close()
})

test('listens again after a lost connection, and says that something may have been missed', async () => {
  const listener = createListener(database)
  const reconnected = Promise.withResolvers<void>()
  const heard = Promise.withResolvers<string>()
  listener.on('one', heard.resolve)
  listener.onReconnect(reconnected.resolve)
  await listener.ready()

  await cut(database)
  await reconnected.promise
  await notify(database, 'one', 'after')

  assert.equal(await heard.promise, 'after')
  await listener.close()
})

test('what was taken back is not heard', async () => {
  const listener = createListener(database)
  const heard: string[] = []
  const stop = listener.on('one', (payload) => heard.push(payload))
  const other = Promise.withResolvers<string>()
  listener.on('one', other.resolve)
  await listener.ready()
  stop()

  await notify(database, 'one', 'a')
  await other.promise

  assert.deepEqual(heard, [])
  await listener.close()
})

test('closing before the database was ever reached ends the attempts', async () => {
  const listener = createListener({
    connection: { connectionString: 'postgres://herald@127.0.0.1:1/herald' }
  } as Database)

  await listener.close()
})
