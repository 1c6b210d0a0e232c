import assert from 'node:assert/strict'
import { readFile } from 'node:fs/promises'
import path from 'node:path'
import { after, test } from 'node:test'
import { type Behaviour, presets } from '../../test/consumer.ts'
import { givenApp, givenUser, givenUserToken } from '../../test/given.ts'
import { startWebhooks } from '../../test/given-webhooks.ts'
import { parseMinute } from './replay-request.ts'

const { app, consumer, mine, v2, admin, askAdmin, register, deliver, advance } = await startWebhooks(
  { after },
  { HERALD_DELIVERY_DEADLINE: '1500ms' }
)

/** yyyymmddhhmm of so many minutes ago, by the clock of the rules. */
const minute = (ago: number) =>
  new Date(app.deps.clock.now() - ago * 60_000).toISOString().replace(/\D/g, '').slice(0, 12)
const replay = (webhook: { id: string }, from: string, to: string) =>
  v2('POST', '/webhooks/replay', { webhook_id: webhook.id, from_date: from, to_date: to })
const reasons = (response: { json(): { errors: { message: string }[] } }) =>
  response.json().errors.map(({ message }) => message)
const bodies = (webhook: { url: string }) =>
  consumer.requests
    .filter(({ method, url }) => method === 'POST' && webhook.url.endsWith(url))
    .map(({ body }) => JSON.parse(body.toString()))

test('sends again what the range holds, after a CRC, and answers flat', async () => {
  const webhook = await register()
  await deliver(webhook, { body: '{"data":{"n":1}}', event_id: '1' })
  await app.drain()
  await advance('2m')
  const checks = consumer.requests.filter(({ method }) => method === 'GET').length

  const response = await replay(webhook, minute(60), minute(0))
  await app.drain()

  assert.equal(response.statusCode, 200, response.body)
  const { job_id, created_at, ...more } = response.json()
  assert.match(job_id, /^[0-9]{1,19}$/)
  assert.match(created_at, /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z$/)
  assert.deepEqual(more, {})
  assert.equal(consumer.requests.filter(({ method }) => method === 'GET').length, checks + 1)
  assert.deepEqual(bodies(webhook).slice(1), [
    { data: { n: 1 }, meta: { replay: true } },
    {
      replay_job_status: {
        webhook_id: webhook.id,
        job_state: 'Complete',
        job_state_description: 'Job completed successfully',
        job_id
      }
    }
  ])
})

test('from_date is inclusive and to_date exclusive', async () => {
  const webhook = await register()
  const at = app.deps.clock.now()
  const startMs = Math.ceil(at / 60_000) * 60_000
  await advance(`${startMs - at}ms`)
  for (const n of [0, 1, 2]) {
    await deliver(webhook, { body: `{"data":{"n":${n}}}` })
    await advance('1m')
  }
  const before = bodies(webhook).length

  const response = await replay(webhook, minute(3), minute(1))
  await app.drain()

  assert.equal(response.statusCode, 200, response.body)
  const sent = bodies(webhook).slice(before)
  assert.deepEqual(
    sent.map(({ data }) => data?.n).filter((n) => n !== undefined),
    [0, 1]
  )
})

