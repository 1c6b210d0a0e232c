/** Tracking tags: URLs of a third party that are called when an ad is shown or clicked. */
import { ApiError } from '../errors.ts'
import { type AdsScope, listInput } from '../http/ads.ts'
import { bool, choice, id, list, required, text } from '../http/ads-input.ts'
import { newAdsId } from '../storage/ids.ts'
import { getLineItem } from './line-items.ts'
import { getRow, insertRow, kind, listWire, removeRow, type Stamped, updateRow } from './rows.ts'
import { invalid } from './rules/problems.ts'
import { Entity, EntityFields, STAMPS, Text, wire } from './wire.ts'
import { writeRoute } from './writes.ts'

export const TRACKING_TAG_TYPES = ['IMPRESSION_TAG', 'CLICK_TRACKER'] as const
const URL_MAX = 2_000

export interface TrackingTagRow extends Stamped {
  line_item_id: string
  tracking_tag_url: string
  tracking_tag_type: string
}

declare module '../storage/db.ts' {
  interface Tables {
    tracking_tags: TrackingTagRow
  }
}

export const trackingTags = kind<TrackingTagRow>('tracking_tags', 'Tracking tag')
const TrackingTag = Entity({ line_item_id: Text, tracking_tag_url: Text, tracking_tag_type: Text, ...EntityFields })

function checkUrl(given: string) {
  const url = URL.parse(given)
  if (!url || !['http:', 'https:'].includes(url.protocol)) {
    throw new ApiError(400, [invalid('tracking_tag_url', `"${given.slice(0, 200)}" is not an http or https URL`)])
  }
}

const PATH = '/accounts/:account_id/tracking_tags'
const ONE = `${PATH}/:tracking_tag_id`

export function trackingTagRoutes(scope: AdsScope) {
  const { database } = scope.deps
  const common = { output: TrackingTag, extension: true }

  scope.route({
    ...common,
    method: 'GET',
    path: PATH,
    summary: 'Tracking tags of line items.',
    input: { ...listInput, line_item_ids: list(id()), tracking_tag_ids: list(id()) },
    many: true,
    operation: 'campaigns.read',
    handler: ({ path, input }) =>
      listWire(database, trackingTags, path.account_id!, input, {
        where: { line_item_id: input.line_item_ids, id: input.tracking_tag_ids }
      })
  })
  scope.route({
    ...common,
    method: 'GET',
    path: ONE,
    summary: 'One tracking tag.',
    input: { with_deleted: bool() },
    operation: 'campaigns.read',
    handler: async ({ path, input }) =>
      wire(
        await getRow(database, trackingTags, path.account_id!, path.tracking_tag_id!, {
          withDeleted: input.with_deleted
        }),
        STAMPS
      )
  })
  writeRoute(scope, {
    ...common,
    method: 'POST',
    path: PATH,
    summary: 'Attach a tracking tag to a line item.',
    input: {
      line_item_id: required(id()),
      tracking_tag_type: required(choice(TRACKING_TAG_TYPES)),
      tracking_tag_url: required(text({ max: URL_MAX }))
    },
    operation: 'campaigns.write',
    handler: async ({ tx, account, now, input }) => {
      await getLineItem(tx, account.id, input.line_item_id)
      checkUrl(input.tracking_tag_url)
      const stamp = now.toISOString()
      const values = { account_id: account.id, id: newAdsId(), ...input, created_at: stamp, updated_at: stamp }
      return wire(await insertRow(tx, trackingTags, values), STAMPS)
    }
  })
  writeRoute(scope, {
    ...common,
    method: 'PUT',
    path: ONE,
    summary: 'Change the URL of a tracking tag.',
    input: { tracking_tag_url: required(text({ max: URL_MAX })) },
    operation: 'campaigns.write',
    handler: async ({ tx, account, now, path, input }) => {
      const current = await getRow(tx, trackingTags, account.id, path.tracking_tag_id!, { lock: true })
      checkUrl(input.tracking_tag_url)
      if (current.tracking_tag_url === input.tracking_tag_url) return wire(current, STAMPS)
      return wire(await updateRow(tx, trackingTags, current, { ...input, updated_at: now.toISOString() }), STAMPS)
    }
  })
  writeRoute(scope, {
    ...common,
    method: 'DELETE',
    path: ONE,
    summary: 'Delete a tracking tag.',
    operation: 'campaigns.write',
    handler: async ({ tx, account, now, path }) =>
      wire(await removeRow(tx, trackingTags, account.id, path.tracking_tag_id!, now), STAMPS)
  })
}
