import assert from 'node:assert/strict'
import { readFile, writeFile } from 'node:fs/promises'
import path from 'node:path'
import { after, test } from 'node:test'
import { startApp } from '../../test/app.ts'
import { type Behaviour, presets, startConsumer } from '../../test/consumer.ts'
import { givenApp } from '../../test/given.ts'
import { TRANSITIONS } from './validity.ts'

const consumer = await startConsumer({ after })
const caFile = `/tmp/herald-validity-ca-${process.pid}.pem`
await writeFile(caFile, consumer.ca)
const app = await startApp(
  { after },
  {
    HERALD_EGRESS_CA: caFile,
    HERALD_EGRESS_RESOLVE: `hooks.example.test=127.0.0.1:${consumer.port}`,
    HERALD_DELIVERY_DEADLINE: '300ms'
  }
)
const mine = await givenApp(app)
consumer.consumerSecret = mine.consumer_secret

let paths = 0
async function register() {
  consumer.respond(presets.ok)
  const response = await app.apps.main.inject({
    method: 'POST',
    url: '/2/webhooks',
    headers: mine.headers,
    payload: { url: `https://hooks.example.test/v/${++paths}` }
  })
  assert.equal(response.statusCode, 200, response.body)
  return response.json().data.id as string
}
const advance = async (duration: string) => {
  const response = await app.apps.main.inject({
    method: 'POST',
    url: '/admin/clock',
    headers: { authorization: `Bearer ${app.adminToken}` },
    payload: { advance: duration }
  })
  assert.equal(response.statusCode, 200, response.body)
}
const isValid = async (id: string) => {
  const { data } = (await app.apps.main.inject({ method: 'GET', url: '/2/webhooks', headers: mine.headers })).json()
  return data.find((webhook: { id: string }) => webhook.id === id)?.valid
}
const put = (id: string) => app.apps.main.inject({ method: 'PUT', url: `/2/webhooks/${id}`, headers: mine.headers })
const remove = (id: string) =>
  app.apps.main.inject({ method: 'DELETE', url: `/2/webhooks/${id}`, headers: mine.headers })
async function checksDuring(act: () => Promise<void>) {
  const before = consumer.requests.length
  await act()
  return consumer.requests.length - before
}

test('a webhook lives by the table: failing for 27 h 59 min it is valid, past 28 h it is not, PUT brings it back', async () => {
  const id = await register()

  assert.equal(await checksDuring(() => advance('23h59m')), 0, 'no check within 24 hours of a success')
  assert.equal(await checksDuring(() => advance('2m')), 1, 'one check after 24 hours, which succeeds')
  assert.equal(await checksDuring(() => advance('23h50m')), 0)
  consumer.respond(presets.status(503))
  assert.equal(await checksDuring(() => advance('3h')), 6, 'every 30 minutes while it fails')
  assert.equal(await isValid(id), true)
  await advance('1h8m')
  assert.equal(await isValid(id), true, '27 h 59 min without success')
  await advance('2m')
  assert.equal(await isValid(id), false, 'past 28 h')

  consumer.respond(presets.ok)
  assert.equal(await checksDuring(() => advance('10m')), 0)
  assert.deepEqual((await put(id)).json(), { data: { attempted: true, valid: true } })
  assert.equal(await isValid(id), true)
  assert.equal(await checksDuring(() => advance('23h')), 0, 'the clock starts anew')
  await remove(id)
  assert.equal(await checksDuring(() => advance('48h')), 0, 'nothing is sent after a delete')
})

const AT_ONCE: [string, Behaviour][] = [
  ['a wrong token on 2XX', presets.wrongToken],
  ['a body without a token', presets.notJson],
  ['a 3XX', presets.redirect()]
]
for (const [what, behaviour] of AT_ONCE) {
  test(`${what} at a periodic check invalidates at once`, async () => {
    const id = await register()
    consumer.respond(behaviour)

    await advance('24h1m')

    assert.equal(await isValid(id), false)
    await remove(id)
  })
}

const TRANSIENT: [string, Behaviour][] = [
  ['a 4XX', presets.status(404)],
  ['a 5XX', presets.status(500)],
  ['a timeout', presets.stall],
  ['a closed connection', presets.reset]
]
for (const [what, behaviour] of TRANSIENT) {
  test(`${what} at a periodic check does not invalidate before 28 hours`, async () => {
    const id = await register()
    consumer.respond(behaviour)

    await advance('24h1m')

    assert.equal(await isValid(id), true)
    await remove(id)
  })
}

test('PUT re-enables and its CRC decides: a transient failure leaves it enabled, a definitive one does not', async () => {
  const id = await register()
  consumer.respond(presets.wrongToken)
  assert.equal((await put(id)).statusCode, 400)
  assert.equal(await isValid(id), false)

  consumer.respond(presets.status(500))
  assert.match((await put(id)).json().errors[0].message, /^CrcValidationFailed: .*the webhook is enabled/)
  assert.equal(await isValid(id), true)
  await remove(id)
})

test('a periodic success does not re-enable an invalid webhook; only PUT does', async () => {
  const id = await register()
  consumer.respond(presets.wrongToken)
  await put(id)
  consumer.respond(presets.ok)

  assert.equal(await checksDuring(() => advance('25h')), 1)

  assert.equal(await isValid(id), false)
  await remove(id)
})

test('docs/states/webhook.md shows exactly the transitions of the code', async () => {
  const page = await readFile(path.join(import.meta.dirname, '../../docs/states/webhook.md'), 'utf8')
  const rows = page
    .split('\n')
    .filter((line) => /^\| (valid|invalid) \|/.test(line))
    .map((line) =>
      line
        .split('|')
        .slice(1, -1)
        .map((cell) => cell.trim())
    )

  assert.deepEqual(
    rows,
    TRANSITIONS.map(({ from, trigger, crc, overdue, to }) => [
      from,
      `${trigger}`,
      crc,
      overdue === null ? 'either' : overdue ? 'yes' : 'no',
      to
    ])
  )
})
