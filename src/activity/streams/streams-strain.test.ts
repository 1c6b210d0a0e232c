/** Streams when something is wrong: readers that do not read, nodes that die or stop, connections that are lost. */
import assert from 'node:assert/strict'
import { spawn } from 'node:child_process'
import path from 'node:path'
import { createInterface } from 'node:readline'
import { after, type TestContext, test } from 'node:test'
import { startApp, type TestApp } from '../../../test/app.ts'
import { type GivenApp, givenApp } from '../../../test/given.ts'
import { openStream, type StreamClient } from '../../../test/stream.ts'
import { newId } from '../../storage/ids.ts'

const a = await startApp({ after }, { HERALD_STREAM_KEEP_ALIVE: '200ms' })
const onA = (await a.listen()).main

// Makes the partitions that the floods below write into.
await publish(a, [{ event_type: 'profile.update.bio', user_id: '1', payload: {} }])

const node = async (name: string, env: Record<string, string>) => {
  // The database knows the connections of each node by their name.
  const url = new URL(a.databaseUrl)
  url.searchParams.set('application_name', name)
  const beside = { ...a, databaseUrl: url.href }
  const app = await startApp({ after }, { HERALD_STREAM_KEEP_ALIVE: '200ms', ...env }, { beside })
  return { app, url: (await app.listen()).main }
}

const ACTIVITY = '/2/activity/stream'

/** Another node, with little room for slow readers. Stopped by the last test that needs it. */
const b = await node('b', { HERALD_STREAM_BUFFER_BYTES_MAX: '20000', HERALD_STREAM_BACKLOG_MAX: '250' })

async function publish(to: TestApp, events: object[]) {
  const answer = await to.apps.main.inject({
    method: 'POST',
    url: '/admin/events',
    headers: { authorization: `Bearer ${to.adminToken}` },
    payload: { events }
  })
  assert.equal(answer.statusCode, 202, answer.body)
}

async function givenSubscriber(quotas: Record<string, number> = {}) {
  const app = await givenApp(a, { quotas })
  const user = newId()
  const answer = await a.apps.main.inject({
    method: 'POST',
    url: '/2/activity/subscriptions',
    headers: app.headers,
    payload: { event_type: 'profile.update.bio', filter: { user_id: user } }
  })
  assert.equal(answer.statusCode, 200)
  const bio = (number: number, padding = 0) => ({
    event_type: 'profile.update.bio',
    user_id: user,
    payload: { after: `${number}`, padding: 'x'.repeat(padding) }
  })
  /** More than the sockets between server and client hold by themselves; past the admin API, to be quick about it. */
  const flood = async (count: number, { from = 0, bytes = 40_000 } = {}) => {
    await a.deps.database.pool.query(
      `with new_events as (
         insert into events (created_at, occurred_at, id, event_type, user_id, payload)
         select $1, $1, $2::bigint + n, 'profile.update.bio', $3, json_build_object('after', n::text, 'padding', repeat('x', $4))
         from generate_series($6::int, $6 + $5 - 1) as n returning id)
       select pg_notify('herald_events', string_agg(id, ',' order by id)) from new_events group by id::bigint / 100`,
      [new Date(a.deps.clock.now()), newId(), user, bytes, count, from]
    )
  }
  return { app, bio, flood }
}

const numbers = ({ items }: StreamClient) =>
  items.flatMap((item) => (item as { data?: { payload: { after: string } } }).data?.payload.after ?? []).map(Number)
const upTo = (count: number) => Array.from({ length: count }, (_, n) => n)
const lastError = ({ items }: StreamClient) => (items.at(-1) as { errors?: [Record<string, string>] }).errors?.[0]

/** Why so many connections ended; that is recorded a moment after it happens. */
async function reasonsOf(app: GivenApp, count: number): Promise<string[]> {
  for (;;) {
    const answer = await a.apps.main.inject({ url: '/2/connections?status=inactive', headers: app.headers })
    const { data } = answer.json() as { data: { disconnect_reason: string }[] }
    if (data.length >= count) return data.map((each) => each.disconnect_reason)
    await new Promise((resolve) => setTimeout(resolve, 10))
  }
}

