import assert from 'node:assert/strict'
import { after, test } from 'node:test'
import { startApp } from '../../test/app.ts'
import { codes, givenAdvertiser, givenCampaign, givenLineItem, type Json } from '../../test/given-ads.ts'
import { allow } from '../identity/index.ts'

const app = await startApp({ after })
const me = await givenAdvertiser(app, { features: ['REACH_FREQUENCY_CAP'] })

const KEYS = [
  'advertiser_domain',
  'advertiser_user_id',
  'android_app_store_identifier',
  'automatic_tweet_promotion',
  'bid_amount_local_micro',
  'bid_strategy',
  'campaign_id',
  'categories',
  'created_at',
  'creative_source',
  'currency',
  'daily_budget_amount_local_micro',
  'deleted',
  'duration_in_days',
  'end_time',
  'entity_status',
  'frequency_cap',
  'funding_instrument_id',
  'goal',
  'id',
  'ios_app_store_identifier',
  'name',
  'objective',
  'pay_by',
  'placements',
  'primary_web_event_tag',
  'product_type',
  'standard_delivery',
  'start_time',
  'target_cpa_local_micro',
  'total_budget_amount_local_micro',
  'updated_at'
]

/** What each objective of the document needs at least, and the defaults that follow from it. */
const OBJECTIVES: [objective: string, more: Json, goal: string, payBy: string][] = [
  ['APP_INSTALLS', { ios_app_store_identifier: '333903271' }, 'APP_INSTALLS', 'IMPRESSION'],
  ['APP_ENGAGEMENTS', { android_app_store_identifier: 'com.example.app' }, 'APP_CLICKS', 'APP_CLICK'],
  ['REACH', {}, 'MAX_REACH', 'IMPRESSION'],
  ['FOLLOWERS', { product_type: 'PROMOTED_ACCOUNT' }, 'FOLLOWERS', 'FOLLOW'],
  ['WEBSITE_CLICKS', {}, 'LINK_CLICKS', 'IMPRESSION'],
  ['VIDEO_VIEWS', {}, 'VIDEO_VIEW', 'VIEW'],
  ['PREROLL_VIEWS', { product_type: 'MEDIA', categories: 'IAB7' }, 'PREROLL', 'VIEW_3S_100PCT'],
  ['ENGAGEMENTS', {}, 'ENGAGEMENT', 'ENGAGEMENT']
]
const needs = Object.fromEntries(OBJECTIVES.map(([objective, more]) => [objective, more]))

const one = (objective: string, more: Json = {}) => givenLineItem(me, { objective, ...needs[objective], ...more })

for (const [objective, more, goal, payBy] of OBJECTIVES) {
  test(`creates a line item for ${objective} with all 32 keys and its defaults`, async () => {
    const campaign = await givenCampaign(me)
    const { status, data, body } = await me.post('line_items', {
      campaign_id: campaign.id,
      objective,
      placements: 'ALL_ON_SVC',
      product_type: 'PROMOTED_TWEETS',
      ...more
    })

    assert.equal(status, 200, JSON.stringify(body))
    assert.deepEqual(Object.keys(data).sort(), KEYS)
    assert.equal(data.goal, goal)
    assert.equal(data.pay_by, payBy)
    assert.equal(data.bid_strategy, 'AUTO')
    assert.equal(data.entity_status, 'ACTIVE')
    assert.equal(data.creative_source, 'MANUAL')
    assert.equal(data.currency, 'USD')
    assert.equal(data.funding_instrument_id, me.fundingInstrumentId)
    assert.equal(data.campaign_id, campaign.id)
    assert.equal(data.advertiser_user_id, me.userId)
    assert.deepEqual(data.placements, ['ALL_ON_SVC'])
    assert.deepEqual(body.request.params.placements, ['ALL_ON_SVC'])
    assert.deepEqual((await me.get(`line_items/${data.id}`)).data, data)
    assert.deepEqual((await me.put(`line_items/${data.id}`, data)).data, data, 'sent back unchanged')
  })
}

