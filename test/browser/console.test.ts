/** The console as people use it, in a real Chromium against a whole Herald. */
import assert from 'node:assert/strict'
import { after, test } from 'node:test'
import { givenApp, givenUser } from '../given.ts'
import { noteSecrets } from '../secrets.ts'
import { visit } from './person.ts'
import { PASSWORD, REFUSED, startScene } from './scene.ts'

const { app, base, browser, operator, admin } = await startScene({ after })
const asOlga = operator
await givenUser(app, { username: 'ann', password: PASSWORD })
const mine = await givenApp(app, { name: 'Shop', owner_user_id: operator.id })

test('is served compressed, for good, from this origin alone, and begins with at most 250 KB of script', async () => {
  const get = (url: string, headers: Record<string, string> = {}) => app.apps.main.inject({ url, headers })
  const index = await get('/webhooks/1?tab=why')
  assert.match(
    String(index.headers['content-security-policy']),
    /^default-src 'none'; script-src 'self'; style-src 'self';/
  )
  assert.doesNotMatch(String(index.headers['content-security-policy']), /unsafe|https?:|\*/)
  assert.equal((await get('/', { 'if-none-match': String(index.headers.etag) })).statusCode, 304)
  const files = [...index.body.matchAll(/(?:src|href)="(\/assets\/[^"]+\.js)"/g)].map((match) => match[1]!)
  assert.ok(files.length > 1)
  let bytes = 0
  for (const file of files) {
    const [zipped, smallest] = [
      await get(file, { 'accept-encoding': 'gzip' }),
      await get(file, { 'accept-encoding': 'gzip, br' })
    ]
    assert.deepEqual([zipped.headers['content-encoding'], smallest.headers['content-encoding']], ['gzip', 'br'])
    assert.equal(zipped.headers['cache-control'], 'public, max-age=31536000, immutable')
    bytes += zipped.rawPayload.length
  }
  assert.ok(bytes <= 250_000, `the first load is ${bytes} bytes`)
  for (const nothing of ['/assets/../index.html', '/assets/%2e%2e/files.json', '/assets/none.js', '/nothing'])
    assert.equal((await get(nothing)).statusCode, 404, nothing)
})

test('a wrong password is told so, and a right one leads to where the person wanted to go', async () => {
  const visitor = await visit(browser, base)
  const { page } = visitor
  await page.goto('/webhooks?valid=false')
  await page.getByRole('heading', { name: 'Sign in to Herald' }).waitFor()
  await visitor.checkAccess('sign-in')
  await page.getByRole('textbox', { name: 'Username' }).fill('olga')
  await page.getByRole('textbox', { name: 'Password' }).fill('not this one')
  await page.getByRole('button', { name: 'Sign in', exact: true }).click()
  await page.getByRole('alert').getByText('do not fit together').waitFor()
  await visitor.checkAccess('a wrong password')

  await page.getByRole('textbox', { name: 'Password' }).fill(PASSWORD)
  await page.getByRole('button', { name: 'Sign in', exact: true }).click()
  await page.getByRole('heading', { name: 'Webhooks', level: 1 }).waitFor()
  assert.match(page.url(), /\/webhooks\?valid=false$/)
  visitor.checkBehaviour(REFUSED)
  await visitor.close()
})

test('an event is delivered through the first steps, with nothing else than the page', async () => {
  const visitor = await visit(browser, base)
  const { page } = visitor
  await visitor.signIn(asOlga)
  await page.getByRole('button', { name: 'Register the inbox' }).click()
  await page.getByRole('link', { name: 'Open the webhook' }).waitFor()
  await page.getByRole('button', { name: 'Subscribe' }).click()
  await page.getByText('subscribed', { exact: true }).waitFor()
  await page.getByRole('button', { name: 'Publish', exact: true }).click()
  await page.getByText('Delivered', { exact: true }).waitFor()
  assert.match(
    (await page.getByRole('region', { name: 'the event as it arrived' }).textContent()) ?? '',
    /Hello from Herald/
  )
  await visitor.checkAccess('home')

  await page.getByRole('link', { name: 'See the delivery' }).click()
  await page.getByText('Acknowledged').waitFor()
  await visitor.checkAccess('a delivery')
  await page.getByRole('link', { name: 'Inbox', exact: true }).click()
  await page.getByRole('button', { name: /profile\.update\.bio.*signature good.*answered 200/ }).click()
  await page.getByText('Hello from Herald').first().waitFor()
  await visitor.checkAccess('inbox')
  visitor.checkBehaviour()
  await visitor.close()
})

