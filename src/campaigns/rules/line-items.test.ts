import assert from 'node:assert/strict'
import { test } from 'node:test'
import fc from 'fast-check'
import { readReference } from '../reference/load.ts'
import type { LineItemContext, LineItemInput, LineItemState } from './line-item-state.ts'
import { mergeLineItem, validateLineItem } from './line-items.ts'
import { GOALS, OBJECTIVE_NAMES } from './objectives.ts'
import { PLACEMENTS, PRODUCT_TYPES } from './placements.ts'
import { statusOf } from './problems.ts'
import { ruleReference } from './reference.ts'

const reference = ruleReference(readReference)
const campaign = {
  id: 'f4z6x',
  currency: 'USD',
  budget_optimization: 'CAMPAIGN',
  total_budget_amount_local_micro: null as bigint | null
}
const context: LineItemContext = {
  campaign,
  features: new Set(['REACH_FREQUENCY_CAP']),
  maySetAdvertiserUser: false,
  advertiserUserId: '756201191646691328',
  reference
}
const perLineItem: Partial<LineItemContext> = { campaign: { ...campaign, budget_optimization: 'LINE_ITEM' } }

/** The least that makes a line item of an objective. */
const minimal = (objective: string): LineItemInput => ({
  campaign_id: campaign.id,
  objective,
  product_type:
    objective === 'PREROLL_VIEWS' ? 'MEDIA' : objective === 'FOLLOWERS' ? 'PROMOTED_ACCOUNT' : 'PROMOTED_TWEETS',
  placements: ['ALL_ON_SVC'],
  ...(objective.startsWith('APP_') ? { ios_app_store_identifier: '333903271' } : {}),
  ...(objective === 'PREROLL_VIEWS' ? { categories: ['IAB7'] } : {})
})
const of = (objective: string, more: LineItemInput = {}): LineItemInput => ({ ...minimal(objective), ...more })
const stored = (objective: string, more: LineItemInput = {}, around: Partial<LineItemContext> = {}): LineItemState =>
  mergeLineItem(of(objective, more), null, { ...context, ...around })
const told = (input: LineItemInput, current: LineItemState | null = null, more: Partial<LineItemContext> = {}) =>
  validateLineItem(input, current, { ...context, ...more }).map((item) =>
    `${item.code} ${item.parameter ?? item.attribute ?? ''}`.trim()
  )

const NETWORK = {
  placements: ['PUBLISHER_NETWORK'],
  advertiser_domain: 'example.com',
  categories: ['IAB1-1']
}

type Case = [rule: string, input: LineItemInput, expected: string[], more?: Partial<LineItemContext>]

