/** Webhooks: URLs that an app registered and proved to control. */
import type { Clock } from '../clock.ts'
import type { Egress } from '../egress/index.ts'
import { invalidBecause } from '../http/problems.ts'
import type { PrincipalApp } from '../identity/principal.ts'
import { type Db, type Defaulted, violatedConstraint } from '../storage/db.ts'
import { newId } from '../storage/ids.ts'
import { enqueue } from '../storage/jobs.ts'
import { type CrcOptions, type CrcResult, checkCrc, describeFailure } from './crc.ts'
import type { CrcMeasures } from './crc-measures.ts'
import type { SecretsOf } from './deliver-secrets.ts'
import { announceWebhookChange } from './deliver-wake.ts'
import { checkedUrl } from './url-rules.ts'
import { isOverdue, nextStep, stateAfterCrc } from './validity.ts'

declare module '../storage/db.ts' {
  interface Tables {
    webhooks: {
      app_id: string
      id: string
      url: string
      url_key: string
      valid: boolean
      created_at: Time
      last_success_at: Time
      last_crc_at: TimeOrNull
      last_crc_outcome: string | null
      invalid_since: TimeOrNull
      invalid_reason: string | null
    }
    crc_checks: {
      app_id: string
      webhook_id: string
      id: string
      created_at: Time
      cause: 'create' | 'put' | 'tick' | 'replay'
      outcome: string
      url: string
      status: Defaulted<number | null>
      latency_ms: Defaulted<number | null>
      error: Defaulted<string | null>
      detail: Defaulted<string | null>
      response: Defaulted<string | null>
    }
  }
}

export const CRC_JOB = 'webhooks.crc'

export interface WebhookDeps {
  db: Db
  clock: Clock
  egress: Egress
  crc: CrcOptions
  secrets: SecretsOf
  perAppMax: number
  measures: CrcMeasures
}

const PUBLIC_COLUMNS = ['id', 'url', 'valid', 'created_at'] as const

/** Someone else's webhook looks exactly like none. */
export const webhookIdInvalid = (id: string) =>
  invalidBecause('WebhookIdInvalid', `there is no webhook with id ${id} for this app`, {
    parameters: { webhook_id: [id] }
  })

export const listWebhooks = (db: Db, appId: string) =>
  db.selectFrom('webhooks').select(PUBLIC_COLUMNS).where('app_id', '=', appId).orderBy('id', 'desc').execute()

export const findWebhook = (db: Db, appId: string, id: string) =>
  db.selectFrom('webhooks').selectAll().where('app_id', '=', appId).where('id', '=', id).executeTakeFirst()

export async function getWebhook(db: Db, appId: string, id: string) {
  const webhook = await findWebhook(db, appId, id)
  if (!webhook) throw webhookIdInvalid(id)
  return webhook
}

export type Webhook = Awaited<ReturnType<typeof getWebhook>>

/** Nothing is stored unless the first CRC passes. The cheap refusals come before the request to the consumer. */
export async function registerWebhook(deps: WebhookDeps, app: PrincipalApp, url: string) {
  const { db, clock, egress } = deps
  const urlKey = await checkedUrl(egress, url)
  await refuseDuplicate(db, app.id, urlKey)
  await refuseBeyondQuota(db, app, deps.perAppMax)
  const id = newId()
  const result = await checkCrc(deps.crc, urlKey, await deps.secrets(app.id))
  deps.measures.checked('create', result.outcome)
  const now = new Date(clock.now())
  await recordCheck(db, { app_id: app.id, webhook_id: id, cause: 'create', url, ...result }, now)
  if (result.outcome !== 'pass') throw crcFailed(result, url)
  return db.transaction().execute(async (tx) => {
    // Registrations of one app wait for each other, so that two at once cannot pass the quota together.
    await tx.selectFrom('apps').select('id').where('id', '=', app.id).forUpdate().executeTakeFirstOrThrow()
    await refuseBeyondQuota(tx, app, deps.perAppMax)
    const webhook = await tx
      .insertInto('webhooks')
      .values({
        app_id: app.id,
        id,
        url,
        url_key: urlKey,
        valid: true,
        created_at: now,
        last_success_at: now,
        last_crc_at: now,
        last_crc_outcome: 'pass',
        invalid_since: null,
        invalid_reason: null
      })
      .returning([...PUBLIC_COLUMNS, 'last_success_at', 'last_crc_at'])
      .executeTakeFirstOrThrow()
      .catch(async (error) => {
        // The transaction is lost, so the other registration is looked up outside of it.
        if (violatedConstraint(error) === 'webhooks_app_url') await refuseDuplicate(db, app.id, urlKey)
        throw error
      })
    await scheduleNextStep(tx, { app_id: app.id, ...webhook })
    return webhook
  })
}

