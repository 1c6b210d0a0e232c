/** From an empty sandbox to a serving campaign and back, by HTTP alone: once signed with OAuth 1.0a, once with an OAuth 2.0 token. */
import assert from 'node:assert/strict'
import { after, test } from 'node:test'
import {
  createApp,
  createOAuth1AccessToken,
  createOAuth2UserToken,
  createUser,
  signRequest
} from '../../src/identity/index.ts'
import { startApp } from '../app.ts'
import type { Json } from '../given-ads.ts'

const app = await startApp({ after })
const { sandbox: base } = await app.listen()
const now = new Date(app.deps.clock.now())
const { db } = app.deps.database
const { vault } = app.deps
const client = await createApp(db, vault, { name: 'story', ads_access: 'read-write' }, now)

type Authorize = (method: string, url: URL, form?: string) => string

async function oauth1(): Promise<Authorize> {
  const user = await createUser(db, { username: 'signer' }, now)
  const token = await createOAuth1AccessToken(
    db,
    vault,
    { app_id: client.id, user_id: user.id, permissions: 'read-write' },
    now
  )
  const keys = {
    consumerKey: client.consumer_key,
    consumerSecret: client.consumer_secret,
    token: token.oauth_token,
    tokenSecret: token.oauth_token_secret
  }
  return (method, url, form) =>
    signRequest(
      {
        method,
        scheme: 'http',
        host: url.host,
        rawUrl: `${url.pathname}${url.search}`,
        ...(form === undefined ? {} : { contentType: 'application/x-www-form-urlencoded', rawBody: Buffer.from(form) })
      },
      keys,
      { timestamp: Math.floor(app.deps.clock.now() / 1000) }
    )
}

async function oauth2(): Promise<Authorize> {
  const user = await createUser(db, { username: 'bearer' }, now)
  const scopes = ['ads.read', 'ads.write']
  const { access_token } = await createOAuth2UserToken(db, { app_id: client.id, user_id: user.id, scopes }, now)
  return () => `Bearer ${access_token}`
}

/** Reads and deletes in the query, writes as a form: what most clients send. */
const caller =
  (authorize: Authorize) =>
  async (method: string, path: string, input: Json = {}) => {
    const parameters = new URLSearchParams(
      Object.entries(input).map(([name, value]) => [name, String(value)])
    ).toString()
    const inForm = (method === 'POST' || method === 'PUT') && parameters !== ''
    const url = new URL(`${base}/12${path}${inForm || parameters === '' ? '' : `?${parameters}`}`)
    const response = await fetch(url, {
      method,
      headers: {
        authorization: authorize(method, url, inForm ? parameters : undefined),
        ...(inForm ? { 'content-type': 'application/x-www-form-urlencoded' } : {})
      },
      ...(inForm ? { body: parameters } : {})
    })
    const body = (await response.json()) as Json
    assert.equal(response.status, 200, `${method} ${path}: ${JSON.stringify(body)}`)
    return body.data
  }

for (const [scheme, authorization] of [
  ['OAuth 1.0a signatures', oauth1],
  ['an OAuth 2.0 user token', oauth2]
] as const) {
  test(`walks from an account to a serving campaign and back, with ${scheme}`, async () => {
    const call = caller(await authorization())

    const [account] = await call('POST', '/accounts')
    const below = (path: string) => `/accounts/${account.id}/${path}`
    const instrument = await call('POST', below('funding_instruments'), {
      currency: 'USD',
      start_time: '2020-01-01T00:00:00+01:00',
      type: 'INSERTION_ORDER',
      funded_amount_local_micro: 140_000_000_000
    })
    assert.equal(instrument.able_to_fund, true)
    const features = await call('POST', below('features'), { feature_keys: 'REACH_FREQUENCY_CAP' })
    assert.ok(features.includes('REACH_FREQUENCY_CAP'))

    const campaign = await call('POST', below('campaigns'), {
      name: 'Summer & Sun + more',
      funding_instrument_id: instrument.id,
      daily_budget_amount_local_micro: 50_000_000,
      total_budget_amount_local_micro: 500_000_000
    })
    assert.deepEqual(campaign.reasons_not_servable, ['INCOMPLETE'])
    assert.equal(campaign.name, 'Summer & Sun + more')
    const lineItem = await call('POST', below('line_items'), {
      campaign_id: campaign.id,
      objective: 'REACH',
      product_type: 'PROMOTED_TWEETS',
      placements: 'SVC_TIMELINE',
      frequency_cap: 3,
      duration_in_days: 7
    })
    assert.equal(lineItem.frequency_cap, 3)
    const [interest] = await call('GET', '/targeting_criteria/interests', { q: 'book', count: 1 })
    const criterion = await call('POST', below('targeting_criteria'), {
      line_item_id: lineItem.id,
      targeting_type: interest.targeting_type,
      targeting_value: interest.targeting_value
    })
    assert.equal(criterion.name, interest.name)
    const [creative] = await call('POST', below('promoted_tweets'), {
      line_item_id: lineItem.id,
      tweet_ids: '822333526255120384'
    })

    const one = below(`campaigns/${campaign.id}`)
    assert.equal((await call('GET', one)).servable, true)
    assert.equal((await call('GET', one)).effective_status, 'RUNNING')
    const paused = await call('PUT', one, { entity_status: 'PAUSED' })
    assert.deepEqual([paused.servable, paused.reasons_not_servable], [false, ['PAUSED_BY_ADVERTISER']])
    const why = await call('GET', below(`campaigns/${campaign.id}/servability`))
    assert.deepEqual(why.reasons[0].mend.params, { entity_status: 'ACTIVE' })

    const hour = 3_600_000
    const start = Math.floor(app.deps.clock.now() / hour) * hour
    const history = await call('GET', below('account_history'), {
      entity_type: 'CAMPAIGN',
      entity_id: campaign.id,
      start_time: new Date(start - hour).toISOString(),
      end_time: new Date(start + hour).toISOString()
    })
    assert.deepEqual(
      history.map((item: Json) => [item.change_type, item.changes]),
      [
        ['CREATE', {}],
        ['UPDATE', { entity_status: { from: 'ACTIVE', to: 'PAUSED' } }]
      ]
    )

    await call('DELETE', below(`promoted_tweets/${creative.id}`))
    await call('DELETE', below(`targeting_criteria/${criterion.id}`))
    await call('DELETE', below(`line_items/${lineItem.id}`))
    assert.equal((await call('DELETE', one)).deleted, true)
    assert.deepEqual((await call('DELETE', below(`funding_instruments/${instrument.id}`))).reasons_not_able_to_fund, [
      'DELETED'
    ])
    assert.deepEqual(await call('DELETE', below('features'), { feature_keys: features.join(',') }), [])
    assert.equal((await call('DELETE', `/accounts/${account.id}`)).deleted, true)
    assert.deepEqual(await call('GET', '/accounts'), [])
  })
}
