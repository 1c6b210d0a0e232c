/** What a merchant and the operator see of a download, over TLS. */
import assert from 'node:assert/strict'
import { after, test } from 'node:test'
import { startApp, TEST_ADMIN_TOKEN } from '../../../test/app.ts'
import type { Behaviour } from '../../../test/consumer.ts'
import { codes, type Json } from '../../../test/given-ads.ts'
import { givenMerchant, product } from '../../../test/given-catalog.ts'
import { csv, givenFeed, runFeed, startFeedHost, until } from '../../../test/given-feed.ts'

const host = await startFeedHost({ after }, { tls: true })
const app = await startApp({ after }, { ...host.env, HERALD_LOG_LEVEL: 'silent' })
const admin = { authorization: `Bearer ${TEST_ADMIN_TOKEN}` }

/** Sends the text piece by piece over some seconds, or at once when it is released. */
function dripping(text: string) {
  const size = Math.ceil(text.length / 100)
  const state = { release: () => {} }
  host.respond(((_, response) => {
    let sent = 0
    response.writeHead(200, { 'content-length': text.length })
    const timer = setInterval(() => {
      if (sent >= size * 99) return
      response.write(text.slice(sent, sent + size))
      sent += size
    }, 30)
    state.release = () => {
      clearInterval(timer)
      response.end(text.slice(sent))
    }
  }) as Behaviour)
  return state
}

for (const environment of ['production', 'sandbox'] as const) {
  test(`${environment}: while a feed is fetched, its run tells how far it is, how fast, and how long it will take`, async () => {
    const merchant = await givenMerchant(app, { environment })
    const text = csv(Array.from({ length: 1_000 }, (_, i) => product(`p${i}`)))
    const server = dripping(text)
    const feed = await givenFeed(merchant, host.url)
    const { data } = await merchant.post(`scheduled_feeds/${feed.id}/runs`)
    const look = async () => (await merchant.get(`scheduled_feeds/${feed.id}/runs/${data.id}`)).data
    assert.deepEqual([data.state, data.progress.seconds_left], ['QUEUED', null])
    const draining = app.drain()

    let seen: Json
    try {
      await until('some of it is read', async () => {
        seen = await look()
        return seen.progress.rows_read > 100
      })
    } finally {
      server.release()
      await draining
    }

    const { bytes_read, bytes_total, rows_read, seconds, rows_per_second, bytes_per_second, seconds_left } =
      seen.progress
    assert.deepEqual([seen.state, bytes_total, seen.finished_at], ['FETCHING', text.length, null])
    assert.ok(bytes_read > bytes_total / 10 && bytes_read < bytes_total && rows_read < 1_000, `${bytes_read} bytes`)
    assert.deepEqual(
      [rows_per_second, bytes_per_second, seconds_left],
      [
        Math.round(rows_read / seconds),
        Math.round(bytes_read / seconds),
        Math.ceil(((bytes_total - bytes_read) * seconds) / bytes_read)
      ]
    )
    const done = await look()
    assert.deepEqual([done.state, done.counts.created, done.progress.seconds_left], ['DONE', 1_000, null])
    assert.deepEqual([done.progress.bytes_read, done.progress.rows_read], [text.length, 1_000])
    const took = (Date.parse(done.finished_at) - Date.parse(done.started_at)) / 1_000
    assert.ok(Math.abs(done.progress.seconds - took) < 0.2, `${done.progress.seconds} s instead of ${took}`)
  })
}

test('rates are those of this download, whatever an earlier one took', async () => {
  const merchant = await givenMerchant(app)
  host.serve(csv([product('a')]))
  const feed = await givenFeed(merchant, host.url)
  const { data } = await merchant.post(`scheduled_feeds/${feed.id}/runs`)
  // As a worker leaves it that died after an hour.
  await app.deps.database.pool.query(
    "update feed_runs set state = 'FETCHING', bytes_read = 4e9, bytes_total = 8e9, elapsed_ms = 3600000 where id = $1",
    [data.id]
  )

  await app.drain()

  const { state, progress } = (await merchant.get(`scheduled_feeds/${feed.id}/runs/${data.id}`)).data
  assert.equal(state, 'DONE')
  assert.ok(progress.seconds < 60 && progress.bytes_read < 10_000 && progress.bytes_total < 10_000, progress)
})

test('runs are listed page by page, and a cursor that is none is refused', async () => {
  const merchant = await givenMerchant(app)
  host.serve(csv([product('a')]))
  const feed = await givenFeed(merchant, host.url)
  const runs = [await runFeed(app, merchant, feed.id), await runFeed(app, merchant, feed.id)]
  const list = `scheduled_feeds/${feed.id}/runs`

  const first = await merchant.get(list, { count: 1 })
  const second = await merchant.get(list, { count: 1, cursor: first.body.next_cursor })

  assert.deepEqual([first.data[0].id, second.data[0].id, second.body.next_cursor], [runs[1].id, runs[0].id, null])
  assert.deepEqual(codes(await merchant.get(list, { cursor: 'garbage' })), ['INVALID_PARAMETER cursor'])
})

test('the operator starts a run that only validates, and downloads what would be rejected', async () => {
  const merchant = await givenMerchant(app)
  host.serve(csv([product('a'), product('b', { price: 'free' })]))
  const feed = await givenFeed(merchant, host.url)
  const started = await app.apps.main.inject({
    method: 'POST',
    url: `/admin/scheduled_feeds/${feed.id}/runs?validate_only=true`,
    headers: admin
  })
  assert.equal(started.statusCode, 200, started.body)
  await app.drain()

  const url = `/admin/feed_runs/${started.json().data.id}`
  const run = (await app.apps.main.inject({ url, headers: admin })).json().data
  assert.deepEqual([run.state, run.validate_only, run.counts.created, run.counts.rejected], ['DONE', true, 1, 1])
  assert.deepEqual((await merchant.get('products')).data, [])
  const file = await app.apps.main.inject({ url: `${url}/rejected_rows`, headers: admin })
  assert.match(String(file.headers['content-type']), /^text\/csv/)
  assert.match(file.body, /^row,line,column,code,what_to_do,id,.*\r\n3,3,6,INVALID_PRICE,/)
  assert.equal((await app.apps.main.inject({ url: `${url}/rejected_rows` })).statusCode, 401)
})
