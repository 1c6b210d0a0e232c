import assert from 'node:assert/strict'
import { after, test } from 'node:test'
import { startApp } from '../../test/app.ts'
import { codes, givenAdvertiser, givenCampaign } from '../../test/given-ads.ts'
import { createFundingInstrument } from './funding-instruments.ts'

const app = await startApp({ after })
const me = await givenAdvertiser(app)

const KEYS = [
  'budget_optimization',
  'created_at',
  'currency',
  'daily_budget_amount_local_micro',
  'deleted',
  'duration_in_days',
  'effective_status',
  'entity_status',
  'frequency_cap',
  'funding_instrument_id',
  'id',
  'name',
  'purchase_order_number',
  'reasons_not_servable',
  'servable',
  'standard_delivery',
  'total_budget_amount_local_micro',
  'updated_at'
]
const minimal = {
  name: 'demo',
  funding_instrument_id: me.fundingInstrumentId,
  daily_budget_amount_local_micro: 140_000_000
}

test('creates a campaign with all 18 keys and the defaults of the document', async () => {
  const { status, data, body } = await me.post('campaigns', minimal)

  assert.equal(status, 200, JSON.stringify(body))
  assert.deepEqual(Object.keys(data).sort(), KEYS)
  assert.equal(data.budget_optimization, 'CAMPAIGN')
  assert.equal(data.entity_status, 'ACTIVE')
  assert.equal(data.standard_delivery, true)
  assert.equal(data.purchase_order_number, null)
  assert.equal(data.total_budget_amount_local_micro, null)
  assert.equal(data.currency, 'USD')
  assert.equal(data.duration_in_days, null)
  assert.equal(data.frequency_cap, null)
  assert.equal(data.servable, false)
  assert.deepEqual(data.reasons_not_servable, ['INCOMPLETE'])
  assert.equal(data.effective_status, 'UNKNOWN')
  assert.deepEqual(body.request.params, { ...minimal, account_id: me.accountId })
})

test('answers a paused campaign as in the published example', async () => {
  const { data } = await me.post('campaigns', { ...minimal, entity_status: 'PAUSED', standard_delivery: 'false' })

  assert.deepEqual(data.reasons_not_servable, ['PAUSED_BY_ADVERTISER', 'INCOMPLETE'])
  assert.equal(data.effective_status, 'UNKNOWN')
  assert.equal(data.standard_delivery, false)
})

test('inputs may come in the query, a form or JSON', async () => {
  const query = new URLSearchParams({ ...minimal, daily_budget_amount_local_micro: '140000000' }).toString()
  const url = `/12/accounts/${me.accountId}/campaigns`
  const headers = { authorization: `Bearer ${me.token}` }

  const inQuery = await app.apps.main.inject({ method: 'POST', url: `${url}?${query}`, headers })
  const inForm = await app.apps.main.inject({
    method: 'POST',
    url,
    headers: { ...headers, 'content-type': 'application/x-www-form-urlencoded' },
    payload: query
  })

  assert.equal(inQuery.statusCode, 200, inQuery.body)
  assert.equal(inForm.statusCode, 200, inForm.body)
  assert.equal(inForm.json().data.daily_budget_amount_local_micro, 140_000_000)
})

const refused: [what: string, input: object, codes: string[], status?: number][] = [
  [
    'funding_instrument_id and name',
    { name: undefined, funding_instrument_id: undefined },
    ['MISSING_PARAMETER funding_instrument_id', 'MISSING_PARAMETER name']
  ],
  ['a name of more than 255 characters', { name: 'x'.repeat(256) }, ['INVALID_PARAMETER name']],
  ['an empty name', { name: '' }, ['INVALID_PARAMETER name']],
  [
    'a purchase_order_number of more than 50 characters',
    { purchase_order_number: 'x'.repeat(51) },
    ['INVALID_PARAMETER purchase_order_number']
  ],
  [
    'a daily budget above the total',
    { total_budget_amount_local_micro: 130_000_000 },
    ['SPEND_EXCEEDS_BUDGET daily_budget_amount_local_micro']
  ],
  [
    'no daily budget under a credit card',
    { daily_budget_amount_local_micro: undefined },
    ['MISSING_PARAMETER daily_budget_amount_local_micro']
  ],
  ['a budget of zero', { daily_budget_amount_local_micro: 0 }, ['INVALID_PARAMETER daily_budget_amount_local_micro']],
  [
    'a budget that is no multiple of a cent',
    { daily_budget_amount_local_micro: 140_000_001 },
    ['INVALID_DENOMINATION daily_budget_amount_local_micro']
  ],
  [
    'a budget that is no Long',
    { daily_budget_amount_local_micro: '12.5' },
    ['INVALID_PARAMETER daily_budget_amount_local_micro']
  ],
  ['an unknown budget_optimization', { budget_optimization: 'ACCOUNT' }, ['INVALID_PARAMETER budget_optimization']],
  ['an unknown entity_status', { entity_status: 'DELETED' }, ['INVALID_PARAMETER entity_status']],
  [
    'standard_delivery with LINE_ITEM',
    { budget_optimization: 'LINE_ITEM', standard_delivery: true },
    ['INVALID_PARAMETER standard_delivery']
  ],
  [
    'an instrument of nobody',
    { funding_instrument_id: 'zzzz' },
    ['FUNDING_INSTRUMENT_NOT_FOUND funding_instrument_id'],
    404
  ]
]
for (const [what, input, expected, status = 400] of refused) {
  test(`refuses ${what}`, async () => {
    const answer = await me.post('campaigns', { ...minimal, ...input })
    assert.deepEqual(codes(answer), expected, JSON.stringify(answer.body))
    assert.equal(answer.status, status)
  })
}

