/** Merchants for tests: a user with early access, a catalog in either environment, and calls that read well. */
import type { Environment } from '../src/http/ads.ts'
import { ALLOW_LISTS, allow } from '../src/identity/index.ts'
import type { TestApp } from './app.ts'
import { type Advertiser, type Answer, caller, givenUser, type Json, verbs } from './given-ads.ts'

export interface Merchant extends Pick<Advertiser, 'call' | 'get' | 'post' | 'put' | 'delete'> {
  environment: Environment
  userId: string
  catalogId: string
  token: string
  /** DELETE with a JSON body. */
  remove(path: string, body: Json): Promise<Answer>
}

/** `path` of the calls is below the catalog, or below /12 when it starts with a slash. */
export async function givenMerchant(
  app: TestApp,
  { environment = 'production' as Environment, earlyAccess = true, catalog = true } = {}
): Promise<Merchant> {
  const { user, token } = await givenUser(app)
  if (earlyAccess) {
    const entry = { list: ALLOW_LISTS.catalogEarlyAccess, subject_kind: 'user', subject_id: user.id } as const
    await allow(app.deps.database.db, entry, new Date(app.deps.clock.now()))
  }
  const inScope = caller(app, environment, token, '')
  let catalogId = ''
  if (catalog) {
    const { data, body } = await inScope('POST', '/product_catalogs', { name: 'Shop' })
    if (!data) throw new Error(`no catalog: ${JSON.stringify(body)}`)
    catalogId = data.id
  }
  const call: Advertiser['call'] = (method, path, input, more) =>
    inScope(method, path.startsWith('/') ? path : `/product_catalogs/${catalogId}${path && `/${path}`}`, input, more)
  return {
    environment,
    userId: user.id,
    catalogId,
    token,
    ...verbs(call),
    remove: (path, body) => call('DELETE', path, undefined, { payload: body })
  }
}

/** A product that is right in everything. */
export const product = (id: string, more: Json = {}): Json => ({
  id,
  title: `Shoes ${id}`,
  description: 'Canvas shoes',
  availability: 'in stock',
  condition: 'new',
  price: '20.00 USD',
  link: `https://shop.example/p/${id}`,
  image_link: `https://shop.example/i/${id}.jpg`,
  brand: 'Acme',
  ...more
})

/** Puts products, all of which must succeed, and returns their results. */
export async function givenProducts(merchant: Merchant, products: Json[]): Promise<Json[]> {
  const results: Json[] = []
  for (let at = 0; at < products.length; at += 25) {
    const { body, data } = await merchant.put('products', { products: products.slice(at, at + 25) })
    if (!data || data.products_response.some((each: Json) => each.status === 'ERROR'))
      throw new Error(`not put: ${JSON.stringify(body)}`)
    results.push(...data.products_response)
  }
  return results
}
