import assert from 'node:assert/strict'
import { after, test } from 'node:test'
import { startApp } from '../../test/app.ts'
import { type Advertiser, givenAdvertiser, givenCampaign, givenLineItem, type Json } from '../../test/given-ads.ts'
import type { TestClock } from '../clock.ts'
import { campaigns } from './campaigns.ts'
import { fundingInstruments } from './funding-instruments.ts'
import { updateRow } from './rows.ts'

const app = await startApp({ after })
const { db } = app.deps.database
const clock = app.deps.clock as TestClock
const HOUR = 3_600_000
const at = (ms: number) => `${new Date(clock.now() + ms).toISOString().slice(0, 19)}Z`

/** A campaign that serves: one line item with one post. */
async function givenServing(me: Advertiser, campaign: Json = {}, lineItem: Json = {}) {
  const { id: campaign_id } = await givenCampaign(me, campaign)
  const { id: line_item_id } = await givenLineItem(me, { campaign_id, ...lineItem })
  await me.post('promoted_tweets', { line_item_id, tweet_ids: '1' })
  return { campaign_id, line_item_id }
}
const read = async (me: Advertiser, id: string) => {
  const { data } = await me.get(`campaigns/${id}`)
  return [data.servable, data.reasons_not_servable, data.effective_status]
}

test('a campaign serves once a line item has a creative, and says UNKNOWN before', async () => {
  const me = await givenAdvertiser(app)
  const { id } = await givenCampaign(me)

  assert.deepEqual(await read(me, id), [false, ['INCOMPLETE'], 'UNKNOWN'])
  const { id: line_item_id } = await givenLineItem(me, { campaign_id: id })
  assert.deepEqual(await read(me, id), [false, ['INCOMPLETE'], 'UNKNOWN'])
  await me.post('promoted_tweets', { line_item_id, tweet_ids: '1' })
  assert.deepEqual(await read(me, id), [true, [], 'RUNNING'])
  assert.deepEqual(
    (await me.get('campaigns')).data.map((row: Json) => row.servable),
    [true],
    'in lists too'
  )
})

test('every kind of creative makes a line item complete', async () => {
  const me = await givenAdvertiser(app)
  const followers = await givenLineItem(me, { objective: 'FOLLOWERS', product_type: 'PROMOTED_ACCOUNT' })
  const preroll = await givenLineItem(me, { objective: 'PREROLL_VIEWS', product_type: 'MEDIA', categories: 'IAB7' })
  const [video] = (await me.get('account_media', { creative_types: 'PREROLL' })).data

  await me.post('promoted_accounts', { line_item_id: followers.id, user_id: me.userId })
  await me.post('media_creatives', { line_item_id: preroll.id, account_media_id: video.id })

  assert.deepEqual(await read(me, followers.campaign_id), [true, [], 'RUNNING'])
  assert.deepEqual(await read(me, preroll.campaign_id), [true, [], 'RUNNING'])
})

/** What can be done to a serving campaign, and what it then says. */
const changes: [
  what: string,
  change: (me: Advertiser, ids: Json) => Promise<unknown>,
  reasons: string[],
  status: string
][] = [
  [
    'the campaign is paused',
    (me, ids) => me.put(`campaigns/${ids.campaign_id}`, { entity_status: 'PAUSED' }),
    ['PAUSED_BY_ADVERTISER'],
    'PAUSED'
  ],
  [
    'its line items are paused',
    (me, ids) => me.put(`line_items/${ids.line_item_id}`, { entity_status: 'PAUSED' }),
    ['PAUSED_BY_ADVERTISER'],
    'PAUSED'
  ],
  ['its line items are deleted', (me, ids) => me.delete(`line_items/${ids.line_item_id}`), ['INCOMPLETE'], 'UNKNOWN'],
  [
    'its line items start later',
    (me, ids) => me.put(`line_items/${ids.line_item_id}`, { start_time: at(HOUR) }),
    ['STARTS_IN_FUTURE'],
    'SCHEDULED'
  ],
  [
    'its line items have ended',
    (me, ids) => me.put(`line_items/${ids.line_item_id}`, { end_time: at(-HOUR) }),
    ['EXPIRED'],
    'EXPIRED'
  ],
  [
    'its budget is spent',
    (me, ids) =>
      updateRow(db, campaigns, { account_id: me.accountId, id: ids.campaign_id }, { spend_local_micro: 200_000_000n }),
    ['BUDGET_EXHAUSTED'],
    'EXHAUSTED'
  ],
  [
    'its instrument is paused',
    (me) =>
      updateRow(
        db,
        fundingInstruments,
        { account_id: me.accountId, id: me.fundingInstrumentId },
        { entity_status: 'PAUSED' }
      ),
    ['FUNDING_PROBLEM'],
    'UNKNOWN'
  ],
  [
    'its creatives were rejected',
    (me) =>
      db
        .updateTable('promoted_tweets')
        .set({ approval_status: 'REJECTED' })
        .where('account_id', '=', me.accountId)
        .execute(),
    ['CONTENT_REVIEW_PROBLEM'],
    'UNKNOWN'
  ],
  [
    'the account is under review',
    (me) =>
      db.updateTable('ad_accounts').set({ approval_status: 'UNDER_REVIEW' }).where('id', '=', me.accountId).execute(),
    ['ACCOUNT_UNDER_REVIEW'],
    'UNKNOWN'
  ],
  [
    'the account was rejected',
    (me) => db.updateTable('ad_accounts').set({ approval_status: 'REJECTED' }).where('id', '=', me.accountId).execute(),
    ['ACCOUNT_REJECTED'],
    'UNKNOWN'
  ]
]
for (const [what, change, reasons, status] of changes) {
  test(`does not serve when ${what}, and says so with the entity at fault`, async () => {
    const me = await givenAdvertiser(app)
    const ids = await givenServing(me, { total_budget_amount_local_micro: 200_000_000 })
    assert.deepEqual(await read(me, ids.campaign_id), [true, [], 'RUNNING'])

    await change(me, ids)

    assert.deepEqual(await read(me, ids.campaign_id), [false, reasons, status])
    const { data, body, status: http } = await me.get(`campaigns/${ids.campaign_id}/servability`)
    assert.equal(http, 200, JSON.stringify(body))
    assert.deepEqual([...new Set(data.reasons.map((each: Json) => each.reason))], reasons)
    assert.ok(data.reasons.every((each: Json) => each.entity_id !== null && each.explanation.length > 10))
  })
}

