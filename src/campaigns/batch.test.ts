import assert from 'node:assert/strict'
import { after, test } from 'node:test'
import { startApp } from '../../test/app.ts'
import { codes, givenAdvertiser, givenCampaign, givenLineItem, type Json } from '../../test/given-ads.ts'

const app = await startApp({ after })
const me = await givenAdvertiser(app)

const params = {
  name: 'batch',
  funding_instrument_id: me.fundingInstrumentId,
  daily_budget_amount_local_micro: 140_000_000
}
const create = (more: Json = {}) => ({ operation_type: 'Create', params: { ...params, ...more } })
const send = (items: unknown, query = '') => me.post(`/batch/accounts/${me.accountId}/campaigns${query}`, items)
const total = async () => (await me.get('campaigns', { with_total_count: true, count: 1 })).body.total_count

test('creates, updates and deletes in order, and answers in the order of the request', async () => {
  const [renamed, removed] = [await givenCampaign(me), await givenCampaign(me)]

  const { status, body } = await send([
    { operation_type: 'Update', params: { campaign_id: renamed.id, name: 'renamed' } },
    create({ entity_status: 'PAUSED' }),
    { operation_type: 'Delete', params: { ...removed, campaign_id: removed.id, to_delete: true } }
  ])

  assert.equal(status, 200, JSON.stringify(body))
  assert.deepEqual(Object.keys(body).sort(), ['data', 'request'])
  assert.deepEqual(
    body.data.map((row: Json) => [row.name, row.deleted]),
    [
      ['renamed', false],
      ['batch', false],
      ['demo', true]
    ]
  )
  assert.deepEqual(Object.keys(body.data[0]).sort(), Object.keys(renamed).sort())
  assert.deepEqual(body.request, [
    { params: { name: 'renamed', campaign_id: renamed.id, account_id: me.accountId }, operation_type: 'Update' },
    { params: { ...params, entity_status: 'PAUSED', account_id: me.accountId }, operation_type: 'Create' },
    { params: { campaign_id: removed.id, account_id: me.accountId }, operation_type: 'Delete' }
  ])
})

test('fails as a group, with the problems of each item at its place', async () => {
  const before = await total()

  const { status, body } = await send([
    create(),
    create({ name: undefined }),
    { operation_type: 'Update', params: { campaign_id: 'zzzz', name: 'x' } },
    { operation_type: 'Delete', params: {} }
  ])

  assert.equal(status, 400)
  assert.deepEqual(Object.keys(body).sort(), ['operation_errors', 'request'])
  assert.deepEqual(
    body.operation_errors.map((items: Json[]) => items.map((item) => item.code)),
    [[], ['MISSING_PARAMETER'], ['CAMPAIGN_NOT_FOUND'], ['MISSING_PARAMETER']]
  )
  assert.equal(body.operation_errors[1][0].parameter, 'name')
  assert.equal(body.request.length, 4)
  assert.equal(await total(), before)
})

const requestLevel: [what: string, items: unknown, codes: string[]][] = [
  ['more than 40 items', Array.from({ length: 41 }, () => create()), ['REQUEST_TOO_COMPLEX']],
  ['no items', [], ['INVALID_PARAMETER body']],
  ['an object instead of an array', create(), ['INVALID_PARAMETER body']],
  [
    'an unknown operation_type',
    [create(), { ...create(), operation_type: 'Upsert' }],
    ['INVALID_PARAMETER operation_type']
  ],
  ['no operation_type', [{ params }], ['INVALID_PARAMETER operation_type']],
  [
    'params that are none',
    [{ operation_type: 'Create', params: 'x' }, null],
    ['INVALID_PARAMETER params', 'INVALID_PARAMETER operation_type']
  ]
]
for (const [what, items, expected] of requestLevel) {
  test(`refuses ${what} as a whole`, async () => {
    const answer = await send(items)
    assert.equal(answer.status, 400)
    assert.deepEqual(codes(answer), expected)
    assert.ok(Array.isArray(answer.body.request))
    assert.equal(answer.body.operation_errors, undefined)
  })
}

test('refuses a form', async () => {
  const answer = await me.call('POST', `/batch/accounts/${me.accountId}/campaigns`, undefined, {
    headers: { authorization: `Bearer ${me.token}`, 'content-type': 'application/x-www-form-urlencoded' },
    payload: 'operation_type=Create'
  })
  assert.equal(answer.status, 400)
  assert.deepEqual(codes(answer), ['INVALID_PARAMETER body'])
})

test('takes 40 items', async () => {
  const { data } = await send(Array.from({ length: 40 }, (_, i) => create({ name: `of forty ${i}` })))
  assert.deepEqual(
    data.map((row: Json) => row.name),
    Array.from({ length: 40 }, (_, i) => `of forty ${i}`)
  )
})

