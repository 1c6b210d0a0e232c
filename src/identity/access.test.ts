import assert from 'node:assert/strict'
import { after, test } from 'node:test'
import { testDatabase } from '../../test/database.ts'
import {
  ACCOUNT_OPERATIONS,
  ACCOUNT_PERMISSIONS,
  type AccountOperation,
  type AccountPermission,
  allows,
  findAccountAccess,
  grantAccountAccess,
  listAccountAccess,
  revokeAccountAccess
} from './access.ts'
import { ALLOW_LISTS, allow, disallow, isAllowed, listAllowed } from './allow-lists.ts'
import { createUser } from './users.ts'

const now = new Date('2026-01-15T12:00:00Z')
const { db } = (await testDatabase({ after })).database
const { id: userId } = await createUser(db, { username: 'ann' }, now)

/** The rows of the enforcement table, in the order of the permissions: y may, n may not. */
const ENFORCED: [AccountOperation, string][] = [
  ['campaigns.read', 'yyyynn'],
  ['campaigns.write', 'yynnnn'],
  ['creatives.write', 'yyynnn'],
  ['stats.read', 'yyyynn'],
  ['account.write', 'ynnnnn'],
  ['users.write', 'ynnnnn'],
  ['account.read', 'yyyyyy'],
  ['insights.read', 'yynnyn'],
  ['partner_audiences.write', 'yynnny']
]

test('enforces the table of permissions and operations', () => {
  for (const [operation, row] of ENFORCED) {
    const actual = ACCOUNT_PERMISSIONS.slice(0, 6).map((permission) => (allows([permission], operation) ? 'y' : 'n'))
    assert.equal(actual.join(''), row, operation)
  }
})

test('lets a composer do nothing alone, and compose beside a manager', () => {
  for (const operation of Object.keys(ACCOUNT_OPERATIONS) as AccountOperation[]) {
    assert.equal(allows(['TWEET_COMPOSER'], operation), false, operation)
    assert.equal(allows([], operation), false, operation)
  }
  const composers = ACCOUNT_PERMISSIONS.filter((each) => allows([each, 'TWEET_COMPOSER'], 'posts.compose'))
  assert.deepEqual(composers, ['ACCOUNT_ADMIN', 'AD_MANAGER', 'CREATIVE_MANAGER'])
  assert.equal(allows(['ACCOUNT_ADMIN'], 'posts.compose'), false)
})

test('grants exactly what was asked, replaces it on the next grant, and takes it away', async () => {
  const grant = (permissions: string[]) =>
    grantAccountAccess(db, { account_id: 'acc1', user_id: userId, permissions }, now)

  await grant(['TWEET_COMPOSER', 'AD_MANAGER', 'AD_MANAGER'])
  assert.deepEqual(await findAccountAccess(db, 'acc1', userId), ['AD_MANAGER', 'TWEET_COMPOSER'])
  await grant(['ANALYST'])
  assert.deepEqual(await findAccountAccess(db, 'acc1', userId), ['ANALYST'])
  assert.deepEqual(
    (await listAccountAccess(db, { user_id: userId })).map((row) => row.account_id),
    ['acc1']
  )

  assert.equal(await revokeAccountAccess(db, 'acc1', userId), true)
  assert.equal(await revokeAccountAccess(db, 'acc1', userId), false)
  assert.equal(await findAccountAccess(db, 'acc1', userId), undefined)
})

test('refuses permissions that are none, and a composer without a companion, also past the code', async () => {
  const grant = (permissions: string[]) =>
    grantAccountAccess(db, { account_id: 'acc2', user_id: userId, permissions }, now)

  await assert.rejects(grant([]), { status: 400 })
  await assert.rejects(grant(['OWNER']), { status: 400, message: /ACCOUNT_ADMIN/ })
  await assert.rejects(grant(['TWEET_COMPOSER', 'ANALYST']), { status: 400, message: /needs one of/ })
  const permissions: AccountPermission[] = ['TWEET_COMPOSER']
  await assert.rejects(
    db
      .insertInto('account_access')
      .values({ account_id: 'acc2', user_id: userId, permissions, created_at: now, updated_at: now })
      .execute(),
    /account_access_composer/
  )
})

test('keeps allow-lists as data', async () => {
  const entry = { list: ALLOW_LISTS.catalogEarlyAccess, subject_kind: 'user', subject_id: userId } as const

  assert.equal(await isAllowed(db, entry), false)
  await allow(db, entry, now)
  await allow(db, entry, now)
  assert.equal(await isAllowed(db, entry), true)
  assert.equal(await isAllowed(db, { ...entry, subject_kind: 'app' }), false)
  assert.equal((await listAllowed(db, { subject_id: userId })).length, 1)
  assert.equal(await disallow(db, entry), true)
  assert.equal(await disallow(db, entry), false)
  assert.equal(await isAllowed(db, entry), false)
})
