/** Where ads of a line item appear: combinations by product type, and what objectives add. */
import type { ErrorItem } from '../../errors.ts'
import { invalid, notIn, tooFew } from './problems.ts'
import type { RuleReference } from './reference.ts'

export const PRODUCT_TYPES = ['MEDIA', 'PROMOTED_ACCOUNT', 'PROMOTED_TWEETS'] as const

export const PLACEMENTS = [
  'ALL_ON_SVC',
  'PUBLISHER_NETWORK',
  'SVC_PROFILE',
  'SVC_REPLIES',
  'SVC_SEARCH',
  'SVC_TIMELINE',
  'TAP_BANNER',
  'TAP_FULL',
  'TAP_FULL_LANDSCAPE',
  'TAP_MRECT',
  'TAP_NATIVE'
] as const

interface PlacementRule {
  /** At least one of these. */
  includes?: readonly string[]
  /** None but these. */
  only?: readonly string[]
  /** None of these. */
  never?: readonly string[]
}

const BY_OBJECTIVE: Record<string, PlacementRule> = {
  REACH: { includes: ['ALL_ON_SVC', 'SVC_TIMELINE'], never: ['PUBLISHER_NETWORK'] },
  FOLLOWERS: { only: ['ALL_ON_SVC', 'SVC_TIMELINE'] }
}

export interface Placed {
  product_type: string
  objective: string
  placements: readonly string[]
}

export function placementProblems(
  { product_type, objective, placements }: Placed,
  reference: RuleReference
): ErrorItem[] {
  if (placements.length === 0) return [tooFew('placements')]
  const unknown = placements.find((placement) => !PLACEMENTS.includes(placement as (typeof PLACEMENTS)[number]))
  if (unknown !== undefined) return [notIn(PLACEMENTS, unknown, 'placements')]
  const combinations = reference.placements.get(product_type)
  // An unknown product type is told by its own rule.
  if (!combinations) return []
  const wanted = new Set(placements)
  if (!combinations.some((some) => some.length === wanted.size && some.every((one) => wanted.has(one)))) {
    return [
      invalid(
        'promoted_product_type',
        `Product type ${product_type} is not compatible with the placements ${placements.join(', ')}; ` +
          `possible are ${combinations.map((some) => `[${some.join(', ')}]`).join(' ')}`
      )
    ]
  }
  const rule = BY_OBJECTIVE[objective] ?? {}
  const refuse = (why: string) => [invalid('placements', `The objective ${objective} ${why}`, 'INVALID_PLACEMENT_TYPE')]
  if (rule.includes && !rule.includes.some((one) => wanted.has(one))) {
    return refuse(`must be placed on ${rule.includes.join(' or ')}`)
  }
  const outside = rule.only && placements.find((one) => !rule.only?.includes(one))
  if (outside) return refuse(`cannot be placed on ${outside}, only on ${rule.only?.join(' or ')}`)
  const forbidden = rule.never?.find((one) => wanted.has(one))
  return forbidden ? refuse(`cannot be placed on ${forbidden}`) : []
}

/** The placement that needs an advertiser_domain and IAB categories. */
export const onPublisherNetwork = (placements: readonly string[]) => placements.includes('PUBLISHER_NETWORK')

/** Search results show ads only for keywords; without any the line item is incomplete. See decisions/0053. */
export const needsKeywords = (placements: readonly string[]) => placements.includes('SVC_SEARCH')
