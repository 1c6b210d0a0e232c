import assert from 'node:assert/strict'
import { after, afterEach, test } from 'node:test'
import { gzipSync } from 'node:zlib'
import { startApp, TEST_ADMIN_TOKEN } from '../../../test/app.ts'
import type { Behaviour } from '../../../test/consumer.ts'
import { codes, type Json } from '../../../test/given-ads.ts'
import { givenMerchant, givenProducts, type Merchant, product } from '../../../test/given-catalog.ts'
import { counts, csv, givenFeed, none, runFeed, stagingTables, startFeedHost } from '../../../test/given-feed.ts'
import type { Environment } from '../../http/ads.ts'

const host = await startFeedHost({ after })
const app = await startApp({ after }, { HERALD_LOG_LEVEL: 'silent' })
const { pool } = app.deps.database
const admin = { authorization: `Bearer ${TEST_ADMIN_TOKEN}` }

// Feeds of other tests must not wake up when this one moves the clock.
afterEach(async () => {
  await pool.query('delete from scheduled_feeds')
  await pool.query("delete from jobs where kind = 'catalog.feed_schedule'")
})

const advance = async (duration: string) => {
  const response = await app.apps.main.inject({
    method: 'POST',
    url: '/admin/clock',
    headers: admin,
    payload: { advance: duration }
  })
  assert.equal(response.statusCode, 200, response.body)
}
const ids = async (merchant: Merchant) => (await merchant.get('products')).data.map((each: Json) => each.id)
const listenerOf = (environment: Environment) => (environment === 'sandbox' ? app.apps.sandbox : app.apps.main)

for (const environment of ['production', 'sandbox'] as const) {
  test(`${environment}: a feed is imported when its time has come, and importing is additive`, async () => {
    const merchant = await givenMerchant(app, { environment })
    host.serve(csv([product('a'), product('b'), product('c')]))
    const feed = await givenFeed(merchant, host.url, { frequency: 'HOURLY', repeat: '1' })
    assert.deepEqual(await ids(merchant), [], 'not before')

    await advance('1h')
    assert.deepEqual(await ids(merchant), ['a', 'b', 'c'])
    host.serve(csv([product('b', { price: '9.99 EUR' }), product('c'), product('d')]))
    await advance('1h')

    assert.deepEqual(await ids(merchant), ['a', 'b', 'c', 'd'], 'what is no longer in the feed stays')
    const { data } = await merchant.get(`scheduled_feeds/${feed.id}/runs`)
    assert.deepEqual(
      data.map((run: Json) => [run.state, run.trigger, counts(run)]),
      [
        ['DONE', 'schedule', { ...none, created: 1, updated: 1, unchanged: 1 }],
        ['DONE', 'schedule', { ...none, created: 3 }]
      ]
    )
    assert.equal((await merchant.get('products')).data[1].price, '9.99 EUR')
    const requests = host.requests.length
    await merchant.delete(`scheduled_feeds/${feed.id}`)
    await advance('1h')
    assert.equal(host.requests.length, requests, 'a deleted feed is not fetched')
    assert.equal((await merchant.get(`scheduled_feeds/${feed.id}/runs`)).status, 404)
  })
}

test('the batch and a feed give the same product', async () => {
  const whole = product('same', {
    additional_image_link: 'https://shop.example/2.jpg,https://shop.example/3.jpg',
    inventory: '7',
    sale_price: '15 USD',
    product_type: 'A > "B"',
    custom_label_0: 'tab\there \\N and\nline',
    description: 'größe 🙂 , with "quotes"'
  })
  const [one, other] = [await givenMerchant(app), await givenMerchant(app)]
  await givenProducts(one, [whole])
  host.serve(csv([whole]))
  const feed = await givenFeed(other, host.url)
  await runFeed(app, other, feed.id)

  const [byBatch] = (await one.get('products')).data
  const [byFeed] = (await other.get('products')).data
  assert.deepEqual({ ...byFeed, product_key: '' }, { ...byBatch, product_key: '' })
  const again = await other.put('products', { products: [whole] })
  assert.equal(again.data.products_response[0].status, 'NO_CHANGE')
})

