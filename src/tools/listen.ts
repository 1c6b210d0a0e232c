/** A webhook consumer for the developer's own machine: answers CRCs, checks both signatures, and can misbehave. */
import { once } from 'node:events'
import type { IncomingMessage, ServerResponse } from 'node:http'
import { createServer } from 'node:https'
import type { AddressInfo } from 'node:net'
import { setTimeout as sleep } from 'node:timers/promises'
import type { PemPair } from './certificates.ts'
import type { Behaviour } from './listen-behaviour.ts'
import { crcAnswer, type Verdict, verifySignature, verifyStandard } from './listen-verify.ts'

/** One request, as it is told to whoever watches. */
export interface Received {
  at: string
  what: 'crc' | 'event' | 'other'
  method: string
  url: string
  /** The header of document 1. */
  signature: Verdict
  /** The Standard Webhooks headers; a CRC has none. */
  standard: Verdict
  /** `webhook-id`: the same on every retry and replay. */
  id?: string
  /** How often it has come before. */
  repeated: number
  bytes: number
  /** As text, when it is not JSON. */
  body?: unknown
  /** The status, or why there is none. */
  answer: number | 'none'
}

export interface ReceiverOptions {
  port: number
  path: string
  certificate: PemPair
  secret: string
  signatureHeader: string
  behaviour: Behaviour
  /** Of requests, for people; rules do not depend on it. */
  now: () => number
  received(request: Received): void
}

export interface Receiver {
  readonly port: number
  behaviour: Behaviour
  close(): Promise<void>
}

const BODY_BYTES_MAX = 20_000_000
/** Ids remembered to recognise repeats. */
const IDS_MAX = 10_000

export async function startReceiver(options: ReceiverOptions): Promise<Receiver> {
  const { certificate, secret, signatureHeader, now } = options
  const seen = new Map<string, number>()
  const stopping = new AbortController()

  function remember(id: string) {
    const times = seen.get(id) ?? 0
    seen.delete(id)
    seen.set(id, times + 1)
    if (seen.size > IDS_MAX) seen.delete(seen.keys().next().value!)
    return times
  }

  async function handle(req: IncomingMessage, res: ServerResponse) {
    const { method = '', url = '', headers } = req
    const body = await bodyOf(req, BODY_BYTES_MAX)
    if (!body) return void res.destroy()
    const [path = '', query = ''] = url.split('?', 2)
    const crcToken = new URLSearchParams(query).get('crc_token')
    const what =
      path !== options.path ? 'other' : method === 'POST' ? 'event' : method === 'GET' && crcToken ? 'crc' : 'other'
    const header = headers[signatureHeader]
    const id = what === 'event' && typeof headers['webhook-id'] === 'string' ? headers['webhook-id'] : undefined
    const request: Received = {
      at: new Date(now()).toISOString(),
      ...{ what, method, url },
      signature: verifySignature(
        typeof header === 'string' ? header : undefined,
        secret,
        what === 'crc' ? query : body
      ),
      standard: verifyStandard(headers, secret, body),
      ...(id === undefined ? {} : { id }),
      repeated: id === undefined ? 0 : remember(id),
      bytes: body.length,
      ...(body.length > 0 ? { body: parsed(body) } : {}),
      answer: 'none'
    }
    await answer(res, request, crcToken)
  }

  async function answer(res: ServerResponse, request: Received, crcToken: string | null) {
    const behaviour = receiver.behaviour
    const reply = (status: number, content = '', contentHeaders: Record<string, string> = {}) => {
      options.received({ ...request, answer: status })
      res.writeHead(status, contentHeaders).end(content)
    }
    if (request.what === 'other') return reply(404, `Webhooks are received at ${options.path}\n`)
    if (behaviour.kind === 'stall') return options.received(request)
    if (behaviour.kind === 'slow') await sleep(behaviour.ms, undefined, { signal: stopping.signal })
    if (behaviour.kind === 'fail') return reply(behaviour.status, 'told to fail\n')
    if (behaviour.kind === 'redirect') return reply(302, '', { location: 'https://elsewhere.example/' })
    if (request.what === 'event') return reply(200)
    const key = behaviour.kind === 'lie' ? `not ${secret}` : secret
    reply(200, JSON.stringify({ response_token: crcAnswer(key, crcToken!) }), { 'content-type': 'application/json' })
  }

  const server = createServer({ cert: certificate.certPem, key: certificate.keyPem }, (req, res) => {
    // The sender may go away at any moment, and waits are cut short when the receiver stops.
    res.on('error', () => {})
    handle(req, res).catch(() => res.destroy())
  })
  server.on('tlsClientError', () => {})
  server.listen(options.port, '127.0.0.1')
  await once(server, 'listening')

  const receiver: Receiver = {
    port: (server.address() as AddressInfo).port,
    behaviour: options.behaviour,
    async close() {
      stopping.abort()
      server.close()
      server.closeAllConnections()
      await once(server, 'close')
    }
  }
  return receiver
}

/** undefined when it is too long, or the sender went away. */
export async function bodyOf(req: IncomingMessage, bytesMax: number): Promise<Buffer | undefined> {
  const chunks: Buffer[] = []
  let bytes = 0
  try {
    for await (const chunk of req as AsyncIterable<Buffer>) {
      bytes += chunk.length
      if (bytes > bytesMax) return undefined
      chunks.push(chunk)
    }
  } catch {
    return undefined
  }
  return Buffer.concat(chunks)
}

/** Whole numbers beyond 2^53 keep their digits when they are printed again. */
const { rawJSON } = JSON as unknown as { rawJSON(text: string): unknown }
const exact = (_key: string, value: unknown, { source }: { source?: string }) =>
  typeof value === 'number' && !Number.isSafeInteger(value) && source && /^-?\d+$/.test(source)
    ? rawJSON(source)
    : value

function parsed(body: Buffer): unknown {
  const text = body.toString('utf8')
  try {
    return JSON.parse(text, exact as (key: string, value: unknown) => unknown)
  } catch {
    return text
  }
}
