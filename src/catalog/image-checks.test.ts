import assert from 'node:assert/strict'
import { after, beforeEach, test } from 'node:test'
import { startApp, TEST_ADMIN_TOKEN } from '../../test/app.ts'
import { type Behaviour, startConsumer } from '../../test/consumer.ts'
import type { Json } from '../../test/given-ads.ts'
import { givenMerchant, givenProducts, type Merchant, product } from '../../test/given-catalog.ts'
import { csv, givenFeed, runFeed, startFeedHost } from '../../test/given-feed.ts'

const MEGABYTE = 1024 * 1024
const shop = await startConsumer({ after }, { plain: true })
const feeds = await startFeedHost({ after })
const app = await startApp(
  { after },
  { HERALD_IMAGE_CHECKS: '1', HERALD_IMAGE_CHECKS_IN_FLIGHT_MAX: '3', HERALD_LOG_LEVEL: 'silent' }
)

/** The beginning of a PNG file, which is all that is looked at. */
function png(width: number, height: number) {
  const bytes = Buffer.alloc(33)
  Buffer.from('89504e470d0a1a0a0000000d49484452', 'hex').copy(bytes)
  bytes.writeUInt32BE(width, 16)
  bytes.writeUInt32BE(height, 20)
  return bytes
}

const state = { served: 0, broken: false }
const image: Record<string, Behaviour> = {
  good: (_, response) => void response.end(png(500, 500)),
  small: (_, response) => void response.end(png(499, 800)),
  text: (_, response) => void response.end('<h1>Not here</h1>'),
  cut: (_, response) => void response.end(png(900, 900).subarray(0, 12)),
  missing: (_, response) => void response.writeHead(404).end(),
  elsewhere: (_, response) => void response.writeHead(302, { location: 'http://10.0.0.1/' }).end(),
  flaky: (_, response) => void (state.broken ? response.writeHead(503).end() : response.end(png(600, 600))),
  announced: (_, response) => {
    response.writeHead(200, { 'content-length': 5 * MEGABYTE + 1 }).write(png(900, 900))
  },
  endless: (_, response) => {
    response.write(png(900, 900))
    const write = () => {
      while (!response.destroyed)
        if (!response.write(Buffer.alloc(64 * 1024))) return void response.once('drain', write)
    }
    write()
  },
  long: (_, response) => {
    const bytes = 4 * MEGABYTE
    response.writeHead(200, { 'content-length': bytes }).write(png(900, 900))
    let sent = 33
    const write = () => {
      while (!response.destroyed && sent < bytes) {
        const chunk = Buffer.alloc(Math.min(16 * 1024, bytes - sent))
        sent += chunk.length
        state.served = sent
        if (!response.write(chunk)) return void response.once('drain', write)
      }
      response.end()
    }
    setTimeout(write, 20)
  }
}
shop.respond((request, response, context) => {
  const name = new URL(request.url, 'http://shop').pathname.split('/')[1]!
  setTimeout(() => image[name]!(request, response, context), 5)
})
const at = (name: string, n: number | string = 1) => `http://127.0.0.1:${shop.port}/${name}/${n}.png`

beforeEach(() => {
  shop.requests.length = 0
  state.broken = false
})
const advance = (duration: string) =>
  app.apps.main.inject({
    method: 'POST',
    url: '/admin/clock',
    headers: { authorization: `Bearer ${TEST_ADMIN_TOKEN}` },
    payload: { advance: duration }
  })
const putAgain = async (merchant: Merchant, products: Json[]) => {
  const { data } = await merchant.put('products', { products })
  return data.products_response.map((result: Json) => [result.status, result.warnings])
}

for (const environment of ['production', 'sandbox'] as const) {
  test(`${environment}: the verdict on an image becomes a warning of the next batch result`, async () => {
    const merchant = await givenMerchant(app, { environment })
    const names = ['good', 'small', 'text', 'cut', 'missing', 'elsewhere', 'announced', 'endless']
    const products = names.map((name) => product(name, { image_link: at(name, 'v') }))
    const first = await givenProducts(merchant, products)
    assert.ok(first.every((result) => result.warnings.length === 0))

    await app.drain()

    const expected: Record<string, RegExp | undefined> = {
      small: /^image_link "http.*small\/v\.png" has 499 × 800 pixels: at least 500 × 500 are needed/,
      text: /is not a JPG, GIF, WEBP or PNG image/,
      cut: /is not a JPG, GIF, WEBP or PNG image/,
      missing: /could not be fetched: the host answers 404/,
      elsewhere: /could not be fetched: the host answers 302/,
      announced: /is larger than 5 MB/,
      endless: /is larger than 5 MB/
    }
    const results = await putAgain(merchant, products)
    for (const [i, name] of names.entries()) {
      const [status, warnings] = results[i]
      assert.equal(status, 'NO_CHANGE')
      if (expected[name]) assert.match(warnings[0] ?? 'no warning', expected[name])
      else assert.deepEqual(warnings, [])
    }
    const page = await merchant.get('products/issues', { count: 4 })
    const rest = await merchant.get('products/issues', { cursor: page.body.next_cursor })
    const issues = [...page.data, ...rest.data]
    assert.deepEqual(
      issues.map((issue) => issue.id),
      names.slice(1)
    )
    assert.deepEqual(
      [issues[0].code, issues[0].field, issues[0].url],
      ['IMAGE_TOO_SMALL', 'image_link', at('small', 'v')]
    )
    assert.deepEqual(Object.keys((await merchant.get('products')).data[0]).length, 30, 'a product has no field for it')
  })
}

