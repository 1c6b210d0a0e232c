/**
 * `npm run screenshots`: pictures of the console in docs/screenshots, of a Herald with a plausible day in it. Time is moved,
 * so that a quarter of an hour of traffic takes seconds. To add one: a line in SHOTS.
 */
import { mkdir } from 'node:fs/promises'
import path from 'node:path'
import type { Page } from 'playwright-core'
import { createAccount, createFundingInstrument } from '../src/campaigns/index.ts'
import { ALLOW_LISTS, allow } from '../src/identity/index.ts'
import { startApp } from '../test/app.ts'
import { launchBrowser } from '../test/browser/chromium.ts'
import { visit } from '../test/browser/person.ts'
import { type GivenApp, givenApp, givenUser, givenUserToken } from '../test/given.ts'
import { type CatalogScene, setCatalog } from './screenshots-catalog.ts'

const directory = path.resolve(import.meta.dirname, '../docs/screenshots')
const PASSWORD = 'only for pictures'
const MINUTE_MS = 60_000

interface Shot {
  name: string
  address: (scene: Scene) => string
  theme?: 'dark'
  /** What is done before the picture is taken. */
  act?: (page: Page) => Promise<unknown>
  /** With the first steps, which are hidden otherwise. */
  steps?: boolean
  width?: number
  height?: number
}
interface Scene {
  apps: GivenApp[]
  webhooks: string[]
  ads: { account: string; campaign: string; lineItem: string; audience: string }
  olga: { id: string }
  catalog?: CatalogScene
}

const SHOTS: Shot[] = [
  { name: 'home', address: () => '/' },
  { name: 'home-dark', address: () => '/', theme: 'dark' },
  { name: 'webhooks', address: () => '/webhooks' },
  { name: 'webhook', address: ({ webhooks }) => `/webhooks/${webhooks[0]}` },
  {
    name: 'delivery',
    address: ({ webhooks }) => `/webhooks/${webhooks[1]}?state=failed`,
    act: (page) => page.getByRole('row').nth(2).click()
  },
  { name: 'challenges', address: ({ webhooks }) => `/webhooks/${webhooks[2]}?tab=checks` },
  {
    name: 'rules',
    address: ({ apps }) => `/activity?app=${apps[0]!.id}&tab=rules`,
    act: (page) =>
      page.getByRole('textbox', { name: 'Rule', exact: true }).fill('(cat OR kitten) has:images lang:en -is:retweet')
  },
  { name: 'requests', address: ({ apps }) => `/apps/${apps[0]!.id}?tab=requests` },
  {
    name: 'first-steps',
    address: () => '/',
    steps: true,
    act: async (page) => {
      await page.getByRole('button', { name: 'Subscribe' }).click()
      await page.getByRole('button', { name: /^Publish/ }).click()
      await page.getByText('Delivered', { exact: true }).waitFor()
      await page.getByRole('heading', { name: 'First steps' }).scrollIntoViewIfNeeded()
      await page.evaluate('window.scrollTo(0, 9999)')
    }
  },
  { name: 'catalog-products', address: ({ catalog }) => `/catalog/${catalog!.catalogId}` },
  { name: 'catalog-feed-run', address: ({ catalog }) => `/catalog/${catalog!.catalogId}/runs/${catalog!.runId}` },
  {
    name: 'catalog-set',
    address: ({ catalog }) => `/catalog/${catalog!.catalogId}/sets/new?from=${catalog!.setId}`,
    theme: 'dark',
    act: (page) => page.getByText('products match').waitFor()
  },
  { name: 'ads-campaigns', address: ({ ads }) => `/ads/${ads.account}?open=${ads.campaign}` },
  { name: 'ads-line-item', address: ({ ads }) => `/ads/${ads.account}/line-items/${ads.lineItem}` },
  {
    name: 'ads-audience',
    address: ({ ads }) => `/ads/${ads.account}/line-items/${ads.audience}?tab=targeting`,
    theme: 'dark',
    act: async (page) => {
      await page.getByRole('searchbox').fill('garden')
      await page
        .getByRole('button', { name: /^Add .*garden/i })
        .first()
        .click()
      await page.getByText('How it moved').waitFor({ timeout: 30_000 })
      await page.getByRole('combobox', { name: 'What to look for' }).selectOption('LOCATION')
      await page.getByRole('searchbox').fill('king')
      await page.getByRole('button', { name: 'Add United Kingdom' }).click()
      await page.getByText('+ United Kingdom').waitFor()
    }
  },
  { name: 'phone', address: () => '/', theme: 'dark', width: 390, height: 844 }
]

