/** Targeting types and values as people know them. */
import { readable } from './words.ts'

const NAMES: Record<string, string> = {
  INTEREST: 'Interests',
  BROAD_KEYWORD: 'Keywords, broad',
  UNORDERED_KEYWORD: 'Keywords, any order',
  PHRASE_KEYWORD: 'Keywords, phrase',
  EXACT_KEYWORD: 'Keywords, exact',
  FOLLOWERS_OF_USER: 'Followers of',
  SIMILAR_TO_FOLLOWERS_OF_USER: 'Like followers of',
  TV_SHOW: 'TV shows',
  LIVE_TV_EVENT: 'Live TV events',
  CUSTOM_AUDIENCE: 'Custom audiences',
  CUSTOM_AUDIENCE_EXPANDED: 'Custom audiences, expanded',
  LOCATION: 'Locations',
  LANGUAGE: 'Languages',
  AGE: 'Age',
  GENDER: 'Gender',
  PLATFORM: 'Platforms',
  PLATFORM_VERSION: 'Platform versions',
  DEVICE: 'Devices',
  WIFI_ONLY: 'Wi-Fi',
  NETWORK_OPERATOR: 'Network operators',
  NETWORK_ACTIVATION_DURATION: 'Months with the network',
  EVENT: 'Events',
  CONVERSATION: 'Conversations',
  APP_STORE_CATEGORY: 'App categories',
  APP_STORE_CATEGORY_LOOKALIKE: 'Like users of app categories',
  IAB_CATEGORY: 'Content categories',
  CONTENT_PUBLISHER_USER: 'Publishers'
}
export const typeName = (type: string) => NAMES[type] ?? readable(type)

const ORDER = Object.keys(NAMES)
const place = (type: string) => (ORDER.includes(type) ? ORDER.indexOf(type) : ORDER.length)
/** Types in the order in which they are offered: what is rare comes last. */
export const inOrder = (types: readonly string[]) => [...types].sort((a, b) => place(a) - place(b))

const VALUES: Record<string, Record<string, string>> = {
  GENDER: { '1': 'Men', '2': 'Women' },
  WIFI_ONLY: { '0': 'Any connection', '1': 'Wi-Fi only' }
}

export function valueName(type: string, value: string): string {
  const named = VALUES[type]?.[value]
  if (named) return named
  const ages = /^AGE_(?:OVER_(\d+)|(\d+)_TO_(\d+))$/.exec(value)
  if (ages) return ages[1] ? `${ages[1]} and older` : `${ages[2]} to ${ages[3]}`
  return /^[A-Z][A-Z_]+$/.test(value) ? readable(value) : value
}

/** A criterion as it stands on a chip. */
export const criterionName = ({
  targeting_type: type,
  targeting_value: value,
  name
}: {
  targeting_type: string
  targeting_value: string
  name?: string | null
}) => (name && name !== value ? name.replaceAll('/', ' › ') : valueName(type, value))
