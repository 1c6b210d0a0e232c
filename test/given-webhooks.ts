/** A whole Herald that delivers, one app of its own, and a consumer at hooks.example.test. */
import assert from 'node:assert/strict'
import { mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import path from 'node:path'
import type { NewDelivery, Webhooks } from '../src/webhooks/index.ts'
import { startApp, type TestApp } from './app.ts'
import { type Consumer, presets, startConsumer } from './consumer.ts'
import type { Cleanup } from './database.ts'
import { type GivenApp, givenApp } from './given.ts'

type Method = 'GET' | 'POST' | 'PUT' | 'DELETE'
type Answer = Awaited<ReturnType<TestApp['apps']['main']['inject']>>

export interface WebhooksGiven {
  app: TestApp
  consumer: Consumer
  mine: GivenApp
  /** /2 by the app, or by whom is given; null for nobody. */
  v2(method: Method, url: string, payload?: object, by?: { headers: object } | null): Promise<Answer>
  /** /admin; the data of the answer, which must be a success. */
  admin<T = Record<string, unknown>>(method: Method, url: string, payload?: object): Promise<T>
  /** /admin, whatever the answer. */
  askAdmin(method: Method, url: string, payload?: object): Promise<Answer>
  register(by?: GivenApp): Promise<{ id: string; url: string }>
  /** As a product does. Returns what is to be sent. */
  deliver(webhook: { id: string }, ...deliveries: Omit<NewDelivery, 'app_id' | 'webhook_id'>[]): Promise<string[]>
  advance(duration: string): Promise<void>
}

export async function startWebhooks(
  t: Cleanup,
  env: Record<string, string> = {},
  { start = true } = {}
): Promise<WebhooksGiven> {
  const consumer = await startConsumer(t)
  const directory = await mkdtemp(path.join(tmpdir(), 'herald-ca-'))
  t.after(() => rm(directory, { recursive: true, force: true }))
  const caFile = path.join(directory, 'ca.pem')
  await writeFile(caFile, consumer.ca)
  const app = await startApp(t, {
    HERALD_EGRESS_CA: caFile,
    HERALD_EGRESS_RESOLVE: `hooks.example.test=127.0.0.1:${consumer.port}`,
    // Also on a busy machine; tests of consumers that never answer pass a shorter one.
    HERALD_DELIVERY_DEADLINE: '5s',
    ...env
  })
  if (start) await app.start()
  const mine = await givenApp(app)
  const { delivery } = app.domains.find(({ name }) => name === 'webhooks') as Webhooks
  let paths = 0

  const askAdmin = (method: Method, url: string, payload?: object) =>
    app.apps.main.inject({
      method,
      url: `/admin${url}`,
      headers: { authorization: `Bearer ${app.adminToken}` },
      ...(payload ? { payload } : {})
    })
  const admin = async <T>(method: Method, url: string, payload?: object) => {
    const response = await askAdmin(method, url, payload)
    assert.equal(response.statusCode, 200, response.body)
    return response.json().data as T
  }
  const v2: WebhooksGiven['v2'] = (method, url, payload, by = mine) =>
    app.apps.main.inject({
      method,
      url: `/2${url}`,
      headers: { ...by?.headers },
      ...(payload ? { payload } : {})
    })

  return {
    app,
    consumer,
    mine,
    v2,
    admin,
    askAdmin,
    async register(by = mine) {
      consumer.consumerSecret = by.consumer_secret
      consumer.respond(presets.ok)
      const url = `https://hooks.example.test/in/${++paths}`
      const response = await v2('POST', '/webhooks', { url }, by)
      assert.equal(response.statusCode, 200, response.body)
      return response.json().data
    },
    async deliver(webhook, ...deliveries) {
      const { db } = app.deps.database
      const { app_id } = await db
        .selectFrom('webhooks')
        .select('app_id')
        .where('id', '=', webhook.id)
        .executeTakeFirstOrThrow()
      const lane = { app_id, webhook_id: webhook.id }
      const appended = await db
        .transaction()
        .execute((tx) => delivery.append(tx, deliveries.map((one) => ({ ...lane, ...one })) as NewDelivery[]))
      delivery.dispatch(appended)
      return appended.map(({ id }) => id)
    },
    async advance(duration) {
      await admin('POST', '/clock', { advance: duration })
    }
  }
}
