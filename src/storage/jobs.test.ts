import assert from 'node:assert/strict'
import { after, beforeEach, test } from 'node:test'
import { setTimeout as sleep } from 'node:timers/promises'
import { sql } from 'kysely'
import { Type } from 'typebox'
import { testDatabase } from '../../test/database.ts'
import { createTestClock } from '../clock.ts'
import { type Database, openDatabase } from './db.ts'
import { releaseExpired } from './jobs/claims.ts'
import {
  cancelJob,
  createJobRegistry,
  createWorker,
  defineJob,
  enqueue,
  enqueueMany,
  type JobContext,
  type JobDefinition,
  nextJobDueAt
} from './jobs.ts'
import { createListener } from './listen.ts'

const { database, url } = await testDatabase({ after })
const clock = createTestClock()

beforeEach(() => database.pool.query('truncate jobs; drop table if exists effects'))

function workerOf(database: Database, jobs: JobDefinition[], more: object = {}) {
  const registry = createJobRegistry()
  registry.add(...jobs)
  return createWorker({ database, clock, registry, ...more })
}

const jobsOf = async (database: Database) => (await database.pool.query('select * from jobs order by id')).rows

/** A promise to wait for and the function that keeps it. */
const gate = () => Promise.withResolvers<void>()

/** Waits for a condition that another process or connection brings about. */
async function until(condition: () => boolean | Promise<boolean>) {
  for (let tries = 0; tries < 500; tries++) {
    if (await condition()) return
    await sleep(10)
  }
  assert.fail('it did not happen within five seconds')
}

test('runs each job once under two workers', async () => {
  const runs: number[] = []
  const job = defineJob<{ n: number }>('count', { run: async ({ n }) => void runs.push(n), concurrency: 7 })
  await enqueueMany(
    database.db,
    'count',
    Array.from({ length: 200 }, (_, n) => ({ payload: { n } }))
  )

  await Promise.all([workerOf(database, [job]).drain(), workerOf(database, [job]).drain()])

  assert.deepEqual(
    runs.sort((a, b) => a - b),
    Array.from({ length: 200 }, (_, n) => n)
  )
  assert.deepEqual(await jobsOf(database), [])
})

test('runs jobs that are due at once in the order in which they were asked for', async () => {
  const runs: number[] = []
  const job = defineJob<{ n: number }>('count', { run: async ({ n }) => void runs.push(n), concurrency: 1 })
  for (const n of [1, 2, 3]) await enqueue(database.db, 'count', { n })

  await workerOf(database, [job]).drain()

  assert.deepEqual(runs, [1, 2, 3])
})

test('a job exists only if the transaction that asked for it commits', async () => {
  await assert.rejects(
    database.db.transaction().execute(async (tx) => {
      await enqueue(tx, 'never', {})
      throw new Error('changed my mind')
    })
  )

  assert.deepEqual(await jobsOf(database), [])
})

test('retries by the schedule and the clock, then keeps the row as failed', async () => {
  const clock = createTestClock()
  const attempts: number[] = []
  const registry = createJobRegistry()
  registry.add(
    defineJob('fails', {
      retryDelaysSeconds: [60, 3_600],
      whenExhausted: 'fail',
      async run(_, { job }) {
        attempts.push(job.attempts)
        throw new Error('no luck')
      }
    })
  )
  const worker = createWorker({ database, clock, registry })
  await enqueue(database.db, 'fails', {})

  await worker.drain()
  assert.deepEqual(attempts, [1])
  clock.offsetMs += 59_000
  await worker.drain()
  assert.deepEqual(attempts, [1])
  clock.offsetMs += 2_000
  await worker.drain()
  assert.deepEqual(attempts, [1, 2])
  clock.offsetMs += 3_600_000
  await worker.drain()
  assert.deepEqual(attempts, [1, 2, 3])
  clock.offsetMs += 365 * 86_400_000
  await worker.drain()

  assert.deepEqual(attempts, [1, 2, 3])
  const [row] = await jobsOf(database)
  assert.equal(row.state, 'failed')
  assert.equal(row.last_error, 'no luck')
})

