import { createRoute, lazyRouteComponent } from '@tanstack/react-router'
import { DELIVERY_STATES } from '../../client/resources.ts'
import { choice, flag, type RawSearch, texts } from '../../client/search.ts'
import { shellRoute } from '../shell/routes.ts'

const listRoute = createRoute({
  getParentRoute: () => shellRoute,
  path: '/webhooks',
  validateSearch: (search: RawSearch) => ({ ...texts(search, 'app'), ...flag(search, 'valid') }),
  component: lazyRouteComponent(() => import('./list.tsx'), 'WebhookList')
})

export const WEBHOOK_TABS = ['deliveries', 'checks', 'replays', 'why'] as const

const webhookRoute = createRoute({
  getParentRoute: () => shellRoute,
  path: '/webhooks/$webhookId',
  validateSearch: (search: RawSearch) => ({
    ...choice(search, 'tab', WEBHOOK_TABS),
    ...choice(search, 'state', DELIVERY_STATES),
    ...texts(search, 'event', 'kind', 'from', 'to', 'delivery')
  }),
  component: lazyRouteComponent(() => import('./webhook.tsx'), 'WebhookPage')
})

const deliveryRoute = createRoute({
  getParentRoute: () => shellRoute,
  path: '/deliveries/$deliveryId',
  component: lazyRouteComponent(() => import('./delivery-page.tsx'), 'DeliveryPage')
})

export const webhookRoutes = [listRoute, webhookRoute, deliveryRoute] as const