const refused: [what: string, body: () => object, reason: RegExp][] = [
  ['no body fields', () => ({}), /^QueryParamInvalid: \$\.webhook_id: is missing but it is required$/],
  ['no from_date', () => ({ from_date: undefined }), /^QueryParamInvalid: \$\.from_date: is missing/],
  ['no to_date', () => ({ to_date: undefined }), /^QueryParamInvalid: \$\.to_date: is missing/],
  ['a number as from_date', () => ({ from_date: 202601010000 }), /^QueryParamInvalid: \$\.from_date: integer found/],
  ['11 digits', () => ({ from_date: '20260101000' }), /^QueryParamInvalid: \$\.from_date: does not match/],
  ['an ISO date', () => ({ to_date: '2026-01-01T00:00' }), /^QueryParamInvalid: \$\.to_date: does not match/],
  ['a webhook_id of letters', () => ({ webhook_id: 'abc' }), /^QueryParamInvalid: \$\.webhook_id: does not match/],
  ['month 13', () => ({ from_date: '202613011200' }), /^QueryParamInvalid: `from_date` \[202613011200\] is not a date/],
  ['30 February', () => ({ from_date: '202602301200' }), /is not a date and time/],
  ['hour 24', () => ({ to_date: '202601012400' }), /`to_date` .*is not a date and time/],
  ['minute 60', () => ({ to_date: '202601011260' }), /`to_date` .*is not a date and time/],
  ['the year 0000', () => ({ from_date: '000001010000' }), /`from_date`/],
  ['a from_date equal to to_date', () => ({ from_date: minute(5), to_date: minute(5) }), /must be before/],
  ['a from_date after to_date', () => ({ from_date: minute(5), to_date: minute(9) }), /must be before/],
  ['a from_date of 24 h 1 min ago', () => ({ from_date: minute(24 * 60 + 1) }), /more than 24 hours ago/],
  ['a to_date in the next minute', () => ({ to_date: minute(-1) }), /`to_date` .*is not in the past/],
  ['a range in the future', () => ({ from_date: minute(-5), to_date: minute(-1) }), /`from_date` .*is not in the past/]
]

test('refuses a range that is not one, and says which rule it breaks', async (t) => {
  const webhook = await register()
  const before = consumer.requests.length

  for (const [what, body, reason] of refused) {
    await t.test(what, async () => {
      const good = { webhook_id: webhook.id, from_date: minute(60), to_date: minute(0) }
      const payload = what === 'no body fields' ? {} : { ...good, ...body() }
      const response = await v2('POST', '/webhooks/replay', payload)

      assert.equal(response.statusCode, 400)
      assert.match(response.json().type, /\/invalid-request$/)
      assert.match(reasons(response)[0]!, reason)
      for (const message of reasons(response)) assert.match(message, /^QueryParamInvalid: /)
    })
  }
  assert.equal(consumer.requests.length, before, 'nobody was asked')
})

test('takes the minute 24 hours ago and the current minute, and leaves the clock to decide', async () => {
  const webhook = await register()

  assert.equal((await replay(webhook, minute(24 * 60), minute(0))).statusCode, 200)
  await app.drain()
  const from = minute(24 * 60)
  await advance('1m')
  assert.match(reasons(await replay(webhook, from, minute(0)))[0]!, /more than 24 hours ago/)
})

test('ignores properties that it does not know', async () => {
  const webhook = await register()

  const response = await v2('POST', '/webhooks/replay', {
    ...{ webhook_id: webhook.id, from_date: minute(60), to_date: minute(0) },
    colour: 'blue'
  })

  assert.equal(response.statusCode, 200)
  await app.drain()
})

test('a webhook of nobody, or of another app, does not exist', async () => {
  const other = await givenApp(app)
  const theirs = await register(other)

  for (const id of ['1', theirs.id]) {
    const response = await replay({ id }, minute(60), minute(0))
    assert.equal(response.statusCode, 400)
    assert.match(reasons(response)[0]!, new RegExp(`^WebhookIdInvalid: there is no webhook with id ${id} for this app`))
  }
})

test('a CRC that fails starts nothing, and decides about the webhook as any CRC does', async () => {
  const webhook = await register()
  const jobs = async () => (await admin<object[]>('GET', `/replays?webhook_id=${webhook.id}`)).length

  consumer.respond(presets.status(503, {}, 'be right back'))
  const transient = await replay(webhook, minute(60), minute(0))
  consumer.respond(presets.wrongToken)
  const definitive = await replay(webhook, minute(60), minute(0))
  consumer.respond(presets.ok)
  const before = consumer.requests.length
  const invalid = await replay(webhook, minute(60), minute(0))

  assert.match(reasons(transient)[0]!, /^CrcValidationFailed: .*status 503.*be right back.*no replay was started/)
  assert.match(reasons(definitive)[0]!, /^CrcValidationFailed: .*Invalid `response_token`/)
  assert.match(
    reasons(invalid)[0]!,
    new RegExp(
      `^CrcValidationFailed: the webhook is marked as invalid since .*WRONG_TOKEN.*PUT /2/webhooks/${webhook.id}`
    )
  )
  assert.equal(consumer.requests.length, before, 'an invalid webhook is not asked')
  assert.equal(await jobs(), 0)
})