test('keeps trying at the last pace unless told to give up', async () => {
  const clock = createTestClock()
  let runs = 0
  const registry = createJobRegistry()
  registry.add(
    defineJob('stubborn', {
      retryDelaysSeconds: [10],
      async run() {
        if (++runs < 5) throw new Error('not yet')
      }
    })
  )
  const worker = createWorker({ database, clock, registry })
  await enqueue(database.db, 'stubborn', {})

  for (let step = 0; step < 6; step++, clock.offsetMs += 10_000) await worker.drain()

  assert.equal(runs, 5)
  assert.deepEqual(await jobsOf(database), [])
})

test('a job is not run before it is due', async () => {
  const clock = createTestClock()
  let runs = 0
  const registry = createJobRegistry()
  registry.add(defineJob('later', { run: async () => void runs++ }))
  const worker = createWorker({ database, clock, registry })
  const dueAt = clock.now() + 28 * 3_600_000
  await enqueue(database.db, 'later', {}, { dueAt })

  await worker.drain()
  assert.equal(runs, 0)
  assert.equal(await nextJobDueAt(database.db, ['later']), dueAt)
  clock.offsetMs += 28 * 3_600_000
  await worker.drain()

  assert.equal(runs, 1)
})

test('asking again under a key is the same job, at the earlier time and with the newer payload', async () => {
  const now = clock.now()

  const first = await enqueue(database.db, 'keyed', { n: 1 }, { key: 'a', dueAt: now + 5_000 })
  const second = await enqueue(database.db, 'keyed', { n: 2 }, { key: 'a', dueAt: now + 1_000 })
  const third = await enqueue(database.db, 'keyed', { n: 3 }, { key: 'a', dueAt: now + 9_000 })
  const other = await enqueue(database.db, 'keyed', { n: 4 }, { key: 'b' })

  assert.equal(second, first)
  assert.equal(third, first)
  assert.notEqual(other, first)
  const [row] = await jobsOf(database)
  assert.deepEqual([row.payload, Date.parse(row.due_at)], [{ n: 3 }, now + 1_000])
  await enqueue(database.db, 'keyed', { n: 5 }, { key: 'a', dueAt: now + 9_000, replaceDue: true })
  assert.equal(Date.parse((await jobsOf(database))[0].due_at), now + 9_000)
})

test('a job that is asked for again while it runs runs once more', async () => {
  const seen: number[] = []
  const job = defineJob<{ n: number }>('keyed', {
    async run({ n }) {
      seen.push(n)
      if (n === 1) await enqueue(database.db, 'keyed', { n: 2 }, { key: 'a' })
    }
  })
  await enqueue(database.db, 'keyed', { n: 1 }, { key: 'a' })

  await workerOf(database, [job]).drain()

  assert.deepEqual(seen, [1, 2])
  assert.deepEqual(await jobsOf(database), [])
})

test('a job that was cancelled while it ran does not come back', async () => {
  let runs = 0
  const job = defineJob('keyed', {
    async run() {
      runs++
      await cancelJob(database.db, 'keyed', 'a')
      return { againAt: 0 }
    }
  })
  await enqueue(database.db, 'keyed', {}, { key: 'a' })

  await workerOf(database, [job]).drain()

  assert.equal(runs, 1)
  assert.deepEqual(await jobsOf(database), [])
})

