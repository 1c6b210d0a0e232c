/** Ad accounts: what a user may advertise through. Sandbox accounts are made and removed by their users. */
import { sql } from 'kysely'
import { badRequest, forbidden } from '../errors.ts'
import type { AdsScope, Environment } from '../http/ads.ts'
import { listInput } from '../http/ads.ts'
import { bool, choice, clearable, id, list, text } from '../http/ads-input.ts'
import { ALLOW_LISTS, allow, grantAccountAccess } from '../identity/index.ts'
import type { Db, Defaulted } from '../storage/db.ts'
import { listEntities } from '../storage/entities.ts'
import { newAdsId } from '../storage/ids.ts'
import { fragment } from '../storage/statements.ts'
import { ACCOUNTS_CHANNEL, type AccountAccessCache } from './account-access.ts'
import { readReference } from './reference/load.ts'
import { nameStartsWith } from './rows.ts'
import { addSamples } from './samples.ts'
import { Entity, EntityFields, folded, STAMPS, Text, TextOrNull, wire } from './wire.ts'
import { writeRoute } from './writes.ts'

export const APPROVAL_STATUSES = ['ACCEPTED', 'UNDER_REVIEW', 'REJECTED'] as const
export type ApprovalStatus = (typeof APPROVAL_STATUSES)[number]

export const INDUSTRY_TYPES = [
  'AGENCY',
  'BUSINESS_TO_BUSINESS',
  'ONLINE_SERVICES',
  'EDUCATION',
  'FINANCIAL',
  'HEALTH',
  'GOVERNMENT',
  'MEDIA',
  'MOBILE',
  'RESTAURANT',
  'RETAIL',
  'TECHNOLOGY',
  'TRAVEL',
  'OTHER'
] as const

declare module '../storage/db.ts' {
  interface Tables {
    ad_accounts: {
      id: string
      environment: Environment
      name: string
      name_folded: string
      business_name: string | null
      business_id: string | null
      timezone: string
      timezone_switch_at: TimeOrNull
      approval_status: Defaulted<ApprovalStatus>
      industry_type: string | null
      active_campaigns_max: Defaulted<number>
      line_items_per_campaign_max: Defaulted<number>
      active_line_items_max: Defaulted<number>
      created_at: Time
      updated_at: Time
      deleted: Defaulted<boolean>
    }
    account_features: { account_id: string; feature_key: string; created_at: Time }
    promotable_users: {
      account_id: string
      id: string
      user_id: string
      promotable_user_type: string
      created_at: Time
      updated_at: Time
      deleted: Defaulted<boolean>
    }
    account_apps: {
      account_id: string
      id: string
      app_store_identifier: string
      conversion_tracking_enabled: Defaulted<boolean>
      deep_link_pattern: string | null
      os_type: string
      created_at: Time
      updated_at: Time
      deleted: Defaulted<boolean>
    }
    account_media: {
      account_id: string
      id: string
      video_id: string | null
      media_url: string | null
      media_key: string | null
      creative_type: string
      created_at: Time
      updated_at: Time
      deleted: Defaulted<boolean>
    }
  }
}

/** List items have these; single reads and updates add the industry. */
const accountFields = {
  name: Text,
  business_name: TextOrNull,
  timezone: Text,
  timezone_switch_at: TextOrNull,
  id: Text,
  created_at: Text,
  updated_at: Text,
  business_id: TextOrNull,
  approval_status: Text,
  deleted: EntityFields.deleted
}
const AccountItem = Entity(accountFields)
const Account = Entity({ ...accountFields, industry_type: TextOrNull })

const TIMES = [...STAMPS, 'timezone_switch_at'] as const
export const ACCOUNT_SORTABLE = ['created_at', 'updated_at', 'deleted', 'name'] as const

export interface NewAccount {
  environment: Environment
  /** Becomes ACCOUNT_ADMIN with TWEET_COMPOSER, and the one user that the account promotes in full. */
  ownerUserId: string
  name?: string
  business_name?: string | null
  timezone?: string
  approval_status?: ApprovalStatus
  industry_type?: string | null
  /** What a new sandbox account owns, unless said otherwise; nothing in production. */
  features?: readonly string[]
  /** Rows that no call of the documents can create; sandbox accounts get them unless said otherwise. */
  samples?: boolean
}

/** A new account with its owner's access. Sandbox accounts may read their history: there, everything can be tried. */
export async function createAccount(db: Db, input: NewAccount, now: Date) {
  const sandbox = input.environment === 'sandbox'
  const name = input.name ?? (sandbox ? 'Sandbox account' : 'Ad account')
  const account = await db
    .insertInto('ad_accounts')
    .values({
      id: newAdsId(),
      environment: input.environment,
      name,
      name_folded: folded(name),
      business_name: input.business_name ?? null,
      business_id: null,
      timezone: checkedTimezone(input.timezone ?? 'America/Los_Angeles'),
      approval_status: input.approval_status ?? 'ACCEPTED',
      industry_type: input.industry_type ?? null,
      created_at: now,
      updated_at: now
    })
    .returningAll()
    .executeTakeFirstOrThrow()
  const permissions = ['ACCOUNT_ADMIN', 'TWEET_COMPOSER']
  await grantAccountAccess(db, { account_id: account.id, user_id: input.ownerUserId, permissions }, now)
  await db
    .insertInto('promotable_users')
    .values({
      account_id: account.id,
      id: newAdsId(),
      user_id: input.ownerUserId,
      promotable_user_type: 'FULL',
      created_at: now,
      updated_at: now
    })
    .execute()
  await addFeatures(db, account.id, input.features ?? (sandbox ? featuresOfNewSandboxAccounts() : []), now)
  if (sandbox) {
    await allow(db, { list: ALLOW_LISTS.accountHistory, subject_kind: 'account', subject_id: account.id }, now)
  }
  if (input.samples ?? sandbox) await addSamples(db, account.id, now)
  return account
}

