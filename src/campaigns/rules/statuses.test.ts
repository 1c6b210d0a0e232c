import assert from 'node:assert/strict'
import { test } from 'node:test'
import { EXPLANATIONS, explain, FUNDING_EXPLANATIONS } from './reasons.ts'
import {
  type CampaignFacts,
  type Cause,
  campaignServability,
  countLineItems,
  countsAsActive,
  creditRemaining,
  FUNDING_REASONS,
  type FundingFacts,
  fundingReasons,
  type LineItemFacts,
  lineItemServability
} from './statuses.ts'

const NOW = Date.parse('2026-03-01T12:00:00Z')
const PAST = '2026-03-01T11:59:59.000Z'
const FUTURE = '2026-03-01T12:00:01.000Z'

const card: FundingFacts = {
  deleted: false,
  entity_status: 'ACTIVE',
  type: 'CREDIT_CARD',
  start_time: PAST,
  end_time: null,
  credit_limit_local_micro: null,
  funded_amount_local_micro: null
}
const lineItem: LineItemFacts = {
  deleted: false,
  entity_status: 'ACTIVE',
  placements: ['ALL_ON_SVC'],
  start_time: null,
  end_time: null,
  bid_amount_local_micro: null,
  daily_budget_amount_local_micro: null,
  total_budget_amount_local_micro: null,
  creatives: { total: 1, accepted: 1, rejected: 0 },
  keywords: 0,
  campaign: {
    budget_optimization: 'CAMPAIGN',
    daily_budget_amount_local_micro: 140_000_000n,
    total_budget_amount_local_micro: null
  }
}
const campaign: Omit<CampaignFacts, 'lineItems'> = {
  deleted: false,
  entity_status: 'ACTIVE',
  account: { approval_status: 'ACCEPTED' },
  fundingInstrument: card,
  total_budget_amount_local_micro: null
}
const serve = (more: Partial<CampaignFacts> = {}, items: Partial<LineItemFacts>[] = [{}]) =>
  campaignServability(
    {
      ...campaign,
      lineItems: countLineItems(
        items.map((one) => ({ ...lineItem, ...one })),
        NOW
      ),
      ...more
    },
    NOW
  )
const perLineItem = { ...lineItem.campaign, budget_optimization: 'LINE_ITEM' }
const TOO_HIGH = 150_000_000n

const FUNDING: [rule: string, facts: Partial<FundingFacts>, expected: string[]][] = [
  ['nothing wrong', {}, []],
  ['deleted', { deleted: true }, ['DELETED']],
  ['starts later', { start_time: FUTURE }, ['STARTS_IN_FUTURE']],
  ['starts now', { start_time: new Date(NOW).toISOString() }, []],
  ['ended', { end_time: PAST }, ['EXPIRED']],
  ['ends now', { end_time: new Date(NOW).toISOString() }, ['EXPIRED']],
  ['ends later', { end_time: FUTURE }, []],
  ['funds left', { funded_amount_local_micro: 2n, spend_local_micro: 1n }, []],
  ['funds spent', { funded_amount_local_micro: 2n, spend_local_micro: 2n }, ['BUDGET_EXHAUSTED']],
  ['credit spent', { credit_limit_local_micro: 2n, spend_local_micro: 3n }, ['BUDGET_EXHAUSTED']],
  ['paused', { entity_status: 'PAUSED' }, ['PAUSED']],
  ['card not approved yet', { credit_card_status: 'APPROVAL_PENDING' }, ['CREDIT_CARD_APPROVAL_PENDING']],
  ['card rejected', { credit_card_status: 'REJECTED' }, ['CREDIT_CARD_REJECTED']],
  ['card removed', { credit_card_status: 'DELETED' }, ['CREDIT_CARD_DELETED']],
  ['deleted and ended', { deleted: true, end_time: PAST }, ['DELETED', 'EXPIRED']]
]
for (const [rule, facts, expected] of FUNDING) {
  test(`reasons_not_able_to_fund: ${rule}`, () =>
    assert.deepEqual(fundingReasons({ ...card, ...facts }, NOW), expected))
}

const CREDIT: [type: string, expected: bigint | null][] = [
  ['CREDIT_LINE', 70n],
  ['AGENCY_CREDIT_LINE', 70n],
  ['CREDIT_CARD', null],
  ['PARTNER_MANAGED', null],
  ['INSERTION_ORDER', null]
]
for (const [type, expected] of CREDIT) {
  test(`credit remaining of ${type}`, () =>
    assert.equal(creditRemaining({ type, credit_limit_local_micro: 100n, spend_local_micro: 30n }), expected))
}

