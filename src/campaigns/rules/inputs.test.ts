import assert from 'node:assert/strict'
import { test } from 'node:test'
import { readInput } from '../../http/ads-input.ts'
import { readReference } from '../reference/load.ts'
import { mergeCampaign, validateCampaign } from './campaigns.ts'
import { validateFundingInstrument } from './funding-instruments.ts'
import { campaignCreate, campaignUpdate, fundingInstrumentCreate, lineItemCreate, lineItemUpdate } from './inputs.ts'
import { mergeLineItem, validateLineItem } from './line-items.ts'
import { CREATIVE_TYPE_NAMES, landingUrl } from './media-creatives.ts'
import { ruleReference } from './reference.ts'

const reference = ruleReference(readReference)
const context = {
  campaign: { id: 'f4z6x', currency: 'USD', budget_optimization: 'CAMPAIGN', total_budget_amount_local_micro: null },
  fundingInstrument: { type: 'CREDIT_CARD', currency: 'USD', reasons_not_able_to_fund: [] },
  features: new Set<string>(),
  maySetAdvertiserUser: false,
  advertiserUserId: null,
  reference
}

test('a campaign sent as text becomes the campaign of the rules', () => {
  const { input, errors } = readInput(campaignCreate, {
    funding_instrument_id: 'lygyi',
    name: 'demo',
    daily_budget_amount_local_micro: '140000000',
    standard_delivery: 'False',
    id: 'ignored'
  })

  assert.deepEqual(errors, [])
  assert.deepEqual(validateCampaign(input, null, context), [])
  assert.equal(mergeCampaign(input, null).daily_budget_amount_local_micro, 140_000_000n)
  assert.equal(mergeCampaign(input, null).standard_delivery, false)
})

test('a whole campaign as loaded may be sent back, read-only and unknown fields too', () => {
  const stored = mergeCampaign(
    {
      funding_instrument_id: 'lygyi',
      name: 'demo',
      daily_budget_amount_local_micro: 140_000_000n,
      entity_status: 'DRAFT'
    },
    null
  )
  const loaded = { ...stored, daily_budget_amount_local_micro: 140_000_000, id: 'x', servable: false, to_delete: null }

  const { input, errors } = readInput(campaignUpdate, loaded)

  assert.deepEqual(errors, [])
  assert.deepEqual(validateCampaign(input, stored, context), [])
  assert.deepEqual(mergeCampaign(input, stored), stored)
})

test('a whole line item as loaded may be sent back, with values that nobody may write', () => {
  const { input: created } = readInput(lineItemCreate, {
    campaign_id: 'f4z6x',
    objective: 'ENGAGEMENTS',
    placements: 'ALL_ON_SVC',
    product_type: 'PROMOTED_TWEETS',
    start_time: '2026-02-02',
    bid_amount_local_micro: '320000'
  })
  const row = { ...mergeLineItem(created, null, context), start_time: '2026-02-02T00:00:00.000Z' }
  const loaded = { ...row, bid_amount_local_micro: 320_000, start_time: '2026-02-02T00:00:00Z', created_at: 'x' }

  const { input, errors } = readInput(lineItemUpdate, loaded)

  assert.equal(row.pay_by, 'ENGAGEMENT')
  assert.deepEqual(errors, [])
  assert.deepEqual(validateLineItem(input, row, context), [])
  assert.deepEqual(mergeLineItem(input, row, context), row)
})

test('wrong types are told in the usual words', () => {
  const { errors } = readInput(lineItemUpdate, {
    bid_amount_local_micro: 'much',
    start_time: 'soon',
    frequency_cap: '1.5'
  })

  assert.deepEqual(
    errors.map((item) => item.message),
    [
      'Expected Long, got "much" for bid_amount_local_micro',
      'Expected Integer, got "1.5" for frequency_cap',
      'Expected time, got "soon" for start_time'
    ]
  )
})

const FUNDING: [rule: string, raw: Record<string, unknown>, expected: string[]][] = [
  ...(
    [
      ['CREDIT_CARD', true, false],
      ['CREDIT_LINE', true, false],
      ['AGENCY_CREDIT_LINE', false, false],
      ['INSERTION_ORDER', false, true],
      ['PARTNER_MANAGED', false, false]
    ] as const
  ).flatMap(([type, limit, funded]): [string, Record<string, unknown>, string[]][] => [
    [
      `${type} ${limit ? 'has a' : 'has no'} credit limit`,
      { type, credit_limit_local_micro: 10_000 },
      limit ? [] : ['INVALID_PARAMETER credit_limit_local_micro']
    ],
    [
      `${type} ${funded ? 'has a' : 'has no'} funded amount`,
      { type, funded_amount_local_micro: '140000000000' },
      funded ? [] : ['INVALID_PARAMETER funded_amount_local_micro']
    ]
  ]),
  ['an end after the start', { type: 'CREDIT_CARD', end_time: '2017-07-11' }, []],
  ['a known type', { type: 'CASH' }, ['INVALID_PARAMETER type']],
  ['a known currency', { type: 'CREDIT_CARD', currency: 'XXX' }, ['INVALID_PARAMETER currency']],
  ['end after start', { type: 'CREDIT_CARD', end_time: '2017-07-10' }, ['INVALID_TIME_WINDOW end_time']],
  [
    'whole cents',
    { type: 'CREDIT_CARD', credit_limit_local_micro: 10_001 },
    ['INVALID_DENOMINATION credit_limit_local_micro']
  ]
]
for (const [rule, raw, expected] of FUNDING) {
  test(`funding instrument: ${rule}`, () => {
    const { input, errors } = readInput(fundingInstrumentCreate, { currency: 'USD', start_time: '2017-07-10', ...raw })

    assert.deepEqual(errors, [])
    assert.deepEqual(
      validateFundingInstrument(input, reference).map((item) => `${item.code} ${item.parameter}`),
      expected
    )
  })
}

test('funding instrument: currency, start_time and type are required', () => {
  assert.deepEqual(
    readInput(fundingInstrumentCreate, {}).errors.map((item) => item.parameter),
    ['currency', 'start_time', 'type']
  )
  assert.deepEqual(
    validateFundingInstrument({}, reference).map((item) => item.parameter),
    ['currency', 'start_time', 'type']
  )
})

for (const type of CREATIVE_TYPE_NAMES) {
  const preroll = type.includes('PREROLL')
  test(`landing_url of ${type} is ${preroll ? 'ignored' : 'needed for WEBSITE_CLICKS'}`, () => {
    const without = landingUrl(undefined, type, 'WEBSITE_CLICKS')
    const given = landingUrl('https://example.com/', type, 'WEBSITE_CLICKS')

    assert.deepEqual(
      without.problems.map((item) => item.code),
      preroll ? [] : ['MISSING_PARAMETER']
    )
    assert.equal(given.landing_url, preroll ? null : 'https://example.com/')
    assert.deepEqual(landingUrl(undefined, type, 'REACH').problems, [])
  })
}

test('landing_url is a web address of at most 2,000 characters', () => {
  const long = (length: number) => landingUrl('https://example.com/'.padEnd(length, 'x'), 'BANNER', 'REACH').problems

  assert.deepEqual(long(2_000), [])
  assert.equal(long(2_001).length, 1)
  assert.equal(landingUrl('example', 'BANNER', 'REACH').problems.length, 1)
  assert.equal(landingUrl('javascript:alert(1)', 'BANNER', 'REACH').problems[0]?.attribute, 'landing_url')
})
