/** What every route of the advertising API promises, asked of every route that there is, on both listeners. */
import assert from 'node:assert/strict'
import { after, test } from 'node:test'
import type { FastifyInstance } from 'fastify'
import type { Environment } from '../src/http/ads.ts'
import { ACCOUNT_PERMISSIONS, appBearerToken, createApp, grantAccountAccess } from '../src/identity/index.ts'
import { startApp } from './app.ts'
import { type Advertiser, givenAdvertiser, givenCampaign, givenLineItem, givenUser, type Json } from './given-ads.ts'

const app = await startApp({ after })
const { db } = app.deps.database
const now = () => new Date(app.deps.clock.now())
const listeners: Record<Environment, FastifyInstance> = { production: app.apps.main, sandbox: app.apps.sandbox }

interface Route {
  environment: Environment
  method: string
  path: string
}

const routes: Route[] = (Object.keys(listeners) as Environment[]).flatMap((environment) => {
  const { paths } = listeners[environment].swagger() as unknown as { paths: Record<string, Record<string, unknown>> }
  return Object.entries(paths)
    .filter(([path]) => path.startsWith('/12/'))
    .flatMap(([path, methods]) =>
      Object.keys(methods).map((method) => ({ environment, method: method.toUpperCase(), path }))
    )
})
const ofAccount = routes.filter((route) => route.path.includes('{account_id}'))
const named = ({ method, path }: Route) => `${method} ${path}`

const UNKNOWN = 'zzzzzzzzzzzz'
/** Enough for every write to get past its required parameters, none of which is there. */
const EVERYTHING = {
  tracking_tag_url: 'https://tags.example.com/1',
  line_item_id: UNKNOWN,
  campaign_id: UNKNOWN,
  curated_category_id: UNKNOWN
}

async function ask(
  { environment, method, path }: Route,
  token: string | undefined,
  ids: Record<string, string>,
  query = ''
) {
  const url = path.replace(/\{(\w+)\}/g, (_, name: string) => encodeURIComponent(ids[name] ?? UNKNOWN))
  const batch = path.includes('/batch/')
  const response = await listeners[environment].inject({
    method: method as 'GET',
    url: `${url}?validate_only=true${query}`,
    headers: token === undefined ? {} : { authorization: `Bearer ${token}` },
    ...(['POST', 'PUT'].includes(method) ? { payload: batch ? [] : EVERYTHING } : {})
  })
  return { status: response.statusCode, body: response.json() as Json, headers: response.headers }
}

test('there are routes of every kind on both listeners, and six calls only in the sandbox', () => {
  const list = (environment: Environment) => routes.filter((route) => route.environment === environment).map(named)
  const sandboxOnly = list('sandbox').filter((route) => !list('production').includes(route))

  assert.ok(ofAccount.length > 100, `${ofAccount.length} routes below accounts`)
  assert.deepEqual(
    list('production').filter((route) => !list('sandbox').includes(route)),
    []
  )
  assert.deepEqual(sandboxOnly.sort(), [
    'DELETE /12/accounts/{account_id}',
    'DELETE /12/accounts/{account_id}/features',
    'DELETE /12/accounts/{account_id}/funding_instruments/{funding_instrument_id}',
    'POST /12/accounts',
    'POST /12/accounts/{account_id}/features',
    'POST /12/accounts/{account_id}/funding_instruments'
  ])
})

test('no route answers without a token, nor with the token of an app alone', async () => {
  const client = await createApp(db, app.deps.vault, { name: 'alone', ads_access: 'read-write' }, now())
  const bearer = await appBearerToken(db, app.deps.vault, client.id, now())
  for (const route of routes) {
    for (const token of [undefined, bearer, 'nonsense']) {
      const { status, body, headers } = await ask(route, token, {})
      assert.equal(status, 401, named(route))
      assert.deepEqual(body, {
        errors: [{ code: 'UNAUTHORIZED_ACCESS', message: 'This request is not properly authenticated' }],
        request: { params: {} }
      })
      assert.ok(headers['x-rate-limit-reset'])
    }
  }
})

test('no route answers for an account that is unknown, someone else’s, or of the other listener', async () => {
  const me = { production: await givenAdvertiser(app), sandbox: await givenAdvertiser(app, { environment: 'sandbox' }) }
  const { user, token } = await givenUser(app)
  const own = await givenAdvertiser(app, { environment: 'sandbox', ownerUserId: user.id })
  for (const route of ofAccount) {
    const other = route.environment === 'production' ? own.accountId : me.production.accountId
    for (const account_id of [UNKNOWN, me[route.environment].accountId, other, '1234567890123456789']) {
      const { status, body } = await ask(route, token, { account_id })
      assert.equal(status, 403, named(route))
      assert.equal(body.errors[0].code, 'ACCOUNT_NOT_FOUND', named(route))
      assert.deepEqual(body.request, { params: {} })
    }
  }
})

const ADMIN = ['ACCOUNT_ADMIN']
const MANAGERS = [...ADMIN, 'AD_MANAGER']
const CREATORS = [...MANAGERS, 'CREATIVE_MANAGER']
const READERS = [...CREATORS, 'CAMPAIGN_ANALYST']
const EVERYONE = [...READERS, 'ANALYST', 'PARTNER_AUDIENCE_MANAGER']