test('a reader that pauses gets everything when it goes on, in order', async (t) => {
  const { app, bio, flood } = await givenSubscriber()
  const stream = await openStream(t, b.url + ACTIVITY, app.headers)

  stream.pause()
  await flood(200)
  stream.resume()
  await stream.received(200)
  await publish(b.app, [bio(200)])
  await stream.received(201)

  assert.deepEqual(numbers(stream), upTo(201))
})

test('a reader that falls too far behind is told so and disconnected; others notice nothing', async (t) => {
  const { app, flood } = await givenSubscriber()
  const slow = await openStream(t, b.url + ACTIVITY, app.headers)
  const quick = await openStream(t, b.url + ACTIVITY, app.headers)

  slow.pause()
  // In steps that a reader who reads keeps up with.
  for (const from of [0, 150, 300]) {
    await flood(150, { from })
    await quick.received(from + 150)
  }
  await quick.received(450)
  slow.resume()
  await slow.ended()

  assert.deepEqual(numbers(quick), upTo(450))
  const received = numbers(slow)
  assert.ok(received.length < 450)
  assert.deepEqual(received, upTo(received.length))
  assert.equal(lastError(slow)?.type, 'https://herald.example/problems/operational-disconnect')
  assert.equal(lastError(slow)?.disconnect_type, 'SlowReader')
  assert.deepEqual(await reasonsOf(app, 1), ['slow_reader'])
})

test('a reader that takes nothing for too long is disconnected', async (t) => {
  const { app, flood } = await givenSubscriber()
  const { url } = await node('c', { HERALD_STREAM_STALL: '300ms' })
  const stream = await openStream(t, url + ACTIVITY, app.headers)
  const idle = await openStream(t, url + ACTIVITY, app.headers)

  stream.pause()
  await flood(200)
  const reasons = await reasonsOf(app, 1)

  assert.deepEqual(reasons, ['slow_reader'])
  assert.equal((await idle.received(200)).length, 200)
})

test('a backfill longer than any buffer goes at the pace of its reader and loses nothing that is new', async (t) => {
  const { app, bio, flood } = await givenSubscriber()
  await flood(200)

  const stream = await openStream(t, `${onA}${ACTIVITY}?backfill_minutes=5`, app.headers)
  stream.pause()
  await publish(
    a,
    upTo(50).map((n) => bio(200 + n))
  )
  stream.resume()
  await stream.received(250)

  const received = numbers(stream)
  assert.equal(received.length, 250)
  assert.deepEqual(new Set(received), new Set(upTo(250)))
  assert.deepEqual(
    received.slice(-50),
    upTo(50).map((n) => 200 + n)
  )
})

test('a stream survives the loss of all database connections of its node, and misses nothing', async (t) => {
  const { app, bio } = await givenSubscriber()
  const stream = await openStream(t, b.url + ACTIVITY, app.headers)
  await publish(a, [bio(0)])
  await stream.received(1)

  for (let round = 1; round <= 2; round++) {
    const { rowCount } = await a.deps.database.pool.query(
      "select pg_terminate_backend(pid) from pg_stat_activity where datname = current_database() and application_name = 'b'"
    )
    assert.ok(rowCount! > 0)
    await publish(a, [bio(round)])
    await stream.received(round + 1)
  }

  assert.deepEqual(numbers(stream), upTo(3))
})

/** Another Herald on the same database, as a process that can be killed. */
async function startProcess(t: TestContext) {
  const root = path.resolve(import.meta.dirname, '../../..')
  const child = spawn(process.execPath, ['src/main.ts'], {
    cwd: root,
    env: {
      PATH: process.env.PATH,
      DATABASE_URL: a.databaseUrl,
      HERALD_DATA_DIR: a.deps.config.HERALD_DATA_DIR,
      HERALD_ADMIN_TOKEN: a.adminToken,
      HERALD_SECRET_KEY: '00'.repeat(32),
      HERALD_PORT: '0',
      HERALD_SANDBOX_PORT: '0'
    },
    stdio: ['ignore', 'pipe', 'inherit']
  })
  t.after(() => child.kill('SIGKILL'))
  for await (const line of createInterface(child.stdout)) {
    const url = /http:\/\/[0-9.]+:[0-9]+/.exec(line)?.[0]
    if (url) return { url, kill: () => child.kill('SIGKILL') }
  }
  throw new Error('Herald did not say where it is')
}

