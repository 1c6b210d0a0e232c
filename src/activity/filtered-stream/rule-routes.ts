/** /2/tweets/search/stream/rules */
import type { FastifyInstance, FastifyReply } from 'fastify'
import { type Static, Type } from 'typebox'
import { type Clock, isoTime } from '../../clock.ts'
import { APP_ONLY, type AppPrincipal } from '../../http/auth.ts'
import { invalidRequest, type Problem } from '../../http/problems.ts'
import { Data, Fields, Id, Paging, page, select, Timestamp } from '../../http/v2.ts'
import { addRules, countRules, deleteRules, listRules, type RuleDeps, type RulesToDelete } from './rules.ts'

const RULES_PER_CALL_MAX = 10_000
/** Tags cannot be edited and may repeat; the limit is that of earlier versions of this API. */
const TAG_CHARACTERS_MAX = 255

const closed = { additionalProperties: false }
const NewRule = Type.Object(
  { value: Type.String({ minLength: 1 }), tag: Type.Optional(Type.String({ maxLength: TAG_CHARACTERS_MAX })) },
  closed
)
const properties = {
  add: Type.Optional(Type.Array(NewRule, { minItems: 1, maxItems: RULES_PER_CALL_MAX })),
  delete: Type.Optional(
    Type.Object(
      {
        ids: Type.Optional(Type.Array(Id, { minItems: 1, maxItems: RULES_PER_CALL_MAX })),
        values: Type.Optional(Type.Array(Type.String(), { minItems: 1, maxItems: RULES_PER_CALL_MAX }))
      },
      closed
    )
  )
}
type ChangeBody = Static<ReturnType<typeof Type.Object<typeof properties>>>
/** Absent with `delete_all`. */
const Change = Type.Unsafe<ChangeBody | null>({
  type: ['object', 'null'],
  properties,
  additionalProperties: false,
  description: 'Either `add`, or `delete` with `ids` or `values`.'
})
const ChangeQuery = Type.Object({
  dry_run: Type.Optional(Type.Boolean({ description: 'Check and answer, but change nothing.' })),
  delete_all: Type.Optional(Type.Boolean({ description: 'Delete all rules of the app; without a body.' }))
})
const Rule = Type.Object({ value: Type.String(), tag: Type.Optional(Type.String()), id: Id })
const Errors = Type.Optional(Type.Array(Type.Unsafe<Problem>({ type: 'object', additionalProperties: true })))
const Changed = {
  200: Type.Object({
    meta: Type.Object({
      sent: Timestamp,
      summary: Type.Object({ deleted: Type.Integer(), not_deleted: Type.Integer() })
    }),
    errors: Errors
  }),
  201: Type.Object({
    data: Type.Optional(Type.Array(Rule)),
    meta: Type.Object({
      sent: Timestamp,
      summary: Type.Object({
        created: Type.Integer(),
        not_created: Type.Integer(),
        valid: Type.Integer(),
        invalid: Type.Integer()
      })
    }),
    errors: Errors
  })
}
const ListQuery = Type.Object({
  ids: Type.Optional(Type.Array(Id, { minItems: 1, maxItems: 1_000 })),
  ...Paging(1_000, 1_000)
})
const Listed = {
  200: Type.Object({
    data: Type.Optional(Type.Array(Rule)),
    meta: Type.Object({
      sent: Timestamp,
      result_count: Type.Integer(),
      next_token: Type.Optional(Type.String()),
      previous_token: Type.Optional(Type.String())
    })
  })
}
const OfApp = Type.Object({ client_app_id: Id, rule_count: Type.Integer() })
const Counts = Type.Object({
  cap_per_client_app: Type.Optional(Type.Integer()),
  cap_per_project: Type.Optional(Type.Integer()),
  project_rules_count: Type.Optional(Type.Integer()),
  client_app_rules_count: Type.Optional(OfApp),
  all_project_client_apps: Type.Optional(Type.Array(OfApp))
})
const COUNT_FIELDS = [
  'all_project_client_apps',
  'cap_per_client_app',
  'cap_per_project',
  'client_app_rules_count',
  'project_rules_count'
] as const
const CountsQuery = Type.Object({ 'rules_count.fields': Type.Optional(Fields(COUNT_FIELDS)) })

const config = (name: string, max: number) => ({
  accepts: APP_ONLY,
  product: 'filtered_stream' as const,
  limit: { name: `v2.stream_rules.${name}`, max, windowSeconds: 900 }
})
const tags = ['filtered stream']
const sent = ({ clock }: { clock: Clock }) => isoTime(clock.now())

export function ruleRoutes(app: FastifyInstance, deps: RuleDeps) {
  app.get<{ Querystring: Static<typeof ListQuery> }>(
    '/tweets/search/stream/rules',
    {
      schema: { summary: 'List the rules of the app.', tags, querystring: ListQuery, response: Listed },
      config: config('list', 450)
    },
    async (req) => {
      const { ids } = req.query
      const list = { name: 'stream_rules', defaultResults: 1_000, idOf: (rule: { id: string }) => rule.id }
      const { data, meta } = await page(req.query, list, (bound) =>
        listRules(deps.db, (req.principal as AppPrincipal).app.id, { ...bound, ...(ids ? { ids } : {}) })
      )
      return { ...(data.length > 0 ? { data } : {}), meta: { sent: sent(deps), ...meta } }
    }
  )

  app.post<{ Body: ChangeBody | null; Querystring: Static<typeof ChangeQuery> }>(
    '/tweets/search/stream/rules',
    {
      schema: {
        summary: 'Add rules or delete them; each has its own verdict.',
        tags,
        querystring: ChangeQuery,
        body: Change,
        response: Changed
      },
      config: config('change', 100)
    },
    async (req, reply) => change(deps, (req.principal as AppPrincipal).app, req.body ?? {}, req.query, reply)
  )

  app.get<{ Querystring: Static<typeof CountsQuery> }>(
    '/tweets/search/stream/rules/counts',
    {
      schema: {
        summary: 'How many rules there are and may be.',
        tags,
        querystring: CountsQuery,
        response: Data(Counts)
      },
      config: config('counts', 450)
    },
    async (req) => ({
      data: select(await countRules(deps, (req.principal as AppPrincipal).app), req.query['rules_count.fields'])
    })
  )
}

async function change(
  deps: RuleDeps,
  app: AppPrincipal['app'],
  body: ChangeBody,
  { dry_run = false, delete_all = false }: Static<typeof ChangeQuery>,
  reply: FastifyReply
) {
  const asked = [body.add, body.delete, delete_all || undefined].filter((each) => each !== undefined)
  if (asked.length !== 1) {
    throw invalidRequest({
      message: 'Exactly one is expected: `add` or `delete` in the body, or the query parameter `delete_all`'
    })
  }
  if (body.add) {
    const { data, summary, errors } = await addRules(deps, app, body.add, dry_run)
    return reply.code(201).send({
      ...(data.length > 0 ? { data } : {}),
      meta: { sent: sent(deps), summary },
      ...(errors.length > 0 ? { errors } : {})
    })
  }
  const { summary, errors } = await deleteRules(deps, app, body.delete ? toDelete(body.delete) : 'all', dry_run)
  return { meta: { sent: sent(deps), summary }, ...(errors.length > 0 ? { errors } : {}) }
}

function toDelete({ ids, values }: NonNullable<ChangeBody['delete']>): RulesToDelete {
  if ((ids === undefined) === (values === undefined)) {
    throw invalidRequest({ message: '$.delete: exactly one of ids and values is expected' })
  }
  return ids ? { ids } : { values: values! }
}
