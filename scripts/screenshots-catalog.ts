/** The shop behind the pictures of the catalog: its products, their images, and a feed in which some rows are wrong. */
import type { Browser } from 'playwright-core'
import { ALLOW_LISTS, allow } from '../src/identity/index.ts'
import type { TestApp } from '../test/app.ts'
import { startConsumer } from '../test/consumer.ts'
import { givenApp, givenUserToken } from '../test/given.ts'
import { caller, type Json } from '../test/given-ads.ts'
import { csv } from '../test/given-feed.ts'

export interface CatalogScene {
  catalogId: string
  runId: string
  setId: string
}

const COLOURS = {
  sand: '#d9b38c',
  sage: '#8fae8b',
  navy: '#2f4b7c',
  brick: '#b5533c',
  plum: '#7d4e7e',
  slate: '#5f6b7a'
}

/** Each drawn on 100 × 100; `c` is the colour. */
const KINDS: Record<string, { title: string; price: number; draw: (c: string) => string }> = {
  mug: {
    title: 'Stoneware mug',
    price: 14,
    draw: (c) => `<path d="M70 42h8a9 9 0 0 1 0 24h-8" fill="none" stroke="${c}" stroke-width="6"/>
      <path d="M28 32h44v34a10 10 0 0 1-10 10H38a10 10 0 0 1-10-10z" fill="${c}"/><ellipse cx="50" cy="32" rx="22" ry="5" fill="#fff" opacity=".55"/>`
  },
  shirt: {
    title: 'Organic cotton shirt',
    price: 39,
    draw: (c) => `<path d="M36 22 20 31l7 16 8-3v36h30V44l8 3 7-16-16-9c-3 6-25 6-28 0z" fill="${c}"/>
      <path d="M36 22c3 8 25 8 28 0" fill="none" stroke="#fff" stroke-width="2" opacity=".7"/>`
  },
  sneaker: {
    title: 'Canvas sneaker',
    price: 79,
    draw: (c) => `<path d="M16 62c0-8 2-18 6-22 6 5 14 5 20-1 6 8 14 14 26 17 9 2 16 4 16 12v2H16z" fill="${c}"/>
      <path d="M15 69h70v6a3 3 0 0 1-3 3H19a4 4 0 0 1-4-4z" fill="#f4f1ea" stroke="#ddd6c8"/><path d="m42 46 7-5M48 52l7-5M55 56l6-5" stroke="#fff" stroke-width="2.4"/>`
  },
  backpack: {
    title: 'Day backpack',
    price: 95,
    draw: (c) => `<path d="M38 26v-4a12 12 0 0 1 24 0v4" fill="none" stroke="${c}" stroke-width="5"/>
      <rect x="26" y="25" width="48" height="55" rx="14" fill="${c}"/><rect x="34" y="52" width="32" height="20" rx="5" fill="#fff" opacity=".28"/><path d="M26 46h48" stroke="#fff" stroke-width="2" opacity=".5"/>`
  },
  lamp: {
    title: 'Desk lamp',
    price: 120,
    draw: (c) => `<path d="M40 18h22l12 26H28z" fill="${c}"/><path d="M51 44v32" stroke="#8b8f96" stroke-width="4"/>
      <rect x="34" y="75" width="34" height="6" rx="3" fill="#8b8f96"/><path d="M30 46h42" stroke="#ffe9a8" stroke-width="3"/>`
  },
  chair: {
    title: 'Oak dining chair',
    price: 210,
    draw: (
      c
    ) => `<path d="M34 18h32v6H34zM34 30h32v6H34z" fill="${c}"/><path d="M34 18v62M66 18v62" stroke="${c}" stroke-width="5"/>
      <rect x="30" y="50" width="40" height="7" rx="3" fill="${c}"/><path d="M36 57v23M64 57v23" stroke="#7a5c3d" stroke-width="4"/>`
  },
  bottle: {
    title: 'Insulated bottle',
    price: 28,
    draw: (c) => `<rect x="42" y="14" width="16" height="10" rx="3" fill="#8b8f96"/>
      <path d="M38 34c0-6 4-6 4-10h16c0 4 4 4 4 10v44a6 6 0 0 1-6 6H44a6 6 0 0 1-6-6z" fill="${c}"/><path d="M43 38v36" stroke="#fff" stroke-width="3" opacity=".4"/>`
  }
}

async function drawPictures(browser: Browser): Promise<Map<string, Buffer>> {
  const pictures = new Map<string, Buffer>()
  const page = await browser.newPage({ viewport: { width: 600, height: 600 } })
  for (const [kind, { draw }] of Object.entries(KINDS))
    for (const [name, colour] of Object.entries(COLOURS)) {
      await page.setContent(
        `<style>body{margin:0}</style><svg viewBox="0 0 100 100" width="600" height="600"><rect width="100" height="100" fill="#f7f5f1"/>
         <ellipse cx="50" cy="82" rx="32" ry="3.5" fill="#000" opacity=".08"/>${draw(colour)}</svg>`
      )
      pictures.set(`/i/${kind}-${name}.png`, await page.screenshot())
    }
  await page.close()
  return pictures
}

