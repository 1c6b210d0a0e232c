import { createRoute, lazyRouteComponent } from '@tanstack/react-router'
import { keepListener, listenerSearch } from '../../client/listener.ts'
import { choice, flag, type RawSearch, texts } from '../../client/search.ts'
import { shellRoute } from '../shell/routes.ts'

const adsRoute = createRoute({
  getParentRoute: () => shellRoute,
  path: '/ads',
  validateSearch: listenerSearch,
  search: { middlewares: [keepListener] },
  component: lazyRouteComponent(() => import('./section.tsx'), 'AdsSection')
})

const accountsRoute = createRoute({
  getParentRoute: () => adsRoute,
  path: '/',
  validateSearch: (search: RawSearch) => texts(search, 'q'),
  component: lazyRouteComponent(() => import('./accounts.tsx'), 'Accounts')
})

const accountRoute = createRoute({
  getParentRoute: () => adsRoute,
  path: '/$accountId',
  component: lazyRouteComponent(() => import('./account-frame.tsx'), 'AccountFrame')
})

export const ACCOUNT_TABS = ['campaigns', 'funding', 'settings'] as const
export const STATUSES = ['ACTIVE', 'PAUSED', 'DRAFT'] as const
export const SORTS = ['newest', 'name', 'changed', 'budget'] as const

const overviewRoute = createRoute({
  getParentRoute: () => accountRoute,
  path: '/',
  validateSearch: (search: RawSearch) => ({
    ...choice(search, 'tab', ACCOUNT_TABS),
    ...choice(search, 'status', STATUSES),
    ...choice(search, 'sort', SORTS),
    ...flag(search, 'deleted'),
    /** `open`: campaigns whose line items are shown. */
    ...texts(search, 'q', 'funding', 'open')
  }),
  component: lazyRouteComponent(() => import('./account.tsx'), 'AccountPage')
})

export const CAMPAIGN_TABS = ['line-items', 'history'] as const

const campaignRoute = createRoute({
  getParentRoute: () => accountRoute,
  path: '/campaigns/$campaignId',
  validateSearch: (search: RawSearch) => choice(search, 'tab', CAMPAIGN_TABS),
  component: lazyRouteComponent(() => import('./campaign.tsx'), 'CampaignPage')
})

export const LINE_ITEM_TABS = ['overview', 'targeting', 'creatives', 'history'] as const

const lineItemRoute = createRoute({
  getParentRoute: () => accountRoute,
  path: '/line-items/$lineItemId',
  validateSearch: (search: RawSearch) => choice(search, 'tab', LINE_ITEM_TABS),
  component: lazyRouteComponent(() => import('./line-item.tsx'), 'LineItemPage')
})

export const adsRoutes = [
  adsRoute.addChildren([accountsRoute, accountRoute.addChildren([overviewRoute, campaignRoute, lineItemRoute])])
] as const
