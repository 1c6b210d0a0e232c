/** What the ads pages ask for, and its shapes. Amounts are micro units of the currency, times are ISO 8601 in UTC. */
import { infiniteQueryOptions, queryOptions } from '@tanstack/react-query'
import { ask, type Query, request } from '../../client/api.ts'
import { adsPath, type Listener } from '../../client/listener.ts'

export interface Page<T> {
  data: T[]
  next_cursor?: string | null
}

interface Entity {
  id: string
  created_at: string
  updated_at: string
  deleted: boolean
}

export interface AdAccount extends Entity {
  name: string
  business_name: string | null
  timezone: string
  approval_status: string
  industry_type?: string | null
}
export interface Campaign extends Entity {
  name: string
  funding_instrument_id: string
  budget_optimization: string
  daily_budget_amount_local_micro: number | null
  total_budget_amount_local_micro: number | null
  standard_delivery: boolean | null
  purchase_order_number: string | null
  entity_status: string
  effective_status: string
  servable: boolean | null
  reasons_not_servable: string[]
  currency: string
}
export interface LineItem extends Entity {
  name: string | null
  campaign_id: string
  funding_instrument_id: string
  objective: string
  product_type: string
  placements: string[]
  goal: string
  pay_by: string
  bid_strategy: string
  bid_amount_local_micro: number | null
  start_time: string | null
  end_time: string | null
  daily_budget_amount_local_micro: number | null
  total_budget_amount_local_micro: number | null
  standard_delivery: boolean | null
  frequency_cap: number | null
  duration_in_days: number | null
  advertiser_domain: string | null
  android_app_store_identifier: string | null
  ios_app_store_identifier: string | null
  categories: string[]
  primary_web_event_tag: string | null
  entity_status: string
  currency: string
}
export interface FundingInstrument extends Entity {
  type: string
  description: string | null
  entity_status: string
  currency: string
  start_time: string
  end_time: string | null
  credit_limit_local_micro: number | null
  funded_amount_local_micro: number | null
  credit_remaining_local_micro: number | null
  able_to_fund: boolean
  reasons_not_able_to_fund: string[]
}
export interface Mend {
  method: 'GET' | 'POST' | 'PUT'
  path: string
  params: Record<string, string>
}
export interface Reason {
  reason: string
  entity: 'account' | 'funding_instrument' | 'campaign' | 'line_item'
  entity_id: string | null
  explanation: string
  mend: Mend | null
}
export interface Servability {
  entity_status: string
  servable: boolean | null
  effective_status: string
  reasons_not_servable: string[]
  reasons: Reason[]
}
export interface LineItemServability extends Servability {
  line_item_id: string
}
export interface CampaignServability extends Servability {
  campaign_id: string
  line_items: LineItemServability[]
}
export interface Criterion extends Entity {
  line_item_id: string
  name: string | null
  operator_type: string
  targeting_type: string
  targeting_value: string
  location_type?: string
}
export interface Creative extends Entity {
  line_item_id: string
  entity_status: string
  approval_status: string
}
export interface PromotedPost extends Creative {
  tweet_id: string
}
export interface PromotedAccount extends Creative {
  user_id: string
}
export interface MediaCreative extends Creative {
  account_media_id: string
  creative_type: string
  landing_url: string | null
}
export interface AccountMedia extends Entity {
  creative_type: string
  media_url: string | null
  video_id: string | null
}
export interface PromotableUser extends Entity {
  user_id: string
  promotable_user_type: string
}
export interface Change {
  change_by: { user_id: string; platform: string }
  change_time: string
  change_type: 'CREATE' | 'UPDATE' | 'DELETE'
  entity: string
  entity_id: string
  changes: Record<string, { from: unknown; to: unknown }>
  entity_data: Record<string, unknown>
}

/** Everything of an account is below this key, so that one change lets all of it be asked for again. */
export const accountKey = (listener: Listener, accountId: string) => ['ads', listener, accountId] as const

export const accountPath = (listener: Listener, accountId: string, rest = '') =>
  adsPath(listener, `/accounts/${accountId}${rest}`)

export const accountsQuery = (listener: Listener, q?: string) =>
  queryOptions({
    queryKey: ['ads', listener, 'accounts', q ?? ''],
    queryFn: ({ signal }) =>
      request<Page<AdAccount>>('GET', adsPath(listener, '/accounts'), {
        query: { q, sort_by: 'name-asc', count: 200 },
        signal
      })
  })

export const accountQuery = (listener: Listener, accountId: string) =>
  queryOptions({
    queryKey: [...accountKey(listener, accountId), 'account'],
    queryFn: ({ signal }) => ask<AdAccount>('GET', accountPath(listener, accountId), { signal }),
    retry: false
  })

export const accessQuery = (listener: Listener, accountId: string) =>
  queryOptions({
    queryKey: [...accountKey(listener, accountId), 'access'],
    queryFn: ({ signal }) =>
      ask<{ user_id: string; permissions: string[] }>(
        'GET',
        accountPath(listener, accountId, '/authenticated_user_access'),
        { signal }
      ),
    retry: false
  })

/** What the pages of one account share; `Scope` in scope.ts is one. */
export interface At {
  listener: Listener
  accountId: string
}

const one = <T>({ listener, accountId }: At, path: string, query?: Query) =>
  queryOptions({
    queryKey: [...accountKey(listener, accountId), path, query ?? null],
    queryFn: ({ signal }) => ask<T>('GET', accountPath(listener, accountId, path), { query, signal })
  })

/** A list that fits one page. */
const few = <T>({ listener, accountId }: At, path: string, query: Query = {}) =>
  queryOptions({
    queryKey: [...accountKey(listener, accountId), path, query],
    queryFn: ({ signal }) =>
      request<Page<T>>('GET', accountPath(listener, accountId, path), { query: { count: 1000, ...query }, signal })
  })

