/** What hangs on a line item: promoted posts and accounts, media creatives, curated categories, tracking tags. */
import assert from 'node:assert/strict'
import { after, test } from 'node:test'
import { startApp } from '../../test/app.ts'
import { codes, givenAdvertiser, givenLineItem, type Json } from '../../test/given-ads.ts'

const app = await startApp({ after })
const me = await givenAdvertiser(app)
const UNITED_STATES = '96683cc9126741d1'
const ids = (answer: Json) => answer.data.map((row: Json) => row.id)
const followers = { objective: 'FOLLOWERS', product_type: 'PROMOTED_ACCOUNT' }
const preroll = { objective: 'PREROLL_VIEWS', product_type: 'MEDIA', categories: 'IAB7' }

const media = async (creative_type: string) =>
  (await me.get('account_media', { creative_types: creative_type })).data[0] as { id: string }

test('promotes posts in a list with a total_count, and echoes their ids as numbers', async () => {
  const { id: line_item_id } = await givenLineItem(me)
  const tweets = ['822333526255120384', '9007199254740993']

  const answer = await app.apps.main.inject({
    method: 'POST',
    url: `/12/accounts/${me.accountId}/promoted_tweets?line_item_id=${line_item_id}&tweet_ids=${tweets}`,
    headers: { authorization: `Bearer ${me.token}` }
  })

  const { data, total_count, next_cursor } = answer.json()
  assert.equal(total_count, 2)
  assert.equal(next_cursor, null)
  assert.deepEqual(
    data.map((row: Json) => row.tweet_id),
    tweets
  )
  assert.deepEqual(Object.keys(data[0]).sort(), [
    'approval_status',
    'created_at',
    'deleted',
    'entity_status',
    'id',
    'line_item_id',
    'tweet_id',
    'updated_at'
  ])
  assert.ok(answer.body.includes(`"tweet_ids":[${tweets}]`), answer.body)
})

test('promotes a post once per line item, and revives its id after a delete', async () => {
  const { id: line_item_id } = await givenLineItem(me)
  const promote = async () => (await me.post('promoted_tweets', { line_item_id, tweet_ids: '7' })).data[0]
  const first = await promote()

  assert.deepEqual(await promote(), first)
  assert.equal((await me.delete(`promoted_tweets/${first.id}`)).data.deleted, true)
  assert.equal((await me.delete(`promoted_tweets/${first.id}`)).status, 404)
  const revived = await promote()
  assert.equal(revived.id, first.id)
  assert.equal(revived.deleted, false)
})

test('refuses more than 50 posts, what is no post id, and line items for something else', async () => {
  const { id: line_item_id } = await givenLineItem(me)
  const post = (input: Json) => me.post('promoted_tweets', { line_item_id, ...input })
  const accounts = await givenLineItem(me, followers)

  assert.deepEqual(codes(await post({ tweet_ids: Array.from({ length: 51 }, (_, i) => i + 1) })), [
    'INVALID_PARAMETER tweet_ids'
  ])
  const wrong = await post({ tweet_ids: 'abc' })
  assert.equal(wrong.body.errors[0].message, 'Expected Long, got "abc" for tweet_ids')
  assert.deepEqual(codes(await post({})), ['MISSING_PARAMETER tweet_ids'])
  assert.deepEqual(codes(await post({ tweet_ids: 1, line_item_id: accounts.id })), [
    'INCOMPATIBLE_LINE_ITEM line_item_id'
  ])
  assert.deepEqual(codes(await post({ tweet_ids: 1, line_item_id: 'zzzz' })), ['LINE_ITEM_NOT_FOUND'])
  assert.equal((await me.put('promoted_tweets/zzzz', {})).status, 405)
})

