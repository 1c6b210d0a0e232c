import assert from 'node:assert/strict'
import { writeFile } from 'node:fs/promises'
import { after, test } from 'node:test'
import { gzipSync } from 'node:zlib'
import { startApp } from '../../test/app.ts'
import { type Behaviour, presets, responseToken, startConsumer } from '../../test/consumer.ts'
import { type GivenApp, givenApp, givenUser, givenUserToken } from '../../test/given.ts'
import { createAuthority, issueCertificate } from '../tools/certificates.ts'

const consumer = await startConsumer({ after })
const selfSigned = await startConsumer(
  { after },
  { certificate: issueCertificate(createAuthority({ name: 'Nobody' }), { hosts: ['tls.example.test'] }) }
)
const caFile = `/tmp/herald-test-ca-${process.pid}.pem`
await writeFile(caFile, consumer.ca)
const app = await startApp(
  { after },
  {
    HERALD_EGRESS_CA: caFile,
    HERALD_EGRESS_RESOLVE: `hooks.example.test=127.0.0.1:${consumer.port},tls.example.test=127.0.0.1:${selfSigned.port}`,
    HERALD_DELIVERY_DEADLINE: '300ms'
  }
)
const mine = await givenApp(app)
const other = await givenApp(app)

const call = (
  method: 'GET' | 'POST' | 'PUT' | 'DELETE',
  url: string,
  by: GivenApp | undefined = mine,
  payload?: object
) => app.apps.main.inject({ method, url: `/2${url}`, headers: by?.headers ?? {}, ...(payload ? { payload } : {}) })
let paths = 0
const freshUrl = () => `https://hooks.example.test/in/${++paths}`
async function register(by = mine, url = freshUrl()) {
  consumer.consumerSecret = by.consumer_secret
  consumer.respond(presets.ok)
  const response = await call('POST', '/webhooks', by, { url })
  assert.equal(response.statusCode, 200, response.body)
  return response.json().data as { id: string; url: string; valid: boolean; created_at: string }
}
const reason = (response: { json(): { errors: { message: string }[] } }) => response.json().errors[0]!.message

test('registers a webhook once its CRC passes and answers 200 with the four fields', async () => {
  const webhook = await register()

  assert.match(webhook.id, /^[0-9]{1,19}$/)
  assert.deepEqual(Object.keys(webhook).sort(), ['created_at', 'id', 'url', 'valid'])
  assert.equal(webhook.valid, true)
  assert.match(webhook.created_at, /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z$/)
})

test('sends crc_token and nonce behind the query of the URL, signed, in the alphabet consumers accept', async () => {
  await register(mine, 'https://hooks.example.test/q?tenant=7&x')

  const request = consumer.requests.at(-1)!
  assert.match(request.url, /^\/q\?tenant=7&x&crc_token=[A-Za-z0-9_-]{16,128}&nonce=[A-Za-z0-9_-]+$/)
  assert.equal(request.method, 'GET')
  const { signature } = await import('./sign.ts')
  assert.equal(request.headers['x-svc-webhooks-signature'], signature(mine.consumer_secret, request.url.split('?')[1]!))
})

for (const [what, behaviour, seen] of [
  ['a wrong token', presets.wrongToken, /Invalid `response_token`/],
  ['a page that is not JSON', presets.notJson, /not JSON.*It works/],
  ['a redirect', presets.redirect(), /status 302/],
  ['a 404', presets.status(404, {}, 'nothing here'), /status 404.*nothing here/],
  ['a 500', presets.status(500), /status 500/],
  ['silence', presets.stall, /no complete answer within 0.3 s/],
  ['a reset connection', presets.reset, /CRC/]
] as const) {
  test(`refuses a URL that answers its CRC with ${what}, says what was seen and stores nothing`, async () => {
    consumer.consumerSecret = mine.consumer_secret
    consumer.respond(behaviour)
    const url = freshUrl()

    const response = await call('POST', '/webhooks', mine, { url })

    assert.equal(response.statusCode, 400)
    assert.match(reason(response), /^CrcValidationFailed: URL returned bad response during CRC with error: /)
    assert.match(reason(response), seen)
    const list = await call('GET', '/webhooks')
    assert.ok(!list.json().data.some((webhook: { url: string }) => webhook.url === url))
  })
}

