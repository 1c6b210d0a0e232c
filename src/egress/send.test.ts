import assert from 'node:assert/strict'
import { once } from 'node:events'
import type { Socket } from 'node:net'
import { type TestContext, test } from 'node:test'
import { setImmediate } from 'node:timers/promises'
import { gunzipSync } from 'node:zlib'
import { type Behaviour, consumerAuthority, presets, reaching, startConsumer } from '../../test/consumer.ts'
import {
  assertFailure,
  egressTo,
  endsByDeadline,
  HOST,
  memoryGrowth,
  post,
  tcpServer,
  tlsServer
} from '../../test/egress.ts'
import { issueCertificate } from '../tools/certificates.ts'
import { createEgress, type FailureCode } from './index.ts'

const MB = 1024 * 1024

async function consumerThat(t: TestContext, behaviour: Behaviour) {
  const consumer = await startConsumer(t, { behaviour })
  return { consumer, egress: egressTo(t, consumer.port) }
}

test('sends the bytes it was given and returns the answer whole', async (t) => {
  const { consumer, egress } = await consumerThat(t, presets.status(418, { 'x-a': '1', 'set-cookie': 'b' }, 'short'))
  const body = Buffer.from([0, 255, 13, 10, 128])

  const outcome = await post(egress, {
    url: `https://${HOST}/hook?a=%20b&a=c`,
    body,
    headers: { 'x-signature': 's=' },
    deadlineMs: 5_000
  })

  assert.ok(outcome.kind === 'response')
  const { status, headers, truncated, remoteAddress, timings } = outcome
  assert.deepEqual(
    { status, a: headers['x-a'], body: String(outcome.body), truncated, remoteAddress },
    { status: 418, a: '1', body: 'short', truncated: false, remoteAddress: '127.0.0.1' }
  )
  const [request] = consumer.requests
  assert.deepEqual(request?.body, body)
  assert.equal(request?.url, '/hook?a=%20b&a=c')
  assert.equal(request?.headers.host, HOST)
  assert.equal(request?.headers['x-signature'], 's=')
  assert.equal(request?.headers['accept-encoding'], 'identity')
  assert.ok(timings.connect > 0 && timings.tls > 0 && timings.firstByte > 0)
  assert.ok(timings.total >= timings.connect + timings.tls + timings.firstByte)
})

test('reports certificates that cannot be trusted as definitive', async (t) => {
  const day = 86_400_000
  const now = Date.now()
  const hosts = [HOST]
  const cases: [FailureCode, Parameters<typeof issueCertificate>[1]][] = [
    ['TLS_CERT_EXPIRED', { hosts, notBefore: now - 2 * day, notAfter: now - day }],
    ['TLS_CERT_NOT_YET_VALID', { hosts, notBefore: now + day }],
    ['TLS_CERT_SELF_SIGNED', { hosts, selfSigned: true }],
    ['TLS_CERT_WRONG_HOST', { hosts: ['other.example.test', '127.0.0.1'] }]
  ]
  for (const [code, request] of cases) {
    const consumer = await startConsumer(t, { certificate: issueCertificate(consumerAuthority, request) })
    const outcome = await post(egressTo(t, consumer.port))
    assertFailure(outcome, { class: 'definitive', code, phase: 'tls' })
    assert.match(outcome.message, /hooks\.example\.test/)
    assert.equal(consumer.requests.length, 0)
  }
  const consumer = await startConsumer(t)
  const distrusting = await post(egressTo(t, consumer.port, { extraCa: undefined }))
  assertFailure(distrusting, { class: 'definitive', code: 'TLS_CERT_UNTRUSTED', phase: 'tls' })
})

test('checks the certificate of a literal address against the address', async (t) => {
  const named = await startConsumer(t, { hosts: [HOST] })
  const addressed = await startConsumer(t, { hosts: ['127.0.0.1'] })
  const egress = createEgress({ ...reaching(named), resolve: new Map() })
  t.after(() => egress.close())

  const wrong = await post(egress, { url: `https://127.0.0.1:${named.port}/` })
  const right = await post(egress, { url: `https://127.0.0.1:${addressed.port}/` })

  assertFailure(wrong, { class: 'definitive', code: 'TLS_CERT_WRONG_HOST' })
  assert.equal(right.kind, 'response')
})

test('a server that does not speak TLS is a definitive failure, one that hangs up is not', async (t) => {
  const plain = await tcpServer(t, (socket) => socket.end('HTTP/1.1 200 OK\r\n\r\n'))
  const hangsUp = await tcpServer(t, (socket) => void socket.once('data', () => socket.resetAndDestroy()))

  assertFailure(await post(egressTo(t, plain.port)), { class: 'definitive', code: 'TLS_HANDSHAKE', phase: 'tls' })
  assertFailure(await post(egressTo(t, hangsUp.port)), { class: 'transient', code: 'RESET', phase: 'tls' })
})