test('needs campaign_id, objective, placements and product_type', async () => {
  assert.deepEqual(codes(await me.post('line_items', {})), [
    'MISSING_PARAMETER campaign_id',
    'MISSING_PARAMETER objective',
    'MISSING_PARAMETER placements',
    'MISSING_PARAMETER product_type'
  ])
  const unknown = await me.post('line_items', {
    campaign_id: 'zzzz',
    objective: 'ENGAGEMENTS',
    placements: 'ALL_ON_SVC',
    product_type: 'PROMOTED_TWEETS'
  })
  assert.equal(unknown.status, 404)
  assert.deepEqual(codes(unknown), ['CAMPAIGN_NOT_FOUND campaign_id'])
})

/** The document's table of update parameters, row by row: what is refused, on a line item of which objective. */
const refusals: [row: string, objective: string, given: Json, update: Json, codes: string[]][] = [
  [
    'advertiser_domain: without protocol',
    'ENGAGEMENTS',
    {},
    { advertiser_domain: 'https://example.com' },
    ['INVALID advertiser_domain']
  ],
  [
    'advertiser_user_id: only by certain client applications',
    'PREROLL_VIEWS',
    {},
    { advertiser_user_id: '12' },
    ['INVALID_PARAMETER advertiser_user_id']
  ],
  [
    'android and ios identifiers: at least one of the two',
    'APP_INSTALLS',
    {},
    { ios_app_store_identifier: '' },
    ['MISSING_PARAMETER android_app_store_identifier']
  ],
  [
    'audience_expansion: BROAD, DEFINED, EXPANDED',
    'ENGAGEMENTS',
    {},
    { audience_expansion: 'HUGE' },
    ['INVALID_PARAMETER audience_expansion']
  ],
  [
    'bid_amount_local_micro: required for MAX',
    'ENGAGEMENTS',
    {},
    { bid_strategy: 'MAX' },
    ['MISSING_PARAMETER bid_amount_local_micro']
  ],
  [
    'bid_amount_local_micro: required for TARGET',
    'WEBSITE_CLICKS',
    {},
    { bid_strategy: 'TARGET' },
    ['MISSING_PARAMETER bid_amount_local_micro']
  ],
  [
    'bid_amount_local_micro: only values above zero',
    'ENGAGEMENTS',
    {},
    { bid_strategy: 'MAX', bid_amount_local_micro: 0 },
    ['INVALID_PARAMETER bid_amount_local_micro']
  ],
  [
    'bid_strategy: MAX is unavailable for REACH',
    'REACH',
    {},
    { bid_strategy: 'MAX', bid_amount_local_micro: 1_000_000 },
    ['INVALID bid_strategy']
  ],
  [
    'bid_strategy: MAX is unavailable for FOLLOWERS',
    'FOLLOWERS',
    {},
    { bid_strategy: 'MAX', bid_amount_local_micro: 1_000_000 },
    ['INVALID bid_strategy']
  ],
  [
    'bid_strategy: TARGET is for REACH and WEBSITE_CLICKS',
    'ENGAGEMENTS',
    {},
    { bid_strategy: 'TARGET', bid_amount_local_micro: 1_000_000 },
    ['INVALID bid_strategy']
  ],
  ['categories: IAB categories', 'ENGAGEMENTS', {}, { categories: 'IAB99' }, ['INVALID_IAB_CATEGORY categories']],
  [
    'categories: one or two business categories for PREROLL_VIEWS',
    'PREROLL_VIEWS',
    {},
    { categories: '' },
    ['INVALID_PARAMETER categories']
  ],
  [
    'duration_in_days: 1, 7 or 30',
    'REACH',
    {},
    { frequency_cap: 3, duration_in_days: 2 },
    ['INVALID_PARAMETER duration_in_days']
  ],
  [
    'frequency_cap: not for FOLLOWERS',
    'FOLLOWERS',
    {},
    { frequency_cap: 3, duration_in_days: 7 },
    ['INVALID_PARAMETER frequency_cap']
  ],
  [
    'frequency_cap: not for WEBSITE_CLICKS',
    'WEBSITE_CLICKS',
    {},
    { frequency_cap: 3, duration_in_days: 7 },
    ['INVALID_PARAMETER frequency_cap']
  ],
  [
    'entity_status: ACTIVE or PAUSED',
    'ENGAGEMENTS',
    {},
    { entity_status: 'DRAFT' },
    ['INVALID_PARAMETER entity_status']
  ],
  ['start_time, end_time: ISO 8601', 'ENGAGEMENTS', {}, { start_time: 'soon' }, ['INVALID_PARAMETER start_time']],
  [
    'start_time, end_time: a window',
    'ENGAGEMENTS',
    { start_time: '2030-01-02' },
    { end_time: '2030-01-01' },
    ['INVALID_TIME_WINDOW end_time']
  ],
  [
    'goal: APP_PURCHASES is not for APP_ENGAGEMENTS',
    'APP_ENGAGEMENTS',
    {},
    { goal: 'APP_PURCHASES' },
    ['INVALID goal']
  ],
  ['goal: a value of the list', 'ENGAGEMENTS', {}, { goal: 'FAME' }, ['INVALID_PARAMETER goal']],
  [
    'pay_by: changeable only for APP_INSTALLS',
    'WEBSITE_CLICKS',
    {},
    { pay_by: 'LINK_CLICK' },
    ['INVALID_PARAMETER pay_by']
  ],
  [
    'total_budget_amount_local_micro: only under LINE_ITEM',
    'ENGAGEMENTS',
    {},
    { total_budget_amount_local_micro: 1_000_000 },
    ['INVALID_PARAMETER total_budget_amount_local_micro']
  ],
  [
    'daily_budget_amount_local_micro: only under LINE_ITEM',
    'ENGAGEMENTS',
    {},
    { daily_budget_amount_local_micro: 1_000_000 },
    ['INVALID_PARAMETER daily_budget_amount_local_micro']
  ]
]
for (const [row, objective, given, update, expected] of refusals) {
  test(`refuses by the row ${row}`, async () => {
    const { id } = await one(objective, given)
    const answer = await me.put(`line_items/${id}`, update)
    assert.deepEqual(codes(answer), expected, JSON.stringify(answer.body))
  })
}

