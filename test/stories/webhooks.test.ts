/** The life of a webhook as its developer and its operator see it: only HTTP, a real consumer on TLS, the test clock. */
import assert from 'node:assert/strict'
import type { ServerResponse } from 'node:http'
import { after, test } from 'node:test'
import { signature, standardSignature } from '../../src/webhooks/sign.ts'
import { type Behaviour, presets, type ReceivedRequest } from '../consumer.ts'
import { startWebhooks } from '../given-webhooks.ts'

const { app, consumer, mine, v2, admin, askAdmin, register, advance } = await startWebhooks(
  { after },
  { HERALD_DELIVERY_DEADLINE: '1500ms' }
)

interface Delivery {
  id: string
  state: string
  status: number | null
  error: string | null
  latency_ms: number | null
}

const postsTo = ({ url }: { url: string }) =>
  consumer.requests.filter((request) => request.method === 'POST' && url.endsWith(request.url))
const json = ({ body }: ReceivedRequest) => JSON.parse(body.toString())
const minute = (ago: number) =>
  new Date(app.deps.clock.now() - ago * 60_000).toISOString().replace(/\D/g, '').slice(0, 12)

async function subscribe(webhook: { id: string }, userId: string) {
  const body = { event_type: 'post.create', filter: { user_id: userId }, webhook_id: webhook.id }
  const response = await v2('POST', '/activity/subscriptions', body)
  assert.equal(response.statusCode, 200, response.body)
}

let posts = 0
async function publish(userId: string, text = 'hello') {
  const payload = { id: String(++posts), text, author_id: userId }
  const response = await askAdmin('POST', '/events', {
    events: [{ event_type: 'post.create', user_id: userId, payload }]
  })
  assert.equal(response.statusCode, 202, response.body)
  await app.drain()
  return response.json().data[0].id as string
}
const why = async (webhook: { id: string }, eventId: string) => {
  const { verdict, sentences } = await admin<{ verdict: string; sentences: string[] }>(
    'GET',
    `/webhooks/${webhook.id}/why?event_id=${eventId}`
  )
  return `${verdict}: ${sentences.join(' ')}`
}
const deliveriesOf = (webhook: { id: string }, query = '') =>
  admin<Delivery[]>('GET', `/webhooks/${webhook.id}/deliveries${query}`)

test('create, deliver, fail, ask why, send again, replay, and hear that the replay is complete', async () => {
  const webhook = await register()
  await subscribe(webhook, '42')

  const delivered = await publish('42', 'one')
  const [first] = postsTo(webhook)
  assert.equal(json(first!).data.payload.text, 'one')
  assert.equal(first!.headers['content-type'], 'application/json')
  assert.equal(first!.headers['x-svc-webhooks-signature'], signature(mine.consumer_secret, first!.body))
  const timestamp = Number(first!.headers['webhook-timestamp'])
  assert.equal(
    first!.headers['webhook-signature'],
    standardSignature(mine.consumer_secret, String(first!.headers['webhook-id']), timestamp, first!.body)
  )
  assert.match(await why(webhook, delivered), /^delivered: Delivery \d+ was acknowledged at /)

  consumer.respond(presets.status(500, {}, 'broken'))
  const lost = await publish('42', 'two')
  assert.match(await why(webhook, lost), /^retrying: .*Answered 500.*the next attempt is at /)
  for (const wait of ['5s', '31s', '280s']) await advance(wait)
  assert.equal(postsTo(webhook).length, 5)
  assert.match(await why(webhook, lost), /^failed: .*failed for good after 4 attempts.*server_error/)

  consumer.respond(presets.ok)
  const [failed] = await deliveriesOf(webhook, '?state=failed')
  await admin('POST', `/deliveries/${failed!.id}/resend`)
  await app.drain()
  assert.match(await why(webhook, lost), /^delivered: .*it took 5 attempts/)
  assert.equal(postsTo(webhook).at(-1)!.headers['webhook-id'], failed!.id)

  consumer.respond(presets.wrongToken)
  assert.equal((await v2('PUT', `/webhooks/${webhook.id}`)).statusCode, 400)
  const held = await publish('42', 'three')
  assert.match(await why(webhook, held), /^held: .*WRONG_TOKEN/)
  consumer.respond(presets.ok)
  assert.equal((await v2('PUT', `/webhooks/${webhook.id}`)).statusCode, 200)
  await advance('1m')
  const before = postsTo(webhook).length

  const response = await v2('POST', '/webhooks/replay', {
    ...{ webhook_id: webhook.id, from_date: minute(30), to_date: minute(0) }
  })
  await app.drain()

  assert.equal(response.statusCode, 200, response.body)
  const replayed = postsTo(webhook).slice(before)
  assert.deepEqual(
    replayed.slice(0, -1).map((request) => [json(request).data.payload.text, json(request).meta.replay]),
    [
      ['one', true],
      ['two', true],
      ['three', true]
    ]
  )
  assert.deepEqual(json(replayed.at(-1)!), {
    replay_job_status: {
      webhook_id: webhook.id,
      job_state: 'Complete',
      job_state_description: 'Job completed successfully',
      job_id: response.json().job_id
    }
  })
  assert.match(await why(webhook, held), /^delivered: /)
  assert.deepEqual(await deliveriesOf(webhook, '?state=held'), [])
})