test('a webhook that turned invalid is found, understood and mended', async () => {
  const url = `https://inbox.herald.test/${mine.id}`
  const [webhook] = (await admin('GET', '/webhooks')).filter((each: { url: string }) => each.url === url)
  await admin('PUT', '/inbox', { behaviour: 'lie' })
  await admin('POST', `/webhooks/${webhook.id}/validate`)
  const visitor = await visit(browser, base)
  const { page } = visitor
  await visitor.signIn({ adminToken: app.adminToken })

  await page.getByText('1 webhook is invalid').waitFor()
  await page.getByRole('link', { name: 'See why and mend it' }).click()
  await visitor.checkAccess('webhooks')
  await page.getByRole('link', { name: `inbox.herald.test/${mine.id}` }).click()
  await page.getByText('Invalid since').waitFor()
  await page.getByRole('tab', { name: 'Challenges' }).click()
  await page.getByText('Wrong answer', { exact: true }).waitFor()
  await visitor.checkAccess('an invalid webhook')

  await admin('PUT', '/inbox', { behaviour: 'ok' })
  await page.getByRole('button', { name: 'Check again now' }).click()
  await page.getByText('The webhook is valid').waitFor()
  await page.getByRole('button', { name: 'Send a test event' }).click()
  await page.getByRole('dialog').getByText('Acknowledged').waitFor()
  await visitor.checkAccess('a delivery beside the list')
  visitor.checkBehaviour()
  await visitor.close()
})

test('an event that did not arrive is explained, and one that did is replayed', async () => {
  const url = `https://inbox.herald.test/${mine.id}`
  const [webhook] = (await admin('GET', '/webhooks')).filter((each: { url: string }) => each.url === url)
  const event = { event_type: 'profile.update.bio', user_id: '4711', payload: { before: 'a', after: 'b' } }
  const [{ id }] = await admin('POST', '/events', { events: [event] })
  const visitor = await visit(browser, base)
  const { page } = visitor
  await visitor.signIn(asOlga)

  await page.goto(`/webhooks/${webhook.id}?tab=why`)
  await page.getByRole('textbox', { name: 'Event id' }).fill(id)
  await page.getByRole('button', { name: 'Find out' }).click()
  await page.getByText('Nothing asked for it').waitFor()
  await page.getByText(/4711/).first().waitFor()
  await visitor.checkAccess('why an event did not arrive')

  // The minute in which it was delivered must be over.
  await admin('POST', '/clock', { advance: '2m' })
  await page.getByRole('button', { name: 'Replay …' }).click()
  await visitor.checkAccess('the form of a replay')
  const minute = (ms: number) => new Date(ms).toISOString().slice(0, 16)
  await page.getByRole('textbox', { name: 'From' }).fill(minute(app.deps.clock.now() - 30 * 60_000))
  await page.getByRole('textbox', { name: /^To/ }).fill(minute(app.deps.clock.now()))
  await page.getByRole('button', { name: 'Replay', exact: true }).click()
  await page.getByText('complete', { exact: true }).waitFor()
  assert.equal(await page.getByRole('progressbar').getAttribute('aria-valuenow'), '100')
  await visitor.checkAccess('replays')
  visitor.checkBehaviour()
  await visitor.close()
})

test('a stream that is open can be ended', async () => {
  const controller = new AbortController()
  const stream = await fetch(`${base}/2/activity/stream`, { headers: mine.headers, signal: controller.signal })
  assert.equal(stream.status, 200)
  const visitor = await visit(browser, base)
  const { page } = visitor
  await visitor.signIn(asOlga)

  await page.goto(`/activity?app=${mine.id}&tab=connections`)
  await page.getByRole('cell', { name: 'Activity stream' }).waitFor()
  await visitor.checkAccess('open streams')
  await page.getByRole('button', { name: 'End', exact: true }).click()
  await page.getByRole('button', { name: 'End it' }).click()
  await page.getByText('No stream is open').waitFor()
  assert.match(await stream.text(), /operator|closed|kill|disconnect/i)
  visitor.checkBehaviour()
  await visitor.close()
})

