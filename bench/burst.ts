/**
 * Bench `burst`: 10,000 events at once with 100 subscribers each: whether everything arrives everywhere, how fast, and how
 * much memory the server needs for it. Ten of the subscribers are webhooks and the others streams; `--webhooks=100` for others.
 */
import { type ChildProcess, fork } from 'node:child_process'
import { once } from 'node:events'
import { mkdtemp, rm, writeFile } from 'node:fs/promises'
import http from 'node:http'
import { tmpdir } from 'node:os'
import path from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { loadConfig } from '../src/config.ts'
import { createHerald } from '../src/herald.ts'
import { appBearerToken, createApp } from '../src/identity/index.ts'
import { createLog } from '../src/serve.ts'
import { removeEmbedded, startEmbedded } from '../src/storage/embedded.ts'
import { newId } from '../src/storage/ids.ts'
import { createAuthority, issueCertificate } from '../src/tools/certificates.ts'
import type { ReceiverReport } from './support/receiver.ts'

const EVENTS = 10_000
const EVENTS_PER_CALL = 1_000
const SUBSCRIBERS = 100
const WEBHOOKS = Number(/--webhooks=(\d+)/.exec(process.argv.join(' '))?.[1] ?? 10)
const STREAMS = SUBSCRIBERS - WEBHOOKS
const HOST = 'hooks.example.test'
const TIMEOUT_MS = 300_000
/** What the server may need beyond what it needs at rest: with webhooks alone, 2,048 TLS connections take most of it. */
const BAR_MB = WEBHOOKS > 10 ? 700 : 400

const ask = async <T>(child: ChildProcess, command: object): Promise<T> => {
  child.send(command)
  const [report] = (await once(child, 'message')) as [T]
  return report
}

export default async function burst() {
  const dataDir = await mkdtemp(path.join(tmpdir(), 'herald-bench-'))
  const server = await startEmbedded({ dataDir })
  const authority = createAuthority({ name: 'bench' })
  const { certPem, keyPem } = issueCertificate(authority, { hosts: [HOST] })
  const receiver = fork(path.join(import.meta.dirname, 'support/receiver.ts'))
  const readers = fork(import.meta.filename, ['--child'])
  const { port } = await ask<ReceiverReport>(receiver, { serve: { cert: certPem, key: keyPem, slowMs: 0 } })
  const ca = path.join(dataDir, 'ca.pem')
  await writeFile(ca, authority.certPem)
  const config = loadConfig({
    HERALD_DATA_DIR: dataDir,
    HERALD_PORT: '0',
    HERALD_SANDBOX_PORT: '0',
    HERALD_RATE_LIMITS: 'off',
    HERALD_LOG_LEVEL: 'error',
    HERALD_ADMIN_TOKEN: 'bench-admin-token-0123456789abcdef',
    HERALD_EGRESS_ALLOW_PRIVATE: '1',
    HERALD_EGRESS_RESOLVE: `${HOST}=127.0.0.1:${port}`,
    HERALD_EGRESS_CA: ca
  })
  const herald = await createHerald({ config, databaseUrl: server.url, log: createLog(config) })
  try {
    await herald.start()
    const { main } = await herald.listen()
    const user = newId()
    const tokens: string[] = []
    for (let n = 0; n < SUBSCRIBERS; n++) tokens.push(await givenSubscriber(herald, user, n >= STREAMS))
    await ask(readers, { open: { url: `${main}/2/activity/stream`, tokens: tokens.slice(0, STREAMS) } })
    await sleep(500)
    const restMb = process.memoryUsage.rss() / 1e6
    let peakMb = restMb
    const watching = setInterval(() => {
      peakMb = Math.max(peakMb, process.memoryUsage.rss() / 1e6)
    }, 50)

    const began = performance.now()
    for (let at = 0; at < EVENTS; at += EVENTS_PER_CALL) await publish(main, user, at)
    const publishedMs = performance.now() - began
    let lines = 0
    let delivered = 0
    while (lines < EVENTS * STREAMS || delivered < EVENTS * WEBHOOKS) {
      if (performance.now() - began > TIMEOUT_MS) break
      await sleep(100)
      lines = (await ask<{ lines: number }>(readers, { report: true })).lines
      delivered = (await ask<ReceiverReport>(receiver, { report: true })).received ?? 0
    }
    const seconds = (performance.now() - began) / 1000
    clearInterval(watching)
    const complete = lines === EVENTS * STREAMS && delivered === EVENTS * WEBHOOKS
    const extraMb = Math.round(peakMb - restMb)
    console.log(
      JSON.stringify({
        bench: 'burst',
        events: EVENTS,
        subscribers: SUBSCRIBERS,
        stream_lines: lines,
        webhook_deliveries: delivered,
        publish_seconds: Math.round(publishedMs / 100) / 10,
        seconds: Math.round(seconds * 10) / 10,
        rss_at_rest_mb: Math.round(restMb),
        rss_peak_mb: Math.round(peakMb),
        complete,
        bar_extra_mb: BAR_MB,
        pass: complete && extraMb <= BAR_MB
      })
    )
  } finally {
    readers.kill()
    receiver.kill()
    await herald.stop()
    await server.stop()
    await removeEmbedded(dataDir)
    await rm(dataDir, { recursive: true, force: true })
  }
}