/** "Permission meanings" of the document, by what a call is about. */
function whoMay({ method, path }: Route): string[] {
  const about = path.replace(/^\/12\/(batch\/)?accounts\/\{account_id\}\/?/, '').split('/')[0]!
  if (about === 'authenticated_user_access') return EVERYONE
  if (about === '' || about === 'features') return method === 'GET' ? EVERYONE : ADMIN
  if (about === 'media_creatives' || about === 'account_media') return CREATORS
  if (method === 'GET' || about === 'audience_estimate') return READERS
  return MANAGERS
}

test('TWEET_COMPOSER exists only beside a permission that composes', async () => {
  const { accountId, userId } = await givenAdvertiser(app)
  const grant = (permissions: string[]) =>
    grantAccountAccess(db, { account_id: accountId, user_id: userId, permissions }, now())
  await assert.rejects(grant(['TWEET_COMPOSER']), /TWEET_COMPOSER needs one of/)
  await assert.rejects(grant(['TWEET_COMPOSER', 'CAMPAIGN_ANALYST']), /TWEET_COMPOSER needs one of/)
})

for (const permission of ACCOUNT_PERMISSIONS) {
  test(`${permission} opens what it means, and nothing else`, async () => {
    const accounts = {
      production: await givenAdvertiser(app),
      sandbox: await givenAdvertiser(app, { environment: 'sandbox' })
    }
    const { user, token } = await givenUser(app)
    // Alone it cannot be; it adds nothing to its companion.
    const permissions = permission === 'TWEET_COMPOSER' ? ['CREATIVE_MANAGER', permission] : [permission]
    for (const { accountId } of Object.values(accounts)) {
      await grantAccountAccess(db, { account_id: accountId, user_id: user.id, permissions }, now())
    }
    for (const route of ofAccount) {
      const { status, body } = await ask(route, token, { account_id: accounts[route.environment].accountId })
      const may = whoMay(route).some((each) => permissions.includes(each))
      assert.equal(status === 403, !may, `${named(route)} answered ${status} ${JSON.stringify(body.errors)}`)
      if (!may) assert.equal(body.errors[0].code, 'ACTION_NOT_ALLOWED')
      assert.ok(status < 500, named(route))
    }
  })
}

/** One of each entity, by the name of its path parameter. */
async function givenEverything(me: Advertiser): Promise<Record<string, string>> {
  const { id: campaign_id } = await givenCampaign(me)
  const { id: line_item_id } = await givenLineItem(me, { campaign_id })
  const followers = await givenLineItem(me, { objective: 'FOLLOWERS', product_type: 'PROMOTED_ACCOUNT' })
  const location = { line_item_id, targeting_type: 'LOCATION', targeting_value: '96683cc9126741d1' }
  const targeting = await me.post('targeting_criteria', location)
  const [media] = (await me.get('account_media', { creative_types: 'BANNER' })).data
  const [category] = (await me.get('curated_categories', { country_codes: 'US' })).data
  const made = {
    promoted_tweet_id: (await me.post('promoted_tweets', { line_item_id, tweet_ids: '1' })).data[0],
    promoted_account_id: (await me.post('promoted_accounts', { line_item_id: followers.id, user_id: me.userId })).data,
    media_creative_id: (await me.post('media_creatives', { line_item_id, account_media_id: media.id })).data,
    tracking_tag_id: (
      await me.post('tracking_tags', {
        line_item_id,
        tracking_tag_type: 'CLICK_TRACKER',
        tracking_tag_url: 'https://t.example.com/'
      })
    ).data,
    line_item_curated_category_id: (
      await me.post('line_item_curated_categories', { line_item_id, curated_category_id: category.id })
    ).data,
    targeting_criterion_id: targeting.data,
    account_media_id: media,
    promotable_user_id: (await me.get('promotable_users')).data[0]
  }
  const ids = Object.fromEntries(Object.entries(made).map(([name, row]) => [name, (row as Json).id]))
  return { campaign_id, line_item_id, funding_instrument_id: me.fundingInstrumentId, ...ids }
}

const LISTS = [
  'campaigns',
  'line_items',
  'funding_instruments',
  'promoted_tweets',
  'promoted_accounts',
  'media_creatives',
  'tracking_tags',
  'line_item_curated_categories',
  'account_media',
  'account_apps',
  'promotable_users'
]

async function everythingOf(me: Advertiser) {
  const rows = await Promise.all(LISTS.map(async (path) => [path, (await me.get(path, { with_deleted: true })).data]))
  return Object.fromEntries(rows)
}