async function refuseDuplicate(db: Db, appId: string, urlKey: string) {
  const existing = await db
    .selectFrom('webhooks')
    .select(['id', 'url'])
    .where('app_id', '=', appId)
    .where('url_key', '=', urlKey)
    .executeTakeFirst()
  if (existing) {
    throw invalidBecause('DuplicateUrlFailed', `this app has registered the URL already, as webhook ${existing.id}`, {
      webhook_id: existing.id,
      parameters: { url: [existing.url] }
    })
  }
}

async function refuseBeyondQuota(db: Db, app: PrincipalApp, perAppMax: number) {
  const max = app.quotas.webhooks ?? perAppMax
  const { count } = await db
    .selectFrom('webhooks')
    .select((eb) => eb.fn.countAll<bigint>().as('count'))
    .where('app_id', '=', app.id)
    .executeTakeFirstOrThrow()
  if (count >= max)
    throw invalidBecause(
      'WebhookLimitExceeded',
      `this app may register ${max} webhook${max === 1 ? '' : 's'} and has ${count}; delete one first`
    )
}

export const crcFailed = (result: CrcResult, url: string, consequence = '') =>
  invalidBecause('CrcValidationFailed', `${describeFailure(result)}${consequence}`, { parameters: { url: [url] } })

/** PUT: re-enables, sends a CRC, and lets it decide. A failed CRC is told, with the state the webhook is in now. */
export async function revalidateWebhook(deps: WebhookDeps, appId: string, id: string) {
  const { webhook, result } = await validate(deps, await getWebhook(deps.db, appId, id), 'put')
  if (result.outcome !== 'pass') {
    throw crcFailed(
      result,
      webhook.url,
      webhook.valid
        ? '; the webhook is enabled, and its next check decides'
        : '; the webhook is invalid, and nothing is sent to it'
    )
  }
  return { attempted: true, valid: webhook.valid }
}

/** Ends deliveries, replays, subscriptions and links of the webhook with it. Its lane hears of it from a trigger. */
export async function deleteWebhook(db: Db, appId: string, id: string) {
  const deleted = await db
    .deleteFrom('webhooks')
    .where('app_id', '=', appId)
    .where('id', '=', id)
    .returning('id')
    .executeTakeFirst()
  if (!deleted) throw webhookIdInvalid(id)
  return { deleted: true }
}

