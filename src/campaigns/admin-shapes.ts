/** What the routes below /admin/ad_accounts share. */
import { Type } from 'typebox'
import { notFound } from '../errors.ts'
import type { Db } from '../storage/db.ts'
import { getAccount } from './accounts.ts'

export const closed = { additionalProperties: false }
export const AdsId = Type.String({ pattern: '^[0-9a-z]{1,13}$' })
export const NullableText = Type.Unsafe<string | null>({ type: 'string', nullable: true })
export const AccountPath = Type.Object({ account_id: AdsId })
/** Rows whose shape their own routes describe. */
export const Row = Type.Unsafe<Record<string, unknown>>({ type: 'object', additionalProperties: true })
export const about = (summary: string) => ({ summary, tags: ['admin'] })

/** For the operator a missing account is simply not there. */
export const operatorsAccount = (db: Db, id: string) =>
  getAccount(db, id, { withDeleted: true }).catch(() => {
    throw notFound('ACCOUNT_NOT_FOUND', `Account ${id} was not found`)
  })
