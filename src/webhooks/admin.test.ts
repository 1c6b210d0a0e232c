import assert from 'node:assert/strict'
import { after, test } from 'node:test'
import { presets } from '../../test/consumer.ts'
import { givenApp } from '../../test/given.ts'
import { startWebhooks } from '../../test/given-webhooks.ts'
import { newId } from '../storage/ids.ts'
import { forgetChecksJob } from './crc-retention.ts'
import { signature, standardSignature } from './sign.ts'

const { app, consumer, mine, v2, admin, askAdmin, register, deliver, advance } = await startWebhooks({ after })
const { pool } = app.deps.database

interface Delivery {
  id: string
  state: string
  kind: string
  event_id: string | null
  attempts: number
  created_at: string
  status: number | null
  error: string | null
  next_attempt_at: string | null
}
interface Why {
  verdict: string
  sentences: string[]
  deliveries: Delivery[]
  next?: string
}

const iso = () => new Date(app.deps.clock.now()).toISOString()
const list = async (webhook: { id: string }, query = '') =>
  admin<Delivery[]>('GET', `/webhooks/${webhook.id}/deliveries${query}`)
const why = (webhook: { id: string }, eventId: string) =>
  admin<Why>('GET', `/webhooks/${webhook.id}/why?event_id=${eventId}`)
/** As a publisher does; the webhooks domain only looks at the time. */
async function givenEvent(id: string) {
  await (
    app.domains.find(({ name }) => name === 'webhooks') as import('./index.ts').Webhooks
  ).delivery.ensurePartitions()
  await pool.query(
    `insert into events (created_at, occurred_at, id, event_type, payload) values ($1, $1, $2, 'post.create', '{}')`,
    [iso(), id]
  )
  return id
}

test('shows a delivery with what was sent, what was answered and when it is tried again', async () => {
  const webhook = await register()
  consumer.respond(presets.status(503, {}, 'overloaded'))
  const eventId = newId()
  const [id] = await deliver(webhook, { body: '{"data":{"n":9007199254740993}}', event_id: eventId, kind: 'activity' })
  await app.drain()

  const delivery = await admin<Delivery & Record<string, unknown>>('GET', `/deliveries/${id}`)

  const { state, status, error, attempts, kind, event_id, body, url, next_attempt_cause } = delivery
  assert.deepEqual(
    { state, status, error, attempts, kind, event_id, body, url, next_attempt_cause },
    {
      ...{ state: 'retrying', status: 503, error: 'server_error', attempts: 1, kind: 'activity', event_id: eventId },
      ...{ body: '{"data":{"n":9007199254740993}}', url: webhook.url, next_attempt_cause: 'live' }
    }
  )
  const [attempt] = delivery.attempt_records as Record<string, unknown>[]
  assert.equal(attempt!.response, 'overloaded')
  assert.equal(attempt!.next_attempt_at, delivery.next_attempt_at)
  assert.ok(Date.parse(delivery.next_attempt_at!) > app.deps.clock.now())
  const sent = consumer.requests.at(-1)!
  for (const [name, value] of Object.entries(attempt!.request_headers as Record<string, string>)) {
    assert.equal(sent.headers[name], value, name)
  }
  assert.equal(sent.headers['x-svc-webhooks-signature'], signature(mine.consumer_secret, sent.body))
  assert.ok(!JSON.stringify(delivery).includes(mine.consumer_secret))
  assert.equal((await askAdmin('GET', '/deliveries/1')).statusCode, 404)
})

