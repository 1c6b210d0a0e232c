import assert from 'node:assert/strict'
import { after, test } from 'node:test'
import { startApp } from '../../test/app.ts'
import { startConsumer } from '../../test/consumer.ts'
import { givenMerchant, givenProducts, type Merchant, product } from '../../test/given-catalog.ts'
import { createSession } from '../identity/index.ts'

const PNG = Buffer.from(
  'iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg==',
  'base64'
)
const SVG = '<svg xmlns="http://www.w3.org/2000/svg"><script>alert(1)</script></svg>'

const shop = await startConsumer({ after }, { plain: true })
const app = await startApp({ after })
const at = (name: string) => `http://127.0.0.1:${shop.port}/${name}`

shop.respond((request, response) => {
  if (request.url === '/good') return void response.writeHead(200, { 'content-type': 'text/html' }).end(PNG)
  if (request.url === '/svg') return void response.writeHead(200, { 'content-type': 'image/svg+xml' }).end(SVG)
  if (request.url === '/moved') return void response.writeHead(302, { location: at('good') }).end()
  if (request.url === '/large') return void response.end(Buffer.concat([PNG, Buffer.alloc(5 * 1024 * 1024)]))
  response.writeHead(404).end()
})

const sessionOf = async (userId: string) =>
  `herald_console=${await createSession(app.deps.database.db, userId, 'console', new Date(app.deps.clock.now()))}`
const ask = (merchant: Merchant, key: string, headers: Record<string, string>, position = 0, listener = 'production') =>
  app.apps.main.inject({ url: `/console/pictures/${listener}/${merchant.catalogId}/${key}/${position}`, headers })

test('a picture comes from the shop through us: sniffed, bounded, and nothing but a picture', async () => {
  const merchant = await givenMerchant(app)
  const names = ['good', 'svg', 'moved', 'large', 'missing']
  const results = await givenProducts(
    merchant,
    names.map((name) => product(name, { image_link: at(name), additional_image_link: `${at('svg')},${at('good')}` }))
  )
  const keys = Object.fromEntries(results.map(({ id, product_key }) => [id, product_key]))
  const cookie = await sessionOf(merchant.userId)

  const good = await ask(merchant, keys.good, { cookie, 'sec-fetch-site': 'same-origin', 'sec-fetch-dest': 'image' })
  assert.deepEqual([good.statusCode, good.headers['content-type']], [200, 'image/png'])
  assert.deepEqual(good.rawPayload, PNG)
  assert.equal(good.headers['x-content-type-options'], 'nosniff')
  assert.equal(good.headers['content-security-policy'], "default-src 'none'; sandbox")
  assert.match(String(good.headers['cache-control']), /^private, max-age=3600$/)
  assert.equal((await ask(merchant, keys.good, { cookie }, 2)).statusCode, 200)
  for (const [name, position] of [
    ['svg', 0],
    ['moved', 0],
    ['large', 0],
    ['missing', 0],
    ['good', 1]
  ] as const) {
    const answer = await ask(merchant, keys[name], { cookie }, position)
    assert.deepEqual([answer.statusCode, answer.rawPayload.length], [204, 0], name)
  }
})

test('only who may read a product gets its picture, and only in a page of ours', async () => {
  const merchant = await givenMerchant(app)
  const other = await givenMerchant(app)
  const early = await givenMerchant(app, { earlyAccess: false, catalog: false })
  const [{ product_key }] = await givenProducts(merchant, [product('a', { image_link: at('good') })])
  const cookie = await sessionOf(merchant.userId)
  const before = shop.requests.length

  const refused = [
    await ask(merchant, product_key, {}),
    await ask(merchant, product_key, { cookie: 'herald_console=nothing' }),
    await ask(merchant, product_key, { cookie: await sessionOf(other.userId) }),
    await ask(merchant, product_key, { cookie: await sessionOf(early.userId) }),
    await ask(merchant, product_key, { cookie, 'sec-fetch-site': 'cross-site' }),
    await ask(merchant, product_key, { cookie, 'sec-fetch-dest': 'document', 'sec-fetch-site': 'same-origin' }),
    await ask(merchant, product_key, { cookie }, 0, 'sandbox'),
    await ask(merchant, product_key, { cookie }, 1),
    await ask(merchant, product_key, { cookie }, 11),
    await ask(merchant, '4242424242424242424', { cookie })
  ]

  assert.deepEqual(
    refused.map(({ statusCode }) => statusCode),
    refused.map(() => 404)
  )
  assert.equal(shop.requests.length, before, 'nobody was asked for it')
  const made = { owner_user_id: merchant.userId, user_id: other.userId, created_at: new Date() }
  await app.deps.database.db.insertInto('catalog_delegates').values(made).execute()
  assert.equal((await ask(merchant, product_key, { cookie: await sessionOf(other.userId) })).statusCode, 200)
})

test('an address that the guard refuses is not fetched for a picture either', async (t) => {
  const guarded = await startApp(t, { HERALD_EGRESS_ALLOW_PRIVATE: '0' })
  const merchant = await givenMerchant(guarded)
  const [{ product_key }] = await givenProducts(merchant, [product('a', { image_link: at('good') })])
  const token = await createSession(guarded.deps.database.db, merchant.userId, 'console', new Date())
  const before = shop.requests.length

  const answer = await guarded.apps.main.inject({
    url: `/console/pictures/production/${merchant.catalogId}/${product_key}/0`,
    headers: { cookie: `herald_console=${token}` }
  })

  assert.equal(answer.statusCode, 204)
  assert.equal(shop.requests.length, before)
})