test('later items stand on earlier ones: by reference, and by the room that they make', async () => {
  const other = await givenAdvertiser(app)
  await app.deps.database.db
    .updateTable('ad_accounts')
    .set({ active_campaigns_max: 1 })
    .where('id', '=', other.accountId)
    .execute()
  const old = await givenCampaign(other)
  const path = `/batch/accounts/${other.accountId}/campaigns`
  const fresh = create({ funding_instrument_id: other.fundingInstrumentId })
  const remove = { operation_type: 'Delete', params: { campaign_id: old.id } }

  const full = await other.post(path, [fresh, remove])
  const { body } = await other.post(path, [
    remove,
    fresh,
    { operation_type: 'Update', params: { campaign_id: '#1', name: 'by reference' } }
  ])

  assert.deepEqual(
    full.body.operation_errors[0].map((item: Json) => item.code),
    ['TOO_MANY_CAMPAIGNS']
  )
  assert.deepEqual(
    body.data.map((row: Json) => row.name),
    ['demo', 'by reference', 'by reference']
  )
  assert.equal(body.data[1].id, body.data[2].id)
  const forward = await other.post(path, [
    { operation_type: 'Update', params: { campaign_id: '#1', name: 'x' } },
    fresh
  ])
  assert.equal(forward.body.operation_errors[0][0].parameter, 'campaign_id')
})

test('validate_only goes through everything and keeps nothing', async () => {
  const before = await total()

  const good = await send([create()], '?validate_only=true')
  const bad = await send([create(), create({ name: '' })], '?validate_only=true')

  assert.equal(good.status, 200)
  assert.equal(good.data[0].name, 'batch')
  assert.equal(bad.status, 400)
  assert.equal(bad.body.operation_errors.length, 2)
  assert.equal(await total(), before)
})

test('line items come in batches too', async () => {
  const old = await givenLineItem(me)
  const { id: campaign_id } = await givenCampaign(me)
  const input = { campaign_id, objective: 'REACH', placements: ['ALL_ON_SVC'], product_type: 'PROMOTED_TWEETS' }

  const { status, body } = await me.post(`/batch/accounts/${me.accountId}/line_items`, [
    { operation_type: 'Create', params: input },
    { operation_type: 'Update', params: { line_item_id: '#0', name: 'new name' } },
    { operation_type: 'Delete', params: { line_item_id: old.id } }
  ])

  assert.equal(status, 200, JSON.stringify(body))
  assert.deepEqual(
    body.data.map((row: Json) => [row.name, row.deleted]),
    [
      ['new name', false],
      ['new name', false],
      [null, true]
    ]
  )
  const failed = await me.post(`/batch/accounts/${me.accountId}/line_items`, [
    { operation_type: 'Create', params: input },
    { operation_type: 'Create', params: { ...input, objective: 'ENGAGEMENTS' } }
  ])
  assert.deepEqual(
    failed.body.operation_errors[1].map((item: Json) => `${item.code} ${item.attribute}`),
    ['INVALID objective']
  )
})

test('five hundred targeting criteria are one batch; one more is too many', async () => {
  const { id: line_item_id } = await givenLineItem(me)
  const keyword = (i: number) => ({
    operation_type: 'Create',
    params: { line_item_id, targeting_type: 'BROAD_KEYWORD', targeting_value: `word ${i}` }
  })
  const path = `/batch/accounts/${me.accountId}/targeting_criteria`

  const { status, body } = await me.post(
    path,
    Array.from({ length: 500 }, (_, i) => keyword(i))
  )

  assert.equal(status, 200, JSON.stringify(body).slice(0, 500))
  assert.equal(body.data_type, 'targeting_criterion')
  assert.equal(body.data.length, 500)
  assert.equal(body.data[499].targeting_value, 'word 499')
  assert.deepEqual(
    codes(
      await me.post(
        path,
        Array.from({ length: 501 }, (_, i) => keyword(i))
      )
    ),
    ['REQUEST_TOO_COMPLEX']
  )
})

test('targeting batches know Create and Delete only, and what must come together', async () => {
  const { id: line_item_id } = await givenLineItem(me)
  const path = `/batch/accounts/${me.accountId}/targeting_criteria`
  const criterion = (targeting_type: string, targeting_value: string, more: Json = {}) => ({
    operation_type: 'Create',
    params: { line_item_id, targeting_type, targeting_value, ...more }
  })

  const wholeSet = await me.post(path, [criterion('IAB_CATEGORY', 'IAB5'), criterion('IAB_CATEGORY', 'IAB15')])
  const part = await me.post(path, [criterion('IAB_CATEGORY', 'IAB12')])
  const replaced = await me.post(path, [
    { operation_type: 'Delete', params: { targeting_criterion_id: wholeSet.data[0].id } },
    criterion('AGE', 'AGE_OVER_21'),
    criterion('AGE', 'AGE_OVER_21')
  ])

  assert.equal(wholeSet.status, 200, JSON.stringify(wholeSet.body))
  assert.equal(part.body.operation_errors[0][0].attribute, 'targeting_value')
  assert.equal(replaced.data[0].deleted, true)
  assert.equal(replaced.data[1].id, replaced.data[2].id)
  assert.deepEqual(codes(await me.post(path, [{ operation_type: 'Update', params: {} }])), [
    'INVALID_PARAMETER operation_type'
  ])
  const unknown = await me.post(path, [criterion('AGE', 'AGE_OVER_21', { line_item_id: 'zzzz' })])
  assert.equal(unknown.body.operation_errors[0][0].code, 'LINE_ITEM_NOT_FOUND')
})