const CREATES: Case[] = [
  ...OBJECTIVE_NAMES.map((objective): Case => [`the least that ${objective} needs is enough`, of(objective), []]),
  [
    'campaign_id, objective, placements and product_type are required',
    {},
    [
      'MISSING_PARAMETER campaign_id',
      'MISSING_PARAMETER objective',
      'MISSING_PARAMETER placements',
      'MISSING_PARAMETER product_type'
    ]
  ],
  ['the campaign exists in the account', of('REACH'), ['CAMPAIGN_NOT_FOUND campaign_id'], { campaign: null }],
  ['objective is one of eight', of('REACH', { objective: 'LOVE' }), ['INVALID_PARAMETER objective']],
  ['product_type is one of three', of('REACH', { product_type: 'VIDEO' }), ['INVALID_PARAMETER product_type']],
  ['name has at most 255 characters', of('REACH', { name: 'n'.repeat(256) }), ['INVALID_PARAMETER name']],
  ['name may have 255 characters', of('REACH', { name: 'n'.repeat(255) }), []],
  ['entity_status may be DRAFT', of('REACH', { entity_status: 'DRAFT' }), []],
  ['entity_status is one of three', of('REACH', { entity_status: 'ON' }), ['INVALID_PARAMETER entity_status']],
  ['audience_expansion may be BROAD', of('REACH', { audience_expansion: 'BROAD' }), []],
  [
    'audience_expansion is one of three',
    of('REACH', { audience_expansion: 'ALL' }),
    ['INVALID_PARAMETER audience_expansion']
  ],
  // goal
  ['goal is one of the list', of('REACH', { goal: 'FAME' }), ['INVALID_PARAMETER goal']],
  ['goal APP_PURCHASES is for APP_INSTALLS', of('APP_INSTALLS', { goal: 'APP_PURCHASES' }), []],
  ['goal APP_PURCHASES is not for APP_ENGAGEMENTS', of('APP_ENGAGEMENTS', { goal: 'APP_PURCHASES' }), ['INVALID goal']],
  ['goal APP_CLICKS is for APP_INSTALLS', of('APP_INSTALLS', { goal: 'APP_CLICKS' }), []],
  ['goal APP_CLICKS is for APP_ENGAGEMENTS', of('APP_ENGAGEMENTS', { goal: 'APP_CLICKS' }), []],
  ['goal APP_INSTALLS is for APP_ENGAGEMENTS', of('APP_ENGAGEMENTS', { goal: 'APP_INSTALLS' }), []],
  ['goal APP_INSTALLS is not for REACH', of('REACH', { goal: 'APP_INSTALLS' }), ['INVALID goal']],
  ['goal SITE_VISITS is for WEBSITE_CLICKS', of('WEBSITE_CLICKS', { goal: 'SITE_VISITS' }), []],
  ['goal SITE_VISITS is not for ENGAGEMENTS', of('ENGAGEMENTS', { goal: 'SITE_VISITS' }), ['INVALID goal']],
  [
    'goal WEBSITE_CONVERSIONS needs primary_web_event_tag',
    of('WEBSITE_CLICKS', { goal: 'WEBSITE_CONVERSIONS' }),
    ['MISSING_PARAMETER primary_web_event_tag']
  ],
  [
    'goal WEBSITE_CONVERSIONS with a tag',
    of('WEBSITE_CLICKS', { goal: 'WEBSITE_CONVERSIONS', primary_web_event_tag: 'o3z' }),
    []
  ],
  // bids
  ['bid_strategy is one of three', of('REACH', { bid_strategy: 'LOW' }), ['INVALID_PARAMETER bid_strategy']],
  [
    'bid_strategy MAX needs a bid',
    of('ENGAGEMENTS', { bid_strategy: 'MAX' }),
    ['MISSING_PARAMETER bid_amount_local_micro']
  ],
  [
    'bid_strategy TARGET needs a bid',
    of('WEBSITE_CLICKS', { bid_strategy: 'TARGET' }),
    ['MISSING_PARAMETER bid_amount_local_micro']
  ],
  [
    'bid_strategy MAX is unavailable for REACH',
    of('REACH', { bid_strategy: 'MAX', bid_amount_local_micro: 10_000n }),
    ['INVALID bid_strategy']
  ],
  [
    'bid_strategy MAX is unavailable for FOLLOWERS',
    of('FOLLOWERS', { bid_strategy: 'MAX', bid_amount_local_micro: 10_000n }),
    ['INVALID bid_strategy']
  ],
  [
    'bid_strategy TARGET is available for REACH',
    of('REACH', { bid_strategy: 'TARGET', bid_amount_local_micro: 10_000n }),
    []
  ],
  [
    'bid_strategy TARGET is available for WEBSITE_CLICKS',
    of('WEBSITE_CLICKS', { bid_strategy: 'TARGET', bid_amount_local_micro: 10_000n }),
    []
  ],
  [
    'bid_strategy TARGET is available for new FOLLOWERS',
    of('FOLLOWERS', { bid_strategy: 'TARGET', bid_amount_local_micro: 10_000n }),
    []
  ],
  ...['APP_ENGAGEMENTS', 'APP_INSTALLS', 'ENGAGEMENTS', 'PREROLL_VIEWS', 'VIDEO_VIEWS'].map(
    (objective): Case => [
      `bid_strategy TARGET is unavailable for ${objective}`,
      of(objective, { bid_strategy: 'TARGET', bid_amount_local_micro: 10_000n }),
      ['INVALID bid_strategy']
    ]
  ),
  [
    'bid_amount_local_micro is above zero',
    of('ENGAGEMENTS', { bid_amount_local_micro: 0n }),
    ['INVALID_PARAMETER bid_amount_local_micro']
  ],
  [
    'bid_amount_local_micro is in whole cents',
    of('ENGAGEMENTS', { bid_amount_local_micro: 10_001n }),
    ['INVALID_DENOMINATION bid_amount_local_micro']
  ],
  [
    'bid_amount_local_micro obeys the bidding rule of the currency',
    of('ENGAGEMENTS', { bid_amount_local_micro: 1_000_010_000n }),
    ['INVALID_PARAMETER bid_amount_local_micro']
  ],
  [
    'AUTO ignores the bid, even a bad one',
    of('ENGAGEMENTS', { bid_strategy: 'AUTO', bid_amount_local_micro: -1n }),
    []
  ],
  // pay_by
  ['pay_by is one of the writable three', of('ENGAGEMENTS', { pay_by: 'ENGAGEMENT' }), ['INVALID_PARAMETER pay_by']],
  ['goal APP_INSTALLS supports APP_CLICK', of('APP_INSTALLS', { pay_by: 'APP_CLICK' }), []],
  ['goal APP_INSTALLS supports IMPRESSION', of('APP_INSTALLS', { pay_by: 'IMPRESSION' }), []],
  ['goal APP_INSTALLS does not support LINK_CLICK', of('APP_INSTALLS', { pay_by: 'LINK_CLICK' }), ['INVALID pay_by']],
  ['goal LINK_CLICKS supports LINK_CLICK', of('WEBSITE_CLICKS', { pay_by: 'LINK_CLICK' }), []],
  ['goal LINK_CLICKS supports IMPRESSION', of('WEBSITE_CLICKS', { pay_by: 'IMPRESSION' }), []],
  [
    'goal LINK_CLICKS does not support IMPRESSION with TARGET',
    of('WEBSITE_CLICKS', { pay_by: 'IMPRESSION', bid_strategy: 'TARGET', bid_amount_local_micro: 10_000n }),
    ['INVALID pay_by']
  ],
  ['goal SITE_VISITS supports IMPRESSION', of('WEBSITE_CLICKS', { goal: 'SITE_VISITS', pay_by: 'IMPRESSION' }), []],
  [
    'goal SITE_VISITS does not support LINK_CLICK',
    of('WEBSITE_CLICKS', { goal: 'SITE_VISITS', pay_by: 'LINK_CLICK' }),
    ['INVALID pay_by']
  ],
  // flight
  [
    'end_time is after start_time',
    of('REACH', { start_time: '2026-02-02T00:00:00Z', end_time: '2026-02-02T00:00:00Z' }),
    ['INVALID_TIME_WINDOW end_time']
  ],
  ['a flight from start to end', of('REACH', { start_time: '2026-02-01', end_time: '2026-02-02T00:00:00Z' }), []],
  ['the end of the flight may be open', of('REACH', { start_time: '2026-02-02T00:00:00Z' }), []],
  ['either end of the flight may be open', of('REACH', { end_time: '2026-02-02T00:00:00Z' }), []],
  // budgets
  [
    'no budgets under a CAMPAIGN campaign',
    of('REACH', { daily_budget_amount_local_micro: 10_000n, total_budget_amount_local_micro: 20_000n }),
    ['INVALID_PARAMETER daily_budget_amount_local_micro', 'INVALID_PARAMETER total_budget_amount_local_micro']
  ],
  [
    'a daily budget under a LINE_ITEM campaign',
    of('REACH', { daily_budget_amount_local_micro: 10_000n }),
    [],
    perLineItem
  ],
  [
    'the daily budget may be omitted: even over the flight',
    of('REACH', { total_budget_amount_local_micro: 10_000n }),
    [],
    perLineItem
  ],
  [
    'the daily budget is at most the total',
    of('REACH', { daily_budget_amount_local_micro: 20_000n, total_budget_amount_local_micro: 10_000n }),
    ['SPEND_EXCEEDS_BUDGET daily_budget_amount_local_micro'],
    perLineItem
  ],
  [
    'budgets are in whole cents',
    of('REACH', { daily_budget_amount_local_micro: 1n }),
    ['INVALID_DENOMINATION daily_budget_amount_local_micro'],
    perLineItem
  ],
  [
    'the total budget does not exceed the campaign’s',
    of('REACH', { total_budget_amount_local_micro: 20_000n }),
    ['SPEND_EXCEEDS_BUDGET total_budget_amount_local_micro'],
    { campaign: { ...campaign, budget_optimization: 'LINE_ITEM', total_budget_amount_local_micro: 10_000n } }
  ],
  [
    'the total budget may be the campaign’s',
    of('REACH', { total_budget_amount_local_micro: 10_000n }),
    [],
    { campaign: { ...campaign, budget_optimization: 'LINE_ITEM', total_budget_amount_local_micro: 10_000n } }
  ],
  ['standard_delivery under a LINE_ITEM campaign', of('REACH', { standard_delivery: false }), [], perLineItem],
  [
    'no standard_delivery under a CAMPAIGN campaign',
    of('REACH', { standard_delivery: false }),
    ['INVALID_PARAMETER standard_delivery']
  ],
  // placements
  ['placements are not empty', of('REACH', { placements: [] }), ['INVALID_PARAMETER placements']],
  ['placements are known', of('REACH', { placements: ['MOON'] }), ['INVALID_PARAMETER placements']],
  [
    'placements fit the product type',
    of('WEBSITE_CLICKS', { ...NETWORK, placements: ['PUBLISHER_NETWORK', 'SVC_SEARCH'] }),
    ['INVALID promoted_product_type']
  ],
  ['placements come in any order', of('ENGAGEMENTS', { placements: ['SVC_TIMELINE', 'SVC_PROFILE'] }), []],
  [
    'SVC_PROFILE may not be the only placement',
    of('ENGAGEMENTS', { placements: ['SVC_PROFILE'] }),
    ['INVALID promoted_product_type']
  ],
  ['REACH includes the timeline', of('REACH', { placements: ['SVC_SEARCH'] }), ['INVALID_PLACEMENT_TYPE placements']],
  ['REACH with the timeline', of('REACH', { placements: ['SVC_SEARCH', 'SVC_TIMELINE'] }), []],
  [
    'REACH is not for PUBLISHER_NETWORK',
    of('REACH', { ...NETWORK, placements: ['ALL_ON_SVC', 'PUBLISHER_NETWORK'] }),
    ['INVALID_PLACEMENT_TYPE placements']
  ],
  ['FOLLOWERS on the timeline', of('FOLLOWERS', { placements: ['SVC_TIMELINE'] }), []],
  [
    'FOLLOWERS only on all or the timeline',
    of('FOLLOWERS', { product_type: 'PROMOTED_TWEETS', placements: ['SVC_SEARCH'] }),
    ['INVALID_PLACEMENT_TYPE placements']
  ],
  [
    'FOLLOWERS is not for PUBLISHER_NETWORK',
    of('FOLLOWERS', { ...NETWORK, product_type: 'PROMOTED_TWEETS' }),
    ['INVALID_PLACEMENT_TYPE placements']
  ],
  // publisher network
  ['PUBLISHER_NETWORK with domain and category', of('WEBSITE_CLICKS', NETWORK), []],
  [
    'PUBLISHER_NETWORK needs advertiser_domain',
    of('WEBSITE_CLICKS', { ...NETWORK, advertiser_domain: null }),
    ['MISSING_PARAMETER advertiser_domain']
  ],
  [
    'PUBLISHER_NETWORK needs categories',
    of('WEBSITE_CLICKS', { ...NETWORK, categories: [] }),
    ['INVALID_PARAMETER categories']
  ],
  [
    'advertiser_domain has no protocol',
    of('WEBSITE_CLICKS', { ...NETWORK, advertiser_domain: 'https://example.com' }),
    ['INVALID advertiser_domain']
  ],
  [
    'categories are IAB categories',
    of('WEBSITE_CLICKS', { ...NETWORK, categories: ['IAB99'] }),
    ['INVALID_IAB_CATEGORY categories']
  ],
  [
    'at most 100 categories',
    of('WEBSITE_CLICKS', { ...NETWORK, categories: [...reference.iabCategories.keys()].slice(0, 101) }),
    ['INVALID_PARAMETER categories']
  ],
  [
    '100 categories',
    of('WEBSITE_CLICKS', { ...NETWORK, categories: [...reference.iabCategories.keys()].slice(0, 100) }),
    []
  ],
  // preroll
  [
    'PREROLL_VIEWS needs a business category',
    of('PREROLL_VIEWS', { categories: [] }),
    ['INVALID_PARAMETER categories']
  ],
  ['PREROLL_VIEWS takes two business categories', of('PREROLL_VIEWS', { categories: ['IAB7', 'IAB2'] }), []],
  [
    'PREROLL_VIEWS takes no three business categories',
    of('PREROLL_VIEWS', { categories: ['IAB7', 'IAB2', 'IAB20'] }),
    ['INVALID categories']
  ],
  [
    'PREROLL_VIEWS takes only business categories',
    of('PREROLL_VIEWS', { categories: ['IAB24'] }),
    ['INVALID categories']
  ],
  [
    'PREROLL_VIEWS knows unknown categories',
    of('PREROLL_VIEWS', { categories: ['IAB77'] }),
    ['INVALID_IAB_CATEGORY categories']
  ],
  // frequency caps
  ...OBJECTIVE_NAMES.map((objective): Case => {
    const allowed = ['REACH', 'ENGAGEMENTS', 'VIDEO_VIEWS', 'PREROLL_VIEWS'].includes(objective)
    return [
      `frequency_cap is ${allowed ? 'for' : 'not for'} ${objective}`,
      of(objective, { frequency_cap: 3, duration_in_days: 7 }),
      allowed ? [] : ['INVALID_PARAMETER frequency_cap']
    ]
  }),
  ...[1, 7, 30].map(
    (days): Case => [`duration_in_days may be ${days}`, of('REACH', { frequency_cap: 1, duration_in_days: days }), []]
  ),
  [
    'duration_in_days is 1, 7 or 30',
    of('REACH', { frequency_cap: 1, duration_in_days: 14 }),
    ['INVALID_PARAMETER duration_in_days']
  ],
  [
    'frequency_cap needs duration_in_days',
    of('REACH', { frequency_cap: 1 }),
    ['INCLUSIVE_PARAMETERS duration_in_days']
  ],
  [
    'duration_in_days needs frequency_cap',
    of('REACH', { duration_in_days: 7 }),
    ['INCLUSIVE_PARAMETERS frequency_cap']
  ],
  [
    'frequency_cap needs the feature REACH_FREQUENCY_CAP',
    of('REACH', { frequency_cap: 1, duration_in_days: 7 }),
    ['FEATURE_NOT_AVAILABLE frequency_cap'],
    { features: new Set() }
  ],
  // apps
  ...['APP_INSTALLS', 'APP_ENGAGEMENTS'].map(
    (objective): Case => [
      `${objective} needs one of the two app store identifiers`,
      of(objective, { ios_app_store_identifier: null }),
      ['MISSING_PARAMETER android_app_store_identifier']
    ]
  ),
  [
    'an Android app alone is enough',
    of('APP_INSTALLS', { ios_app_store_identifier: null, android_app_store_identifier: 'com.example.app' }),
    []
  ],
  [
    'an app store identifier has at most 255 characters',
    of('APP_INSTALLS', { ios_app_store_identifier: '1'.repeat(256) }),
    ['INVALID_PARAMETER ios_app_store_identifier']
  ],
  [
    'an app store identifier may have 255 characters',
    of('APP_INSTALLS', { ios_app_store_identifier: '1'.repeat(255) }),
    []
  ],
  // advertiser_user_id
  [
    'advertiser_user_id only by certain client applications',
    of('PREROLL_VIEWS', { advertiser_user_id: '42' }),
    ['INVALID_PARAMETER advertiser_user_id']
  ],
  [
    'advertiser_user_id by one of those',
    of('PREROLL_VIEWS', { advertiser_user_id: '42' }),
    [],
    { maySetAdvertiserUser: true }
  ],
  [
    'advertiser_user_id only for PREROLL_VIEWS',
    of('REACH', { advertiser_user_id: '42' }),
    ['INVALID_PARAMETER advertiser_user_id'],
    { maySetAdvertiserUser: true }
  ],
  // the campaign's other line items
  [
    'all line items of a campaign share the objective',
    of('ENGAGEMENTS'),
    ['INVALID objective'],
    { sibling: { objective: 'REACH', product_type: 'PROMOTED_TWEETS' } }
  ],
  [
    'all line items of a campaign share the product type',
    of('ENGAGEMENTS'),
    ['INVALID product_type'],
    { sibling: { objective: 'ENGAGEMENTS', product_type: 'MEDIA' } }
  ],
  ['a campaign takes 100 line items', of('REACH'), [], { lineItemsOfCampaign: 99 }],
  ['a campaign takes no 101st line item', of('REACH'), ['TOO_MANY_LINE_ITEMS'], { lineItemsOfCampaign: 100 }],
  ['an account takes no more than its limit', of('REACH'), ['TOO_MANY_LINE_ITEMS'], { activeLineItems: 8_000 }],
  // catalog ads
  ['creative_source is one of two', of('REACH', { creative_source: 'AI' }), ['INVALID_PARAMETER creative_source']],
  [
    'DYNAMIC_PRODUCT_CREATIVE needs catalog, set and conversions',
    of('WEBSITE_CLICKS', { creative_source: 'DYNAMIC_PRODUCT_CREATIVE' }),
    ['MISSING_PARAMETER catalog_id', 'MISSING_PARAMETER product_set_id', 'INVALID creative_source']
  ],
  [
    'DYNAMIC_PRODUCT_CREATIVE with all it needs',
    of('WEBSITE_CLICKS', {
      creative_source: 'DYNAMIC_PRODUCT_CREATIVE',
      catalog_id: '1',
      product_set_id: '2',
      goal: 'WEBSITE_CONVERSIONS',
      primary_web_event_tag: 'o3z'
    }),
    []
  ],
  ['catalog_id only for catalog ads', of('WEBSITE_CLICKS', { catalog_id: '1' }), ['INVALID_PARAMETER catalog_id']]
]
for (const [rule, input, expected, more] of CREATES) {
  test(`line item create: ${rule}`, () => assert.deepEqual(told(input, null, more), expected))
}

