import assert from 'node:assert/strict'
import { after, test } from 'node:test'
import { startApp } from '../../test/app.ts'
import { codes, type Json } from '../../test/given-ads.ts'
import { givenMerchant, type Merchant } from '../../test/given-catalog.ts'

const app = await startApp({ after }, { HERALD_EGRESS_ALLOW_PRIVATE: '0' })

const weekly = {
  feed_url: 'https://feeds.example/f.csv',
  feed_format: 'CSV',
  frequency: 'WEEKLY',
  repeat: 'SATURDAY',
  start_time: '01:30',
  time_zone: 'America/New_York'
}
const daily = { ...weekly, frequency: 'DAILY', repeat: undefined }
const hourly = { ...weekly, frequency: 'HOURLY', repeat: '6' }

async function given(merchant: Merchant, feed: Json) {
  const { status, data, body } = await merchant.post('scheduled_feeds', feed)
  assert.equal(status, 200, JSON.stringify(body))
  return data
}
const dueAt = async (feedId: string) =>
  (
    await app.deps.database.db
      .selectFrom('jobs')
      .select('due_at')
      .where('kind', '=', 'catalog.feed_schedule')
      .where('key', '=', feedId)
      .executeTakeFirst()
  )?.due_at

for (const environment of ['production', 'sandbox'] as const) {
  test(`${environment}: a feed is created, listed, changed and deleted, and echoes as documented`, async () => {
    const merchant = await givenMerchant(app, { environment })
    const product_catalog_id = merchant.catalogId

    const created = await merchant.call('POST', 'scheduled_feeds', undefined, { query: weekly })

    assert.equal(created.status, 200, JSON.stringify(created.body))
    const { id, created_at, updated_at } = created.data
    assert.match(id, /^[0-9]{19}$/)
    assert.match(created_at, /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z$/)
    const feed = { ...weekly, id, product_catalog_id, created_at, updated_at }
    assert.deepEqual(created.body, { request: { params: { ...weekly, product_catalog_id } }, data: feed })
    assert.deepEqual((await merchant.get('scheduled_feeds')).body, {
      request: { params: { product_catalog_id } },
      next_cursor: null,
      data: [feed]
    })

    const changed = await merchant.call('PUT', `scheduled_feeds/${id}`, undefined, { query: { start_time: '02:45' } })
    assert.deepEqual(changed.body.request, { params: { start_time: '02:45', product_catalog_id, id } })
    assert.deepEqual(changed.data, { ...feed, start_time: '02:45', updated_at: changed.data.updated_at })

    const deleted = await merchant.delete(`scheduled_feeds/${id}`)
    assert.deepEqual(deleted.body, { request: { params: { product_catalog_id, id } }, data: changed.data })
    assert.deepEqual((await merchant.get('scheduled_feeds')).data, [])
    assert.deepEqual(codes(await merchant.delete(`scheduled_feeds/${id}`)), ['NOT_FOUND'])
    assert.equal(await dueAt(id), undefined)
  })

  test(`${environment}: "Only one product feed is supported per user"`, async () => {
    const merchant = await givenMerchant(app, { environment })
    await given(merchant, daily)

    const second = await merchant.post('scheduled_feeds', hourly)

    assert.deepEqual([second.status, codes(second)], [400, ['INVALID user_id']])
  })

  test(`${environment}: the repeat rules, and what else is wrong, said by code and parameter`, async () => {
    const merchant = await givenMerchant(app, { environment })
    const cases: [input: Json, expected: string[]][] = [
      [
        {},
        ['feed_url', 'feed_format', 'frequency', 'start_time', 'time_zone'].map((name) => `MISSING_PARAMETER ${name}`)
      ],
      [{ ...weekly, repeat: undefined }, ['MISSING_PARAMETER repeat']],
      [{ ...hourly, repeat: undefined }, ['MISSING_PARAMETER repeat']],
      [{ ...weekly, repeat: '6' }, ['INVALID_PARAMETER repeat']],
      [{ ...hourly, repeat: 'MONDAY' }, ['INVALID_PARAMETER repeat']],
      [{ ...hourly, repeat: '5' }, ['INVALID_PARAMETER repeat']],
      [{ ...hourly, repeat: '24' }, ['INVALID_PARAMETER repeat']],
      [{ ...hourly, repeat: ['1', '2'] }, ['INVALID_PARAMETER repeat']],
      [{ ...hourly, repeat: { hours: 1 } }, ['INVALID_PARAMETER repeat']],
      [{ ...daily, repeat: '6' }, ['INVALID_PARAMETER repeat']],
      [{ ...daily, frequency: 'MONTHLY' }, ['INVALID_PARAMETER frequency']],
      [{ ...daily, feed_format: 'JSON' }, ['INVALID_PARAMETER feed_format']],
      [{ ...daily, start_time: '24:00' }, ['INVALID_PARAMETER start_time']],
      [{ ...daily, start_time: '1:30' }, ['INVALID_PARAMETER start_time']],
      [{ ...daily, time_zone: 'Mars/Olympus' }, ['INVALID_PARAMETER time_zone']],
      [{ ...daily, time_zone: '+01:00' }, ['INVALID_PARAMETER time_zone']],
      [{ ...daily, feed_url: 'ftp://feeds.example/f.csv' }, ['INVALID_PARAMETER feed_url']],
      [{ ...daily, feed_url: 'feeds.example/f.csv' }, ['INVALID_PARAMETER feed_url']],
      [{ ...daily, feed_url: 'https://me:secret@feeds.example/f.csv' }, ['INVALID_PARAMETER feed_url']],
      [{ ...daily, feed_url: 'http://169.254.169.254/latest' }, ['INVALID_PARAMETER feed_url']],
      [{ ...daily, feed_url: 'http://[::1]/f.csv' }, ['INVALID_PARAMETER feed_url']]
    ]
    for (const [input, expected] of cases) {
      const answer = await merchant.post('scheduled_feeds', input)
      assert.deepEqual([answer.status, codes(answer)], [400, expected], JSON.stringify(input))
      assert.doesNotMatch(JSON.stringify(answer.body), /secret/, 'a password does not come back')
    }
    assert.deepEqual((await merchant.get('scheduled_feeds')).data, [])
  })

  test(`${environment}: every documented repeat is accepted, and null is answered for DAILY`, async () => {
    const merchant = await givenMerchant(app, { environment })
    const days = ['MONDAY', 'TUESDAY', 'WEDNESDAY', 'THURSDAY', 'FRIDAY', 'SATURDAY', 'SUNDAY']
    const feeds = [
      ...days.map((repeat) => ({ ...weekly, repeat })),
      ...['1', '2', '3', '4', '6', '8', '12'].map((repeat) => ({ ...hourly, repeat })),
      ...['CSV', 'TSV', 'XML'].map((feed_format) => ({ ...daily, feed_format }))
    ]
    for (const feed of feeds) {
      const { id, repeat, feed_format } = await given(merchant, feed)
      assert.deepEqual([repeat, feed_format], [feed.repeat ?? null, feed.feed_format])
      await merchant.delete(`scheduled_feeds/${id}`)
    }
  })

  test(`${environment}: a change must leave a frequency and a repeat that belong together`, async () => {
    const merchant = await givenMerchant(app, { environment })
    const { id } = await given(merchant, weekly)
    const change = async (input: Json) => {
      const answer = await merchant.put(`scheduled_feeds/${id}`, input)
      return answer.status === 200 ? [answer.data.frequency, answer.data.repeat] : codes(answer)
    }

    assert.deepEqual(await change({ frequency: 'HOURLY' }), ['MISSING_PARAMETER repeat'])
    assert.deepEqual(await change({ repeat: '4' }), ['INVALID_PARAMETER repeat'])
    assert.deepEqual(await change({ frequency: 'DAILY', repeat: 'MONDAY' }), ['INVALID_PARAMETER repeat'])
    assert.deepEqual(await change({ repeat: '' }), ['MISSING_PARAMETER repeat'])
    assert.deepEqual(await change({ repeat: 'MONDAY' }), ['WEEKLY', 'MONDAY'])
    assert.deepEqual(await change({ frequency: 'DAILY' }), ['DAILY', null])
    assert.deepEqual(await change({ frequency: 'HOURLY', repeat: 12 }), ['HOURLY', '12'])
    assert.deepEqual(codes(await merchant.put('scheduled_feeds/1', { start_time: '00:00' })), ['NOT_FOUND'])
  })
}

test('the next run is kept with the feed, by the wall clock of its zone', async () => {
  const merchant = await givenMerchant(app)
  const { id } = await given(merchant, { ...daily, start_time: '03:00', time_zone: 'Asia/Tokyo' })
  assert.match((await dueAt(id))!, /T18:00:00\.000Z$/)

  await merchant.put(`scheduled_feeds/${id}`, { time_zone: 'Etc/UTC' })
  assert.match((await dueAt(id))!, /T03:00:00\.000Z$/)
})
