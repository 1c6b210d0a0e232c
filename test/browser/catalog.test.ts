/** The catalog section as merchants use it: a file with bad rows until it is right, products, sets, and a guarded import. */
import assert from 'node:assert/strict'
import { readFile } from 'node:fs/promises'
import { after, test } from 'node:test'
import { deflateSync } from 'node:zlib'
import type { Page } from 'playwright-core'
import { ALLOW_LISTS, allow } from '../../src/identity/index.ts'
import { startConsumer } from '../consumer.ts'
import { givenUser } from '../given.ts'
import type { Json } from '../given-ads.ts'
import { product } from '../given-catalog.ts'
import { csv } from '../given-feed.ts'
import { visit } from './person.ts'
import { PASSWORD, REFUSED, startScene } from './scene.ts'

const { app, base, browser, operator } = await startScene({ after }, { HERALD_EGRESS_ALLOW_PRIVATE: '1' })
const shop = await startConsumer({ after }, { plain: true })
const url = `http://127.0.0.1:${shop.port}`

/** A square of one colour, which a browser can show. */
function png(red: number, green: number, blue: number, size = 40) {
  const chunk = (name: string, data: Buffer) => {
    const body = Buffer.concat([Buffer.from(name, 'latin1'), data])
    let crc = 0xffffffff
    for (const byte of body) {
      crc ^= byte
      for (let bit = 0; bit < 8; bit++) crc = crc & 1 ? (crc >>> 1) ^ 0xedb88320 : crc >>> 1
    }
    const [length, sum] = [Buffer.alloc(4), Buffer.alloc(4)]
    length.writeUInt32BE(data.length)
    sum.writeUInt32BE(~crc >>> 0)
    return Buffer.concat([length, body, sum])
  }
  const header = Buffer.alloc(13)
  header.writeUInt32BE(size, 0)
  header.writeUInt32BE(size, 4)
  header.set([8, 2, 0, 0, 0], 8)
  const row = Buffer.concat([Buffer.of(0), Buffer.concat(Array(size).fill(Buffer.of(red, green, blue)))])
  const pixels = deflateSync(Buffer.concat(Array(size).fill(row)))
  const start = Buffer.from('89504e470d0a1a0a', 'hex')
  return Buffer.concat([start, chunk('IHDR', header), chunk('IDAT', pixels), chunk('IEND', Buffer.alloc(0))])
}

const files = new Map<string, string | Buffer>([['/i/good.png', png(47, 75, 124)]])
shop.respond((request, response) => {
  const file = files.get(request.url)
  response.writeHead(file === undefined ? 404 : 200).end(file)
})

/** 1,000 products are enough for the guard to look at what an import would change. */
const many = (price: string): Json[] =>
  Array.from({ length: 1_000 }, (_, i) =>
    product(`sku-${String(i).padStart(4, '0')}`, {
      title: `Lamp ${i}`,
      price: i < 3 ? '120.00 USD' : price,
      image_link: `${url}/i/${i === 1 ? 'gone' : 'good'}.png`
    })
  )
const BAD = [
  product('bad-1', { price: '12,50 EUR' }),
  product('bad-2', { availability: 'In Stock' }),
  product('twice'),
  product('twice')
]

async function merchant(username: string, earlyAccess = true) {
  const user = await givenUser(app, { username, password: PASSWORD })
  if (earlyAccess) {
    const entry = { list: ALLOW_LISTS.catalogEarlyAccess, subject_kind: 'user', subject_id: user.id } as const
    await allow(app.deps.database.db, entry, new Date(app.deps.clock.now()))
  }
  return user
}
await merchant('mia')
const asMia = { username: 'mia', password: PASSWORD }
/** The same window in all of the merchant's stories: signing in is another story. */
const visitor = await visit(browser, base)
const { page } = visitor
await visitor.signIn(asMia)

const downloaded = async (page: Page, button: RegExp) => {
  const [file] = await Promise.all([page.waitForEvent('download'), page.getByRole('button', { name: button }).click()])
  return { name: file.suggestedFilename(), lines: (await readFile(await file.path(), 'utf8')).trimEnd().split('\r\n') }
}

