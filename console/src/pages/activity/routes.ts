import { createRoute, lazyRouteComponent } from '@tanstack/react-router'
import { shellRoute } from '../shell/routes.ts'

const activityRoute = createRoute({
  getParentRoute: () => shellRoute,
  path: '/activity',
  component: lazyRouteComponent(() => import('./activity.tsx'), 'ActivityPage')
})

export const activityRoutes = [activityRoute] as const
