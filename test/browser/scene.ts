/** A whole Herald that listens, with its console built, and a browser in front of it: what every browser test begins with. */
import assert from 'node:assert/strict'
import { afterEach, type TestContext } from 'node:test'
import { setTimeout as sleep } from 'node:timers/promises'
import type { Browser } from 'playwright-core'
import { createConsoleBuild } from '../../src/console/build.ts'
import { ALLOW_LISTS, allow } from '../../src/identity/index.ts'
import { startApp, type TestApp } from '../app.ts'
import type { Cleanup } from '../database.ts'
import { givenUser } from '../given.ts'
import { launchBrowser } from './chromium.ts'
import { tellWhatWasSeen } from './person.ts'

export const PASSWORD = 'a good long password'
/** What a browser logs about an answer that a story provokes. */
export const REFUSED = /status of 4\d\d/

export interface Scene {
  app: TestApp
  /** Where the console is. */
  base: string
  browser: Browser
  /** Signs in as somebody who may do everything. */
  operator: { id: string; username: string; password: string }
  /** /admin; the data of the answer, which must be a success. */
  // biome-ignore lint/suspicious/noExplicitAny: tests read what they know to be there
  admin(method: 'GET' | 'POST' | 'PUT', url: string, payload?: object): Promise<any>
}

/** `env` overrides settings. */
export async function startScene(t: Cleanup, env: Record<string, string> = {}): Promise<Scene> {
  const app = await startApp(t, { HERALD_EGRESS_ALLOW_PRIVATE: '0', ...env })
  await app.start()
  const { main: base } = await app.listen()
  const browser = await launchBrowser()
  t.after(() => browser.close())
  afterEach(async (test) => {
    if (!(test as TestContext).passed) await tellWhatWasSeen()
  })
  await built(app)
  const user = await givenUser(app, { username: 'olga', password: PASSWORD })
  const entry = { list: ALLOW_LISTS.operators, subject_kind: 'user', subject_id: user.id } as const
  await allow(app.deps.database.db, entry, new Date(app.deps.clock.now()))
  return {
    app,
    base,
    browser,
    operator: { id: user.id, username: 'olga', password: PASSWORD },
    async admin(method, url, payload) {
      const answer = await app.apps.main.inject({
        method,
        url: `/admin${url}`,
        headers: { authorization: `Bearer ${app.adminToken}` },
        ...(payload ? { payload } : {})
      })
      assert.ok(answer.statusCode < 300, answer.body)
      return answer.json().data
    }
  }
}

/** The server has it built when it listens; a test waits. */
async function built({ deps }: TestApp) {
  const build = createConsoleBuild({ log: deps.log, ticks: () => performance.now() })
  for (;;) {
    const { state } = await build.current()
    if (state === 'ready') return
    assert.notEqual(state, 'failed')
    await sleep(200)
  }
}
