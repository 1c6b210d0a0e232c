import assert from 'node:assert/strict'
import { after, test } from 'node:test'
import { startApp, TEST_ADMIN_TOKEN } from '../../test/app.ts'
import { caller, codes, givenUser } from '../../test/given-ads.ts'
import { givenMerchant, givenProducts, product } from '../../test/given-catalog.ts'
import { ALLOW_LISTS, allow } from '../identity/index.ts'

const app = await startApp({ after })
const admin = { authorization: `Bearer ${TEST_ADMIN_TOKEN}` }

for (const environment of ['production', 'sandbox'] as const) {
  test(`${environment}: a catalog is created, listed, renamed and deleted, and echoes as documented`, async () => {
    const merchant = await givenMerchant(app, { environment, catalog: false })

    const created = await merchant.post('/product_catalogs', { name: 'spring shop' })
    assert.equal(created.status, 200)
    assert.match(created.data.id, /^[0-9]{19}$/)
    assert.deepEqual(created.body, {
      request: { params: { name: 'spring shop' } },
      data: { id: created.data.id, name: 'spring shop' }
    })

    const { id } = created.data
    assert.deepEqual((await merchant.get('/product_catalogs')).body, {
      request: { params: {} },
      next_cursor: null,
      data: [{ id, name: 'spring shop' }]
    })
    assert.deepEqual((await merchant.put(`/product_catalogs/${id}`, { name: 'summer' })).body, {
      request: { params: { id, name: 'summer' } },
      data: { id, name: 'summer' }
    })
    assert.deepEqual((await merchant.delete(`/product_catalogs/${id}`)).body, {
      request: { params: { id } },
      data: { id, name: 'summer' }
    })
    assert.deepEqual(codes(await merchant.delete(`/product_catalogs/${id}`)), ['NOT_FOUND'])
    assert.deepEqual((await merchant.get('/product_catalogs')).data, [])
  })

  test(`${environment}: "One user can create only one catalog"`, async () => {
    const merchant = await givenMerchant(app, { environment })

    const second = await merchant.post('/product_catalogs', { name: 'second' })

    assert.equal(second.status, 400)
    assert.deepEqual(codes(second), ['INVALID user_id'])
    assert.equal((await merchant.get('/product_catalogs')).data.length, 1)
  })

  test(`${environment}: scalar inputs come in the query string, in a form or as JSON`, async () => {
    const forms = [
      { query: { name: 'by query' } },
      { payload: 'name=by+form', headers: { 'content-type': 'application/x-www-form-urlencoded' } },
      { payload: { name: 'by json' } }
    ]
    const names: string[] = []
    for (const { headers = {}, ...form } of forms) {
      const merchant = await givenMerchant(app, { environment, catalog: false })
      const more = { ...form, headers: { ...headers, authorization: `Bearer ${merchant.token}` } }
      names.push((await merchant.call('POST', '/product_catalogs', undefined, more)).data.name)
    }
    assert.deepEqual(names, ['by query', 'by form', 'by json'])
  })

  test(`${environment}: what is wrong with a catalog request is said by code and parameter`, async () => {
    const merchant = await givenMerchant(app, { environment })
    const other = await givenMerchant(app, { environment })
    const cases: [method: string, path: string, input: object | undefined, status: number, codes: string[]][] = [
      ['POST', '/product_catalogs', {}, 400, ['MISSING_PARAMETER name']],
      ['POST', '/product_catalogs', { name: '' }, 400, ['INVALID_PARAMETER name']],
      ['PUT', '', undefined, 400, ['MISSING_PARAMETER name']],
      ['GET', '/product_catalogs', { user_id: 'me' }, 400, ['INVALID_PARAMETER user_id']],
      ['GET', '/product_catalogs', { user_id: other.userId }, 403, ['ACTION_NOT_ALLOWED']],
      ['POST', '/product_catalogs', { name: 'x', user_id: other.userId }, 403, ['ACTION_NOT_ALLOWED']],
      ['GET', '/product_catalogs', { user_id: '1' }, 403, ['ACTION_NOT_ALLOWED']],
      ['PUT', `/product_catalogs/${other.catalogId}`, { name: 'mine' }, 404, ['NOT_FOUND']],
      ['DELETE', `/product_catalogs/${other.catalogId}`, undefined, 404, ['NOT_FOUND']],
      ['DELETE', '/product_catalogs/42', undefined, 404, ['NOT_FOUND']],
      ['DELETE', '/product_catalogs/abc', undefined, 404, ['INVALID_ID_ILLEGAL_CHARACTERS product_catalog_id']]
    ]
    for (const [method, path, input, status, expected] of cases) {
      const answer = await merchant.call(method, path, input)
      assert.deepEqual([answer.status, codes(answer)], [status, expected], `${method} ${path} ${JSON.stringify(input)}`)
    }
    const long = await merchant.get('/product_catalogs', { user_id: 'me' })
    assert.match(long.body.errors[0].message, /^Expected Long, got "me"/)
  })

  test(`${environment}: without early access every endpoint refuses before it looks at the request`, async () => {
    const merchant = await givenMerchant(app, { environment, earlyAccess: false, catalog: false })
    for (const [method, path] of [
      ['GET', '/product_catalogs'],
      ['POST', '/product_catalogs'],
      ['PUT', '/product_catalogs/1'],
      ['DELETE', '/product_catalogs/1'],
      ['GET', '/product_catalogs/1/products'],
      ['PUT', '/product_catalogs/1/products'],
      ['DELETE', '/product_catalogs/1/products'],
      ['GET', '/product_catalogs/1/product_sets/1'],
      ['POST', '/product_catalogs/1/product_sets'],
      ['PUT', '/product_catalogs/1/product_sets/1'],
      ['DELETE', '/product_catalogs/1/product_sets/1'],
      ['GET', '/product_catalogs/1/scheduled_feeds'],
      ['POST', '/product_catalogs/1/scheduled_feeds'],
      ['PUT', '/product_catalogs/1/scheduled_feeds/1'],
      ['DELETE', '/product_catalogs/1/scheduled_feeds/1']
    ] as const) {
      const answer = await merchant.call(method, path)
      assert.deepEqual([answer.status, codes(answer)], [403, ['UNAUTHORIZED_CLIENT_APPLICATION']], `${method} ${path}`)
      assert.deepEqual(answer.body, {
        errors: [
          {
            code: 'UNAUTHORIZED_CLIENT_APPLICATION',
            message: 'The client application making this request does not have access to this API',
            details: 'Catalogs are available by early access only; ask the operator for it.'
          }
        ],
        request: { params: {} }
      })
    }
  })

  test(`${environment}: a delegate acts on the catalogs of another user, and no longer when that is taken away`, async () => {
    const owner = await givenMerchant(app, { environment })
    const delegate = await givenMerchant(app, { environment, catalog: false })
    const url = `/admin/users/${owner.userId}/catalog_delegates/${delegate.userId}`
    const granted = await app.apps.main.inject({ method: 'PUT', url, headers: admin })
    assert.equal(granted.statusCode, 200, granted.body)

    const listed = await delegate.get('/product_catalogs', { user_id: owner.userId })
    assert.deepEqual(listed.data, [{ id: owner.catalogId, name: 'Shop' }])
    assert.equal(String(listed.body.request.params.user_id).slice(0, 5), owner.userId.slice(0, 5))
    const renamed = await delegate.put(`/product_catalogs/${owner.catalogId}`, { name: 'By the agency' })
    assert.equal(renamed.status, 200)
    assert.equal((await owner.get('/product_catalogs', { user_id: delegate.userId })).status, 403, 'not the other way')

    await app.apps.main.inject({ method: 'DELETE', url, headers: admin })
    assert.equal((await delegate.get('/product_catalogs', { user_id: owner.userId })).status, 403)
    assert.equal((await delegate.put(`/product_catalogs/${owner.catalogId}`, { name: 'x' })).status, 404)
  })
}

