/** Removes what deleted catalogs and sets leave behind, in steps that hold up nobody. */
import { type RawBuilder, sql } from 'kysely'
import { Type } from 'typebox'
import type { Db } from '../storage/db.ts'
import { defineJob, type JobContext } from '../storage/jobs.ts'

export const PURGE_CATALOG = 'catalog.purge'
export const PURGE_SET = 'catalog.purge_set'

const ROWS_AT_ONCE = 10_000
/** Tables without a foreign key to the catalog, because of their size. */
const TABLES = ['product_set_members', 'item_groups', 'image_queue', 'image_verdicts', 'products'] as const

async function deleteSome(db: Db, table: string, where: RawBuilder<unknown>): Promise<boolean> {
  const { numAffectedRows = 0n } = await sql`
    delete from ${sql.table(table)} where ctid = any(array(
      select ctid from ${sql.table(table)} where ${where} limit ${ROWS_AT_ONCE}))`.execute(db)
  return numAffectedRows > 0n
}

async function deleteAll({ database, signal }: JobContext, table: string, where: RawBuilder<unknown>) {
  while (await deleteSome(database.db, table, where)) signal.throwIfAborted()
}

export const purgeCatalogJob = defineJob(PURGE_CATALOG, {
  schema: Type.Object({ catalog_id: Type.String() }),
  concurrency: 1,
  async run({ catalog_id }, context) {
    for (const table of TABLES) await deleteAll(context, table, sql`catalog_id = ${catalog_id}`)
  }
})

export const purgeSetJob = defineJob(PURGE_SET, {
  schema: Type.Object({ catalog_id: Type.String(), set_id: Type.String() }),
  concurrency: 1,
  async run({ catalog_id, set_id }, context) {
    await deleteAll(context, 'product_set_members', sql`catalog_id = ${catalog_id} and set_id = ${set_id}`)
  }
})