test('one job at a time per webhook: of several at once one wins, the others conflict', async () => {
  const webhook = await register()
  const second = await register()
  await deliver(webhook, { body: '{"data":{"n":1}}' })
  await app.drain()
  await advance('1m')
  const release = Promise.withResolvers<void>()
  consumer.respond(async (request, response, context) => {
    if (request.method === 'POST') await release.promise
    presets.ok(request, response, context)
  })

  const answers = await Promise.all(Array.from({ length: 5 }, () => replay(webhook, minute(60), minute(0))))
  const late = await replay(webhook, minute(60), minute(0))
  const beside = await replay(second, minute(60), minute(0))
  release.resolve()
  await app.drain()
  const afterwards = await replay(webhook, minute(60), minute(0))
  await app.drain()

  assert.deepEqual(answers.map(({ statusCode }) => statusCode).sort(), [200, 409, 409, 409, 409])
  assert.equal(late.statusCode, 409)
  assert.match(String(late.headers['content-type']), /^application\/problem\+json/)
  assert.deepEqual(late.json(), {
    type: `${app.deps.config.HERALD_PROBLEM_TYPE_BASE}/conflict`,
    title: 'Conflict',
    detail: 'A replay job is already in progress for this webhook.',
    status: 409
  })
  assert.equal(beside.statusCode, 200)
  assert.equal(afterwards.statusCode, 200)
})

test('the deprecated path does the same and says that it is deprecated', async () => {
  const webhook = await register()
  const old = (id: string, query: string) =>
    v2('POST', `/account_activity/replay/webhooks/${id}/subscriptions/all${query}`)

  const accepted = await old(webhook.id, `?from_date=${minute(60)}&to_date=${minute(0)}`)
  await app.drain()
  const refusals = [
    await old(webhook.id, `?from_date=${minute(60)}`),
    await old(webhook.id, `?from_date=202613010000&to_date=${minute(0)}`),
    await old('1', `?from_date=${minute(60)}&to_date=${minute(0)}`)
  ]

  assert.equal(accepted.statusCode, 200, accepted.body)
  assert.deepEqual(Object.keys(accepted.json()).sort(), ['created_at', 'job_id'])
  assert.deepEqual(
    refusals.map((response) => reasons(response)[0]!.split(':')[0]),
    ['QueryParamInvalid', 'QueryParamInvalid', 'WebhookIdInvalid']
  )
  for (const { headers } of [accepted, ...refusals]) {
    assert.equal(headers.deprecation, '@1774454400')
    assert.match(String(headers.link), /<\/2\/webhooks\/replay>; rel="successor-version"/)
  }
})

test('takes app-only bearer tokens and nothing else', async () => {
  const user = await givenUserToken(app, mine, await givenUser(app))
  const body = { webhook_id: '1', from_date: minute(60), to_date: minute(0) }

  assert.equal((await v2('POST', '/webhooks/replay', body, null)).statusCode, 401)
  const response = await v2('POST', '/webhooks/replay', body, { headers: user })
  assert.equal(response.statusCode, 403)
  assert.match(response.json().type, /\/unsupported-authentication$/)
})

test('100 requests per 15 minutes', async () => {
  const response = await v2('POST', '/webhooks/replay', {})

  assert.equal(response.headers['x-rate-limit-limit'], '100')
})