/** And what is accepted. */
const updates: [row: string, objective: string, given: Json, update: Json, shown?: Json][] = [
  ['advertiser_domain', 'ENGAGEMENTS', {}, { advertiser_domain: 'example.com' }],
  ['android_app_store_identifier', 'APP_INSTALLS', {}, { android_app_store_identifier: 'com.example.app' }],
  [
    'audience_expansion is in no answer',
    'ENGAGEMENTS',
    {},
    { audience_expansion: 'BROAD' },
    { audience_expansion: undefined }
  ],
  ['bid_strategy MAX with a bid', 'ENGAGEMENTS', {}, { bid_strategy: 'MAX', bid_amount_local_micro: 320_000 }],
  ['bid_strategy TARGET for REACH', 'REACH', {}, { bid_strategy: 'TARGET', bid_amount_local_micro: 320_000 }],
  [
    'bid_strategy AUTO ignores the bid',
    'ENGAGEMENTS',
    { bid_amount_local_micro: 320_000 },
    { bid_strategy: 'AUTO' },
    { bid_strategy: 'AUTO', bid_amount_local_micro: null }
  ],
  [
    'a bid alone means MAX',
    'ENGAGEMENTS',
    { bid_amount_local_micro: 320_000 },
    {},
    { bid_strategy: 'MAX', bid_amount_local_micro: 320_000 }
  ],
  [
    'categories: part of a business category becomes the whole',
    'PREROLL_VIEWS',
    {},
    { categories: ['IAB8-5'] },
    { categories: ['IAB8-5', 'IAB8-18'] }
  ],
  ['frequency_cap for REACH', 'REACH', {}, { frequency_cap: 3, duration_in_days: 1 }],
  ['frequency_cap for ENGAGEMENTS', 'ENGAGEMENTS', {}, { frequency_cap: 3, duration_in_days: 7 }],
  ['frequency_cap for VIDEO_VIEWS', 'VIDEO_VIEWS', {}, { frequency_cap: 3, duration_in_days: 30 }],
  ['frequency_cap for PREROLL_VIEWS', 'PREROLL_VIEWS', {}, { frequency_cap: 3, duration_in_days: 7 }],
  ['entity_status', 'ENGAGEMENTS', {}, { entity_status: 'PAUSED' }],
  [
    'start_time and end_time',
    'ENGAGEMENTS',
    {},
    { start_time: '2030-01-01T08:00:00-0800', end_time: '2030-02-01' },
    { start_time: '2030-01-01T16:00:00Z', end_time: '2030-02-01T00:00:00Z' }
  ],
  ['an empty end_time un-sets it', 'ENGAGEMENTS', { end_time: '2030-02-01' }, { end_time: '' }, { end_time: null }],
  ['goal APP_PURCHASES for APP_INSTALLS', 'APP_INSTALLS', {}, { goal: 'APP_PURCHASES' }],
  ['goal APP_INSTALLS for APP_ENGAGEMENTS', 'APP_ENGAGEMENTS', {}, { goal: 'APP_INSTALLS' }],
  [
    'goal SITE_VISITS supports IMPRESSION',
    'WEBSITE_CLICKS',
    {},
    { goal: 'SITE_VISITS' },
    { goal: 'SITE_VISITS', pay_by: 'IMPRESSION' }
  ],
  ['name', 'ENGAGEMENTS', {}, { name: 'li-18' }],
  ['pay_by APP_CLICK for the goal APP_INSTALLS', 'APP_INSTALLS', {}, { pay_by: 'APP_CLICK' }]
]
for (const [row, objective, given, update, shown = update] of updates) {
  test(`takes the row ${row}`, async () => {
    const before = await one(objective, given)
    const { status, data, body } = await me.put(`line_items/${before.id}`, update)
    assert.equal(status, 200, JSON.stringify(body))
    for (const [key, value] of Object.entries(shown)) assert.deepEqual(data[key], value, key)
    assert.deepEqual((await me.get(`line_items/${before.id}`)).data, data)
  })
}

