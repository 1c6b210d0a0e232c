/** When a user takes back what they had allowed an app: what stood on it ends, and the app is told. See docs/decisions/0068. */
import { sql } from 'kysely'
import { isoTime } from '../clock.ts'
import { type Held, heldAuthorizations, REVOKED_JOB, type Revoked } from '../identity/index.ts'
import type { Db } from '../storage/db.ts'
import { newId } from '../storage/ids.ts'
import { defineJob } from '../storage/jobs.ts'
import type { DeliveryEngine, NewDelivery } from '../webhooks/index.ts'
import { lockAccountSubscriptions } from './account-activity.ts'
import { revokeNotice, revokeTime } from './account-activity-payloads.ts'
import { consents, sustainsAccountActivity } from './consent.ts'
import { REVOKE_EVENT, REVOKE_SUBSCRIPTION } from './deliver-subscriptions.ts'
import { activityEnvelope } from './envelope.ts'
import { eventTypeNamed } from './event-types.ts'
import { recordEvent } from './events.ts'
import type { PublishedEvent } from './facets.ts'
import { lockSubscriptions } from './subscriptions.ts'

/** What ends, what is told and the end of the job are one transaction: told once, however often the job is tried. */
export const revokedJob = (delivery: DeliveryEngine) =>
  defineJob(REVOKED_JOB, {
    run: async (revoked: Revoked, { transaction, finish, clock }) => {
      await delivery.ensurePartitions()
      const appended = await transaction(async (tx) => {
        const appended = await delivery.append(tx, await endWhatStoodOn(tx, revoked, isoTime(clock.now())))
        await finish(tx)
        return appended
      })
      delivery.dispatch(appended)
    }
  })

async function endWhatStoodOn(tx: Db, revoked: Revoked, nowIso: string): Promise<NewDelivery[]> {
  const { app_id, user_id } = revoked
  await lockAccountSubscriptions(tx, app_id)
  await lockSubscriptions(tx, app_id)
  const held = (await heldAuthorizations(tx, [revoked]))(revoked)
  const nothingLeft = held.oauth1 === null && held.scopes.length === 0
  const activityWebhooks = nothingLeft ? await webhooksOfActivity(tx, app_id) : []
  const accountWebhooks = sustainsAccountActivity(held) ? [] : await endAccountActivity(tx, revoked)
  const ended = await endPrivateSubscriptions(tx, revoked, held)
  const event: PublishedEvent = {
    id: newId(),
    event_type: REVOKE_EVENT,
    user_id,
    payload: { date_time: revokeTime(revoked.revoked_at), user_id, app_id },
    includes: null,
    occurred_at: revoked.revoked_at
  }
  const notices = accountWebhooks.map((webhook_id) => ({
    app_id,
    webhook_id,
    event_id: event.id,
    kind: 'account_activity',
    body: revokeNotice(revoked)
  }))
  if (ended.length === 0 && !(nothingLeft && (await claimNotice(tx, revoked, event.id, nowIso)))) return notices
  if (ended.length > 0) await claimNotice(tx, revoked, event.id, nowIso)
  await recordEvent(tx, event, nowIso)
  const body = JSON.stringify(activityEnvelope(event, REVOKE_EVENT, REVOKE_SUBSCRIPTION))
  const webhooks = nothingLeft ? activityWebhooks : ended.flatMap(({ webhook_id }) => webhook_id ?? [])
  return [
    ...notices,
    ...[...new Set(webhooks)].map((webhook_id) => ({ app_id, webhook_id, event_id: event.id, kind: 'activity', body }))
  ]
}

/** Where the app receives activity. */
async function webhooksOfActivity(tx: Db, appId: string) {
  const rows = await tx
    .selectFrom('activity_subscriptions')
    .select('webhook_id')
    .distinct()
    .where('app_id', '=', appId)
    .where('webhook_id', 'is not', null)
    .execute()
  return rows.map((row) => row.webhook_id!)
}

async function endAccountActivity(tx: Db, { app_id, user_id }: Revoked) {
  const rows = await tx
    .deleteFrom('account_activity_subscriptions')
    .where('app_id', '=', app_id)
    .where('user_id', '=', user_id)
    .returning('webhook_id')
    .execute()
  return rows.map((row) => row.webhook_id)
}

/** Only those whose event type the user no longer lets the app see. */
async function endPrivateSubscriptions(tx: Db, { app_id, user_id }: Revoked, held: Held) {
  const rows = await tx
    .selectFrom('activity_subscriptions')
    .select(['id', 'event_type', 'webhook_id'])
    .where('app_id', '=', app_id)
    .where('consent_user_id', '=', user_id)
    .execute()
  const ended = rows.filter((row) => !consents(eventTypeNamed(row.event_type)!, held))
  if (ended.length > 0)
    await tx
      .deleteFrom('activity_subscriptions')
      .where('app_id', '=', app_id)
      .where((eb) => eb('id', '=', eb.fn.any(eb.val(ended.map((row) => row.id)))))
      .execute()
  return ended
}

/** A user who takes back two things at once is told of once. False if they were told of since this revocation. */
async function claimNotice(tx: Db, { app_id, user_id, revoked_at }: Revoked, eventId: string, nowIso: string) {
  const { rows } = await sql`
    insert into published_names as known (name, event_id, created_at)
    values (${`${REVOKE_EVENT} ${app_id} ${user_id}`}, ${eventId}, ${nowIso})
    on conflict (name) do update set event_id = excluded.event_id, created_at = excluded.created_at
      where known.created_at < ${revoked_at}::timestamptz
    returning name`.execute(tx)
  return rows.length === 1
}
