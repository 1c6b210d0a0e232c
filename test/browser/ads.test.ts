/** The ads section as advertisers use it: from nothing to a campaign that serves, and what it must refuse. */
import assert from 'node:assert/strict'
import { after, test } from 'node:test'
import type { Page } from 'playwright-core'
import { createAccount, createFundingInstrument } from '../../src/campaigns/index.ts'
import { givenUser } from '../given.ts'
import { type Visitor, visit } from './person.ts'
import { PASSWORD, REFUSED, startScene } from './scene.ts'

const { app, base, browser } = await startScene({ after }, { HERALD_AUDIENCE_PEOPLE: '20000' })
const { db } = app.deps.database
const now = () => new Date(app.deps.clock.now())

/** Somebody who has signed in, with an account of their own if one is asked for. */
async function advertiser(username: string, environment?: 'production' | 'sandbox') {
  const user = await givenUser(app, { username, password: PASSWORD })
  const account = environment && (await createAccount(db, { environment, ownerUserId: user.id, name: 'Bulbs' }, now()))
  const visitor = await visit(browser, base)
  await visitor.signIn({ username, password: PASSWORD })
  return { visitor, page: visitor.page, accountId: account?.id ?? '', user }
}

const givenFunding = (accountId: string) =>
  createFundingInstrument(
    db,
    accountId,
    { currency: 'USD', type: 'CREDIT_CARD', start_time: now().toISOString(), description: 'Card' },
    now()
  )

/** A call of the API by the person at the browser, in the sandbox. */
const call = async (page: Page, method: string, path: string, body?: object) => {
  const script = `fetch('/console/sandbox/12/accounts/${path}', {
    method: '${method}',
    headers: { 'x-herald-console': '1', 'content-type': 'application/json' },
    body: ${body ? JSON.stringify(JSON.stringify(body)) : 'undefined'}
  }).then((answer) => answer.json())`
  // biome-ignore lint/suspicious/noExplicitAny: tests read what they know to be there
  const { data, errors } = (await page.evaluate(script)) as any
  assert.equal(errors, undefined)
  return data
}

const finish = async (visitor: Visitor, expected?: RegExp) => {
  visitor.checkBehaviour(expected)
  await visitor.close()
}

test('a campaign comes from nothing to serving, each obstacle mended by its button', async () => {
  const { visitor, page } = await advertiser('flora')
  await page.getByRole('link', { name: 'Ads', exact: true }).click()
  await page.getByText('You have no account in production').waitFor()
  await page.getByRole('link', { name: 'Sandbox', exact: true }).click()
  await page.getByRole('button', { name: 'Create a sandbox account' }).first().click()
  await page.getByText('No campaigns yet').waitFor()
  assert.match(page.url(), /listener=sandbox/)

  // There is nothing to pay with: the form itself leads to it.
  await page.getByRole('button', { name: 'New campaign' }).first().click()
  await page.getByRole('button', { name: 'Add a funding instrument' }).click()
  await visitor.checkAccess('the form of a funding instrument')
  await page.getByRole('button', { name: 'Add', exact: true }).click()
  await page.getByRole('textbox', { name: 'Name' }).fill('Tulips')
  await page.getByRole('textbox', { name: /^Daily budget/ }).fill('25.50')
  await page.getByRole('combobox', { name: 'Status' }).selectOption('PAUSED')
  await page.getByText('Checked: this can be saved').waitFor()
  await page.getByRole('button', { name: 'Create the campaign' }).click()

  const serving = page.getByRole('region', { name: 'Servability' })
  await page.getByRole('heading', { name: 'Tulips', level: 1 }).waitFor()
  await serving.getByText('2 things stand in the way').waitFor()
  await page.getByText('$25.50').first().waitFor()
  await serving.getByRole('button', { name: 'Activate the campaign' }).click()
  await serving.getByText('One thing stands in the way').waitFor()
  await serving.getByRole('button', { name: 'Add a line item …' }).click()
  await page.getByRole('textbox', { name: 'Name' }).fill('In search')
  await page.getByRole('combobox', { name: 'Placements' }).selectOption('SVC_SEARCH')
  await page.getByText('Checked: this can be saved').waitFor()
  await visitor.checkAccess('the form of a line item')
  await page.getByRole('button', { name: 'Create the line item' }).click()

  await page.getByRole('heading', { name: 'In search', level: 1 }).waitFor()
  await serving.getByRole('button', { name: 'Add posts …' }).click()
  await page.getByRole('textbox', { name: 'Posts' }).fill('https://example.com/flora/status/20')
  await page.getByRole('button', { name: 'Promote', exact: true }).click()
  await serving.getByText('One thing stands in the way').waitFor()
  await serving.getByRole('button', { name: 'Add keywords …' }).click()
  await page.getByRole('textbox', { name: 'Keyword' }).fill('tulip bulbs')
  await page.getByRole('button', { name: 'Add', exact: true }).click()
  await serving.getByText('This line item can be served').waitFor()

  await page.getByRole('link', { name: 'Tulips', exact: true }).click()
  await serving.getByText('This campaign can be served').waitFor()
  // Leaves and opens again by its address.
  await page.reload()
  await page.getByRole('cell', { name: 'Serving', exact: true }).waitFor()
  await finish(visitor)
})

