/**
 * Who may send to which webhook. A node holds one lease, renewed while it lives; a lane belongs to a node and carries an
 * epoch that grows whenever it changes hands. See decisions/0022.
 */
import type { Database } from '../storage/db.ts'
import { newId } from '../storage/ids.ts'
import { type LaneKey, plainArray, textArray } from './log.ts'

/** A lane that was just taken. */
export interface TakenLane extends LaneKey {
  epoch: number
  url: string
  valid: boolean
}

export interface Lease {
  readonly nodeId: string
  /** Nodes whose lease is good, this one among them, as of the last renewal. */
  readonly nodes: readonly string[]
  /** Milliseconds that this node may still send, by a clock that also runs while the process is stopped. */
  remainingMs(): number
  join(): Promise<void>
  /** False when the lease was lost: every lane may belong to others now. */
  renew(): Promise<boolean>
  /** Takes those lanes that belong to no living node. */
  take(lanes: readonly LaneKey[]): Promise<TakenLane[]>
  /** Those that are still ours under their epoch, with their webhook as it is now. */
  look(lanes: readonly (LaneKey & { epoch: number })[]): Promise<TakenLane[]>
  giveBack(lanes: readonly (LaneKey & { epoch: number })[]): Promise<void>
  leave(): Promise<void>
  /** Whether any node is alive that sends. */
  anyNode(): Promise<boolean>
}

const TAKE = `
with taken as (
  insert into delivery_lanes as lane (app_id, webhook_id, node_id, epoch)
  select want.app_id, want.webhook_id, $3, 1
  from unnest($1::text[], $2::text[]) as want (app_id, webhook_id)
  join webhooks as webhook on webhook.app_id = want.app_id and webhook.id = want.webhook_id
  order by want.app_id, want.webhook_id
  on conflict (app_id, webhook_id) do update set node_id = excluded.node_id, epoch = lane.epoch + 1
    where lane.node_id is null or lane.node_id = excluded.node_id
  returning lane.app_id, lane.webhook_id, lane.epoch
)
select taken.app_id, taken.webhook_id, taken.epoch::int as epoch, webhook.url, webhook.valid
from taken join webhooks as webhook on webhook.app_id = taken.app_id and webhook.id = taken.webhook_id`

const LOOK = `
select lane.app_id, lane.webhook_id, lane.epoch::int as epoch, webhook.url, webhook.valid
from unnest($1::text[], $2::text[], $3::bigint[]) as want (app_id, webhook_id, epoch)
join delivery_lanes as lane on lane.app_id = want.app_id and lane.webhook_id = want.webhook_id and lane.epoch = want.epoch
join webhooks as webhook on webhook.app_id = lane.app_id and webhook.id = lane.webhook_id
where lane.node_id = $4`

const GIVE_BACK = `
update delivery_lanes as lane set node_id = null
from unnest($1::text[], $2::text[], $3::bigint[]) as want (app_id, webhook_id, epoch)
where lane.app_id = want.app_id and lane.webhook_id = want.webhook_id and lane.epoch = want.epoch and lane.node_id = $4`

/** Time for leases: the monotonic clock goes on while a process is stopped, the wall clock also while a machine sleeps. */
export interface LeaseClock {
  monotonic(): number
  wall(): number
}

const realTime: LeaseClock = { monotonic: () => performance.now(), wall: () => Date.now() }
const NEVER = { monotonic: 0, wall: 0 }

export function createLease(database: Database, leaseMs: number, time = realTime): Lease {
  const { pool } = database
  let nodeId = newId()
  let goodUntil = NEVER
  let nodes: string[] = []

  /** Taken before the database is asked, so that we stop before its lease ends, never after. */
  const leaseFromNow = () => ({ monotonic: time.monotonic() + leaseMs, wall: time.wall() + leaseMs })
  const epochs = (lanes: readonly { epoch: number }[]) => plainArray(lanes.map((lane) => lane.epoch))
  const keys = (lanes: readonly LaneKey[]) => [
    textArray(lanes.map((lane) => lane.app_id)),
    textArray(lanes.map((lane) => lane.webhook_id))
  ]

  return {
    get nodeId() {
      return nodeId
    },
    get nodes() {
      return nodes
    },
    remainingMs: () => Math.min(goodUntil.monotonic - time.monotonic(), goodUntil.wall - time.wall()),

    async join() {
      // A new name each time: whoever has seen the old one expire can never mistake us for it.
      nodeId = newId()
      const until = leaseFromNow()
      await pool.query(
        `insert into delivery_nodes (id, lease_until) values ($1, clock_timestamp() + make_interval(secs => $2))`,
        [nodeId, leaseMs / 1_000]
      )
      goodUntil = until
      nodes = [nodeId]
    },

    async renew() {
      const until = leaseFromNow()
      const { rowCount } = await pool.query(
        `update delivery_nodes set lease_until = clock_timestamp() + make_interval(secs => $2)
         where id = $1 and lease_until > clock_timestamp()`,
        [nodeId, leaseMs / 1_000]
      )
      if (rowCount === 0) {
        goodUntil = NEVER
        return false
      }
      goodUntil = until
      // Removing a node frees its lanes (foreign key). A node that renews in the same moment keeps both or loses both.
      await pool.query('delete from delivery_nodes where lease_until <= clock_timestamp()')
      const { rows } = await pool.query<{ id: string }>('select id from delivery_nodes order by id')
      nodes = rows.map((row) => row.id)
      return true
    },

    async take(lanes) {
      if (lanes.length === 0) return []
      return (await pool.query<TakenLane>(TAKE, [...keys(lanes), nodeId])).rows
    },

    async look(lanes) {
      if (lanes.length === 0) return []
      return (await pool.query<TakenLane>(LOOK, [...keys(lanes), epochs(lanes), nodeId])).rows
    },

    async giveBack(lanes) {
      if (lanes.length > 0) await pool.query(GIVE_BACK, [...keys(lanes), epochs(lanes), nodeId])
    },

    async leave() {
      goodUntil = NEVER
      await pool.query('delete from delivery_nodes where id = $1', [nodeId])
    },

    async anyNode() {
      const { rowCount } = await pool.query(
        'select 1 from delivery_nodes where lease_until > clock_timestamp() limit 1'
      )
      return rowCount === 1
    }
  }
}

/** Of several nodes, the one that a lane should belong to: the same answer everywhere, and little moves when one joins or leaves. */
export function preferredNode(nodes: readonly string[], webhookId: string): string | undefined {
  let best: string | undefined
  let bestScore = -1
  for (const node of nodes) {
    const score = hash(`${node}/${webhookId}`)
    if (score > bestScore || (score === bestScore && node > best!)) {
      best = node
      bestScore = score
    }
  }
  return best
}

/** FNV-1a with a final mix: ids differ only in their last digits, and every bit of the score must depend on those. */
function hash(text: string) {
  let h = 0x811c9dc5
  for (let i = 0; i < text.length; i++) h = Math.imul(h ^ text.charCodeAt(i), 0x01000193)
  h = Math.imul(h ^ (h >>> 16), 0x85ebca6b)
  h = Math.imul(h ^ (h >>> 13), 0xc2b2ae35)
  return (h ^ (h >>> 16)) >>> 0
}
