/** What an account has and no call of the documents creates: apps, media, promotable users. */
import type { AdsScope } from '../http/ads.ts'
import { listInput } from '../http/ads.ts'
import { bool, choice, id, list } from '../http/ads-input.ts'
import { getRow, kind, listWire, removeRow, type Stamped } from './rows.ts'
import { Bool, Entity, EntityFields, Text, TextOrNull, wire } from './wire.ts'
import { writeRoute } from './writes.ts'

export const CREATIVE_TYPES = [
  'BANNER',
  'BANNER_TABLET',
  'INTERSTITIAL',
  'INTERSTITIAL_LANDSCAPE',
  'INTERSTITIAL_LANDSCAPE_TABLET',
  'INTERSTITIAL_TABLET',
  'MEDIUM_RECTANGLE',
  'PREROLL',
  'VAST_PREROLL'
] as const

export interface AccountAppRow extends Stamped {
  app_store_identifier: string
  conversion_tracking_enabled: boolean
  deep_link_pattern: string | null
  os_type: string
}
export const accountApps = kind<AccountAppRow>('account_apps', 'Account app')
const AccountApp = Entity({
  app_store_identifier: Text,
  conversion_tracking_enabled: Bool,
  deep_link_pattern: TextOrNull,
  os_type: Text,
  ...EntityFields
})

export interface AccountMediaRow extends Stamped {
  video_id: string | null
  media_url: string | null
  media_key: string | null
  creative_type: string
}
export const accountMedia = kind<AccountMediaRow>('account_media', 'Account media', 'ACCOUNT_MEDIA_NOT_FOUND')
const AccountMedia = Entity({
  video_id: TextOrNull,
  media_url: TextOrNull,
  media_key: TextOrNull,
  creative_type: Text,
  ...EntityFields
})

export interface PromotableUserRow extends Stamped {
  user_id: string
  promotable_user_type: string
}
export const promotableUsers = kind<PromotableUserRow>(
  'promotable_users',
  'Promotable user',
  'PROMOTABLE_USER_NOT_FOUND'
)
const PromotableUser = Entity({ user_id: Text, promotable_user_type: Text, ...EntityFields })

export function accountRowRoutes(scope: AdsScope) {
  const { database } = scope.deps

  scope.route({
    method: 'GET',
    path: '/accounts/:account_id/account_apps',
    summary: 'Apps of the account.',
    input: listInput,
    output: AccountApp,
    many: true,
    operation: 'campaigns.read',
    handler: ({ path, input }) => listWire(database, accountApps, path.account_id!, input)
  })

  scope.route({
    method: 'GET',
    path: '/accounts/:account_id/account_media',
    summary: 'Media of the account, for media creatives.',
    input: { ...listInput, account_media_ids: list(id()), creative_types: list(choice(CREATIVE_TYPES)) },
    output: AccountMedia,
    many: true,
    operation: 'creatives.read',
    extension: true,
    handler: ({ path, input }) =>
      listWire(database, accountMedia, path.account_id!, input, {
        where: { id: input.account_media_ids, creative_type: input.creative_types }
      })
  })
  scope.route({
    method: 'GET',
    path: '/accounts/:account_id/account_media/:account_media_id',
    summary: 'One media object of the account.',
    input: { with_deleted: bool() },
    output: AccountMedia,
    operation: 'creatives.read',
    extension: true,
    handler: async ({ path, input }) =>
      wire(
        await getRow(database, accountMedia, path.account_id!, path.account_media_id!, {
          withDeleted: input.with_deleted
        }),
        accountMedia.times
      )
  })
  writeRoute(scope, {
    method: 'DELETE',
    path: '/accounts/:account_id/account_media/:account_media_id',
    summary: 'Delete a media object; creatives that use it stay.',
    output: AccountMedia,
    operation: 'creatives.write',
    extension: true,
    handler: async ({ tx, now, path }) =>
      wire(await removeRow(tx, accountMedia, path.account_id!, path.account_media_id!, now), accountMedia.times)
  })

  scope.route({
    method: 'GET',
    path: '/accounts/:account_id/promotable_users',
    summary: 'Users that the account may promote.',
    input: { ...listInput, promotable_user_ids: list(id()) },
    output: PromotableUser,
    many: true,
    operation: 'campaigns.read',
    extension: true,
    handler: ({ path, input }) =>
      listWire(database, promotableUsers, path.account_id!, input, { where: { id: input.promotable_user_ids } })
  })
  scope.route({
    method: 'GET',
    path: '/accounts/:account_id/promotable_users/:promotable_user_id',
    summary: 'One promotable user.',
    input: { with_deleted: bool() },
    output: PromotableUser,
    operation: 'campaigns.read',
    extension: true,
    handler: async ({ path, input }) =>
      wire(
        await getRow(database, promotableUsers, path.account_id!, path.promotable_user_id!, {
          withDeleted: input.with_deleted
        }),
        promotableUsers.times
      )
  })
}
