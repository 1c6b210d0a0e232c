import assert from 'node:assert/strict'
import { test } from 'node:test'
import { readReference } from '../reference/load.ts'
import {
  type CampaignContext,
  type CampaignInput,
  type CampaignState,
  mergeCampaign,
  validateCampaign
} from './campaigns.ts'
import { statusOf } from './problems.ts'
import { ruleReference } from './reference.ts'

const context: CampaignContext = {
  fundingInstrument: { type: 'CREDIT_CARD', currency: 'USD', reasons_not_able_to_fund: [] },
  reference: ruleReference(readReference)
}
const daily = (micros: bigint) => ({ daily_budget_amount_local_micro: micros })
const total = (micros: bigint) => ({ total_budget_amount_local_micro: micros })
const valid: CampaignInput = { funding_instrument_id: 'lygyi', name: 'demo', ...daily(140_000_000n) }
const stored: CampaignState = mergeCampaign(valid, null)
const told = (input: CampaignInput, current: CampaignState | null = null, more: Partial<CampaignContext> = {}) =>
  validateCampaign(input, current, { ...context, ...more }).map((item) =>
    `${item.code} ${item.parameter ?? item.attribute ?? ''}`.trim()
  )
const under = (type: string): Partial<CampaignContext> => ({
  fundingInstrument: { type, currency: 'USD', reasons_not_able_to_fund: [] }
})
const without = (key: keyof CampaignInput) => Object.fromEntries(Object.entries(valid).filter(([name]) => name !== key))