type Expected = [reasons: string[], effectiveStatus: string]
const CAMPAIGNS: [rule: string, facts: Partial<CampaignFacts>, items: Partial<LineItemFacts>[], expected: Expected][] =
  [
    ['a running one', {}, [{}], [[], 'RUNNING']],
    ['new, without line items', {}, [], [['INCOMPLETE'], 'UNKNOWN']],
    ['new and paused', { entity_status: 'PAUSED' }, [], [['PAUSED_BY_ADVERTISER', 'INCOMPLETE'], 'UNKNOWN']],
    ['paused', { entity_status: 'PAUSED' }, [{}], [['PAUSED_BY_ADVERTISER'], 'PAUSED']],
    ['a draft', { entity_status: 'DRAFT' }, [{}], [['AWAITING_APPROVAL_BY_ADVERTISER'], 'DRAFT']],
    ['no creative', {}, [{ creatives: { total: 0, accepted: 0, rejected: 0 } }], [['INCOMPLETE'], 'UNKNOWN']],
    ['only a deleted line item', {}, [{ deleted: true }], [['INCOMPLETE'], 'UNKNOWN']],
    ['only a draft line item', {}, [{ entity_status: 'DRAFT' }], [['INCOMPLETE'], 'UNKNOWN']],
    ['search without keywords', {}, [{ placements: ['SVC_SEARCH'] }], [['INCOMPLETE'], 'UNKNOWN']],
    ['search with keywords', {}, [{ placements: ['SVC_SEARCH'], keywords: 1 }], [[], 'RUNNING']],
    ['line item without a budget of its own', {}, [{ campaign: perLineItem }], [['INCOMPLETE'], 'UNKNOWN']],
    ['no funds', { fundingInstrument: { ...card, deleted: true } }, [{}], [['FUNDING_PROBLEM'], 'UNKNOWN']],
    ['all line items ended', {}, [{ end_time: PAST }, { end_time: PAST }], [['EXPIRED'], 'EXPIRED']],
    ['one of two line items ended', {}, [{ end_time: PAST }, {}], [[], 'RUNNING']],
    ['all line items start later', {}, [{ start_time: FUTURE }], [['STARTS_IN_FUTURE'], 'SCHEDULED']],
    [
      'one ended, one starts later',
      {},
      [{ end_time: PAST }, { start_time: FUTURE }],
      [['EXPIRED', 'STARTS_IN_FUTURE'], 'EXPIRED']
    ],
    ['all line items paused', {}, [{ entity_status: 'PAUSED' }], [['PAUSED_BY_ADVERTISER'], 'PAUSED']],
    [
      'total budget spent',
      { total_budget_amount_local_micro: 5n, spend_local_micro: 5n },
      [{}],
      [['BUDGET_EXHAUSTED'], 'EXHAUSTED']
    ],
    ['total budget left', { total_budget_amount_local_micro: 5n, spend_local_micro: 4n }, [{}], [[], 'RUNNING']],
    [
      'line item budgets spent',
      {},
      [{ campaign: perLineItem, total_budget_amount_local_micro: 5n, spend_local_micro: 5n }],
      [['BUDGET_EXHAUSTED'], 'EXHAUSTED']
    ],
    [
      'a budget spent that is not in force',
      {},
      [{ total_budget_amount_local_micro: 5n, spend_local_micro: 5n }],
      [[], 'RUNNING']
    ],
    ['bid equal to the daily budget', {}, [{ bid_amount_local_micro: 140_000_000n }], [[], 'RUNNING']],
    [
      'bid above the total budget',
      {},
      [
        {
          bid_amount_local_micro: 6n,
          campaign: { ...lineItem.campaign, daily_budget_amount_local_micro: null, total_budget_amount_local_micro: 5n }
        }
      ],
      [['BUDGET_EXHAUSTED'], 'EXHAUSTED']
    ],
    ['bid above the daily budget', {}, [{ bid_amount_local_micro: TOO_HIGH }], [['BUDGET_EXHAUSTED'], 'EXHAUSTED']],
    [
      'creatives rejected',
      {},
      [{ creatives: { total: 2, accepted: 0, rejected: 2 } }],
      [['CONTENT_REVIEW_PROBLEM'], 'UNKNOWN']
    ],
    [
      'creatives under review',
      {},
      [{ creatives: { total: 2, accepted: 0, rejected: 1 } }],
      [['CONTENT_REVIEW_PROBLEM'], 'UNKNOWN']
    ],
    ['one creative accepted', {}, [{ creatives: { total: 2, accepted: 1, rejected: 1 } }], [[], 'RUNNING']],
    ['account rejected', { account: { approval_status: 'REJECTED' } }, [{}], [['ACCOUNT_REJECTED'], 'UNKNOWN']],
    [
      'account under review',
      { account: { approval_status: 'UNDER_REVIEW' } },
      [{}],
      [['ACCOUNT_UNDER_REVIEW'], 'UNKNOWN']
    ]
  ]
for (const [rule, facts, items, [reasons, effectiveStatus]] of CAMPAIGNS) {
  test(`campaign servability: ${rule}`, () => {
    const result = serve(facts, items)

    assert.deepEqual(result.reasons_not_servable, reasons)
    assert.equal(result.effective_status, effectiveStatus)
    assert.equal(result.servable, reasons.length === 0)
  })
}

test('campaign servability: a deleted one is neither servable nor not, and keeps its effective status', () => {
  const result = serve({ deleted: true, entity_status: 'PAUSED' })

  assert.deepEqual(result, { servable: null, reasons_not_servable: [], effective_status: 'PAUSED', causes: [] })
})

