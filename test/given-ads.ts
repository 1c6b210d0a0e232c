/** Advertisers for tests: a user with a client and a token, an account in either environment, and calls that read well. */
import type { InjectOptions } from 'fastify'
import { createAccount, createFundingInstrument, type NewAccount } from '../src/campaigns/index.ts'
import type { Environment } from '../src/http/ads.ts'
import { createApp, createOAuth2UserToken, createUser } from '../src/identity/index.ts'
import type { TestApp } from './app.ts'

// biome-ignore lint/suspicious/noExplicitAny: answers are looked into by tests, which fail if something is not there
export type Json = any

export interface Answer {
  status: number
  body: Json
  data: Json
  headers: Record<string, unknown>
}

export interface Advertiser {
  environment: Environment
  userId: string
  token: string
  accountId: string
  fundingInstrumentId: string
  /** `path` is below the account, or below /12 when it starts with a slash. GET and DELETE send a query, others JSON. */
  call(method: string, path: string, input?: Json, more?: InjectOptions): Promise<Answer>
  get(path: string, query?: Json): Promise<Answer>
  post(path: string, input?: Json): Promise<Answer>
  put(path: string, input?: Json): Promise<Answer>
  delete(path: string, query?: Json): Promise<Answer>
}

let users = 0

/** A user with an OAuth 2.0 token of a client that may read and write. */
export async function givenUser(
  { deps }: TestApp,
  { adsAccess = 'read-write' as 'none' | 'read' | 'read-write' } = {}
) {
  const now = new Date(deps.clock.now())
  const { db } = deps.database
  const user = await createUser(db, { username: `advertiser_${++users}_${process.pid}` }, now)
  const app = await createApp(db, deps.vault, { name: 'Ads client', ads_access: adsAccess }, now)
  const scopes = ['ads.read', 'ads.write', 'offline.access']
  const tokens = await createOAuth2UserToken(db, { app_id: app.id, user_id: user.id, scopes, expiresIn: null }, now)
  return { user, app, token: tokens.access_token }
}

export interface GivenAdvertiser extends Partial<NewAccount> {
  environment?: Environment
  funding?: Partial<Parameters<typeof createFundingInstrument>[2]>
}

export async function givenAdvertiser(app: TestApp, given: GivenAdvertiser = {}): Promise<Advertiser> {
  const { environment = 'production', funding, ...account } = given
  const { user, token } = await givenUser(app)
  const now = new Date(app.deps.clock.now())
  const { db } = app.deps.database
  const { id: accountId } = await createAccount(
    db,
    { environment, ownerUserId: user.id, name: 'Acme Ads', samples: true, ...account },
    now
  )
  const instrument = await createFundingInstrument(
    db,
    accountId,
    { currency: 'USD', start_time: '2020-01-01T00:00:00Z', type: 'CREDIT_CARD', ...funding },
    now
  )
  const call = caller(app, environment, token, accountId)
  return {
    environment,
    userId: user.id,
    token,
    accountId,
    fundingInstrumentId: instrument.id,
    ...verbs(call)
  }
}

type Call = Advertiser['call']

export const verbs = (call: Call) => ({
  call,
  get: (path: string, query?: Json) => call('GET', path, query),
  post: (path: string, input?: Json) => call('POST', path, input),
  put: (path: string, input?: Json) => call('PUT', path, input),
  delete: (path: string, query?: Json) => call('DELETE', path, query)
})

export function caller(app: TestApp, environment: Environment, token: string | undefined, accountId: string): Call {
  const listener = environment === 'sandbox' ? app.apps.sandbox : app.apps.main
  return async (method, path, input, more = {}) => {
    const inQuery = method === 'GET' || method === 'DELETE'
    const response = await listener.inject({
      method: method as 'GET',
      url: path.startsWith('/') ? `/12${path}` : `/12/accounts/${accountId}${path === '' ? '' : `/${path}`}`,
      headers: token === undefined ? {} : { authorization: `Bearer ${token}` },
      ...(input === undefined ? {} : inQuery ? { query: plain(input) } : { payload: input }),
      ...more
    })
    const body = response.json()
    return { status: response.statusCode, body, data: body.data, headers: response.headers }
  }
}

const plain = (input: Record<string, unknown>) =>
  Object.fromEntries(Object.entries(input).map(([name, value]) => [name, String(value)]))

/** The codes of an answer's errors, with the parameter or attribute at fault. */
export const codes = ({ body }: Answer) =>
  (body.errors ?? []).map((item: Json) =>
    item.parameter || item.attribute ? `${item.code} ${item.parameter ?? item.attribute}` : item.code
  )

export async function givenCampaign(advertiser: Advertiser, input: Json = {}) {
  const { status, body, data } = await advertiser.post('campaigns', {
    name: 'demo',
    funding_instrument_id: advertiser.fundingInstrumentId,
    daily_budget_amount_local_micro: 140_000_000,
    ...input
  })
  if (status !== 200) throw new Error(`no campaign: ${JSON.stringify(body)}`)
  return data
}

/** With a campaign of its own unless one is given. */
export async function givenLineItem(advertiser: Advertiser, input: Json = {}) {
  const campaign_id = input.campaign_id ?? (await givenCampaign(advertiser)).id
  const { status, body, data } = await advertiser.post('line_items', {
    campaign_id,
    objective: 'ENGAGEMENTS',
    placements: ['ALL_ON_SVC'],
    product_type: 'PROMOTED_TWEETS',
    ...input
  })
  if (status !== 200) throw new Error(`no line item: ${JSON.stringify(body)}`)
  return data
}
