import { createRoute, lazyRouteComponent } from '@tanstack/react-router'
import { shellRoute } from '../shell/routes.ts'

const homeRoute = createRoute({
  getParentRoute: () => shellRoute,
  path: '/',
  component: lazyRouteComponent(() => import('./home.tsx'), 'Home')
})
const inboxRoute = createRoute({
  getParentRoute: () => shellRoute,
  path: '/inbox',
  component: lazyRouteComponent(() => import('./inbox.tsx'), 'InboxPage')
})

export const homeRoutes = [homeRoute, inboxRoute] as const