const garbage: Behaviour = (_: ReceivedRequest, response: ServerResponse) =>
  void response.socket?.end(Buffer.alloc(199, '\u0001garbage'))

const misbehaviours: [what: string, behaviour: Behaviour, state: string, error: string | null][] = [
  ['stalls', presets.stall, 'retrying', 'timeout'],
  ['drips its headers', presets.headerDrip, 'retrying', 'timeout'],
  ['drips its body', presets.bodyDrip, 'retrying', 'timeout'],
  ['resets the connection', presets.reset, 'retrying', 'reset'],
  ['hangs up', presets.hangUp, 'retrying', 'reset'],
  ['redirects', presets.redirect(), 'failed', 'redirect'],
  ['answers 201', presets.status(201), 'retrying', 'status_not_200'],
  ['answers 204', presets.status(204), 'retrying', 'status_not_200'],
  ['answers 199 bytes of garbage', garbage, 'retrying', 'protocol'],
  ['answers 100 MB', presets.hugeBody(100_000_000), 'delivered', null]
]

test('whatever a consumer does, it is over by the deadline, classified, and harms no other', async (t) => {
  const webhooks = new Map<string, Behaviour>()
  const given: { what: string; webhook: { id: string; url: string }; userId: string }[] = []
  for (const [what, behaviour] of misbehaviours) {
    const webhook = await register()
    const userId = String(1_000 + given.length)
    await subscribe(webhook, userId)
    webhooks.set(new URL(webhook.url).pathname, behaviour)
    given.push({ what, webhook, userId })
  }
  const healthy = await register()
  await subscribe(healthy, '999')
  consumer.respond((request, response, context) =>
    (webhooks.get(request.url) ?? presets.ok)(request, response, context)
  )

  const events = [...given.map(({ userId }) => userId), '999'].map((user_id) => ({
    event_type: 'post.create',
    user_id,
    payload: { id: `9${user_id}`, text: 'hello', author_id: user_id }
  }))
  assert.equal((await askAdmin('POST', '/events', { events })).statusCode, 202)
  await app.drain()

  for (const [i, { what, webhook }] of given.entries()) {
    const [, , state, error] = misbehaviours[i]!
    await t.test(`a consumer that ${what}`, async () => {
      const [delivery] = await deliveriesOf(webhook)
      assert.deepEqual([delivery!.state, delivery!.error], [state, error])
      assert.ok(delivery!.latency_ms! < 1_500 + 1_000, `${delivery!.latency_ms} ms`)
    })
  }
  const [fine] = await deliveriesOf(healthy)
  assert.equal(fine!.state, 'delivered')
})
