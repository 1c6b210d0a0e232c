/** /2/connections: which streams are open, and how to end them. */
import type { FastifyInstance } from 'fastify'
import { type Static, Type } from 'typebox'
import type { Clock } from '../clock.ts'
import { APP_ONLY, type AppPrincipal } from '../http/auth.ts'
import { Data, Fields, Page, Paging, page, select, Timestamp } from '../http/v2.ts'
import type { Db } from '../storage/db.ts'
import { ENDPOINT_NAMES, killConnections, listConnections } from './connections.ts'

const UUIDS_PER_CALL_MAX = 100

const FIELDS = ['client_ip', 'connected_at', 'disconnect_reason', 'disconnected_at', 'endpoint_name', 'id'] as const
const ListQuery = Type.Object({
  status: Type.Optional(Type.Enum(['active', 'inactive', 'all'] as const)),
  endpoints: Type.Optional(Fields(ENDPOINT_NAMES)),
  ...Paging(100, 10),
  'connection.fields': Type.Optional(Fields(FIELDS))
})
const Connection = Type.Object({
  id: Type.Optional(Type.String()),
  endpoint_name: Type.Optional(Type.String()),
  connected_at: Type.Optional(Timestamp),
  client_ip: Type.Optional(Type.String()),
  disconnected_at: Type.Optional(Timestamp),
  disconnect_reason: Type.Optional(Type.String())
})
const Killed = Data(
  Type.Object({
    successful_kills: Type.Integer(),
    failed_kills: Type.Integer(),
    results: Type.Array(
      Type.Object({ uuid: Type.String(), success: Type.Boolean(), error_message: Type.Optional(Type.String()) })
    )
  })
)
const Path = Type.Object({ endpoint_id: Type.Enum([...ENDPOINT_NAMES]) })
const Uuids = Type.Object(
  {
    uuids: Type.Array(Type.String({ minLength: 1, maxLength: 100 }), { minItems: 1, maxItems: UUIDS_PER_CALL_MAX })
  },
  { additionalProperties: false }
)

const config = (name: string, max: number) => ({
  accepts: APP_ONLY,
  limit: { name: `v2.connections.${name}`, max, windowSeconds: 900 }
})
const tags = ['connections']
const present = (row: object) => Object.fromEntries(Object.entries(row).filter(([, value]) => value !== null))

export interface ConnectionDeps {
  db: Db
  clock: Clock
}

export function connectionRoutes(app: FastifyInstance, { db, clock }: ConnectionDeps) {
  app.get<{ Querystring: Static<typeof ListQuery> }>(
    '/connections',
    {
      schema: { summary: 'List streaming connections.', tags, querystring: ListQuery, response: Page(Connection) },
      config: config('list', 450)
    },
    async (req) => {
      const { status = 'active', endpoints } = req.query
      const list = { name: 'connections', defaultResults: 10, idOf: (row: { position: string }) => row.position }
      const { data, meta } = await page(req.query, list, (bound) =>
        listConnections(db, clock, (req.principal as AppPrincipal).app.id, {
          status,
          ...(endpoints ? { endpoints } : {}),
          ...bound
        })
      )
      return { data: data.map((row) => select(present(row), req.query['connection.fields'] ?? FIELDS)), meta }
    }
  )

  app.delete(
    '/connections/all',
    {
      schema: { summary: 'End all streaming connections of the app.', tags, response: Killed },
      config: config('delete_all', 25)
    },
    async (req) => ({ data: await killConnections(db, clock, (req.principal as AppPrincipal).app.id, 'all') })
  )

  app.delete<{ Params: Static<typeof Path> }>(
    '/connections/:endpoint_id',
    {
      schema: { summary: 'End the connections of one kind of stream.', tags, params: Path, response: Killed },
      config: config('delete_endpoint', 25)
    },
    async (req) => ({
      data: await killConnections(db, clock, (req.principal as AppPrincipal).app.id, {
        endpoint: req.params.endpoint_id
      })
    })
  )

  app.delete<{ Body: Static<typeof Uuids> }>(
    '/connections',
    {
      schema: { summary: 'End connections by their ids.', tags, body: Uuids, response: Killed },
      config: config('delete', 450)
    },
    async (req) => ({
      data: await killConnections(db, clock, (req.principal as AppPrincipal).app.id, { ids: req.body.uuids })
    })
  )
}