const CREATES: [rule: string, input: CampaignInput, expected: string[], more?: Partial<CampaignContext>][] = [
  ['accepts name, instrument and daily budget', valid, []],
  ['funding_instrument_id is required', without('funding_instrument_id'), ['MISSING_PARAMETER funding_instrument_id']],
  ['name is required', without('name'), ['MISSING_PARAMETER name']],
  ['name is not empty', { ...valid, name: '' }, ['INVALID_PARAMETER name']],
  ['name has at most 255 characters', { ...valid, name: 'n'.repeat(255) }, []],
  ['name has no 256 characters', { ...valid, name: 'n'.repeat(256) }, ['INVALID_PARAMETER name']],
  ['name counts characters, not code units', { ...valid, name: '🦉'.repeat(255) }, []],
  ['budget_optimization may be LINE_ITEM', { ...valid, budget_optimization: 'LINE_ITEM' }, []],
  [
    'budget_optimization is CAMPAIGN or LINE_ITEM',
    { ...valid, budget_optimization: 'AD' },
    ['INVALID_PARAMETER budget_optimization']
  ],
  [
    'daily budget is required for a credit card',
    without('daily_budget_amount_local_micro'),
    ['MISSING_PARAMETER daily_budget_amount_local_micro']
  ],
  [
    'daily budget is required for a credit line',
    without('daily_budget_amount_local_micro'),
    ['MISSING_PARAMETER daily_budget_amount_local_micro'],
    under('CREDIT_LINE')
  ],
  [
    'daily budget is required for an agency credit line',
    without('daily_budget_amount_local_micro'),
    ['MISSING_PARAMETER daily_budget_amount_local_micro'],
    under('AGENCY_CREDIT_LINE')
  ],
  [
    'daily budget is not required for an insertion order',
    without('daily_budget_amount_local_micro'),
    [],
    under('INSERTION_ORDER')
  ],
  [
    'daily budget is not required for a partner managed instrument',
    without('daily_budget_amount_local_micro'),
    [],
    under('PARTNER_MANAGED')
  ],
  [
    'daily budget is not required when line items have the budgets',
    { ...without('daily_budget_amount_local_micro'), budget_optimization: 'LINE_ITEM' },
    []
  ],
  ['daily budget may equal the total', { ...valid, ...total(140_000_000n) }, []],
  [
    'daily budget is at most the total',
    { ...valid, ...total(130_000_000n) },
    ['SPEND_EXCEEDS_BUDGET daily_budget_amount_local_micro']
  ],
  ['daily budget is above zero', { ...valid, ...daily(0n) }, ['INVALID_PARAMETER daily_budget_amount_local_micro']],
  [
    'total budget is above zero',
    { ...valid, ...total(-10_000n) },
    ['INVALID_PARAMETER total_budget_amount_local_micro', 'SPEND_EXCEEDS_BUDGET daily_budget_amount_local_micro']
  ],
  [
    'amounts are multiples of the smallest unit: cents',
    { ...valid, ...daily(140_005_000n) },
    ['INVALID_DENOMINATION daily_budget_amount_local_micro']
  ],
  [
    'amounts are multiples of the smallest unit: whole yen',
    { ...valid, ...daily(1_500_000n) },
    ['INVALID_DENOMINATION daily_budget_amount_local_micro'],
    { fundingInstrument: { type: 'CREDIT_CARD', currency: 'JPY', reasons_not_able_to_fund: [] } }
  ],
  [
    'amounts are multiples of the smallest unit: a thousandth of a dinar',
    { ...valid, ...daily(1_001_000n) },
    [],
    { fundingInstrument: { type: 'CREDIT_CARD', currency: 'KWD', reasons_not_able_to_fund: [] } }
  ],
  ['amounts are exact beyond 2^53', { ...valid, ...daily(9_007_199_254_750_000n) }, []],
  ['entity_status may be DRAFT', { ...valid, entity_status: 'DRAFT' }, []],
  ['entity_status may be PAUSED', { ...valid, entity_status: 'PAUSED' }, []],
  ['entity_status is one of three', { ...valid, entity_status: 'RUNNING' }, ['INVALID_PARAMETER entity_status']],
  ['purchase_order_number has at most 50 characters', { ...valid, purchase_order_number: '1'.repeat(50) }, []],
  [
    'purchase_order_number has no 51 characters',
    { ...valid, purchase_order_number: '1'.repeat(51) },
    ['INVALID_PARAMETER purchase_order_number']
  ],
  ['standard_delivery may be false', { ...valid, standard_delivery: false }, []],
  [
    'standard_delivery only when budget_optimization is CAMPAIGN',
    { ...valid, budget_optimization: 'LINE_ITEM', standard_delivery: true },
    ['INVALID_PARAMETER standard_delivery']
  ],
  [
    'the instrument exists in the account',
    valid,
    ['FUNDING_INSTRUMENT_NOT_FOUND funding_instrument_id'],
    { fundingInstrument: null }
  ],
  [
    'the instrument is not deleted',
    valid,
    ['INVALID_FUNDING_INSTRUMENT funding_instrument_id'],
    { fundingInstrument: { type: 'CREDIT_CARD', currency: 'USD', reasons_not_able_to_fund: ['DELETED'] } }
  ],
  [
    'the instrument may start later',
    valid,
    [],
    { fundingInstrument: { type: 'CREDIT_CARD', currency: 'USD', reasons_not_able_to_fund: ['STARTS_IN_FUTURE'] } }
  ],
  ['the 200th active campaign is accepted', valid, [], { activeCampaigns: 199 }],
  ['the 201st active campaign is not', valid, ['TOO_MANY_CAMPAIGNS'], { activeCampaigns: 200 }],
  ['the limit can be raised', valid, [], { activeCampaigns: 200, activeCampaignsMax: 8_000 }],
  ['drafts are not limited', { ...valid, entity_status: 'DRAFT' }, [], { activeCampaigns: 200 }]
]
for (const [rule, input, expected, more] of CREATES) {
  test(`campaign create: ${rule}`, () => assert.deepEqual(told(input, null, more), expected))
}

