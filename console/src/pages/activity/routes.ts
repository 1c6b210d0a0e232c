import { createRoute, lazyRouteComponent } from '@tanstack/react-router'
import { choice, type RawSearch, texts } from '../../client/search.ts'
import { shellRoute } from '../shell/routes.ts'

export const ACTIVITY_TABS = ['subscriptions', 'accounts', 'rules', 'connections', 'events'] as const

const activityRoute = createRoute({
  getParentRoute: () => shellRoute,
  path: '/activity',
  validateSearch: (search: RawSearch) => ({
    ...texts(search, 'app', 'type', 'user'),
    ...choice(search, 'tab', ACTIVITY_TABS)
  }),
  component: lazyRouteComponent(() => import('./activity.tsx'), 'ActivityPage')
})

export const activityRoutes = [activityRoute] as const
