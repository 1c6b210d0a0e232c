/** What every catalog route promises, asked of every route that there is, on both listeners. */
import assert from 'node:assert/strict'
import { after, test } from 'node:test'
import { startApp } from '../../test/app.ts'
import { caller, codes, type Json } from '../../test/given-ads.ts'
import { givenMerchant, givenProducts, type Merchant, product } from '../../test/given-catalog.ts'
import { givenFeed } from '../../test/given-feed.ts'
import type { Environment } from '../http/ads.ts'

const app = await startApp({ after }, { HERALD_RATE_LIMITS: 'on' })

const { paths } = app.apps.main.swagger() as unknown as {
  paths: Record<string, Record<string, Described>>
}
interface Described {
  'x-herald-extension'?: boolean
  parameters?: { name: string; in: string }[]
  requestBody?: { content: Record<string, { schema: { properties: object } }> }
}
const routes = Object.entries(paths)
  .filter(([path]) => path.startsWith('/12/product_catalogs'))
  .flatMap(([path, methods]) =>
    Object.entries(methods).map(([method, operation]) => ({
      method: method.toUpperCase(),
      path: path.slice(3),
      isExtension: operation['x-herald-extension'] === true
    }))
  )
const inside = routes.filter(({ path }) => path.includes('{product_catalog_id}'))

/** Enough for every write to get past its required parameters. */
const EVERYTHING = {
  name: 'x',
  type: 'FILTERED',
  filters: [{ attribute: 'inventory', operator: 'EQUAL_TO', value: '1' }],
  products: [product('x')],
  feed_url: 'https://feeds.example/f.csv',
  feed_format: 'CSV',
  frequency: 'DAILY',
  start_time: '01:00',
  time_zone: 'Etc/UTC'
}

const ask = (token: string, environment: Environment, { method, path }: (typeof routes)[number], ids: Json) => {
  const url = path.replace(/\{(\w+)\}/g, (_, name: string) => ids[name] ?? '4242424242424242424')
  const body = method === 'DELETE' ? { product_keys: ['1'] } : EVERYTHING
  const more = method === 'GET' ? {} : { payload: body }
  return caller(app, environment, token, '')(method, url, undefined, more)
}

async function givenEverything(merchant: Merchant) {
  const [{ product_key }] = await givenProducts(merchant, [product('a'), product('b')])
  const filters = [{ attribute: 'price', operator: 'GREATER_THAN', value: '1.00 USD' }]
  const set = (await merchant.post('product_sets', { name: 's', type: 'FILTERED', filters })).data
  const feed = await givenFeed(merchant, 'https://feeds.example/f.csv')
  const run = (await merchant.post(`scheduled_feeds/${feed.id}/runs`)).data
  return {
    product_catalog_id: merchant.catalogId,
    product_key,
    product_set_id: set.id,
    scheduled_feed_id: feed.id,
    run_id: run.id
  }
}

test('there are the fifteen calls of the document, and beyond them only extensions', () => {
  const documented = routes.filter(({ isExtension }) => !isExtension).map(({ method, path }) => `${method} ${path}`)
  const CATALOG = '/product_catalogs/{product_catalog_id}'
  assert.deepEqual(documented.toSorted(), [
    `DELETE ${CATALOG}`,
    `DELETE ${CATALOG}/product_sets/{product_set_id}`,
    `DELETE ${CATALOG}/products`,
    `DELETE ${CATALOG}/scheduled_feeds/{scheduled_feed_id}`,
    'GET /product_catalogs',
    `GET ${CATALOG}/product_sets/{product_set_id}`,
    `GET ${CATALOG}/products`,
    `GET ${CATALOG}/scheduled_feeds`,
    'POST /product_catalogs',
    `POST ${CATALOG}/product_sets`,
    `POST ${CATALOG}/scheduled_feeds`,
    `PUT ${CATALOG}`,
    `PUT ${CATALOG}/product_sets/{product_set_id}`,
    `PUT ${CATALOG}/products`,
    `PUT ${CATALOG}/scheduled_feeds/{scheduled_feed_id}`
  ])
})