test('the call that would mend it does', async () => {
  const me = await givenAdvertiser(app)
  const { campaign_id } = await givenServing(me, {}, { entity_status: 'PAUSED' })

  const { data } = await me.get(`campaigns/${campaign_id}/servability`)
  const [{ mend }] = data.reasons
  const { status } = await me.call(mend.method, mend.path.replace('/12', ''), mend.params)

  assert.equal(status, 200)
  assert.deepEqual(await read(me, campaign_id), [true, [], 'RUNNING'])
})

test('a line item in search results needs keywords', async () => {
  const me = await givenAdvertiser(app)
  const { campaign_id, line_item_id } = await givenServing(me, {}, { placements: 'SVC_SEARCH' })

  const before = await me.get(`line_items/${line_item_id}/servability`)
  assert.deepEqual(before.data.reasons_not_servable, ['INCOMPLETE'])
  assert.match(before.data.reasons[0].explanation, /keywords/)
  await me.post('targeting_criteria', { line_item_id, targeting_type: 'BROAD_KEYWORD', targeting_value: 'coffee' })
  assert.deepEqual(await read(me, campaign_id), [true, [], 'RUNNING'])
  assert.deepEqual((await me.get(`line_items/${line_item_id}/servability`)).data.servable, true)
})

test('time alone starts and ends it: nothing is stored', async () => {
  const me = await givenAdvertiser(app)
  const { campaign_id } = await givenServing(me, {}, { start_time: at(HOUR), end_time: at(2 * HOUR) })

  assert.deepEqual(await read(me, campaign_id), [false, ['STARTS_IN_FUTURE'], 'SCHEDULED'])
  clock.offsetMs += 1.5 * HOUR
  assert.deepEqual(await read(me, campaign_id), [true, [], 'RUNNING'])
  clock.offsetMs += HOUR
  assert.deepEqual(await read(me, campaign_id), [false, ['EXPIRED'], 'EXPIRED'])
  clock.offsetMs -= 2.5 * HOUR
})

test('one line item that serves is enough', async () => {
  const me = await givenAdvertiser(app)
  const { campaign_id } = await givenServing(me)
  await givenLineItem(me, { campaign_id })
  const paused = await givenLineItem(me, { campaign_id, entity_status: 'PAUSED' })

  assert.deepEqual(await read(me, campaign_id), [true, [], 'RUNNING'])
  const { data } = await me.get(`campaigns/${campaign_id}/servability`)
  assert.deepEqual(
    data.line_items.map((item: Json) => item.servable),
    [true, false, false]
  )
  assert.equal(data.line_items[2].line_item_id, paused.id)
})

test('a line item of a deleted campaign says so, and an instrument explains itself', async () => {
  const me = await givenAdvertiser(app, { funding: { end_time: at(HOUR) } })
  const { campaign_id, line_item_id } = await givenServing(me)
  await me.delete(`campaigns/${campaign_id}`)

  assert.deepEqual((await me.get(`line_items/${line_item_id}/servability`)).data.reasons_not_servable, ['DELETED'])
  const path = `funding_instruments/${me.fundingInstrumentId}/servability`
  assert.equal((await me.get(path)).data.able_to_fund, true)
  clock.offsetMs += 2 * HOUR
  assert.deepEqual((await me.get(path)).data.reasons, [
    { reason: 'EXPIRED', explanation: 'The end_time of the funding instrument has passed.' }
  ])
  clock.offsetMs -= 2 * HOUR
})
