/** What the tests of src/egress share: servers that speak bytes instead of HTTP, and a stopwatch. */
import assert from 'node:assert/strict'
import { once } from 'node:events'
import net, { type AddressInfo, type Socket } from 'node:net'
import type { TestContext } from 'node:test'
import tls from 'node:tls'
import {
  createEgress,
  type Egress,
  type EgressOptions,
  type Failure,
  type Outcome,
  type StreamOutcome
} from '../src/egress/index.ts'
import { issueCertificate } from '../src/tools/certificates.ts'
import { consumerAuthority } from './consumer.ts'

export const HOST = 'hooks.example.test'
export const PUBLIC_V4 = '93.184.215.14'
export const PUBLIC_V6 = '2606:2800:21f:cb07:6820:80da:af6b:8b2c'

async function listen(t: TestContext, server: net.Server, onSocket: 'connection' | 'secureConnection') {
  const open = new Set<Socket>()
  let connections = 0
  server.on('connection', () => connections++)
  server.on('tlsClientError', () => {})
  server.on(onSocket, (socket: Socket) => {
    open.add(socket)
    socket.on('error', () => {})
  })
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  t.after(() => {
    server.close()
    for (const socket of open) socket.destroy()
  })
  return {
    port: (server.address() as AddressInfo).port,
    get connections() {
      return connections
    }
  }
}

/** Accepts TCP connections and does what the test says, without TLS. */
export const tcpServer = (t: TestContext, onSocket: (socket: Socket) => void) =>
  listen(t, net.createServer(onSocket), 'connection')

/** Shakes hands as HOST and then does what the test says. */
export function tlsServer(t: TestContext, onSocket: (socket: Socket) => void) {
  const { certPem, keyPem } = issueCertificate(consumerAuthority, { hosts: [HOST] })
  return listen(t, tls.createServer({ cert: certPem, key: keyPem }, onSocket), 'secureConnection')
}

/** An egress that reaches `port` on loopback by the name HOST. */
export function egressTo(t: TestContext, port: number, options: Partial<EgressOptions> = {}): Egress {
  const egress = createEgress({
    allowPrivate: true,
    resolve: new Map([[HOST, { address: '127.0.0.1', port }]]),
    extraCa: consumerAuthority.certPem,
    connectionsPerTargetMax: 8,
    ...options
  })
  t.after(() => egress.close())
  return egress
}

export const DEADLINE_MS = 300

export const post = (egress: Egress, more: Partial<Parameters<Egress['send']>[0]> = {}) =>
  egress.send({
    url: `https://${HOST}/hook`,
    method: 'POST',
    headers: { 'content-type': 'application/json' },
    body: '{}',
    deadlineMs: DEADLINE_MS,
    responseBytesMax: 4096,
    ...more
  })

export function assertFailure(
  outcome: Outcome | StreamOutcome,
  expected: Partial<Pick<Failure, 'class' | 'code' | 'phase'>>
): asserts outcome is Failure {
  assert.equal(outcome.kind, 'failure', 'it failed')
  const found = outcome as Failure
  assert.deepEqual({ ...found, ...expected }, found)
}

/** Runs it and checks that it ended at the deadline: neither before, nor long after. */
export async function endsByDeadline<T>(work: () => Promise<T>, deadlineMs = DEADLINE_MS): Promise<T> {
  const before = performance.now()
  const result = await work()
  const took = performance.now() - before
  assert.ok(took >= deadlineMs - 5 && took < deadlineMs + 2_000, `took ${took} ms with a deadline of ${deadlineMs} ms`)
  return result
}

/** How much the memory of this process grew at the most while the work ran. */
export async function memoryGrowth(work: () => Promise<unknown>): Promise<number> {
  const before = process.memoryUsage.rss()
  let peak = before
  const timer = setInterval(() => {
    peak = Math.max(peak, process.memoryUsage.rss())
  }, 5)
  try {
    await work()
  } finally {
    clearInterval(timer)
  }
  return Math.max(peak, process.memoryUsage.rss()) - before
}
