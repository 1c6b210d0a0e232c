/** Shapes of the catalog API, and how they are asked for. */
import { infiniteQueryOptions, queryOptions } from '@tanstack/react-query'
import { ask, type Query, request } from '../../client/api.ts'
import { adsPath, type Listener, useListener } from '../../client/listener.ts'
import type { Filter } from './filters.ts'
import type { Product } from './product-fields.ts'
import type { RunState } from './run-states.ts'

export interface Figures {
  id: string
  name: string
  user_id: string
  username: string
  delegated: boolean
  created_at: string
  product_count: number
  counted_to_end: boolean
  image_issue_count: number
  product_set_count: number
  scheduled_feed_id: string | null
  last_run_id: string | null
  last_run_state: RunState | null
  last_run_at: string | null
}

export interface ImageIssue {
  product_key: string
  id: string
  field: string
  url: string
  code: string
  message: string
  checked_at: string
}

export interface Warning {
  product_key: string
  field: string | null
  code: string
  message: string
}

export interface ProductSet {
  id: string
  name: string
  description: string | null
  type: 'MANUAL' | 'FILTERED'
  filters: Filter[]
  product_ids: string[]
  processing_status: 'PROCESSING' | 'DONE' | 'FAILED'
  product_count: number
  counted_to_end: boolean
}

/** What a person knows a product by; members of sets and samples have no more. */
export type Glimpse = Pick<Product, 'product_key' | 'id' | 'title' | 'price' | 'image_link'> & Partial<Product>

export interface Feed {
  id: string
  feed_url: string
  feed_format: 'CSV' | 'TSV' | 'XML'
  frequency: 'HOURLY' | 'DAILY' | 'WEEKLY'
  repeat: string | null
  start_time: string
  time_zone: string
  created_at: string
  updated_at: string
}

export interface Sample {
  row: number | null
  line: number | null
  column: number | null
  field: string | null
  value: string | null
  message: string
}
export interface IssueCount {
  severity: 'error' | 'warning'
  code: string
  field: string | null
  count: number
  samples: Sample[]
}
export interface FeedRun {
  id: string
  product_catalog_id: string
  scheduled_feed_id: string | null
  trigger: string
  validate_only: boolean
  state: RunState
  feed_url: string | null
  feed_format: string
  created_at: string
  started_at: string | null
  finished_at: string | null
  next_fetch_at: string | null
  not_modified: boolean
  progress: {
    bytes_read: number
    bytes_total: number | null
    rows_read: number
    seconds: number
    rows_per_second: number | null
    bytes_per_second: number | null
    seconds_left: number | null
  }
  counts: Record<'read' | 'created' | 'updated' | 'unchanged' | 'rejected' | 'duplicate', number>
  error: { code: string; message: string; row: number | null; line: number | null; column: number | null } | null
  guard: { code: string; message: string; catalog_products: number; created: number; changed: number } | null
  issues: IssueCount[]
}

export interface NextRuns {
  time_zone: string
  next_runs: string[]
  local_times: string[]
}

/** One catalog on one listener: the addresses of what is in it, and keys for what was asked. */
export interface CatalogAt {
  listener: Listener
  id: string
  path: (rest?: string) => string
  key: (...rest: unknown[]) => readonly unknown[]
}

export const catalogAt = (listener: Listener, id: string): CatalogAt => ({
  listener,
  id,
  path: (rest = '') => adsPath(listener, `/product_catalogs/${id}${rest}`),
  key: (...rest) => ['catalog', listener, id, ...rest]
})
export const useCatalog = (id: string): CatalogAt => catalogAt(useListener(), id)

export const catalogsQuery = (listener: Listener) =>
  queryOptions({
    queryKey: ['catalogs', listener],
    queryFn: ({ signal }) => ask<Figures[]>('GET', adsPath(listener, '/product_catalogs/overview'), { signal })
  })

export const figuresQuery = (catalog: CatalogAt) =>
  queryOptions({
    queryKey: catalog.key('figures'),
    queryFn: ({ signal }) => ask<Figures>('GET', catalog.path(), { signal }),
    staleTime: 10_000
  })

