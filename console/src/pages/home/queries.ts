import { queryOptions } from '@tanstack/react-query'
import { ask } from '../../client/api.ts'
import { LIVE_MS } from '../../client/query-client.ts'

export interface Lane {
  app_id: string
  webhook_id: string
  backlog: number
  oldest_due_at: string
}
export interface Overview {
  at: string
  window_seconds: number
  attempts: number
  delivered: number
  retried: number
  failed: number
  deliveries_per_second: number
  success_rate: number | null
  latency_ms: { p50: number | null; p95: number | null; p99: number | null }
  backlog: number
  backlog_counted_to_end: boolean
  oldest_due_at: string | null
  webhooks: number
  invalid_webhooks: number
  oldest_by_webhook: Lane[]
}

export const overviewQuery = queryOptions({
  queryKey: ['overview'],
  queryFn: ({ signal }) => ask<Overview>('GET', '/admin/overview', { signal })
})

export interface InboxState {
  available: boolean
  url: string
  behaviour: string
}
export interface InboxRequest {
  position: number
  received_at: string
  app_id: string
  what: 'event' | 'crc'
  delivery_id: string | null
  signature: string
  standard_signature: string
  answered: number
  bytes: number
  body: string
}
export const inboxQuery = queryOptions({
  queryKey: ['inbox'],
  queryFn: ({ signal }) => ask<InboxState>('GET', '/admin/inbox', { signal })
})
export const inboxRequestsQuery = queryOptions({
  queryKey: ['inbox', 'requests'],
  queryFn: ({ signal }) => ask<InboxRequest[]>('GET', '/admin/inbox/requests', { signal }),
  refetchInterval: LIVE_MS / 2
})
