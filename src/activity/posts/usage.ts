/** How many posts an app and its project got, by UTC day. Counted from what is stored, after the fact: see decisions/0085. */
import { sql } from 'kysely'
import { type Clock, isoTime } from '../../clock.ts'
import type { PrincipalApp } from '../../identity/principal.ts'
import type { Db } from '../../storage/db.ts'
import { defineJob } from '../../storage/jobs.ts'

export interface UsageDeps {
  db: Db
  clock: Clock
}

const DAY_MS = 86_400_000
const dayOf = (ms: number) => isoTime(ms).slice(0, 10)

/** Caps are by calendar month, UTC. */
const CAP_RESET_DAY = 1

export async function usageOf({ db, clock }: UsageDeps, { id, project_id, quotas }: PrincipalApp, days: number) {
  const now = clock.now()
  const firstDay = dayOf(now - (days - 1) * DAY_MS)
  const month = `${dayOf(now).slice(0, 7)}-01`
  const { rows } = await sql<{ day: string; app_id: string; posts: bigint }>`
    select to_char(day, 'YYYY-MM-DD') as day, app_id, posts from post_usage
    where project_id = ${project_id ?? id} and day >= least(${firstDay}::date, ${month}::date)
    order by day, app_id`.execute(db)
  const usage = (appId: string) =>
    rows
      .filter((row) => row.app_id === appId && row.day >= firstDay)
      .map(({ day, posts }) => ({ date: `${day}T00:00:00.000Z`, usage: Number(posts) }))
  const apps = [...new Set(rows.flatMap(({ app_id, day }) => (app_id !== '' && day >= firstDay ? app_id : [])))]
  const ofMonth = rows.filter((row) => row.app_id === '' && row.day >= month)
  return {
    cap_reset_day: CAP_RESET_DAY,
    daily_client_app_usage: apps.map((appId) => {
      const ofApp = usage(appId)
      return { client_app_id: appId, usage_result_count: ofApp.length, usage: ofApp }
    }),
    daily_project_usage: { project_id: project_id ?? id, usage: usage('') },
    ...(quotas.project_posts === undefined ? {} : { project_cap: quotas.project_posts }),
    project_id: project_id ?? id,
    project_usage: ofMonth.reduce((sum, { posts }) => sum + Number(posts), 0)
  }
}

/** Publishers that are not done yet; their events bear the time at which they began. */
const LAG_MS = 60_000
/** So much is counted in one transaction. */
const STEP_MS = 3_600_000
const KEPT_MS = 100 * DAY_MS

/** All deliveries of an event bear its time, so that steps through time never count a post of an event twice. */
export const countUsageJob = () =>
  defineJob('activity.count_usage', {
    everyMs: 300_000,
    run: async (_payload: object, { clock, signal, transaction }) => {
      const until = clock.now() - LAG_MS
      for (let counted = 0; counted < until && !signal.aborted; )
        counted = await transaction((tx) => countStep(tx, until, clock.now()))
    }
  })

/** Until when everything is counted now. */
async function countStep(tx: Db, until: number, now: number): Promise<number> {
  const from = await countedUntil(tx, until)
  if (from >= until) return from
  // Never across midnight: a step is of one day.
  const to = Math.min(from + STEP_MS, until, (Math.floor(from / DAY_MS) + 1) * DAY_MS)
  await sql`
    with told as (
      select id from events
      where created_at >= ${isoTime(from)} and created_at < ${isoTime(to)}
        and (event_type = 'post.create' or event_type like 'post.%.create')
    ), sent as (
      select distinct d.app_id, a.project_id, d.event_id
      from deliveries d join apps a on a.id = d.app_id
      where d.created_at >= ${isoTime(from)} and d.created_at < ${isoTime(to)} and a.project_id is not null
        -- Ids grow with time: this finds the few blocks of the table that are meant.
        and d.event_id >= (select min(id) from told) and d.event_id <= (select max(id) from told)
        and d.event_id in (select id from told)
    )
    insert into post_usage as u (project_id, day, app_id, posts)
    select project_id, ${dayOf(from)}::date, app_id, count(*) from sent group by project_id, app_id
    union all
    select project_id, ${dayOf(from)}::date, '', count(distinct event_id) from sent group by project_id
    on conflict (project_id, day, app_id) do update set posts = u.posts + excluded.posts`.execute(tx)
  await sql`update post_usage_progress set counted_until = ${isoTime(to)}`.execute(tx)
  await sql`delete from post_usage where day < ${dayOf(now - KEPT_MS)}::date`.execute(tx)
  return to
}

async function countedUntil(tx: Db, until: number): Promise<number> {
  const known = await sql<{ counted_until: string }>`select counted_until from post_usage_progress for update`.execute(
    tx
  )
  // The first time it begins with the oldest event that is kept.
  const { rows } = known.rows[0]
    ? known
    : await sql<{ counted_until: string }>`
        insert into post_usage_progress (counted_until)
        select coalesce((select min(created_at) from events), ${isoTime(until)})
        returning counted_until`.execute(tx)
  return Date.parse(rows[0]!.counted_until)
}
