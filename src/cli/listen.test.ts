import assert from 'node:assert/strict'
import { spawn } from 'node:child_process'
import { EventEmitter, once } from 'node:events'
import { access, writeFile } from 'node:fs/promises'
import path from 'node:path'
import { after, type TestContext, test } from 'node:test'
import { startApp } from '../../test/app.ts'
import { givenApp } from '../../test/given.ts'
import { listen } from './listen.ts'

const app = await startApp({ after }, { HERALD_EGRESS_ALLOW_PRIVATE: '0' })
await app.start()
const { main } = await app.listen()
const mine = await givenApp(app)
const dataDir = app.deps.config.HERALD_DATA_DIR
const { id, consumer_secret, bearer } = mine
const credentials = { base_url: main, app: { id, consumer_secret, bearer_token: bearer } }
await writeFile(path.join(dataDir, 'credentials.json'), JSON.stringify(credentials))

/** The command in this process, with what it prints and somebody at the keyboard. */
function run(t: TestContext, values: Record<string, string | boolean>) {
  const { promise: stopped, resolve: stop } = Promise.withResolvers<void>()
  const printed: string[] = []
  const said: string[] = []
  const news = new EventEmitter()
  let press: (key: string) => void = () => {}
  const collect = (into: string[]) => (line: string) => {
    into.push(line)
    news.emit('news')
  }
  const ended = listen(
    { port: '0', json: true, ...values },
    { HERALD_DATA_DIR: dataDir },
    {
      print: collect(printed),
      say: collect(said),
      colours: false,
      stopped,
      keys: {
        on(listener) {
          press = listener
          return () => {}
        }
      }
    }
  )
  t.after(async () => {
    stop()
    await ended.catch(() => {})
  })
  /** Waits for it, unless the command ends first. */
  const until = async <T>(find: () => T | undefined): Promise<T> => {
    for (;;) {
      const found = find()
      if (found !== undefined) return found
      await Promise.race([once(news, 'news'), ended.then(() => assert.fail(`It ended: ${said.join('\n')}`))])
    }
  }
  return {
    stop,
    ended,
    press: (key: string) => press(key),
    heard: (words: string) => until(() => said.find((line) => line.includes(words))),
    received: (count: number) => until(() => (printed[count - 1] ? JSON.parse(printed[count - 1]!) : undefined))
  }
}

const publish = async (n: number) => {
  const { statusCode, body } = await app.apps.main.inject({
    method: 'POST',
    url: '/admin/events',
    headers: { authorization: `Bearer ${app.adminToken}` },
    payload: {
      events: [{ event_type: 'post.create', user_id: '42', payload: { id: `${n}`, text: 'hello', author_id: '42' } }]
    }
  })
  assert.equal(statusCode, 202, body)
}

test('one command registers the receiver, subscribes it and shows what arrives', async (t) => {
  const command = run(t, { subscribe: 'post.create:42' })
  const crc = await command.received(1)
  await command.heard('Subscribed to post.create of user 42.')
  await publish(1)
  const event = await command.received(2)
  command.stop()
  await command.ended

  assert.deepEqual([crc.what, crc.signature, crc.answer], ['crc', 'good', 200])
  assert.deepEqual([event.what, event.signature, event.standard, event.answer], ['event', 'good', 'good', 200])
  assert.equal(event.body.data.payload.text, 'hello')
  await assert.rejects(access(path.join(dataDir, 'listen.json')), 'nobody is sent to a receiver that is gone')
})

