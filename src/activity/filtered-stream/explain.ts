/** "I have a rule but nothing arrives": why an event did or did not match it, and where it would have gone. */
import type { FastifyInstance } from 'fastify'
import { sql } from 'kysely'
import { type Static, Type } from 'typebox'
import { notFound } from '../../errors.ts'
import { invalidRequest } from '../../http/problems.ts'
import { Data, Id } from '../../http/v2.ts'
import { findApp } from '../../identity/index.ts'
import type { Db } from '../../storage/db.ts'
import { Post } from '../event-types.ts'
import { findEvent, incomingAgain } from '../events.ts'
import type { PublishedEvent } from '../facets.ts'
import { explain, parseRule } from '../rules/index.ts'
import { matchPosts, viewOf } from './matching.ts'
import type { RuleSet } from './rule-set.ts'

export interface ExplainDeps {
  db: Db
  ruleSet: RuleSet
}

interface RuleRow {
  app_id: string
  id: string
  value: string
  tag: string | null
  created_at: string
}

const read = (value: string) => parseRule(value, { charactersMax: Number.POSITIVE_INFINITY })

export async function explainRule({ db }: ExplainDeps, ruleId: string, eventId: string) {
  const { rows } = await sql<RuleRow>`
    select app_id, id, value, tag, created_at from filtered_rules where id = ${ruleId}`.execute(db)
  const rule = rows[0]
  if (!rule) throw notFound('RULE_NOT_FOUND', `There is no rule with id ${ruleId}; it may have been deleted.`)
  const event = await findEvent(db, eventId)
  if (!event) throw notFound('EVENT_NOT_FOUND', `Event ${eventId} was never published, or is no longer kept.`)
  const destinations = await destinationsOf(db, rule.app_id)
  const reasons: string[] = []
  if (event.event_type !== 'post.create')
    reasons.push(`Rules match posts; this event is ${event.event_type}, and only post.create is looked at.`)
  const explanation = event.event_type === 'post.create' ? explainPost(rule.value, event) : undefined
  const [incoming] = await incomingAgain(db, [event])
  if (incoming?.protectedAuthor) reasons.push('The author is a protected account; its posts are never delivered.')
  if (event.created_at < rule.created_at)
    reasons.push(`The rule was added at ${rule.created_at}, after the event was published at ${event.created_at}.`)
  if (explanation && !explanation.matched) reasons.push('The post does not match the rule; see `failed`.')
  if ((await findApp(db, rule.app_id))?.suspended) reasons.push('The app is suspended; nothing is sent to it.')
  if (destinations.links.length === 0 && destinations.open_streams === 0)
    reasons.push('The app has neither a webhook linked to the filtered stream nor an open stream.')
  for (const { webhook_id, valid } of destinations.links)
    if (!valid) reasons.push(`Webhook ${webhook_id} is invalid, and nothing is sent to it; see its CRC records.`)
  return {
    rule,
    event: { id: event.id, event_type: event.event_type, created_at: event.created_at },
    matched: explanation?.matched ?? false,
    failed: explanation?.failed ?? [],
    clauses: explanation?.clauses ?? [],
    ...destinations,
    reasons
  }
}

function explainPost(value: string, event: Pick<PublishedEvent, 'payload' | 'includes'>) {
  const parsed = read(value)
  return parsed.ok ? explain(parsed.rule, viewOf(event)) : undefined
}

async function destinationsOf(db: Db, appId: string) {
  const { rows: links } = await sql<{ webhook_id: string; valid: boolean }>`
    select l.webhook_id, w.valid from filtered_links l join webhooks w on w.app_id = l.app_id and w.id = l.webhook_id
    where l.app_id = ${appId} order by l.webhook_id`.execute(db)
  const { rows: streams } = await sql<{ open: number }>`
    select count(*)::int as open from stream_connections
    where app_id = ${appId} and endpoint_name = 'filtered_stream' and disconnected_at is null`.execute(db)
  return { links, open_streams: streams[0]!.open }
}

