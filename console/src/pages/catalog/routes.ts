import { createRoute, lazyRouteComponent } from '@tanstack/react-router'
import { keepListener, listenerSearch } from '../../client/listener.ts'
import { choice, type RawSearch, texts } from '../../client/search.ts'
import { shellRoute } from '../shell/routes.ts'
import { RUN_STATES } from './run-states.ts'

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
