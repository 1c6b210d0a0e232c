import assert from 'node:assert/strict'
import { test } from 'node:test'
import { type Behaviour, presets, startConsumer } from '../../test/consumer.ts'
import { assertFailure, egressTo, endsByDeadline, post, tcpServer, tlsServer } from '../../test/egress.ts'

const kindsOf = (outcomes: { kind: string }[]) => new Set(outcomes.map(({ kind }) => kind))

test('keeps connections alive and uses them again', async (t) => {
  const consumer = await startConsumer(t)
  const egress = egressTo(t, consumer.port)

  // Time enough for a busy machine: nothing here waits for a deadline.
  const unhurried = () => post(egress, { deadlineMs: 5_000 })
  for (let i = 0; i < 20; i++) assert.equal((await unhurried()).kind, 'response')
  const last = await unhurried()

  assert.equal(consumer.connections, 1)
  assert.ok(last.kind === 'response')
  const { dns, connect, tls } = last.timings
  assert.deepEqual({ dns, connect, tls }, { dns: 0, connect: 0, tls: 0 })
})

test('opens no more connections to a target than allowed, and serves everyone', async (t) => {
  const behaviour: Behaviour = (_, res) => void setImmediate(() => res.end())
  const consumer = await startConsumer(t, { behaviour })
  const egress = egressTo(t, consumer.port, { connectionsPerTargetMax: 3 })

  const outcomes = await Promise.all(Array.from({ length: 60 }, () => post(egress, { deadlineMs: 5_000 })))

  assert.deepEqual(kindsOf(outcomes), new Set(['response']))
  assert.equal(consumer.requests.length, 60)
  assert.equal(consumer.connections, 3)
  assert.equal(consumer.inFlightMax, 3)
})

test('waiting for a connection counts against the deadline, and leaves nothing behind', async (t) => {
  const consumer = await startConsumer(t, { behaviour: presets.stall })
  const egress = egressTo(t, consumer.port, { connectionsPerTargetMax: 2 })

  const holding = [post(egress, { deadlineMs: 450 }), post(egress, { deadlineMs: 450 })]
  const waiting = await endsByDeadline(() => Promise.all(Array.from({ length: 4 }, () => post(egress))))

  for (const outcome of waiting) assertFailure(outcome, { class: 'transient', code: 'TIMEOUT', phase: 'queue' })
  for (const outcome of await Promise.all(holding)) assertFailure(outcome, { code: 'TIMEOUT', phase: 'headers' })
  assert.equal(consumer.requests.length, 2)
  consumer.respond(presets.ok)
  const again = await Promise.all(Array.from({ length: 6 }, () => post(egress)))
  assert.deepEqual(kindsOf(again), new Set(['response']))
  assert.equal(consumer.requests.length, 8)
})

test('sends nothing after its deadline, also when the connection is there before the timer', async (t) => {
  const consumer = await startConsumer(t)
  let stoppedMs = 0
  const egress = egressTo(t, consumer.port, {
    monotonicNow: () => performance.now() + stoppedMs
  })
  const late = post(egress, { deadlineMs: 5_000 })
  // As if the process had been stopped while it was connecting.
  stoppedMs = 60_000

  assertFailure(await late, { class: 'transient', code: 'TIMEOUT' })

  assert.equal(consumer.requests.length, 0)
  assert.equal((await post(egress)).kind, 'response')
  assert.equal(consumer.requests.length, 1)
})

test('one mute target does not hold up another', async (t) => {
  const mute = await tcpServer(t, () => {})
  const consumer = await startConsumer(t)
  const egress = egressTo(t, consumer.port, {
    connectionsPerTargetMax: 2,
    lookup: async () => ['127.0.0.1']
  })

  const controller = new AbortController()
  let stuckEnded = 0
  const more = { url: `https://mute.example.test:${mute.port}/`, deadlineMs: 10_000, signal: controller.signal }
  const stuck = Array.from({ length: 20 }, () => post(egress, more).finally(() => stuckEnded++))
  for (let i = 0; i < 20; i++) assert.equal((await post(egress)).kind, 'response')

  assert.equal(stuckEnded, 0)
  controller.abort()
  assert.deepEqual(kindsOf(await Promise.all(stuck)), new Set(['failure']))
})

test('goes on with new connections when the target closes the old ones', async (t) => {
  const closing: Behaviour = (_, res) => void res.writeHead(200, { connection: 'close' }).end()
  const consumer = await startConsumer(t, { behaviour: closing })
  const egress = egressTo(t, consumer.port, { connectionsPerTargetMax: 2 })

  for (let i = 0; i < 5; i++) assert.equal((await post(egress)).kind, 'response')
  const outcomes = await Promise.all(Array.from({ length: 10 }, () => post(egress, { deadlineMs: 5_000 })))

  assert.deepEqual(kindsOf(outcomes), new Set(['response']))
  assert.equal(consumer.requests.length, 15)
})

test('survives a target that closes right after each answer without saying so', async (t) => {
  let requests = 0
  const { port } = await tlsServer(t, (socket) => {
    socket.once('data', () => {
      requests++
      socket.end('HTTP/1.1 200 OK\r\ncontent-length: 0\r\n\r\n')
    })
  })
  const egress = egressTo(t, port)

  for (let i = 0; i < 20; i++) {
    const outcome = await post(egress, { idempotent: true })
    assert.equal(outcome.kind, 'response', JSON.stringify(outcome))
  }

  assert.equal(requests, 20)
})

test('sends again only what may be sent twice when a kept connection turns out to be closed', async (t) => {
  const consumer = await startConsumer(t)
  const egress = egressTo(t, consumer.port)
  const hangUpOnce: Behaviour = (request, res, context) => {
    consumer.respond(presets.ok)
    presets.hangUp(request, res, context)
  }

  await post(egress)
  consumer.respond(hangUpOnce)
  const twice = await post(egress, { idempotent: true })
  consumer.respond(hangUpOnce)
  const once = await post(egress)
  consumer.respond(presets.hangUp)
  await post(egress)

  assert.equal(twice.kind, 'response')
  assertFailure(once, { class: 'transient', code: 'RESET', phase: 'headers' })
})

test('never sends a third time', async (t) => {
  const consumer = await startConsumer(t)
  const egress = egressTo(t, consumer.port)

  await post(egress)
  consumer.respond(presets.hangUp)
  const outcome = await post(egress, { idempotent: true })

  assertFailure(outcome, { class: 'transient', code: 'RESET' })
  assert.equal(consumer.requests.length, 3)
})

test('closing ends what is under way, what waits and what comes later', async (t) => {
  const consumer = await startConsumer(t, { behaviour: presets.stall })
  const mute = await tcpServer(t, () => {})
  const egress = egressTo(t, consumer.port, { connectionsPerTargetMax: 1, lookup: async () => ['127.0.0.1'] })
  const more = { deadlineMs: 10_000 }
  const running = [
    post(egress, more),
    post(egress, more),
    post(egress, { ...more, url: `https://mute.example.test:${mute.port}/` })
  ]
  await consumer.received(1)

  await egress.close()

  for (const outcome of await Promise.all(running)) assertFailure(outcome, { class: 'transient', code: 'ABORTED' })
  assertFailure(await post(egress), { code: 'ABORTED' })
})
