/** How a consumer of webhooks, a feed host or an image host can answer: well, slowly, wrongly or without end. */
import { createHmac } from 'node:crypto'
import type { IncomingHttpHeaders, ServerResponse } from 'node:http'
import { gzipSync } from 'node:zlib'

export interface ReceivedRequest {
  method: string
  url: string
  headers: IncomingHttpHeaders
  body: Buffer
  /** Milliseconds since the epoch, with fractions. */
  receivedAt: number
}

export interface BehaviourContext {
  consumerSecret: string
  /** Sends a TCP reset instead of closing the connection politely. */
  resetConnection(): void
}

export type Behaviour = (request: ReceivedRequest, response: ServerResponse, context: BehaviourContext) => void

const DRIP_EVERY_MS = 20
const CHUNK = Buffer.alloc(64 * 1024, 'x')

/** The answer to a challenge-response check. */
export const responseToken = (consumerSecret: string, crcToken: string) =>
  `sha256=${createHmac('sha256', consumerSecret).update(crcToken).digest('base64')}`

const crcTokenOf = (url: string) => new URL(url, 'https://consumer.test').searchParams.get('crc_token')

function answerJson(response: ServerResponse, value: unknown) {
  response.writeHead(200, { 'content-type': 'application/json' }).end(JSON.stringify(value))
}

function answerWithToken(tokenOf: (consumerSecret: string, crcToken: string) => string): Behaviour {
  return (request, response, { consumerSecret }) => {
    const crcToken = request.method === 'GET' ? crcTokenOf(request.url) : null
    if (crcToken === null) response.writeHead(200).end()
    else answerJson(response, { response_token: tokenOf(consumerSecret, crcToken) })
  }
}

/** Writes `next()` until it returns null or the reader goes away, never faster than the reader reads. */
function pump(response: ServerResponse, next: () => Buffer | null) {
  const write = () => {
    while (!response.destroyed) {
      const chunk = next()
      if (chunk === null) return void response.end()
      if (!response.write(chunk)) return void response.once('drain', write)
    }
  }
  write()
}

function drip(response: ServerResponse, write: () => void) {
  write()
  const timer = setInterval(write, DRIP_EVERY_MS)
  response.once('close', () => clearInterval(timer))
}

export const presets = {
  /** Answers a CRC with the right token and everything else with an empty 200. */
  ok: answerWithToken(responseToken),

  /** Answers a CRC with the token of another secret. */
  wrongToken: answerWithToken((consumerSecret, crcToken) => responseToken(`not ${consumerSecret}`, crcToken)),

  notJson: ((_, response) => {
    response.writeHead(200, { 'content-type': 'text/html' }).end('<h1>It works</h1>')
  }) as Behaviour,

  status: (status: number, headers: Record<string, string> = {}, body = ''): Behaviour => {
    return (_, response) => void response.writeHead(status, headers).end(body)
  },

  redirect: (location = 'https://127.0.0.1/elsewhere', status = 302): Behaviour => {
    return (_, response) => void response.writeHead(status, { location }).end()
  },

  /** Takes the request and never answers. */
  stall: (() => {}) as Behaviour,

  /** One byte of a header that never ends, again and again. */
  headerDrip: ((_, response) => {
    const socket = response.socket
    socket?.write('HTTP/1.1 200 OK\r\nx-drip: ')
    drip(response, () => socket?.write('x'))
  }) as Behaviour,

  /** Headers at once, then one byte of the body, again and again. */
  bodyDrip: ((_, response) => {
    response.writeHead(200)
    drip(response, () => response.write('x'))
  }) as Behaviour,

  /** Closes the connection without an answer. */
  hangUp: ((_, response) => void response.destroy()) as Behaviour,

  /** Promises 1,000 bytes, sends 500 and resets the connection. */
  reset: ((_, response, { resetConnection }) => {
    response.writeHead(200, { 'content-length': 1000 })
    response.write(Buffer.alloc(500, 'x'), resetConnection)
  }) as Behaviour,

  /** A body with a content length, sent as fast as the reader takes it. */
  hugeBody: (bytes: number): Behaviour => {
    return (_, response) => {
      let left = bytes
      response.writeHead(200, { 'content-length': bytes })
      pump(response, () => {
        const chunk = CHUNK.subarray(0, left)
        left -= chunk.length
        return chunk.length > 0 ? chunk : null
      })
    }
  },

  endlessChunks: ((_, response) => {
    response.writeHead(200)
    pump(response, () => CHUNK)
  }) as Behaviour,

  /** About 1 MB of gzip that unpacks to 1 GB. */
  gzipBomb: ((_, response) => {
    // Concatenated gzip members are one gzip file: one small member, many times over.
    const member = gzipSync(Buffer.alloc(10 * 1024 * 1024))
    let members = 100
    response.writeHead(200, { 'content-encoding': 'gzip', 'content-type': 'application/json' })
    pump(response, () => (members-- > 0 ? member : null))
  }) as Behaviour
}
