import assert from 'node:assert/strict'
import { after, test } from 'node:test'
import { startApp } from '../../test/app.ts'
import { givenAdvertiser } from '../../test/given.ts'

const app = await startApp({ after })

const { account, headers: advertiser } = await givenAdvertiser(app)

const admin = () => ({ authorization: `Bearer ${app.adminToken}` })

/** What each scope's errors look like; a request that a scope refuses must never look like another scope's. */
function assertScopeFormat(
  url: string,
  response: { statusCode: number; headers: Record<string, unknown>; json(): Record<string, unknown> }
) {
  const body = response.json()
  if (url.startsWith('/12')) {
    assert.ok(Array.isArray(body.errors) && (body.errors[0] as { code: string }).code, JSON.stringify(body))
    assert.ok('params' in (body.request as object))
  } else {
    assert.match(String(response.headers['content-type']), /^application\/problem\+json/)
    assert.equal(body.status, response.statusCode)
    assert.equal(typeof body.title, 'string')
  }
  assert.match(String(response.headers['x-request-id']), /^[0-9a-f]{16}$/)
}

const JSON_TYPE = { 'content-type': 'application/json' }
const BAD_REQUESTS = [
  ['malformed JSON', 400, { headers: JSON_TYPE, payload: '{"a":' }],
  ['duplicate keys', 400, { headers: JSON_TYPE, payload: '{"name":"a","name":"b"}' }],
  ['a null character', 400, { headers: JSON_TYPE, payload: '{"name":"a\\u0000"}' }],
  ['invalid UTF-8', 400, { headers: JSON_TYPE, payload: Buffer.from([0x7b, 0x22, 0xff, 0x22, 0x3a, 0x31, 0x7d]) }],
  ['deep nesting', 400, { headers: JSON_TYPE, payload: '['.repeat(100_000) + ']'.repeat(100_000) }],
  ['a body that is only a number', 400, { headers: JSON_TYPE, payload: '5' }],
  ['a body of 10 MB', 413, { headers: JSON_TYPE, payload: `"${'a'.repeat(10_000_000)}"` }],
  ['an unknown media type', 415, { headers: { 'content-type': 'text/csv' }, payload: 'a,b' }]
] as const

for (const [what, status, request] of BAD_REQUESTS) {
  test(`answers ${what} with ${status} in the scope's own format`, async () => {
    const response = await app.apps.main.inject({
      method: 'POST',
      url: '/admin/apps',
      ...request,
      headers: { ...request.headers, ...admin() }
    })

    assert.equal(response.statusCode, status, response.body)
    assertScopeFormat('/admin', response)
  })
}

for (const [what, status, request] of BAD_REQUESTS) {
  test(`answers ${what} on the advertising API with ${status} in its format`, async () => {
    const url = `/12/accounts/${account.id}/campaigns`
    const response = await app.apps.sandbox.inject({
      method: 'POST',
      url,
      ...request,
      headers: { ...request.headers, ...advertiser }
    })

    assert.equal(response.statusCode, status, response.body)
    assertScopeFormat(url, response)
  })
}

test('with_total_count is limited to 200 in 15 minutes, and the headers tell', async (t) => {
  const limited = await startApp(t, { HERALD_RATE_LIMITS: 'on' })
  const caller = await givenAdvertiser(limited)
  const ask = () =>
    limited.apps.sandbox.inject({
      method: 'GET',
      url: `/12/accounts/${caller.account.id}/campaigns?with_total_count=true`,
      headers: caller.headers
    })

  for (let i = 0; i < 200; i++) assert.equal((await ask()).statusCode, 200)
  const response = await ask()

  assert.equal(response.statusCode, 429)
  assert.equal(response.json().errors[0].code, 'TOO_MANY_REQUESTS')
  assert.equal(response.headers['x-account-rate-limit-limit'], '200')
  assert.equal(response.headers['x-account-rate-limit-remaining'], '0')
  assert.match(String(response.headers['x-rate-limit-reset']), /^\d+$/)
})

for (const url of ['/2/nothing', '/12/nothing', '/nothing', '/admin/nothing']) {
  test(`answers ${url} with 404 in the scope's own format`, async () => {
    const response = await app.apps.main.inject({
      method: 'GET',
      url,
      headers: url.startsWith('/12') ? { authorization: 'Bearer x' } : admin()
    })

    assert.equal(response.statusCode, 404, response.body)
    assertScopeFormat(url, response)
  })
}

test('answers a known path with a wrong method with 405 and names the right ones', async () => {
  const response = await app.apps.main.inject({ method: 'PATCH', url: '/admin/apps', headers: admin() })

  assert.equal(response.statusCode, 405)
  assert.match(String(response.headers.allow), /GET.*POST/)
})

for (const query of ['x=%ff', 'x=%00', 'x=%zz']) {
  test(`refuses the query ?${query}`, async () => {
    const response = await app.apps.main.inject({ method: 'GET', url: `/admin/tokens?${query}`, headers: admin() })

    assert.equal(response.statusCode, 400, response.body)
  })
}

for (const path of ['/admin/apps/%00', '/admin/apps/%ff', '/admin/apps/%E0%A4%A', `/admin/apps/${'9'.repeat(1500)}`]) {
  test(`refuses the path ${path.slice(0, 40)}`, async () => {
    const response = await app.apps.main.inject({ method: 'GET', url: path, headers: admin() })

    assert.ok([400, 404].includes(response.statusCode), `${response.statusCode} ${response.body}`)
  })
}

test('refuses unknown query parameters and says which exist', async () => {
  const response = await app.apps.main.inject({ method: 'GET', url: '/admin/tokens?foo=1', headers: admin() })

  assert.equal(response.statusCode, 400)
  assert.equal(response.json().errors[0].message, 'The query parameter [foo] is not one of [app_id,user_id]')
})

test('lists every fault of a body by its path', async () => {
  const response = await app.apps.main.inject({
    method: 'POST',
    url: '/admin/apps',
    headers: admin(),
    payload: { name: 5, ads_access: 'all', foo: 1 }
  })

  const messages = response.json().errors.map((error: { message: string }) => error.message)
  assert.ok(
    messages.some((m: string) => m === '$.name: integer found, string expected'),
    messages.join('\n')
  )
  assert.ok(
    messages.some((m: string) => m.startsWith('$.foo:')),
    messages.join('\n')
  )
})

test('answers nobody and strangers with 401, the wrong kind of credential with 403', async () => {
  const none = await app.apps.main.inject({ method: 'GET', url: '/admin/apps' })
  const stranger = await app.apps.main.inject({
    method: 'GET',
    url: '/admin/apps',
    headers: { authorization: 'Bearer nonsense' }
  })

  assert.deepEqual([none.statusCode, stranger.statusCode], [401, 401])
  assert.deepEqual(none.json(), { title: 'Unauthorized', type: 'about:blank', status: 401, detail: 'Unauthorized' })
})

test('sends rate-limit headers in lower case, also on refusals', async () => {
  const response = await app.apps.main.inject({ method: 'GET', url: '/12/nothing' })

  for (const name of ['x-rate-limit-limit', 'x-rate-limit-remaining', 'x-rate-limit-reset'])
    assert.match(String(response.headers[name]), /^\d+$/)
})

test('publishes one description for both listeners', async () => {
  const response = await app.apps.main.inject({ method: 'GET', url: '/openapi.json' })

  const document = response.json()
  assert.equal(document.openapi, '3.1.0')
  assert.ok(document.paths['/admin/apps'].post)
  assert.ok(!JSON.stringify(document).includes('"nullable"'))
})
