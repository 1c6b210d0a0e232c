import { createRoute, lazyRouteComponent } from '@tanstack/react-router'
import { choice, type RawSearch } from '../../client/search.ts'
import { shellRoute } from '../shell/routes.ts'

const listRoute = createRoute({
  getParentRoute: () => shellRoute,
  path: '/apps',
  component: lazyRouteComponent(() => import('./list.tsx'), 'AppList')
})

export const APP_TABS = ['keys', 'tokens', 'requests', 'settings', 'quotas'] as const

const appRoute = createRoute({
  getParentRoute: () => shellRoute,
  path: '/apps/$appId',
  validateSearch: (search: RawSearch) => choice(search, 'tab', APP_TABS),
  component: lazyRouteComponent(() => import('./app.tsx'), 'AppPage')
})

export const appRoutes = [listRoute, appRoute] as const
