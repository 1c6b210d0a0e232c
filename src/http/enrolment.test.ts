import assert from 'node:assert/strict'
import { after, test } from 'node:test'
import { startApp } from '../../test/app.ts'
import { givenApp, givenUser, givenUserToken } from '../../test/given.ts'
import { PRODUCTS, type Product } from '../identity/index.ts'

const app = await startApp({ after }, { HERALD_PUBLIC_URL: 'https://herald.example.test' })
const call = (method: string, url: string, headers: object) =>
  app.apps.main.inject({ method: method as 'GET', url: `/2${url}`, headers: { ...headers } })

const ROUTES: [product: Product, method: string, url: string][] = [
  ['webhooks', 'GET', '/webhooks'],
  ['webhooks', 'POST', '/webhooks'],
  ['webhooks', 'PUT', '/webhooks/1'],
  ['webhooks', 'DELETE', '/webhooks/1'],
  ['webhooks', 'POST', '/webhooks/replay'],
  ['activity', 'GET', '/activity/subscriptions'],
  ['activity', 'POST', '/activity/subscriptions'],
  ['activity', 'GET', '/activity/stream'],
  ['account_activity', 'GET', '/account_activity/subscriptions/count'],
  ['account_activity', 'GET', '/account_activity/webhooks/1/subscriptions/all/list'],
  ['filtered_stream', 'GET', '/tweets/search/stream/rules'],
  ['filtered_stream', 'GET', '/tweets/search/stream'],
  ['filtered_stream', 'GET', '/tweets/search/webhooks'],
  ['activity', 'GET', '/news/1'],
  ['powerstream', 'GET', '/powerstream/rules']
]

test('an app that is not enrolled for a product gets client-forbidden, and no other app does', async () => {
  for (const [product, method, url] of ROUTES) {
    const without = await givenApp(app, { products: PRODUCTS.filter((each) => each !== product) })
    const { statusCode, body } = await call(method, url, without.headers)

    assert.equal(statusCode, 403, `${method} ${url}: ${body}`)
    assert.deepEqual(JSON.parse(body), {
      client_id: without.id,
      reason: 'client-not-enrolled',
      required_enrollment: 'Appropriate Level of API Access',
      registration_url: `https://herald.example.test/apps/${without.id}`,
      title: 'Client Forbidden',
      type: `${app.deps.config.HERALD_PROBLEM_TYPE_BASE}/client-forbidden`,
      detail: `App ${without.id} is not enrolled for the product "${product}". Whoever runs this server can change that.`,
      status: 403
    })
  }
  assert.equal(
    (await call('GET', '/webhooks', (await givenApp(app, { products: ['webhooks'] })).headers)).statusCode,
    200
  )
})

test('an app in no project may call nothing under /2, with whichever credentials', async () => {
  const loose = await givenApp(app, { project_id: null })
  const user = await givenUserToken(app, loose, await givenUser(app))

  for (const [url, headers] of [
    ['/webhooks', loose.headers],
    ['/connections', loose.headers],
    ['/activity/subscriptions', user]
  ] as const) {
    const response = await call('GET', url, headers)
    assert.match(response.json().type, /\/client-forbidden$/)
    assert.match(response.json().detail, /must be attached to a project/)
    assert.ok(response.headers['x-rate-limit-remaining'])
  }
})

test('the wrong kind of credential is told before what the app may use', async () => {
  const without = await givenApp(app, { products: [] })
  const response = await call('GET', '/webhooks', await givenUserToken(app, without, await givenUser(app)))

  assert.match(response.json().type, /\/unsupported-authentication$/)
})

test('a product that does not exist is refused with those that do, so that a typo locks no app out', async () => {
  const { statusCode, body } = await app.apps.main.inject({
    method: 'POST',
    url: '/admin/apps',
    headers: { authorization: `Bearer ${app.adminToken}` },
    payload: { name: 'Typo', products: ['webhook'] }
  })

  assert.equal(statusCode, 400)
  for (const product of PRODUCTS) assert.ok(body.includes(product), body)
})
