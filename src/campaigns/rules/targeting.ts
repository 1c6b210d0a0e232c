/** Targeting: which types there are, which are primary, where their values come from, how many a line item may have. */
import type { ReferenceKind } from '../reference/types.ts'

export const OPERATORS = ['EQ', 'NE', 'GTE', 'LT'] as const
export type Operator = (typeof OPERATORS)[number]

export const AGE_BUCKETS = [
  'AGE_13_TO_24',
  'AGE_13_TO_34',
  'AGE_13_TO_49',
  'AGE_13_TO_54',
  'AGE_OVER_13',
  'AGE_18_TO_34',
  'AGE_18_TO_49',
  'AGE_18_TO_54',
  'AGE_OVER_18',
  'AGE_21_TO_34',
  'AGE_21_TO_49',
  'AGE_21_TO_54',
  'AGE_OVER_21',
  'AGE_25_TO_49',
  'AGE_25_TO_54',
  'AGE_OVER_25',
  'AGE_35_TO_49',
  'AGE_35_TO_54',
  'AGE_OVER_35',
  'AGE_OVER_50'
] as const

/** First and last year of a bucket; both included. */
export function ageRange(bucket: string): [from: number, to: number] {
  const [from = 0, to = 200] = bucket.match(/\d+/g)?.map(Number) ?? []
  return [from, to]
}

export const GENDERS = { male: '1', female: '2' } as const

export const ENGAGEMENT_TYPES = [
  'IMPRESSION',
  'ENGAGEMENT',
  'VIDEO_VIEW',
  'VIDEO_VIEW_PARTIAL',
  'VIDEO_VIEW_COMPLETE'
] as const

/** Where the values of a type come from: a lookup, a closed list, or any text of a form. */
export type TargetingValues = { lookup: ReferenceKind } | { values: readonly string[] } | { form: RegExp; what: string }

export interface TargetingRule {
  /** Primary types are united with each other; the others narrow. At least one primary makes an audience. */
  primary: boolean
  values: TargetingValues
  operators: readonly Operator[]
  /** Most criteria of the type, or of all types that share `countedAs`, on one line item. */
  max?: number
  countedAs?: string
  /** Only through the batch call. */
  batchOnly?: boolean
  /** One of these must be beside it. */
  beside?: readonly string[]
}

const EQ_NE = ['EQ', 'NE'] as const
const USER_ID = { form: /^[0-9]{1,19}$/, what: 'a user id' }
const ADS_ID = { form: /^[0-9a-z]{1,13}$/, what: 'an id of lower-case letters and digits' }
const KEYWORD = { form: /^\S(?:.{0,148}\S)?$/u, what: 'a keyword of 1 to 150 characters' }

const narrowing = (values: TargetingValues, more: Partial<TargetingRule> = {}): TargetingRule => ({
  primary: false,
  values,
  operators: EQ_NE,
  ...more
})
const primary = (values: TargetingValues, more: Partial<TargetingRule> = {}): TargetingRule => ({
  ...narrowing(values, more),
  primary: true
})
const keyword = primary(KEYWORD, { max: 1_000, countedAs: 'keywords' })

export const TARGETING_TYPES: Record<string, TargetingRule> = {
  AGE: narrowing({ values: AGE_BUCKETS }, { max: 1 }),
  APP_LIST: narrowing(ADS_ID, { operators: ['NE'] }),
  APP_STORE_CATEGORY: narrowing({ lookup: 'app_store_categories' }),
  APP_STORE_CATEGORY_LOOKALIKE: narrowing({ lookup: 'app_store_categories' }),
  BROAD_KEYWORD: keyword,
  CAMPAIGN_ENGAGEMENT: narrowing(ADS_ID),
  CAMPAIGN_ENGAGEMENT_LOOKALIKE: narrowing(ADS_ID),
  CONTENT_PUBLISHER_USER: narrowing(USER_ID, { operators: ['NE'], batchOnly: true }),
  CONVERSATION: narrowing({ lookup: 'conversations' }),
  CUSTOM_AUDIENCE: primary(ADS_ID),
  CUSTOM_AUDIENCE_EXPANDED: primary(ADS_ID),
  DEVICE: narrowing({ lookup: 'devices' }),
  ENGAGEMENT_TYPE: narrowing({ values: ENGAGEMENT_TYPES }, { beside: ['CAMPAIGN_ENGAGEMENT', 'USER_ENGAGEMENT'] }),
  EVENT: narrowing({ lookup: 'events' }, { max: 1 }),
  EXACT_KEYWORD: keyword,
  FOLLOWERS_OF_USER: primary(USER_ID),
  GENDER: narrowing({ values: Object.values(GENDERS) }),
  IAB_CATEGORY: narrowing({ lookup: 'iab_categories' }, { batchOnly: true }),
  INTEREST: primary({ lookup: 'interests' }, { max: 100 }),
  LANGUAGE: narrowing({ lookup: 'languages' }),
  LIVE_TV_EVENT: primary(ADS_ID),
  LOCATION: narrowing({ lookup: 'locations' }, { max: 2_000 }),
  NETWORK_ACTIVATION_DURATION: narrowing(
    { form: /^[1-9][0-9]{0,2}$/, what: 'a number of months' },
    { operators: ['GTE', 'LT'] }
  ),
  NETWORK_OPERATOR: narrowing({ lookup: 'network_operators' }),
  PHRASE_KEYWORD: keyword,
  PLATFORM: narrowing({ lookup: 'platforms' }),
  PLATFORM_VERSION: narrowing({ lookup: 'platform_versions' }),
  SIMILAR_TO_FOLLOWERS_OF_USER: primary(USER_ID, { max: 100 }),
  TV_SHOW: primary({ lookup: 'tv_shows' }),
  UNORDERED_KEYWORD: keyword,
  USER_ENGAGEMENT: narrowing(USER_ID),
  USER_ENGAGEMENT_LOOKALIKE: narrowing(USER_ID),
  WIFI_ONLY: narrowing({ values: ['0', '1'] })
}

export const targetingRule = (type: string): TargetingRule | undefined =>
  Object.hasOwn(TARGETING_TYPES, type) ? TARGETING_TYPES[type] : undefined

export const isPrimary = (type: string) => targetingRule(type)?.primary ?? false
export const isKeyword = (type: string) => targetingRule(type)?.countedAs === 'keywords'

/** Publishers that a line item may exclude, by the kind of category it runs in. */
export const PUBLISHER_EXCLUSIONS_MAX = { curated: 5, content: 50 } as const

/** An app store identifier implies the platform of that store. */
export const PLATFORM_OF_APP = { ios_app_store_identifier: '0', android_app_store_identifier: '1' } as const

export function impliedPlatforms(lineItem: {
  ios_app_store_identifier: string | null
  android_app_store_identifier: string | null
}) {
  return (Object.keys(PLATFORM_OF_APP) as (keyof typeof PLATFORM_OF_APP)[])
    .filter((key) => lineItem[key])
    .map((key) => ({ targeting_type: 'PLATFORM', targeting_value: PLATFORM_OF_APP[key], operator_type: 'EQ' as const }))
}

/** How a location is called on a criterion, by its name in the lookup. A metro is shown as a city. */
export const LOCATION_TYPES: Record<string, string> = {
  COUNTRIES: 'COUNTRY',
  REGIONS: 'REGION',
  METROS: 'CITY',
  CITIES: 'CITY',
  POSTAL_CODES: 'POSTAL_CODE'
}