test('lists deliveries by state, event, kind and time', async () => {
  const webhook = await register()
  const eventId = newId()
  const [delivered] = await deliver(webhook, { body: '{}', event_id: eventId, kind: 'activity' })
  await app.drain()
  consumer.respond(presets.redirect())
  const [failed] = await deliver(webhook, { body: '{}', kind: 'activity' })
  await app.drain()
  await advance('1m')
  const middle = iso()
  consumer.respond(presets.status(500))
  const [retrying] = await deliver(webhook, { body: '{}', event_id: eventId, kind: 'other' })
  await app.drain()
  const ids = async (query: string) => (await list(webhook, query)).map(({ id }) => id)

  assert.deepEqual(await ids(''), [retrying, failed, delivered])
  assert.deepEqual(await ids('?state=delivered'), [delivered])
  assert.deepEqual(await ids('?state=failed'), [failed])
  assert.deepEqual(await ids('?state=retrying'), [retrying])
  assert.deepEqual(await ids('?state=held'), [])
  assert.deepEqual(await ids('?state=waiting'), [])
  assert.deepEqual(await ids(`?event_id=${eventId}`), [retrying, delivered])
  assert.deepEqual(await ids(`?event_id=${eventId}&state=delivered`), [delivered])
  assert.deepEqual(await ids('?kind=activity'), [failed, delivered])
  assert.deepEqual(await ids('?kind=activity&state=failed'), [failed])
  assert.deepEqual(await ids(`?from=${middle}`), [retrying])
  assert.deepEqual(await ids(`?to=${middle}&state=delivered`), [delivered])
  assert.deepEqual(await ids(`?to=${middle}`), [failed, delivered])
  assert.equal((await askAdmin('GET', `/webhooks/${webhook.id}/deliveries?from=yesterday`)).statusCode, 400)
  assert.equal((await askAdmin('GET', `/webhooks/${webhook.id}/deliveries?state=lost`)).statusCode, 400)
  assert.equal((await askAdmin('GET', '/webhooks/1/deliveries')).statusCode, 404)
})

test('what failed is not listed as failed once a replay delivered it', async () => {
  const webhook = await register()
  consumer.respond(presets.redirect())
  const [id] = await deliver(webhook, { body: '{}' })
  await app.drain()
  await advance('1m')
  consumer.respond(presets.ok)
  const minute = (ago: number) =>
    new Date(app.deps.clock.now() - ago * 60_000).toISOString().replace(/\D/g, '').slice(0, 12)
  await v2('POST', '/webhooks/replay', { webhook_id: webhook.id, from_date: minute(9), to_date: minute(0) })
  await app.drain()

  assert.deepEqual(await list(webhook, '?state=failed'), [])
  const delivered = await list(webhook, '?state=delivered')
  assert.ok(delivered.some((delivery) => delivery.id === id))
})

test('pages go both ways, also when the filter leaves some of them nearly empty', async () => {
  const webhook = await register()
  for (let i = 0; i < 25; i++) {
    await deliver(webhook, { body: '{}', kind: i % 5 === 0 ? 'rare' : 'common' })
    await app.drain()
  }
  for (const filter of ['', '&kind=rare', '&state=delivered', '&state=delivered&kind=rare']) {
    const whole = (await list(webhook, `?max_results=200${filter}`)).map(({ id }) => id)
    const get = async (token?: string) =>
      (
        await askAdmin(
          'GET',
          `/webhooks/${webhook.id}/deliveries?max_results=2${filter}${token ? `&pagination_token=${token}` : ''}`
        )
      ).json() as { data: Delivery[]; meta: { next_token?: string; previous_token?: string } }

    const forth: string[][] = []
    let page = await get()
    assert.equal(page.meta.previous_token, undefined)
    for (; ; page = await get(page.meta.next_token)) {
      forth.push(page.data.map(({ id }) => id))
      if (!page.meta.next_token) break
    }
    const back: string[][] = []
    for (; page.meta.previous_token; ) {
      page = await get(page.meta.previous_token)
      back.unshift(page.data.map(({ id }) => id))
    }

    assert.equal(whole.length, filter.includes('rare') ? 5 : 25)
    assert.deepEqual(forth.flat(), whole)
    assert.deepEqual(back.flat(), forth.slice(0, -1).flat())
  }
  const wrong = await askAdmin('GET', `/webhooks/${webhook.id}/deliveries?pagination_token=AAAAAAAAAAAAAAAAAAAAAA`)
  assert.equal(wrong.statusCode, 400)
})

