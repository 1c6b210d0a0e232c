import { createRoute, lazyRouteComponent } from '@tanstack/react-router'
import { keepListener, type Listener, listenerSearch } from '../../client/listener.ts'
import { queryClient } from '../../client/query-client.ts'
import { choice, type RawSearch, texts } from '../../client/search.ts'
import { shellRoute } from '../shell/routes.ts'
import { catalogAt, feedQuery, figuresQuery, memberPages, productPages, setPages, setQuery } from './api.ts'
import { RUN_STATES } from './run-states.ts'

const PRODUCTION: Listener = 'production'
const search = { middlewares: [keepListener] }

const listRoute = createRoute({
  getParentRoute: () => shellRoute,
  path: '/catalog',
  validateSearch: listenerSearch,
  search,
  component: lazyRouteComponent(() => import('./catalogs.tsx'), 'CatalogsPage')
})

/** For operators: what is imported into all catalogs, whoever owns them. */
const importsRoute = createRoute({
  getParentRoute: () => shellRoute,
  path: '/catalog/imports',
  validateSearch: (raw: RawSearch) => ({
    ...listenerSearch(raw),
    ...choice(raw, 'state', RUN_STATES),
    ...texts(raw, 'run')
  }),
  component: lazyRouteComponent(() => import('./imports.tsx'), 'ImportsPage')
})

export const CATALOG_TABS = ['products', 'issues', 'sets', 'feed'] as const

const catalogRoute = createRoute({
  getParentRoute: () => shellRoute,
  path: '/catalog/$catalogId',
  validateSearch: (raw: RawSearch) => ({
    ...listenerSearch(raw),
    ...choice(raw, 'tab', CATALOG_TABS),
    ...choice(raw, 'view', ['list']),
    // `id`: how the ids begin; `group`: a group of products; `product`: what is open beside the list.
    ...texts(raw, 'id', 'group', 'product')
  }),
  search,
  // Asked while the page itself is still on its way; it shows what came of it.
  loaderDeps: ({ search: { listener, tab = 'products', id, group } }) => ({ listener, tab, id, group }),
  loader: ({ params, deps: { listener, tab, ...filter } }) => {
    const catalog = catalogAt(listener ?? PRODUCTION, params.catalogId)
    void queryClient.prefetchQuery(figuresQuery(catalog))
    if (tab === 'products') void queryClient.prefetchInfiniteQuery(productPages(catalog, filter))
    if (tab === 'sets') void queryClient.prefetchInfiniteQuery(setPages(catalog))
    if (tab === 'feed') void queryClient.prefetchQuery(feedQuery(catalog))
  },
  component: lazyRouteComponent(() => import('./catalog.tsx'), 'CatalogPage')
})

const newSetRoute = createRoute({
  getParentRoute: () => shellRoute,
  path: '/catalog/$catalogId/sets/new',
  validateSearch: (raw: RawSearch) => ({ ...listenerSearch(raw), ...texts(raw, 'from') }),
  search,
  component: lazyRouteComponent(() => import('./new-set.tsx'), 'NewSetPage')
})

const setRoute = createRoute({
  getParentRoute: () => shellRoute,
  path: '/catalog/$catalogId/sets/$setId',
  validateSearch: (raw: RawSearch) => ({ ...listenerSearch(raw), ...texts(raw, 'product') }),
  search,
  loaderDeps: ({ search: { listener } }) => ({ listener }),
  loader: ({ params: { catalogId, setId }, deps: { listener } }) => {
    const catalog = catalogAt(listener ?? PRODUCTION, catalogId)
    void queryClient.prefetchQuery(setQuery(catalog, setId))
    void queryClient.prefetchInfiniteQuery(memberPages(catalog, setId))
  },
  component: lazyRouteComponent(() => import('./set.tsx'), 'SetPage')
})

const runRoute = createRoute({
  getParentRoute: () => shellRoute,
  path: '/catalog/$catalogId/runs/$runId',
  validateSearch: listenerSearch,
  search,
  component: lazyRouteComponent(() => import('./run.tsx'), 'RunPage')
})

const newCheckRoute = createRoute({
  getParentRoute: () => shellRoute,
  path: '/catalog/$catalogId/check',
  validateSearch: (raw: RawSearch) => ({ ...listenerSearch(raw), ...texts(raw, 'url') }),
  search,
  component: lazyRouteComponent(() => import('./check.tsx'), 'CheckPage')
})

const checkRoute = createRoute({
  getParentRoute: () => shellRoute,
  path: '/catalog/$catalogId/checks/$runId',
  // `of`: how large the file is of which the beginning was checked.
  validateSearch: (raw: RawSearch) => ({ ...listenerSearch(raw), ...texts(raw, 'of') }),
  search,
  component: lazyRouteComponent(() => import('./run.tsx'), 'CheckReportPage')
})

export const catalogRoutes = [
  listRoute,
  importsRoute,
  catalogRoute,
  newSetRoute,
  setRoute,
  runRoute,
  newCheckRoute,
  checkRoute
] as const