test('a worker that lost its lease can neither complete the job nor commit for it', async () => {
  await database.pool.query('create table effects (worker text)')
  const started = gate()
  const resumed = gate()
  const outcomes: string[] = []
  const effect = (name: string) => (context: JobContext) =>
    context.transaction((tx) => sql`insert into effects values (${name})`.execute(tx))
  const slow = defineJob('fenced', {
    async run(_, context) {
      started.resolve()
      await resumed.promise
      await effect('slow')(context)
    }
  })
  const quick = defineJob('fenced', { run: async (_, context) => void (await effect('quick')(context)) })
  const observe = (_: string, outcome: string) => void outcomes.push(outcome)
  // One at a time: otherwise the first worker, still draining, may itself take over the job that it lost.
  const first = workerOf(database, [slow], { observe, concurrency: 1 })
  await enqueue(database.db, 'fenced', {})

  const draining = first.drain()
  await started.promise
  await database.pool.query("update jobs set lease_until = now() - interval '1 second'")
  await workerOf(database, [quick], { observe }).drain()
  resumed.resolve()
  await draining

  assert.deepEqual((await database.pool.query('select worker from effects')).rows, [{ worker: 'quick' }])
  assert.deepEqual(outcomes, ['done', 'lost'])
})

test('nobody takes a job over while its own transaction is open, even past its lease', async () => {
  const inside = gate()
  const resumed = gate()
  const ended = Promise.withResolvers<string>()
  const job = defineJob('fenced', {
    async run(_, context) {
      await database.pool.query("update jobs set lease_until = now() - interval '1 second'")
      await context.transaction(async () => {
        inside.resolve()
        await resumed.promise
      })
    }
  })
  await enqueue(database.db, 'fenced', {})
  const worker = workerOf(database, [job], { observe: (_: string, outcome: string) => ended.resolve(outcome) })
  worker.start()
  await inside.promise

  const taken = await releaseExpired(database.db, ['fenced'])
  resumed.resolve()

  assert.deepEqual(taken, [])
  assert.equal(await ended.promise, 'done')
  await worker.stop()
})

test('a long job keeps its lease by renewing it', async () => {
  const finished = gate()
  const ended = Promise.withResolvers<string>()
  const job = defineJob('long', { leaseSeconds: 0.3, run: () => finished.promise })
  await enqueue(database.db, 'long', {})
  const worker = workerOf(database, [job], { observe: (_: string, outcome: string) => ended.resolve(outcome) })
  worker.start()

  const [claimed] = await eventually(database, (rows) => rows[0]?.state === 'running')
  await eventually(database, (rows) => Date.parse(rows[0]?.lease_until) > Date.parse(claimed.lease_until) + 300)
  finished.resolve()

  assert.equal(await ended.promise, 'done')
  await worker.stop()
})

async function eventually(database: Database, condition: (rows: Awaited<ReturnType<typeof jobsOf>>) => boolean) {
  let rows: Awaited<ReturnType<typeof jobsOf>> = []
  await until(async () => {
    rows = await jobsOf(database)
    return condition(rows)
  })
  return rows
}

test('a job of a worker that died is run by another', async () => {
  const dying = openDatabase({ url, connectionsMax: 2 })
  const started = gate()
  const stuck = defineJob('orphan', { leaseSeconds: 0.2, run: () => new Promise<void>(() => started.resolve()) })
  const dead = workerOf(dying, [stuck])
  let runs = 0
  const job = defineJob('orphan', { run: async () => void runs++ })
  await enqueue(database.db, 'orphan', {})

  dead.drain().catch(() => {})
  await started.promise
  // No renewal can reach the database any more, as if the process were gone.
  await dying.close()
  await workerOf(database, [job]).drain()

  assert.equal(runs, 1)
})

test('a job that kills its workers is not tried for ever if it may fail', async () => {
  let runs = 0
  const job = defineJob('poison', { retryDelaysSeconds: [1], whenExhausted: 'fail', run: async () => void runs++ })
  await enqueue(database.db, 'poison', {})
  await database.pool.query(
    `update jobs set state = 'running', attempts = 2, lease_token = gen_random_uuid(), lease_until = now()`
  )

  await workerOf(database, [job]).drain()

  assert.equal(runs, 0)
  assert.equal((await jobsOf(database))[0].state, 'failed')
})

