/** Filtered-stream rules of an app: added and deleted many at a time, each with its own verdict. */
import { createHash } from 'node:crypto'
import { setImmediate as yieldToOthers } from 'node:timers/promises'
import { sql } from 'kysely'
import { type Clock, isoTime } from '../../clock.ts'
import { type Problem, problem, problemError } from '../../http/problems.ts'
import type { PrincipalApp } from '../../identity/principal.ts'
import type { Db } from '../../storage/db.ts'
import { newId } from '../../storage/ids.ts'
import { defineJob } from '../../storage/jobs.ts'
import { parseRule } from '../rules/index.ts'
import { RULES_CHANNEL, type RuleSet } from './rule-set.ts'

declare module '../../storage/db.ts' {
  interface Tables {
    filtered_rules: {
      app_id: string
      id: string
      value: string
      value_hash: Buffer
      tag: string | null
      created_at: Time
    }
    filtered_rule_counts: { app_id: string; rules: number }
  }
}

export interface RuleDeps {
  db: Db
  clock: Clock
  ruleSet: RuleSet
  problemTypeBase: string
  perAppMax: number
  perProjectMax: number
  charactersMax: number
}

export interface NewRule {
  value: string
  tag?: string
}

export interface StreamRule extends NewRule {
  id: string
}

export interface Added {
  data: StreamRule[]
  errors: Problem[]
  summary: { created: number; not_created: number; valid: number; invalid: number }
}

/** Values come back in errors, but not those of any length. */
const VALUE_SHOWN_CHARACTERS = 4_096
/** Rules read in one go before other requests get their turn. */
const RULES_PER_TURN = 100

export const hashOf = (value: string) => createHash('sha256').update(value).digest()

interface Draft extends StreamRule {
  hash: Buffer
}

/** One submitted rule: readable, the same as an earlier one of the call, or refused. */
type Read = { draft: Draft } | { twinOf: Draft } | { refused: Problem }

export async function addRules(deps: RuleDeps, app: PrincipalApp, rules: readonly NewRule[], dryRun: boolean) {
  const read = await readRules(deps, rules)
  const drafts = read.flatMap((each) => ('draft' in each ? each.draft : []))
  const { existing, fresh } = await deps.db.transaction().execute(async (tx) => {
    await lockRules(tx, app)
    const existing = await findByHash(tx, app.id, drafts)
    const fresh = drafts.filter(({ hash }) => !existing.has(hash.toString('hex')))
    if (fresh.length > 0) await refuseBeyondCap(tx, deps, app, fresh.length)
    if (!dryRun && fresh.length > 0) {
      await insertRules(tx, app.id, fresh, isoTime(deps.clock.now()))
      await changeCount(tx, app.id, fresh.length)
      const ids = fresh.map(({ id }) => id)
      await announce(tx, app.id, ids)
    }
    return { existing, fresh }
  })
  if (!dryRun && fresh.length > 0) await deps.ruleSet.refresh()
  const errors = read.flatMap((each): Problem[] => {
    if ('refused' in each) return [each.refused]
    const { value, id, hash } = 'draft' in each ? each.draft : each.twinOf
    const before = existing.get(hash.toString('hex')) ?? ('twinOf' in each ? id : undefined)
    return before === undefined
      ? []
      : [problem(deps.problemTypeBase, 'duplicate-rules', undefined, { value, id: before })]
  })
  const notCreated = rules.length - fresh.length
  return {
    data: fresh.map(({ hash: _, ...rule }) => rule),
    errors,
    summary: { created: fresh.length, not_created: notCreated, valid: fresh.length, invalid: notCreated }
  } satisfies Added
}