test('takes the longest name and purchase_order_number', async () => {
  const { data } = await me.post('campaigns', {
    ...minimal,
    name: 'n'.repeat(255),
    purchase_order_number: 'p'.repeat(50)
  })
  assert.equal(data.name.length, 255)
  assert.equal(data.purchase_order_number.length, 50)
})

test('under LINE_ITEM a campaign has no delivery of its own and needs no daily budget', async () => {
  const { data } = await me.post('campaigns', {
    name: 'by line items',
    funding_instrument_id: me.fundingInstrumentId,
    budget_optimization: 'LINE_ITEM'
  })
  assert.equal(data.standard_delivery, null)
  assert.equal(data.daily_budget_amount_local_micro, null)
})

test('refuses an instrument that will never fund again', async () => {
  const expired = await createFundingInstrument(
    app.deps.database.db,
    me.accountId,
    { currency: 'USD', start_time: '2019-01-01T00:00:00Z', end_time: '2019-02-01T00:00:00Z', type: 'CREDIT_CARD' },
    new Date(app.deps.clock.now())
  )
  const answer = await me.post('campaigns', { ...minimal, funding_instrument_id: expired.id })
  assert.deepEqual(codes(answer), ['INVALID_FUNDING_INSTRUMENT funding_instrument_id'])
})

test('money beyond 2^53 stays exact on its way in and out', async () => {
  const amount = '9007199254740993000'
  const response = await app.apps.main.inject({
    method: 'POST',
    url: `/12/accounts/${me.accountId}/campaigns`,
    headers: { authorization: `Bearer ${me.token}`, 'content-type': 'application/json' },
    payload: `{"name":"big","funding_instrument_id":"${me.fundingInstrumentId}","daily_budget_amount_local_micro":9007199254740990000,"total_budget_amount_local_micro":${amount.replace('3000', '0000')}}`
  })
  assert.equal(response.statusCode, 200, response.body)
  assert.equal(response.body.match(/9007199254740990000/g)?.length, 4)
})

test('PUT is partial, an empty string un-sets, unknown and read-only fields are ignored', async () => {
  const { id } = await givenCampaign(me, {
    purchase_order_number: 'PO 1',
    total_budget_amount_local_micro: 500_000_000
  })

  const { data, body } = await me.put(`campaigns/${id}`, {
    name: 'renamed',
    purchase_order_number: '',
    servable: true,
    id: 'other',
    funding_instrument_id: 'zzzz',
    to_delete: true
  })

  assert.equal(data.name, 'renamed')
  assert.equal(data.purchase_order_number, null)
  assert.equal(data.total_budget_amount_local_micro, 500_000_000)
  assert.equal(data.id, id)
  assert.equal(data.servable, false)
  assert.deepEqual(body.request.params, {
    name: 'renamed',
    purchase_order_number: null,
    campaign_id: id,
    account_id: me.accountId
  })
})

test('a campaign sent back as it was loaded changes nothing, whatever its status', async () => {
  for (const entity_status of ['ACTIVE', 'PAUSED', 'DRAFT']) {
    for (const more of [{}, { budget_optimization: 'LINE_ITEM', daily_budget_amount_local_micro: undefined }]) {
      const created = await givenCampaign(me, { entity_status, ...more })
      const { data } = await me.put(`campaigns/${created.id}`, created)
      assert.deepEqual(data, created)
    }
  }
})

test('a campaign leaves DRAFT and never goes back', async () => {
  const { id } = await givenCampaign(me, { entity_status: 'DRAFT' })

  assert.deepEqual((await me.get(`campaigns/${id}`)).data.reasons_not_servable, [
    'AWAITING_APPROVAL_BY_ADVERTISER',
    'INCOMPLETE'
  ])
  assert.equal((await me.put(`campaigns/${id}`, { entity_status: 'ACTIVE' })).data.entity_status, 'ACTIVE')
  assert.deepEqual(codes(await me.put(`campaigns/${id}`, { entity_status: 'DRAFT' })), [
    'INVALID_PARAMETER entity_status'
  ])
})