test('a file with bad rows is tried from the disk and from an address, and its report downloaded', async () => {
  await page.getByRole('link', { name: 'Catalog', exact: true }).click()
  await page.getByText('No catalog in production yet').waitFor()
  await page.getByRole('button', { name: 'Create a catalog' }).click()
  await page.getByRole('textbox', { name: 'Name' }).fill('Lamps')
  await page.getByRole('button', { name: 'Create', exact: true }).click()
  await page.getByText('No products yet').waitFor()

  await page.getByRole('link', { name: 'Try a feed file' }).click()
  const bytes = Buffer.from(csv([product('a'), ...BAD]))
  await page.getByLabel('Feed file').setInputFiles({ name: 'lamps.csv', mimeType: 'text/csv', buffer: bytes })
  await page.getByRole('button', { name: 'Check it' }).click()
  await page.getByText('dry run: nothing is changed').waitFor()
  const price = page.locator('details', { hasText: 'INVALID_PRICE' })
  await price.locator('summary').click()
  await price.getByText('Write "12.50 EUR"').waitFor()
  assert.deepEqual((await price.locator('tbody tr').first().locator('td').allInnerTexts()).slice(0, 3), [
    '3',
    '6',
    '12,50 EUR'
  ])
  await visitor.checkAccess('a report')
  const report = await downloaded(page, /^Download 4 rejected rows/)
  assert.match(report.name, /^rejected-\d+\.csv$/)
  assert.match(report.lines[0]!, /^row,line,column,code,what_to_do,id,title/)
  assert.deepEqual(
    report.lines.slice(1).map((line) => line.split(',')[3]),
    ['INVALID_PRICE', 'INVALID_VALUE', 'DUPLICATE_ID', 'DUPLICATE_ID']
  )

  files.set('/lamps.csv', csv([...many('20.00 USD'), ...BAD]))
  await page.getByRole('link', { name: 'Try another file' }).click()
  await page.getByRole('button', { name: 'At an address' }).click()
  await page.getByRole('textbox', { name: 'Address of the file' }).fill('ftp://shop')
  await page.getByRole('button', { name: 'Check it' }).click()
  await page.getByText('Expected an address that begins with http').waitFor()
  await page.getByRole('textbox', { name: 'Address of the file' }).fill(`${url}/lamps.csv`)
  await page.getByRole('button', { name: 'Check it' }).click()
  await page.getByRole('button', { name: /^Download 4 rejected rows/ }).waitFor()
  assert.equal((await downloaded(page, /^Download 4/)).lines.length, 5)
  visitor.checkBehaviour(REFUSED)
})

test('a feed is planned by the clock of its zone, imported, and stopped when it would change nearly everything', async () => {
  await page.goto('/catalog')
  await page.getByRole('link', { name: 'Lamps' }).click()
  await page.getByRole('tab', { name: 'Feed' }).click()
  await page.getByRole('button', { name: 'Create the feed' }).click()
  await page.getByRole('textbox', { name: 'Address of the file' }).fill(`${url}/lamps.csv`)
  await page.getByRole('button', { name: 'Weekly' }).click()
  await page.getByRole('combobox', { name: 'On', exact: true }).selectOption('FRIDAY')
  await page.getByRole('combobox', { name: 'Time zone' }).fill('Asia/Tokyo')
  const times = page.getByRole('region', { name: 'Next fetches' }).getByRole('listitem')
  await times.filter({ hasText: 'GMT+9' }).first().waitFor()
  const shown = await times.allInnerTexts()
  assert.equal(shown.length, 5)
  assert.ok(
    shown.every((time) => /^Fri, .*03:00 AM GMT\+9$/.test(time)),
    shown.join()
  )
  await visitor.checkAccess('the form of a feed')
  await page.getByRole('button', { name: 'Create the feed' }).click()
  await page.getByText('every Friday at 03:00, Asia/Tokyo time').waitFor()

  await page.getByRole('button', { name: 'Fetch now' }).click()
  await page.getByRole('button', { name: /^Download 4 rejected rows/ }).waitFor()
  files.set('/lamps.csv', csv(many('33.00 USD')))
  await page.getByRole('link', { name: 'All imports' }).click()
  await page.getByText('1,000 created').waitFor()
  await page.getByRole('button', { name: 'Fetch now' }).click()
  await page.getByText('This import waits for somebody to look at it').waitFor()
  await page.getByRole('button', { name: 'Import it …' }).click()
  await page.getByRole('button', { name: 'Import it', exact: true }).click()
  await page.getByText('Done', { exact: true }).waitFor()
  await page.getByRole('link', { name: 'All imports' }).click()
  await page.getByText('0 created, 997 updated, 3 unchanged').waitFor()
  await visitor.checkAccess('a feed and its imports')
  visitor.checkBehaviour(REFUSED)
})