/** Whose picture is no longer there. */
const GONE = 8

/** Every kind in every colour, so that neighbours differ. */
const productsOf = (shop: string): Json[] => {
  const kinds = Object.entries(KINDS)
  const colours = Object.keys(COLOURS)
  return Array.from({ length: kinds.length * colours.length }, (_, i) => {
    const [kind, { title, price }] = kinds[i % kinds.length]!
    const colour = colours[((i % kinds.length) + Math.floor(i / kinds.length)) % colours.length]!
    const isGone = i === GONE
    return {
      id: `${kind}-${colour}`,
      title: `${title}, ${colour}`,
      description: `${title} in ${colour}, made to last.`,
      availability: i % 11 === 4 ? 'out of stock' : i % 17 === 12 ? 'preorder' : 'in stock',
      condition: 'new',
      price: `${price}.00 USD`,
      ...(i % 7 === 2 && i % 2 === 0 ? { sale_price: `${Math.round(price * 0.8)}.00 USD` } : {}),
      inventory: String(i % 11 === 4 ? 0 : 3 + ((i * 37) % 48)),
      link: `https://shop.example.com/p/${kind}-${colour}`,
      image_link: `${shop}/i/${kind}-${colour}${isGone ? '-old' : ''}.png`,
      brand: 'Nordlicht',
      product_type: ['shirt', 'sneaker', 'backpack'].includes(kind) ? 'Wear' : 'Home',
      color: colour,
      custom_label_0: i % 2 === 0 ? 'autumn' : 'basics'
    }
  })
}

/** Some of what shops get wrong. */
const spoil = (product: Json, i: number): Json => {
  if (i % 37 === 5) return { ...product, price: `${i % 90},90 EUR` }
  if (i % 53 === 7) return { ...product, availability: 'In Stock' }
  if (i % 61 === 9) return { ...product, link: 'shop.example.com/p' }
  if (i % 83 === 11) return { ...product, brand: '' }
  if (i % 71 === 3) return { ...product, description: 'Bed &amp; breakfast' }
  return i % 97 === 13 ? { ...product, id: 'sku-26' } : product
}

export async function setCatalog(
  app: TestApp,
  browser: Browser,
  user: { id: string },
  t: { after(fn: () => Promise<void>): void }
): Promise<CatalogScene> {
  const pictures = await drawPictures(browser)
  const host = await startConsumer(t, { plain: true })
  const shop = `http://127.0.0.1:${host.port}`
  const products = productsOf(shop)
  const good = products.filter((_, i) => i !== GONE)
  const file = csv(Array.from({ length: 1_842 }, (_, i) => spoil({ ...good[i % good.length]!, id: `sku-${i}` }, i)))
  host.respond((request, response) => {
    const picture = pictures.get(request.url)
    if (picture) response.writeHead(200, { 'content-type': 'image/png' }).end(picture)
    else if (request.url === '/products.csv') response.end(file)
    else response.writeHead(404).end()
  })
  const entry = { list: ALLOW_LISTS.catalogEarlyAccess, subject_kind: 'user', subject_id: user.id } as const
  await allow(app.deps.database.db, entry, new Date(app.deps.clock.now()))
  const { authorization } = await givenUserToken(app, await givenApp(app, { name: 'Shop system' }), user)
  const call = caller(app, 'production', authorization.replace('Bearer ', ''), '')
  const must = async (method: string, path: string, input?: Json) => {
    const { data, body } = await call(method, `/product_catalogs${path}`, input)
    if (!data) throw new Error(`${method} ${path}: ${JSON.stringify(body)}`)
    return data
  }
  const { id: catalogId } = await must('POST', '', { name: 'Nordlicht, autumn collection' })
  for (let at = 0; at < products.length; at += 25)
    await must('PUT', `/${catalogId}/products`, { products: products.slice(at, at + 25) })
  const filters = [
    { attribute: 'price', operator: 'GREATER_THAN', value: '70.00 USD' },
    { attribute: 'custom_label_0', operator: 'EQUAL_TO', value: 'autumn' }
  ]
  const set = await must('POST', `/${catalogId}/product_sets`, { name: 'Autumn, over 70', type: 'FILTERED', filters })
  const feed = await must('POST', `/${catalogId}/scheduled_feeds`, {
    feed_url: `${shop}/products.csv`,
    feed_format: 'CSV',
    frequency: 'HOURLY',
    repeat: '6',
    start_time: '03:30',
    time_zone: 'Europe/Berlin'
  })
  const run = await must('POST', `/${catalogId}/scheduled_feeds/${feed.id}/runs`)
  await app.drain()
  return { catalogId, runId: run.id, setId: set.id }
}