const UPDATES: [
  rule: string,
  current: LineItemState,
  input: LineItemInput,
  expected: string[],
  more?: Partial<LineItemContext>
][] = [
  ['everything is optional', stored('REACH'), {}, []],
  ['DRAFT cannot be returned to', stored('REACH'), { entity_status: 'DRAFT' }, ['INVALID_PARAMETER entity_status']],
  [
    'objective, product type, placements and campaign are ignored',
    stored('REACH'),
    { objective: 'X', product_type: 'X', placements: ['X'], campaign_id: 'x' },
    []
  ],
  ['the name can be un-set', stored('REACH', { name: 'n' }), { name: null }, []],
  ['the end can be un-set', stored('REACH', { end_time: '2026-02-02T00:00:00Z' }), { end_time: null }, []],
  [
    'the merged flight is checked',
    stored('REACH', { start_time: '2026-02-02T00:00:00.000Z' }),
    { end_time: '2026-02-01T00:00:00Z' },
    ['INVALID_TIME_WINDOW end_time']
  ],
  ['pay_by is changeable for APP_INSTALLS', stored('APP_INSTALLS'), { pay_by: 'APP_CLICK' }, []],
  [
    'pay_by is changeable only for APP_INSTALLS',
    stored('WEBSITE_CLICKS'),
    { pay_by: 'LINK_CLICK' },
    ['INVALID_PARAMETER pay_by']
  ],
  [
    'moving to MAX needs a bid',
    stored('ENGAGEMENTS'),
    { bid_strategy: 'MAX' },
    ['MISSING_PARAMETER bid_amount_local_micro']
  ],
  [
    'TARGET is not for FOLLOWERS that exist',
    stored('FOLLOWERS'),
    { bid_strategy: 'TARGET', bid_amount_local_micro: 10_000n },
    ['INVALID bid_strategy']
  ],
  [
    'the last app store identifier stays',
    stored('APP_INSTALLS'),
    { ios_app_store_identifier: null },
    ['MISSING_PARAMETER android_app_store_identifier']
  ],
  [
    'the domain of the publisher network stays',
    stored('WEBSITE_CLICKS', NETWORK),
    { advertiser_domain: null },
    ['MISSING_PARAMETER advertiser_domain']
  ],
  [
    'the categories of the publisher network stay',
    stored('WEBSITE_CLICKS', NETWORK),
    { categories: null },
    ['INVALID_PARAMETER categories']
  ],
  [
    'the cap can be un-set alone',
    stored('REACH', { frequency_cap: 3, duration_in_days: 7 }),
    { frequency_cap: null },
    []
  ],
  [
    'the window of a cap cannot be un-set alone',
    stored('REACH', { frequency_cap: 3, duration_in_days: 7 }),
    { duration_in_days: null },
    ['INCLUSIVE_PARAMETERS duration_in_days']
  ],
  ['a full campaign stops no update', stored('REACH'), { name: 'n' }, [], { lineItemsOfCampaign: 100 }],
  [
    'a budget from before the campaign took the budgets over stops nothing',
    stored('REACH', { daily_budget_amount_local_micro: 10_000n }, perLineItem),
    { name: 'n' },
    []
  ],
  [
    'a budget from before can be un-set',
    stored('REACH', { daily_budget_amount_local_micro: 10_000n }, perLineItem),
    { daily_budget_amount_local_micro: null },
    []
  ],
  [
    'a budget from before cannot be changed',
    stored('REACH', { daily_budget_amount_local_micro: 10_000n }, perLineItem),
    { daily_budget_amount_local_micro: 20_000n },
    ['INVALID_PARAMETER daily_budget_amount_local_micro']
  ]
]
for (const [rule, current, input, expected, more] of UPDATES) {
  test(`line item update: ${rule}`, () => assert.deepEqual(told(input, current, more), expected))
}

