/** Media creatives: which media they show, and where a click leads. */
import type { ErrorItem } from '../../errors.ts'
import { objectiveRule } from './objectives.ts'
import { invalid, missing } from './problems.ts'

/** By type: preroll assets are videos in a stream, the others display images. */
export const CREATIVE_TYPES = {
  BANNER: 'image',
  BANNER_TABLET: 'image',
  INTERSTITIAL: 'image',
  INTERSTITIAL_LANDSCAPE: 'image',
  INTERSTITIAL_LANDSCAPE_TABLET: 'image',
  INTERSTITIAL_TABLET: 'image',
  MEDIUM_RECTANGLE: 'image',
  PREROLL: 'preroll',
  VAST_PREROLL: 'preroll'
} as const

export const CREATIVE_TYPE_NAMES = Object.keys(CREATIVE_TYPES) as (keyof typeof CREATIVE_TYPES)[]

export const LANDING_URL_MAX = 2_000

const isPreroll = (creativeType: string) => CREATIVE_TYPES[creativeType as keyof typeof CREATIVE_TYPES] === 'preroll'

/** The landing_url to store, or what is wrong with it. Ignored for preroll assets, needed where the objective says so. */
export function landingUrl(
  given: string | null | undefined,
  creativeType: string,
  objective: string
): { landing_url: string | null; problems: ErrorItem[] } {
  if (isPreroll(creativeType)) return { landing_url: null, problems: [] }
  if (!given) {
    const needed = objectiveRule(objective)?.needsLandingUrl
    return { landing_url: null, problems: needed ? [missing('landing_url')] : [] }
  }
  const url = URL.parse(given)
  if (given.length > LANDING_URL_MAX || !url || !['http:', 'https:'].includes(url.protocol)) {
    return {
      landing_url: null,
      problems: [invalid('landing_url', `"${given.slice(0, 200)}" is not an http or https URL`)]
    }
  }
  return { landing_url: given, problems: [] }
}