async function readRules({ problemTypeBase, charactersMax }: RuleDeps, rules: readonly NewRule[]): Promise<Read[]> {
  const read: Read[] = []
  const byValue = new Map<string, Draft>()
  for (const { value, tag } of rules) {
    if (read.length % RULES_PER_TURN === RULES_PER_TURN - 1) await yieldToOthers()
    const twinOf = byValue.get(value)
    const parsed = twinOf ? undefined : parseRule(value, { charactersMax })
    if (twinOf) read.push({ twinOf })
    else if (parsed?.ok) {
      const draft = { value, ...(tag === undefined ? {} : { tag }), id: newId(), hash: hashOf(value) }
      byValue.set(value, draft)
      read.push({ draft })
    } else {
      const details = parsed?.errors.map(({ message }) => message)
      const shown = value.slice(0, VALUE_SHOWN_CHARACTERS)
      read.push({ refused: problem(problemTypeBase, 'invalid-rules', undefined, { value: shown, details }) })
    }
  }
  return read
}

/** Changes to the rules of a project wait for each other, so that two at once cannot pass the cap together. */
const lockRules = (tx: Db, { id, project_id }: PrincipalApp) =>
  sql`select pg_advisory_xact_lock(hashtextextended(${`filtered_rules ${project_id ?? id}`}, 0))`.execute(tx)

async function findByHash(tx: Db, appId: string, drafts: readonly Draft[]) {
  if (drafts.length === 0) return new Map<string, string>()
  const { rows } = await sql<{ hash: string; id: string }>`
    select encode(value_hash, 'hex') as hash, id from filtered_rules
    where app_id = ${appId} and value_hash = any(${drafts.map(({ hash }) => hash)}::bytea[])`.execute(tx)
  return new Map(rows.map((row) => [row.hash, row.id]))
}

/** The whole call is refused: half a rule set is worse than the old one. */
async function refuseBeyondCap(tx: Db, deps: RuleDeps, app: PrincipalApp, more: number) {
  const { ofApp, ofProject } = await ruleCounts(tx, app)
  const caps = capsOf(deps, app)
  const exceeded =
    ofApp + more > caps.app
      ? `this app may have ${caps.app} rules and has ${ofApp}`
      : ofProject + more > caps.project
        ? `this project may have ${caps.project} rules and has ${ofProject}`
        : undefined
  if (exceeded) {
    throw problemError('rule-cap', `Adding ${more} rules is not possible: ${exceeded}. Nothing was added.`)
  }
}

const capsOf = (deps: RuleDeps, { quotas }: PrincipalApp) => ({
  app: quotas.rules ?? deps.perAppMax,
  project: quotas.project_rules ?? Math.max(deps.perProjectMax, quotas.rules ?? 0)
})

export async function ruleCounts(db: Db, app: PrincipalApp) {
  const { rows } = await sql<{ app_id: string; rules: number }>`
    select app_id, rules from filtered_rule_counts
    where app_id = ${app.id} or app_id in (select id from apps where project_id = ${app.project_id})
    order by app_id`.execute(db)
  return {
    apps: rows.filter((row) => row.rules > 0 || row.app_id === app.id),
    ofApp: rows.find((row) => row.app_id === app.id)?.rules ?? 0,
    ofProject: rows.reduce((sum, row) => sum + row.rules, 0)
  }
}

async function insertRules(tx: Db, appId: string, drafts: readonly Draft[], createdAt: string) {
  await sql`
    insert into filtered_rules (app_id, id, value, value_hash, tag, created_at)
    select ${appId}, id, value, hash, tag, ${createdAt}
    from unnest(${drafts.map(({ id }) => id)}::text[], ${drafts.map(({ value }) => value)}::text[],
      ${drafts.map(({ hash }) => hash)}::bytea[], ${drafts.map(({ tag }) => tag ?? null)}::text[]) as t (id, value, hash, tag)`.execute(
    tx
  )
}

async function changeCount(tx: Db, appId: string, by: number) {
  await sql`
    insert into filtered_rule_counts as c (app_id, rules) values (${appId}, greatest(${by}, 0))
    on conflict (app_id) do update set rules = c.rules + ${by}`.execute(tx)
}

