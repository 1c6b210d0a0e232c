/**
 * Fixed windows that start at the first request, counted in PostgreSQL and so shared by all nodes. A node reserves a small
 * share of a window at a time, so that most requests cost no query. See docs/decisions/0061-rate-limits.md.
 */
import type { Clock } from '../clock.ts'
import type { Database } from '../storage/db.ts'

export interface Limit {
  /** Quoted in docs/rate-limits.md and in HERALD_RATE_LIMIT_OVERRIDES. */
  name: string
  max: number
  windowSeconds: number
}

export interface Allowance {
  limit: number
  remaining: number
  /** Unix seconds at which the window ends. */
  reset: number
  refused: boolean
}

export interface RateLimiter {
  /** Counts one request of `subject` against `limit`. */
  take(limit: Limit, subject: string): Allowance | Promise<Allowance>
}

interface Share {
  endsAtMs: number
  /** Requests this node may still answer without asking the database. */
  left: number
  /** What was free beyond our share when we asked. */
  elsewhere: number
  asking: Promise<void> | null
}

const SHARES_KEPT_MAX = 50_000

export interface RateLimiterOptions {
  database: Database
  clock: Clock
  /** false: count and tell, never refuse. */
  enforce: boolean
  overrides: ReadonlyMap<string, number>
}

export function createRateLimiter({ database, clock, enforce, overrides }: RateLimiterOptions): RateLimiter {
  const shares = new Map<string, Share>()

  async function reserve(key: string, share: Share, max: number, windowSeconds: number) {
    // One in a hundred keeps small limits exact (a share of 1) and large ones cheap.
    const wanted = Math.max(1, Math.floor(max / 100))
    const now = new Date(clock.now())
    const { rows } = await database.pool.query<{ used: bigint; window_ends_at: string }>({
      name: 'rate_limits.reserve',
      text: `insert into rate_limits as r (key, window_ends_at, used) values ($1, $2::timestamptz + $3 * interval '1 second', $4)
        on conflict (key) do update set
          used = case when r.window_ends_at <= $2 then excluded.used else r.used + excluded.used end,
          window_ends_at = case when r.window_ends_at <= $2 then excluded.window_ends_at else r.window_ends_at end
        returning used, window_ends_at`,
      values: [key, now, windowSeconds, wanted]
    })
    const free = Math.max(0, max - (Number(rows[0]!.used) - wanted))
    share.left = Math.min(wanted, free)
    share.elsewhere = free - share.left
    share.endsAtMs = Date.parse(rows[0]!.window_ends_at)
  }

  function spend(share: Share, max: number): Allowance {
    const refused = share.left === 0
    if (!refused) share.left--
    return {
      limit: max,
      remaining: share.left + share.elsewhere,
      reset: Math.ceil(share.endsAtMs / 1000),
      refused: refused && enforce
    }
  }

  async function askThenSpend(key: string, share: Share, max: number, windowSeconds: number): Promise<Allowance> {
    while (share.left === 0) {
      share.asking ??= reserve(key, share, max, windowSeconds).finally(() => {
        share.asking = null
      })
      await share.asking
      if (share.left === 0 && share.elsewhere === 0) break
    }
    return spend(share, max)
  }

  return {
    take(limit, subject) {
      const max = overrides.get(limit.name) ?? limit.max
      const key = `${limit.name} ${subject}`
      const now = clock.now()
      let share = shares.get(key)
      if (!share || share.endsAtMs <= now) {
        if (shares.size > SHARES_KEPT_MAX) for (const [k, s] of shares) if (s.endsAtMs <= now) shares.delete(k)
        share = { endsAtMs: Number.POSITIVE_INFINITY, left: 0, elsewhere: max, asking: null }
        shares.set(key, share)
      }
      const exhausted = share.left === 0 && share.elsewhere === 0
      if (share.left > 0 || exhausted) return spend(share, max)
      return askThenSpend(key, share, max, limit.windowSeconds)
    }
  }
}