test('scalar inputs are described as a query string, those of products and sets as a JSON body', () => {
  const inputs = ([path, method]: string[]) => {
    const { parameters = [], requestBody } = paths[`/12/product_catalogs${path}`]![method!]!
    const body = Object.keys(requestBody?.content['application/json']?.schema.properties ?? {})
    return { query: parameters.flatMap((each) => (each.in === 'query' ? [each.name] : [])), body }
  }
  const ONE = '/{product_catalog_id}'
  const feed = ['feed_url', 'feed_format', 'frequency', 'start_time', 'time_zone', 'repeat']
  const expected: [call: [path: string, method: string], query: string[], body: string[]][] = [
    [['', 'get'], ['user_id'], []],
    [['', 'post'], ['name', 'user_id'], []],
    [[ONE, 'put'], ['name'], []],
    [[ONE, 'delete'], [], []],
    [[`${ONE}/products`, 'get'], ['item_group_key', 'count', 'cursor'], []],
    [[`${ONE}/products`, 'put'], [], ['products']],
    [[`${ONE}/products`, 'delete'], [], ['product_keys']],
    [[`${ONE}/product_sets`, 'post'], [], ['name', 'description', 'type', 'filters', 'product_keys']],
    [[`${ONE}/product_sets/{product_set_id}`, 'put'], [], ['name', 'description', 'product_keys']],
    [[`${ONE}/scheduled_feeds`, 'post'], feed, []],
    [[`${ONE}/scheduled_feeds/{scheduled_feed_id}`, 'put'], feed, []]
  ]
  for (const [call, query, body] of expected) assert.deepEqual(inputs(call), { query, body }, call.join(' '))
})

test('no route answers for a catalog that is unknown, someone else’s, or of the other listener', async () => {
  for (const environment of ['production', 'sandbox'] as const) {
    const owner = await givenMerchant(app, { environment })
    const ids = await givenEverything(owner)
    const other = await givenMerchant(app, { environment })
    const elsewhere = environment === 'production' ? 'sandbox' : 'production'
    for (const route of inside) {
      const answers = [
        await ask(other.token, environment, route, ids),
        await ask(owner.token, elsewhere, route, ids),
        await ask(other.token, environment, route, {})
      ]
      for (const answer of answers) {
        assert.deepEqual([answer.status, codes(answer)], [404, ['NOT_FOUND']], `${route.method} ${route.path}`)
        assert.match(answer.body.errors[0].message, /^Product catalog [0-9]+ was not found$/)
      }
    }
    assert.equal((await owner.get('products')).data.length, 2)
  }
})

test('ids of another catalog look like ids of nothing', async () => {
  const owner = await givenMerchant(app)
  const theirs = await givenEverything(owner)
  const mine = await givenMerchant(app)
  for (const route of inside.filter(({ path }) => /\{(?!product_catalog_id)/.test(path))) {
    const answer = await ask(mine.token, 'production', route, { ...theirs, product_catalog_id: mine.catalogId })
    assert.deepEqual([answer.status, codes(answer)], [404, ['NOT_FOUND']], `${route.method} ${route.path}`)
  }
})

test('catalog limits per 15 minutes are those of the documents, and hold', async () => {
  const merchant = await givenMerchant(app)
  const limits: [method: string, path: string, max: number][] = [
    ['GET', '/product_catalogs', 1000],
    ['PUT', '', 20],
    ['GET', 'products', 1000],
    ['PUT', 'products', 600],
    ['DELETE', 'products', 150],
    ['GET', 'product_sets/1', 2000],
    ['POST', 'product_sets', 100],
    ['PUT', 'product_sets/1', 500],
    ['DELETE', 'product_sets/1', 100],
    ['GET', 'scheduled_feeds', 1000],
    ['POST', 'scheduled_feeds', 20],
    ['PUT', 'scheduled_feeds/1', 20],
    ['DELETE', 'scheduled_feeds/1', 20],
    ['POST', '/product_catalogs', 20]
  ]
  for (const [method, path, max] of limits) {
    const { headers } = await merchant.call(method, path)
    assert.equal(headers['x-rate-limit-limit'], String(max), `${method} ${path}`)
  }
  let last = await merchant.put('', { name: 'again' })
  for (let i = 0; i < 20; i++) last = await merchant.put('', { name: `again ${i}` })
  assert.deepEqual([last.status, codes(last)], [429, ['TOO_MANY_REQUESTS']])
})
