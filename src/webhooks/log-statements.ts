/** The SQL of log.ts. Every statement works on a batch; none is sent per delivery. */
import { planOnce } from '../storage/db.ts'

/** $1..$7 columns of the deliveries, $8 their time, $9 all bodies end to end. Answers with the ids that were not queued. */
export const APPEND = planOnce(
  'append',
  `
with input as (
  select * from unnest($1::text[], $2::text[], $3::text[], $4::text[], $5::text[], $6::int[], $7::int[])
    as input (app_id, webhook_id, id, event_id, kind, body_start, body_bytes)
), known as (
  select input.*, webhook.valid from input
  join webhooks as webhook on webhook.app_id = input.app_id and webhook.id = input.webhook_id
), stored as (
  insert into deliveries (created_at, app_id, webhook_id, id, event_id, kind, body)
  select $8::timestamptz, app_id, webhook_id, id, event_id, kind, substring($9::bytea from body_start for body_bytes)
  from known
), queued as (
  insert into delivery_queue (due_at, created_at, app_id, webhook_id, delivery_id)
  select $8::timestamptz, $8::timestamptz, app_id, webhook_id, id from known where valid
), held as (
  insert into attempts (created_at, delivery_created_at, outcome, cause, attempt, app_id, webhook_id, delivery_id,
    error, detail)
  select $8::timestamptz, $8::timestamptz, 'held', 'live', 0, app_id, webhook_id, id, 'webhook_invalid',
    'The webhook was invalid when the event arrived; a replay can send it'
  from known where not valid
)
select input.id from input left join known on known.id = input.id where known.valid is not true`
)

/**
 * A walk over the first two columns of the queue's key, one step per lane. $1 now.
 * A lane's first row is a first attempt if it has one, because false sorts before true.
 */
export const WAITING = `
with recursive lanes as (
  (select app_id, webhook_id from delivery_queue order by app_id, webhook_id limit 1)
  union all
  select next.app_id, next.webhook_id from lanes cross join lateral (
    select queue.app_id, queue.webhook_id from delivery_queue as queue
    where (queue.app_id, queue.webhook_id) > (lanes.app_id, lanes.webhook_id)
    order by queue.app_id, queue.webhook_id limit 1
  ) as next
)
select lanes.app_id, lanes.webhook_id, lane.node_id, fresh.due_at as fresh_at, again.due_at as retry_at
from lanes
left join delivery_lanes as lane on lane.app_id = lanes.app_id and lane.webhook_id = lanes.webhook_id
left join lateral (
  select due_at from delivery_queue as queue
  where queue.app_id = lanes.app_id and queue.webhook_id = lanes.webhook_id and not retry and due_at <= $1
  order by due_at limit 1
) as fresh on true
left join lateral (
  select due_at from delivery_queue as queue
  where queue.app_id = lanes.app_id and queue.webhook_id = lanes.webhook_id and retry
  order by due_at limit 1
) as again on true`

/** $1 apps, $2 webhooks, $3 retries or first attempts, $4 how many of each, $5 now, $6 ids the caller already has. */
export const CLAIM = `
select queue.app_id, queue.webhook_id, queue.delivery_id as id, queue.created_at, queue.due_at, queue.retry,
  queue.attempts, queue.cause, delivery.body
from unnest($1::text[], $2::text[], $3::boolean[], $4::int[]) as want (app_id, webhook_id, retry, count)
join webhooks as webhook on webhook.app_id = want.app_id and webhook.id = want.webhook_id and webhook.valid
cross join lateral (
  select * from delivery_queue as row
  where row.app_id = want.app_id and row.webhook_id = want.webhook_id and row.retry = want.retry and row.due_at <= $5
    and row.delivery_id not in (select unnest($6::text[]))
  order by row.due_at, row.delivery_id limit want.count
) as queue
join deliveries as delivery on delivery.app_id = queue.app_id and delivery.webhook_id = queue.webhook_id
  and delivery.created_at = queue.created_at and delivery.id = queue.delivery_id
order by queue.due_at, queue.delivery_id`

