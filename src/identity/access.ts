/** Who may do what in an ad account: the seven permissions of document 3, their meanings, and the rows that grant them. */
import { badRequest } from '../errors.ts'
import type { Db, Defaulted } from '../storage/db.ts'
import { announce } from './changes.ts'

export const ACCOUNT_PERMISSIONS = [
  'ACCOUNT_ADMIN',
  'AD_MANAGER',
  'CREATIVE_MANAGER',
  'CAMPAIGN_ANALYST',
  'ANALYST',
  'PARTNER_AUDIENCE_MANAGER',
  'TWEET_COMPOSER'
] as const
export type AccountPermission = (typeof ACCOUNT_PERMISSIONS)[number]

/** "It is available only to ACCOUNT_ADMIN, AD_MANAGER or CREATIVE_MANAGER." */
const COMPOSER_COMPANIONS: readonly AccountPermission[] = ['ACCOUNT_ADMIN', 'AD_MANAGER', 'CREATIVE_MANAGER']

const EVERYONE: readonly AccountPermission[] = [
  'ACCOUNT_ADMIN',
  'AD_MANAGER',
  'CREATIVE_MANAGER',
  'CAMPAIGN_ANALYST',
  'ANALYST',
  'PARTNER_AUDIENCE_MANAGER'
]

/** What a route declares, and which permissions suffice for it. TWEET_COMPOSER alone allows nothing. */
export const ACCOUNT_OPERATIONS = {
  /** The account itself, its features, the caller's own access and settings. */
  'account.read': EVERYONE,
  /** Name, industry, tax settings. */
  'account.write': ['ACCOUNT_ADMIN'],
  'users.read': ['ACCOUNT_ADMIN'],
  'users.write': ['ACCOUNT_ADMIN'],
  /** Campaigns, line items, funding instruments, targeting, promoted entities, history. */
  'campaigns.read': ['ACCOUNT_ADMIN', 'AD_MANAGER', 'CREATIVE_MANAGER', 'CAMPAIGN_ANALYST'],
  'campaigns.write': ['ACCOUNT_ADMIN', 'AD_MANAGER'],
  /** Media creatives, account media, media library, cards, previews. */
  'creatives.read': ['ACCOUNT_ADMIN', 'AD_MANAGER', 'CREATIVE_MANAGER'],
  'creatives.write': ['ACCOUNT_ADMIN', 'AD_MANAGER', 'CREATIVE_MANAGER'],
  'stats.read': ['ACCOUNT_ADMIN', 'AD_MANAGER', 'CREATIVE_MANAGER', 'CAMPAIGN_ANALYST'],
  /** Organic analytics and audience insights. */
  'insights.read': ['ACCOUNT_ADMIN', 'AD_MANAGER', 'ANALYST'],
  'audiences.read': ['ACCOUNT_ADMIN', 'AD_MANAGER'],
  'audiences.write': ['ACCOUNT_ADMIN', 'AD_MANAGER'],
  /** Audiences that a data partner brings. */
  'partner_audiences.read': ['ACCOUNT_ADMIN', 'AD_MANAGER', 'PARTNER_AUDIENCE_MANAGER'],
  'partner_audiences.write': ['ACCOUNT_ADMIN', 'AD_MANAGER', 'PARTNER_AUDIENCE_MANAGER'],
  /** Promoted-only posts for the owner; needs TWEET_COMPOSER as well. */
  'posts.compose': COMPOSER_COMPANIONS
} as const satisfies Record<string, readonly AccountPermission[]>
export type AccountOperation = keyof typeof ACCOUNT_OPERATIONS

export function allows(held: readonly AccountPermission[], operation: AccountOperation): boolean {
  if (operation === 'posts.compose' && !held.includes('TWEET_COMPOSER')) return false
  const sufficient: readonly AccountPermission[] = ACCOUNT_OPERATIONS[operation]
  return held.some((permission) => sufficient.includes(permission))
}

declare module '../storage/db.ts' {
  interface Tables {
    account_access: {
      account_id: string
      user_id: string
      permissions: Defaulted<AccountPermission[]>
      created_at: Time
      updated_at: Time
    }
  }
}

/** Each once, in the order of the document; refuses names that are none and a composer without a companion. */
export function checkedPermissions(names: readonly string[]): AccountPermission[] {
  const unknown = names.filter((name) => !ACCOUNT_PERMISSIONS.includes(name as AccountPermission))
  if (unknown.length > 0 || names.length === 0) {
    throw badRequest('INVALID_PARAMETER', `permissions must be one or more of ${ACCOUNT_PERMISSIONS.join(', ')}`, {
      parameter: 'permissions',
      ...(unknown.length > 0 ? { value: unknown.join(',') } : {})
    })
  }
  const permissions = ACCOUNT_PERMISSIONS.filter((permission) => names.includes(permission))
  if (permissions.includes('TWEET_COMPOSER') && !permissions.some((each) => COMPOSER_COMPANIONS.includes(each))) {
    throw badRequest('INVALID_PARAMETER', `TWEET_COMPOSER needs one of ${COMPOSER_COMPANIONS.join(', ')} beside it`, {
      parameter: 'permissions'
    })
  }
  return permissions
}

/** Gives a user exactly these permissions on an account, whatever they had before. */
export async function grantAccountAccess(
  db: Db,
  input: { account_id: string; user_id: string; permissions: readonly string[] },
  now: Date
) {
  const permissions = checkedPermissions(input.permissions)
  const granted = await db
    .insertInto('account_access')
    .values({ account_id: input.account_id, user_id: input.user_id, permissions, created_at: now, updated_at: now })
    .onConflict((oc) => oc.columns(['account_id', 'user_id']).doUpdateSet({ permissions, updated_at: now }))
    .returningAll()
    .executeTakeFirstOrThrow()
  await announce(db, { user: input.user_id })
  return granted
}

/** Whether there was something to take away. */
export async function revokeAccountAccess(db: Db, accountId: string, userId: string) {
  const { numDeletedRows } = await db
    .deleteFrom('account_access')
    .where('account_id', '=', accountId)
    .where('user_id', '=', userId)
    .executeTakeFirst()
  await announce(db, { user: userId })
  return numDeletedRows > 0n
}

/** A user's permissions on an account; undefined if the account is none of theirs. */
export async function findAccountAccess(db: Db, accountId: string, userId: string) {
  const row = await db
    .selectFrom('account_access')
    .select('permissions')
    .where('account_id', '=', accountId)
    .where('user_id', '=', userId)
    .executeTakeFirst()
  return row?.permissions
}

export const listAccountAccess = (db: Db, filter: { account_id?: string; user_id?: string } = {}) => {
  let query = db.selectFrom('account_access').selectAll()
  if (filter.account_id !== undefined) query = query.where('account_id', '=', filter.account_id)
  if (filter.user_id !== undefined) query = query.where('user_id', '=', filter.user_id)
  return query.orderBy('account_id').orderBy('user_id').execute()
}
