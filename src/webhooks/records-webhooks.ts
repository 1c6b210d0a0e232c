/** What operators read of webhooks: why one is invalid, what waits for it, how it has answered lately. */
import { sql } from 'kysely'
import { type Clock, isoTime } from '../clock.ts'
import { notFound } from '../errors.ts'
import { page } from '../http/v2.ts'
import type { Db } from '../storage/db.ts'
import { type Bound, recordPage } from './record-pages.ts'
import { type PageQuery, reading } from './records.ts'
import { stepOf, type Webhook } from './webhooks.ts'

/** Counting stops here in lists; a webhook read alone is counted to the end. */
export const BACKLOG_COUNTED_MAX = 10_000
/** How a webhook has answered lately is told from so many of its newest deliveries. */
export const RECENT_DELIVERIES_MAX = 200
const RECENT_MS = 3_600_000
export const WEBHOOKS_PER_PAGE = 50
export const CHECKS_PER_PAGE = 50
const SCAN_CHECKS_MAX = 2_000

export const webhookNotFound = (id: string) => notFound('WEBHOOK_NOT_FOUND', `There is no webhook ${id}.`)

export interface WebhookFilter extends PageQuery {
  app_id?: string
  valid?: boolean
}

interface Traffic {
  backlog: number
  oldest_due_at: string | null
  recent_deliveries: number
  recent_attempts: number
  recent_delivered: number
}

export async function listWebhookRecords(db: Db, clock: Clock, { app_id, valid, ...query }: WebhookFilter) {
  const list = { name: 'webhooks', defaultResults: WEBHOOKS_PER_PAGE, idOf: ({ id }: Webhook) => id }
  const { data, meta } = await page(query, list, ({ before, after, limit }) => {
    let found = db.selectFrom('webhooks').selectAll()
    if (app_id !== undefined) found = found.where('app_id', '=', app_id)
    if (valid !== undefined) found = found.where('valid', '=', valid)
    if (before !== undefined) found = found.where('id', '<', before)
    if (after !== undefined) found = found.where('id', '>', after)
    return found
      .orderBy('id', after === undefined ? 'desc' : 'asc')
      .limit(limit)
      .execute()
  })
  return { data: await withTraffic(db, clock, data, BACKLOG_COUNTED_MAX + 1), meta }
}

/** By its id alone: operators see the webhooks of all apps. */
export async function getAnyWebhook(db: Db, id: string): Promise<Webhook> {
  const webhook = await db.selectFrom('webhooks').selectAll().where('id', '=', id).executeTakeFirst()
  if (!webhook) throw webhookNotFound(id)
  return webhook
}

export async function getWebhookRecord(db: Db, clock: Clock, id: string) {
  const [record] = await withTraffic(db, clock, [await getAnyWebhook(db, id)])
  return record!
}

async function withTraffic(db: Db, clock: Clock, webhooks: Webhook[], countMax?: number) {
  const recentSince = isoTime(clock.now() - RECENT_MS)
  const found = sql<Traffic>`
    select
      (select count(*)::int from (
        select from delivery_queue as queue where queue.app_id = w.app_id and queue.webhook_id = w.id
        ${countMax === undefined ? sql`` : sql`limit ${countMax}`}
      ) as counted) as backlog,
      least(
        (select min(due_at) from delivery_queue as q where q.app_id = w.app_id and q.webhook_id = w.id and not retry),
        (select min(due_at) from delivery_queue as q where q.app_id = w.app_id and q.webhook_id = w.id and retry)
      ) as oldest_due_at,
      recent.*
    from unnest(${webhooks.map(({ app_id }) => app_id)}::text[], ${webhooks.map(({ id }) => id)}::text[])
      with ordinality as w (app_id, id, position)
    cross join lateral (
      select count(distinct newest.id)::int as recent_deliveries, count(attempt.outcome)::int as recent_attempts,
        count(*) filter (where attempt.outcome = 'delivered')::int as recent_delivered
      from (
        select id, created_at from deliveries as d
        where d.app_id = w.app_id and d.webhook_id = w.id and d.created_at >= ${recentSince}
        order by created_at desc, id desc limit ${RECENT_DELIVERIES_MAX}
      ) as newest
      left join lateral (
        select outcome from attempts as a
        where a.app_id = w.app_id and a.webhook_id = w.id and a.outcome in ('delivered', 'retry', 'failed')
          and a.delivery_id = newest.id and a.created_at >= ${recentSince} and a.attempt > 0
        offset 0
      ) as attempt on true
    ) as recent
    order by w.position`
  const { rows } = await reading(db, (tx) => found.execute(tx))
  return webhooks.map((webhook, i) => {
    const { recent_attempts, recent_delivered, ...traffic } = rows[i]!
    const next = stepOf(webhook)
    return {
      ...webhook,
      ...traffic,
      backlog_counted_to_end: countMax === undefined || traffic.backlog < countMax,
      backlog: Math.min(traffic.backlog, countMax === undefined ? traffic.backlog : countMax - 1),
      recent_attempts,
      recent_delivered,
      success_rate: recent_attempts === 0 ? null : recent_delivered / recent_attempts,
      next_check_at: isoTime(next.at),
      next_check: next.what
    }
  })
}

export interface CheckFilter extends PageQuery {
  app_id?: string
  webhook_id?: string
  outcome?: string
}

/** Of one webhook by its key. */
export async function listChecksOf(db: Db, webhook: Webhook, query: PageQuery) {
  const list = { name: 'crc_checks of', defaultResults: CHECKS_PER_PAGE, idOf: ({ id }: { id: string }) => id }
  return page(query, list, ({ before, after, limit }) => {
    let found = db
      .selectFrom('crc_checks')
      .selectAll()
      .where('app_id', '=', webhook.app_id)
      .where('webhook_id', '=', webhook.id)
    if (before !== undefined) found = found.where('id', '<', before)
    if (after !== undefined) found = found.where('id', '>', after)
    return found
      .orderBy('id', after === undefined ? 'desc' : 'asc')
      .limit(limit)
      .execute()
  })
}

/** Of all apps, failed registrations among them: those have no webhook to be found by. */
export async function listChecks(db: Db, { app_id, webhook_id, outcome, max_results, pagination_token }: CheckFilter) {
  const load = ({ before, after, limit }: Bound) => {
    const mark = before ?? after
    let found = db.selectFrom('crc_checks').selectAll()
    if (mark) {
      const place = sql<string>`(${isoTime(mark.atMs)}::timestamptz, ${mark.id.toString()})`
      found = found.where(sql<string>`(created_at, id)`, after ? '>' : '<', place)
    }
    const direction = after ? 'asc' : 'desc'
    return found.orderBy('created_at', direction).orderBy('id', direction).limit(limit).execute()
  }
  type Check = Awaited<ReturnType<typeof load>>[number]
  const wanted = (check: Check) =>
    (app_id ?? check.app_id) === check.app_id &&
    (webhook_id ?? check.webhook_id) === check.webhook_id &&
    (outcome ?? check.outcome) === check.outcome
  return recordPage<Check>({
    name: 'crc_checks',
    size: max_results ?? CHECKS_PER_PAGE,
    token: pagination_token,
    markOf: ({ created_at, id }) => ({ atMs: Date.parse(created_at), id: BigInt(id) }),
    load,
    keep: {
      scanMax: SCAN_CHECKS_MAX,
      filter: async (rows) => rows.filter(wanted).map((row) => ({ row, kept: row }))
    }
  })
}
