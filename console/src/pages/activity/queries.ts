import { queryOptions } from '@tanstack/react-query'
import { ask, request } from '../../client/api.ts'
import { type PageOf, pagesOf } from '../../client/resources.ts'

/** Subscriptions of both products, as operators see them. */
export interface Subscribed {
  id: string
  product: 'activity' | 'account_activity'
  app_id: string
  user_id: string | null
  event_type: string | null
  filter: { user_id?: string; keyword?: string; direction?: string } | null
  tag: string | null
  webhook_id: string | null
  webhook_valid: boolean | null
  consent_user_id: string | null
  created_at: string
}
export const subscribedQuery = (appId: string) =>
  pagesOf<Subscribed>(['activity', appId], '/admin/activity/subscriptions', { app_id: appId })

export interface EventType {
  name: string
  aliases?: string[]
  visibility: 'public' | 'private'
  filter: 'user_id' | 'keyword'
  scope?: string
  direction?: boolean
  about: string
}
export const eventTypesQuery = queryOptions({
  queryKey: ['event-types'],
  queryFn: ({ signal }) => ask<EventType[]>('GET', '/admin/event_types', { signal }),
  staleTime: Number.POSITIVE_INFINITY
})

export interface Rule {
  id: string
  value: string
  tag?: string
}
export const rulesQuery = (appId: string) =>
  queryOptions({
    queryKey: ['rules', appId],
    queryFn: ({ signal }) =>
      request<Partial<PageOf<Rule>> & Pick<PageOf<Rule>, 'meta'>>('GET', '/2/tweets/search/stream/rules', {
        app: appId,
        signal
      })
  })

export interface RuleLink {
  webhook_id: string
  created_at: string
  fields: string[]
}
export const linksQuery = (appId: string) =>
  queryOptions({
    queryKey: ['rule-links', appId],
    queryFn: ({ signal }) => ask<{ links: RuleLink[] }>('GET', '/2/tweets/search/webhooks', { app: appId, signal })
  })
