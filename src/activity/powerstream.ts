/** Powerstream rules: kept, listed and checked; the powerstream itself is no part of the documents (decisions/0039). */
import type { FastifyInstance } from 'fastify'
import { sql } from 'kysely'
import { type Static, Type } from 'typebox'
import { type Clock, isoTime } from '../clock.ts'
import { APP_ONLY, type AppPrincipal } from '../http/auth.ts'
import { type Problem, problem, problemError } from '../http/problems.ts'
import { Data, Id } from '../http/v2.ts'
import type { Db } from '../storage/db.ts'
import { newId } from '../storage/ids.ts'
import { hashOf } from './filtered-stream/rules.ts'
import { parseRule } from './rules/index.ts'

const POWERSTREAM_RULES_MAX = 1_000
const RULES_PER_CALL_MAX = 100

export interface PowerstreamDeps {
  db: Db
  clock: Clock
  problemTypeBase: string
}

interface PowerstreamRule {
  id: string
  value: string
  tag?: string
}

const asRule = ({ tag, ...rule }: { id: string; value: string; tag: string | null }): PowerstreamRule =>
  tag === null ? rule : { ...rule, tag }

export async function listPowerstreamRules(db: Db, appId: string) {
  const { rows } = await sql<{ id: string; value: string; tag: string | null }>`
    select id, value, tag from powerstream_rules where app_id = ${appId} order by id desc`.execute(db)
  return { rules: rows.map(asRule) }
}

export async function addPowerstreamRules(
  { db, clock, problemTypeBase }: PowerstreamDeps,
  appId: string,
  rules: readonly { value: string; tag?: string }[]
) {
  const errors: Problem[] = []
  const readable = rules.filter(({ value }) => {
    const parsed = parseRule(value)
    if (parsed.ok) return true
    const details = parsed.errors.map(({ message }) => message)
    errors.push(problem(problemTypeBase, 'invalid-rules', undefined, { value: value.slice(0, 4_096), details }))
    return false
  })
  const added = await db.transaction().execute(async (tx) => {
    // Additions of one app wait for each other, so that two at once cannot pass the cap together.
    await sql`select 1 from apps where id = ${appId} for update`.execute(tx)
    const rows: PowerstreamRule[] = []
    for (const { value, tag } of readable) {
      const { rows: inserted } = await sql<{ id: string; value: string; tag: string | null }>`
        insert into powerstream_rules (app_id, id, value, value_hash, tag, created_at)
        values (${appId}, ${newId()}, ${value}, ${hashOf(value)}, ${tag ?? null}, ${isoTime(clock.now())})
        on conflict on constraint powerstream_rules_value do nothing returning id, value, tag`.execute(tx)
      if (inserted[0]) rows.push(asRule(inserted[0]))
      else {
        const { rows: existing } = await sql<{ id: string }>`
          select id from powerstream_rules where app_id = ${appId} and value_hash = ${hashOf(value)}`.execute(tx)
        errors.push(problem(problemTypeBase, 'duplicate-rules', undefined, { value, id: existing[0]!.id }))
      }
    }
    const { rules: all } = await listPowerstreamRules(tx, appId)
    if (all.length > POWERSTREAM_RULES_MAX)
      throw problemError('rule-cap', `A powerstream may have ${POWERSTREAM_RULES_MAX} rules. Nothing was added.`)
    return rows
  })
  return { data: { rules: added }, ...(errors.length > 0 ? { errors } : {}) }
}

export async function deletePowerstreamRules(
  db: Db,
  appId: string,
  rules: readonly { id?: string; value?: string }[]
): Promise<{ deleted: number; not_deleted: number }> {
  const ids = rules.flatMap(({ id }) => id ?? [])
  const hashes = rules.flatMap(({ id, value }) => (id === undefined && value !== undefined ? hashOf(value) : []))
  const { rows } = await sql<{ id: string }>`
    delete from powerstream_rules
    where app_id = ${appId} and (id = any(${ids}::text[]) or value_hash = any(${hashes}::bytea[])) returning id`.execute(
    db
  )
  return { deleted: rows.length, not_deleted: Math.max(0, rules.length - rows.length) }
}

const closed = { additionalProperties: false }
const Value = Type.String({ minLength: 1 })
const Tag = Type.Optional(Type.String({ maxLength: 255 }))
const Rules = Type.Object({ rules: Type.Array(Type.Object({ id: Id, value: Value, tag: Tag })) })
const bounds = { minItems: 1, maxItems: RULES_PER_CALL_MAX }
const NewRules = Type.Object({ rules: Type.Array(Type.Object({ value: Value, tag: Tag }, closed), bounds) }, closed)
const OldRules = Type.Object(
  {
    rules: Type.Array(Type.Object({ id: Type.Optional(Id), value: Type.Optional(Value), tag: Tag }, closed), bounds)
  },
  closed
)
const tags = ['powerstream']
const config = {
  accepts: APP_ONLY,
  product: 'powerstream' as const,
  limit: { name: 'v2.powerstream.rules', max: 50, windowSeconds: 86_400 }
}

export function powerstreamRoutes(app: FastifyInstance, deps: PowerstreamDeps) {
  app.get(
    '/powerstream/rules',
    { schema: { summary: 'List the powerstream rules of the app.', tags, response: Data(Rules) }, config },
    async (req) => ({ data: await listPowerstreamRules(deps.db, (req.principal as AppPrincipal).app.id) })
  )

  app.post<{ Body: Static<typeof NewRules> }>(
    '/powerstream/rules',
    {
      schema: {
        summary: 'Add powerstream rules.',
        tags,
        body: NewRules,
        response: {
          201: Type.Object({
            data: Rules,
            errors: Type.Optional(Type.Array(Type.Unsafe<Problem>({ type: 'object', additionalProperties: true })))
          })
        }
      },
      config
    },
    async (req, reply) =>
      reply.code(201).send(await addPowerstreamRules(deps, (req.principal as AppPrincipal).app.id, req.body.rules))
  )

  app.delete<{ Body: Static<typeof OldRules> }>(
    '/powerstream/rules',
    {
      schema: {
        summary: 'Delete powerstream rules by id or value.',
        tags,
        body: OldRules,
        response: Data(Type.Object({ deleted: Type.Integer(), not_deleted: Type.Integer() }))
      },
      config
    },
    async (req) => ({
      data: await deletePowerstreamRules(deps.db, (req.principal as AppPrincipal).app.id, req.body.rules)
    })
  )
}