const DONE = `
  $1::text[], $2::text[], $3::boolean[], $4::timestamptz[], $5::text[], $6::bigint[], $7::timestamptz[], $8::int[]`
const DONE_COLUMNS = 'app_id, webhook_id, retry, due_at, delivery_id, epoch, started_at, latency_ms'

/**
 * Only what was sent under the epoch that its lane has now. Materialised, because joined to the lanes the planner may look up
 * the queue by webhook alone, and read a whole backlog for every row.
 */
const OURS = `
  select done.* from done
  join delivery_lanes as lane
    on lane.app_id = done.app_id and lane.webhook_id = done.webhook_id and lane.epoch = done.epoch`

/** Only the very row that was sent. */
const TAKEN_OFF = `
  delete from delivery_queue as queue using ours
  where queue.app_id = ours.app_id and queue.webhook_id = ours.webhook_id and queue.retry = ours.retry
    and queue.due_at = ours.due_at and queue.delivery_id = ours.delivery_id`

export const COMPLETE_DELIVERED = `
with done as (
  select * from unnest(${DONE}) as done (${DONE_COLUMNS})
), ours as materialized (${OURS}
), gone as (${TAKEN_OFF}
  returning ours.*, queue.created_at, queue.attempts, queue.cause
), recorded as (
  insert into attempts (created_at, delivery_created_at, latency_ms, outcome, cause, attempt, status,
    app_id, webhook_id, delivery_id)
  select started_at, created_at, latency_ms, 'delivered', cause, attempts + 1, 200, app_id, webhook_id, delivery_id
  from gone
)
select count(*)::int as count from gone`

/** $9 outcome, $10 status, $11 error, $12 detail, $13 response, $14 the next time for those that get one. */
export const COMPLETE_OTHERS = `
with done as (
  select * from unnest(${DONE}, $9::delivery_outcome[], $10::smallint[], $11::text[], $12::text[], $13::text[],
    $14::timestamptz[]) as done (${DONE_COLUMNS}, outcome, status, error, detail, response, next_attempt_at)
), ours as materialized (${OURS}
), gone as (${TAKEN_OFF}
  returning ours.*, queue.created_at, queue.attempts, queue.cause
), again as (
  insert into delivery_queue (due_at, created_at, app_id, webhook_id, delivery_id, attempts, cause, retry)
  select next_attempt_at, created_at, app_id, webhook_id, delivery_id, attempts + 1, cause, true
  from gone where next_attempt_at is not null
), recorded as (
  insert into attempts (created_at, delivery_created_at, next_attempt_at, latency_ms, outcome, cause, attempt, status,
    app_id, webhook_id, delivery_id, error, detail, response)
  select started_at, created_at, next_attempt_at, latency_ms, outcome, cause, attempts + 1, status,
    app_id, webhook_id, delivery_id, error, detail, response from gone
)
select count(*)::int as count from gone`

/** $1 app, $2 webhook, $3 now, $4 rows at most, $5 ids that are in flight: their answers are still to be recorded. */
export const HOLD = `
with gone as (
  delete from delivery_queue where ctid = any(array(
    select queue.ctid from delivery_queue as queue
    where queue.app_id = $1 and queue.webhook_id = $2 and queue.delivery_id not in (select unnest($5::text[]))
      and exists (select from webhooks as webhook where webhook.app_id = $1 and webhook.id = $2 and not webhook.valid)
    limit $4
  )) returning *
)
insert into attempts (created_at, delivery_created_at, outcome, cause, attempt, app_id, webhook_id, delivery_id,
  error, detail)
select $3, created_at, 'held', cause, 0, app_id, webhook_id, delivery_id, 'webhook_invalid',
  'The webhook became invalid before this was acknowledged; a replay can send it'
from gone`

