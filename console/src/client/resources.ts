/** Resources that several pages show: their shapes and how they are asked for. */
import { infiniteQueryOptions, queryOptions } from '@tanstack/react-query'
import { ask, type Query, request } from './api.ts'

export interface App {
  id: string
  name: string
  owner_user_id: string | null
  project_id: string | null
  permissions: string
  consumer_key: string
  client_id: string
  client_type: string
  redirect_uris: string[]
  products: string[]
  ads_access: string
  quotas: Record<string, number>
  suspended: boolean
  created_at: string
  updated_at: string
}

export const appsQuery = queryOptions({
  queryKey: ['apps'],
  queryFn: ({ signal }) => ask<App[]>('GET', '/admin/apps', { signal })
})

export interface User {
  id: string
  username: string
  name: string
}
export const usersQuery = queryOptions({
  queryKey: ['users'],
  queryFn: ({ signal }) => ask<User[]>('GET', '/admin/users', { signal })
})

export interface Webhook {
  id: string
  app_id: string
  url: string
  valid: boolean
  created_at: string
  invalid_since: string | null
  invalid_reason: string | null
  last_success_at: string
  last_crc_at: string | null
  last_crc_outcome: string | null
  next_check_at: string
  next_check: string
  backlog: number
  backlog_counted_to_end: boolean
  oldest_due_at: string | null
  recent_deliveries: number
  recent_attempts: number
  recent_delivered: number
  success_rate: number | null
}

export interface PageOf<T> {
  data: T[]
  meta: { result_count: number; next_token?: string }
}

/** Pages of a list, each asked for with the token of the one before. */
export const pagesOf = <T>(key: readonly unknown[], path: string, query: Query = {}, app?: string) =>
  infiniteQueryOptions({
    queryKey: [...key, query],
    queryFn: ({ pageParam, signal }) =>
      request<PageOf<T>>('GET', path, { query: { ...query, pagination_token: pageParam }, app, signal }),
    initialPageParam: undefined as string | undefined,
    getNextPageParam: ({ meta }) => meta.next_token
  })

export const webhooksQuery = (query: { app_id?: string | undefined; valid?: boolean | undefined } = {}) =>
  queryOptions({
    queryKey: ['webhooks', query],
    queryFn: ({ signal }) =>
      request<PageOf<Webhook>>('GET', '/admin/webhooks', { query: { ...query, max_results: 200 }, signal })
  })

export const webhookQuery = (id: string) =>
  queryOptions({
    queryKey: ['webhook', id],
    queryFn: ({ signal }) => ask<Webhook>('GET', `/admin/webhooks/${id}`, { signal })
  })

export const DELIVERY_STATES = ['waiting', 'retrying', 'delivered', 'failed', 'held'] as const
export type DeliveryState = (typeof DELIVERY_STATES)[number]

export interface Delivery {
  id: string
  app_id: string
  webhook_id: string
  event_id: string | null
  kind: string
  created_at: string
  state: DeliveryState
  attempts: number
  last_attempt_at: string | null
  delivered_at: string | null
  status: number | null
  latency_ms: number | null
  error: string | null
  detail: string | null
  next_attempt_at: string | null
}

export interface Attempt {
  created_at: string
  cause: string
  attempt: number
  outcome: string
  status: number | null
  latency_ms: number | null
  error: string | null
  detail: string | null
  response: string | null
  next_attempt_at: string | null
  replay_id: string | null
  request_headers?: Record<string, string>
  request_body?: string
}
export interface DeliveryDetail extends Delivery {
  next_attempt_cause: string | null
  url: string | null
  body: string
  body_bytes: number
  attempt_records: Attempt[]
}
export const deliveryQuery = (id: string) =>
  queryOptions({
    queryKey: ['delivery', id],
    queryFn: ({ signal }) => ask<DeliveryDetail>('GET', `/admin/deliveries/${id}`, { signal })
  })

export interface CrcCheck {
  id: string
  created_at: string
  cause: string
  outcome: string
  url: string
  status: number | null
  latency_ms: number | null
  error: string | null
  detail: string | null
  response: string | null
}
export interface Replay {
  id: string
  app_id: string
  webhook_id: string
  from_date: string
  to_date: string
  state: 'pending' | 'running' | 'complete' | 'incomplete'
  progress: number
  delivered: number
  failed: number
  created_at: string
  started_at: string | null
  finished_at: string | null
  detail: string | null
}

export interface Subscription {
  subscription_id: string
  event_type: string
  filter: { user_id?: string; keyword?: string; direction?: string }
  created_at: string
  updated_at: string
  tag?: string
  webhook_id?: string
}