const DEFAULTS: [objective: string, goal: string, bidStrategy: string, payBy: string][] = [
  ['ENGAGEMENTS', 'ENGAGEMENT', 'MAX', 'ENGAGEMENT'],
  ['WEBSITE_CLICKS', 'LINK_CLICKS', 'MAX', 'IMPRESSION'],
  ['FOLLOWERS', 'FOLLOWERS', 'TARGET', 'FOLLOW'],
  ['REACH', 'MAX_REACH', 'TARGET', 'IMPRESSION'],
  ['VIDEO_VIEWS', 'VIDEO_VIEW', 'MAX', 'VIEW'],
  ['PREROLL_VIEWS', 'PREROLL', 'MAX', 'VIEW_3S_100PCT'],
  ['APP_INSTALLS', 'APP_INSTALLS', 'MAX', 'IMPRESSION'],
  ['APP_ENGAGEMENTS', 'APP_CLICKS', 'MAX', 'APP_CLICK']
]
for (const [objective, goal, bidStrategy, payBy] of DEFAULTS) {
  test(`line item defaults: ${objective} is ${goal} paid by ${payBy}, ${bidStrategy} with a bid and AUTO without`, () => {
    const auto = stored(objective)
    const bidding = stored(objective, { bid_amount_local_micro: 320_000n })

    assert.deepEqual([auto.goal, auto.bid_strategy, auto.pay_by], [goal, 'AUTO', payBy])
    assert.deepEqual(
      [bidding.goal, bidding.bid_strategy, bidding.bid_amount_local_micro],
      [goal, bidStrategy, 320_000n]
    )
  })
}

