import assert from 'node:assert/strict'
import { after, test } from 'node:test'
import { startApp } from '../../test/app.ts'
import { givenAdvertiser, givenCampaign, givenLineItem, givenUser, type Json } from '../../test/given-ads.ts'

const app = await startApp({ after })

async function admin(method: string, url: string, payload?: Json) {
  const response = await app.apps.main.inject({
    method: method as 'GET',
    url: `/admin${url}`,
    headers: { authorization: `Bearer ${app.adminToken}` },
    ...(payload === undefined ? {} : { payload })
  })
  return { status: response.statusCode, body: response.json(), data: response.json().data }
}

test('makes, lists, reads and changes ad accounts', async () => {
  const { user } = await givenUser(app)

  const made = await admin('POST', '/ad_accounts', {
    environment: 'production',
    owner_user_id: user.id,
    name: 'Made',
    timezone: 'Europe/Paris',
    features: ['AGE_TARGETING']
  })
  const path = `/ad_accounts/${made.data.id}`
  const changed = await admin('PUT', path, { active_campaigns_max: 8_000, approval_status: 'UNDER_REVIEW' })

  assert.equal(made.status, 200, JSON.stringify(made.body))
  assert.equal(made.data.active_campaigns_max, 200)
  assert.equal(changed.data.active_campaigns_max, 8_000)
  assert.deepEqual((await admin('GET', path)).data, changed.data)
  assert.ok(
    (await admin('GET', '/ad_accounts?environment=production')).data.some((row: Json) => row.id === made.data.id)
  )
  assert.ok(
    (await admin('GET', '/ad_accounts?environment=sandbox')).data.every((row: Json) => row.environment === 'sandbox')
  )
  assert.deepEqual((await admin('GET', `${path}/features`)).data, ['AGE_TARGETING'])
  assert.deepEqual((await admin('PUT', `${path}/features`, { feature_keys: ['WEBSITE_CLICKS_CPM_BILLING'] })).data, [
    'WEBSITE_CLICKS_CPM_BILLING'
  ])
})

test('refuses what an account cannot be', async () => {
  const { user } = await givenUser(app)
  const post = (more: Json) =>
    admin('POST', '/ad_accounts', { environment: 'production', owner_user_id: user.id, ...more })

  assert.equal((await post({ timezone: 'Mars/Olympus' })).status, 400)
  assert.equal((await post({ features: ['FLYING'] })).status, 400)
  assert.equal((await post({ owner_user_id: '404' })).status, 404)
  assert.equal((await post({ environment: 'moon' })).status, 400)
  assert.equal((await admin('GET', '/ad_accounts/zzzz')).status, 404)
  const { data } = await post({})
  assert.equal((await admin('PUT', `/ad_accounts/${data.id}`, { active_campaigns_max: 8_001 })).status, 400)
})

test('funding instruments of production accounts: made, paused and spent by the operator', async () => {
  const me = await givenAdvertiser(app)
  const path = `/ad_accounts/${me.accountId}/funding_instruments`

  const { data, body } = await admin('POST', path, {
    type: 'INSERTION_ORDER',
    currency: 'USD',
    start_time: '2020-01-01T00:00:00Z',
    funded_amount_local_micro: '5000000'
  })
  assert.ok(data, JSON.stringify(body))
  await admin('PUT', `${path}/${data.id}`, { spend_local_micro: 5_000_000 })

  const read = (await me.get(`funding_instruments/${data.id}`)).data
  assert.equal(read.funded_amount_local_micro, 5_000_000)
  assert.deepEqual(read.reasons_not_able_to_fund, ['BUDGET_EXHAUSTED'])
  await admin('PUT', `${path}/${data.id}`, { spend_local_micro: '0', entity_status: 'PAUSED' })
  assert.deepEqual((await me.get(`funding_instruments/${data.id}`)).data.reasons_not_able_to_fund, ['PAUSED'])
  assert.equal((await admin('PUT', `${path}/zzzz`, { entity_status: 'PAUSED' })).status, 404)
})

