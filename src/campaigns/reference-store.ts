/** The reference rows in force: the shipped files, or what the operator put in their place. Remembered until that changes. */
import { createHash } from 'node:crypto'
import { sql } from 'kysely'
import type { Deps } from '../deps.ts'
import { badRequests } from '../errors.ts'
import type { Db } from '../storage/db.ts'
import { checkReference, REFERENCE_KINDS, readReference } from './reference/load.ts'
import type { ReferenceKind, ReferenceRows } from './reference/types.ts'
import type { TargetingLookups } from './rules/criteria.ts'
import { targetingLookups } from './rules/lookups.ts'
import { type RuleReference, ruleReference } from './rules/reference.ts'

declare module '../storage/db.ts' {
  interface Tables {
    reference_data: {
      kind: string
      rows: unknown
      origin: 'shipped' | 'operator'
      digest: string | null
      updated_at: Time
    }
  }
}

const CHANNEL = 'reference_data'

export interface Reference {
  rows<K extends ReferenceKind>(kind: K): readonly ReferenceRows[K][]
  /** The rows that rules look things up in. */
  rules: RuleReference
  lookups: TargetingLookups
}

export interface ReferenceStore {
  /** What is in force now; asks the database only after a change. */
  load(): Promise<Reference>
  forget(): void
  close(): void
}

/** Puts the shipped rows into the table, except where the operator's own rows are. */
export async function loadShippedReference(db: Db, now: Date) {
  const shipped = REFERENCE_KINDS.map((kind) => {
    const rows = JSON.stringify(readReference(kind))
    return { kind, rows, digest: createHash('sha256').update(rows).digest('base64url').slice(0, 16) }
  })
  const known = await db.selectFrom('reference_data').select(['kind', 'origin', 'digest']).execute()
  const stale = shipped.filter(({ kind, digest }) => {
    const row = known.find((each) => each.kind === kind)
    return !row || (row.origin === 'shipped' && row.digest !== digest)
  })
  if (stale.length === 0) return
  await db
    .insertInto('reference_data')
    .values(stale.map((each) => ({ ...each, origin: 'shipped' as const, updated_at: now })))
    .onConflict((oc) =>
      oc
        .column('kind')
        .doUpdateSet((eb) => ({ rows: eb.ref('excluded.rows'), digest: eb.ref('excluded.digest'), updated_at: now }))
        .where('reference_data.origin', '=', 'shipped')
    )
    .execute()
}

export function createReferenceStore({ database, listener, clock }: Pick<Deps, 'database' | 'listener' | 'clock'>) {
  let loading: Promise<Reference> | undefined
  const forget = () => {
    loading = undefined
  }
  const stops = [listener.on(CHANNEL, forget), listener.onReconnect(forget)]

  async function read(): Promise<Reference> {
    await loadShippedReference(database.db, new Date(clock.now()))
    const stored = await database.db.selectFrom('reference_data').select(['kind', 'rows']).execute()
    const byKind = new Map(stored.map(({ kind, rows }) => [kind, rows]))
    const rows = <K extends ReferenceKind>(kind: K) =>
      (byKind.get(kind) ?? readReference(kind)) as readonly ReferenceRows[K][]
    return { rows, rules: ruleReference(rows), lookups: targetingLookups(rows) }
  }

  const store: ReferenceStore = {
    load() {
      if (!loading) {
        const began = read()
        loading = began
        began.catch(() => {
          if (loading === began) loading = undefined
        })
      }
      return loading
    },
    forget,
    close() {
      for (const stop of stops) stop()
    }
  }
  return store
}

/** The operator's own rows, or the shipped ones again. */
export async function replaceReference(db: Db, kind: ReferenceKind, rows: unknown[] | null, now: Date) {
  if (rows === null) {
    await db.deleteFrom('reference_data').where('kind', '=', kind).execute()
    await loadShippedReference(db, now)
  } else {
    const problems = checkReference(kind, rows)
    if (problems.length > 0) {
      throw badRequests(problems.map((message) => ({ code: 'INVALID_PARAMETER', message, parameter: 'rows' })))
    }
    const values = { rows: JSON.stringify(rows), origin: 'operator' as const, digest: null, updated_at: now }
    await db
      .insertInto('reference_data')
      .values({ kind, ...values })
      .onConflict((oc) => oc.column('kind').doUpdateSet(values))
      .execute()
  }
  await sql`select pg_notify(${CHANNEL}, ${kind})`.execute(db)
}