/** Signs in once for two stories. */
const lena = await advertiser('lena', 'sandbox')
const { id: funding_instrument_id } = await givenFunding(lena.accountId)

test('a form is checked while one types, in amounts of the currency', async () => {
  const { visitor, page, accountId } = lena
  await page.goto(`/ads/${accountId}?listener=sandbox`)
  await page.getByRole('button', { name: 'New campaign' }).first().click()
  await page.getByRole('textbox', { name: 'Name' }).fill('Budgets')
  await page.getByRole('textbox', { name: /^Daily budget/ }).fill('1,500')
  await page.getByRole('textbox', { name: /^Total budget/ }).fill('99.995')
  await page.getByText('Expected a multiple of $0.01').waitFor()
  await page.getByRole('textbox', { name: /^Total budget/ }).fill('99.99')
  await page.getByText('The daily budget $1,500 exceeds the total budget $99.99.').waitFor()
  await visitor.checkAccess('a form with a problem')
  assert.equal(await page.getByRole('textbox', { name: /^Daily budget/ }).getAttribute('aria-invalid'), 'true')
  await page.getByRole('textbox', { name: /^Total budget/ }).fill('twelve')
  await page.getByText('Type an amount such as 25').waitFor()
  await page.getByRole('textbox', { name: /^Total budget/ }).fill('3000')
  await page.getByText('Checked: this can be saved').waitFor()
  assert.equal((await call(page, 'GET', `${accountId}/campaigns`)).length, 0, 'nothing is saved by checking')
  await page.getByRole('button', { name: 'Create the campaign' }).click()
  await page.getByRole('heading', { name: 'Budgets', level: 1 }).waitFor()
  const [campaign] = await call(page, 'GET', `${accountId}/campaigns`)
  assert.equal(campaign.daily_budget_amount_local_micro, 1_500_000_000)
})

test('another person’s account is refused, also by its address, and one of the other listener is found', async () => {
  const owner = await givenUser(app, { username: 'henry' })
  const other = await createAccount(db, { environment: 'sandbox', ownerUserId: owner.id, name: 'Secret plans' }, now())
  const { visitor, page, accountId } = await advertiser('irene', 'sandbox')

  await page.goto(`/ads/${other.id}?listener=sandbox`)
  await page.getByRole('heading', { name: 'You have no access to this account' }).waitFor()
  assert.equal(await page.getByText('Secret plans').count(), 0)
  await visitor.checkAccess('an account of somebody else')
  await page.goto(`/ads/${accountId}`)
  await page.getByRole('heading', { name: 'Bulbs is in the sandbox' }).waitFor()
  await page.getByRole('link', { name: 'Open it in the sandbox' }).click()
  await page.getByRole('heading', { name: 'Bulbs', level: 1 }).waitFor()
  await finish(visitor, REFUSED)
})

test('who may only read is offered nothing else, and the server refuses it anyway', async () => {
  const owner = await advertiser('jonas', 'sandbox')
  const { id: funding } = await givenFunding(owner.accountId)
  const budget = { funding_instrument_id: funding, daily_budget_amount_local_micro: 5_000_000 }
  const campaign = await call(owner.page, 'POST', `${owner.accountId}/campaigns`, { name: 'Bulbs', ...budget })
  await owner.visitor.close()
  const { visitor, page, user } = await advertiser('karla')
  const access = `/admin/account_access/${owner.accountId}/${user.id}`
  const payload = { permissions: ['CAMPAIGN_ANALYST'] }
  const headers = { authorization: `Bearer ${app.adminToken}` }
  assert.equal((await app.apps.main.inject({ method: 'PUT', url: access, headers, payload })).statusCode, 200)

  await page.goto(`/ads/${owner.accountId}/campaigns/${campaign.id}?listener=sandbox`)
  await page.getByText('Your role may not change this').waitFor()
  for (const name of ['Edit', 'Pause', 'Add a line item', 'More about Bulbs'])
    assert.equal(await page.getByRole('button', { name }).count(), 0, name)
  const refused =
    await page.evaluate(`fetch('/console/sandbox/12/accounts/${owner.accountId}/campaigns/${campaign.id}', {
    method: 'DELETE', headers: { 'x-herald-console': '1' } }).then((answer) => answer.status)`)
  assert.equal(refused, 403)
  await finish(visitor, REFUSED)
})