test('the promoted posts of a deleted line item are not deleted, and show only with with_deleted', async () => {
  const { id: line_item_id } = await givenLineItem(me)
  const [post] = (await me.post('promoted_tweets', { line_item_id, tweet_ids: '8' })).data

  await me.delete(`line_items/${line_item_id}`)

  const list = (query: Json) => me.get('promoted_tweets', { line_item_ids: line_item_id, ...query })
  assert.deepEqual((await list({})).data, [])
  assert.equal((await me.get(`promoted_tweets/${post.id}`)).status, 404)
  assert.deepEqual((await list({ with_deleted: true })).data, [post])
  assert.deepEqual((await me.get(`promoted_tweets/${post.id}`, { with_deleted: true })).data, post)
  assert.equal(post.deleted, false)
})

test('promotes an account once, however often it is asked', async () => {
  const { id: line_item_id } = await givenLineItem(me, followers)
  const promote = () => me.post('promoted_accounts', { line_item_id, user_id: me.userId })

  const first = await promote()
  const second = await promote()

  assert.equal(first.status, 200, JSON.stringify(first.body))
  assert.deepEqual(second.data, first.data)
  assert.deepEqual(first.body.request.params, { line_item_id, user_id: me.userId, account_id: me.accountId })
  assert.deepEqual(Object.keys(first.data).sort(), [
    'approval_status',
    'created_at',
    'deleted',
    'entity_status',
    'id',
    'line_item_id',
    'updated_at',
    'user_id'
  ])
  assert.deepEqual(ids(await me.get('promoted_accounts', { line_item_ids: line_item_id })), [first.data.id])
  assert.equal((await me.delete(`promoted_accounts/${first.data.id}`)).data.deleted, true)
  assert.equal((await me.delete(`promoted_accounts/${first.data.id}`)).status, 404)
  assert.notEqual((await promote()).data.id, first.data.id)
  assert.equal((await me.put(`promoted_accounts/${first.data.id}`, {})).status, 405, 'cannot be updated with PUT')
})

test('refuses to promote with a line item for posts, or a user that is ineligible', async () => {
  const posts = await givenLineItem(me)
  const accounts = await givenLineItem(me, followers)

  const wrongLineItem = await me.post('promoted_accounts', { line_item_id: posts.id, user_id: me.userId })
  const wrongUser = await me.post('promoted_accounts', { line_item_id: accounts.id, user_id: '12' })

  assert.equal(wrongLineItem.status, 400)
  assert.deepEqual(codes(wrongLineItem), ['INCOMPATIBLE_LINE_ITEM line_item_id'])
  assert.equal(wrongUser.status, 400)
  assert.deepEqual(codes(wrongUser), ['INVALID_USER_ID user_id'])
  assert.deepEqual(
    (await me.get('promoted_accounts', { line_item_ids: accounts.id })).data,
    [],
    'no users are promoted'
  )
})

test('a list of promoted accounts for none but incompatible line items is a 400', async () => {
  const posts = await givenLineItem(me)
  const accounts = await givenLineItem(me, followers)

  const none = await me.get('promoted_accounts', { line_item_ids: posts.id })

  assert.equal(none.status, 400)
  assert.equal((await me.get('promoted_accounts', { line_item_ids: `${posts.id},${accounts.id}` })).status, 200)
  assert.equal((await me.get('promoted_accounts', { line_item_ids: 'zzzz' })).status, 200)
})

test('attaches account media to a line item, with ten keys', async () => {
  const { id: line_item_id, campaign_id } = await givenLineItem(me, preroll)
  const video = await media('PREROLL')

  const { status, data, body } = await me.post('media_creatives', {
    line_item_id,
    account_media_id: video.id,
    landing_url: 'https://example.com/ignored-for-preroll'
  })

  assert.equal(status, 200, JSON.stringify(body))
  assert.deepEqual(Object.keys(data).sort(), [
    'account_media_id',
    'approval_status',
    'created_at',
    'creative_type',
    'deleted',
    'entity_status',
    'id',
    'landing_url',
    'line_item_id',
    'updated_at'
  ])
  assert.equal(data.creative_type, 'PREROLL')
  assert.equal(data.landing_url, null)
  assert.deepEqual(ids(await me.get('media_creatives', { campaign_id })), [data.id])
  assert.deepEqual(ids(await me.get('media_creatives', { campaign_id: 'zzzz' })), [])
  assert.deepEqual(ids(await me.get('media_creatives', { line_item_ids: line_item_id })), [data.id])
  assert.deepEqual(ids(await me.get('media_creatives', { media_creative_ids: data.id })), [data.id])
  assert.deepEqual((await me.get(`media_creatives/${data.id}`)).data, data)
  assert.equal((await me.delete(`media_creatives/${data.id}`)).data.deleted, true)
  assert.deepEqual(codes(await me.delete(`media_creatives/${data.id}`)), ['MEDIA_CREATIVE_NOT_FOUND'])
})