test('campaign servability: changes with the clock alone', () => {
  const item = { ...lineItem, start_time: '2026-03-02T00:00:00Z', end_time: '2026-03-03T00:00:00Z' }
  const at = (time: string) => {
    const now = Date.parse(time)
    return campaignServability({ ...campaign, lineItems: countLineItems([item], now) }, now).effective_status
  }

  assert.deepEqual(['2026-03-01T23:59:59Z', '2026-03-02T00:00:00Z', '2026-03-03T00:00:00Z'].map(at), [
    'SCHEDULED',
    'RUNNING',
    'EXPIRED'
  ])
})

test('line item servability: its own causes and those of its campaign', () => {
  const result = lineItemServability(
    { ...lineItem, end_time: PAST },
    { ...campaign, entity_status: 'PAUSED', fundingInstrument: { ...card, end_time: PAST } },
    NOW
  )

  assert.deepEqual(result.reasons_not_servable, ['PAUSED_BY_ADVERTISER', 'FUNDING_PROBLEM', 'EXPIRED'])
  assert.deepEqual(
    result.causes.map((cause) => cause.entity),
    ['campaign', 'funding_instrument', 'line_item']
  )
  assert.equal(result.servable, false)
})

test('line item servability: without creatives it is incomplete, not under review', () => {
  const result = lineItemServability({ ...lineItem, creatives: { total: 0, accepted: 0, rejected: 0 } }, campaign, NOW)

  assert.deepEqual(result.causes, [{ reason: 'INCOMPLETE', entity: 'line_item', variant: 'NO_CREATIVE' }])
})

test('campaign servability: rejected creatives are told from those under review', () => {
  const rejected = serve({}, [{ creatives: { total: 1, accepted: 0, rejected: 1 } }])
  const underReview = serve({}, [{ creatives: { total: 1, accepted: 0, rejected: 0 } }])

  assert.deepEqual(
    rejected.causes.map((cause) => cause.variant),
    [undefined]
  )
  assert.deepEqual(
    underReview.causes.map((cause) => cause.variant),
    ['UNDER_REVIEW']
  )
})

test('active campaigns: paused ones count, drafts, deleted ones and those that are over do not', () => {
  assert.ok(countsAsActive({ entity_status: 'ACTIVE' }))
  assert.ok(countsAsActive({ entity_status: 'PAUSED' }))
  assert.ok(!countsAsActive({ entity_status: 'DRAFT' }))
  assert.ok(!countsAsActive({ entity_status: 'ACTIVE', deleted: true }))
  assert.ok(!countsAsActive({ entity_status: 'ACTIVE', over: true }))
})

const IDS = { account_id: 'acc', funding_instrument_id: 'fun', campaign_id: 'cam', line_item_id: 'lin' }

test('every cause that can occur has an explanation of its own', () => {
  const results = [
    ...CAMPAIGNS.map(([, facts, items]) => serve(facts, items)),
    ...CAMPAIGNS.flatMap(([, facts, items]) =>
      items.map((one) => lineItemServability({ ...lineItem, ...one }, { ...campaign, ...facts }, NOW))
    )
  ]
  const keys = new Set<string>()
  for (const { causes } of results) {
    for (const { reason, entity, variant } of causes) keys.add([reason, entity, variant].filter(Boolean).join(' '))
  }

  assert.deepEqual([...keys].sort(), Object.keys(EXPLANATIONS).sort())
})

test('an explanation names the entity at fault and the call that mends it', () => {
  const pause: Cause = { reason: 'PAUSED_BY_ADVERTISER', entity: 'campaign' }
  const creative: Cause = { reason: 'INCOMPLETE', entity: 'line_item', variant: 'NO_CREATIVE' }
  const rejected: Cause = { reason: 'ACCOUNT_REJECTED', entity: 'account' }

  const [first, second, third] = explain([pause, creative, rejected], { ...IDS, product_type: 'PROMOTED_ACCOUNT' })

  assert.equal(first?.entity_id, 'cam')
  assert.deepEqual(first?.mend, {
    method: 'PUT',
    path: '/12/accounts/acc/campaigns/cam',
    params: { entity_status: 'ACTIVE' }
  })
  assert.equal(second?.mend?.path, '/12/accounts/acc/promoted_accounts')
  assert.equal(third?.mend, null)
})

const CREATIVE_CALLS: [productType: string, path: string][] = [
  ['PROMOTED_TWEETS', '/12/accounts/acc/promoted_tweets'],
  ['PROMOTED_ACCOUNT', '/12/accounts/acc/promoted_accounts'],
  ['MEDIA', '/12/accounts/acc/media_creatives']
]
for (const [product_type, path] of CREATIVE_CALLS) {
  test(`a creative of a ${product_type} line item is added by ${path}`, () => {
    const cause: Cause = { reason: 'INCOMPLETE', entity: 'line_item', variant: 'NO_CREATIVE' }

    assert.equal(explain([cause], { ...IDS, product_type })[0]?.mend?.path, path)
  })
}

test('every reason not to fund is explained', () => {
  assert.deepEqual(Object.keys(FUNDING_EXPLANATIONS).sort(), [...FUNDING_REASONS].sort())
})