const answering = (encode: (json: string) => Buffer | string, headers: Record<string, string> = {}) => {
  const behaviour: Behaviour = ({ url }, response, { consumerSecret }) => {
    const token = new URL(url, 'https://consumer.test').searchParams.get('crc_token')!
    const json = JSON.stringify({ response_token: responseToken(consumerSecret, token), and: 'more' })
    response.writeHead(200, headers).end(encode(json))
  }
  return behaviour
}
const GZIP = { 'content-encoding': 'gzip' }
for (const [what, behaviour, status] of [
  ['as text/html', answering(String, { 'content-type': 'text/html' }), 200],
  ['behind a byte order mark', answering((json) => `\ufeff${json}`), 200],
  ['in gzip that is announced', answering((json) => gzipSync(json), GZIP), 200],
  ['in gzip that is not announced', answering((json) => gzipSync(json)), 400],
  ['with gzip announced and not used', answering(String, GZIP), 400],
  ['in gzip that unpacks to 100 KB', answering((json) => gzipSync(json + ' '.repeat(100_000)), GZIP), 400],
  ['with an encoding nobody knows', answering(String, { 'content-encoding': 'zz' }), 400]
] as const) {
  test(`a right token ${what} ${status === 200 ? 'passes' : 'is no token'}`, async () => {
    consumer.consumerSecret = mine.consumer_secret
    consumer.respond(behaviour)

    const response = await call('POST', '/webhooks', mine, { url: freshUrl() })

    assert.equal(response.statusCode, status, response.body)
    if (status === 400) assert.match(reason(response), /^CrcValidationFailed: /)
  })
}

test('a certificate that nobody trusts fails the CRC', async () => {
  const response = await call('POST', '/webhooks', mine, { url: 'https://tls.example.test/' })

  assert.match(reason(response), /^CrcValidationFailed: .*certificate/i)
})

for (const [url, why] of [
  ['http://hooks.example.test/in', /https/],
  ['https://hooks.example.test:443/in', /port/],
  ['https://hooks.example.test:8443/in', /port/],
  ['https://hooks.example.test:/in', /port/],
  ['https://[::1]:443/in', /port/],
  ['https://user:secret@hooks.example.test/in', /user name/],
  ['not a url', /not a URL/],
  ['https://hooks.example.test/a\tb', /not a URL/]
] as const) {
  test(`refuses ${JSON.stringify(url)} before any request`, async () => {
    const before = consumer.requests.length

    const response = await call('POST', '/webhooks', mine, { url })

    assert.equal(response.statusCode, 400)
    assert.match(reason(response), /^UrlValidationFailed: /)
    assert.match(reason(response), why)
    assert.equal(consumer.requests.length, before)
  })
}

test('an address that is not public is refused when private targets are not allowed', async (t) => {
  const strict = await startApp(t, { HERALD_EGRESS_ALLOW_PRIVATE: '0' })
  const { headers } = await givenApp(strict)

  for (const url of ['https://127.0.0.1/', 'https://10.0.0.1/', 'https://169.254.169.254/latest', 'https://[::1]/']) {
    const response = await strict.apps.main.inject({ method: 'POST', url: '/2/webhooks', headers, payload: { url } })
    assert.match(reason(response), /^UrlValidationFailed: the URL is not publicly reachable/, url)
  }
})

test('one registration of a URL per app, whatever its spelling; the error names the existing id', async () => {
  const webhook = await register()

  for (const url of [webhook.url, webhook.url.replace('hooks.example', 'HOOKS.Example'), `${webhook.url}#top`]) {
    const response = await call('POST', '/webhooks', mine, { url })
    assert.match(reason(response), new RegExp(`^DuplicateUrlFailed: .*${webhook.id}`))
    assert.equal(response.json().errors[0].webhook_id, webhook.id)
  }
  await register(other, webhook.url)
})

test('two registrations of one URL at once end with one webhook', async () => {
  const url = freshUrl()
  consumer.consumerSecret = mine.consumer_secret
  consumer.respond(presets.ok)

  const answers = await Promise.all(Array.from({ length: 5 }, () => call('POST', '/webhooks', mine, { url })))

  assert.deepEqual(answers.map((answer) => answer.statusCode).sort(), [200, 400, 400, 400, 400])
  for (const answer of answers) if (answer.statusCode === 400) assert.match(reason(answer), /^DuplicateUrlFailed/)
})