test('catalogs of one environment do not exist in the other', async () => {
  const merchant = await givenMerchant(app)
  await givenProducts(merchant, [product('a')])
  const sandbox = caller(app, 'sandbox', merchant.token, '')

  assert.deepEqual((await sandbox('GET', '/product_catalogs')).data, [])
  for (const path of ['products', 'product_sets', 'scheduled_feeds'])
    assert.equal((await sandbox('GET', `/product_catalogs/${merchant.catalogId}/${path}`)).status, 404)
})

test('early access of the client application is enough', async () => {
  const { app: client, token } = await givenUser(app)
  const entry = { list: ALLOW_LISTS.catalogEarlyAccess, subject_kind: 'app', subject_id: client.id } as const
  await allow(app.deps.database.db, entry, new Date(app.deps.clock.now()))

  assert.equal((await caller(app, 'production', token, '')('GET', '/product_catalogs')).status, 200)
})

test('everything in a deleted catalog is gone', async () => {
  const merchant = await givenMerchant(app)
  await givenProducts(merchant, [product('a', { item_group_id: 'g' }), product('b', { item_group_id: 'g' })])
  const filters = [{ attribute: 'price', operator: 'GREATER_THAN', value: '1.00 USD' }]
  await merchant.post('product_sets', { name: 's', type: 'FILTERED', filters })

  await merchant.delete('')
  await app.drain()

  for (const table of ['products', 'item_groups', 'product_sets', 'product_set_members'] as const) {
    const rows = await app.deps.database.db
      .selectFrom(table)
      .selectAll()
      .where('catalog_id', '=', merchant.catalogId)
      .execute()
    assert.deepEqual(rows, [], table)
  }
  assert.equal((await merchant.get('products')).status, 404)
})
