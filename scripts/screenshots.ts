/**
 * `npm run screenshots`: pictures of the console in docs/screenshots, of a Herald with a plausible day in it. Time is moved,
 * so that a quarter of an hour of traffic takes seconds. To add one: a line in SHOTS.
 */
import { mkdir } from 'node:fs/promises'
import path from 'node:path'
import type { Page } from 'playwright-core'
import { ALLOW_LISTS, allow } from '../src/identity/index.ts'
import { startApp } from '../test/app.ts'
import { launchBrowser } from '../test/browser/chromium.ts'
import { visit } from '../test/browser/person.ts'
import { type GivenApp, givenApp, givenUser } from '../test/given.ts'

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
  { name: 'phone', address: () => '/', theme: 'dark', width: 390, height: 844 }
]

const cleanups: (() => unknown)[] = []
const app = await startApp({ after: (cleanup: () => unknown) => cleanups.push(cleanup) } as never, {
  HERALD_DELIVERY_RETRIES: '10s',
  HERALD_DELIVERY_DEADLINE: '2s'
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
  return { apps, webhooks }
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