test('the ids of another account look like ids of nothing, and nothing of it changes', async () => {
  for (const environment of ['production', 'sandbox'] as const) {
    const [me, other] = [await givenAdvertiser(app, { environment }), await givenAdvertiser(app, { environment })]
    const theirs = await givenEverything(other)
    const before = await everythingOf(other)
    const withId = ofAccount.filter(
      (route) => route.environment === environment && /\{(?!account_id|curated_)\w+\}/.test(route.path)
    )
    assert.ok(withId.length > 25, `${withId.length} routes with ids`)
    for (const route of withId) {
      const foreign = await ask(route, me.token, { ...theirs, account_id: me.accountId })
      const unknown = await ask(route, me.token, { account_id: me.accountId })
      const illegal = await ask(route, me.token, {
        account_id: me.accountId,
        ...Object.fromEntries(Object.keys(theirs).map((name) => [name, 'NO!']))
      })
      assert.equal(foreign.status, 404, `${named(route)} ${JSON.stringify(foreign.body)}`)
      assert.equal(unknown.status, 404, named(route))
      assert.match(unknown.body.errors[0].code, /^(\w+_)?NOT_FOUND$/)
      assert.equal(foreign.body.errors[0].code, unknown.body.errors[0].code)
      assert.equal(illegal.status, 404, named(route))
      assert.equal(illegal.body.errors[0].code, 'INVALID_ID_ILLEGAL_CHARACTERS')
    }
    assert.deepEqual(await everythingOf(other), before)
  }
})

test('nothing of another account can be referred to', async () => {
  const [me, other] = [await givenAdvertiser(app), await givenAdvertiser(app)]
  const theirs = await givenEverything(other)
  const lineItem = { objective: 'ENGAGEMENTS', placements: 'ALL_ON_SVC', product_type: 'PROMOTED_TWEETS' }
  const { line_item_id } = theirs
  const references: [path: string, input: Json][] = [
    [
      'campaigns',
      { name: 'x', daily_budget_amount_local_micro: 1_000_000, funding_instrument_id: theirs.funding_instrument_id }
    ],
    ['line_items', { ...lineItem, campaign_id: theirs.campaign_id }],
    ['promoted_tweets', { line_item_id, tweet_ids: 1 }],
    ['promoted_accounts', { line_item_id, user_id: me.userId }],
    ['media_creatives', { line_item_id, account_media_id: theirs.account_media_id }],
    ['media_creatives', { line_item_id: (await givenLineItem(me)).id, account_media_id: theirs.account_media_id }],
    ['targeting_criteria', { line_item_id, targeting_type: 'GENDER', targeting_value: '1' }],
    ['tracking_tags', { line_item_id, tracking_tag_type: 'CLICK_TRACKER', tracking_tag_url: 'https://t.example.com/' }],
    ['line_item_curated_categories', { line_item_id, curated_category_id: UNKNOWN }]
  ]
  for (const [path, input] of references) {
    const { status, body } = await me.post(path, input)
    assert.equal(status, 404, `${path} ${JSON.stringify(body)}`)
  }
  for (const [path, filter, id] of [
    ['campaigns', 'campaign_ids', theirs.campaign_id],
    ['line_items', 'line_item_ids', line_item_id],
    ['targeting_criteria', 'line_item_ids', line_item_id],
    ['promoted_tweets', 'promoted_tweet_ids', theirs.promoted_tweet_id],
    ['media_creatives', 'media_creative_ids', theirs.media_creative_id]
  ] as const) {
    assert.deepEqual((await me.get(path, { [filter]: id })).data, [], path)
  }
})

test('every entity that can be updated is accepted as it was loaded, and does not change', async () => {
  const me = await givenAdvertiser(app, { environment: 'sandbox' })
  const ids = await givenEverything(me)
  const updates = routes.filter(
    (route) => route.environment === 'sandbox' && route.method === 'PUT' && route.path.includes('{account_id}')
  )
  assert.ok(updates.length >= 5)
  for (const { path } of updates) {
    const below = path.replace('/12/accounts/{account_id}', '').replace(/\{(\w+)\}/g, (_, name: string) => ids[name]!)
    const loaded = (await me.get(below.slice(1))).data
    const sent = await me.put(below.slice(1), loaded)
    assert.equal(sent.status, 200, `${path} ${JSON.stringify(sent.body)}`)
    assert.deepEqual(sent.data, loaded, path)
    assert.deepEqual((await me.get(below.slice(1))).data, loaded, path)
  }
})

test('limits by kind of call are told in lower-case headers: core reads, other reads, totals, lookups, writes', async () => {
  const me = await givenAdvertiser(app)
  const limit = async (method: string, path: string, input?: Json) => {
    const { headers } = await me.call(method, path, input)
    assert.match(String(headers['x-rate-limit-reset']), /^\d{10}$/)
    return headers['x-account-rate-limit-limit'] ?? headers['x-rate-limit-limit']
  }
  assert.equal(await limit('GET', 'campaigns'), '10000')
  assert.equal(await limit('GET', 'line_items'), '10000')
  assert.equal(await limit('GET', 'funding_instruments'), '2000')
  assert.equal(await limit('GET', 'campaigns', { with_total_count: true }), '200', '200 per 15 minutes')
  assert.equal(await limit('GET', '/targeting_criteria/interests'), '400')
  assert.equal(await limit('GET', '/bidding_rules'), '2000')
  assert.equal(await limit('POST', 'campaigns', {}), '450')
})