test('deletes for good: servable is null, a second delete is a 404, and only with_deleted looks back', async () => {
  const { id } = await givenCampaign(me)

  const { data } = await me.delete(`campaigns/${id}`)

  assert.equal(data.deleted, true)
  assert.equal(data.servable, null)
  assert.deepEqual(data.reasons_not_servable, [])
  for (const method of ['DELETE', 'GET', 'PUT']) {
    const again = await me.call(method, `campaigns/${id}`)
    assert.equal(again.status, 404)
    assert.deepEqual(codes(again), ['CAMPAIGN_NOT_FOUND'])
  }
  assert.deepEqual((await me.get(`campaigns/${id}`, { with_deleted: true })).data, data)
})

test('lists by ids, instruments, name and status; drafts only when asked', async () => {
  const other = await givenAdvertiser(app)
  const shoes = await givenCampaign(other, { name: 'Shoes' })
  const draft = await givenCampaign(other, { name: 'shirts', entity_status: 'DRAFT' })
  const ids = async (query: object) => (await other.get('campaigns', query)).data.map((row: { id: string }) => row.id)

  assert.deepEqual(await ids({}), [shoes.id])
  assert.deepEqual(await ids({ with_draft: true }), [shoes.id, draft.id])
  assert.deepEqual(await ids({ q: 'SH', with_draft: true }), [shoes.id, draft.id])
  assert.deepEqual(await ids({ q: 'sho', with_draft: true }), [shoes.id])
  assert.deepEqual(await ids({ campaign_ids: `${draft.id},zz`, with_draft: true }), [draft.id])
  assert.deepEqual(await ids({ funding_instrument_ids: other.fundingInstrumentId }), [shoes.id])
  assert.deepEqual(await ids({ funding_instrument_ids: 'zz' }), [])
})

test('validate_only says what is wrong or what would be, and keeps nothing', async () => {
  const other = await givenAdvertiser(app)

  const good = await other.post('campaigns', {
    ...minimal,
    funding_instrument_id: other.fundingInstrumentId,
    validate_only: true
  })
  const bad = await other.post('campaigns', { ...minimal, name: '', validate_only: true })

  assert.equal(good.status, 200)
  assert.equal(good.data.name, 'demo')
  assert.equal(bad.status, 400)
  assert.deepEqual((await other.get('campaigns')).data, [])
})

test('someone else’s campaign looks like none', async () => {
  const other = await givenAdvertiser(app)
  const { id } = await givenCampaign(other)

  const answer = await me.get(`campaigns/${id}`)

  assert.equal(answer.status, 404)
  assert.equal(answer.body.errors[0].message, `Campaign ${id} was not found`)
})

test('two hundred parallel creations end at exactly the limit', async () => {
  const other = await givenAdvertiser(app)
  await app.deps.database.db
    .updateTable('ad_accounts')
    .set({ active_campaigns_max: 20 })
    .where('id', '=', other.accountId)
    .execute()
  const input = { ...minimal, funding_instrument_id: other.fundingInstrumentId }

  const answers = await Promise.all(Array.from({ length: 200 }, () => other.post('campaigns', input)))

  assert.equal(answers.filter(({ status }) => status === 200).length, 20)
  assert.deepEqual([...new Set(answers.filter(({ status }) => status !== 200).flatMap(codes))], ['TOO_MANY_CAMPAIGNS'])
  assert.equal((await other.get('campaigns', { with_total_count: true })).body.total_count, 20)
  // "No limit on inactive campaigns": a draft does not count, and neither does one that was deleted.
  assert.equal((await other.post('campaigns', { ...input, entity_status: 'DRAFT' })).status, 200)
  await other.delete(`campaigns/${answers.find(({ status }) => status === 200)!.data.id}`)
  assert.equal((await other.post('campaigns', { ...input, entity_status: 'PAUSED' })).status, 200)
  assert.deepEqual(codes(await other.post('campaigns', input)), ['TOO_MANY_CAMPAIGNS'])
})

test('a list of campaigns with one of some statuses', async () => {
  const me = await givenAdvertiser(app)
  for (const entity_status of ['ACTIVE', 'PAUSED', 'DRAFT'])
    await givenCampaign(me, { name: entity_status, entity_status })
  const names = async (query: object) =>
    (await me.get('campaigns', query)).data.map((row: { name: string }) => row.name)
  assert.deepEqual(await names({ entity_statuses: 'PAUSED,DRAFT', with_draft: true }), ['PAUSED', 'DRAFT'])
  assert.deepEqual(await names({ entity_statuses: 'PAUSED,DRAFT' }), ['PAUSED'])
  assert.deepEqual(codes(await me.get('campaigns', { entity_statuses: 'RUNNING' })), [
    'INVALID_PARAMETER entity_statuses'
  ])
})
