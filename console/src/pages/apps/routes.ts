import { createRoute, lazyRouteComponent } from '@tanstack/react-router'
import { shellRoute } from '../shell/routes.ts'

const listRoute = createRoute({
  getParentRoute: () => shellRoute,
  path: '/apps',
  component: lazyRouteComponent(() => import('./list.tsx'), 'AppList')
})
const appRoute = createRoute({
  getParentRoute: () => shellRoute,
  path: '/apps/$appId',
  component: lazyRouteComponent(() => import('./app.tsx'), 'AppPage')
})

export const appRoutes = [listRoute, appRoute] as const