interface CursorPage<T> {
  data: T[]
  next_cursor: string | null
}
const cursorPages = <T>(key: readonly unknown[], path: string, query: Query = {}) =>
  infiniteQueryOptions({
    queryKey: [...key, query],
    queryFn: ({ pageParam, signal }) =>
      request<CursorPage<T>>('GET', path, { query: { ...query, cursor: pageParam }, signal }),
    initialPageParam: undefined as string | undefined,
    getNextPageParam: ({ next_cursor }) => next_cursor ?? undefined
  })

/** All of them, those of a group, or those whose ids begin with a text. */
export function productPages(
  catalog: CatalogAt,
  { id, group }: { id?: string | undefined; group?: string | undefined }
) {
  const [rest, query] =
    group !== undefined
      ? ['/products', { item_group_key: group }]
      : id !== undefined
        ? ['/products/search', { id_prefix: id }]
        : ['/products', {}]
  return cursorPages<Product>(catalog.key('products'), catalog.path(rest), { ...query, count: 100 })
}

export const productQuery = (catalog: CatalogAt, key: string) =>
  queryOptions({
    queryKey: catalog.key('product', key),
    queryFn: ({ signal }) => ask<Product>('GET', catalog.path(`/products/${key}`), { signal })
  })

/** What is worth mending in these products. */
export const warningsQuery = (catalog: CatalogAt, keys: readonly string[]) =>
  queryOptions({
    queryKey: catalog.key('warnings', keys),
    queryFn: ({ signal }) =>
      ask<Warning[]>('GET', catalog.path('/products/warnings'), { query: { product_keys: keys }, signal }),
    staleTime: 15_000
  })

export const imageIssuePages = (catalog: CatalogAt) =>
  cursorPages<ImageIssue>(catalog.key('image issues'), catalog.path('/products/issues'), { count: 100 })

/** Sets are counted so far at once; the page of a set counts on. */
const COUNT_UP_TO = 100_000

export const setPages = (catalog: CatalogAt) =>
  cursorPages<ProductSet>(catalog.key('sets'), catalog.path('/product_sets'), {
    count: 20,
    count_up_to: COUNT_UP_TO
  })

/** Out of the list, which has the number of products; the set by itself would bring the ids of all of them. */
export const setQuery = (catalog: CatalogAt, id: string, countUpTo: number | undefined = COUNT_UP_TO) =>
  queryOptions({
    queryKey: catalog.key('set', id, countUpTo),
    queryFn: async ({ signal }) => {
      const query = { count: 1, cursor: (BigInt(id) - 1n).toString(), count_up_to: countUpTo }
      const [set] = await ask<ProductSet[]>('GET', catalog.path('/product_sets'), { query, signal })
      if (set?.id === id) return set
      return ask<ProductSet>('GET', catalog.path(`/product_sets/${id}`), { signal })
    }
  })

export const memberPages = (catalog: CatalogAt, setId: string) =>
  cursorPages<Glimpse>(catalog.key('members', setId), catalog.path(`/product_sets/${setId}/products`), { count: 60 })

/** A catalog has one feed at most. */
export const feedQuery = (catalog: CatalogAt) =>
  queryOptions({
    queryKey: catalog.key('feed'),
    queryFn: async ({ signal }) => (await ask<Feed[]>('GET', catalog.path('/scheduled_feeds'), { signal }))[0] ?? null
  })

export const nextRunsQuery = (catalog: CatalogAt, feed: Feed) =>
  queryOptions({
    queryKey: catalog.key('next runs', feed.id, feed.updated_at),
    queryFn: ({ signal }) => ask<NextRuns>('GET', catalog.path(`/scheduled_feeds/${feed.id}/next_runs`), { signal }),
    staleTime: 30_000
  })

export const runPages = (catalog: CatalogAt, feedId: string) =>
  cursorPages<FeedRun>(catalog.key('runs', feedId), catalog.path(`/scheduled_feeds/${feedId}/runs`), { count: 10 })

/** Where a run is; checks of files and of addresses that are no feed have a place of their own. */
export const runPath = (catalog: CatalogAt, feedId: string | null, runId: string) =>
  catalog.path(feedId === null ? `/feed_checks/${runId}` : `/scheduled_feeds/${feedId}/runs/${runId}`)

export const runQuery = (catalog: CatalogAt, feedId: string | null, runId: string) =>
  queryOptions({
    queryKey: catalog.key('run', runId),
    queryFn: ({ signal }) => ask<FeedRun>('GET', runPath(catalog, feedId, runId), { signal })
  })