test('a refused connection and a name without addresses are transient', async (t) => {
  const closed = await startConsumer(t)
  await closed.close()
  const egress = egressTo(t, closed.port, {
    lookup: async () => {
      throw Object.assign(new Error('queryA ENOTFOUND'), { code: 'ENOTFOUND' })
    }
  })

  assertFailure(await post(egress), { class: 'transient', code: 'CONNECT', phase: 'connect' })
  assertFailure(await post(egress, { url: 'https://nowhere.example.test/' }), {
    class: 'transient',
    code: 'DNS',
    phase: 'dns'
  })
})

test('silence ends by the deadline, at whatever step it begins', async (t) => {
  const mute = await tcpServer(t, () => {})
  const lookup = () => new Promise<string[]>(() => {})
  const stalling = await startConsumer(t, { behaviour: presets.stall })
  const ends = (egress: ReturnType<typeof egressTo>, url?: string) =>
    endsByDeadline(() => post(egress, url ? { url } : {}))

  const [dns, tls, headers] = await Promise.all([
    ends(egressTo(t, mute.port, { lookup }), 'https://slow.example.test/'),
    ends(egressTo(t, mute.port)),
    ends(egressTo(t, stalling.port))
  ])

  assertFailure(dns, { class: 'transient', code: 'TIMEOUT', phase: 'dns' })
  assertFailure(tls, { class: 'transient', code: 'TIMEOUT', phase: 'tls' })
  assertFailure(headers, { class: 'transient', code: 'TIMEOUT', phase: 'headers' })
  assert.match(headers.message, /took longer than 300 ms \(stopped while waiting for the answer to begin\)/)
})

test('a drip does not put off the deadline', async (t) => {
  const inHeaders = await consumerThat(t, presets.headerDrip)
  const inBody = await consumerThat(t, presets.bodyDrip)
  const interim = await tlsServer(t, (socket) => {
    const timer = setInterval(() => socket.write('HTTP/1.1 103 Early Hints\r\n\r\n'), 20)
    socket.once('close', () => clearInterval(timer))
  })

  const [headers, body, never] = await Promise.all([
    endsByDeadline(() => post(inHeaders.egress)),
    endsByDeadline(() => post(inBody.egress)),
    endsByDeadline(() => post(egressTo(t, interim.port)))
  ])

  assertFailure(headers, { class: 'transient', code: 'TIMEOUT', phase: 'headers' })
  assertFailure(body, { class: 'transient', code: 'TIMEOUT', phase: 'body' })
  assert.equal(body.status, 200)
  assertFailure(never, { class: 'transient', code: 'TIMEOUT', phase: 'headers' })
})

test('what timed out lets go of its connection', async (t) => {
  const { consumer, egress } = await consumerThat(t, presets.stall)
  const mute: Socket[] = []
  const { port } = await tcpServer(t, (socket) => void mute.push(socket))

  await Promise.all([post(egress), post(egressTo(t, port))])

  assert.equal(mute.length, 1)
  if (!mute[0]!.closed) await once(mute[0]!.resume(), 'close')
  while (consumer.connectionsOpen > 0) await new Promise((resolve) => setTimeout(resolve, 5))
})

test('reads no more of a body than it was told to, however long it is', async (t) => {
  const behaviours: [string, Behaviour][] = [
    ['1 GB', presets.hugeBody(1024 * MB)],
    ['endless chunks', presets.endlessChunks],
    ['gzip bomb', presets.gzipBomb]
  ]
  for (const [name, behaviour] of behaviours) {
    const { consumer, egress } = await consumerThat(t, behaviour)

    const growth = await memoryGrowth(async () => {
      for (let i = 0; i < 5; i++) {
        const outcome = await post(egress, { deadlineMs: 5_000, responseBytesMax: 20_000 })
        assert.ok(outcome.kind === 'response', name)
        assert.equal(outcome.truncated, true)
        assert.equal(outcome.body.length, 20_000)
      }
    })

    assert.ok(growth < 100 * MB, `${name}: ${growth} bytes more`)
    assert.equal(consumer.connections, 5)
  }
})

test('a body of exactly the allowed length is whole', async (t) => {
  const { egress } = await consumerThat(t, presets.hugeBody(4096))

  const outcome = await post(egress, { responseBytesMax: 4096 })

  assert.ok(outcome.kind === 'response')
  assert.deepEqual([outcome.body.length, outcome.truncated], [4096, false])
})