test('only the bytes that are needed are read, a few images at a time, each address once', async () => {
  const merchant = await givenMerchant(app)
  const more = Array.from({ length: 8 }, (_, i) => at('good', i)).join(',')
  await givenProducts(merchant, [
    product('long', { image_link: at('long') }),
    ...Array.from({ length: 12 }, (_, i) =>
      product(`p${i}`, { image_link: at('good', i % 8), additional_image_link: more })
    )
  ])

  await app.drain()

  assert.equal(shop.requests.length, 9)
  assert.ok(state.served < 2 * MEGABYTE, `${state.served} bytes of 4 MB were sent`)
  assert.ok(shop.inFlightMax <= 3, `${shop.inFlightMax} at once`)
})

test('another image makes the old verdict void, and so does deleting the product', async () => {
  const merchant = await givenMerchant(app)
  const bad = product('p', {
    image_link: at('good', 'x'),
    additional_image_link: `${at('good', 'x')},${at('small', 'x')}`
  })
  const [p] = await givenProducts(merchant, [bad])
  await app.drain()
  const [[, warnings]] = await putAgain(merchant, [bad])
  assert.match(warnings[0], /^additional_image_link "http.*small\/x/)

  const [[status, none]] = await putAgain(merchant, [{ ...bad, additional_image_link: at('good', 'x') }])
  assert.deepEqual([status, none], ['UPDATE_SUCCESS', []])
  await app.drain()
  assert.deepEqual((await merchant.get('products/issues')).data, [])

  await givenProducts(merchant, [bad])
  await app.drain()
  assert.equal((await merchant.get('products/issues')).data.length, 1)
  await merchant.remove('products', { product_keys: [p.product_key] })
  assert.deepEqual((await merchant.get('products/issues')).data, [])
})

test('a verdict is good for a day; then the same product is looked at again', async () => {
  const merchant = await givenMerchant(app)
  const small = product('p', { image_link: at('small', 'day') })
  await givenProducts(merchant, [small])
  await app.drain()
  await putAgain(merchant, [small])
  await app.drain()
  assert.equal(shop.requests.length, 1, 'within the day nothing is fetched')

  await advance('25h')
  image.small = image.good!
  const [[, before]] = await putAgain(merchant, [small])
  assert.equal(before.length, 1)
  await app.drain()
  const [[, now]] = await putAgain(merchant, [small])

  assert.deepEqual([now, shop.requests.length], [[], 2])
})

test('an image that cannot be reached in passing is looked for again', async () => {
  const merchant = await givenMerchant(app)
  state.broken = true
  const flaky = product('p', { image_link: at('flaky') })
  await givenProducts(merchant, [flaky])
  await app.drain()
  const [[, warnings]] = await putAgain(merchant, [flaky])
  assert.match(warnings[0], /the host answers 503/)

  state.broken = false
  await advance('2h')

  assert.deepEqual(await putAgain(merchant, [flaky]), [['NO_CHANGE', []]])
})

test('images of a feed are looked at as well, but not again when only the price changes', async () => {
  const merchant = await givenMerchant(app)
  const shoes = product('f', { image_link: at('text', 'feed') })
  feeds.serve(csv([shoes]))
  const feed = await givenFeed(merchant, feeds.url)
  await runFeed(app, merchant, feed.id)
  assert.deepEqual(
    (await merchant.get('products/issues')).data.map((issue: Json) => issue.code),
    ['IMAGE_TYPE']
  )

  feeds.serve(csv([{ ...shoes, price: '21.00 USD' }]))
  await runFeed(app, merchant, feed.id)

  assert.equal(shop.requests.length, 1)
  assert.equal((await merchant.get('products/issues')).data.length, 1, 'and the verdict stands')
})