test('the streams of a node that is killed end; its connections are free for others, and on record', async (t) => {
  const { app, bio } = await givenSubscriber({ activity_stream_connections: 1 })
  const doomed = await startProcess(t)
  const stream = await openStream(t, doomed.url + ACTIVITY, app.headers)
  await publish(a, [bio(1)])
  await stream.received(1)

  doomed.kill()
  await stream.ended()
  await publish(a, [bio(2)])
  const refused = await openStream(t, onA + ACTIVITY, app.headers)
  // Nobody waits here for the lease of the dead node to run out.
  const { rowCount } = await a.deps.database.pool.query(
    `update stream_nodes set lease_until = now() - interval '1 second'
     where id = (select node_id from stream_connections where app_id = $1 and disconnected_at is null)`,
    [app.id]
  )
  const again = await openStream(t, `${onA + ACTIVITY}?backfill_minutes=1`, app.headers)
  await again.received(2)

  assert.equal(rowCount, 1)
  assert.equal(refused.status, 429)
  assert.deepEqual(numbers(again), [1, 2])
  assert.deepEqual(await reasonsOf(app, 1), ['node_lost'])
})

test('a node that was thought dead ends its streams when it finds out', async (t) => {
  const { app } = await givenSubscriber()
  const stream = await openStream(t, b.url + ACTIVITY, app.headers)

  // Only this one: others would find out in the middle of the tests that follow.
  await a.deps.database.pool.query(
    'delete from stream_nodes where id = (select node_id from stream_connections where app_id = $1)',
    [app.id]
  )
  await stream.ended()
  const again = await openStream(t, b.url + ACTIVITY, app.headers)

  assert.equal(lastError(stream)?.disconnect_type, 'OperationalDisconnect')
  assert.equal(again.status, 200)
})

test('a node that stops tells its streams to go elsewhere, and does not wait for readers', async (t) => {
  const { app, flood } = await givenSubscriber()
  const stream = await openStream(t, b.url + ACTIVITY, app.headers)
  const asleep = await openStream(t, b.url + ACTIVITY, app.headers)
  asleep.pause()
  await flood(200)
  await stream.received(200)

  const began = performance.now()
  await b.app.stop()
  const took = performance.now() - began
  await stream.ended()

  assert.equal(lastError(stream)?.disconnect_type, 'OperationalDisconnect')
  assert.deepEqual(await reasonsOf(app, 2), ['server_shutdown', 'server_shutdown'])
  assert.ok(took < 5_000, `${took} ms`)
  assert.equal((await openStream(t, onA + ACTIVITY, app.headers)).status, 200)
})

test('serves 500 connections at once', async (t) => {
  const { app, bio } = await givenSubscriber({ activity_stream_connections: 600 })
  const streams = await Promise.all(upTo(500).map(() => openStream(t, onA + ACTIVITY, app.headers)))

  await publish(a, [bio(7)])
  await Promise.all(streams.map((stream) => stream.received(1)))
  const killed = await a.apps.main.inject({ method: 'DELETE', url: '/2/connections/all', headers: app.headers })
  await Promise.all(streams.map((stream) => stream.ended()))

  assert.equal(killed.json().data.successful_kills, 500)
  for (const stream of streams) {
    assert.equal(stream.items.length, 2)
    assert.equal(lastError(stream)?.disconnect_type, 'ForceDisconnect')
  }
  const metrics = await a.apps.main.inject({ url: '/metrics' })
  assert.match(metrics.body, /^# TYPE herald_streams_open gauge$/m)
})
