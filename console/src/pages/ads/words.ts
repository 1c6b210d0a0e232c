/** Words of the API as people read them. What is not here is shown as a readable form of itself. */
import type { Tone } from '../../ui/bits.tsx'

/** `WEBSITE_CLICKS` → `Website clicks`. */
export const readable = (word: string) => {
  const text = word.replaceAll('_', ' ').toLowerCase()
  return text.charAt(0).toUpperCase() + text.slice(1)
}

const SPECIAL: Record<string, string> = {
  ALL_ON_SVC: 'All on the service',
  SVC_TIMELINE: 'Timelines',
  SVC_SEARCH: 'Search results',
  SVC_PROFILE: 'Profiles',
  SVC_REPLIES: 'Replies',
  PUBLISHER_NETWORK: 'Publisher network',
  TAP_BANNER: 'Apps: banner',
  TAP_FULL: 'Apps: full screen',
  TAP_FULL_LANDSCAPE: 'Apps: full screen, landscape',
  TAP_MRECT: 'Apps: medium rectangle',
  TAP_NATIVE: 'Apps: native',
  PROMOTED_TWEETS: 'Promoted posts',
  PROMOTED_ACCOUNT: 'Promoted account',
  MEDIA: 'Media',
  VIEW_3S_100PCT: 'Views of 3 seconds in full',
  VIEW_6S: 'Views of 6 seconds',
  VIEW_15S: 'Views of 15 seconds',
  MAX_REACH: 'As many people as possible',
  AUTO: 'Automatic',
  MAX: 'At most the bid',
  TARGET: 'The bid on average'
}
export const word = (value: string) => SPECIAL[value] ?? readable(value)
export const words = (values: readonly string[]) => values.map(word).join(' + ')

export const OBJECTIVE_HINTS: Record<string, string> = {
  APP_INSTALLS: 'Get people to install an app.',
  APP_ENGAGEMENTS: 'Bring people back to an app.',
  ENGAGEMENTS: 'Get replies, likes and clicks on posts.',
  FOLLOWERS: 'Win followers for an account.',
  PREROLL_VIEWS: 'Show a video before videos of publishers.',
  REACH: 'Show the ad to as many people as possible.',
  VIDEO_VIEWS: 'Get a video watched.',
  WEBSITE_CLICKS: 'Bring people to a website.'
}

export const STATUS_TONES: Record<string, Tone> = { ACTIVE: 'good', PAUSED: 'warn', DRAFT: 'plain' }

export const REASON_TITLES: Record<string, string> = {
  PAUSED_BY_ADVERTISER: 'Paused',
  AWAITING_APPROVAL_BY_ADVERTISER: 'Still a draft',
  INCOMPLETE: 'Incomplete',
  FUNDING_PROBLEM: 'Cannot be paid for',
  EXPIRED: 'Over',
  STARTS_IN_FUTURE: 'Has not started',
  BUDGET_EXHAUSTED: 'Budget used up',
  CONTENT_REVIEW_PROBLEM: 'Creatives not accepted',
  ACCOUNT_REJECTED: 'Account rejected',
  ACCOUNT_UNDER_REVIEW: 'Account under review',
  DELETED: 'Deleted'
}
export const reasonTitle = (reason: string) => REASON_TITLES[reason] ?? readable(reason)

export const PERMISSIONS: Record<string, string> = {
  ACCOUNT_ADMIN: 'everything, settings and access included',
  AD_MANAGER: 'campaigns, line items, targeting and creatives',
  CREATIVE_MANAGER: 'media creatives; campaigns can be read',
  CAMPAIGN_ANALYST: 'campaigns can be read',
  ANALYST: 'organic analytics only',
  PARTNER_AUDIENCE_MANAGER: 'audiences of data partners only',
  TWEET_COMPOSER: 'promoted-only posts'
}

/** Fields as forms, messages and the history name them. */
const FIELDS: Record<string, string> = {
  funding_instrument_id: 'Funding instrument',
  budget_optimization: 'Budgets are set on',
  daily_budget_amount_local_micro: 'Daily budget',
  total_budget_amount_local_micro: 'Total budget',
  bid_amount_local_micro: 'Bid',
  target_cpa_local_micro: 'Target cost per action',
  credit_limit_local_micro: 'Credit limit',
  funded_amount_local_micro: 'Funded amount',
  entity_status: 'Status',
  standard_delivery: 'Even delivery',
  purchase_order_number: 'Purchase order number',
  duration_in_days: 'Days of the frequency cap',
  promoted_product_type: 'Placements',
  tweet_ids: 'Posts',
  tweet_id: 'Post',
  user_id: 'User',
  start_time: 'Start',
  end_time: 'End',
  advertiser_domain: 'Advertiser’s domain',
  android_app_store_identifier: 'Android app',
  ios_app_store_identifier: 'iOS app',
  primary_web_event_tag: 'Web event tag',
  landing_url: 'Landing page',
  account_media_id: 'Media'
}
export const fieldName = (name: string) => FIELDS[name] ?? readable(name)
export const isMoney = (name: string) => name.endsWith('_local_micro')
export const isTime = (name: string) => /_(time|at)$/.test(name)

/** A sentence of the API without the names of its parameters and codes. */
export const plainly = (sentence: string) =>
  sentence
    .replace(/\b[A-Z]+(?:_[A-Z]+)*: /g, '')
    .replace(/\b[a-z]+(?:_[a-z]+)+\b/g, (name) => fieldName(name).toLowerCase())