test('sends a delivery again: the same bytes under the same id, once, however often it is asked at once', async () => {
  const webhook = await register()
  consumer.respond(presets.redirect())
  const [id] = await deliver(webhook, { body: '{"data":{"n":1}}' })
  await app.drain()
  const release = Promise.withResolvers<void>()
  consumer.respond(async (request, response, context) => {
    await release.promise
    presets.ok(request, response, context)
  })
  const before = consumer.requests.length

  const answers = await Promise.all(Array.from({ length: 4 }, () => askAdmin('POST', `/deliveries/${id}/resend`)))
  release.resolve()
  await app.drain()

  assert.deepEqual(answers.map(({ statusCode }) => statusCode).sort(), [200, 409, 409, 409])
  const sent = consumer.requests.slice(before)
  assert.equal(sent.length, 1)
  assert.equal(sent[0]!.headers['webhook-id'], id)
  assert.equal(sent[0]!.body.toString(), '{"data":{"n":1}}')
  const delivery = await admin<Delivery & { attempt_records: { cause: string; outcome: string }[] }>(
    'GET',
    `/deliveries/${id}`
  )
  assert.equal(delivery.state, 'delivered')
  assert.deepEqual(
    delivery.attempt_records.map(({ cause, outcome }) => [cause, outcome]),
    [
      ['live', 'failed'],
      ['resend', 'delivered']
    ]
  )
})

test('a resend that fails is retried by the schedule', async () => {
  const webhook = await register()
  const [id] = await deliver(webhook, { body: '{}' })
  await app.drain()
  consumer.respond(presets.status(500))

  await admin('POST', `/deliveries/${id}/resend`)
  await app.drain()
  consumer.respond(presets.ok)
  const before = consumer.requests.length
  await advance('5s')

  assert.equal(consumer.requests.length, before + 1)
  assert.equal((await askAdmin('POST', '/deliveries/1/resend')).statusCode, 404)
})

test('sends a signed test event and says which delivery it is', async () => {
  const webhook = await register()
  const before = consumer.requests.length

  const { delivery_id } = await admin<{ delivery_id: string }>('POST', `/webhooks/${webhook.id}/test_event`)
  await admin('POST', `/webhooks/${webhook.id}/test_event`, { body: { data: { mine: true } } })
  await app.drain()

  const [first, second] = consumer.requests.slice(before)
  const byId = [first!, second!].find(({ headers }) => headers['webhook-id'] === delivery_id)!
  assert.equal(JSON.parse(byId.body.toString()).test_event.webhook_id, webhook.id)
  const timestamp = Number(byId.headers['webhook-timestamp'])
  assert.equal(
    byId.headers['webhook-signature'],
    standardSignature(mine.consumer_secret, delivery_id, timestamp, byId.body)
  )
  const other = [first!, second!].find((request) => request !== byId)!
  assert.deepEqual(JSON.parse(other.body.toString()), { data: { mine: true } })
  assert.equal((await admin<Delivery>('GET', `/deliveries/${delivery_id}`)).kind, 'test')
})

test('while a webhook is invalid nothing is sent by hand either, and validating brings it back', async () => {
  const webhook = await register()
  const [id] = await deliver(webhook, { body: '{}' })
  await app.drain()
  consumer.respond(presets.wrongToken)
  const failed = await admin('POST', `/webhooks/${webhook.id}/validate`)
  const refused = [
    await askAdmin('POST', `/deliveries/${id}/resend`),
    await askAdmin('POST', `/webhooks/${webhook.id}/test_event`)
  ]
  const record = await admin('GET', `/webhooks/${webhook.id}`)
  const invalid = await admin<{ id: string }[]>('GET', `/webhooks?valid=false&app_id=${mine.id}`)
  consumer.respond(presets.ok)
  const passed = await admin('POST', `/webhooks/${webhook.id}/validate`)

  assert.equal(failed.valid, false)
  assert.equal(failed.error, 'WRONG_TOKEN')
  for (const response of refused) {
    assert.equal(response.statusCode, 409)
    assert.match(response.json().detail, /is invalid since .*validate it first/)
  }
  assert.match(String(record.invalid_reason), /^WRONG_TOKEN: /)
  assert.equal(record.last_crc_outcome, 'definitive')
  assert.ok(invalid.some((each) => each.id === webhook.id))
  assert.deepEqual([passed.valid, passed.outcome], [true, 'pass'])
  const checks = await admin<{ cause: string; outcome: string }[]>('GET', `/webhooks/${webhook.id}/crc_checks`)
  assert.deepEqual(
    checks.map(({ cause, outcome }) => [cause, outcome]),
    [
      ['put', 'pass'],
      ['put', 'definitive'],
      ['create', 'pass']
    ]
  )
})