test('a person sees nothing of what is not theirs, also by its address', async () => {
  const [webhook] = await admin('GET', '/webhooks')
  const visitor = await visit(browser, base)
  const { page } = visitor
  await visitor.signIn({ username: 'ann', password: PASSWORD })

  await page.getByRole('heading', { name: 'Hello, ann' }).waitFor()
  assert.equal(await page.getByRole('link', { name: 'Apps', exact: true }).count(), 0)
  await visitor.checkAccess('home of a person without apps')
  await page.goto(`/webhooks/${webhook.id}`)
  await page.getByText('This call needs the admin token').waitFor()
  assert.equal(await page.getByText(webhook.url).count(), 0)
  visitor.checkBehaviour(REFUSED)
  await visitor.close()
})

test('the owner of an app who is no operator looks after its webhooks', async () => {
  const owner = await givenUser(app, { username: 'otto', password: PASSWORD })
  const shop = await givenApp(app, { name: 'Corner shop', owner_user_id: owner.id })
  const visitor = await visit(browser, base)
  const { page } = visitor
  await visitor.signIn({ username: 'otto', password: PASSWORD })

  await page.getByRole('heading', { name: 'Corner shop' }).waitFor()
  await page.getByRole('button', { name: 'Register a webhook' }).click()
  await page.getByRole('textbox', { name: 'Address' }).fill(`https://inbox.herald.test/${shop.id}`)
  await page.getByRole('button', { name: 'Register', exact: true }).click()
  await page.getByRole('cell', { name: 'Valid' }).waitFor()
  await page.getByRole('button', { name: 'Check now' }).click()
  await page.getByText('The webhook is valid').waitFor()
  await visitor.checkAccess('home of an owner')
  visitor.checkBehaviour()
  await visitor.close()
})

test('an app is created, its keys are shown once, and rotated with an overlap', async () => {
  const visitor = await visit(browser, base)
  const { page } = visitor
  await visitor.signIn(asOlga)
  await page.getByRole('link', { name: 'Apps', exact: true }).click()
  await page.getByRole('button', { name: 'Create an app' }).click()
  await page.getByRole('textbox', { name: 'Name' }).fill('Bookshop')
  await visitor.checkAccess('the form of a new app')
  await page.getByRole('button', { name: 'Create', exact: true }).click()
  const keys = page.getByRole('dialog', { name: 'The keys of Bookshop' })
  await keys.waitFor()
  await visitor.checkAccess('the keys of a new app')
  const shown = await keys.locator('code').allInnerTexts()
  assert.equal(shown.length, 5)
  noteSecrets(shown[1], shown[2], shown[4])
  await page.getByRole('button', { name: 'I have saved them' }).click()

  await page.getByRole('heading', { name: 'Bookshop', level: 1 }).waitFor()
  const secretKept = async () => {
    const text = await page.evaluate(
      'document.documentElement.outerHTML + JSON.stringify({ ...localStorage, ...sessionStorage })'
    )
    return [shown[1]!, shown[2]!, shown[4]!].some((secret) => String(text).includes(secret))
  }
  assert.equal(await secretKept(), false)
  await visitor.checkAccess('an app')
  await page.getByRole('button', { name: 'New consumer secret' }).click()
  await page.getByRole('button', { name: 'Make a new secret' }).click()
  await page.getByText('The old one stays valid until').waitFor()
  const [rotated] = await page.getByRole('dialog').locator('code').allInnerTexts()
  noteSecrets(rotated)
  assert.notEqual(rotated, shown[1])
  await page.getByRole('button', { name: 'I have saved them' }).click()
  for (const tab of ['Tokens', 'Requests to paste', 'Settings', 'Quotas']) {
    await page.getByRole('tab', { name: tab }).click()
    await visitor.checkAccess(`an app: ${tab}`)
  }
  visitor.checkBehaviour()
  await visitor.close()
})

