/** Who may do what on the account of the path. Remembered for a moment; changes are announced through the database. */
import type { Deps } from '../deps.ts'
import type { AccountAccess, FindAccountAccess } from '../http/ads.ts'
import { type AccountOperation, type AccountPermission, allows, IDENTITY_CHANNEL } from '../identity/index.ts'

const REMEMBERED_MS = 5_000
const ENTRIES_MAX = 20_000
/** Announces that an account changed: deleted, or its access. */
export const ACCOUNTS_CHANNEL = 'ad_accounts'

interface AccessRow {
  id: string
  environment: 'production' | 'sandbox'
  deleted: boolean
  permissions: AccountPermission[]
}

export interface AccountAccessCache {
  find: FindAccountAccess
  /** At once on this node; others hear of it. */
  forget(): void
  close(): void
}

export function createAccountAccess({ database, listener }: Pick<Deps, 'database' | 'listener'>): AccountAccessCache {
  const cache = new Map<string, { found: Promise<AccountAccess | undefined>; until: number }>()
  // A lookup that began before a change must not be remembered after it.
  let generation = 0
  const forget = () => {
    generation++
    cache.clear()
  }
  const stops = [
    listener.on(IDENTITY_CHANNEL, forget),
    listener.on(ACCOUNTS_CHANNEL, forget),
    listener.onReconnect(forget)
  ]

  async function look(userId: string, accountId: string): Promise<AccountAccess | undefined> {
    const { rows } = await database.pool.query<AccessRow>({
      name: 'campaigns.account_access',
      text: `select a.id, a.environment, a.deleted, x.permissions
             from account_access x join ad_accounts a on a.id = x.account_id
             where x.account_id = $1 and x.user_id = $2`,
      values: [accountId, userId]
    })
    const row = rows[0]
    if (!row) return undefined
    const { permissions, ...account } = row
    return { account, permissions, may: (operation) => allows(permissions, operation as AccountOperation) }
  }

  function remembered(userId: string, accountId: string) {
    const key = `${userId} ${accountId}`
    const now = performance.now()
    const known = cache.get(key)
    if (known && known.until > now) return known.found
    const began = generation
    const found = look(userId, accountId)
    if (cache.size >= ENTRIES_MAX) cache.delete(cache.keys().next().value!)
    cache.set(key, { found, until: now + REMEMBERED_MS })
    const drop = () => {
      if (cache.get(key)?.found === found) cache.delete(key)
    }
    // What is not there is asked for again: it may be made any moment.
    found.then((access) => (access === undefined || began !== generation) && drop(), drop)
    return found
  }

  return {
    async find(userId, accountId, environment) {
      const access = await remembered(userId, accountId)
      return access?.account.environment === environment ? access : undefined
    },
    forget,
    close() {
      for (const stop of stops) stop()
    }
  }
}
