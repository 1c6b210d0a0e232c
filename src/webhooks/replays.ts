/** Replay jobs: everything that was delivered, attempted or held in a past range, once each, oldest first. See decisions/0025. */
import { type Clock, isoTime } from '../clock.ts'
import { problemError } from '../http/problems.ts'
import { type Db, violatedConstraint } from '../storage/db.ts'
import { newId } from '../storage/ids.ts'
import type { LaneKey, NewDelivery } from './log.ts'

export type ReplayState = 'pending' | 'running' | 'complete' | 'incomplete'

declare module '../storage/db.ts' {
  interface Tables {
    replays: {
      app_id: string
      webhook_id: string
      id: string
      from_date: Time
      to_date: Time
      state: Defaulted<ReplayState>
      cursor_created_at: TimeOrNull
      cursor_id: string | null
      delivered: Defaulted<bigint>
      failed: Defaulted<bigint>
      created_at: Time
      started_at: TimeOrNull
      finished_at: TimeOrNull
      detail: string | null
    }
  }
}

export interface Replay extends LaneKey {
  id: string
  /** Deliveries of [from_date, to_date). */
  from_date: string
  to_date: string
  state: ReplayState
  cursor_created_at: string | null
  cursor_id: string | null
  delivered: bigint
  failed: bigint
  created_at: string
  started_at: string | null
  finished_at: string | null
  detail: string | null
}

export interface NewReplay extends LaneKey {
  fromMs: number
  toMs: number
}

/** The words that consumers of systems of this kind know. */
export const JOB_STATES = {
  complete: { job_state: 'Complete', job_state_description: 'Job completed successfully' },
  incomplete: {
    job_state: 'Incomplete',
    job_state_description: 'Job failed to deliver all events, please retry your replay job'
  }
} as const

export const replayInProgress = () => problemError('conflict', 'A replay job is already in progress for this webhook.')

/** Only one job may be in progress per webhook; another is a conflict. After the commit, call `engine.wakeReplay`. */
export async function createReplay(
  db: Db,
  clock: Clock,
  { app_id, webhook_id, fromMs, toMs }: NewReplay
): Promise<Replay> {
  try {
    return await db
      .insertInto('replays')
      .values({
        app_id,
        webhook_id,
        id: newId(),
        from_date: isoTime(fromMs),
        to_date: isoTime(toMs),
        created_at: isoTime(clock.now())
      })
      .returningAll()
      .executeTakeFirstOrThrow()
  } catch (error) {
    if (violatedConstraint(error) !== 'replays_in_progress') throw error
    throw replayInProgress()
  }
}

export const listReplays = (db: Db, { app_id, webhook_id }: LaneKey): Promise<Replay[]> =>
  db
    .selectFrom('replays')
    .selectAll()
    .where('app_id', '=', app_id)
    .where('webhook_id', '=', webhook_id)
    .orderBy('id', 'desc')
    .execute()

/** Signed and retried like any event. */
export function statusMessage(
  { app_id, webhook_id, id }: LaneKey & { id: string },
  state: keyof typeof JOB_STATES
): NewDelivery {
  const { job_state, job_state_description } = JOB_STATES[state]
  const body = JSON.stringify({ replay_job_status: { webhook_id, job_state, job_state_description, job_id: id } })
  return { app_id, webhook_id, kind: 'replay_status', body }
}