export interface Trial {
  value?: string
  app_id?: string
  post: Record<string, unknown>
  includes?: Record<string, unknown>
}

/** A post that was never published, against one rule or all rules of an app. */
export async function tryRules({ ruleSet }: ExplainDeps, { value, app_id, post, includes }: Trial) {
  if ((value === undefined) === (app_id === undefined))
    throw invalidRequest({ message: 'Exactly one is expected: `value` (a rule) or `app_id` (all its rules)' })
  if (value !== undefined) {
    const parsed = read(value)
    if (!parsed.ok) return { valid: false, matched: false, errors: parsed.errors }
    return { valid: true, ...explain(parsed.rule, viewOf({ payload: post, includes: includes ?? null })) }
  }
  const event: PublishedEvent = {
    id: '0',
    event_type: 'post.create',
    user_id: null,
    payload: post,
    includes: includes ?? null,
    occurred_at: ''
  }
  await ruleSet.ready()
  await ruleSet.refresh()
  const [match] = await matchPosts(ruleSet, [{ event, facets: [] }])
  const rules = match?.byApp.get(app_id!) ?? []
  return {
    valid: true,
    matched: rules.length > 0,
    matching_rules: rules.map(({ id, meta: { tag } }) => ({ id, ...(tag === null ? {} : { tag }) }))
  }
}

const Text = Type.String()
const Clause = Type.Unsafe<object>({ type: 'object', additionalProperties: true })
const Explained = Type.Object({
  rule: Type.Object({
    app_id: Id,
    id: Id,
    value: Text,
    tag: Type.Unsafe<string | null>({ type: 'string', nullable: true }),
    created_at: Text
  }),
  event: Type.Object({ id: Text, event_type: Text, created_at: Text }),
  matched: Type.Boolean(),
  failed: Type.Array(Clause),
  clauses: Type.Array(Clause),
  links: Type.Array(Type.Object({ webhook_id: Id, valid: Type.Boolean() })),
  open_streams: Type.Integer(),
  reasons: Type.Array(Text)
})
const Tried = Type.Object({
  valid: Type.Boolean(),
  matched: Type.Boolean(),
  errors: Type.Optional(Type.Array(Type.Object({ message: Text, position: Type.Integer() }))),
  failed: Type.Optional(Type.Array(Clause)),
  clauses: Type.Optional(Type.Array(Clause)),
  matching_rules: Type.Optional(Type.Array(Type.Object({ id: Id, tag: Type.Optional(Text) })))
})
const ExplainQuery = Type.Object({ rule_id: Id, event_id: Id })
const NewTrial = Type.Object(
  {
    value: Type.Optional(Type.String({ minLength: 1 })),
    app_id: Type.Optional(Id),
    post: Type.Object({ ...Post.properties, author_id: Type.Optional(Id) }, { additionalProperties: true }),
    includes: Type.Optional(Type.Object({}, { additionalProperties: true }))
  },
  { additionalProperties: false }
)
const tags = ['admin', 'activity']

export function ruleExplanationRoutes(app: FastifyInstance, deps: ExplainDeps) {
  app.get<{ Querystring: Static<typeof ExplainQuery> }>(
    '/activity/rules/explain',
    {
      schema: {
        summary: 'Why an event did or did not match a filtered-stream rule.',
        tags,
        querystring: ExplainQuery,
        response: Data(Explained)
      }
    },
    async (req) => ({ data: await explainRule(deps, req.query.rule_id, req.query.event_id) })
  )

  app.post<{ Body: Trial }>(
    '/activity/rules/try',
    {
      schema: {
        summary: 'Try a post against a rule, or against all rules of an app.',
        tags,
        body: NewTrial,
        response: Data(Tried)
      }
    },
    async (req) => ({ data: await tryRules(deps, req.body) })
  )
}