export const FORGET_ORPHANS = `
delete from delivery_queue where app_id = $1 and webhook_id = $2
  and not exists (select from webhooks where app_id = $1 and id = $2)`

/** $1 the oldest time that is kept, $2 now. */
export const EXPIRE = `
with gone as (
  delete from delivery_queue where created_at < $1 returning *
)
insert into attempts (created_at, delivery_created_at, outcome, cause, attempt, app_id, webhook_id, delivery_id,
  error, detail)
select $2, created_at, 'failed', cause, 0, app_id, webhook_id, delivery_id, 'expired',
  'Not acknowledged before its record was due to be dropped'
from gone`

export const PRUNE_REPLAYS = "delete from replays where created_at < $1 and state in ('complete', 'incomplete')"

/**
 * $1 app, $2 webhook, $3 from (or the time of the last one read), $4 to, $5 the id of the last one read, $6 rows at most.
 * What waits for its first attempt is left to its lane. Messages about replays are not events. Not "not exists": that becomes
 * a join, and the planner may then read all of the webhook's rows for each.
 */
const RANGE = `
select delivery.id, delivery.created_at, delivery.body from deliveries as delivery
where delivery.app_id = $1 and delivery.webhook_id = $2
  and delivery.created_at >= $3 and delivery.created_at < $4 and (delivery.created_at, delivery.id) > ($3, $5)
  and delivery.kind <> 'replay_status'
  and (
    select true from delivery_queue as queue
    where queue.app_id = delivery.app_id and queue.webhook_id = delivery.webhook_id and not queue.retry
      and queue.due_at = delivery.created_at and queue.delivery_id = delivery.id and queue.cause = 'live' limit 1
  ) is null`
const RANGE_ORDER = ' order by delivery.created_at, delivery.id limit $6'

export const READ_RANGE = RANGE + RANGE_ORDER

/** $7 the job, $8 when it began. */
export const READ_RANGE_AGAIN = `${RANGE}
  and (
    select true from attempts as attempt
    where attempt.app_id = delivery.app_id and attempt.webhook_id = delivery.webhook_id
      and attempt.outcome in ('delivered', 'failed') and attempt.delivery_id = delivery.id
      and attempt.replay_id = $7 and attempt.created_at >= $8 limit 1
  ) is null${RANGE_ORDER}`

/**
 * $1 app, $2 webhook, $3 epoch, $4 job, $5 when it began, $6 and $7 the cursor after these, $8.. what became of each.
 * Attempts, counts and cursor are one change, and none is made twice, however often it is asked.
 */
export const RECORD_REPLAYED = `
with lane as (
  select from delivery_lanes where app_id = $1 and webhook_id = $2 and epoch = $3
), done as (
  select * from unnest($8::text[], $9::timestamptz[], $10::timestamptz[], $11::int[], $12::delivery_outcome[],
    $13::smallint[], $14::text[], $15::text[], $16::text[])
    as done (delivery_id, created_at, started_at, latency_ms, outcome, status, error, detail, response)
), recorded as (
  insert into attempts (created_at, delivery_created_at, latency_ms, outcome, cause, attempt, status,
    app_id, webhook_id, delivery_id, replay_id, error, detail, response)
  select started_at, created_at, latency_ms, outcome, 'replay', 1, status, $1, $2, delivery_id, $4, error, detail, response
  from done where exists (select from lane) and (
    select true from attempts as attempt
    where attempt.app_id = $1 and attempt.webhook_id = $2 and attempt.outcome in ('delivered', 'failed')
      and attempt.delivery_id = done.delivery_id and attempt.replay_id = $4 and attempt.created_at >= $5 limit 1
  ) is null
  returning outcome
)
update replays set cursor_created_at = $6, cursor_id = $7,
  delivered = delivered + (select count(*) from recorded where outcome = 'delivered'),
  failed = failed + (select count(*) from recorded where outcome = 'failed')
where app_id = $1 and webhook_id = $2 and id = $4 and state = 'running' and exists (select from lane)`
