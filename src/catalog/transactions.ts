/**
 * Writes of a catalog. Whoever writes products holds the catalog's row, at least `for key share`, so that it cannot be
 * deleted meanwhile. Who moves products between groups holds it `for no key update`: one at a time. Who computes the
 * members of a set holds it `for update`: while no product changes. See decisions/0045.
 */
import { setTimeout as sleep } from 'node:timers/promises'
import { sql } from 'kysely'
import { ApiError, notFound } from '../errors.ts'
import type { Db, Tx } from '../storage/db.ts'

export type CatalogLock = 'key share' | 'no key update' | 'update'

/** Below the second after which PostgreSQL looks for deadlocks: a long merge is never chosen as the victim. */
const LOCK_WAIT_MS = 200
const GIVE_UP_AFTER_MS = 5_000
const PAUSE_MS = 20

/** The transaction found that it rests on what is no longer true. */
export class TryAgain extends Error {}

const RETRIED = new Set(['55P03', '40P01', '40001'])
export const isLockFailure = (error: unknown) => RETRIED.has((error as { code?: string }).code ?? '')

export const busy = () =>
  new ApiError(423, [
    {
      code: 'LOCK_ACQUISITION_TIMEOUT',
      message: 'The catalog is being changed by another request or by an import; try again shortly.'
    }
  ])

/** Runs `act` in a transaction that waits briefly for locks, lets go of its own, and tries again for a few seconds. */
export async function transact<T>(db: Db, act: (tx: Tx) => Promise<T>, giveUpAfterMs = GIVE_UP_AFTER_MS): Promise<T> {
  const deadline = performance.now() + giveUpAfterMs
  for (;;) {
    try {
      return await db.transaction().execute(async (tx) => {
        await sql`select set_config('lock_timeout', ${`${LOCK_WAIT_MS}ms`}, true)`.execute(tx)
        return act(tx)
      })
    } catch (error) {
      if (!isLockFailure(error) && !(error instanceof TryAgain)) throw error
      if (performance.now() > deadline) throw busy()
      await sleep(PAUSE_MS * (1 + Math.random()))
    }
  }
}

export const catalogNotFound = (id: string) => notFound('NOT_FOUND', `Product catalog ${id} was not found`)

/** Holds the catalog's row until the transaction ends. */
export async function lockCatalog(tx: Db, id: string, lock: CatalogLock) {
  const { rows } = await sql`
    select 1 from product_catalogs where id = ${id} for ${sql.raw(lock)}`.execute(tx)
  if (rows.length === 0) throw catalogNotFound(id)
}