const pages = <T>({ listener, accountId }: At, path: string, query: Query) =>
  infiniteQueryOptions({
    queryKey: [...accountKey(listener, accountId), path, 'pages', query],
    queryFn: ({ pageParam, signal }) =>
      request<Page<T>>('GET', accountPath(listener, accountId, path), {
        query: { ...query, cursor: pageParam },
        signal
      }),
    initialPageParam: undefined as string | undefined,
    getNextPageParam: ({ next_cursor }) => next_cursor ?? undefined
  })

export const campaignsQuery = (at: At, query: Query) => pages<Campaign>(at, '/campaigns', { count: 50, ...query })
export const campaignQuery = (at: At, id: string) => one<Campaign>(at, `/campaigns/${id}`, { with_deleted: true })
export const lineItemsQuery = (at: At, campaignId: string, withDeleted = false) =>
  few<LineItem>(at, '/line_items', {
    campaign_ids: campaignId,
    with_draft: true,
    with_deleted: withDeleted || undefined
  })
export const lineItemQuery = (at: At, id: string) => one<LineItem>(at, `/line_items/${id}`, { with_deleted: true })
export const campaignServabilityQuery = (at: At, id: string) =>
  one<CampaignServability>(at, `/campaigns/${id}/servability`)
export const lineItemServabilityQuery = (at: At, id: string) =>
  one<LineItemServability>(at, `/line_items/${id}/servability`)
export const fundingQuery = (at: At, withDeleted = false) =>
  few<FundingInstrument>(at, '/funding_instruments', {
    sort_by: 'created_at-desc',
    with_deleted: withDeleted || undefined
  })
export const criteriaQuery = (at: At, lineItemId: string) =>
  few<Criterion>(at, '/targeting_criteria', { line_item_ids: lineItemId })
export const promotedPostsQuery = (at: At, lineItemId: string) =>
  few<PromotedPost>(at, '/promoted_tweets', { line_item_ids: lineItemId })
export const promotedAccountsQuery = (at: At, lineItemId: string) =>
  few<PromotedAccount>(at, '/promoted_accounts', { line_item_ids: lineItemId })
export const mediaCreativesQuery = (at: At, lineItemId: string) =>
  few<MediaCreative>(at, '/media_creatives', { line_item_ids: lineItemId })
export const mediaQuery = (at: At) => few<AccountMedia>(at, '/account_media')
export const promotableUsersQuery = (at: At) => few<PromotableUser>(at, '/promotable_users')
export const featuresQuery = (at: At) =>
  queryOptions({
    queryKey: [...accountKey(at.listener, at.accountId), 'features'],
    queryFn: ({ signal }) => ask<string[]>('GET', accountPath(at.listener, at.accountId, '/features'), { signal })
  })

const HOUR_MS = 3_600_000
const wholeHour = (ms: number) => new Date(Math.floor(ms / HOUR_MS) * HOUR_MS).toISOString()

/** Everything since the entity was made; the server's clock may be ahead of this one. */
export const historyQuery = (at: At, entity: 'CAMPAIGN' | 'LINE_ITEM', { id, created_at }: Entity) =>
  infiniteQueryOptions({
    ...pages<Change>(at, '/account_history', {
      entity_type: entity,
      entity_id: id,
      start_time: wholeHour(Date.parse(created_at)),
      end_time: wholeHour(Math.max(Date.now(), Date.parse(created_at)) + 400 * 24 * HOUR_MS),
      with_children: entity === 'LINE_ITEM' || undefined,
      count: 200
    }),
    retry: false
  })

/** Reference data is the same for every account and changes rarely. */
const reference = <T>(listener: Listener, path: string, query?: Query) =>
  queryOptions({
    queryKey: ['ads-reference', listener, path, query ?? null],
    queryFn: ({ signal }) => ask<T>('GET', adsPath(listener, path), { query, signal }),
    staleTime: 600_000,
    gcTime: 900_000
  })

export interface ObjectiveOptions {
  objective: string
  goals: { goal: string; pay_by: string[] }[]
  bid_strategies: string[]
  bid_strategies_on_create: string[]
  frequency_cap: boolean
  needs_app: boolean
  needs_landing_url: boolean
}
export const objectivesQuery = (listener: Listener) => reference<ObjectiveOptions[]>(listener, '/line_items/objectives')
export const placementsQuery = (listener: Listener) =>
  reference<{ product_type: string; placements: string[][] }[]>(listener, '/line_items/placements')
export const currenciesQuery = (listener: Listener) => reference<{ currency: string }[]>(listener, '/bidding_rules')
export const businessCategoriesQuery = (listener: Listener) =>
  reference<{ id: string; name: string; iab_categories: string[] }[]>(listener, '/advertiser_business_categories')
export const iabCategoriesQuery = (listener: Listener) =>
  reference<{ id: string; name: string; parent_id: string | null }[]>(listener, '/iab_categories', { count: 1000 })

export interface TargetingType {
  targeting_type: string
  primary: boolean
  operator_types: string[]
  lookup: string | null
  values: string[]
  expects: string | null
  max: number | null
  batch_only: boolean
}
export const targetingTypesQuery = (listener: Listener) =>
  reference<TargetingType[]>(listener, '/targeting_criteria/types')

export interface Option {
  name: string
  targeting_value: string | number
  country_code?: string
  location_type?: string
  os_type?: string
  number?: string
  conversation_type?: string
  genre?: string
}
export const lookupQuery = (listener: Listener, path: string, query: Query) =>
  reference<Option[]>(listener, path, query)
