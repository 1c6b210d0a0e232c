/** What an operator sends by hand: a delivery once more, or an event that only tests the way. */
import { sql } from 'kysely'
import { isoTime } from '../clock.ts'
import { conflict } from '../errors.ts'
import { newId } from '../storage/ids.ts'
import type { DeliveryEngine } from './deliver.ts'
import { deliveryNotFound, findQueued, getDelivery } from './records.ts'
import { getAnyWebhook } from './records-webhooks.ts'
import type { Webhook, WebhookDeps } from './webhooks.ts'

export interface SendDeps extends Pick<WebhookDeps, 'db' | 'clock'> {
  delivery: Pick<DeliveryEngine, 'append' | 'dispatch'>
}

/** While a webhook is invalid nothing is sent to it, by hand neither. */
function refuseInvalid({ id, valid, invalid_since, invalid_reason }: Webhook) {
  if (valid) return
  throw conflict(
    'WEBHOOK_INVALID',
    `Webhook ${id} is invalid since ${invalid_since} (${invalid_reason}); validate it first: POST /admin/webhooks/${id}/validate.`
  )
}

/** The same bytes under the same id, now, with the usual retries. */
export async function resendDelivery({ db, clock, delivery }: SendDeps, id: string) {
  const { body, ...row } = await getDelivery(db, id)
  const lane = { app_id: row.app_id, webhook_id: row.webhook_id }
  refuseInvalid(await getAnyWebhook(db, row.webhook_id))
  const dueAt = isoTime(clock.now())
  await db.transaction().execute(async (tx) => {
    // Two requests at once put it into the queue once.
    await sql`select pg_advisory_xact_lock(hashtextextended(${id}, 0))`.execute(tx)
    const queued = await findQueued(tx, lane, id)
    if (queued)
      throw conflict('ALREADY_QUEUED', `Delivery ${id} is in the queue already; it is due at ${queued.due_at}.`)
    const { numAffectedRows } = await sql`
      insert into delivery_queue (due_at, created_at, app_id, webhook_id, delivery_id, cause)
      select ${dueAt}, created_at, app_id, webhook_id, id, 'resend' from deliveries
      where app_id = ${lane.app_id} and webhook_id = ${lane.webhook_id} and created_at = ${row.created_at} and id = ${id}`.execute(
      tx
    )
    if (numAffectedRows === 0n) throw deliveryNotFound(id)
  })
  const { created_at } = row
  delivery.dispatch([{ ...lane, id, created_at, due_at: dueAt, retry: false, attempts: 0, cause: 'resend', body }])
  return { delivery_id: id, due_at: dueAt }
}

/** Signed and sent like any event. `body` replaces the one we would send. */
export async function sendTestEvent({ db, clock, delivery }: SendDeps, webhookId: string, body?: object) {
  const webhook = await getAnyWebhook(db, webhookId)
  refuseInvalid(webhook)
  const sent = body ?? {
    test_event: {
      id: newId(),
      webhook_id: webhook.id,
      created_at: isoTime(clock.now()),
      message: 'A test event: nothing happened, and this webhook is able to hear of it.'
    }
  }
  const appended = await db
    .transaction()
    .execute((tx) =>
      delivery.append(tx, [
        { app_id: webhook.app_id, webhook_id: webhook.id, kind: 'test', body: JSON.stringify(sent) }
      ])
    )
  delivery.dispatch(appended)
  // Became invalid, or was deleted, in this very moment.
  if (!appended[0]) refuseInvalid(await getAnyWebhook(db, webhookId))
  return { delivery_id: appended[0]!.id }
}