test('spend and reviews show in what serves, without touching the entity', async () => {
  const me = await givenAdvertiser(app)
  const campaign = await givenCampaign(me, { total_budget_amount_local_micro: 200_000_000 })
  const { id: line_item_id } = await givenLineItem(me, { campaign_id: campaign.id })
  const [post] = (await me.post('promoted_tweets', { line_item_id, tweet_ids: '1' })).data
  const base = `/ad_accounts/${me.accountId}`
  const reasons = async () => (await me.get(`campaigns/${campaign.id}`)).data.reasons_not_servable

  assert.deepEqual(await reasons(), [])
  await admin('PUT', `${base}/campaigns/${campaign.id}/spend`, { spend_local_micro: 200_000_000 })
  assert.deepEqual(await reasons(), ['BUDGET_EXHAUSTED'])
  assert.equal((await me.get(`campaigns/${campaign.id}`)).data.updated_at, campaign.updated_at)
  await admin('PUT', `${base}/campaigns/${campaign.id}/spend`, { spend_local_micro: 0 })
  const reviewed = await admin('PUT', `${base}/promoted_tweets/${post.id}/review`, { approval_status: 'REJECTED' })
  assert.equal(reviewed.data.approval_status, 'REJECTED')
  assert.deepEqual(await reasons(), ['CONTENT_REVIEW_PROBLEM'])
  assert.equal((await me.get(`promoted_tweets/${post.id}`)).data.approval_status, 'REJECTED')
  await admin('PUT', `${base}/promoted_tweets/${post.id}/review`, { approval_status: 'UNDER_REVIEW' })
  assert.deepEqual(await reasons(), ['CONTENT_REVIEW_PROBLEM'])
  const history = await app.deps.database.db
    .selectFrom('account_history')
    .select(['platform', 'change_type', 'changes'])
    .where('entity_id', '=', post.id)
    .orderBy('id')
    .execute()
  assert.deepEqual(history.slice(1, 2), [
    {
      platform: 'OPERATOR',
      change_type: 'UPDATE',
      changes: { approval_status: { from: 'ACCEPTED', to: 'REJECTED' } } as never
    }
  ])
})

test('adds and removes promotable users, apps and media', async () => {
  const me = await givenAdvertiser(app, { samples: false })
  const base = `/ad_accounts/${me.accountId}`

  const user = await admin('POST', `${base}/promotable_users`, { user_id: '77' })
  const media = await admin('POST', `${base}/account_media`, {
    creative_type: 'BANNER',
    media_url: 'https://media.example.com/1.png'
  })
  const shop = await admin('POST', `${base}/account_apps`, {
    app_store_identifier: 'com.example.shop',
    os_type: 'Android'
  })

  assert.equal(user.status, 200, JSON.stringify(user.body))
  assert.equal((await admin('POST', `${base}/promotable_users`, { user_id: '77' })).status, 409)
  assert.equal((await me.get(`promotable_users/${user.data.id}`)).data.promotable_user_type, 'RETWEETS_ONLY')
  assert.equal((await me.get(`account_media/${media.data.id}`)).data.creative_type, 'BANNER')
  assert.equal((await me.get('account_apps')).data[0].id, shop.data.id)
  assert.equal((await admin('POST', `${base}/account_media`, { creative_type: 'BANNER' })).status, 400)
  assert.equal((await admin('DELETE', `${base}/promotable_users/${user.data.id}`)).data.deleted, true)
  assert.equal((await me.get('promotable_users')).data.length, 1)
})

test('replaces reference rows and gives the shipped ones back', async () => {
  const me = await givenAdvertiser(app)
  const own = [{ id: 'x1', name: 'Own', iab_categories: ['IAB7'] }]

  const put = await admin('PUT', '/reference/advertiser_business_categories', { rows: own })

  assert.deepEqual(put.data, own)
  assert.deepEqual((await me.get('/advertiser_business_categories')).data, own)
  const kinds = (await admin('GET', '/reference')).data
  assert.deepEqual(
    kinds.filter((row: Json) => row.origin === 'operator').map((row: Json) => [row.kind, row.rows]),
    [['advertiser_business_categories', 1]]
  )
  assert.equal((await admin('DELETE', '/reference/advertiser_business_categories')).data.length, 16)
  assert.equal((await admin('GET', '/reference/iab_categories')).data.length, 392)
  assert.equal((await admin('PUT', '/reference/industry_types', { rows: [{ id: 3 }] })).status, 400)
  assert.equal((await admin('PUT', '/reference/moons', { rows: [] })).status, 400)
})
