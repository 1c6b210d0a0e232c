/** A webhook consumer on loopback, with real TLS, that can answer, stall, redirect or lie. */
import { randomBytes } from 'node:crypto'
import { EventEmitter, once } from 'node:events'
import http from 'node:http'
import https from 'node:https'
import type { AddressInfo, Socket } from 'node:net'
import { createAuthority, issueCertificate, type PemPair } from '../src/tools/certificates.ts'
import { type Behaviour, presets, type ReceivedRequest } from './consumer-behaviours.ts'

export { type Behaviour, presets, type ReceivedRequest, responseToken } from './consumer-behaviours.ts'

/** The authority that signs every consumer's certificate in this process. */
export const consumerAuthority = createAuthority({ name: 'Herald test consumers' })

export interface ConsumerOptions {
  consumerSecret?: string
  /** Names and addresses the certificate is for. */
  hosts?: string[]
  /** Presented instead of a fresh certificate for `hosts`. */
  certificate?: PemPair
  behaviour?: Behaviour
  /** Speaks plain HTTP. */
  plain?: boolean
}

export interface Consumer {
  readonly port: number
  /** The host of the certificate that tests normally use. */
  readonly host: string
  /** PEM of the authority to trust. */
  readonly ca: string
  /** May be changed while it runs, as a consumer does that rotates its secret. */
  consumerSecret: string
  readonly requests: ReceivedRequest[]
  /** Requests that are being answered now, and the most there ever were at once. */
  readonly inFlight: number
  readonly inFlightMax: number
  /** TCP connections accepted so far, and those open now. */
  readonly connections: number
  readonly connectionsOpen: number
  /** Switches the behaviour for the requests that come from now on. */
  respond(behaviour: Behaviour): void
  /** Resolves when so many requests have been received in all. */
  received(count: number, timeoutMs?: number): Promise<ReceivedRequest[]>
  close(): Promise<void>
}

export async function startConsumer(
  t: { after(fn: () => Promise<void>): void },
  {
    consumerSecret = randomBytes(20).toString('hex'),
    hosts = ['hooks.example.test', '*.example.test', 'localhost', '127.0.0.1'],
    certificate,
    behaviour = presets.ok,
    plain = false
  }: ConsumerOptions = {}
): Promise<Consumer> {
  const arrivals = new EventEmitter()
  const requests: ReceivedRequest[] = []
  const open = new Set<Socket>()
  let connections = 0
  let inFlight = 0
  let inFlightMax = 0

  const listener: http.RequestListener = async (req, res) => {
    const receivedAt = performance.timeOrigin + performance.now()
    inFlightMax = Math.max(inFlightMax, ++inFlight)
    res.once('close', () => inFlight--)
    res.on('error', () => {})
    const chunks: Buffer[] = []
    try {
      for await (const chunk of req) chunks.push(chunk)
    } catch {
      return // The sender went away in the middle of its request.
    }
    const request: ReceivedRequest = {
      method: req.method ?? '',
      url: req.url ?? '',
      headers: req.headers,
      body: Buffer.concat(chunks),
      receivedAt
    }
    requests.push(request)
    arrivals.emit('request')
    behaviour(request, res, {
      consumerSecret: consumer.consumerSecret,
      resetConnection: () => {
        const { remotePort } = req.socket
        for (const socket of open) if (socket.remotePort === remotePort) socket.resetAndDestroy()
      }
    })
  }

  const { certPem, keyPem } = certificate ?? issueCertificate(consumerAuthority, { hosts })
  const server = plain ? http.createServer(listener) : https.createServer({ cert: certPem, key: keyPem }, listener)
  server.on('connection', (socket: Socket) => {
    connections++
    open.add(socket)
    socket.on('error', () => {})
    socket.once('close', () => open.delete(socket))
  })
  server.on('tlsClientError', () => {})
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')

  const consumer: Consumer = {
    port: (server.address() as AddressInfo).port,
    host: hosts[0] ?? 'localhost',
    ca: consumerAuthority.certPem,
    consumerSecret,
    requests,
    get inFlight() {
      return inFlight
    },
    get inFlightMax() {
      return inFlightMax
    },
    get connections() {
      return connections
    },
    get connectionsOpen() {
      return open.size
    },
    respond(next) {
      behaviour = next
    },
    async received(count, timeoutMs = 10_000) {
      const signal = AbortSignal.timeout(timeoutMs)
      while (requests.length < count) {
        await once(arrivals, 'request', { signal }).catch(() => {
          throw new Error(`The consumer received ${requests.length} requests in ${timeoutMs} ms instead of ${count}`)
        })
      }
      return requests
    },
    async close() {
      if (!server.listening) return
      server.close()
      for (const socket of open) socket.destroy()
      await once(server, 'close')
    }
  }
  t.after(() => consumer.close())
  return consumer
}

/** Settings of an egress that reaches these consumers by the names of their certificates. */
export const reaching = (...consumers: Consumer[]) => ({
  allowPrivate: true,
  resolve: new Map(consumers.map(({ host, port }) => [host, { address: '127.0.0.1', port }])),
  extraCa: consumers[0]?.ca,
  connectionsPerTargetMax: 16
})