test('TSV, XML and gzip are imported as well', async () => {
  const columns = Object.keys(product('x'))
  const tsv = [columns, ...['t1', 't2'].map((id) => Object.values(product(id)))].map((row) => row.join('\t')).join('\n')
  const items = ['x1', 'x2'].map(
    (id) =>
      `<item>${Object.entries(product(id))
        .map(([name, value]) => `<g:${name}>${value}</g:${name}>`)
        .join('')}</item>`
  )
  const xml = `<rss version="2.0" xmlns:g="http://base.google.com/ns/1.0"><channel>${items.join('')}</channel></rss>`
  for (const [feed_format, body, expected] of [
    ['TSV', tsv, ['t1', 't2']],
    ['XML', xml, ['x1', 'x2']],
    ['CSV', gzipSync(csv([product('z1')])), ['z1']]
  ] as const) {
    const merchant = await givenMerchant(app)
    host.serve(body)
    const feed = await givenFeed(merchant, host.url, { feed_format })
    const run = await runFeed(app, merchant, feed.id)
    assert.equal(run.state, 'DONE', JSON.stringify(run))
    assert.deepEqual(await ids(merchant), expected)
  }
  const merchant = await givenMerchant(app)
  host.serve(gzipSync(csv([product('e1')])), { 'content-encoding': 'gzip' })
  const feed = await givenFeed(merchant, host.url)
  await runFeed(app, merchant, feed.id)
  assert.deepEqual(await ids(merchant), ['e1'], 'gzip as a content encoding')
})

test('a file that its host calls unchanged is not sent again, unless that is asked for', async () => {
  const merchant = await givenMerchant(app)
  const modified = 'Thu, 15 Jan 2026 12:00:00 GMT'
  host.serve(csv([product('a')]), { etag: '"v1"', 'last-modified': modified })
  const feed = await givenFeed(merchant, host.url)
  assert.equal((await runFeed(app, merchant, feed.id)).not_modified, false)
  assert.equal(host.requests.at(-1)!.headers['if-none-match'], undefined)

  const second = await runFeed(app, merchant, feed.id)
  const { headers } = host.requests.at(-1)!
  assert.deepEqual([headers['if-none-match'], headers['if-modified-since']], ['"v1"', modified])
  assert.deepEqual([second.state, second.not_modified, counts(second)], ['DONE', true, none])

  const forced = await runFeed(app, merchant, feed.id, { force: true })
  assert.deepEqual([forced.not_modified, counts(forced)], [false, { ...none, unchanged: 1 }])
  await merchant.put(`scheduled_feeds/${feed.id}`, { feed_url: `${host.url}/other` })
  await runFeed(app, merchant, feed.id)
  assert.equal(host.requests.at(-1)!.headers['if-none-match'], undefined, 'another address, another file')
})