test('an image needs a landing_url when the objective is WEBSITE_CLICKS', async () => {
  const input = {
    line_item_id: (await givenLineItem(me, { objective: 'WEBSITE_CLICKS' })).id,
    account_media_id: (await media('BANNER')).id
  }

  const url = 'https://example.com/landing'
  assert.deepEqual(codes(await me.post('media_creatives', input)), ['MISSING_PARAMETER landing_url'])
  assert.deepEqual(codes(await me.post('media_creatives', { ...input, landing_url: 'nonsense' })), [
    'INVALID landing_url'
  ])
  assert.equal((await me.post('media_creatives', { ...input, landing_url: url })).data.landing_url, url)
  assert.deepEqual(codes(await me.post('media_creatives', { ...input, account_media_id: 'zzzz' })), [
    'ACCOUNT_MEDIA_NOT_FOUND'
  ])
  assert.deepEqual(codes(await me.post('media_creatives', { ...input, line_item_id: 'zzzz' })), ['LINE_ITEM_NOT_FOUND'])
  assert.deepEqual(codes(await me.post('media_creatives', {})), [
    'MISSING_PARAMETER account_media_id',
    'MISSING_PARAMETER line_item_id'
  ])
})

test('account media are read and deleted, but not made', async () => {
  const other = await givenAdvertiser(app)
  const { data } = await other.get('account_media')

  assert.equal(data.length, 3)
  assert.ok(data.every((row: Json) => (row.video_id === null) !== (row.media_url === null)))
  assert.deepEqual(Object.keys(data[0]).sort(), [
    'created_at',
    'creative_type',
    'deleted',
    'id',
    'media_key',
    'media_url',
    'updated_at',
    'video_id'
  ])
  assert.equal((await other.post('account_media', {})).status, 405)
  assert.equal((await other.delete(`account_media/${data[0].id}`)).data.deleted, true)
  assert.deepEqual(codes(await other.get(`account_media/${data[0].id}`)), ['ACCOUNT_MEDIA_NOT_FOUND'])
})

test('promotable users: the owner in full', async () => {
  const { data } = await me.get('promotable_users')
  assert.deepEqual(
    data.map((row: Json) => [row.user_id, row.promotable_user_type]),
    [[me.userId, 'FULL']]
  )
  assert.deepEqual(Object.keys(data[0]).sort(), [
    'created_at',
    'deleted',
    'id',
    'promotable_user_type',
    'updated_at',
    'user_id'
  ])
  assert.deepEqual((await me.get(`promotable_users/${data[0].id}`)).data, data[0])
  assert.deepEqual(codes(await me.get('promotable_users/zzzz')), ['PROMOTABLE_USER_NOT_FOUND'])
})

