/** Computes filtered sets in the background, some products at a time, so that no write waits long. */
import { sql } from 'kysely'
import { Type } from 'typebox'
import { ApiError } from '../errors.ts'
import type { Db, Tx } from '../storage/db.ts'
import { defineJob, enqueueMany } from '../storage/jobs.ts'
import { compileStored, computeMembers } from './set-members.ts'
import { lockCatalog, transact } from './transactions.ts'

export const COMPUTE_SET = 'catalog.product_set'

const PRODUCTS_AT_ONCE = 100_000
const TRIES_MAX = 3
const BUSY_PAUSE_MS = 2_000

export const queueSets = (tx: Db, sets: { catalog_id: string; id: string }[]) =>
  enqueueMany(
    tx,
    COMPUTE_SET,
    sets.map(({ catalog_id, id }) => ({ payload: { catalog_id, set_id: id }, key: id }))
  )

/** Filtered sets start anew; for writes that changed too much to follow product by product. */
export async function recomputeSets(tx: Db, catalogId: string) {
  const sets = await tx
    .updateTable('product_sets')
    .set({ processing_status: 'PROCESSING', processed_key: null })
    .where('catalog_id', '=', catalogId)
    .where('type', '=', 'FILTERED')
    .returning(['catalog_id', 'id'])
    .execute()
  await queueSets(tx, sets)
}

/** One step; true when there is more to do. */
async function computeSome(tx: Tx, catalogId: string, setId: string): Promise<boolean> {
  await lockCatalog(tx, catalogId, 'update')
  const set = await tx
    .selectFrom('product_sets')
    .select(['catalog_id', 'id', 'filters', 'processed_key'])
    .where('catalog_id', '=', catalogId)
    .where('id', '=', setId)
    .where('processing_status', '=', 'PROCESSING')
    .forUpdate()
    .executeTakeFirst()
  if (!set) return false
  const last = await computeMembers(
    tx,
    { ...set, compiled: compileStored(set.filters) },
    set.processed_key ?? '',
    PRODUCTS_AT_ONCE
  )
  await tx
    .updateTable('product_sets')
    .set(last === undefined ? { processing_status: 'DONE', processed_key: null } : { processed_key: last })
    .where('catalog_id', '=', catalogId)
    .where('id', '=', setId)
    .execute()
  return last !== undefined
}

export const computeSetJob = defineJob(COMPUTE_SET, {
  schema: Type.Object({ catalog_id: Type.String(), set_id: Type.String() }),
  concurrency: 2,
  retryDelaysSeconds: [1, 10, 60],
  async run({ catalog_id, set_id }, { database, clock, signal, job, log }) {
    try {
      while (await transact(database.db, (tx) => computeSome(tx, catalog_id, set_id))) signal.throwIfAborted()
    } catch (error) {
      // A long merge holds the catalog: that is no failure.
      if (error instanceof ApiError && error.status === 423) return { againAt: clock.now() + BUSY_PAUSE_MS }
      if (error instanceof ApiError && error.status === 404) return
      if (signal.aborted || job.attempts < TRIES_MAX) throw error
      log.error({ err: error, catalog_id, set_id }, 'a product set could not be computed')
      await sql`
        update product_sets set processing_status = 'FAILED', processed_key = null
        where catalog_id = ${catalog_id} and id = ${set_id} and processing_status = 'PROCESSING'`.execute(database.db)
    }
  }
})
