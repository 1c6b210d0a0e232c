/** Media creatives: account media shown by a line item, as preroll or as images on the audience network. */

import { ApiError } from '../errors.ts'
import { type AdsScope, listInput } from '../http/ads.ts'
import { bool, clearable, id, list, required, text } from '../http/ads-input.ts'
import { newAdsId } from '../storage/ids.ts'
import { fragment } from '../storage/statements.ts'
import { accountMedia } from './account-rows.ts'
import { getLineItem } from './line-items.ts'
import { getRow, insertRow, kind, listWire, removeRow, type Stamped } from './rows.ts'
import { LANDING_URL_MAX, landingUrl } from './rules/media-creatives.ts'
import { Entity, EntityFields, STAMPS, Text, TextOrNull, wire } from './wire.ts'
import { type Write, writeRoute } from './writes.ts'

export interface MediaCreativeRow extends Stamped {
  line_item_id: string
  account_media_id: string
  landing_url: string | null
  creative_type: string
  entity_status: string
  approval_status: string
}

declare module '../storage/db.ts' {
  interface Tables {
    media_creatives: MediaCreativeRow
  }
}

export const mediaCreatives = kind<MediaCreativeRow>('media_creatives', 'Media creative', 'MEDIA_CREATIVE_NOT_FOUND')

const MediaCreative = Entity({
  line_item_id: Text,
  landing_url: TextOrNull,
  creative_type: Text,
  entity_status: Text,
  account_media_id: Text,
  approval_status: Text,
  ...EntityFields
})

async function create(
  { tx, account, now }: Write,
  input: { line_item_id: string; account_media_id: string; landing_url?: string | null }
) {
  const lineItem = await getLineItem(tx, account.id, input.line_item_id)
  const media = await getRow(tx, accountMedia, account.id, input.account_media_id)
  const { landing_url, problems } = landingUrl(input.landing_url, media.creative_type, lineItem.objective)
  if (problems.length > 0) throw new ApiError(400, problems)
  const stamp = now.toISOString()
  return insertRow(tx, mediaCreatives, {
    account_id: account.id,
    id: newAdsId(),
    line_item_id: lineItem.id,
    account_media_id: media.id,
    creative_type: media.creative_type,
    landing_url,
    created_at: stamp,
    updated_at: stamp
  })
}

const PATH = '/accounts/:account_id/media_creatives'
const ONE = `${PATH}/:media_creative_id`

export function mediaCreativeRoutes(scope: AdsScope) {
  const { database } = scope.deps
  const common = { output: MediaCreative }

  scope.route({
    ...common,
    method: 'GET',
    path: PATH,
    summary: 'Media creatives of the account.',
    input: { ...listInput, campaign_id: id(), line_item_ids: list(id()), media_creative_ids: list(id()) },
    many: true,
    operation: 'creatives.read',
    handler: ({ path, input }) =>
      listWire(database, mediaCreatives, path.account_id!, input, {
        where: { line_item_id: input.line_item_ids, id: input.media_creative_ids },
        conditions:
          input.campaign_id === undefined
            ? []
            : [
                fragment`e.line_item_id in (select l.id from line_items l
                    where l.account_id = e.account_id and l.campaign_id = ${input.campaign_id})`
              ],
        inputs: input.campaign_id
      })
  })
  scope.route({
    ...common,
    method: 'GET',
    path: ONE,
    summary: 'One media creative.',
    input: { with_deleted: bool() },
    operation: 'creatives.read',
    handler: async ({ path, input }) => {
      const options = { withDeleted: input.with_deleted }
      return wire(await getRow(database, mediaCreatives, path.account_id!, path.media_creative_id!, options), STAMPS)
    }
  })
  writeRoute(scope, {
    ...common,
    method: 'POST',
    path: PATH,
    summary: 'Attach account media to a line item.',
    input: {
      account_media_id: required(id()),
      line_item_id: required(id()),
      landing_url: clearable(text({ max: LANDING_URL_MAX }))
    },
    operation: 'creatives.write',
    handler: async (write) => wire(await create(write, write.input), STAMPS)
  })
  writeRoute(scope, {
    ...common,
    method: 'DELETE',
    path: ONE,
    summary: 'Delete a media creative.',
    operation: 'creatives.write',
    handler: async ({ tx, account, now, path }) =>
      wire(await removeRow(tx, mediaCreatives, account.id, path.media_creative_id!, now), STAMPS)
  })
}