test('shows jobs and their progress to the operator', async () => {
  const webhook = await register()
  for (const n of [1, 2]) await deliver(webhook, { body: `{"data":{"n":${n}}}` })
  await app.drain()
  await advance('1m')
  consumer.respond((request, response, context) => {
    const fails = request.body.toString().includes('"n":2')
    return (fails ? presets.status(500) : presets.ok)(request, response, context)
  })
  const { job_id } = (await replay(webhook, minute(60), minute(0))).json()
  await app.drain()

  const [listed, ...others] = await admin<Record<string, unknown>[]>('GET', `/replays?webhook_id=${webhook.id}`)
  const job = await admin('GET', `/replays/${job_id}`)

  assert.deepEqual(others, [])
  assert.deepEqual(listed, job)
  const { state, delivered, failed, progress } = job
  assert.deepEqual(
    { state, delivered, failed, progress },
    { state: 'incomplete', delivered: 1, failed: 1, progress: 1 }
  )
  assert.equal((await askAdmin('GET', '/replays/1')).statusCode, 404)
})

test('docs/states/replay.md tells what happens', async (t) => {
  const text = await readFile(path.resolve(import.meta.dirname, '../../docs/states/replay.md'), 'utf8')
  const rows = Array.from(text.matchAll(/^\| (\w+) \| ([^|]+) \| (\w+) \|$/gm), ([, from, trigger, to]) => ({
    ...{ from: from!, trigger: trigger!, to: to! }
  })).filter(({ from }) => from !== 'State')
  let challenged = presets.ok
  /** What the consumer does with a replayed event, and what happens meanwhile. */
  const triggers: Record<string, (webhook: { id: string }) => Promise<Behaviour>> = {
    'a node begins': async () => presets.ok,
    'everything was acknowledged': async () => presets.ok,
    'something was not acknowledged': async () => presets.status(404),
    'the webhook became invalid': async (webhook) => {
      challenged = presets.wrongToken
      await admin('POST', `/webhooks/${webhook.id}/validate`)
      // Gives the lane time to hear of it: what is in flight waits for its deadline.
      return presets.stall
    }
  }

  assert.deepEqual(rows.map(({ trigger }) => trigger).sort(), Object.keys(triggers).sort())
  for (const { from, trigger, to } of rows) {
    await t.test(`${from}, ${trigger}: ${to}`, async () => {
      challenged = presets.ok
      const webhook = await register()
      await deliver(webhook, ...Array.from({ length: 40 }, (_, n) => ({ body: `{"data":{"n":${n}}}` })))
      await app.drain()
      await advance('1m')
      const held = Promise.withResolvers<Behaviour>()
      consumer.respond(async (request, response, context) => {
        const behave = request.method === 'POST' ? await held.promise : challenged
        behave(request, response, context)
      })
      const before = consumer.requests.length
      const { job_id } = (await replay(webhook, minute(60), minute(0))).json()
      const state = async () => (await admin<{ state: string }>('GET', `/replays/${job_id}`)).state
      const first = await state()
      // The CRC, and the first event of the job.
      await consumer.received(before + 2)
      const begun = await state()
      if (from === 'pending') assert.deepEqual([first === from || first === to, begun], [true, to])
      else assert.equal(begun, from)
      held.resolve(await triggers[trigger]!(webhook))
      await app.drain()
      const { detail, ...job } = await admin<{ state: string; detail: string | null }>('GET', `/replays/${job_id}`)
      if (from !== 'pending') assert.equal(job.state, to)
      assert.equal(detail, trigger === 'the webhook became invalid' ? 'The webhook became invalid' : null)
    })
  }
})

test('only dates of the calendar are dates', () => {
  assert.equal(parseMinute('202402291259'), Date.UTC(2024, 1, 29, 12, 59))
  for (const text of ['202302290000', '202600010000', '202601000000', '20260101000a', '', '2026010100000']) {
    assert.equal(parseMinute(text), undefined, text)
  }
})