test('a rule is checked while it is typed, tried on a post, added and found again by its address', async () => {
  const visitor = await visit(browser, base)
  const { page } = visitor
  await visitor.signIn(asOlga)
  await page.goto(`/activity?app=${mine.id}&tab=rules`)
  const rule = page.getByRole('textbox', { name: 'Rule', exact: true })
  await rule.fill('cat (lang:en OR')
  await page.getByText('not a rule yet').waitFor()
  assert.equal(await page.locator('mark.rule-error').count(), 1)
  await visitor.checkAccess('a rule with an error')
  await rule.fill('cat has:images')
  await page.getByText('does not match the sample post').waitFor()
  assert.deepEqual(await page.locator('mark.clause-bad').allInnerTexts(), ['has:images'])
  await rule.fill('cat -dog')
  await page.getByText('matches the sample post', { exact: true }).waitFor()
  await page.getByRole('button', { name: 'Add the rule' }).click()
  await page.getByRole('table', { name: 'Filtered-stream rules' }).getByText('cat -dog').waitFor()
  await page.getByRole('button', { name: 'Try it on all rules' }).click()
  await page.getByText('1 rule matches it').waitFor()
  await visitor.checkAccess('rules')
  visitor.checkBehaviour()
  await visitor.close()
})

test('every page can be used by everyone, on a phone too', async () => {
  const visitor = await visit(browser, base, { width: 390, height: 844 })
  const { page } = visitor
  const [webhook] = await admin('GET', '/webhooks')
  await admin('PUT', '/allow_lists', {
    list: 'catalog.early_access',
    subject_kind: 'user',
    subject_id: operator.id
  })
  const account = await admin('POST', '/ad_accounts', { environment: 'sandbox', owner_user_id: operator.id })
  await visitor.signIn(asOlga)
  await page.getByRole('heading', { name: 'Home', level: 1 }).waitFor()
  const pages = {
    '/': 'Deliveries per second',
    '/apps': 'Shop',
    '/webhooks': 'inbox.herald.test',
    [`/webhooks/${webhook.id}`]: 'Nothing was sent to this webhook yet',
    [`/webhooks/${webhook.id}?tab=checks`]: 'Answered as it should be',
    [`/webhooks/${webhook.id}?tab=replays`]: 'Nothing was replayed yet',
    [`/webhooks/${webhook.id}?tab=why&event=123`]: 'There was no such event',
    '/activity': 'profile.update.bio',
    '/activity?tab=accounts': 'No user has subscribed',
    '/activity?tab=connections': 'No stream is open',
    '/activity?tab=events': 'Hello from Herald',
    '/catalog': 'No catalog in production yet',
    '/catalog/imports': 'Nothing was imported yet',
    '/ads': 'You have no account in production',
    [`/ads/${account.id}?listener=sandbox`]: 'No campaigns yet',
    [`/ads/${account.id}?listener=sandbox&tab=funding`]: 'No funding instrument yet',
    [`/ads/${account.id}?listener=sandbox&tab=settings`]: 'What you may do',
    '/inbox': 'Register it as'
  }
  for (const [address, text] of Object.entries(pages)) {
    await page.goto(address)
    await page.getByText(text).first().waitFor()
    const wide = await page.evaluate('document.documentElement.scrollWidth > document.documentElement.clientWidth')
    assert.equal(wide, false, `${address} is wider than the phone`)
    await visitor.checkAccess(address)
  }
  visitor.checkBehaviour()
  await visitor.close()
})

test('signing out everywhere ends what another browser shows', async () => {
  const [here, there] = [await visit(browser, base), await visit(browser, base)]
  for (const visitor of [here, there]) {
    await visitor.signIn(asOlga)
    await visitor.page.getByRole('heading', { name: 'Home', level: 1 }).waitFor()
  }
  await here.page.getByRole('button', { name: /^Account/ }).click()
  await here.page.getByRole('menuitem', { name: 'Sign out everywhere' }).click()
  await here.page.getByRole('button', { name: 'Sign out everywhere' }).click()

  await here.page.getByRole('heading', { name: 'Sign in to Herald' }).waitFor()
  await there.page.getByRole('heading', { name: 'Sign in to Herald' }).waitFor()
  // A question that was on its way when the session ended is refused in either browser.
  here.checkBehaviour(REFUSED)
  there.checkBehaviour(REFUSED)
  await Promise.all([here.close(), there.close()])
})