test('line item defaults: ACTIVE, MANUAL, the owner advertises, no delivery of its own under CAMPAIGN', () => {
  const merged = stored('REACH')

  assert.equal(merged.entity_status, 'ACTIVE')
  assert.equal(merged.creative_source, 'MANUAL')
  assert.equal(merged.advertiser_user_id, context.advertiserUserId)
  assert.equal(merged.standard_delivery, null)
  assert.equal(merged.name, null)
  assert.equal(stored('REACH', {}, perLineItem).standard_delivery, true)
})

test('line item update: the same categories in another order are no change, fewer or others are', () => {
  const current = stored('WEBSITE_CLICKS', { ...NETWORK, categories: ['IAB1-1', 'IAB1-2'] })
  const categoriesAfter = (categories: string[]) => mergeLineItem({ categories }, current, context).categories

  assert.deepEqual(categoriesAfter(['IAB1-2', 'IAB1-1']), ['IAB1-1', 'IAB1-2'])
  assert.deepEqual(categoriesAfter(['IAB1-2']), ['IAB1-2'])
  assert.deepEqual(categoriesAfter(['IAB1-2', 'IAB1-3']), ['IAB1-2', 'IAB1-3'])
})

test('line item update: the same moment is no change, another one is', () => {
  const current = stored('REACH', { start_time: '2026-02-02T00:00:00.000Z', name: '2026' })

  assert.equal(mergeLineItem({ start_time: '2026-02-02T00:00:00Z' }, current, context).start_time, current.start_time)
  assert.equal(
    mergeLineItem({ start_time: '2026-02-03T00:00:00Z' }, current, context).start_time,
    '2026-02-03T00:00:00Z'
  )
  assert.equal(mergeLineItem({ name: '2026-01-01' }, current, context).name, '2026-01-01')
})

