/** What operators read of replay jobs. */
import { notFound } from '../errors.ts'
import { page } from '../http/v2.ts'
import type { Db } from '../storage/db.ts'
import type { PageQuery } from './records.ts'
import type { Replay, ReplayState } from './replays.ts'

export interface ReplayFilter extends PageQuery {
  app_id?: string
  webhook_id?: string
  state?: ReplayState
}

/** By time: how much of the range lies behind. Counting what is left would cost as much as sending it. */
export function progressOf({ finished_at, detail, from_date, to_date, cursor_created_at }: Replay): number {
  // A job that ended early says why.
  if (finished_at !== null && detail === null) return 1
  if (cursor_created_at === null) return 0
  const from = Date.parse(from_date)
  const done = (Date.parse(cursor_created_at) - from) / (Date.parse(to_date) - from)
  return Math.round(done * 1_000) / 1_000
}

const withProgress = (replay: Replay) => ({ ...replay, progress: progressOf(replay) })

export async function listReplayRecords(db: Db, { app_id, webhook_id, state, ...query }: ReplayFilter) {
  const list = { name: 'replays', defaultResults: 50, idOf: ({ id }: Replay) => id }
  const { data, meta } = await page(query, list, ({ before, after, limit }) => {
    let found = db.selectFrom('replays').selectAll()
    if (app_id !== undefined) found = found.where('app_id', '=', app_id)
    if (webhook_id !== undefined) found = found.where('webhook_id', '=', webhook_id)
    if (state !== undefined) found = found.where('state', '=', state)
    if (before !== undefined) found = found.where('id', '<', before)
    if (after !== undefined) found = found.where('id', '>', after)
    return found
      .orderBy('id', after === undefined ? 'desc' : 'asc')
      .limit(limit)
      .execute()
  })
  return { data: data.map(withProgress), meta }
}

export async function getReplayRecord(db: Db, id: string) {
  const replay = await db.selectFrom('replays').selectAll().where('id', '=', id).executeTakeFirst()
  if (!replay) throw notFound('REPLAY_NOT_FOUND', `There is no replay job ${id}.`)
  return withProgress(replay)
}