test('stopping hands back what does not finish in time, uncounted', async () => {
  const started = gate()
  const job = defineJob('slow', {
    run: (_, { signal }) =>
      new Promise<void>((_, reject) => {
        signal.addEventListener('abort', () => reject(signal.reason))
        started.resolve()
      })
  })
  await enqueue(database.db, 'slow', {})
  const worker = workerOf(database, [job])
  worker.start()
  await started.promise

  await worker.stop({ graceMs: 0 })

  const [row] = await jobsOf(database)
  assert.deepEqual([row.state, row.attempts, row.last_error], ['pending', 0, null])
})

test('a job that finishes within a transaction has its effect and its end together', async () => {
  await database.pool.query('create table effects (n int)')
  let tries = 0
  const job = defineJob('atomic', {
    retryDelaysSeconds: [0],
    run: (_, context) =>
      context.transaction(async (tx) => {
        await sql`insert into effects values (1)`.execute(tx)
        await context.finish(tx)
        if (++tries === 1) throw new Error('after all, no')
      })
  })
  await enqueue(database.db, 'atomic', {})

  await workerOf(database, [job]).drain()

  assert.equal(tries, 2)
  assert.equal((await database.pool.query('select from effects')).rowCount, 1)
  assert.deepEqual(await jobsOf(database), [])
})

test('a recurring job runs at the start and then at its interval, once for all workers', async () => {
  const clock = createTestClock()
  let runs = 0
  const job = defineJob('tick', { everyMs: 60_000, run: async () => void runs++ })
  const workers = [1, 2].map(() => {
    const registry = createJobRegistry()
    registry.add(job)
    return createWorker({ database, clock, registry })
  })
  const drain = () => Promise.all(workers.map((worker) => worker.drain()))

  await drain()
  assert.equal(runs, 1)
  clock.offsetMs += 30_000
  await drain()
  assert.equal(runs, 1)
  clock.offsetMs += 31_000
  await drain()
  assert.equal(runs, 2)
})

test('a job says when it wants to run again', async () => {
  const clock = createTestClock()
  const registry = createJobRegistry()
  let runs = 0
  registry.add(
    defineJob('steps', {
      async run() {
        return ++runs < 3 ? { againAt: clock.now() + 1_000 } : undefined
      }
    })
  )
  const worker = createWorker({ database, clock, registry })
  await enqueue(database.db, 'steps', {})

  for (let step = 0; step < 5; step++, clock.offsetMs += 1_001) await worker.drain()

  assert.equal(runs, 3)
  assert.deepEqual(await jobsOf(database), [])
})

test('a payload of the wrong shape is refused, with the reason', async () => {
  let runs = 0
  const job = defineJob('typed', { schema: Type.Object({ n: Type.Integer() }), run: async () => void runs++ })
  await enqueue(database.db, 'typed', { n: 'one' })

  await workerOf(database, [job]).drain()

  assert.equal(runs, 0)
  const [row] = await jobsOf(database)
  assert.equal(row.state, 'failed')
  assert.match(row.last_error, /typed.*\/n.*integer/)
})

test('a kind this worker does not know is left for one that does', async () => {
  await enqueue(database.db, 'from the next version', {})

  await workerOf(database, [defineJob('known', { run: async () => {} })]).drain()

  assert.equal((await jobsOf(database))[0].attempts, 0)
})

test('a worker is woken at once, and goes on after the database has cut every connection', async () => {
  const listener = createListener(database)
  let runs = 0
  const job = defineJob('woken', { run: async () => void runs++ })
  // Polling alone would take ten minutes.
  const worker = workerOf(database, [job], { listener, pollMs: 600_000 })
  database.pool.on('error', () => {})
  worker.start()
  await listener.ready()

  await enqueue(database.db, 'woken', {})
  await until(() => runs === 1)
  await database.pool.query(
    'select pg_terminate_backend(pid) from pg_stat_activity where datname = current_database() and pid <> pg_backend_pid()'
  )
  await enqueue(database.db, 'woken', {})
  await until(() => runs === 2)

  await worker.stop()
  await listener.close()
})