/** What was added; deletions announce themselves. */
async function announce(tx: Db, appId: string, ruleIds: readonly string[]) {
  await sql`insert into filtered_rule_changes (app_id, rule_id) select ${appId}, unnest(${ruleIds}::text[])`.execute(tx)
  await sql`select pg_notify(${RULES_CHANNEL}, '')`.execute(tx)
}

export interface Deleted {
  summary: { deleted: number; not_deleted: number }
  errors: Problem[]
}

export type RulesToDelete = { ids: readonly string[] } | { values: readonly string[] } | 'all'

export async function deleteRules(deps: RuleDeps, app: PrincipalApp, what: RulesToDelete, dryRun: boolean) {
  const found = await deps.db.transaction().execute(async (tx) => {
    await lockRules(tx, app)
    const which =
      what === 'all'
        ? sql``
        : 'ids' in what
          ? sql`and id = any(${what.ids}::text[])`
          : sql`and value_hash = any(${what.values.map(hashOf)}::bytea[])`
    const { rows } = dryRun
      ? await sql<StreamRule>`select id, value from filtered_rules where app_id = ${app.id} ${which}`.execute(tx)
      : await sql<StreamRule>`delete from filtered_rules where app_id = ${app.id} ${which} returning id, value`.execute(
          tx
        )
    // Whatever deletes a rule, a trigger tells the nodes.
    if (!dryRun && rows.length > 0) await changeCount(tx, app.id, -rows.length)
    return rows
  })
  if (!dryRun && found.length > 0) await deps.ruleSet.refresh()
  const missing = what === 'all' ? [] : missingFrom(found, what)
  return {
    summary: { deleted: found.length, not_deleted: missing.length },
    errors: missing.map(([name, value]) => ({
      ...problem(deps.problemTypeBase, 'invalid-request', 'One or more parameters to your request was invalid.'),
      errors: [{ message: 'Rule does not exist', parameters: { [name]: [value.slice(0, VALUE_SHOWN_CHARACTERS)] } }]
    }))
  } satisfies Deleted
}

function missingFrom(found: readonly StreamRule[], what: Exclude<RulesToDelete, 'all'>): [string, string][] {
  const [name, key, asked] =
    'ids' in what ? (['id', 'id', what.ids] as const) : (['value', 'value', what.values] as const)
  const known = new Set(found.map((rule) => rule[key]))
  return [...new Set(asked)].filter((each) => !known.has(each)).map((each) => [name, each])
}

export interface ListedRules {
  before?: string
  after?: string
  limit: number
  ids?: readonly string[]
}

export async function listRules(db: Db, appId: string, { before, after, limit, ids }: ListedRules) {
  let query = db.selectFrom('filtered_rules').select(['id', 'value', 'tag']).where('app_id', '=', appId)
  if (before !== undefined) query = query.where('id', '<', before)
  if (after !== undefined) query = query.where('id', '>', after)
  if (ids) query = query.where('id', 'in', ids)
  const rows = await query
    .orderBy('id', after === undefined ? 'desc' : 'asc')
    .limit(limit)
    .execute()
  return rows.map(({ tag, ...rule }): StreamRule => (tag === null ? rule : { ...rule, tag }))
}

export async function countRules(deps: RuleDeps, app: PrincipalApp) {
  const { apps, ofApp, ofProject } = await ruleCounts(deps.db, app)
  const caps = capsOf(deps, app)
  return {
    cap_per_client_app: caps.app,
    cap_per_project: caps.project,
    project_rules_count: ofProject,
    client_app_rules_count: { client_app_id: app.id, rule_count: ofApp },
    all_project_client_apps: apps.map(({ app_id, rules }) => ({ client_app_id: app_id, rule_count: rules }))
  }
}

/** Nodes that could not follow for longer than half of this compare everything. */
export const forgetRuleChangesJob = () =>
  defineJob('activity.forget_rule_changes', {
    everyMs: 3_600_000,
    run: async (_payload: object, { database }) => {
      await sql`delete from filtered_rule_changes where changed_at < now() - interval '1 hour'`.execute(database.db)
    }
  })