test('a body in gzip comes as it was sent', async (t) => {
  const { egress } = await consumerThat(t, presets.gzipBomb)

  const outcome = await post(egress, { responseBytesMax: 2 * MB, deadlineMs: 5_000 })

  assert.ok(outcome.kind === 'response')
  assert.equal(outcome.headers['content-encoding'], 'gzip')
  assert.equal(outcome.truncated, false)
  assert.equal(gunzipSync(outcome.body.subarray(0, outcome.body.length / 100)).length, 10 * MB)
})

test('a reset is transient, before an answer and in the middle of one', async (t) => {
  const early = await consumerThat(t, presets.hangUp)
  const late = await consumerThat(t, presets.reset)

  assertFailure(await post(early.egress), { class: 'transient', code: 'RESET', phase: 'headers' })
  const outcome = await post(late.egress)
  assertFailure(outcome, { class: 'transient', code: 'RESET', phase: 'body' })
  assert.equal(outcome.status, 200)
})

test('an answer that is not HTTP is a transient protocol failure', async (t) => {
  const answers: Record<string, string> = {
    garbage: 'SSH-2.0-OpenSSH_9.9\r\n',
    'endless headers': `HTTP/1.1 200 OK\r\n${`x-pad: ${'x'.repeat(1000)}\r\n`.repeat(100)}`,
    'two lengths': 'HTTP/1.1 200 OK\r\ncontent-length: 1\r\ncontent-length: 2\r\n\r\nab',
    'length and chunks': 'HTTP/1.1 200 OK\r\ncontent-length: 1\r\ntransfer-encoding: chunked\r\n\r\n0\r\n\r\n',
    'bad chunk': 'HTTP/1.1 200 OK\r\ntransfer-encoding: chunked\r\n\r\nzz\r\n',
    'an upgrade nobody asked for': 'HTTP/1.1 101 Switching Protocols\r\nconnection: upgrade\r\nupgrade: x\r\n\r\n'
  }
  for (const [name, answer] of Object.entries(answers)) {
    const { port } = await tlsServer(t, (socket) => void socket.once('data', () => socket.write(answer)))
    const outcome = await post(egressTo(t, port))
    assertFailure(outcome, { class: 'transient' })
    assert.match(outcome.code, /^(PROTOCOL|RESET)$/, name)
  }
})

test('an answer that nobody asked for is never taken for the next one', async (t) => {
  const { port } = await tlsServer(t, (socket) => {
    let n = 0
    socket.on('data', () => {
      const answer = (text: string) => `HTTP/1.1 200 OK\r\ncontent-length: ${text.length}\r\n\r\n${text}`
      socket.write(n++ === 0 ? answer('first') + answer('forged') : answer('second'))
    })
  })
  const egress = egressTo(t, port)

  const bodies = []
  for (let i = 0; i < 3; i++) {
    const outcome = await post(egress, { idempotent: true })
    bodies.push(outcome.kind === 'response' ? String(outcome.body) : outcome.code)
  }

  assert.ok(!bodies.includes('forged'), bodies.join())
})

test('a request that cannot be written is a failure, not an exception', async (t) => {
  const { egress } = await consumerThat(t, presets.ok)

  const outcome = await post(egress, { headers: { 'x-bad': 'line\r\nbreak' } })

  assertFailure(outcome, { class: 'definitive', code: 'INVALID_REQUEST' })
  assert.equal((await post(egress)).kind, 'response')
})

test('can be given up by a signal at any time', async (t) => {
  const { consumer, egress } = await consumerThat(t, presets.stall)
  const controller = new AbortController()

  const running = post(egress, { signal: controller.signal, deadlineMs: 10_000 })
  await consumer.received(1)
  controller.abort()

  assertFailure(await running, { class: 'transient', code: 'ABORTED', phase: 'headers' })
  assertFailure(await post(egress, { signal: controller.signal }), { code: 'ABORTED' })
})

test('what is given up before it was written is never sent, and costs no connection', async (t) => {
  const { consumer, egress } = await consumerThat(t, presets.ok)
  await post(egress, { body: 'first' })

  const controller = new AbortController()
  const running = post(egress, { body: 'given up', signal: controller.signal })
  controller.abort()

  assertFailure(await running, { code: 'ABORTED' })
  // undici looks at a kept connection once more before it writes; until then the connection is taken.
  await setImmediate()
  await setImmediate()
  await post(egress, { body: 'last' })
  assert.deepEqual(
    consumer.requests.map(({ body }) => String(body)),
    ['first', 'last']
  )
  assert.equal(consumer.connections, 1)
})
