/** /admin/reference: the reference rows in force, and the operator's own in their place. */
import type { FastifyInstance } from 'fastify'
import { type Static, Type } from 'typebox'
import type { Deps } from '../deps.ts'
import { Data, Timestamp } from '../http/v2.ts'
import { about, closed, Row } from './admin-shapes.ts'
import { REFERENCE_KINDS } from './reference/load.ts'
import type { ReferenceKind } from './reference/types.ts'
import { type ReferenceStore, replaceReference } from './reference-store.ts'

const KindPath = Type.Object({ kind: Type.Enum([...REFERENCE_KINDS]) })
const NewReference = Type.Object({ rows: Type.Array(Row, { maxItems: 100_000 }) }, closed)
const ReferenceState = Type.Object({
  kind: Type.String(),
  origin: Type.String(),
  rows: Type.Integer(),
  updated_at: Timestamp
})

export function referenceAdminRoutes(app: FastifyInstance, deps: Deps, reference: ReferenceStore) {
  const { db } = deps.database
  const now = () => new Date(deps.clock.now())

  app.get(
    '/reference',
    {
      schema: {
        ...about('Kinds of reference data, and whose rows are in force.'),
        response: Data(Type.Array(ReferenceState))
      }
    },
    async () => {
      const inForce = await reference.load()
      const stored = await db
        .selectFrom('reference_data')
        .select(['kind', 'origin', 'updated_at'])
        .orderBy('kind')
        .execute()
      return { data: stored.map((row) => ({ ...row, rows: inForce.rows(row.kind as ReferenceKind).length })) }
    }
  )
  app.get<{ Params: { kind: ReferenceKind } }>(
    '/reference/:kind',
    { schema: { ...about('Reference rows in force.'), params: KindPath, response: Data(Type.Array(Row)) } },
    async (req) => ({ data: (await reference.load()).rows(req.params.kind) })
  )
  const replace = async (kind: ReferenceKind, rows: unknown[] | null) => {
    await db.transaction().execute((tx) => replaceReference(tx, kind, rows, now()))
    reference.forget()
    return { data: (await reference.load()).rows(kind) }
  }
  app.put<{ Params: { kind: ReferenceKind }; Body: Static<typeof NewReference> }>(
    '/reference/:kind',
    {
      schema: {
        ...about('Replace reference rows by your own.'),
        params: KindPath,
        body: NewReference,
        response: Data(Type.Array(Row))
      }
    },
    (req) => replace(req.params.kind, req.body.rows)
  )
  app.delete<{ Params: { kind: ReferenceKind } }>(
    '/reference/:kind',
    {
      schema: { ...about('Go back to the shipped reference rows.'), params: KindPath, response: Data(Type.Array(Row)) }
    },
    (req) => replace(req.params.kind, null)
  )
}
