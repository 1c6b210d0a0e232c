/** Tells other nodes that a lane has work or a replay, or that a webhook has changed. Only wakes: the queue is searched anyway. */
import { sql } from 'kysely'
import type { Database, Db } from '../storage/db.ts'
import type { LaneKey } from './log.ts'

export const DELIVERIES_CHANNEL = 'herald_deliveries'
/** PostgreSQL takes less than 8,000 bytes per notification; a lane is at most 40. */
const LANES_PER_MESSAGE = 150
const WAIT_MS = 2

export interface Heard {
  what: 'work' | 'changed' | 'replay'
  lanes: LaneKey[]
}

const format = (what: Heard['what'], lanes: readonly LaneKey[]) =>
  `${what} ${lanes.map(({ app_id, webhook_id }) => `${app_id}/${webhook_id}`).join(',')}`

/** Nothing for a message that a newer node may send. */
export function parseWake(payload: string): Heard | undefined {
  const [, what, list] = /^(work|changed|replay) ([0-9/,]+)$/.exec(payload) ?? []
  if (!what || !list) return undefined
  const lanes = list.split(',').map((pair) => {
    const [app_id = '', webhook_id = ''] = pair.split('/')
    return { app_id, webhook_id }
  })
  return { what: what as Heard['what'], lanes }
}

/** For whoever changes `webhooks.valid`: call it in that transaction, and lanes learn at its commit. Deletions announce themselves. */
export async function announceWebhookChange(tx: Db, lane: LaneKey) {
  await sql`select pg_notify(${DELIVERIES_CHANNEL}, ${format('changed', [lane])})`.execute(tx)
}

export interface Wake {
  /** Collected for a moment, so that a burst of events is one message. */
  work(lanes: Iterable<LaneKey>): void
  replay(lane: LaneKey): void
  done(): Promise<void>
}

/** Errors are left alone: a node that does not hear of work finds it by searching. */
export function createWake({ pool }: Database): Wake {
  const waiting = new Map<string, LaneKey>()
  let timer: NodeJS.Timeout | undefined
  let sending: Promise<void> = Promise.resolve()

  async function send() {
    timer = undefined
    const lanes = [...waiting.values()]
    waiting.clear()
    const messages: string[] = []
    for (let i = 0; i < lanes.length; i += LANES_PER_MESSAGE) {
      messages.push(format('work', lanes.slice(i, i + LANES_PER_MESSAGE)))
    }
    await notify(messages)
  }

  const notify = (messages: string[]) =>
    pool.query('select pg_notify($1, message) from unnest($2::text[]) as message', [DELIVERIES_CHANNEL, messages]).then(
      () => {},
      () => {}
    )

  return {
    work(lanes) {
      for (const lane of lanes) waiting.set(lane.webhook_id, lane)
      if (waiting.size > 0) timer ??= setTimeout(() => (sending = send()), WAIT_MS)
    },
    replay(lane) {
      sending = notify([format('replay', [lane])])
    },
    async done() {
      if (timer) {
        clearTimeout(timer)
        sending = send()
      }
      await sending
    }
  }
}
