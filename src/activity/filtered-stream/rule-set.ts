/**
 * All rules of all apps on this node, ready to match, and following the database: a notification or a poll says that
 * something changed, the change log says what. Matching never waits for that. See decisions/0036.
 */
import { setImmediate as yieldToOthers } from 'node:timers/promises'
import pg from 'pg'
import type { Database } from '../../storage/db.ts'
import type { Listener } from '../../storage/listen.ts'
import type { Log } from '../../storage/log.ts'
import { createRuleEngine, type MatchedRule, type PostView, parseRule, type Rule } from '../rules/index.ts'

export const RULES_CHANNEL = 'herald_rules'

const POLL_MS = 10_000
const PAGE_RULES = 2_000
/** Rules read in one go before others get their turn. */
const RULES_PER_TURN = 100
/** Changes are kept for an hour; a node that could not follow for longer than this compares everything. */
const FOLLOW_WITHIN_MS = 30 * 60_000

export interface RuleMeta {
  tag: string | null
  /** The rule itself, if what it delivers depends on it. */
  embedding?: Rule
}
export type Matched = MatchedRule<RuleMeta>

export interface RuleSet {
  /** Begins to load, if nobody has; resolves when every rule that existed at the call is there. Never uses the pool. */
  ready(): Promise<void>
  /** Resolves when the changes that are committed by now are in force here. */
  refresh(): Promise<void>
  /** The rules that match, by app. Only after `ready`. */
  match(post: PostView): Map<string, Matched[]>
  /** Rules held, of all apps. */
  readonly size: number
  stop(): void
}

interface RuleRow {
  app_id: string
  id: string
  value: string | null
  tag: string | null
}

const CHANGES = `
  select pg_snapshot_xmin(pg_current_snapshot())::text as xmin, c.app_id, c.rule_id as id, r.value, r.tag
  from (values (true)) as always
  left join filtered_rule_changes c on c.xid >= $1::xid8
  left join filtered_rules r on r.app_id = c.app_id and r.id = c.rule_id`

export interface RuleSetOptions {
  database: Database
  listener: Listener
  log: Log
}

export function createRuleSet({ database, listener, log }: RuleSetOptions): RuleSet {
  const engine = createRuleEngine<RuleMeta>()
  /** Ids of all rules in the engine. */
  const held = new Set<string>()
  const stops: (() => void)[] = []
  let loading: Promise<void> | undefined
  let loaded = false
  let stopped = false
  /** Every change of a transaction below this one is known here. */
  let xmin = '0'
  let followedAt = 0
  let running: Promise<void> | undefined
  let queued: Promise<void> | undefined

  function put({ app_id, id, value, tag }: RuleRow) {
    if (value === null) return remove(id)
    // Rules are never edited.
    if (held.has(id)) return
    const parsed = parseRule(value, { charactersMax: Number.POSITIVE_INFINITY })
    if (!parsed.ok) return log.warn({ app_id, rule_id: id }, 'a stored rule can no longer be read')
    const { rule, info } = parsed
    held.add(id)
    engine.add(id, rule, { owner: app_id, meta: { tag, ...(info.embedding ? { embedding: rule } : {}) } })
  }

  function remove(id: string) {
    held.delete(id)
    engine.remove(id)
  }

  async function putAll(rows: readonly RuleRow[]) {
    for (let at = 0; at < rows.length; at += RULES_PER_TURN) {
      for (const row of rows.slice(at, at + RULES_PER_TURN)) put(row)
      if (at + RULES_PER_TURN < rows.length) await yieldToOthers()
    }
  }

  /** On a connection of its own: publishers wait for it while they hold theirs. */
  async function load() {
    const client = new pg.Client(database.connection)
    client.on('error', () => {})
    await client.connect()
    try {
      await client.query('begin isolation level repeatable read read only')
      const { rows } = await client.query<{ xmin: string }>(
        'select pg_snapshot_xmin(pg_current_snapshot())::text as xmin'
      )
      const known = new Set<string>()
      for (let last: RuleRow | undefined; ; ) {
        const page: pg.QueryResult<RuleRow> = await client.query(
          `select app_id, id, value, tag from filtered_rules where (app_id, id) > ($1, $2) order by app_id, id limit ${PAGE_RULES}`,
          [last?.app_id ?? '', last?.id ?? '']
        )
        await putAll(page.rows)
        for (const { id } of page.rows) known.add(id)
        last = page.rows.at(-1)
        if (page.rows.length < PAGE_RULES) break
      }
      for (const id of held) if (!known.has(id)) remove(id)
      xmin = rows[0]!.xmin
      followedAt = performance.now()
    } finally {
      await client.end().catch(() => {})
    }
  }

  async function follow() {
    if (performance.now() - followedAt > FOLLOW_WITHIN_MS) return load()
    const { rows } = await database.pool.query<RuleRow & { xmin: string }>({
      name: 'filtered_rules.changes',
      text: CHANGES,
      values: [xmin]
    })
    await putAll(rows.filter((row) => row.id !== null))
    xmin = rows[0]!.xmin
    followedAt = performance.now()
  }

  /** A run that began before the call may have missed what the caller knows of; the next one cannot. */
  function refresh(): Promise<void> {
    if (!running) {
      running = follow().finally(() => {
        running = undefined
      })
      return running
    }
    queued ??= running
      .catch(() => {})
      .then(() => {
        queued = undefined
        return refresh()
      })
    return queued
  }

  const refreshLater = () => {
    if (loaded && !stopped) refresh().catch((error) => log.debug({ err: error }, 'rules not refreshed; trying later'))
  }

  async function start() {
    // Heard from before the first look, so that nothing falls in between.
    stops.push(listener.on(RULES_CHANNEL, refreshLater), listener.onReconnect(refreshLater))
    const poll = setInterval(refreshLater, POLL_MS).unref()
    stops.push(() => clearInterval(poll))
    await listener.ready()
    await load()
    loaded = true
  }

  return {
    ready() {
      loading ??= start().catch((error) => {
        for (const stop of stops.splice(0)) stop()
        loading = undefined
        throw error
      })
      return loading
    },
    async refresh() {
      if (!loading) return
      await loading
      await refresh()
    },
    match: (post) => engine.matchByOwner(post),
    get size() {
      return engine.size
    },
    stop() {
      stopped = true
      for (const stop of stops.splice(0)) stop()
    }
  }
}
