import assert from 'node:assert/strict'
import { after, test } from 'node:test'
import { startApp } from '../../test/app.ts'
import { codes, givenAdvertiser } from '../../test/given-ads.ts'
import { fundingInstruments } from './funding-instruments.ts'
import { updateRow } from './rows.ts'
import { FUNDING_TYPE_NAMES } from './rules/budgets.ts'

const app = await startApp({ after })
const sandbox = await givenAdvertiser(app, { environment: 'sandbox' })

const KEYS = [
  'able_to_fund',
  'account_id',
  'created_at',
  'credit_limit_local_micro',
  'credit_remaining_local_micro',
  'currency',
  'deleted',
  'description',
  'end_time',
  'entity_status',
  'funded_amount_local_micro',
  'id',
  'io_header',
  'reasons_not_able_to_fund',
  'start_time',
  'type',
  'updated_at'
]

const insertionOrder = {
  currency: 'USD',
  start_time: '2017-07-10',
  end_time: '2035-01-10T01:00:00+01:00',
  funded_amount_local_micro: '140000000000',
  type: 'INSERTION_ORDER'
}

test('makes a funding instrument in the sandbox, with all 17 keys', async () => {
  const { status, data, body } = await sandbox.post('funding_instruments', insertionOrder)

  assert.equal(status, 200, JSON.stringify(body))
  assert.deepEqual(Object.keys(data).sort(), KEYS)
  assert.equal(data.start_time, '2017-07-10T00:00:00Z')
  assert.equal(data.end_time, '2035-01-10T00:00:00Z')
  assert.equal(data.funded_amount_local_micro, 140000000000)
  assert.equal(data.description, '(no payment method has been set up yet)')
  assert.equal(data.entity_status, 'ACTIVE')
  assert.equal(data.able_to_fund, true)
  assert.deepEqual(data.reasons_not_able_to_fund, [])
  assert.equal(data.io_header, null)
  assert.equal(data.credit_remaining_local_micro, null)
  assert.deepEqual(body.request.params, {
    ...insertionOrder,
    start_time: '2017-07-10T00:00:00Z',
    end_time: '2035-01-10T00:00:00Z',
    funded_amount_local_micro: 140000000000,
    account_id: sandbox.accountId
  })
})

for (const type of FUNDING_TYPE_NAMES) {
  test(`takes the type ${type}`, async () => {
    const { data } = await sandbox.post('funding_instruments', { currency: 'JPY', start_time: '2020-01-01', type })
    assert.equal(data.type, type)
    assert.equal(data.currency, 'JPY')
  })
}

test('needs currency, start_time and type, and knows which values they take', async () => {
  const missing = await sandbox.post('funding_instruments', {})
  const wrong = await sandbox.post('funding_instruments', { currency: 'ABC', start_time: '2020-01-01', type: 'CASH' })
  const backwards = await sandbox.post('funding_instruments', { ...insertionOrder, end_time: '2017-07-09' })

  assert.deepEqual(codes(missing), [
    'MISSING_PARAMETER currency',
    'MISSING_PARAMETER start_time',
    'MISSING_PARAMETER type'
  ])
  assert.deepEqual(codes(wrong), ['INVALID_PARAMETER currency', 'INVALID_PARAMETER type'])
  assert.deepEqual(codes(backwards), ['INVALID_TIME_WINDOW end_time'])
})

test('a deleted instrument is able to fund nothing, and is gone for a second delete', async () => {
  const { data } = await sandbox.post('funding_instruments', insertionOrder)
  const path = `funding_instruments/${data.id}`

  const deleted = await sandbox.delete(path)

  assert.equal(deleted.data.deleted, true)
  assert.equal(deleted.data.able_to_fund, false)
  assert.ok(deleted.data.reasons_not_able_to_fund.includes('DELETED'))
  const again = await sandbox.delete(path)
  assert.equal(again.status, 404)
  assert.deepEqual(codes(again), ['FUNDING_INSTRUMENT_NOT_FOUND'])
  assert.equal((await sandbox.get(path)).status, 404)
  assert.deepEqual((await sandbox.get(path, { with_deleted: true })).data, deleted.data)
})

test('what an instrument is able to fund follows the clock and its state', async () => {
  const now = app.deps.clock.now()
  const day = (days: number) => `${new Date(now + days * 86_400_000).toISOString().slice(0, 19)}Z`
  const reasons = async (input: object) =>
    (await sandbox.post('funding_instruments', { ...insertionOrder, ...input })).data.reasons_not_able_to_fund

  assert.deepEqual(await reasons({ start_time: day(1) }), ['STARTS_IN_FUTURE'])
  assert.deepEqual(await reasons({ start_time: day(-2), end_time: day(-1) }), ['EXPIRED'])
  const { data } = await sandbox.post('funding_instruments', insertionOrder)
  const row = { account_id: sandbox.accountId, id: data.id }
  await updateRow(app.deps.database.db, fundingInstruments, row, { spend_local_micro: 140_000_000_000n })
  const exhausted = await sandbox.get(`funding_instruments/${data.id}`)
  assert.deepEqual(exhausted.data.reasons_not_able_to_fund, ['BUDGET_EXHAUSTED'])
})

test('a credit line in production shows what remains', async () => {
  const me = await givenAdvertiser(app, {
    funding: { type: 'CREDIT_LINE', credit_limit_local_micro: 9_007_199_254_740_993_000n }
  })
  const row = { account_id: me.accountId, id: me.fundingInstrumentId }
  await updateRow(app.deps.database.db, fundingInstruments, row, { spend_local_micro: 1_000n })

  const response = await app.apps.main.inject({
    url: `/12/accounts/${me.accountId}/funding_instruments/${me.fundingInstrumentId}`,
    headers: { authorization: `Bearer ${me.token}` }
  })

  assert.match(response.body, /"credit_limit_local_micro":9007199254740993000,/)
  assert.match(response.body, /"credit_remaining_local_micro":9007199254740992000,/)
})

test('making and deleting instruments does not exist in production', async () => {
  const me = await givenAdvertiser(app)

  assert.equal((await me.post('funding_instruments', insertionOrder)).status, 405)
  assert.equal((await me.delete(`funding_instruments/${me.fundingInstrumentId}`)).status, 405)
})