/** Goals of the document, by an objective that has them. */
const GOALS: Record<string, string[]> = {
  APP_ENGAGEMENTS: ['APP_CLICKS', 'APP_INSTALLS'],
  APP_INSTALLS: ['APP_CLICKS', 'APP_INSTALLS', 'APP_PURCHASES'],
  ENGAGEMENTS: ['ENGAGEMENT'],
  FOLLOWERS: ['FOLLOWERS'],
  WEBSITE_CLICKS: ['LINK_CLICKS', 'SITE_VISITS', 'WEBSITE_CONVERSIONS'],
  REACH: ['MAX_REACH', 'REACH_WITH_ENGAGEMENT'],
  PREROLL_VIEWS: ['PREROLL', 'PREROLL_STARTS', 'VIEW_3S_100PCT', 'VIEW_6S', 'VIEW_15S'],
  VIDEO_VIEWS: ['VIDEO_VIEW', 'VIEW_3S_100PCT', 'VIEW_6S', 'VIEW_15S']
}

test('every goal of the document is taken with its objective, and every audience_expansion', async () => {
  for (const [objective, goals] of Object.entries(GOALS)) {
    const { id } = await one(objective)
    for (const goal of goals) {
      const tag = goal === 'WEBSITE_CONVERSIONS' ? { primary_web_event_tag: 'o1' } : {}
      const { status, data, body } = await me.put(`line_items/${id}`, { goal, ...tag })
      assert.equal(status, 200, JSON.stringify(body))
      assert.equal(data.goal, goal)
    }
  }
  const { id } = await one('REACH')
  for (const audience_expansion of ['BROAD', 'DEFINED', 'EXPANDED']) {
    assert.equal((await me.put(`line_items/${id}`, { audience_expansion })).status, 200)
  }
})