const UPDATES: [rule: string, input: CampaignInput, expected: string[], more?: Partial<CampaignContext>][] = [
  ['everything is optional', {}, []],
  ['an empty name is refused', { name: null }, ['INVALID_PARAMETER name']],
  ['DRAFT cannot be returned to', { entity_status: 'DRAFT' }, ['INVALID_PARAMETER entity_status']],
  ['PAUSED is accepted', { entity_status: 'PAUSED' }, []],
  [
    'a required daily budget cannot be un-set',
    { daily_budget_amount_local_micro: null },
    ['MISSING_PARAMETER daily_budget_amount_local_micro']
  ],
  [
    'the merged daily budget is at most the total',
    total(100_000_000n),
    ['SPEND_EXCEEDS_BUDGET daily_budget_amount_local_micro']
  ],
  [
    'the total budget does not go below what is spent',
    { ...total(150_000_000n) },
    ['SPEND_EXCEEDS_BUDGET total_budget_amount_local_micro'],
    { spend_local_micro: 160_000_000n }
  ],
  ['the total budget may be just what is spent', { ...total(160_000_000n) }, [], { spend_local_micro: 160_000_000n }],
  ['the instrument is not asked again', { name: 'new' }, [], { fundingInstrument: null }],
  ['a foreign funding_instrument_id is ignored', { funding_instrument_id: 'other' }, []],
  ['an update adds no active campaign', { name: 'new' }, [], { activeCampaigns: 500 }],
  [
    'standard_delivery together with a move to LINE_ITEM is refused',
    { budget_optimization: 'LINE_ITEM', standard_delivery: false },
    ['INVALID_PARAMETER standard_delivery']
  ],
  [
    'the loaded standard_delivery may come along with a move to LINE_ITEM',
    { budget_optimization: 'LINE_ITEM', standard_delivery: true },
    []
  ]
]
for (const [rule, input, expected, more] of UPDATES) {
  test(`campaign update: ${rule}`, () => assert.deepEqual(told(input, stored, more), expected))
}

test('campaign update: activating a draft counts against the limit', () => {
  const draft = mergeCampaign({ ...valid, entity_status: 'DRAFT' }, null)

  assert.deepEqual(told({ entity_status: 'ACTIVE' }, draft, { activeCampaigns: 200 }), ['TOO_MANY_CAMPAIGNS'])
})

test('campaign update: sending back what was loaded is accepted and changes nothing', () => {
  for (const current of [stored, mergeCampaign({ ...valid, entity_status: 'DRAFT' }, null)]) {
    assert.deepEqual(told(current, current), [])
    assert.deepEqual(mergeCampaign(current, current), current)
  }
})

test('campaign update: a rule broken before does not stop a change of something else, but its own field', () => {
  const budgetless = { ...stored, daily_budget_amount_local_micro: null }

  assert.deepEqual(told({ name: 'new' }, budgetless), [])
  assert.deepEqual(told(daily(5n), budgetless), ['INVALID_DENOMINATION daily_budget_amount_local_micro'])
})

test('campaign defaults: CAMPAIGN, ACTIVE, standard delivery', () => {
  assert.equal(stored.budget_optimization, 'CAMPAIGN')
  assert.equal(stored.entity_status, 'ACTIVE')
  assert.equal(stored.standard_delivery, true)
  assert.equal(stored.total_budget_amount_local_micro, null)
})

test('campaign delivery: null under LINE_ITEM, true again under CAMPAIGN', () => {
  const moved = mergeCampaign({ budget_optimization: 'LINE_ITEM' }, { ...stored, standard_delivery: false })
  const back = mergeCampaign({ budget_optimization: 'CAMPAIGN' }, moved)

  assert.equal(moved.standard_delivery, null)
  assert.equal(back.standard_delivery, true)
})

test('campaign update: an empty value un-sets, an absent one stays', () => {
  const booked = mergeCampaign({ ...valid, purchase_order_number: 'PO 7', ...total(200_000_000n) }, null)
  const merged = mergeCampaign({ purchase_order_number: null }, booked)

  assert.equal(merged.purchase_order_number, null)
  assert.equal(merged.total_budget_amount_local_micro, 200_000_000n)
})

test('all problems of a request are told together, and the first decides the status', () => {
  const problems = validateCampaign({ entity_status: 'X' }, null, { ...context, fundingInstrument: null })

  assert.deepEqual(
    problems.map((item) => item.message),
    [
      '"funding_instrument_id" is a required parameter',
      '"name" is a required parameter',
      'Expected a value in {ACTIVE, DRAFT, PAUSED}, got "X" for entity_status'
    ]
  )
  assert.equal(statusOf(problems), 400)
  assert.equal(statusOf(validateCampaign(valid, null, { ...context, fundingInstrument: null })), 404)
})