test('AUTO keeps no bid', () => {
  assert.equal(stored('REACH', { bid_strategy: 'AUTO', bid_amount_local_micro: 10_000n }).bid_amount_local_micro, null)
})

test('link clicks with a target bid are paid by the click, and by impression again without', () => {
  const target = mergeLineItem(
    { bid_strategy: 'TARGET', bid_amount_local_micro: 10_000n },
    stored('WEBSITE_CLICKS'),
    context
  )
  const conversions = mergeLineItem({ goal: 'SITE_VISITS' }, target, context)

  assert.equal(target.pay_by, 'LINK_CLICK')
  assert.equal(conversions.pay_by, 'IMPRESSION')
})

test('part of a business category is widened to the whole set', () => {
  const telecommunication = stored('PREROLL_VIEWS', { categories: ['IAB19-6'] })
  const throughParent = stored('PREROLL_VIEWS', { categories: ['IAB7-1'] })

  assert.deepEqual(telecommunication.categories, ['IAB19-6', 'IAB19-18'])
  assert.deepEqual(throughParent.categories, ['IAB7'])
})

test('every IAB id of the business categories is in exactly one of them', () => {
  const ids = reference.businessCategories.flatMap((category) => category.iab_categories)

  assert.equal(new Set(ids).size, ids.length)
})