const featuresOfNewSandboxAccounts = () =>
  readReference('feature_keys')
    .filter((key) => key.granted_to_new_sandbox_accounts)
    .map((key) => key.id)

export async function addFeatures(db: Db, accountId: string, keys: readonly string[], now: Date) {
  if (keys.length === 0) return
  await db
    .insertInto('account_features')
    .values(keys.map((feature_key) => ({ account_id: accountId, feature_key, created_at: now })))
    .onConflict((oc) => oc.doNothing())
    .execute()
}

export function checkedTimezone(timezone: string) {
  try {
    return new Intl.DateTimeFormat('en', { timeZone: timezone }).resolvedOptions().timeZone
  } catch {
    throw badRequest('INVALID_PARAMETER', `Expected an IANA time zone, got "${timezone.slice(0, 100)}" for timezone`, {
      parameter: 'timezone'
    })
  }
}

const accountNotFound = (accountId: string) => forbidden('ACCOUNT_NOT_FOUND', `Account ${accountId} was not found`)

/** The account itself; one that is gone answers like one that never was. */
export async function getAccount(db: Db, accountId: string, { lock = false, withDeleted = false } = {}) {
  let query = db.selectFrom('ad_accounts').selectAll().where('id', '=', accountId)
  if (lock) query = query.forNoKeyUpdate()
  const account = await query.executeTakeFirst()
  if (!account || (account.deleted && !withDeleted)) throw accountNotFound(accountId)
  return account
}

export type AccountRow = Awaited<ReturnType<typeof getAccount>>

/** Tells every node that what it remembers about accounts may be wrong. */
const announce = (db: Db, accountId: string) => sql`select pg_notify(${ACCOUNTS_CHANNEL}, ${accountId})`.execute(db)

export type AccountPatch = Partial<
  Pick<
    AccountRow,
    | 'name'
    | 'industry_type'
    | 'business_name'
    | 'business_id'
    | 'approval_status'
    | 'active_campaigns_max'
    | 'line_items_per_campaign_max'
    | 'active_line_items_max'
  >
>

/** Changes what is given and differs; nothing else is touched, not even updated_at. */
export async function updateAccount(db: Db, accountId: string, patch: AccountPatch, now: Date) {
  const account = await getAccount(db, accountId, { lock: true })
  const changes = Object.entries(patch).filter(
    ([key, value]) => value !== undefined && value !== account[key as keyof AccountRow]
  )
  if (changes.length === 0) return account
  return db
    .updateTable('ad_accounts')
    .set({
      ...Object.fromEntries(changes),
      ...(patch.name === undefined ? {} : { name_folded: folded(patch.name) }),
      updated_at: now
    })
    .where('id', '=', accountId)
    .returningAll()
    .executeTakeFirstOrThrow()
}

export async function deleteAccount(db: Db, accountId: string, now: Date) {
  await getAccount(db, accountId, { lock: true })
  await announce(db, accountId)
  return db
    .updateTable('ad_accounts')
    .set({ deleted: true, updated_at: now })
    .where('id', '=', accountId)
    .returningAll()
    .executeTakeFirstOrThrow()
}

const shaped = (account: AccountRow) => wire(account, TIMES)

export function accountRoutes(scope: AdsScope, access: AccountAccessCache) {
  const { environment } = scope
  const { database } = scope.deps
  const { db } = database

  scope.route({
    method: 'GET',
    path: '/accounts',
    summary: 'Accounts that the authenticated user has access to.',
    input: { ...listInput, account_ids: list(id()), q: text() },
    output: AccountItem,
    many: true,
    handler: async ({ input, principal }) => {
      const page = await listEntities<AccountRow>(database, 'ad_accounts', input, {
        where: { environment, id: input.account_ids },
        conditions: [
          fragment`e.id in (select account_id from account_access where user_id = ${principal.user.id})`,
          ...(input.q === undefined ? [] : [nameStartsWith(folded(input.q))])
        ],
        inputs: [principal.user.id, input.q],
        sortable: ACCOUNT_SORTABLE
      })
      return { ...page, rows: page.rows.map(shaped) }
    }
  })

  scope.route({
    method: 'GET',
    path: '/accounts/:account_id',
    summary: 'One account.',
    input: { with_deleted: bool() },
    output: Account,
    operation: 'account.read',
    deletedAccount: true,
    handler: async ({ input, path }) =>
      shaped(await getAccount(db, path.account_id!, { withDeleted: input.with_deleted ?? false }))
  })

  writeRoute(scope, {
    method: 'POST',
    path: '/accounts',
    summary: 'Create a sandbox account.',
    output: AccountItem,
    many: true,
    sandboxOnly: true,
    handler: async ({ tx, now, principal }) => ({
      rows: [shaped(await createAccount(tx, { environment, ownerUserId: principal.user.id }, now))]
    })
  })

  writeRoute(scope, {
    method: 'PUT',
    path: '/accounts/:account_id',
    summary: 'Update the name or the industry of an account.',
    input: { name: text({ refuseEmpty: true }), industry_type: clearable(choice(INDUSTRY_TYPES)) },
    output: Account,
    operation: 'account.write',
    handler: async ({ tx, now, path, input }) => shaped(await updateAccount(tx, path.account_id!, input, now))
  })

  writeRoute(scope, {
    method: 'DELETE',
    path: '/accounts/:account_id',
    summary: 'Delete a sandbox account.',
    output: Account,
    operation: 'account.write',
    sandboxOnly: true,
    handler: async ({ tx, now, path }) => shaped(await deleteAccount(tx, path.account_id!, now)),
    committed: () => access.forget()
  })
}