test('a line item runs in at most one curated category, of a country that it targets', async () => {
  const { id: line_item_id } = await givenLineItem(me, preroll)
  const [first, second] = (await me.get('curated_categories', { country_codes: 'US' })).data
  const post = (curated_category_id: string) =>
    me.post('line_item_curated_categories', { line_item_id, curated_category_id })

  assert.deepEqual(codes(await post(first.id)), ['INVALID curated_category_id'], 'targets no country yet')
  await me.post('targeting_criteria', { line_item_id, targeting_type: 'LOCATION', targeting_value: UNITED_STATES })
  const { data } = await post(first.id)
  assert.deepEqual(Object.keys(data).sort(), [
    'created_at',
    'curated_category_id',
    'deleted',
    'id',
    'line_item_id',
    'updated_at'
  ])
  assert.deepEqual(codes(await post(second.id)), ['INVALID line_item_id'])
  const path = `line_item_curated_categories/${data.id}`
  assert.deepEqual((await me.get(path)).data, data)
  assert.deepEqual((await me.put(path, data)).data, data, 'sent back unchanged')
  const changed = await me.put(path, { curated_category_id: second.id })
  assert.equal(changed.data.curated_category_id, second.id)
  assert.equal(changed.data.deleted, false)
  assert.equal((await me.delete(path)).data.deleted, true)
  assert.equal((await me.delete(path)).status, 404)
  assert.equal((await post(first.id)).status, 200, 'room again')
  assert.deepEqual(codes(await post('zzzz')), ['NOT_FOUND curated_category_id'])
  assert.deepEqual(codes(await me.post('line_item_curated_categories', {})), [
    'MISSING_PARAMETER curated_category_id',
    'MISSING_PARAMETER line_item_id'
  ])
})

test('curated and content categories are exclusive', async () => {
  const { id: line_item_id } = await givenLineItem(me, preroll)
  const [category] = (await me.get('curated_categories', { country_codes: 'US' })).data
  const content = {
    operation_type: 'Create',
    params: { line_item_id, targeting_type: 'IAB_CATEGORY', targeting_value: 'IAB2' }
  }
  const batch = () => me.post(`/batch/accounts/${me.accountId}/targeting_criteria`, [content])
  await me.post('targeting_criteria', { line_item_id, targeting_type: 'LOCATION', targeting_value: UNITED_STATES })

  const criterion = (await batch()).data[0]
  const refused = await me.post('line_item_curated_categories', { line_item_id, curated_category_id: category.id })
  await me.delete(`targeting_criteria/${criterion.id}`)
  await me.post('line_item_curated_categories', { line_item_id, curated_category_id: category.id })

  assert.deepEqual(codes(refused), ['INVALID curated_category_id'])
  assert.equal((await batch()).status, 400)
})

test('tracking tags have a type that stays and a URL that may change', async () => {
  const { id: line_item_id } = await givenLineItem(me)
  const input = { line_item_id, tracking_tag_type: 'IMPRESSION_TAG', tracking_tag_url: 'https://tags.example.com/1' }
  const { data } = await me.post('tracking_tags', input)
  const path = `tracking_tags/${data.id}`

  assert.deepEqual(Object.keys(data).sort(), [
    'created_at',
    'deleted',
    'id',
    'line_item_id',
    'tracking_tag_type',
    'tracking_tag_url',
    'updated_at'
  ])
  assert.deepEqual((await me.put(path, data)).data, data, 'sent back unchanged')
  const changed = await me.put(path, {
    tracking_tag_url: 'https://tags.example.com/2',
    tracking_tag_type: 'CLICK_TRACKER'
  })
  assert.equal(changed.data.tracking_tag_url, 'https://tags.example.com/2')
  assert.equal(changed.data.tracking_tag_type, 'IMPRESSION_TAG')
  assert.deepEqual(codes(await me.put(path, {})), ['MISSING_PARAMETER tracking_tag_url'])
  assert.deepEqual(codes(await me.put(path, { tracking_tag_url: 'ftp://x' })), ['INVALID tracking_tag_url'])
  assert.deepEqual(codes(await me.post('tracking_tags', { ...input, tracking_tag_type: 'PIXEL' })), [
    'INVALID_PARAMETER tracking_tag_type'
  ])
  assert.equal((await me.post('tracking_tags', { ...input, tracking_tag_type: 'CLICK_TRACKER' })).status, 200)
  assert.equal((await me.get('tracking_tags', { line_item_ids: line_item_id })).data.length, 2)
  assert.deepEqual(ids(await me.get('tracking_tags', { tracking_tag_ids: data.id })), [data.id])
  assert.equal((await me.delete(path)).data.deleted, true)
  assert.deepEqual(codes(await me.get(path)), ['NOT_FOUND'])
})