test('targeting is collected while the estimate moves, saved at once, found in the history, and fits a phone', async () => {
  const { visitor, page, accountId } = lena
  const budget = { funding_instrument_id, daily_budget_amount_local_micro: 5_000_000 }
  const { id: campaign_id } = await call(page, 'POST', `${accountId}/campaigns`, { name: 'Bulbs', ...budget })
  const kind = { objective: 'ENGAGEMENTS', placements: ['ALL_ON_SVC'], product_type: 'PROMOTED_TWEETS' }
  const item = await call(page, 'POST', `${accountId}/line_items`, { campaign_id, name: 'Tulips', ...kind })
  await call(page, 'PUT', `${accountId}/line_items/${item.id}`, {
    bid_amount_local_micro: 900_000,
    bid_strategy: 'MAX'
  })

  await page.goto(`/ads/${accountId}/line-items/${item.id}?listener=sandbox&tab=targeting`)
  const audience = page.getByRole('complementary', { name: 'Audience estimate' })
  const size = audience.getByText(/\d.* – .*\d/)
  await audience.getByText('An estimate begins with people').waitFor()
  await page.getByRole('searchbox').fill('gardening')
  await page.getByRole('button', { name: 'Add Hobbies and interests › Gardening' }).click()
  await size.waitFor({ timeout: 20_000 })
  const wide = await size.textContent()
  await page.getByRole('combobox', { name: 'What to look for' }).selectOption('LOCATION')
  await page.getByRole('searchbox').fill('germany')
  await page.getByRole('button', { name: 'Add Germany' }).click()
  await audience.getByText('How it moved').waitFor()
  assert.notEqual(await size.textContent(), wide)
  await page.getByRole('button', { name: 'Save the targeting' }).click()
  await page.getByText('The targeting is saved').waitFor()
  await page.getByRole('button', { name: 'Remove Germany' }).click()
  await page.getByText('As saved:').waitFor()
  await page.getByRole('button', { name: 'Save the targeting' }).click()
  await page.getByText('not saved yet').waitFor({ state: 'detached' })

  await page.getByRole('tab', { name: 'History' }).click()
  const history = page.getByRole('list', { name: 'History' })
  await history.getByText('Locations: Germany taken away').waitFor()
  assert.deepEqual((await history.getByRole('listitem').locator('strong').allInnerTexts()).slice(1), [
    'Locations: Germany added',
    'Interests: Hobbies and interests › Gardening added',
    'Changed bid, bid strategy',
    'Created'
  ])
  const [before, after] = [history.locator('del').first(), history.locator('ins').first()]
  assert.match((await before.textContent()) ?? '', /nothing|Automatic/)
  assert.match((await after.textContent()) ?? '', /\$0\.90|At most the bid/)

  await page.setViewportSize({ width: 390, height: 844 })
  const lineItem = `/line-items/${item.id}?listener=sandbox`
  const pages = {
    [`?listener=sandbox&open=${campaign_id}`]: 'Tulips',
    [`/campaigns/${campaign_id}?listener=sandbox`]: 'Tulips',
    [`${lineItem}&tab=targeting`]: 'Gardening',
    [`${lineItem}&tab=creatives`]: 'No promoted posts yet',
    [`${lineItem}&tab=history`]: 'Created',
    [lineItem]: 'No creative is attached'
  }
  for (const [address, text] of Object.entries(pages)) {
    await page.goto(`/ads/${accountId}${address}`)
    await page.getByText(text).first().waitFor()
    const wide = await page.evaluate('document.documentElement.scrollWidth > document.documentElement.clientWidth')
    assert.equal(wide, false, `${address} is wider than the phone`)
    await visitor.checkAccess(address)
  }

  // Deleting says what goes with it.
  await page.getByRole('button', { name: 'More about Tulips' }).click()
  await page.getByRole('menuitem', { name: 'Delete …' }).click()
  await page.getByText('Its targeting goes with it').waitFor()
  await page.getByRole('button', { name: 'Delete the line item' }).click()
  await page.getByText('No line items yet').waitFor()
  await finish(visitor, REFUSED)
})
