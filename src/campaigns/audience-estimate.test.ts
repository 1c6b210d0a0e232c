import assert from 'node:assert/strict'
import { writeFile } from 'node:fs/promises'
import path from 'node:path'
import { after, test } from 'node:test'
import { startApp } from '../../test/app.ts'
import { codes, givenAdvertiser, givenUser, type Json } from '../../test/given-ads.ts'
import { importAudience } from './audience-estimate.ts'

const app = await startApp({ after }, { HERALD_AUDIENCE_PEOPLE: '20000' })
const me = await givenAdvertiser(app)
const interest = { targeting_type: 'INTEREST', targeting_value: '1001' }
const women = { targeting_type: 'GENDER', targeting_value: '2' }
const estimate = (...targeting_criteria: Json[]) => me.post('audience_estimate', { targeting_criteria })

test('estimates a size between min and max, and echoes no criteria', async () => {
  const { status, body } = await estimate(interest)

  assert.equal(status, 200, JSON.stringify(body))
  assert.deepEqual(Object.keys(body.data), ['audience_size'])
  assert.deepEqual(Object.keys(body.data.audience_size).sort(), ['max', 'min'])
  assert.ok(body.data.audience_size.min > 0)
  assert.ok(body.data.audience_size.max > body.data.audience_size.min)
  assert.deepEqual(body.request, { params: { targeting_criteria: null, account_id: me.accountId } })
})

test('a narrowing criterion makes it smaller, a negated one takes away the rest', async () => {
  const { data: all } = await estimate(interest)
  const { data: some } = await estimate(interest, women)
  const { data: others } = await estimate(interest, { ...women, operator_type: 'NE' })

  assert.ok(some.audience_size.max < all.audience_size.max)
  assert.ok(others.audience_size.max < all.audience_size.max)
})

const refused: [what: string, input: Json, codes: string[]][] = [
  ['no criteria at all', {}, ['MISSING_PARAMETER targeting_criteria']],
  ['an empty array', { targeting_criteria: [] }, ['MISSING_PARAMETER targeting_criteria']],
  ['what is no array', { targeting_criteria: 'INTEREST' }, ['INVALID_PARAMETER targeting_criteria']],
  ['criteria without a primary one', { targeting_criteria: [women] }, ['INVALID_PARAMETER targeting_criteria']],
  [
    'an operator_type other than EQ and NE',
    { targeting_criteria: [{ ...interest, operator_type: 'GTE' }] },
    ['INVALID_PARAMETER targeting_criteria']
  ],
  [
    'an unknown type',
    { targeting_criteria: [{ targeting_type: 'MOOD', targeting_value: 'x' }] },
    ['INVALID_TARGETING_TYPE targeting_criteria']
  ],
  [
    'a value of no lookup',
    { targeting_criteria: [{ ...interest, targeting_value: 'x' }] },
    ['INVALID_PARAMETER targeting_criteria']
  ],
  [
    'a criterion without a value',
    { targeting_criteria: [{ targeting_type: 'INTEREST' }] },
    ['MISSING_PARAMETER targeting_criteria']
  ],
  ['a criterion that is none', { targeting_criteria: ['INTEREST'] }, ['INVALID_PARAMETER targeting_criteria']]
]
for (const [what, input, expected] of refused) {
  test(`refuses ${what}`, async () => {
    const answer = await me.post('audience_estimate', input)
    assert.equal(answer.status, 400)
    assert.deepEqual(codes(answer), expected)
    assert.deepEqual(answer.body.request.params, { targeting_criteria: null, account_id: me.accountId })
  })
}

test('changes nothing, so a client that may only read may ask', async () => {
  const { user, token } = await givenUser(app, { adsAccess: 'read' })
  const { accountId } = await givenAdvertiser(app, { ownerUserId: user.id })
  const answer = await app.apps.main.inject({
    method: 'POST',
    url: `/12/accounts/${accountId}/audience_estimate`,
    headers: { authorization: `Bearer ${token}` },
    payload: { targeting_criteria: [interest] }
  })
  assert.equal(answer.statusCode, 200, answer.body)
})

test('counts in a population of one’s own once it was imported', async () => {
  const file = path.join(app.deps.config.HERALD_DATA_DIR, 'people.ndjson')
  const person = (i: number) => JSON.stringify({ INTEREST: ['1001'], GENDER: [i % 4 === 0 ? '2' : '1'] })
  await writeFile(file, Array.from({ length: 2_000 }, (_, i) => person(i)).join('\n'))
  const heard = new Promise<void>((resolve) => app.deps.listener.on('audience', () => resolve()))

  assert.deepEqual(await importAudience(app.deps, file), { people: 2_000, held: 2_000 })
  await heard
  const { data } = await estimate(interest, women)

  assert.ok(data.audience_size.min <= 500 && data.audience_size.max >= 500, JSON.stringify(data))
  assert.ok(data.audience_size.max < 600)
})