const cleanups: (() => unknown)[] = []
const app = await startApp({ after: (cleanup: () => unknown) => cleanups.push(cleanup) } as never, {
  HERALD_DELIVERY_RETRIES: '10s',
  HERALD_DELIVERY_DEADLINE: '2s',
  HERALD_IMAGE_CHECKS: '1'
})
await app.start()
const { main: base } = await app.listen()

const call = async (method: 'GET' | 'POST' | 'PUT', url: string, payload?: object, headers?: object) => {
  const answer = await app.apps.main.inject({
    method,
    url,
    headers: { authorization: `Bearer ${app.adminToken}`, ...headers },
    ...(payload ? { payload } : {})
  })
  if (answer.statusCode >= 300) throw new Error(`${method} ${url}: ${answer.body}`)
  return answer.json()
}
const clock = (move: { now?: string; advance?: string }) => call('POST', '/admin/clock', move)
const behave = (behaviour: string) => call('PUT', '/admin/inbox', { behaviour })

async function set(): Promise<Scene> {
  const { db } = app.deps.database
  const now = () => new Date(app.deps.clock.now())
  await clock({ now: new Date(Date.now() - 15 * MINUTE_MS).toISOString() })
  const olga = await givenUser(app, { username: 'olga', password: PASSWORD })
  await allow(db, { list: ALLOW_LISTS.operators, subject_kind: 'user', subject_id: olga.id }, now())
  const apps: GivenApp[] = []
  const webhooks: string[] = []
  for (const name of ['Support desk', 'Fraud watch', 'Newsroom']) {
    const given = await givenApp(app, { name, owner_user_id: olga.id })
    apps.push(given)
    const url = `https://inbox.herald.test/${given.id}`
    const { data } = await call('POST', '/2/webhooks', { url }, given.headers)
    webhooks.push(data.id)
    await call(
      'POST',
      '/2/activity/subscriptions',
      {
        event_type: 'profile.update.bio',
        filter: { user_id: String(40 + apps.length) },
        tag: name.toLowerCase(),
        webhook_id: data.id
      },
      given.headers
    )
  }
  const values = ['(cat OR kitten) has:images -is:retweet', '"gift card" (won OR winner) has:links', 'from:42 lang:en']
  await call(
    'POST',
    '/2/tweets/search/stream/rules',
    { add: values.map((value, i) => ({ value, tag: `rule ${i + 1}` })) },
    apps[0]!.headers
  )
  return { apps, webhooks, ads: await advertise(olga, apps[0]!), olga }
}

