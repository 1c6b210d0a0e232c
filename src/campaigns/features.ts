/** Features of an account that are in beta or limited release, and who may do what with the account. */
import { badRequest } from '../errors.ts'
import type { AdsScope } from '../http/ads.ts'
import { list, required, text } from '../http/ads-input.ts'
import type { Db } from '../storage/db.ts'
import { addFeatures } from './accounts.ts'
import type { FeatureKey } from './reference/types.ts'
import type { ReferenceStore } from './reference-store.ts'
import { Entity, Text, Texts } from './wire.ts'
import { writeRoute } from './writes.ts'

export async function listFeatures(db: Db, accountId: string, keys?: readonly string[]): Promise<string[]> {
  let query = db.selectFrom('account_features').select('feature_key').where('account_id', '=', accountId)
  if (keys) query = query.where('feature_key', 'in', keys)
  const rows = await query.orderBy('feature_key').execute()
  return rows.map((row) => row.feature_key)
}

export const hasFeature = async (db: Db, accountId: string, key: string) =>
  (await listFeatures(db, accountId, [key])).length > 0

export async function removeFeatures(db: Db, accountId: string, keys: readonly string[]) {
  await db.deleteFrom('account_features').where('account_id', '=', accountId).where('feature_key', 'in', keys).execute()
}

/** Refuses keys that nobody could own. */
export function checkFeatureKeys(keys: readonly string[], known: readonly string[]) {
  const unknown = keys.find((key) => !known.includes(key))
  if (unknown !== undefined) {
    const message = `Expected a value in {${known.join(', ')}}, got "${unknown.slice(0, 200)}" for feature_keys`
    throw badRequest('INVALID_PARAMETER', message, { parameter: 'feature_keys' })
  }
}

const KEYS_MAX = 200

export function featureRoutes(scope: AdsScope, reference: ReferenceStore) {
  const { db } = scope.deps.database
  const path = '/accounts/:account_id/features'
  const keysOf = async (which: (key: FeatureKey) => boolean) =>
    (await reference.load())
      .rows('feature_keys')
      .filter(which)
      .map((key) => key.id)
  const common = { path, output: Text, many: 'without_cursor' as const }
  const keys = list(text(), { max: KEYS_MAX })

  scope.route({
    ...common,
    method: 'GET',
    summary: 'Features that the account has access to.',
    input: { feature_keys: keys },
    operation: 'account.read',
    handler: async ({ input, path }) => {
      // The document names three keys for this filter; any key that an account can own is as good.
      if (input.feature_keys) checkFeatureKeys(input.feature_keys, await keysOf(() => true))
      return { rows: await listFeatures(db, path.account_id!, input.feature_keys) }
    }
  })

  const write = {
    ...common,
    input: { feature_keys: required(keys) },
    operation: 'account.write',
    sandboxOnly: true
  }
  writeRoute(scope, {
    ...write,
    method: 'POST',
    summary: 'Add features to a sandbox account.',
    handler: async ({ tx, now, path, input }) => {
      checkFeatureKeys(input.feature_keys, await keysOf((key) => key.in_sandbox))
      await addFeatures(tx, path.account_id!, input.feature_keys, now)
      return { rows: await listFeatures(tx, path.account_id!) }
    }
  })
  writeRoute(scope, {
    ...write,
    method: 'DELETE',
    summary: 'Remove features from a sandbox account.',
    handler: async ({ tx, path, input }) => {
      checkFeatureKeys(input.feature_keys, await keysOf((key) => key.in_sandbox))
      await removeFeatures(tx, path.account_id!, input.feature_keys)
      return { rows: await listFeatures(tx, path.account_id!) }
    }
  })

  scope.route({
    method: 'GET',
    path: '/accounts/:account_id/authenticated_user_access',
    summary: 'The permissions of the authenticated user on the account.',
    output: Entity({ user_id: Text, permissions: Texts }),
    operation: 'account.read',
    handler: async ({ principal, access }) => ({ user_id: principal.user.id, permissions: access.permissions })
  })
}
