/** /admin: imports of all catalogs, for the operator and the console. */
import type { FastifyInstance } from 'fastify'
import { type Static, Type } from 'typebox'
import type { Deps } from '../deps.ts'
import { notFound } from '../errors.ts'
import { Data, Id, Page, Paging, page } from '../http/v2.ts'
import { RUN_STATES } from './feed-run-states.ts'
import { FeedRun, shapeRun } from './feed-run-wire.ts'
import { confirmRun, listRuns, type RunRow, startRun } from './feed-runs.ts'
import { sendRejected } from './rejected-csv.ts'
import { transact } from './transactions.ts'

const RunQuery = Type.Object({
  ...Paging(100, 20),
  catalog_id: Type.Optional(Id),
  feed_id: Type.Optional(Id),
  state: Type.Optional(Type.Enum([...RUN_STATES]))
})
const RunPath = Type.Object({ run_id: Id })
const FeedPath = Type.Object({ feed_id: Id })
const RunOptions = Type.Object({
  validate_only: Type.Optional(Type.Boolean({ description: 'Read and report, but change nothing.' })),
  force: Type.Optional(Type.Boolean({ description: 'Fetch the file even if its host says that it has not changed.' })),
  confirmed: Type.Optional(Type.Boolean({ description: 'Import it even if it changes nearly everything.' }))
})
const CSV_FILE = { 200: { description: 'A file.', content: { 'text/csv': { schema: { type: 'string' } } } } }

export function catalogAdminRoutes(app: FastifyInstance, { database: { db }, clock }: Deps) {
  const getRun = async (id: string): Promise<RunRow> => {
    const [run] = await listRuns(db, { id, limit: 1 })
    if (!run) throw notFound('NOT_FOUND', `There is no feed run ${id}.`)
    return run
  }

  app.get<{ Querystring: Static<typeof RunQuery> }>(
    '/feed_runs',
    { schema: { summary: 'Imports of feeds, newest first.', querystring: RunQuery, response: Page(FeedRun) } },
    async ({ query }) => {
      const { catalog_id, feed_id, state } = query
      const found = await page(
        query,
        { name: 'feed_runs', defaultResults: 20, idOf: (run: RunRow) => run.id },
        (bound) => listRuns(db, { catalog_id, feed_id, state, ...bound })
      )
      return { data: found.data.map(shapeRun), meta: found.meta }
    }
  )

  app.get<{ Params: Static<typeof RunPath> }>(
    '/feed_runs/:run_id',
    { schema: { summary: 'One import.', params: RunPath, response: Data(FeedRun) } },
    async ({ params }) => ({ data: shapeRun(await getRun(params.run_id)) })
  )

  app.get<{ Params: Static<typeof RunPath> }>(
    '/feed_runs/:run_id/rejected_rows',
    { schema: { summary: 'Rows that did not become products, as CSV.', params: RunPath, response: CSV_FILE } },
    async ({ params }, reply) => sendRejected(reply, db, await getRun(params.run_id))
  )

  app.post<{ Params: Static<typeof RunPath> }>(
    '/feed_runs/:run_id/confirm',
    { schema: { summary: 'Let an import go on that waits for it.', params: RunPath, response: Data(FeedRun) } },
    async ({ params }) => {
      const run = await getRun(params.run_id)
      await transact(db, (tx) => confirmRun(tx, run))
      return { data: shapeRun(await getRun(params.run_id)) }
    }
  )

  app.post<{ Params: Static<typeof FeedPath>; Querystring: Static<typeof RunOptions> }>(
    '/scheduled_feeds/:feed_id/runs',
    {
      schema: {
        summary: 'Run a scheduled feed now.',
        params: FeedPath,
        querystring: RunOptions,
        response: Data(FeedRun)
      }
    },
    async ({ params, query }) => {
      const feed = await db
        .selectFrom('scheduled_feeds')
        .select(['catalog_id', 'id as feed_id', 'feed_url', 'feed_format'])
        .where('id', '=', params.feed_id)
        .executeTakeFirst()
      if (!feed) throw notFound('NOT_FOUND', `There is no scheduled feed ${params.feed_id}.`)
      const run = await transact(db, (tx) => startRun(tx, { ...feed, ...query, trigger: 'operator' }, clock.now()))
      return { data: shapeRun(run) }
    }
  )
}