test('a goal WEBSITE_CONVERSIONS needs a primary_web_event_tag', async () => {
  const { id } = await one('WEBSITE_CLICKS')
  assert.deepEqual(codes(await me.put(`line_items/${id}`, { goal: 'WEBSITE_CONVERSIONS' })), [
    'MISSING_PARAMETER primary_web_event_tag'
  ])
})

test('under LINE_ITEM a line item has budgets: the daily one at most the total, the total at most the campaign’s', async () => {
  const campaign = await givenCampaign(me, {
    budget_optimization: 'LINE_ITEM',
    daily_budget_amount_local_micro: undefined,
    total_budget_amount_local_micro: 100_000_000
  })
  const { id, standard_delivery } = await givenLineItem(me, {
    campaign_id: campaign.id,
    daily_budget_amount_local_micro: 10_000_000,
    total_budget_amount_local_micro: 50_000_000
  })

  const put = (input: Json) => me.put(`line_items/${id}`, input)

  assert.equal(standard_delivery, true)
  assert.deepEqual(codes(await put({ daily_budget_amount_local_micro: 60_000_000 })), [
    'SPEND_EXCEEDS_BUDGET daily_budget_amount_local_micro'
  ])
  assert.deepEqual(codes(await put({ total_budget_amount_local_micro: 200_000_000 })), [
    'SPEND_EXCEEDS_BUDGET total_budget_amount_local_micro'
  ])
  assert.equal((await put({ daily_budget_amount_local_micro: '' })).data.daily_budget_amount_local_micro, null)
  assert.equal((await put({ standard_delivery: false })).data.standard_delivery, false)
})

test('PUBLISHER_NETWORK needs an advertiser_domain and categories', async () => {
  const { id } = await givenCampaign(me)
  const input = {
    campaign_id: id,
    objective: 'WEBSITE_CLICKS',
    placements: ['PUBLISHER_NETWORK'],
    product_type: 'PROMOTED_TWEETS'
  }

  assert.deepEqual(codes(await me.post('line_items', input)), [
    'MISSING_PARAMETER advertiser_domain',
    'INVALID_PARAMETER categories'
  ])
  const { data } = await me.post('line_items', { ...input, advertiser_domain: 'example.com', categories: 'IAB7,IAB8' })
  assert.deepEqual(data.categories, ['IAB7', 'IAB8'])
  const gone = await me.put(`line_items/${data.id}`, { advertiser_domain: '' })
  assert.deepEqual(codes(gone), ['MISSING_PARAMETER advertiser_domain'])
})

test('placements must be a combination of the product type', async () => {
  const { id } = await givenCampaign(me)
  const answer = await me.post('line_items', {
    campaign_id: id,
    objective: 'ENGAGEMENTS',
    placements: ['PUBLISHER_NETWORK', 'SVC_SEARCH'],
    product_type: 'PROMOTED_TWEETS'
  })
  assert.ok(codes(answer).includes('INVALID promoted_product_type'), JSON.stringify(answer.body))
})

test('frequency caps need the feature', async () => {
  const other = await givenAdvertiser(app)
  const { id } = await givenLineItem(other)
  assert.deepEqual(codes(await other.put(`line_items/${id}`, { frequency_cap: 3, duration_in_days: 7 })), [
    'FEATURE_NOT_AVAILABLE frequency_cap'
  ])
})

