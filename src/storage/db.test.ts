import assert from 'node:assert/strict'
import { after, test } from 'node:test'
import { CompiledQuery } from 'kysely'
import { testDatabase } from '../../test/database.ts'
import { isDatabaseAway, openDatabase, planOnce, violatedConstraint } from './db.ts'

const { database, url } = await testDatabase({ after })

test('timestamps come back as ISO strings in milliseconds and bigints exactly', async () => {
  const { rows } = await database.pool.query(`select
    timestamptz '2026-01-15 12:00:00Z' as whole, timestamptz '2026-01-15 14:00:00.12+02' as shifted,
    timestamptz '2026-01-15 12:00:00.123999Z' as micro, timestamptz 'infinity' as never, null::timestamptz as nothing,
    9223372036854775807::bigint as big, 0.10::numeric as exact, '{"a":[1]}'::jsonb as json`)

  assert.deepEqual(rows[0], {
    whole: '2026-01-15T12:00:00.000Z',
    shifted: '2026-01-15T12:00:00.120Z',
    micro: '2026-01-15T12:00:00.123Z',
    never: 'infinity',
    nothing: null,
    big: 9223372036854775807n,
    exact: '0.10',
    json: { a: [1] }
  })
})

test('a statement that is planned once is prepared on its connection, and answers as before', async () => {
  const text = planOnce('test.twice', 'select $1::int * 2 as twice')
  await database.db.transaction().execute(async (tx) => {
    for (const n of [4, 5]) {
      const { rows } = await tx.executeQuery<{ twice: number }>(CompiledQuery.raw(text, [n]))
      assert.deepEqual(rows, [{ twice: n * 2 }])
    }
    const { rows } = await tx.executeQuery(
      CompiledQuery.raw('select name from pg_prepared_statements where statement = $1', [text])
    )
    assert.deepEqual(rows, [{ name: 'test.twice' }])
  })
})

test('tells a database that is away from a query that is wrong', async () => {
  const failure = (promise: Promise<unknown>) =>
    promise.then(
      () => assert.fail('it did not fail'),
      (error: unknown) => error
    )
  const nowhere = openDatabase({ url: 'postgres://herald@127.0.0.1:1/herald' })
  const noSocket = openDatabase({ url: 'postgres://herald@%2Fnowhere:5432/herald' })

  assert.equal(isDatabaseAway(await failure(nowhere.pool.query('select 1'))), true)
  assert.equal(isDatabaseAway(await failure(noSocket.pool.query('select 1'))), true)
  assert.equal(
    isDatabaseAway(await failure(database.pool.query('select pg_terminate_backend(pg_backend_pid())'))),
    true
  )
  assert.equal(isDatabaseAway(await failure(database.pool.query('select nonsense'))), false)
})

test('names the constraint that a write violated', async () => {
  const insert = () => database.pool.query('insert into test_clock (offset_ms) values (1)')
  await insert()

  const error = await insert().catch((error: unknown) => error)

  assert.equal(violatedConstraint(error), 'test_clock_pkey')
  assert.equal(violatedConstraint(new Error('something else')), undefined)
})

test('closing ends every connection, whoever opened it', async () => {
  const other = openDatabase({ url })
  await other.pool.query('select 1')

  await other.close()

  assert.equal(other.pool.totalCount, 0)
  assert.equal((await database.pool.query('select 1 as n')).rows[0].n, 1)
})
