/** The rows of the reference files: what the lookups answer, and a few keys (marked) that only the server uses. */

export interface IabCategory {
  id: string
  parent_id: string | null
  name: string
}

export interface AdvertiserBusinessCategory {
  id: string
  name: string
  iab_categories: string[]
}

export interface ContentCategory {
  id: string
  name: string
  iab_categories: string[]
  publishers_in_last_thirty_days: number
  videos_monetized_in_last_thirty_days: number
}

export interface BiddingRule {
  currency: string
  minimum_cpe_bid_local_micro: number
  maximum_cpe_bid_local_micro: number
  minimum_denomination: number
}

export interface ProductPlacements {
  product_type: string
  placements: string[][]
}

export interface TvMarket {
  name: string
  country_code: string
  locale: string
}

/** What every targeting lookup answers at least. */
export interface TargetingOption {
  name: string
  targeting_type: string
  targeting_value: string
}

export interface PlatformVersion extends TargetingOption {
  number: string
  os_type: string
}

export interface Device extends TargetingOption {
  manufacturer: string
  os_type: string
}

export interface NetworkOperator extends TargetingOption {
  country_code: string
}

export interface Location extends TargetingOption {
  country_code: string
  location_type: string
  /** Server only: the location around this one. */
  parent: string | null
  /** Server only: inhabitants, to order the lookup and to spread the default population. */
  people_thousands: number
}

export interface AppStoreCategory extends TargetingOption {
  os_type: string
}

export interface Conversation extends TargetingOption {
  conversation_type: string
}

export interface TargetingEvent extends TargetingOption {
  id: string
  event_type: string
  start_time: string
  end_time: string
  is_global: boolean
  country_codes: string[]
}

/** The one lookup whose value is a number. */
export interface TvShow {
  name: string
  targeting_value: number
  genre: string
  locales: string[]
}

export interface CuratedCategory {
  id: string
  name: string
  description: string
  country_codes: string[]
  publisher_user_ids: string[]
  videos_monetized_in_last_thirty_days: number
  created_at: string
  updated_at: string
}

/** Server only: which of the document's two lists of feature keys a key is in, and what a new sandbox account owns. */
export interface FeatureKey {
  id: string
  in_sandbox: boolean
  in_filter: boolean
  granted_to_new_sandbox_accounts: boolean
}

export interface IndustryType {
  id: string
}

export interface ReferenceRows {
  iab_categories: IabCategory
  advertiser_business_categories: AdvertiserBusinessCategory
  content_categories: ContentCategory
  bidding_rules: BiddingRule
  placements: ProductPlacements
  tv_markets: TvMarket
  platforms: TargetingOption
  platform_versions: PlatformVersion
  devices: Device
  network_operators: NetworkOperator
  languages: TargetingOption
  interests: TargetingOption
  locations: Location
  app_store_categories: AppStoreCategory
  conversations: Conversation
  events: TargetingEvent
  tv_shows: TvShow
  curated_categories: CuratedCategory
  feature_keys: FeatureKey
  industry_types: IndustryType
}

export type ReferenceKind = keyof ReferenceRows