type Herald = Awaited<ReturnType<typeof createHerald>>

/** An app that is subscribed to the user, by webhook or by stream. Returns its token. */
async function givenSubscriber({ deps }: Herald, user: string, byWebhook: boolean): Promise<string> {
  const { db, pool } = deps.database
  const now = new Date()
  const app = await createApp(db, deps.vault, { name: 'bench' }, now)
  const webhookId = byWebhook ? newId() : null
  if (webhookId) {
    await pool.query(
      `insert into webhooks (app_id, id, url, url_key, valid, created_at, last_success_at) values ($1, $2, $3, $3, true, $4, $4)`,
      [app.id, webhookId, `https://${HOST}/${webhookId}`, now]
    )
  }
  await pool.query(
    `insert into activity_subscriptions (app_id, id, event_type, event_type_given, user_id, filter, webhook_id, created_at, updated_at)
     values ($1, $2, 'post.create', 'post.create', $3, '{}', $4, $5, $5)`,
    [app.id, newId(), user, webhookId, now]
  )
  return appBearerToken(db, deps.vault, app.id, now)
}

async function publish(origin: string, author_id: string, from: number) {
  const events = Array.from({ length: EVENTS_PER_CALL }, (_, n) => ({
    event_type: 'post.create',
    payload: {
      id: newId(),
      author_id,
      text: `Post number ${from + n} with about as many words as people usually write`,
      lang: 'en'
    }
  }))
  const answer = await fetch(`${origin}/admin/events`, {
    method: 'POST',
    headers: { authorization: 'Bearer bench-admin-token-0123456789abcdef', 'content-type': 'application/json' },
    body: JSON.stringify({ events })
  })
  if (answer.status !== 202) throw new Error(`${answer.status} ${await answer.text()}`)
}

/** The readers of the streams, in a process of their own. */
if (process.argv[2] === '--child') {
  let lines = 0
  const open = (url: string, token: string) =>
    new Promise<void>((resolve, reject) => {
      http
        .get(url, { headers: { authorization: `Bearer ${token}` }, agent: false }, (response) => {
          if (response.statusCode !== 200) return reject(new Error(`a stream answered ${response.statusCode}`))
          // Every object ends with "}\r\n"; a sign of life is only the line end.
          let last = 0
          response.on('data', (chunk: Buffer) => {
            for (const byte of chunk) {
              if (byte === 13 && last === 125) lines++
              last = byte
            }
          })
          resolve()
        })
        .on('error', reject)
    })
  process.on('message', async (command: { open?: { url: string; tokens: string[] }; report?: true }) => {
    if (command.open) for (const token of command.open.tokens) await open(command.open.url, token)
    process.send!({ lines })
  })
  process.on('disconnect', () => process.exit())
}