test('keeps the CRC of a registration that was refused', async () => {
  const unlucky = await givenApp(app)
  consumer.respond(presets.status(404, {}, 'no such page'))
  await v2('POST', '/webhooks', { url: 'https://hooks.example.test/nowhere' }, unlucky)

  const checks = await admin<Record<string, unknown>[]>('GET', `/crc_checks?app_id=${unlucky.id}`)

  assert.equal(checks.length, 1)
  const { cause, outcome, status, response, url } = checks[0]!
  assert.deepEqual(
    { cause, outcome, status, response, url },
    {
      ...{ cause: 'create', outcome: 'transient', status: 404, response: 'no such page' },
      url: 'https://hooks.example.test/nowhere'
    }
  )
  assert.deepEqual(await admin('GET', `/crc_checks?app_id=${unlucky.id}&outcome=pass`), [])
})

test('shows what waits for a webhook and how it has answered', async () => {
  const webhook = await register()
  await deliver(webhook, { body: '{}' }, { body: '{}' }, { body: '{}' })
  await app.drain()
  consumer.respond(presets.status(500))
  await deliver(webhook, { body: '{}' })
  await app.drain()

  const record = await admin('GET', `/webhooks/${webhook.id}`)
  const listed = await admin<Record<string, unknown>[]>('GET', `/webhooks?app_id=${mine.id}&max_results=1`)

  const { valid, backlog, recent_deliveries, recent_attempts, recent_delivered, success_rate } = record
  assert.deepEqual(
    { valid, backlog, recent_deliveries, recent_attempts, recent_delivered, success_rate },
    { valid: true, backlog: 1, recent_deliveries: 4, recent_attempts: 4, recent_delivered: 3, success_rate: 0.75 }
  )
  assert.ok(Date.parse(String(record.oldest_due_at)) > app.deps.clock.now())
  assert.deepEqual(listed[0], record)
  consumer.respond(presets.ok)
  await advance('5s')
  const settled = await admin('GET', `/webhooks/${webhook.id}`)
  assert.deepEqual([settled.backlog, settled.oldest_due_at], [0, null])
  assert.equal((await askAdmin('GET', '/webhooks/1')).statusCode, 404)
})

test('says why an event was not delivered, in sentences', async (t) => {
  const webhook = await register()
  const deliverEvent = async () => {
    const eventId = await givenEvent(newId())
    await deliver(webhook, { body: '{}', event_id: eventId, kind: 'activity' })
    await app.drain()
    return eventId
  }
  const answers = async (eventId: string, verdict: string, sentence: RegExp, next?: RegExp) => {
    const answer = await why(webhook, eventId)
    assert.equal(answer.verdict, verdict)
    assert.match(answer.sentences.join('\n'), sentence)
    if (next) assert.match(answer.next ?? '', next)
  }

  await t.test('it was delivered', async () => {
    consumer.respond(presets.ok)
    await answers(await deliverEvent(), 'delivered', /was acknowledged at \d{4}-.*Z; it took 1 attempt\.$/)
  })
  await t.test('it waits for a retry', async () => {
    consumer.respond(presets.status(503, {}, 'busy'))
    await answers(
      await deliverEvent(),
      'retrying',
      /not acknowledged in 1 attempt \(server_error, Answered 503; .*\); the next attempt is at \d{4}-/
    )
  })
  await t.test('it failed for good', async () => {
    consumer.respond(presets.redirect())
    const eventId = await deliverEvent()
    await answers(
      eventId,
      'failed',
      /failed for good after 1 attempt, the last at .*redirects are never followed/,
      /^POST \/admin\/deliveries\/\d+\/resend$/
    )
  })
  await t.test('it was given up after the last retry', async () => {
    consumer.respond(presets.status(500))
    const eventId = await deliverEvent()
    for (const wait of ['5s', '31s', '280s']) await advance(wait)
    await answers(eventId, 'failed', /failed for good after 4 attempts/)
  })
  await t.test('the event is unknown', async () => {
    await answers('42', 'event_unknown', /There is no event 42\. Events and deliveries are kept for 72 hours/)
    await answers('my-own-name', 'event_unknown', /Ask by the id that POST \/admin\/events answered with/)
  })
  await t.test('the event is older than the records', async () => {
    const old = ((BigInt(Date.now() - 80 * 3_600_000) - BigInt(Date.UTC(1990, 0, 1))) << 22n).toString()
    await answers(old, 'event_expired', /its id was made at .* so it is too old to tell/)
  })
  await t.test('no subscription matched', async () => {
    await answers(
      await givenEvent(newId()),
      'not_matched',
      /no delivery to this webhook was made.*\n.*GET \/admin\/activity\/explain\?event_id=\d+&subscription_id=… says why/,
      /^GET \/admin\/activity\/subscriptions\?app_id=\d+$/
    )
  })
  await t.test('the webhook did not exist yet', async () => {
    const eventId = await givenEvent(newId())
    await advance('1s')
    const later = await register()
    const answer = await why(later, eventId)
    assert.equal(answer.verdict, 'webhook_registered_later')
    assert.match(answer.sentences[0]!, /the webhook was registered only at/)
  })
  await t.test('the webhook was invalid, and is valid again', async () => {
    consumer.respond(presets.wrongToken)
    await admin('POST', `/webhooks/${webhook.id}/validate`)
    const eventId = await deliverEvent()
    await answers(
      eventId,
      'held',
      /is held: the webhook was invalid when the event arrived.*invalid since .*WRONG_TOKEN/
    )
    consumer.respond(presets.ok)
    await admin('POST', `/webhooks/${webhook.id}/validate`)
    await answers(
      eventId,
      'held',
      /The webhook is valid again; a replay of that time or a resend delivers it/,
      /resend$/
    )
  })
  assert.equal((await askAdmin('GET', '/webhooks/1/why?event_id=1')).statusCode, 404)
  assert.equal((await askAdmin('GET', `/webhooks/${webhook.id}/why`)).statusCode, 400)
})