test('the next one finds it registered, and fails as it was told; a key mends it', async (t) => {
  const command = run(t, { subscribe: 'post.create:42', fail: '503' })
  await command.heard('Keys: o ok, s slow')
  await command.heard('Subscribed to post.create of user 42 already.')
  await publish(2)
  const failed = await command.received(2)
  command.press('o')
  await command.heard('From now on it answers well.')
  await publish(3)
  const mended = await command.received(3)
  command.press('q')
  await command.ended

  assert.deepEqual([failed.what, failed.answer], ['event', 503])
  assert.deepEqual([mended.what, mended.answer], ['event', 200])
  const { data } = (await app.apps.main.inject({ method: 'GET', url: '/2/webhooks', headers: mine.headers })).json()
  assert.deepEqual(
    data.map(({ url, valid }: { url: string; valid: boolean }) => [url, valid]),
    [['https://listen.herald.test/hook', true]]
  )
})

test('says how to subscribe when it only registers', async (t) => {
  const command = run(t, { register: true, path: '/another' })

  assert.match(await command.heard('/2/activity/subscriptions'), /"webhook_id":"\d+"/)
})

test('says exactly how to start the server when that does not reach the receiver', async (t) => {
  const strict = await startApp(t, { HERALD_EGRESS_ALLOW_PRIVATE: '0', HERALD_DEV_LISTENER: 'off' })
  const { main: url } = await strict.listen()
  const theirs = await givenApp(strict)
  const values = { register: true, port: '0', secret: theirs.consumer_secret, token: theirs.bearer }
  const nobody = { print() {}, say() {}, colours: false, stopped: new Promise<void>(() => {}) }

  const refused = await listen(values, { HERALD_DATA_DIR: dataDir, HERALD_PUBLIC_URL: url }, nobody).catch(String)

  assert.match(String(refused), /UrlValidationFailed: /)
  assert.match(String(refused), /HERALD_DEV_LISTENER=on npm start/)
  assert.match(
    String(refused),
    /HERALD_EGRESS_CA=.*listen-ca\.pem HERALD_EGRESS_RESOLVE=listen\.herald\.test=127\.0\.0\.1:\d+ npm start/
  )
})

test('refuses what it cannot do, in a sentence', async () => {
  const nobody = { print() {}, say() {}, colours: false, stopped: Promise.resolve() }
  const empty = { HERALD_DATA_DIR: path.join(dataDir, 'empty') }
  const cases: [Record<string, string | boolean>, RegExp, NodeJS.ProcessEnv?][] = [
    [{ port: '99999' }, /--port must be a number/],
    [{ path: 'hook' }, /--path must begin with \//],
    [{ slow: 'x' }, /--slow must be a duration/],
    [{ subscribe: 'post.create', port: '0' }, /--subscribe must look like post\.create:42/],
    [{ port: new URL(main).port }, /is in use; choose another with --port/],
    [{ register: true, secret: 'x', port: '0' }, /no app-only token to register with/, empty],
    [
      { register: true, secret: 'x', token: 'y', port: '0' },
      /does not answer at http:\/\/127\.0\.0\.1:1; start it with npm start/,
      { ...empty, HERALD_PUBLIC_URL: 'http://127.0.0.1:1' }
    ],
    [{}, /There is no consumer secret: pass it with --secret/, empty]
  ]

  for (const [values, message, env] of cases) {
    await assert.rejects(listen(values, env ?? { HERALD_DATA_DIR: dataDir }, nobody), message)
  }
})

test('as a process it stops when it is told, and leaves nothing behind', async (t) => {
  const child = spawn(
    process.execPath,
    [path.resolve(import.meta.dirname, '../../bin/herald.mjs'), 'listen', '--port', '0', '--lie'],
    { env: { PATH: process.env.PATH, HERALD_DATA_DIR: dataDir }, stdio: ['ignore', 'pipe', 'inherit'] }
  )
  t.after(() => child.kill('SIGKILL'))
  const ended = once(child, 'close')
  const [line] = await once(child.stdout.setEncoding('utf8'), 'data')
  child.kill('SIGTERM')

  assert.match(line, /^Listening at https:\/\/listen\.herald\.test\/hook \(127\.0\.0\.1:\d+\); .*wrong token/)
  assert.deepEqual(await ended, [0, null])
  await assert.rejects(access(path.join(dataDir, 'listen.json')))
})
