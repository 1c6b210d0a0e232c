/** One delivery with everything that is known of it: what was sent, what was answered, what comes next. */
import type { Db } from '../storage/db.ts'
import type { SecretsOf } from './deliver-secrets.ts'
import { type AttemptRow, attemptsAt, findQueued, getDelivery, reading, recordOf } from './records.ts'
import { markReplayed } from './replay-mark.ts'
import { signedHeaders } from './sign.ts'

export interface DetailOptions {
  db: Db
  secrets: SecretsOf
  signatureHeader: string
}

export async function deliveryDetail({ db, secrets, signatureHeader }: DetailOptions, id: string) {
  const { body, ...delivery } = await getDelivery(db, id)
  const lane = { app_id: delivery.app_id, webhook_id: delivery.webhook_id }
  const { attempts, queued } = await reading(db, async (tx) => ({
    attempts: (await attemptsAt(tx, lane, [id], delivery.created_at)).get(id)!,
    queued: await findQueued(tx, lane, id)
  }))
  const webhook = await db
    .selectFrom('webhooks')
    .select('url_key')
    .where('app_id', '=', lane.app_id)
    .where('id', '=', lane.webhook_id)
    .executeTakeFirst()
  // Gone together with the app.
  const keys = await secrets(lane.app_id).catch(() => [])
  const record = recordOf(delivery, attempts)

  /** What an attempt carried. Signatures are made again with the secrets that are valid now; secrets are never shown. */
  const sent = ({ cause, created_at }: Pick<AttemptRow, 'cause' | 'created_at'>) => {
    const bytes = cause === 'replay' ? markReplayed(body) : body
    return {
      request_headers: {
        ...(webhook ? { host: new URL(webhook.url_key).host } : {}),
        'content-length': String(bytes.length),
        ...(keys.length === 0
          ? {}
          : signedHeaders({ secrets: keys, signatureHeader, id, atMs: Date.parse(created_at), body: bytes }))
      },
      ...(bytes.equals(body) ? {} : { request_body: bytes.toString('utf8') })
    }
  }

  return {
    ...record,
    next_attempt_at: queued?.due_at ?? null,
    next_attempt_cause: queued?.cause ?? null,
    url: webhook?.url_key ?? null,
    body: body.toString('utf8'),
    body_bytes: body.length,
    attempt_records: attempts.map(({ delivery_id, delivery_created_at, ...attempt }) => ({
      ...attempt,
      ...(attempt.attempt > 0 ? sent(attempt) : {})
    }))
  }
}