test('an objective that differs is told with the decimal id of the campaign', () => {
  const [problem] = validateLineItem(of('REACH'), null, {
    ...context,
    sibling: { objective: 'ENGAGEMENTS', product_type: 'PROMOTED_TWEETS' }
  })

  assert.match(problem!.message, new RegExp(`${Number.parseInt(campaign.id, 36)}`))
})

test('an unknown IAB category is not found', () => {
  assert.equal(statusOf(validateLineItem(of('PREROLL_VIEWS', { categories: ['IAB77'] }), null, context)), 404)
})

test('whatever is accepted can be sent back unchanged and changes nothing', () => {
  const input = fc.record(
    {
      campaign_id: fc.constant(campaign.id),
      objective: fc.constantFrom(...OBJECTIVE_NAMES),
      product_type: fc.constantFrom(...PRODUCT_TYPES),
      placements: fc.subarray([...PLACEMENTS], { minLength: 1, maxLength: 2 }),
      goal: fc.constantFrom(...GOALS),
      bid_strategy: fc.constantFrom('AUTO', 'MAX', 'TARGET'),
      bid_amount_local_micro: fc.constantFrom(10_000n, 320_000n, null),
      frequency_cap: fc.constantFrom(3, null),
      duration_in_days: fc.constantFrom(7, null),
      entity_status: fc.constantFrom('ACTIVE', 'DRAFT', 'PAUSED'),
      ios_app_store_identifier: fc.constantFrom('333903271', null),
      advertiser_domain: fc.constantFrom('example.com', null),
      categories: fc.subarray(['IAB7', 'IAB19-6', 'IAB1-1']),
      primary_web_event_tag: fc.constantFrom('o3z', null),
      start_time: fc.constantFrom('2026-02-02T00:00:00Z', null)
    },
    { requiredKeys: ['campaign_id', 'objective', 'product_type', 'placements'] }
  )
  let accepted = 0
  fc.assert(
    fc.property(input, (given) => {
      if (validateLineItem(given, null, context).length > 0) return
      accepted++
      const row = mergeLineItem(given, null, context)
      assert.deepEqual(validateLineItem(row, row, context), [])
      assert.deepEqual(mergeLineItem(row, row, context), row)
    }),
    { numRuns: 5_000 }
  )
  assert.ok(accepted > 20, `only ${accepted} of the generated line items were accepted`)
})
