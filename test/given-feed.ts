/** A feed host for tests, and feeds in a few words. */
import assert from 'node:assert/strict'
import { mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import path from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { PRODUCT_FIELDS } from '../src/catalog/product-fields.ts'
import type { TestApp } from './app.ts'
import { type Behaviour, type Consumer, startConsumer } from './consumer.ts'
import type { Cleanup } from './database.ts'
import type { Json } from './given-ads.ts'
import type { Merchant } from './given-catalog.ts'

export interface FeedHost extends Consumer {
  url: string
  /** Settings with which a server reaches it. */
  env: Record<string, string>
  /** Serves this from now on. */
  serve(body: string | Buffer, headers?: Record<string, string>): void
}

const TLS_HOST = 'feeds.example.test'

export async function startFeedHost(t: Cleanup, { tls = false } = {}): Promise<FeedHost> {
  const consumer = await startConsumer(t, { plain: !tls })
  const url = tls ? `https://${TLS_HOST}/feed` : `http://127.0.0.1:${consumer.port}/feed`
  const env = tls ? await trusting(t, consumer) : {}
  const serve = (body: string | Buffer, headers: Record<string, string> = {}) =>
    consumer.respond(((request, response) => {
      const same = headers.etag !== undefined && request.headers['if-none-match'] === headers.etag
      response.writeHead(same ? 304 : 200, headers).end(same ? undefined : body)
    }) as Behaviour)
  return Object.assign(Object.create(consumer, Object.getOwnPropertyDescriptors(consumer)), { url, env, serve })
}

async function trusting(t: Cleanup, { port, ca }: Consumer) {
  const directory = await mkdtemp(path.join(tmpdir(), 'herald-feed-host-'))
  t.after(() => rm(directory, { recursive: true, force: true }))
  const file = path.join(directory, 'ca.pem')
  await writeFile(file, ca)
  return { HERALD_EGRESS_CA: file, HERALD_EGRESS_RESOLVE: `${TLS_HOST}=127.0.0.1:${port}` }
}

/** Waits for what other threads and processes bring about. */
export async function until(what: string, isSo: () => Promise<boolean> | boolean) {
  for (let i = 0; i < 1_000; i++) {
    if (await isSo()) return
    await sleep(10)
  }
  throw new Error(`never: ${what}`)
}

/** Staging tables of imports that are under way or were left behind. */
export async function stagingTables({ deps }: TestApp): Promise<number> {
  const { rows } = await deps.database.pool.query(
    "select from pg_class where relname like 'feed_stage_%' and relkind = 'r'"
  )
  return rows.length
}

const quoted = (value: unknown) => {
  const text = value == null ? '' : String(value)
  return /[",\n]/.test(text) ? `"${text.replaceAll('"', '""')}"` : text
}

export const csv = (products: Json[], columns: readonly string[] = PRODUCT_FIELDS) =>
  [columns, ...products.map((each) => columns.map((name) => each[name]))]
    .map((row) => `${row.map(quoted).join(',')}\r\n`)
    .join('')

export const DAILY = { frequency: 'DAILY', start_time: '03:00', time_zone: 'Etc/UTC' }

export async function givenFeed(merchant: Merchant, feed_url: string, more: Json = {}): Promise<Json> {
  const { data, body } = await merchant.post('scheduled_feeds', { feed_url, feed_format: 'CSV', ...DAILY, ...more })
  if (!data) throw new Error(`no feed: ${JSON.stringify(body)}`)
  return data
}

/** Fetches the feed now and returns the run when nothing more happens to it. */
export async function runFeed(app: TestApp, merchant: Merchant, feedId: string, input: Json = {}): Promise<Json> {
  const { data, body } = await merchant.post(`scheduled_feeds/${feedId}/runs`, input)
  if (!data) throw new Error(`no run: ${JSON.stringify(body)}`)
  await app.drain()
  return (await merchant.get(`scheduled_feeds/${feedId}/runs/${data.id}`)).data
}

export const none = { created: 0, updated: 0, unchanged: 0, rejected: 0, duplicate: 0 }

/** What became of the rows of a run; every row that was read is one of them. */
export function counts(run: Json): typeof none {
  const { read, created, updated, unchanged, rejected, duplicate } = run.counts
  assert.equal(read, created + updated + unchanged + rejected + duplicate, JSON.stringify(run.counts))
  return { created, updated, unchanged, rejected, duplicate }
}
