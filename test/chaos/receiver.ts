/** The receiver of the history checker: logs every POST with when it began, when it ended and how it was answered. */
import { once } from 'node:events'
import https from 'node:https'
import type { AddressInfo } from 'node:net'
import { createAuthority, issueCertificate } from '../../src/tools/certificates.ts'
import type { Post } from './history.ts'

export interface Receiver {
  host: string
  port: number
  ca: string
  posts: Post[]
  /** Final messages of replay jobs. */
  replayStates: string[]
  /** How the next requests are answered. */
  mode: 'ok' | 'unavailable' | 'hang'
  /** How long an answer takes, in milliseconds, up to twice that. */
  answerMs: number
  close(): Promise<void>
}

/** Milliseconds with fractions, which requests that follow each other closely need. */
export const now = () => performance.timeOrigin + performance.now()

const HOST = 'hooks.example.test'
/** Longer than any deadline of the nodes. */
const HANG_MS = 60_000

export async function startReceiver(answerMs: number): Promise<Receiver> {
  const authority = createAuthority({ name: 'chaos' })
  const { certPem, keyPem } = issueCertificate(authority, { hosts: [HOST] })
  const server = https.createServer({ cert: certPem, key: keyPem, keepAliveTimeout: 60_000 }, (req, res) => {
    const post: Post = {
      webhook: req.url!.slice(1),
      number: -1,
      delivery: String(req.headers['webhook-id']),
      node:
        Object.keys(req.headers)
          .find((name) => name.startsWith('x-node-'))
          ?.slice(7) ?? '',
      replay: false,
      startedAt: now(),
      endedAt: Number.POSITIVE_INFINITY,
      status: undefined
    }
    res.once('close', () => {
      // It ended with the answer, or now, because the sender went away.
      post.endedAt = Math.min(post.endedAt, now())
      if (res.writableFinished) post.status = res.statusCode
    })
    const chunks: Buffer[] = []
    req.on('data', (chunk: Buffer) => chunks.push(chunk))
    req.on('end', () => {
      const body = JSON.parse(Buffer.concat(chunks).toString())
      if (body.replay_job_status) {
        receiver.replayStates.push(body.replay_job_status.job_state)
      } else {
        post.number = body.data.number
        post.replay = body.meta?.replay === true
        receiver.posts.push(post)
      }
      const status = receiver.mode === 'ok' ? 200 : 503
      const delayMs = receiver.mode === 'hang' ? HANG_MS : receiver.answerMs * (1 + Math.random())
      const answer = () => {
        // From here on the sender may know, and send the next one.
        post.endedAt = Math.min(post.endedAt, now())
        res.writeHead(status).end()
      }
      setTimeout(answer, delayMs).unref()
    })
    req.on('error', () => {})
    res.on('error', () => {})
  })
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  const receiver: Receiver = {
    host: HOST,
    port: (server.address() as AddressInfo).port,
    ca: authority.certPem,
    posts: [],
    replayStates: [],
    mode: 'ok',
    answerMs,
    async close() {
      server.close()
      server.closeAllConnections()
      await once(server, 'close')
    }
  }
  return receiver
}