test('products show their pictures, are found by id, and edited in place with the messages of the API', async () => {
  await page.goto('/catalog')
  await page.getByRole('link', { name: 'Lamps' }).click()
  const tiles = page.getByRole('list', { name: 'Products' }).getByRole('listitem')
  await tiles.nth(4).waitFor()
  const widths = `Promise.all([...document.images].slice(0, 3).map((image) =>
    image.decode().then(() => image.naturalWidth, () => 0)))`
  assert.ok(((await page.evaluate(widths)) as number[]).filter((width) => width === 40).length >= 2)
  // A picture that is gone leaves a calm place.
  await tiles.nth(1).locator('.picture-none').waitFor()
  assert.ok((await tiles.count()) < 60, 'only what is in sight is in the page')
  await visitor.checkAccess('products')
  await page.evaluate('window.scrollTo(0, 4000)')
  await tiles.filter({ hasText: 'Lamp 70' }).first().waitFor()

  await page.getByRole('searchbox', { name: 'Id begins with' }).fill('sku-0007')
  await page.getByRole('button', { name: 'Find' }).click()
  await page.getByRole('link', { name: /Lamp 7 / }).click()
  const price = page.getByRole('textbox', { name: /^Price/ })
  await price.fill('12,50 USD')
  await page.getByText('Write "12.50 USD"').waitFor()
  await page.getByRole('button', { name: 'Save' }).click()
  await page.getByText('The product was not saved').waitFor()
  assert.equal(await price.getAttribute('aria-invalid'), 'true')
  await visitor.checkAccess('a product that was refused')
  await price.fill('12.50 USD')
  await page.getByText('Ready to save').waitFor()
  await page.getByRole('button', { name: 'Save' }).click()
  await page.getByText('The product is saved').waitFor()
  await page.getByRole('button', { name: 'Close' }).click()
  await page.getByRole('link', { name: /12\.50 USD/ }).waitFor()

  await page.getByRole('link', { name: /12\.50 USD/ }).click()
  await page.getByRole('button', { name: 'Delete …' }).click()
  await page.getByRole('button', { name: 'Delete', exact: true }).click()
  await page.getByText('No id begins with “sku-0007”').waitFor()
  visitor.checkBehaviour(REFUSED)
})

