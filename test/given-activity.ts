/** A Herald with a consumer behind it, for tests of what reaches whom: webhooks are paths, bodies are looked up by path. */
import { mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import path from 'node:path'
import type { InjectOptions } from 'fastify'
import { startApp, type TestApp } from './app.ts'
import { type Consumer, presets, startConsumer } from './consumer.ts'
import type { Cleanup } from './database.ts'
import { type GivenApp, givenApp } from './given.ts'
import type { Json } from './given-ads.ts'

export interface ReceivingWebhook {
  id: string
  path: string
  url: string
  /** Everything that was POSTed here, in the order of arrival. */
  texts(): string[]
  bodies(): Json[]
}

export interface Receiving {
  app: TestApp
  consumer: Consumer
  webhook(by: GivenApp): Promise<ReceivingWebhook>
  appWithWebhook(): Promise<{ by: GivenApp; webhook: ReceivingWebhook }>
  /** Publishes and waits until everything that follows from it was sent. */
  publish(...events: object[]): Promise<{ id: string; duplicate: boolean }[]>
  call(
    method: string,
    url: string,
    headers?: Record<string, string>,
    payload?: object
  ): Promise<{ status: number; body: Json }>
  admin(method: string, url: string, payload?: object): Promise<{ status: number; body: Json }>
}

export async function startReceiving(t: Cleanup, env: Record<string, string> = {}): Promise<Receiving> {
  const consumer = await startConsumer(t)
  const directory = await mkdtemp(path.join(tmpdir(), 'herald-ca-'))
  t.after(() => rm(directory, { recursive: true, force: true }))
  const caFile = path.join(directory, 'ca.pem')
  await writeFile(caFile, consumer.ca)
  const app = await startApp(t, {
    HERALD_EGRESS_CA: caFile,
    HERALD_EGRESS_RESOLVE: `hooks.example.test=127.0.0.1:${consumer.port}`,
    ...env
  })
  await app.start()
  let paths = 0

  const call: Receiving['call'] = async (method, url, headers = {}, payload) => {
    const response = await app.apps.main.inject({
      method: method as InjectOptions['method'],
      url,
      headers,
      ...(payload === undefined ? {} : { payload })
    } as InjectOptions)
    return { status: response.statusCode, body: response.body === '' ? undefined : response.json() }
  }
  const admin: Receiving['admin'] = (method, url, payload) =>
    call(method, `/admin${url}`, { authorization: `Bearer ${app.adminToken}` }, payload)

  const webhook: Receiving['webhook'] = async (by) => {
    const target = `/in/${++paths}`
    const url = `https://hooks.example.test${target}`
    consumer.consumerSecret = by.consumer_secret
    consumer.respond(presets.ok)
    const { status, body } = await call('POST', '/2/webhooks', by.headers, { url })
    if (status !== 200) throw new Error(`no webhook: ${JSON.stringify(body)}`)
    const texts = () =>
      consumer.requests
        .filter((each) => each.method === 'POST' && each.url === target)
        .map((each) => each.body.toString())
    return { id: body.data.id, path: target, url, texts, bodies: () => texts().map((text) => JSON.parse(text)) }
  }

  return {
    app,
    consumer,
    webhook,
    async appWithWebhook() {
      const by = await givenApp(app)
      return { by, webhook: await webhook(by) }
    },
    async publish(...events) {
      const { status, body } = await admin('POST', '/events', { events })
      if (status !== 202) throw new Error(`not published: ${JSON.stringify(body)}`)
      await app.drain()
      return body.data
    },
    call,
    admin
  }
}

/** The message of the first error of an answer. */
export const reasonOf = ({ body }: { body: Json }): string => body.errors?.[0]?.message ?? body.detail