/** An account with campaigns in every state, and one line item that almost everything keeps from serving. */
async function advertise(olga: { id: string }, client: GivenApp): Promise<Scene['ads']> {
  const { db } = app.deps.database
  const now = new Date(app.deps.clock.now())
  const account = await createAccount(
    db,
    { environment: 'production', ownerUserId: olga.id, name: 'Garden shop', timezone: 'Europe/London' },
    now
  )
  const start_time = '2026-01-01T00:00:00Z'
  const card = { type: 'CREDIT_CARD', currency: 'GBP', start_time, description: 'Visa 4242' } as const
  const { id: funding_instrument_id } = await createFundingInstrument(db, account.id, card, now)
  const headers = await givenUserToken(app, client, olga)
  const post = async (path: string, payload: object) =>
    (await call('POST', `/12/accounts/${account.id}/${path}`, payload, headers)).data
  const campaign = (name: string, pounds: number, more: object = {}) =>
    post('campaigns', { name, funding_instrument_id, daily_budget_amount_local_micro: pounds * 1_000_000, ...more })
  const day = (days: number) => new Date(now.getTime() + days * 24 * 60 * MINUTE_MS).toISOString()
  const kind = { objective: 'WEBSITE_CLICKS', placements: ['ALL_ON_SVC'], product_type: 'PROMOTED_TWEETS' }
  const lineItem = (campaign_id: string, name: string, more: object = {}) =>
    post('line_items', { campaign_id, name, ...kind, start_time: day(-20), end_time: day(40), ...more })
  const promote = (line_item_id: string, tweet_ids: string) => post('promoted_tweets', { line_item_id, tweet_ids })
  const target = (line_item_id: string, targeting_type: string, targeting_value: string) =>
    post('targeting_criteria', { line_item_id, targeting_type, targeting_value })

  for (const [name, pounds, more] of [
    ['Gifts for gardeners', 60, {}],
    ['Greenhouses, draft', 90, { entity_status: 'DRAFT' }],
    ['Compost, all year', 25.5, {}],
    ['Autumn leaves', 40, { entity_status: 'PAUSED', total_budget_amount_local_micro: 1_200_000_000 }]
  ] as const)
    await promote((await lineItem((await campaign(name, pounds, more)).id, name)).id, '1801,1802')
  const bulbs = await campaign('Spring bulbs', 140, { total_budget_amount_local_micro: 4_000_000_000 })
  const timeline = await lineItem(bulbs.id, 'Tulips in timelines', { bid_amount_local_micro: 450_000 })
  await promote(timeline.id, '1790,1791,1792')
  for (const [type, value] of [
    ['INTEREST', '1001'],
    ['BROAD_KEYWORD', 'tulips'],
    ['LANGUAGE', 'en'],
    ['AGE', 'AGE_25_TO_54']
  ] as const)
    await target(timeline.id, type, value)
  const search = { placements: ['SVC_SEARCH'], entity_status: 'PAUSED', end_time: day(-2) }
  const stuck = await lineItem(bulbs.id, 'Daffodils in search', search)
  await promote((await lineItem(bulbs.id, 'Crocus for early birds')).id, '1795')
  return { account: account.id, campaign: bulbs.id, lineItem: stuck.id, audience: timeline.id }
}

const publish = (user: number, times: number) =>
  times === 0
    ? undefined
    : call('POST', '/admin/events', {
        events: Array.from({ length: times }, (_, i) => ({
          event_type: 'profile.update.bio',
          user_id: String(40 + user),
          payload: { before: `Draft ${i}`, after: `Draft ${i + 1}` }
        }))
      })

/** A quarter of an hour in steps of ten seconds; in the middle the consumers fail for a while. */
async function live({ webhooks }: Scene) {
  for (let step = 0; app.deps.clock.now() < Date.now(); step++) {
    if (step === 46) await behave('fail')
    if (step === 52) await behave('ok')
    if (step === 70) {
      await behave('lie')
      await call('POST', `/admin/webhooks/${webhooks[2]}/validate`)
      await behave('ok')
    }
    const wave = 30 + 22 * Math.sin(step / 7) + 9 * Math.sin(step * 1.7)
    await publish(1, Math.round(wave))
    await publish(2, step >= 46 && step < 50 ? 4 : Math.round(wave / 3))
    await clock({ advance: '10s' })
  }
  await clock({ now: new Date().toISOString() })
}

const scene = await set()
await live(scene)
await mkdir(directory, { recursive: true })
const browser = await launchBrowser()
scene.catalog = await setCatalog(app, browser, scene.olga, { after: (cleanup) => cleanups.push(cleanup) })
try {
  for (const { name, address, theme, act, steps, width = 1280, height = 860 } of SHOTS) {
    const visitor = await visit(browser, base, { width, height })
    if (!steps) await visitor.context.addInitScript("localStorage.setItem('herald-first-steps-hidden', '1')")
    await visitor.page.emulateMedia({ colorScheme: theme ?? 'light', reducedMotion: 'reduce' })
    await visitor.signIn({ username: 'olga', password: PASSWORD })
    await visitor.page.goto(address(scene))
    await visitor.page.waitForLoadState('networkidle')
    await act?.(visitor.page)
    await visitor.page.waitForTimeout(1_200)
    await visitor.page.screenshot({ path: path.join(directory, `${name}.png`) })
    visitor.checkBehaviour()
    await visitor.close()
    console.log(`docs/screenshots/${name}.png`)
  }
} finally {
  await browser.close()
  for (const cleanup of cleanups.reverse()) await cleanup()
}