for (const environment of ['production', 'sandbox'] as const) {
  test(`${environment}: a report says what is wrong with which row, and the rows can be downloaded`, async () => {
    const merchant = await givenMerchant(app, { environment })
    await givenProducts(merchant, [product('twice', { title: 'As it was' })])
    const rows = [
      product('good'),
      product('bad', { price: '12,50 EUR', color: '#ff0000' }),
      product('twice'),
      product('worse', { price: '' }),
      product('twice', { title: 'Other' }),
      product('near', { description: 'nice &nbsp; shoes' })
    ]
    host.serve(`${csv(rows).trimEnd()}\r\nragged,row\r\n`)
    const feed = await givenFeed(merchant, host.url)

    const run = await runFeed(app, merchant, feed.id)

    assert.deepEqual(counts(run), { created: 2, updated: 0, unchanged: 0, rejected: 3, duplicate: 2 })
    const found = Object.fromEntries(run.issues.map((issue: Json) => [`${issue.code} ${issue.field}`, issue]))
    assert.deepEqual(Object.keys(found).toSorted(), [
      'DUPLICATE_ID id',
      'HEX_COLOR color',
      'HTML_ENTITY description',
      'INVALID_PRICE price',
      'MISSING_FIELD price',
      'RAGGED_ROW null'
    ])
    const price = found['INVALID_PRICE price']
    assert.deepEqual([price.severity, price.count, price.samples.length], ['error', 1, 1])
    const { message, ...sample } = price.samples[0]
    assert.deepEqual(sample, { row: 3, line: 3, column: 6, field: 'price', value: '12,50 EUR' })
    assert.match(message, /Write "12\.50 EUR"/)
    assert.deepEqual([found['DUPLICATE_ID id'].count, found['DUPLICATE_ID id'].samples[0].row], [2, 4])
    assert.equal(found['HTML_ENTITY description'].severity, 'warning')
    assert.deepEqual(await ids(merchant), ['twice', 'good', 'near'])
    assert.equal((await merchant.get('products')).data[0].title, 'As it was', 'all instances are ignored')

    const listener = listenerOf(environment)
    const url = `/12/product_catalogs/${merchant.catalogId}/scheduled_feeds/${feed.id}/runs/${run.id}/rejected_rows`
    const file = await listener.inject({ url, headers: { authorization: `Bearer ${merchant.token}` } })
    assert.match(String(file.headers['content-type']), /^text\/csv/)
    const lines = file.body.trimEnd().split('\r\n')
    assert.match(lines[0]!, /^row,line,column,code,what_to_do,id,title/)
    assert.deepEqual(
      lines.slice(1).map((line) => Number(line.split(',')[0])),
      [3, 4, 5, 6, 8]
    )
    assert.match(lines[1]!, /^3,3,6 21,INVALID_PRICE HEX_COLOR,"price/)
    assert.match(lines[5]!, /RAGGED_ROW.*ragged,row"$/)
    assert.equal(await stagingTables(app), 0)
  })
}

test('groups and sets are right after an import', async () => {
  const merchant = await givenMerchant(app)
  const grouped = (id: string, item_group_id: string, more: Json = {}) => product(id, { item_group_id, ...more })
  await givenProducts(merchant, [grouped('a', 'one'), product('b'), grouped('c', 'two'), grouped('d', 'two')])
  const filters = [{ attribute: 'price', operator: 'GREATER_THAN', value: '50.00 USD' }]
  const set = (await merchant.post('product_sets', { name: 'dear', type: 'FILTERED', filters })).data
  host.serve(
    csv([
      grouped('b', 'one', { price: '60.00 USD' }),
      grouped('c', 'three'),
      grouped('d', 'three'),
      grouped('e', 'new', { price: '70.00 USD' }),
      grouped('f', 'new')
    ])
  )
  const feed = await givenFeed(merchant, host.url)

  const run = await runFeed(app, merchant, feed.id)

  assert.deepEqual(counts(run), { ...none, created: 2, updated: 3 })
  const { data } = await merchant.get('products')
  assert.deepEqual(
    data.map((each: Json) => [each.id, each.item_group_id, each.item_group_key !== null]),
    [
      ['a', 'one', true],
      ['c', 'three', true],
      ['e', 'new', true]
    ]
  )
  const members = await merchant.get('products', { item_group_key: data[1].item_group_key })
  assert.deepEqual(
    members.data.map((each: Json) => each.id),
    ['c', 'd']
  )
  assert.deepEqual((await merchant.get(`product_sets/${set.id}`)).data.product_ids, ['b', 'e'])
  const { rows } = await pool.query('select item_group_id from item_groups where catalog_id = $1', [merchant.catalogId])
  assert.deepEqual(rows.map((row) => row.item_group_id).toSorted(), ['new', 'one', 'three'])
})

test('an import that would change nearly everything waits until somebody confirms it', async () => {
  const merchant = await givenMerchant(app)
  const shop = (price: string, prefix = 'p') =>
    csv(Array.from({ length: 1_200 }, (_, i) => product(`${prefix}${i}`, { price, inventory: 5 })))
  host.serve(shop('20.00 USD'))
  const feed = await givenFeed(merchant, host.url)
  assert.equal((await runFeed(app, merchant, feed.id)).state, 'DONE', 'a new catalog has nothing to lose')

  host.serve(shop('20.00 USD').replaceAll(',5,', ',4,'))
  const harmless = await runFeed(app, merchant, feed.id)
  assert.deepEqual([harmless.state, harmless.counts.updated], ['DONE', 1_200], 'other quantities are everyday business')

  host.serve(shop('20.00 JPY').replaceAll('20.00 JPY', '20 JPY'))
  const wrong = await runFeed(app, merchant, feed.id)
  assert.deepEqual(
    [wrong.state, wrong.guard.code, wrong.guard.changed],
    ['NEEDS_CONFIRMATION', 'MOST_PRODUCTS_CHANGE', 1_200]
  )
  assert.equal(wrong.counts.updated, 1_200)
  assert.equal((await merchant.get('products', { count: 1 })).data[0].price, '20.00 USD', 'the catalog is as it was')

  const requests = host.requests.length
  host.serve('not even a feed')
  const confirmed = await merchant.post(`scheduled_feeds/${feed.id}/runs/${wrong.id}/confirm`)
  assert.equal(confirmed.status, 200, JSON.stringify(confirmed.body))
  await app.drain()
  const after = (await merchant.get(`scheduled_feeds/${feed.id}/runs/${wrong.id}`)).data
  assert.deepEqual([after.state, counts(after)], ['DONE', { ...none, updated: 1_200 }])
  assert.equal(host.requests.length, requests, 'what was looked at is what is imported')
  assert.equal((await merchant.get('products', { count: 1 })).data[0].price, '20 JPY')
  assert.deepEqual(codes(await merchant.post(`scheduled_feeds/${feed.id}/runs/${wrong.id}/confirm`)), ['INVALID state'])

  host.serve(shop('1.00 USD', 'other'))
  const other = await runFeed(app, merchant, feed.id)
  assert.deepEqual([other.state, other.guard.code], ['NEEDS_CONFIRMATION', 'MOST_IDS_UNKNOWN'])
  host.serve(shop('20 JPY'))
  assert.equal((await runFeed(app, merchant, feed.id)).state, 'DONE')
  assert.equal((await merchant.get(`scheduled_feeds/${feed.id}/runs/${other.id}`)).data.state, 'SUPERSEDED')
  host.serve(shop('2.00 USD'))
  assert.equal((await runFeed(app, merchant, feed.id, { confirmed: true })).state, 'DONE', 'confirmed beforehand')
  await advance('6h')
  assert.equal(await stagingTables(app), 0, 'rows that nobody confirmed are swept up')
})

for (const environment of ['production', 'sandbox'] as const) {
  test(`${environment}: validate_only reads and reports, and changes nothing`, async () => {
    const merchant = await givenMerchant(app, { environment })
    await givenProducts(merchant, [product('a'), product('b')])
    const body = csv([product('a'), product('b', { title: 'New' }), product('c'), product('d', { price: 'x' })])
    host.serve(body)
    const feed = await givenFeed(merchant, host.url)
    const expected = { ...none, created: 1, updated: 1, unchanged: 1, rejected: 1 }

    const run = await runFeed(app, merchant, feed.id, { validate_only: true })
    assert.deepEqual([run.state, run.validate_only, counts(run)], ['DONE', true, expected])

    const asked = await merchant.post('feed_checks', { feed_url: `${host.url}/new`, feed_format: 'CSV' })
    assert.deepEqual([asked.data.state, asked.data.scheduled_feed_id], ['QUEUED', null])
    await app.drain()
    const check = (await merchant.get(`feed_checks/${asked.data.id}`)).data
    assert.deepEqual([check.state, counts(check), check.issues[0].code], ['DONE', expected, 'INVALID_PRICE'])

    const sample = await merchant.post('feed_checks', { feed_format: 'CSV', sample: body })
    assert.equal(sample.status, 200, JSON.stringify(sample.body))
    assert.deepEqual([sample.data.state, sample.data.feed_url, counts(sample.data)], ['DONE', null, expected])
    assert.deepEqual((await merchant.get(`feed_checks/${sample.data.id}`)).data, sample.data, 'its report stays')
    const kept = await listenerOf(environment).inject({
      url: `/12/product_catalogs/${merchant.catalogId}/feed_checks/${sample.data.id}/rejected_rows`,
      headers: { authorization: `Bearer ${merchant.token}` }
    })
    assert.match(kept.body, /^row,line,[^\r]+\r\n5,5,6,INVALID_PRICE,[^\r]+\r\n$/)
    assert.equal(sample.body.request.params.sample, undefined)
    const broken = await merchant.post('feed_checks', { feed_format: 'XML', sample: body })
    assert.deepEqual([broken.data.state, broken.data.error.code], ['FAILED', 'WRONG_FORMAT'])

    assert.deepEqual(
      (await merchant.get('products')).data.map((each: Json) => each.title),
      ['Shoes a', 'Shoes b']
    )
    for (const [input, expectedCodes] of [
      [{ feed_format: 'CSV' }, ['MISSING_PARAMETER feed_url']],
      [{ feed_format: 'CSV', feed_url: host.url, sample: 'x' }, ['EXCLUSIVE_PARAMETERS']],
      [{ feed_format: 'CSV', feed_url: 'https://a:b@feeds.example' }, ['INVALID_PARAMETER feed_url']]
    ] as const)
      assert.deepEqual(codes(await merchant.post('feed_checks', input)), expectedCodes)
    assert.equal(await stagingTables(app), 0)
  })
}

test('a scheduled download that fails in passing is tried again; one that was asked for says so at once', async () => {
  const merchant = await givenMerchant(app)
  const answers = [503, 503, 200]
  const body = csv([product('late')])
  host.respond(((_, response) => {
    const status = answers.shift() ?? 500
    response.writeHead(status).end(status === 200 ? body : '')
  }) as Behaviour)
  const feed = await givenFeed(merchant, host.url, { start_time: '05:30' })
  const latest = async () => (await merchant.get(`scheduled_feeds/${feed.id}/runs`)).data[0]
  const { next_runs } = (await merchant.get(`scheduled_feeds/${feed.id}/next_runs`)).data
  await app.apps.main.inject({ method: 'POST', url: '/admin/clock', headers: admin, payload: { now: next_runs[0] } })

  const waiting = await latest()
  assert.deepEqual([waiting.state, waiting.error.code], ['QUEUED', 'HTTP_STATUS'])
  assert.ok(waiting.next_fetch_at > waiting.started_at)
  await advance('2m')
  assert.equal((await latest()).state, 'QUEUED')
  await advance('11m')
  const done = await latest()
  assert.deepEqual([done.state, done.error, counts(done)], ['DONE', null, { ...none, created: 1 }])

  const asked = await runFeed(app, merchant, feed.id)
  assert.deepEqual([asked.state, asked.error.code], ['FAILED', 'HTTP_STATUS'])
  assert.match(asked.error.message, /answers 500 instead of 200/)
})

test('the next runs of a feed are shown, in its own time as well', async () => {
  const merchant = await givenMerchant(app)
  const feed = await givenFeed(merchant, host.url, {
    frequency: 'HOURLY',
    repeat: '12',
    start_time: '09:15',
    time_zone: 'Asia/Kolkata'
  })
  const { data } = await merchant.get(`scheduled_feeds/${feed.id}/next_runs`)
  assert.equal(data.next_runs.length, 5)
  assert.equal(Date.parse(data.next_runs[1]) - Date.parse(data.next_runs[0]), 12 * 3_600_000)
  assert.match(data.local_times[0], /T(09|21):15\+05:30$/)
})

test('the operator lists runs, starts one and confirms one', async () => {
  const merchant = await givenMerchant(app)
  host.serve(csv([product('a')]))
  const feed = await givenFeed(merchant, host.url)
  const ask = async (method: 'GET' | 'POST', url: string) => {
    const response = await app.apps.main.inject({ method, url: `/admin/${url}`, headers: admin })
    return { status: response.statusCode, ...response.json() }
  }

  const started = await ask('POST', `scheduled_feeds/${feed.id}/runs`)
  assert.deepEqual([started.status, started.data.state, started.data.trigger], [200, 'QUEUED', 'operator'])
  assert.equal((await ask('POST', `scheduled_feeds/${feed.id}/runs`)).status, 400, 'one at a time')
  await app.drain()
  const listed = await ask('GET', `feed_runs?catalog_id=${merchant.catalogId}&state=DONE`)
  assert.deepEqual(
    listed.data.map((run: Json) => run.id),
    [started.data.id]
  )
  assert.equal((await ask('GET', `feed_runs/${started.data.id}`)).data.counts.created, 1)
  assert.equal((await ask('POST', `feed_runs/${started.data.id}/confirm`)).status, 400)
  assert.equal((await ask('GET', 'feed_runs/1')).status, 404)
})
