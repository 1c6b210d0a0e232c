/** "Catalog limits per 15 minutes"; what the open points do not name shares the numbers of its resource. */
import type { Limit } from '../http/rate-limits.ts'

const NUMBERS = {
  product_catalogs: { GET: 1000, POST: 20, PUT: 20, DELETE: 20 },
  products: { GET: 1000, POST: 600, PUT: 600, DELETE: 150 },
  product_sets: { GET: 2000, POST: 100, PUT: 500, DELETE: 100 },
  scheduled_feeds: { GET: 1000, POST: 20, PUT: 20, DELETE: 20 }
} as const

export type CatalogResource = keyof typeof NUMBERS
export type Method = 'GET' | 'POST' | 'PUT' | 'DELETE'

export const catalogLimit = (resource: CatalogResource, method: Method): Limit => ({
  name: `catalog.${resource}.${method.toLowerCase()}`,
  max: NUMBERS[resource][method],
  windowSeconds: 900
})
