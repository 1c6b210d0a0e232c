/** The demo tenant: one app, one user, an ad account on each listener. Made at the first start on an empty built-in database, or by `herald demo`. */
import { writeFile } from 'node:fs/promises'
import path from 'node:path'
import { createAccount, createFundingInstrument } from './campaigns/index.ts'
import type { Deps } from './deps.ts'
import type { Environment } from './http/ads.ts'
import {
  ALL_SCOPES,
  ALLOW_LISTS,
  allow,
  appBearerToken,
  createAdminToken,
  createApp,
  createOAuth1AccessToken,
  createOAuth2UserToken,
  createUser,
  findUserByName,
  randomText
} from './identity/index.ts'
import type { Tx } from './storage/db.ts'

const USERNAME = 'demo'

export interface DemoCredentials {
  base_url: string
  ads_base_url: string
  ads_sandbox_base_url: string
  admin_token: string
  app: {
    id: string
    consumer_key: string
    consumer_secret: string
    bearer_token: string
    client_id: string
    client_secret: string | null
  }
  user: {
    id: string
    username: string
    password: string
    access_token: string
    oauth1_token: string
    oauth1_token_secret: string
  }
  accounts: { production: string; sandbox: string }
  funding_instruments: { production: string; sandbox: string }
}

export const credentialsFile = (deps: Pick<Deps, 'config'>) =>
  path.join(deps.config.HERALD_DATA_DIR, 'credentials.json')

export const demoExists = async ({ database }: Deps) => (await findUserByName(database.db, USERNAME)) !== undefined

/** One transaction: a crash on the way leaves no half a tenant. The file is written before it commits, so a tenant always has its file. */
export async function createDemo(deps: Deps): Promise<DemoCredentials> {
  const { database, vault, clock, config } = deps
  const now = new Date(clock.now())
  return database.db.transaction().execute(async (tx) => {
    const password = randomText(12)
    const user = await createUser(tx, { username: USERNAME, name: 'Demo User', password }, now)
    const app = await createApp(
      tx,
      vault,
      {
        name: 'Demo App',
        owner_user_id: user.id,
        ads_access: 'read-write',
        redirect_uris: ['http://127.0.0.1:3000/callback']
      },
      now
    )
    const ids = { app_id: app.id, user_id: user.id }
    const { access_token } = await createOAuth2UserToken(tx, { ...ids, scopes: ALL_SCOPES, expiresIn: null }, now)
    const oauth1 = await createOAuth1AccessToken(tx, vault, { ...ids, permissions: 'read-write-directmessages' }, now)
    const admin_token = config.HERALD_ADMIN_TOKEN || (await createAdminToken(tx, { name: 'demo' }, now)).token
    for (const list of [ALLOW_LISTS.catalogEarlyAccess, ALLOW_LISTS.operators])
      await allow(tx, { list, subject_kind: 'user', subject_id: user.id }, now)
    const production = await demoAccount(tx, 'production', user.id, now)
    const sandbox = await demoAccount(tx, 'sandbox', user.id, now)
    const credentials: DemoCredentials = {
      ...urls(deps),
      admin_token,
      app: {
        id: app.id,
        consumer_key: app.consumer_key,
        consumer_secret: app.consumer_secret,
        bearer_token: await appBearerToken(tx, vault, app.id, now),
        client_id: app.client_id,
        client_secret: app.client_secret
      },
      user: {
        id: user.id,
        username: USERNAME,
        password,
        access_token,
        oauth1_token: oauth1.oauth_token,
        oauth1_token_secret: oauth1.oauth_token_secret
      },
      accounts: { production: production.account, sandbox: sandbox.account },
      funding_instruments: { production: production.fundingInstrument, sandbox: sandbox.fundingInstrument }
    }
    await writeFile(credentialsFile(deps), `${JSON.stringify(credentials, null, 2)}\n`, { mode: 0o600 })
    return credentials
  })
}

/** What a fresh sandbox account owns, and frequency caps, which need a feature that production accounts cannot ask for. */
const DEMO_FEATURES = [
  'ALLOW_SKIPPABLE_VIDEOS_FOR_PREROLL_VIEWS_OBJECTIVE',
  'AWARENESS_OBJECTIVE',
  'CPI_CHARGING',
  'EVENT_TARGETING',
  'INSTALLED_APP_CATEGORY_TARGETING',
  'MOBILE_CONVERSION_TRANSACTION_VALUE',
  'OPTIMIZED_ACTION_BIDDING',
  'REACH_FREQUENCY_CAP',
  'VIDEO_APP_DOWNLOAD_CARD'
]

/** What no call of the documents can create is there as well, on both listeners, so that everything can be tried at once. */
async function demoAccount(tx: Tx, environment: Environment, ownerUserId: string, now: Date) {
  const account = await createAccount(
    tx,
    { environment, ownerUserId, name: `Demo ${environment}`, samples: true, features: DEMO_FEATURES },
    now
  )
  await allow(tx, { list: ALLOW_LISTS.accountHistory, subject_kind: 'account', subject_id: account.id }, now)
  const instrument = await createFundingInstrument(
    tx,
    account.id,
    {
      currency: 'USD',
      type: 'CREDIT_CARD',
      start_time: now.toISOString(),
      credit_limit_local_micro: 10_000_000_000n,
      description: 'Demo card'
    },
    now
  )
  return { account: account.id, fundingInstrument: instrument.id }
}

function urls({ config }: Deps) {
  const host = config.HERALD_HOST.includes(':') ? `[${config.HERALD_HOST}]` : config.HERALD_HOST
  const main = config.HERALD_PUBLIC_URL || `http://${host}:${config.HERALD_PORT}`
  return {
    base_url: main,
    ads_base_url: main,
    ads_sandbox_base_url: config.HERALD_SANDBOX_PUBLIC_URL || `http://${host}:${config.HERALD_SANDBOX_PORT}`
  }
}

/** What a newcomer reads after the first start. */
export function printWelcome(demo: DemoCredentials, file = './data/credentials.json') {
  return `
  Herald is running.

    API        ${demo.base_url}/2
    Ads API    ${demo.ads_base_url}/12   sandbox ${demo.ads_sandbox_base_url}/12
    Reference  ${demo.base_url}/docs
    Console    ${demo.base_url}/         sign in as ${demo.user.username} with ${demo.user.password}

  A demo tenant is ready; its credentials are in ${file}. Your first call:

    TOKEN=$(node -p "require('${file}').app.bearer_token")
    curl -H "Authorization: Bearer $TOKEN" ${demo.base_url}/2/webhooks
`
}