test('a set is built from filters that are counted as they are typed', async () => {
  await page.goto('/catalog')
  await page.getByRole('link', { name: 'Lamps' }).click()
  await page.getByRole('tab', { name: /^Sets/ }).click()
  await page.getByRole('link', { name: 'Create a set' }).click()
  const value = page.getByRole('textbox', { name: 'Value of filter 1' })
  await value.fill('100')
  await page.getByText('Value "100"').waitFor()
  await value.fill('100.00 USD')
  await page.getByText('products match of 999').waitFor()
  assert.equal(await page.locator('.big-number').textContent(), '3')
  await page.getByRole('button', { name: 'Add a filter' }).click()
  await page.getByRole('combobox', { name: 'Comparison of filter 2' }).selectOption('LESS_THAN')
  await page.getByRole('textbox', { name: 'Value of filter 2' }).fill('110.00 USD')
  await page.getByText('Loosen a filter').waitFor()
  await visitor.checkAccess('a set that is being built')
  await page.getByRole('button', { name: 'Take filter 2 away' }).click()
  await page.getByRole('textbox', { name: 'Name' }).fill('Dear lamps')
  await page.getByText('products match of 999').waitFor()
  await page.getByRole('button', { name: 'Create the set' }).click()
  await page.getByRole('heading', { name: 'Dear lamps', level: 1 }).waitFor()
  const members = page.getByRole('list', { name: 'Products of the set' }).getByRole('listitem')
  await members.nth(2).waitFor()
  assert.equal(await members.count(), 3)

  await page.getByRole('link', { name: 'Copy with other filters' }).click()
  await page.getByRole('button', { name: 'By hand' }).click()
  await page.getByRole('textbox', { name: 'Id begins with' }).fill('sku-000')
  await page.getByRole('button', { name: 'Add sku-0004' }).click()
  await page.getByRole('textbox', { name: 'Name' }).fill('Picked')
  await visitor.checkAccess('a set that is picked by hand')
  await page.getByRole('button', { name: 'Create the set' }).click()
  await page.getByText('products that were picked by hand').waitFor()
  await page.getByRole('button', { name: 'Delete …' }).click()
  await page.getByRole('button', { name: 'Delete', exact: true }).click()
  await page.getByRole('table', { name: 'Product sets' }).getByText('Dear lamps').waitFor()
  visitor.checkBehaviour(REFUSED)
})

test('the sandbox is another world, and who has no early access is told how to get it', async () => {
  await merchant('nils', false)
  await page.setViewportSize({ width: 390, height: 844 })
  await page.goto('/catalog')
  await page.getByRole('link', { name: 'Lamps' }).click()
  await page.getByRole('list', { name: 'Products' }).getByRole('listitem').first().waitFor()
  const address = new URL(page.url()).pathname
  const steps = [
    ['button', 'List', 'Lamp 2'],
    ['tab', /^Image issues/, 'No image is known to be wrong'],
    ['tab', /^Sets/, 'Dear lamps'],
    ['link', 'Create a set', 'Complete a filter'],
    ['link', 'Lamps', 'Lamp 2'],
    ['tab', 'Feed', 'Asia/Tokyo time'],
    ['link', 'Try a feed file', 'or drop it here']
  ] as const
  for (const [role, name, text] of steps) {
    await page.getByRole(role, { name }).first().click()
    await page.getByText(text).first().waitFor()
    const wide = await page.evaluate('document.documentElement.scrollWidth > document.documentElement.clientWidth')
    assert.equal(wide, false, `${text} is wider than a phone`)
  }
  await page.getByRole('link', { name: 'Sandbox', exact: true }).click()
  await page.getByText('No catalog in sandbox yet').waitFor()
  assert.match(page.url(), /\/catalog\?listener=sandbox$/)
  await page.goto(`${address}?listener=sandbox`)
  await page.getByText(/^Product catalog \d+ was not found$/).waitFor()
  visitor.checkBehaviour(REFUSED)
  await visitor.close()

  for (const who of [{ username: 'nils', password: PASSWORD }, operator]) {
    const other = await visit(browser, base)
    await other.signIn(who)
    await other.page.goto('/catalog')
    await other.page.getByText('Catalogs need early access').waitFor()
    await other.page.goto(address)
    await other.page.getByText('does not have access to this API').waitFor()
    if (who === operator) {
      await other.page.getByRole('button', { name: 'Give me early access' }).click()
      await other.page.getByText(/^Product catalog \d+ was not found$/).waitFor()
      await other.page.goto('/catalog/imports?state=DONE')
      await other.page
        .getByRole('row', { name: /lamps\.csv/ })
        .first()
        .click()
      await other.page.getByText('About this run').waitFor()
      await other.checkAccess('imports of all catalogs')
      const before = other.page.url()
      await other.page.getByRole('button', { name: 'Run this feed now' }).click()
      await other.page.waitForURL(({ href }) => href !== before)
      await other.page.getByText('Rows read').waitFor()
    } else {
      assert.equal(await other.page.getByRole('button', { name: 'Give me early access' }).count(), 0)
      await other.page.getByText('PUT /admin/allow_lists').waitFor()
      await other.checkAccess('a catalog without early access')
    }
    other.checkBehaviour(REFUSED)
    await other.close()
  }
})
