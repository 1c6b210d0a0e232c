/** A person at a browser in front of a whole Herald: what they see, and everything the page must never do. */
import assert from 'node:assert/strict'
import { readFile } from 'node:fs/promises'
import { createRequire } from 'node:module'
import type { Browser, BrowserContext, Page } from 'playwright-core'

const axeSource = await readFile(createRequire(import.meta.url).resolve('axe-core/axe.min.js'), 'utf8')

const RULE_SETS = ['wcag2a', 'wcag2aa', 'wcag21a', 'wcag21aa', 'wcag22aa', 'best-practice']

export interface Visitor {
  page: Page
  context: BrowserContext
  signIn(credentials: { username: string; password: string } | { adminToken: string }): Promise<void>
  /** What axe finds that keeps people out, in both themes. */
  checkAccess(what: string): Promise<void>
  /** Fails if the page logged an error or asked anyone but us. `expected`: answers that the story provokes. */
  checkBehaviour(expected?: RegExp): void
  close(): Promise<void>
}

/** Visits that a failed test left open, with what they had noticed. */
const open = new Map<Page, string[]>()

/** After a test that failed: what its pages showed, so that the report says more than what was waited for. */
export async function tellWhatWasSeen() {
  for (const [page, faults] of open) {
    const text = await page.evaluate('document.body.innerText').catch(() => '')
    console.log(`${page.url()} showed: ${String(text).slice(0, 1_500)}\nfaults: ${faults.join('\n')}`)
    await page.context().close()
  }
}

export async function visit(browser: Browser, baseURL: string, { width = 1280, height = 900 } = {}): Promise<Visitor> {
  const context = await browser.newContext({
    baseURL,
    viewport: { width, height },
    reducedMotion: 'reduce',
    locale: 'en-US'
  })
  context.setDefaultTimeout(10_000)
  const page = await context.newPage()
  const faults: string[] = []
  open.set(page, faults)
  page.on('close', () => open.delete(page))
  page.on('requestfailed', (request) => {
    // A page that is left drops what it still asks for.
    if (request.failure()?.errorText !== 'net::ERR_ABORTED') faults.push(`no answer from ${request.url()}`)
  })
  page.on('console', (message) => {
    if (message.type() === 'error' || message.type() === 'warning') faults.push(message.text())
  })
  page.on('pageerror', (error) => faults.push(String(error)))
  page.on('request', (request) => {
    const { origin, protocol } = new URL(request.url())
    if (origin !== new URL(baseURL).origin && protocol !== 'data:' && protocol !== 'blob:')
      faults.push(`a request to ${request.url()}`)
  })

  return {
    page,
    context,
    async signIn(credentials) {
      await page.goto('/sign-in')
      if ('adminToken' in credentials) {
        await page.getByRole('button', { name: 'Admin token' }).click()
        await page.getByRole('textbox', { name: 'Admin token' }).fill(credentials.adminToken)
      } else {
        await page.getByRole('textbox', { name: 'Username' }).fill(credentials.username)
        await page.getByRole('textbox', { name: 'Password' }).fill(credentials.password)
      }
      await page.getByRole('button', { name: 'Sign in', exact: true }).click()
      await page.waitForURL(({ pathname }) => pathname !== '/sign-in')
      // A person goes on when the page is there.
      await page.getByRole('heading', { level: 1 }).filter({ hasNotText: 'Sign in' }).first().waitFor()
    },
    async checkAccess(what) {
      for (const colorScheme of ['light', 'dark'] as const) {
        await page.emulateMedia({ colorScheme, reducedMotion: 'reduce' })
        // Colours follow with the next frame.
        await page.evaluate('new Promise((done) => requestAnimationFrame(() => requestAnimationFrame(done)))')
        const violations = await seriousViolations(page)
        assert.deepEqual(violations, [], `${what}, ${colorScheme}`)
      }
    },
    checkBehaviour(expected) {
      assert.deepEqual(
        faults.filter((fault) => !expected?.test(fault)),
        []
      )
    },
    close: () => context.close()
  }
}

interface Violation {
  id: string
  impact: string | null
  nodes: { html: string; failureSummary?: string }[]
}

/** The script is evaluated by the debugger, which no content security policy stops. */
async function seriousViolations(page: Page) {
  if (!(await page.evaluate('"axe" in window'))) await page.evaluate(axeSource)
  const options = { resultTypes: ['violations'], runOnly: RULE_SETS }
  const { violations } = (await page.evaluate(`axe.run(document, ${JSON.stringify(options)})`)) as {
    violations: Violation[]
  }
  return violations
    .filter(({ impact }) => impact === 'serious' || impact === 'critical')
    .map(
      ({ id, nodes }) =>
        `${id}: ${nodes.map(({ html, failureSummary }) => `${html} ${failureSummary ?? ''}`).join(' | ')}`
    )
}