test('an event with several deliveries is as badly off as its worst', async () => {
  const webhook = await register()
  const eventId = newId()
  consumer.respond((request, response, context) =>
    (request.body.toString().includes('bad') ? presets.redirect() : presets.ok)(request, response, context)
  )
  await deliver(webhook, { body: '{"good":1}', event_id: eventId }, { body: '{"bad":1}', event_id: eventId })
  await app.drain()

  const answer = await why(webhook, eventId)

  assert.equal(answer.verdict, 'failed')
  assert.equal(answer.deliveries.length, 2)
  assert.match(answer.sentences[0]!, /led to 2 deliveries/)
})

test('shows how deliveries are doing', async () => {
  await advance('10m')
  const webhook = await register()
  await deliver(webhook, ...Array.from({ length: 9 }, () => ({ body: '{}' })))
  await app.drain()
  consumer.respond(presets.status(500))
  await deliver(webhook, { body: '{}' })
  await app.drain()

  const seen = await admin<Record<string, unknown> & { oldest_by_webhook: object[] }>('GET', '/overview')

  assert.deepEqual(
    [seen.window_seconds, seen.attempts, seen.delivered, seen.retried, seen.success_rate, seen.backlog],
    [300, 10, 9, 1, 0.9, 1]
  )
  const { p50, p99 } = seen.latency_ms as { p50: number; p99: number }
  assert.ok(p50 >= 0 && p99 >= p50 && p99 < 5_000)
  assert.equal(seen.oldest_by_webhook.length, 1)
  assert.ok(Number(seen.webhooks) > 0)
})

test('forgets CRC checks after 30 days', async () => {
  const webhook = await register()
  const checks = async () => (await admin<object[]>('GET', `/webhooks/${webhook.id}/crc_checks`)).length
  assert.equal(await checks(), 1)
  const insert = `insert into crc_checks (app_id, webhook_id, id, created_at, cause, outcome, url) values ($1, $2, $3, $4, 'tick', 'pass', '')`
  const day = 86_400_000
  for (const [id, ageMs] of [
    ['1', 29 * day],
    ['2', 31 * day]
  ] as const) {
    await pool.query(insert, [mine.id, webhook.id, id, new Date(app.deps.clock.now() - ageMs)])
  }

  await forgetChecksJob.run({} as never, { ...app.deps, signal: new AbortController().signal } as never)

  assert.equal(await checks(), 2)
})

test('everything here needs the admin token', async () => {
  for (const url of ['/overview', '/webhooks', '/crc_checks', '/deliveries/1', '/replays']) {
    const anonymous = await app.apps.main.inject({ method: 'GET', url: `/admin${url}` })
    const asApp = await app.apps.main.inject({ method: 'GET', url: `/admin${url}`, headers: mine.headers })
    assert.equal(anonymous.statusCode, 401, url)
    assert.ok([401, 403].includes(asApp.statusCode), url)
  }
})
