import assert from 'node:assert/strict'
import { after, test } from 'node:test'
import { startApp } from '../../test/app.ts'
import {
  type Advertiser,
  caller,
  codes,
  givenAdvertiser,
  givenCampaign,
  givenLineItem,
  givenUser,
  type Json,
  verbs
} from '../../test/given-ads.ts'
import { disallow, grantAccountAccess } from '../identity/index.ts'

const app = await startApp({ after })
const { db } = app.deps.database
const HOUR = 3_600_000
const hour = (ms: number) => new Date(Math.floor(ms / HOUR) * HOUR).toISOString()
const window = () => ({ start_time: hour(app.deps.clock.now()), end_time: hour(app.deps.clock.now() + 2 * HOUR) })
const me = await givenAdvertiser(app, { environment: 'sandbox' })

const history = (of: Advertiser, entity_type: string, entity_id: string, more: Json = {}) =>
  of.get('account_history', { entity_type, entity_id, ...window(), ...more })

test('a campaign’s history: who, when, what changed from and to, and the snapshot', async () => {
  const campaign = await givenCampaign(me, { total_budget_amount_local_micro: 500_000_000 })
  await me.put(`campaigns/${campaign.id}`, { name: 'renamed', total_budget_amount_local_micro: '' })
  await me.put(`campaigns/${campaign.id}`, { name: 'renamed' })
  await me.delete(`campaigns/${campaign.id}`)

  const { status, data, body } = await history(me, 'CAMPAIGN', campaign.id)

  assert.equal(status, 200, JSON.stringify(body))
  assert.deepEqual(
    data.map((item: Json) => item.change_type),
    ['CREATE', 'UPDATE', 'DELETE'],
    'no change, no entry'
  )
  assert.deepEqual(Object.keys(data[0]).sort(), [
    'change_by',
    'change_time',
    'change_type',
    'changes',
    'entity',
    'entity_data',
    'entity_id'
  ])
  assert.deepEqual(data[0].change_by, { user_id: me.userId, platform: 'API_OTHER' })
  assert.deepEqual(data[0].changes, {})
  assert.deepEqual(data[1].changes, {
    name: { from: 'demo', to: 'renamed' },
    total_budget_amount_local_micro: { from: 500_000_000, to: null }
  })
  assert.deepEqual(data[2].changes, { deleted: { from: false, to: true } })
  for (const key of [
    'name',
    'start_time',
    'end_time',
    'purchase_order_number',
    'daily_budget_amount_local_micro',
    'total_budget_amount_local_micro',
    'duration_in_days',
    'standard_delivery',
    'entity_status',
    'frequency_cap',
    'created_at',
    'updated_at',
    'deleted'
  ]) {
    assert.ok(key in data[0].entity_data, key)
  }
  assert.equal(data[0].entity_data.total_budget_amount_local_micro, 500_000_000)
  assert.match(data[0].change_time, /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\dZ$/)
  assert.equal(body.request.params.entity, 'CAMPAIGN')
  assert.equal(body.next_cursor, null)
})

test('all five kinds of entities have one', async () => {
  const lineItem = await givenLineItem(me, { name: 'li' })
  const [tweet] = (await me.post('promoted_tweets', { line_item_id: lineItem.id, tweet_ids: '1' })).data
  const followers = await givenLineItem(me, { objective: 'FOLLOWERS', product_type: 'PROMOTED_ACCOUNT' })
  const account = (await me.post('promoted_accounts', { line_item_id: followers.id, user_id: me.userId })).data
  const criterion = (
    await me.post('targeting_criteria', { line_item_id: lineItem.id, targeting_type: 'GENDER', targeting_value: '1' })
  ).data
  await me.put(`line_items/${lineItem.id}`, { audience_expansion: 'BROAD', placements: 'SVC_TIMELINE' })
  await me.delete(`promoted_tweets/${tweet.id}`)
  await me.post('promoted_tweets', { line_item_id: lineItem.id, tweet_ids: '1' })
  await me.delete(`promoted_accounts/${account.id}`)
  await me.delete(`targeting_criteria/${criterion.id}`)

  const types = async (entity: string, id: string) =>
    (await history(me, entity, id)).data.map((item: Json) => item.change_type)

  assert.deepEqual(await types('LINE_ITEM', lineItem.id), ['CREATE', 'UPDATE'])
  assert.deepEqual(await types('PROMOTED_TWEET', tweet.id), ['CREATE', 'DELETE', 'UPDATE'])
  assert.deepEqual(await types('PROMOTED_ACCOUNT', account.id), ['CREATE', 'DELETE'])
  assert.deepEqual(await types('TARGETING_CRITERIA', criterion.id), ['CREATE', 'DELETE'])
  const changes = (await history(me, 'LINE_ITEM', lineItem.id)).data[1].changes
  assert.deepEqual(changes, { audience_expansion: { from: null, to: 'BROAD' } })
})

test('what fails or is only validated leaves no trace, and a batch leaves one per item', async () => {
  const campaign = await givenCampaign(me)
  const path = `/batch/accounts/${me.accountId}/campaigns`
  const rename = (name: string) => ({ operation_type: 'Update', params: { campaign_id: campaign.id, name } })

  await me.put(`campaigns/${campaign.id}`, { name: 'x', validate_only: true })
  await me.post(path, [rename('y'), rename('')])
  await me.post(path, [rename('one'), rename('two')])

  const { data } = await history(me, 'CAMPAIGN', campaign.id)
  assert.deepEqual(
    data.map((item: Json) => item.entity_data.name),
    ['demo', 'one', 'two']
  )
})

