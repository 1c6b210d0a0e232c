/** Who may use catalogs at all, and whose. */
import type { FastifyInstance } from 'fastify'
import { type Static, Type } from 'typebox'
import type { Deps } from '../deps.ts'
import { forbidden, notFound } from '../errors.ts'
import type { Environment } from '../http/ads.ts'
import { Data, Id, Timestamp } from '../http/v2.ts'
import { ALLOW_LISTS, type UserPrincipal } from '../identity/index.ts'
import { type Db, violatedConstraint } from '../storage/db.ts'

declare module '../storage/db.ts' {
  interface Tables {
    product_catalogs: {
      id: string
      user_id: string
      environment: Environment
      name: string
      created_at: Time
      updated_at: Time
    }
    catalog_delegates: { owner_user_id: string; user_id: string; created_at: Time }
  }
}

/** "Access to these endpoints is granted through early access only." */
export function admitEarlyAccess({ user, app }: UserPrincipal) {
  const list = ALLOW_LISTS.catalogEarlyAccess
  if (user.allow_lists.includes(list) || app.allow_lists.includes(list)) return
  throw forbidden(
    'UNAUTHORIZED_CLIENT_APPLICATION',
    'The client application making this request does not have access to this API',
    { details: 'Catalogs are available by early access only; ask the operator for it.' }
  )
}

/** Whether the user may act on the owner's catalogs: their own, or those of who has made them a delegate. */
export async function mayActFor(db: Db, userId: string, ownerUserId: string): Promise<boolean> {
  if (userId === ownerUserId) return true
  const row = await db
    .selectFrom('catalog_delegates')
    .select('user_id')
    .where('owner_user_id', '=', ownerUserId)
    .where('user_id', '=', userId)
    .executeTakeFirst()
  return row !== undefined
}

/** The user whose catalog is meant. Users that do not exist look like users one may not act for. */
export async function actingFor(db: Db, principal: UserPrincipal, userId: bigint | undefined): Promise<string> {
  const owner = userId?.toString() ?? principal.user.id
  if (await mayActFor(db, principal.user.id, owner)) return owner
  throw forbidden('ACTION_NOT_ALLOWED', `You may not act on the catalogs of user ${owner}`)
}

const Delegate = Type.Object({ owner_user_id: Id, user_id: Id, created_at: Timestamp })
const DelegatePath = Type.Object({ owner_user_id: Id, user_id: Id })
const DelegateFilter = Type.Object({ owner_user_id: Type.Optional(Id), user_id: Type.Optional(Id) })

export function catalogAccessRoutes(app: FastifyInstance, { database: { db }, clock }: Deps) {
  app.get<{ Querystring: Static<typeof DelegateFilter> }>(
    '/catalog_delegates',
    {
      schema: {
        summary: 'Who may act on whose catalogs beside the owners themselves.',
        querystring: DelegateFilter,
        response: Data(Type.Array(Delegate))
      }
    },
    async ({ query }) => {
      let rows = db.selectFrom('catalog_delegates').selectAll()
      if (query.owner_user_id !== undefined) rows = rows.where('owner_user_id', '=', query.owner_user_id)
      if (query.user_id !== undefined) rows = rows.where('user_id', '=', query.user_id)
      return { data: await rows.orderBy('owner_user_id').orderBy('user_id').limit(1_000).execute() }
    }
  )

  app.put<{ Params: Static<typeof DelegatePath> }>(
    '/users/:owner_user_id/catalog_delegates/:user_id',
    {
      schema: { summary: 'Let a user act on the catalogs of another.', params: DelegatePath, response: Data(Delegate) }
    },
    async ({ params }) => {
      const row = { ...params, created_at: new Date(clock.now()) }
      try {
        const added = await db
          .insertInto('catalog_delegates')
          .values(row)
          .onConflict((oc) => oc.columns(['owner_user_id', 'user_id']).doUpdateSet({ user_id: params.user_id }))
          .returningAll()
          .executeTakeFirstOrThrow()
        return { data: added }
      } catch (error) {
        if (violatedConstraint(error) === undefined) throw error
        throw notFound('NOT_FOUND', 'These are not two different users that exist.')
      }
    }
  )

  app.delete<{ Params: Static<typeof DelegatePath> }>(
    '/users/:owner_user_id/catalog_delegates/:user_id',
    {
      schema: {
        summary: 'Take that permission away.',
        params: DelegatePath,
        response: Data(Type.Object({ revoked: Type.Boolean() }))
      }
    },
    async ({ params }) => {
      const { numDeletedRows } = await db
        .deleteFrom('catalog_delegates')
        .where('owner_user_id', '=', params.owner_user_id)
        .where('user_id', '=', params.user_id)
        .executeTakeFirst()
      return { data: { revoked: numDeletedRows > 0n } }
    }
  )
}
