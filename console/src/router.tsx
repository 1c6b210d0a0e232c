/** Every page. To add one: a folder in pages/ with a routes.ts, its routes in the list here, a line in pages/sections.ts. */
import { createRouter, parseSearchWith, stringifySearchWith } from '@tanstack/react-router'
import { activityRoutes } from './pages/activity/routes.ts'
import { adsRoutes } from './pages/ads/routes.ts'
import { appRoutes } from './pages/apps/routes.ts'
import { catalogRoutes } from './pages/catalog/routes.ts'
import { homeRoutes } from './pages/home/routes.ts'
import { rootRoute, shellRoute, signInRoute } from './pages/shell/routes.ts'
import { webhookRoutes } from './pages/webhooks/routes.ts'
import { Problem } from './ui/bits.tsx'

const routeTree = rootRoute.addChildren([
  signInRoute,
  shellRoute.addChildren([
    ...homeRoutes,
    ...appRoutes,
    ...webhookRoutes,
    ...activityRoutes,
    ...catalogRoutes,
    ...adsRoutes
  ])
])

/** Ids are numbers of 19 digits, which JSON would round: in an address they are texts like any other. */
function readValue(text: string): unknown {
  if (/^\d+$/.test(text)) throw new Error('an id')
  return JSON.parse(text)
}

export const router = createRouter({
  routeTree,
  parseSearch: parseSearchWith(readValue),
  stringifySearch: stringifySearchWith(JSON.stringify, readValue),
  defaultPreload: 'intent',
  defaultPreloadStaleTime: 0,
  scrollRestoration: true,
  defaultErrorComponent: ({ error, reset }) => <Problem error={error} retry={reset} />
})

declare module '@tanstack/react-router' {
  interface Register {
    router: typeof router
  }
}
