/** What no call of the documents can create, so that everything can be tried at once: a few rows for a new account. */
import type { Db } from '../storage/db.ts'
import { newAdsId, newId } from '../storage/ids.ts'

const APPS = [
  { app_store_identifier: 'com.example.app', os_type: 'Android', deep_link_pattern: 'exampleapp://' },
  { app_store_identifier: '333903271', os_type: 'iOS', deep_link_pattern: null }
] as const

/** One of each kind that media creatives ask for: a preroll video, and images of two sizes. */
const MEDIA = [
  { creative_type: 'PREROLL', video: true },
  { creative_type: 'BANNER', video: false },
  { creative_type: 'INTERSTITIAL', video: false }
] as const

export async function addSamples(db: Db, accountId: string, now: Date) {
  const common = { account_id: accountId, created_at: now.toISOString(), updated_at: now.toISOString() }
  await db
    .insertInto('account_apps')
    .values(APPS.map((app) => ({ ...common, id: newAdsId(), ...app, conversion_tracking_enabled: false })))
    .execute()
  await db
    .insertInto('account_media')
    .values(
      MEDIA.map(({ creative_type, video }) => {
        const mediaId = newId()
        return {
          ...common,
          id: newAdsId(),
          creative_type,
          video_id: video ? mediaId : null,
          media_url: video ? null : `https://media.example.com/${mediaId}/${creative_type.toLowerCase()}.png`,
          media_key: `${video ? '13' : '3'}_${mediaId}`
        }
      })
    )
    .execute()
}