test('money beyond 2^53 is as exact in history as in the entity', async () => {
  const amount = 9_007_199_254_740_990_000n
  const { id } = (
    await me.post('campaigns', {
      name: 'big',
      funding_instrument_id: me.fundingInstrumentId,
      daily_budget_amount_local_micro: amount.toString()
    })
  ).data

  const url = `/12/accounts/${me.accountId}/account_history?${new URLSearchParams({ entity_type: 'CAMPAIGN', entity_id: id, ...window() })}`
  const { body } = await app.apps.sandbox.inject({ url, headers: { authorization: `Bearer ${me.token}` } })

  assert.match(body, /"daily_budget_amount_local_micro":9007199254740990000,/)
})

test('filters by user and pages', async () => {
  const { id } = await givenCampaign(me)
  const { user, token } = await givenUser(app)
  await grantAccountAccess(db, { account_id: me.accountId, user_id: user.id, permissions: ['AD_MANAGER'] }, new Date())
  const colleague = verbs(caller(app, 'sandbox', token, me.accountId))
  await colleague.put(`campaigns/${id}`, { name: 'by a colleague' })

  assert.equal((await history(me, 'CAMPAIGN', id, { user_id: user.id })).data[0].changes.name.to, 'by a colleague')
  const first = await history(me, 'CAMPAIGN', id, { count: 1 })
  const second = await history(me, 'CAMPAIGN', id, { count: 1, cursor: first.body.next_cursor })
  assert.deepEqual([first.data[0].change_type, second.data[0].change_type], ['CREATE', 'UPDATE'])
  assert.equal(second.body.next_cursor, null)
  assert.deepEqual(codes(await history(me, 'CAMPAIGN', id, { count: 2, cursor: 'x' })), ['INVALID_PARAMETER cursor'])
})

test('windows are whole hours and contain their start but not their end', async () => {
  const { id } = await givenCampaign(me)
  const now = app.deps.clock.now()
  const count = async (from: number, to: number) =>
    (await history(me, 'CAMPAIGN', id, { start_time: hour(from), end_time: hour(to) })).data.length

  assert.equal(await count(now, now + HOUR), 1)
  assert.equal(await count(now - HOUR, now), 0)
  assert.equal(await count(now + HOUR, now + 2 * HOUR), 0)
  const refused = async (more: Json) => codes(await history(me, 'CAMPAIGN', id, more))
  assert.deepEqual(await refused({ start_time: '2026-01-01T10:30:00Z' }), ['INVALID_PARAMETER start_time'])
  assert.deepEqual(await refused({ end_time: '2026-01-01T10:00:01Z' }), ['INVALID_PARAMETER end_time'])
  assert.deepEqual(await refused({ end_time: '2020-01-01' }), ['INVALID_TIME_WINDOW end_time'])
  assert.deepEqual(await refused({ entity_type: 'AD' }), ['INVALID_PARAMETER entity_type'])
  assert.deepEqual(codes(await me.get('account_history')), [
    'MISSING_PARAMETER entity_type',
    'MISSING_PARAMETER entity_id',
    'MISSING_PARAMETER start_time',
    'MISSING_PARAMETER end_time'
  ])
})

test('is a beta: only for accounts on the allow-list', async () => {
  const production = await givenAdvertiser(app)
  const { id } = await givenCampaign(production)
  const answer = await history(production, 'CAMPAIGN', id)
  assert.equal(answer.status, 400)
  assert.deepEqual(codes(answer), ['FEATURE_NOT_AVAILABLE'])

  const other = await givenAdvertiser(app, { environment: 'sandbox' })
  await disallow(db, { list: 'account_history', subject_kind: 'account', subject_id: other.accountId })
  assert.deepEqual(codes(await history(other, 'CAMPAIGN', 'zzzz')), ['FEATURE_NOT_AVAILABLE'])
})

test('a line item’s history with its children: targeting and promoted posts among its own changes', async () => {
  const lineItem = await givenLineItem(me)
  const other = await givenLineItem(me)
  const criterion = { line_item_id: lineItem.id, targeting_type: 'LANGUAGE', targeting_value: 'en' }
  const { data: added } = await me.post('targeting_criteria', criterion)
  await me.post('targeting_criteria', { ...criterion, line_item_id: other.id })
  await me.post('promoted_tweets', { line_item_id: lineItem.id, tweet_ids: '20' })
  await me.put(`line_items/${lineItem.id}`, { name: 'renamed' })
  await me.delete(`targeting_criteria/${added.id}`)
  const kinds = ({ data }: { data: Json }) => data.map((item: Json) => `${item.entity} ${item.change_type}`)

  const family = await history(me, 'LINE_ITEM', lineItem.id, { with_children: true, count: 3 })
  const rest = await history(me, 'LINE_ITEM', lineItem.id, {
    with_children: true,
    count: 3,
    cursor: family.body.next_cursor
  })

  assert.deepEqual(kinds(family), ['LINE_ITEM CREATE', 'TARGETING_CRITERIA CREATE', 'PROMOTED_TWEET CREATE'])
  assert.deepEqual(kinds(rest), ['LINE_ITEM UPDATE', 'TARGETING_CRITERIA DELETE'])
  assert.deepEqual(kinds(await history(me, 'LINE_ITEM', lineItem.id)), ['LINE_ITEM CREATE', 'LINE_ITEM UPDATE'])
})