/** One CRC and its consequence. Two at once: the row is locked while the outcome is applied, and the later one sees the earlier. */
export async function validate(
  deps: WebhookDeps,
  webhook: Webhook,
  cause: 'put' | 'tick' | 'replay',
  options: { autoRecover?: boolean } = {}
) {
  const { db, clock } = deps
  const result = await checkCrc(deps.crc, webhook.url_key, await deps.secrets(webhook.app_id))
  deps.measures.checked(cause, result.outcome)
  const nowMs = clock.now()
  const now = new Date(nowMs)
  const { updated, turned } = await db.transaction().execute(async (tx) => {
    await recordCheck(tx, { app_id: webhook.app_id, webhook_id: webhook.id, cause, url: webhook.url, ...result }, now)
    const current = await tx
      .selectFrom('webhooks')
      .selectAll()
      .where('app_id', '=', webhook.app_id)
      .where('id', '=', webhook.id)
      .forUpdate()
      .executeTakeFirst()
    if (!current) throw webhookIdInvalid(webhook.id)
    const reEnabled = cause === 'put' || (options.autoRecover === true && result.outcome === 'pass')
    const overdue = isOverdue(Date.parse(current.last_success_at), nowMs)
    const valid = stateAfterCrc(current.valid || reEnabled ? 'valid' : 'invalid', result.outcome, overdue) === 'valid'
    const changed = {
      valid,
      last_crc_at: now,
      last_crc_outcome: result.outcome,
      ...(result.outcome === 'pass' ? { last_success_at: now } : {}),
      ...(valid
        ? { invalid_since: null, invalid_reason: null }
        : current.valid || reEnabled
          ? { invalid_since: now, invalid_reason: invalidReason(result) }
          : {})
    }
    const updated = await tx
      .updateTable('webhooks')
      .set(changed)
      .where('app_id', '=', webhook.app_id)
      .where('id', '=', webhook.id)
      .returningAll()
      .executeTakeFirstOrThrow()
    const turned = updated.valid !== current.valid
    if (turned) await announceWebhookChange(tx, { app_id: webhook.app_id, webhook_id: webhook.id })
    await scheduleNextStep(tx, updated)
    return { updated, turned }
  })
  if (turned) deps.measures.turned(updated)
  return { webhook: updated, result }
}

const invalidReason = (result: CrcResult) => `${result.error}: ${result.detail}`.slice(0, 500)

/** Past 28 hours of failed checks: invalid, without another request. */
export async function expireWebhook(deps: WebhookDeps, webhook: Webhook) {
  const nowMs = deps.clock.now()
  const expired = await deps.db.transaction().execute(async (tx) => {
    const current = await tx
      .selectFrom('webhooks')
      .selectAll()
      .where('app_id', '=', webhook.app_id)
      .where('id', '=', webhook.id)
      .forUpdate()
      .executeTakeFirst()
    if (!current?.valid || !isOverdue(Date.parse(current.last_success_at), nowMs)) return undefined
    const updated = await tx
      .updateTable('webhooks')
      .set({
        valid: false,
        invalid_since: new Date(nowMs),
        invalid_reason: `NO_SUCCESS: no successful CRC for more than 28 hours; the last check was ${current.last_crc_outcome}`
      })
      .where('app_id', '=', webhook.app_id)
      .where('id', '=', webhook.id)
      .returningAll()
      .executeTakeFirstOrThrow()
    await announceWebhookChange(tx, { app_id: webhook.app_id, webhook_id: webhook.id })
    await scheduleNextStep(tx, updated)
    return updated
  })
  if (expired) deps.measures.turned(expired)
}

type Scheduled = Pick<Webhook, 'app_id' | 'id' | 'valid' | 'last_success_at' | 'last_crc_at'>

export const stepOf = (webhook: Scheduled) =>
  nextStep({
    valid: webhook.valid,
    lastSuccessMs: Date.parse(webhook.last_success_at),
    lastCrcMs: webhook.last_crc_at === null ? null : Date.parse(webhook.last_crc_at)
  })

async function scheduleNextStep(tx: Db, webhook: Scheduled) {
  await enqueue(
    tx,
    CRC_JOB,
    { app_id: webhook.app_id, webhook_id: webhook.id },
    { key: webhook.id, dueAt: stepOf(webhook).at, replaceDue: true }
  )
}

type CheckRow = {
  app_id: string
  webhook_id: string
  cause: 'create' | 'put' | 'tick' | 'replay'
  url: string
} & CrcResult

const recordCheck = (db: Db, check: CheckRow, now: Date) =>
  db
    .insertInto('crc_checks')
    .values({ ...check, id: newId(), created_at: now })
    .execute()
