/** Product catalogs: one per user and environment, which holds all their products. */
import { badRequest } from '../errors.ts'
import type { AdsScope, Environment } from '../http/ads.ts'
import { about, long, required, text } from '../http/ads-input.ts'
import { type Db, type Tx, violatedConstraint } from '../storage/db.ts'
import { newId } from '../storage/ids.ts'
import { cancelJob, enqueue } from '../storage/jobs.ts'
import { actingFor } from './access.ts'
import { deleteRuns } from './feed-runs.ts'
import { PURGE_CATALOG } from './purge.ts'
import { CATALOG, type CatalogRow, catalogRoute } from './routes.ts'
import { FEED_SCHEDULE } from './scheduled-feeds.ts'
import { lockCatalog, transact } from './transactions.ts'
import { Text, Whole } from './wire.ts'

const Catalog = Whole({ id: Text, name: Text })

const userId = about(long(), 'The user operated on; default is the authenticated user.')
const name = required(text({ refuseEmpty: true }))

export async function createProductCatalog(
  db: Db,
  input: { user_id: string; environment: Environment; name: string },
  now: Date
): Promise<CatalogRow> {
  try {
    return await db
      .insertInto('product_catalogs')
      .values({ id: newId(), ...input, created_at: now, updated_at: now })
      .returning(['id', 'user_id', 'environment', 'name'])
      .executeTakeFirstOrThrow()
  } catch (error) {
    if (violatedConstraint(error) !== 'product_catalogs_one_per_user') throw error
    throw badRequest('INVALID', 'One user can create only one catalog, and this user has one', { attribute: 'user_id' })
  }
}

/** Permanent. The catalog is gone at once; its products, which may be millions, follow in the background. */
export async function deleteCatalog(tx: Tx, id: string) {
  await lockCatalog(tx, id, 'update')
  const feeds = await tx.selectFrom('scheduled_feeds').select('id').where('catalog_id', '=', id).execute()
  for (const feed of feeds) await cancelJob(tx, FEED_SCHEDULE, feed.id)
  await deleteRuns(tx, id)
  await tx.deleteFrom('product_catalogs').where('id', '=', id).execute()
  await enqueue(tx, PURGE_CATALOG, { catalog_id: id }, { key: id })
}

export function catalogRoutes(scope: AdsScope) {
  const { database, clock } = scope.deps
  const { db } = database
  const { environment } = scope
  const echo = (params: Record<string, unknown>, path: Record<string, string>) => ({
    ...params,
    id: path.product_catalog_id
  })

  catalogRoute(scope, {
    method: 'GET',
    path: '/product_catalogs',
    resource: 'product_catalogs',
    summary: 'The catalog of a user.',
    input: { user_id: userId },
    output: Catalog,
    many: true,
    handler: async ({ input, principal }) => ({
      rows: await db
        .selectFrom('product_catalogs')
        .select(['id', 'name'])
        .where('user_id', '=', await actingFor(db, principal, input.user_id))
        .where('environment', '=', environment)
        .execute()
    })
  })

  catalogRoute(scope, {
    method: 'POST',
    path: '/product_catalogs',
    resource: 'product_catalogs',
    summary: 'Create the catalog of a user.',
    input: { name, user_id: userId },
    output: Catalog,
    handler: async ({ input, principal }) =>
      createProductCatalog(
        db,
        { user_id: await actingFor(db, principal, input.user_id), environment, name: input.name },
        new Date(clock.now())
      )
  })

  catalogRoute(scope, {
    method: 'PUT',
    path: CATALOG,
    resource: 'product_catalogs',
    summary: 'Rename a catalog.',
    input: { name },
    output: Catalog,
    echo,
    handler: async ({ input, catalog }) => {
      await transact(db, (tx) =>
        tx
          .updateTable('product_catalogs')
          .set({ name: input.name, updated_at: new Date(clock.now()) })
          .where('id', '=', catalog.id)
          .execute()
      )
      return { ...catalog, name: input.name }
    }
  })

  catalogRoute(scope, {
    method: 'DELETE',
    path: CATALOG,
    resource: 'product_catalogs',
    summary: 'Delete a catalog with everything in it.',
    output: Catalog,
    echo,
    handler: async ({ catalog }) => {
      await transact(db, (tx) => deleteCatalog(tx, catalog.id))
      return catalog
    }
  })
}
