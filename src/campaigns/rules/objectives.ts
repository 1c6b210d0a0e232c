/** What follows from a line item's objective: goals, bid strategies, pay_by, caps and what else it needs. */

export const BID_STRATEGIES = ['AUTO', 'MAX', 'TARGET'] as const
/** What a client may write; responses know more. */
export const PAY_BY_WRITABLE = ['APP_CLICK', 'IMPRESSION', 'LINK_CLICK'] as const
export const AUDIENCE_EXPANSIONS = ['BROAD', 'DEFINED', 'EXPANDED'] as const
export const CREATIVE_SOURCES = ['MANUAL', 'DYNAMIC_PRODUCT_CREATIVE'] as const
/** Window of a frequency cap, in days. */
export const DURATIONS_IN_DAYS = [1, 7, 30] as const

export const GOALS = [
  'APP_CLICKS',
  'APP_INSTALLS',
  'APP_PURCHASES',
  'ENGAGEMENT',
  'FOLLOWERS',
  'LINK_CLICKS',
  'MAX_REACH',
  'PREROLL',
  'PREROLL_STARTS',
  'REACH_WITH_ENGAGEMENT',
  'SITE_VISITS',
  'VIDEO_VIEW',
  'VIEW_3S_100PCT',
  'VIEW_6S',
  'VIEW_15S',
  'WEBSITE_CONVERSIONS'
] as const

export interface ObjectiveRule {
  /** The first one is the default. */
  goals: readonly (typeof GOALS)[number][]
  /** Default when a bid is given; without one AUTO, which needs none. See decisions/0051. */
  bidStrategy: (typeof BID_STRATEGIES)[number]
  bidStrategies: readonly (typeof BID_STRATEGIES)[number][]
  /** Beyond those, when the line item is created. */
  bidStrategiesOnCreate?: readonly (typeof BID_STRATEGIES)[number][]
  frequencyCap: boolean
  /** At least one of the two app store identifiers. */
  needsApp: boolean
  /** Display image creatives of such a line item carry a landing_url. */
  needsLandingUrl: boolean
}

const VIEWS = ['VIEW_3S_100PCT', 'VIEW_6S', 'VIEW_15S'] as const
const plain = { frequencyCap: false, needsApp: false, needsLandingUrl: false }

export const OBJECTIVES = {
  APP_ENGAGEMENTS: {
    ...plain,
    goals: ['APP_CLICKS', 'APP_INSTALLS'],
    bidStrategy: 'MAX',
    bidStrategies: ['AUTO', 'MAX'],
    needsApp: true
  },
  APP_INSTALLS: {
    ...plain,
    goals: ['APP_INSTALLS', 'APP_CLICKS', 'APP_PURCHASES'],
    bidStrategy: 'MAX',
    bidStrategies: ['AUTO', 'MAX'],
    needsApp: true
  },
  ENGAGEMENTS: {
    ...plain,
    goals: ['ENGAGEMENT'],
    bidStrategy: 'MAX',
    bidStrategies: ['AUTO', 'MAX'],
    frequencyCap: true
  },
  FOLLOWERS: {
    ...plain,
    goals: ['FOLLOWERS'],
    bidStrategy: 'TARGET',
    bidStrategies: ['AUTO'],
    bidStrategiesOnCreate: ['TARGET']
  },
  PREROLL_VIEWS: {
    ...plain,
    goals: ['PREROLL', 'PREROLL_STARTS', ...VIEWS],
    bidStrategy: 'MAX',
    bidStrategies: ['AUTO', 'MAX'],
    frequencyCap: true
  },
  REACH: {
    ...plain,
    goals: ['MAX_REACH', 'REACH_WITH_ENGAGEMENT'],
    bidStrategy: 'TARGET',
    bidStrategies: ['AUTO', 'TARGET'],
    frequencyCap: true
  },
  VIDEO_VIEWS: {
    ...plain,
    goals: ['VIDEO_VIEW', ...VIEWS],
    bidStrategy: 'MAX',
    bidStrategies: ['AUTO', 'MAX'],
    frequencyCap: true
  },
  WEBSITE_CLICKS: {
    ...plain,
    goals: ['LINK_CLICKS', 'SITE_VISITS', 'WEBSITE_CONVERSIONS'],
    bidStrategy: 'MAX',
    bidStrategies: ['AUTO', 'MAX', 'TARGET'],
    needsLandingUrl: true
  }
} as const satisfies Record<string, ObjectiveRule>

export type Objective = keyof typeof OBJECTIVES
export const OBJECTIVE_NAMES = Object.keys(OBJECTIVES) as Objective[]

export const objectiveRule = (objective: string): ObjectiveRule | undefined =>
  Object.hasOwn(OBJECTIVES, objective) ? OBJECTIVES[objective as Objective] : undefined

/** What is paid for, by goal; the first one is the default. */
const PAY_BY: Record<(typeof GOALS)[number], readonly string[]> = {
  APP_CLICKS: ['APP_CLICK'],
  APP_INSTALLS: ['IMPRESSION', 'APP_CLICK'],
  APP_PURCHASES: ['IMPRESSION'],
  ENGAGEMENT: ['ENGAGEMENT'],
  FOLLOWERS: ['FOLLOW'],
  LINK_CLICKS: ['IMPRESSION', 'LINK_CLICK'],
  MAX_REACH: ['IMPRESSION'],
  PREROLL: ['VIEW_3S_100PCT'],
  PREROLL_STARTS: ['VIEW'],
  REACH_WITH_ENGAGEMENT: ['IMPRESSION'],
  SITE_VISITS: ['IMPRESSION'],
  VIDEO_VIEW: ['VIEW'],
  VIEW_3S_100PCT: ['VIEW_3S_100PCT'],
  VIEW_6S: ['IMPRESSION'],
  VIEW_15S: ['IMPRESSION'],
  WEBSITE_CONVERSIONS: ['IMPRESSION']
}

/** pay_by values of a goal; paying by impression is not supported for link clicks with bid_strategy TARGET. */
export function payByOptions(goal: string, bidStrategy: string): readonly string[] {
  const options = PAY_BY[goal as keyof typeof PAY_BY] ?? []
  return goal === 'LINK_CLICKS' && bidStrategy === 'TARGET'
    ? options.filter((option) => option !== 'IMPRESSION')
    : options
}

/** After creation pay_by can be changed only for this objective. */
export const PAY_BY_CHANGEABLE: Objective = 'APP_INSTALLS'