test('a client application on the list may set advertiser_user_id of a preroll line item', async () => {
  const { db } = app.deps.database
  const other = await givenAdvertiser(app)
  const { id } = await givenLineItem(other, { objective: 'PREROLL_VIEWS', ...needs.PREROLL_VIEWS })
  const grant = await db
    .selectFrom('oauth2_grants')
    .select('app_id')
    .where('user_id', '=', other.userId)
    .executeTakeFirstOrThrow()

  await allow(
    db,
    { list: 'advertiser_user_id', subject_kind: 'app', subject_id: grant.app_id },
    new Date(app.deps.clock.now())
  )
  app.deps.authenticator.forget()

  assert.equal(
    (await other.put(`line_items/${id}`, { advertiser_user_id: '756201191646691328' })).data.advertiser_user_id,
    '756201191646691328'
  )
})

test('the line items of a campaign share product_type and objective', async () => {
  const { campaign_id } = await givenLineItem(me)
  const answer = await me.post('line_items', {
    campaign_id,
    objective: 'FOLLOWERS',
    placements: 'ALL_ON_SVC',
    product_type: 'PROMOTED_ACCOUNT'
  })
  assert.deepEqual(codes(answer), ['INVALID objective', 'INVALID product_type'])
  assert.ok(answer.body.errors[0].message.includes(String(decimal(campaign_id))))
})
const decimal = (id: string) => [...id].reduce((sum, digit) => sum * 36n + BigInt(Number.parseInt(digit, 36)), 0n)

test('an app store identifier brings its platform as targeting, and takes it away again', async () => {
  const { id } = await one('APP_INSTALLS')
  const platforms = async () =>
    (await me.get('targeting_criteria', { line_item_ids: id })).data.map((row: Json) => row.name)

  assert.deepEqual(await platforms(), ['iOS'])
  await me.put(`line_items/${id}`, { android_app_store_identifier: 'com.example.app' })
  assert.deepEqual(await platforms(), ['iOS', 'Android'])
  await me.put(`line_items/${id}`, { ios_app_store_identifier: '' })
  assert.deepEqual(await platforms(), ['Android'])
})

test('lists by campaign, instrument, ids and name; drafts only when asked', async () => {
  const other = await givenAdvertiser(app)
  const shoes = await givenLineItem(other, { name: 'Shoes' })
  const draft = await givenLineItem(other, { name: 'shirts', entity_status: 'DRAFT' })
  const ids = async (query: object) => (await other.get('line_items', query)).data.map((row: Json) => row.id)

  assert.deepEqual(await ids({}), [shoes.id])
  assert.deepEqual(await ids({ with_draft: true }), [shoes.id, draft.id])
  assert.deepEqual(await ids({ campaign_ids: draft.campaign_id, with_draft: true }), [draft.id])
  assert.deepEqual(await ids({ line_item_ids: shoes.id }), [shoes.id])
  assert.deepEqual(await ids({ funding_instrument_ids: other.fundingInstrumentId }), [shoes.id])
  assert.deepEqual(await ids({ q: 'SHO' }), [shoes.id])
})

test('deletes for good: the second time is a 404', async () => {
  const { id } = await givenLineItem(me)
  assert.equal((await me.delete(`line_items/${id}`)).data.deleted, true)
  const again = await me.delete(`line_items/${id}`)
  assert.equal(again.status, 404)
  assert.deepEqual(codes(again), ['LINE_ITEM_NOT_FOUND'])
  assert.equal((await me.get(`line_items/${id}`, { with_deleted: true })).data.deleted, true)
})

test('parallel creations end at exactly the line items that a campaign may have', async () => {
  const { id } = await givenCampaign(me)
  await app.deps.database.db
    .updateTable('ad_accounts')
    .set({ line_items_per_campaign_max: 5 })
    .where('id', '=', me.accountId)
    .execute()
  const input = { campaign_id: id, objective: 'REACH', placements: 'ALL_ON_SVC', product_type: 'PROMOTED_TWEETS' }

  const answers = await Promise.all(Array.from({ length: 30 }, () => me.post('line_items', input)))

  assert.equal(answers.filter(({ status }) => status === 200).length, 5)
  assert.deepEqual([...new Set(answers.filter(({ status }) => status !== 200).flatMap(codes))], ['TOO_MANY_LINE_ITEMS'])
})
