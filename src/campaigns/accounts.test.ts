import assert from 'node:assert/strict'
import { after, test } from 'node:test'
import { startApp } from '../../test/app.ts'
import { codes, givenAdvertiser } from '../../test/given-ads.ts'
import { INDUSTRY_TYPES } from './accounts.ts'

const app = await startApp({ after })
const LIST_KEYS = [
  'approval_status',
  'business_id',
  'business_name',
  'created_at',
  'deleted',
  'id',
  'name',
  'timezone',
  'timezone_switch_at',
  'updated_at'
]

test('lists the accounts of the user with ten keys each, and nobody else’s', async () => {
  const me = await givenAdvertiser(app)
  await givenAdvertiser(app)

  const { status, body } = await me.get('/accounts')

  assert.equal(status, 200)
  assert.deepEqual(
    body.data.map((account: { id: string }) => account.id),
    [me.accountId]
  )
  assert.deepEqual(Object.keys(body.data[0]).sort(), LIST_KEYS)
  assert.equal(body.next_cursor, null)
  assert.deepEqual(body.request, { params: {} })
  assert.match(body.data[0].created_at, /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\dZ$/)
})

test('filters accounts by account_ids and by q, a case-insensitive prefix of the name', async () => {
  const me = await givenAdvertiser(app, { name: 'Ünique Shop' })

  const names = async (query: object) =>
    (await me.get('/accounts', query)).data.map((one: { name: string }) => one.name)

  assert.deepEqual(await names({ q: 'üni' }), ['Ünique Shop'])
  assert.deepEqual(await names({ q: 'shop' }), [])
  assert.deepEqual(await names({ account_ids: me.accountId }), ['Ünique Shop'])
  assert.deepEqual(await names({ account_ids: 'zzzz' }), [])
})

test('shows industry_type on a single read and on an update', async () => {
  const me = await givenAdvertiser(app)

  const read = await me.get('')
  const updated = await me.put('', { name: 'Acme Ads 2', industry_type: 'TECHNOLOGY' })

  assert.deepEqual(Object.keys(read.data).sort(), [...LIST_KEYS, 'industry_type'].sort())
  assert.equal(read.data.industry_type, null)
  assert.equal(updated.data.name, 'Acme Ads 2')
  assert.equal(updated.data.industry_type, 'TECHNOLOGY')
  assert.deepEqual(updated.body.request.params, {
    account_id: me.accountId,
    name: 'Acme Ads 2',
    industry_type: 'TECHNOLOGY'
  })
  assert.equal((await me.put('', { industry_type: '' })).data.industry_type, null)
})

test('takes the 14 industries and no other, and never an empty name', async () => {
  const me = await givenAdvertiser(app)

  for (const industry_type of INDUSTRY_TYPES) {
    assert.equal((await me.put('', { industry_type })).data.industry_type, industry_type)
  }
  const refused = await me.put('', { name: '', industry_type: 'SPACE' })

  assert.equal(refused.status, 400)
  assert.deepEqual(codes(refused), ['INVALID_PARAMETER name', 'INVALID_PARAMETER industry_type'])
})

test('an account sent back as it was loaded changes nothing', async () => {
  const me = await givenAdvertiser(app)
  const { data } = await me.get('')

  assert.deepEqual((await me.put('', data)).data, data)
})

test('makes a sandbox account that has everything to try at once, as a list of one', async () => {
  const me = await givenAdvertiser(app, { environment: 'sandbox' })

  const { status, body } = await me.post('/accounts')

  assert.equal(status, 200)
  assert.equal(body.next_cursor, null)
  const [account] = body.data
  assert.equal(account.name, 'Sandbox account')
  assert.equal(account.timezone, 'America/Los_Angeles')
  assert.equal(account.timezone_switch_at, null)
  assert.equal(account.approval_status, 'ACCEPTED')
  const below = (path: string) => me.get(`/accounts/${account.id}/${path}`)
  assert.deepEqual((await below('authenticated_user_access')).data, {
    user_id: me.userId,
    permissions: ['ACCOUNT_ADMIN', 'TWEET_COMPOSER']
  })
  assert.deepEqual(
    (await below('promotable_users')).data.map((one: { user_id: string }) => one.user_id),
    [me.userId]
  )
  assert.equal((await below('account_apps')).data.length, 2)
  assert.equal((await below('account_media')).data.length, 3)
  assert.ok((await below('features')).data.includes('CPI_CHARGING'))
})

test('a deleted sandbox account is gone for every call but a look back', async () => {
  const me = await givenAdvertiser(app, { environment: 'sandbox' })

  const deleted = await me.delete('')

  assert.equal(deleted.data.deleted, true)
  for (const [method, path] of [
    ['GET', ''],
    ['GET', 'campaigns'],
    ['PUT', ''],
    ['DELETE', '']
  ] as const) {
    const { status, body } = await me.call(method, path)
    assert.equal(status, 403)
    assert.equal(body.errors[0].code, 'ACCOUNT_NOT_FOUND')
  }
  assert.equal((await me.get('', { with_deleted: true })).data.deleted, true)
  assert.deepEqual((await me.get('/accounts')).data, [])
  assert.equal((await me.get('/accounts', { with_deleted: true })).data.length, 1)
})

test('creating and deleting accounts does not exist in production', async () => {
  const me = await givenAdvertiser(app)

  assert.equal((await me.post('/accounts')).status, 405)
  assert.equal((await me.delete('')).status, 405)
})

test('validate_only answers as if, and makes no account', async () => {
  const me = await givenAdvertiser(app, { environment: 'sandbox' })

  const { status, body } = await me.post('/accounts', { validate_only: true })

  assert.equal(status, 200)
  assert.equal(body.data.length, 1)
  assert.equal((await me.get('/accounts')).data.length, 1)
})

test('sandbox and production accounts do not know each other', async () => {
  const me = await givenAdvertiser(app, { environment: 'sandbox' })

  const { status, body } = await me.call('GET', '', undefined, {})
  const other = await app.apps.main.inject({
    url: `/12/accounts/${me.accountId}`,
    headers: { authorization: `Bearer ${me.token}` }
  })

  assert.equal(status, 200, JSON.stringify(body))
  assert.equal(other.statusCode, 403)
  assert.equal(other.json().errors[0].code, 'ACCOUNT_NOT_FOUND')
})
