/** Early access and betas as data: named lists of apps, users and ad accounts. */
import type { Db } from '../storage/db.ts'
import { announce } from './changes.ts'

/** Lists that routes ask for. Others may exist: a list is made by putting someone on it. */
export const ALLOW_LISTS = {
  /** Document 2: catalog endpoints are available by early access only. Subjects: users, apps. */
  catalogEarlyAccess: 'catalog.early_access',
  /** Document 3: account history is a closed beta. Subjects: accounts. */
  accountHistory: 'account_history',
  /** Who may do in the console what the admin token may do. Subjects: users. */
  operators: 'operators'
} as const

export type SubjectKind = 'app' | 'user' | 'account'

declare module '../storage/db.ts' {
  interface Tables {
    allow_lists: { list: string; subject_kind: SubjectKind; subject_id: string; created_at: Time }
  }
}

export interface Listed {
  list: string
  subject_kind: SubjectKind
  subject_id: string
}

/** Putting someone on a list twice is the same as once. */
export async function allow(db: Db, entry: Listed, now: Date) {
  await db
    .insertInto('allow_lists')
    .values({ ...entry, created_at: now })
    .onConflict((oc) => oc.doNothing())
    .execute()
  await announceSubject(db, entry)
}

export async function disallow(db: Db, { list, subject_kind, subject_id }: Listed) {
  const { numDeletedRows } = await db
    .deleteFrom('allow_lists')
    .where('list', '=', list)
    .where('subject_kind', '=', subject_kind)
    .where('subject_id', '=', subject_id)
    .executeTakeFirst()
  await announceSubject(db, { subject_kind, subject_id })
  return numDeletedRows > 0n
}

export async function isAllowed(db: Db, { list, subject_kind, subject_id }: Listed) {
  const row = await db
    .selectFrom('allow_lists')
    .select('list')
    .where('list', '=', list)
    .where('subject_kind', '=', subject_kind)
    .where('subject_id', '=', subject_id)
    .executeTakeFirst()
  return row !== undefined
}

export const listAllowed = (db: Db, filter: Partial<Listed> = {}) => {
  let query = db.selectFrom('allow_lists').selectAll()
  for (const column of ['list', 'subject_kind', 'subject_id'] as const) {
    const value = filter[column]
    if (value !== undefined) query = query.where(column, '=', value)
  }
  return query.orderBy('list').orderBy('subject_kind').orderBy('subject_id').execute()
}

/** Principals carry the lists of their app and user; accounts are looked up when asked. */
async function announceSubject(db: Db, { subject_kind, subject_id }: Omit<Listed, 'list'>) {
  if (subject_kind === 'app') await announce(db, { app: subject_id })
  if (subject_kind === 'user') await announce(db, { user: subject_id })
}
