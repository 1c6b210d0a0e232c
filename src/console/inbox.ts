/**
 * A consumer of webhooks inside the process, so that a newcomer needs nothing else: a real HTTPS receiver that answers CRCs,
 * checks signatures and remembers what came. Only where `herald listen` would be reachable, too. See decisions/0072.
 */
import { once } from 'node:events'
import type { IncomingMessage, ServerResponse } from 'node:http'
import { createServer, type Server } from 'node:https'
import type { AddressInfo } from 'node:net'
import { setTimeout as sleep } from 'node:timers/promises'
import { type Clock, isoTime } from '../clock.ts'
import { createAuthority, issueCertificate } from '../tools/certificates.ts'
import { bodyOf } from '../tools/listen.ts'
import type { Behaviour } from '../tools/listen-behaviour.ts'
import { crcAnswer, type Verdict, verifySignature, verifyStandard } from '../tools/listen-verify.ts'

/** Nobody can own this name: `.test` is reserved (RFC 6761). */
export const INBOX_HOST = 'inbox.herald.test'
const ADDRESS = '127.0.0.1'
const KEPT_MAX = 500
const BODY_BYTES_MAX = 2_000_000
/** Larger bodies are remembered by their beginning. */
const BODY_CHARACTERS_KEPT = 100_000

export interface InboxRequest {
  /** Counts up; later ones are greater. */
  position: number
  received_at: string
  app_id: string
  what: 'event' | 'crc'
  /** `webhook-id`: the id of the delivery. */
  delivery_id: string | null
  signature: Verdict
  standard_signature: Verdict
  /** 0: the connection was kept waiting. */
  answered: number
  bytes: number
  body: string
}

export interface Inbox {
  readonly url: (appId: string) => string
  behaviour: Behaviour
  /** Newest first. */
  list(query: { app_id?: string; after?: number; limit: number }): InboxRequest[]
  clear(): void
  start(): Promise<{ host: string; address: string; port: number; ca: string }>
  stop(): Promise<void>
}

export interface InboxOptions {
  clock: Clock
  signatureHeader: string
  /** The secrets of an app, newest first; none for an app that does not exist. */
  secretsOf: (appId: string) => Promise<string[]>
}

export function createInbox({ clock, signatureHeader, secretsOf }: InboxOptions): Inbox {
  const kept: InboxRequest[] = []
  const stopping = new AbortController()
  let position = 0
  let server: Server | undefined

  async function handle(req: IncomingMessage, res: ServerResponse) {
    const [path = '', query = ''] = (req.url ?? '').split('?', 2)
    const appId = /^\/([0-9]{1,19})$/.exec(path)?.[1]
    const body = await bodyOf(req, BODY_BYTES_MAX)
    const [secret] = appId ? await secretsOf(appId) : []
    if (!appId || secret === undefined || !body) return void res.writeHead(404).end()
    const crcToken = new URLSearchParams(query).get('crc_token')
    const what = req.method === 'GET' && crcToken ? 'crc' : 'event'
    const header = req.headers[signatureHeader]
    const given = typeof header === 'string' ? header : undefined
    const request: InboxRequest = {
      position: ++position,
      received_at: isoTime(clock.now()),
      app_id: appId,
      what,
      delivery_id: typeof req.headers['webhook-id'] === 'string' ? req.headers['webhook-id'] : null,
      signature: verifySignature(given, secret, what === 'crc' ? query : body),
      standard_signature: what === 'crc' ? 'missing' : verifyStandard(req.headers, secret, body),
      answered: 0,
      bytes: body.length,
      body: body.toString('utf8').slice(0, BODY_CHARACTERS_KEPT)
    }
    kept.unshift(request)
    kept.length = Math.min(kept.length, KEPT_MAX)
    await answer(res, request, secret, crcToken)
  }

  async function answer(res: ServerResponse, request: InboxRequest, secret: string, crcToken: string | null) {
    const { behaviour } = inbox
    const reply = (status: number, content = '', headers: Record<string, string> = {}) => {
      request.answered = status
      res.writeHead(status, headers).end(content)
    }
    if (behaviour.kind === 'stall') return
    if (behaviour.kind === 'slow') await sleep(behaviour.ms, undefined, { signal: stopping.signal })
    if (behaviour.kind === 'fail') return reply(behaviour.status, 'The inbox was told to fail.')
    if (behaviour.kind === 'redirect') return reply(302, '', { location: 'https://elsewhere.example/' })
    if (request.what === 'event') return reply(200)
    const token = crcAnswer(behaviour.kind === 'lie' ? `not ${secret}` : secret, crcToken!)
    reply(200, JSON.stringify({ response_token: token }), { 'content-type': 'application/json' })
  }

  const inbox: Inbox = {
    url: (appId) => `https://${INBOX_HOST}/${appId}`,
    behaviour: { kind: 'ok' },
    list: ({ app_id, after = 0, limit }) =>
      kept.filter((each) => each.position > after && (app_id ?? each.app_id) === each.app_id).slice(0, limit),
    clear() {
      kept.length = 0
    },
    async start() {
      // The authority signs once and its key is forgotten, so that it can never vouch for anything else.
      const authority = createAuthority({ name: 'Herald inbox' })
      const { certPem, keyPem } = issueCertificate(authority, { hosts: [INBOX_HOST] })
      server = createServer({ cert: certPem, key: keyPem }, (req, res) => {
        res.on('error', () => {})
        handle(req, res).catch(() => res.destroy())
      })
      server.on('tlsClientError', () => {})
      server.listen(0, ADDRESS)
      await once(server, 'listening')
      server.unref()
      return { host: INBOX_HOST, address: ADDRESS, port: (server.address() as AddressInfo).port, ca: authority.certPem }
    },
    async stop() {
      stopping.abort()
      if (!server) return
      server.close()
      server.closeAllConnections()
      await once(server, 'close')
    }
  }
  return inbox
}