test('the quota holds, also for registrations at once', async () => {
  const small = await givenApp(app, { quotas: { webhooks: 2 } })
  consumer.consumerSecret = small.consumer_secret
  consumer.respond(presets.ok)

  const answers = await Promise.all(
    Array.from({ length: 6 }, () => call('POST', '/webhooks', small, { url: freshUrl() }))
  )

  assert.equal(answers.filter((answer) => answer.statusCode === 200).length, 2)
  assert.match(
    reason(answers.find((answer) => answer.statusCode === 400)!),
    /^WebhookLimitExceeded: this app may register 2 webhooks/
  )
})

for (const [what, payload, message] of [
  ['no url', {}, '$.url: is missing but it is required'],
  ['a url that is not text', { url: 5 }, '$.url: integer found, string expected'],
  ['an empty url', { url: '' }, '$.url: must be at least 1 characters long'],
  [
    'a url of 201 characters',
    { url: `https://hooks.example.test/${'a'.repeat(200)}` },
    '$.url: may only be 200 characters long'
  ]
] as const) {
  test(`refuses a registration with ${what}`, async () => {
    const response = await call('POST', '/webhooks', mine, payload)

    assert.equal(response.statusCode, 400)
    assert.equal(reason(response), message)
    assert.match(response.json().type, /\/invalid-request$/)
  })
}

test('lists own webhooks only, newest first, with the fields asked for', async () => {
  const lonely = await givenApp(app)
  assert.deepEqual((await call('GET', '/webhooks', lonely)).json(), { data: [], meta: { result_count: 0 } })
  const first = await register(lonely)
  const second = await register(lonely)

  const all = (await call('GET', '/webhooks', lonely)).json()
  const some = (await call('GET', '/webhooks?webhook_config.fields=id,valid', lonely)).json()
  const strange = await call('GET', '/webhooks?webhook_config.fields=id,secret', lonely)

  assert.deepEqual(
    all.data.map((webhook: { id: string }) => webhook.id),
    [second.id, first.id]
  )
  assert.equal(all.meta.result_count, 2)
  assert.deepEqual(some.data[0], { id: second.id, valid: true })
  assert.equal(
    reason(strange),
    'The `webhook_config.fields` query parameter value [secret] is not one of [created_at,id,url,valid]'
  )
})

test("another app's webhook does not exist for you, and neither does one that is gone", async () => {
  const webhook = await register(other)

  for (const method of ['PUT', 'DELETE'] as const) {
    assert.match(reason(await call(method, `/webhooks/${webhook.id}`)), /^WebhookIdInvalid: /)
    assert.match(reason(await call(method, '/webhooks/1')), /^WebhookIdInvalid: /)
    assert.equal(
      reason(await call(method, '/webhooks/abc')),
      'The `webhook_id` query parameter value [abc] is not valid'
    )
  }
  assert.deepEqual((await call('DELETE', `/webhooks/${webhook.id}`, other)).json(), { data: { deleted: true } })
  assert.match(reason(await call('DELETE', `/webhooks/${webhook.id}`, other)), /^WebhookIdInvalid: /)
})

test('takes app-only bearer tokens and nothing else', async () => {
  const user = await givenUserToken(app, mine, await givenUser(app))

  for (const [method, url] of [
    ['GET', '/webhooks'],
    ['POST', '/webhooks'],
    ['PUT', '/webhooks/1'],
    ['DELETE', '/webhooks/1']
  ] as const) {
    assert.equal((await app.apps.main.inject({ method, url: `/2${url}` })).statusCode, 401)
    const response = await app.apps.main.inject({ method, url: `/2${url}`, headers: user })
    assert.equal(response.statusCode, 403)
    assert.match(response.json().type, /\/unsupported-authentication$/)
    assert.match(response.json().detail, /Supported authentication types are \[OAuth 2\.0 Application-Only\]/)
  }
})

test('a former consumer secret passes until its overlap ends', async () => {
  const rotating = await givenApp(app)
  const webhook = await register(rotating)
  const rotated = await app.apps.main.inject({
    method: 'POST',
    url: `/admin/apps/${rotating.id}/rotate_consumer_secret`,
    headers: { authorization: `Bearer ${app.adminToken}` },
    payload: { overlap_seconds: 3600 }
  })
  assert.equal(rotated.statusCode, 200)

  assert.equal((await call('PUT', `/webhooks/${webhook.id}`, rotating)).statusCode, 200)
  consumer.consumerSecret = rotated.json().data.consumer_secret
  assert.equal((await call('PUT', `/webhooks/${webhook.id}`, rotating)).statusCode, 200)
  consumer.consumerSecret = 'neither of them'
  assert.equal((await call('PUT', `/webhooks/${webhook.id}`, rotating)).statusCode, 400)
})
