/** The account that a page is about, and what this person may do with it. The server decides; this says what to offer. */
import { useQueryClient } from '@tanstack/react-query'
import { createContext, useContext, useMemo } from 'react'
import type { Listener } from '../../client/listener.ts'
import { type AdAccount, accountKey, accountPath } from './queries.ts'

const MAY = {
  'campaigns.read': ['ACCOUNT_ADMIN', 'AD_MANAGER', 'CREATIVE_MANAGER', 'CAMPAIGN_ANALYST'],
  'campaigns.write': ['ACCOUNT_ADMIN', 'AD_MANAGER'],
  'creatives.read': ['ACCOUNT_ADMIN', 'AD_MANAGER', 'CREATIVE_MANAGER'],
  'creatives.write': ['ACCOUNT_ADMIN', 'AD_MANAGER', 'CREATIVE_MANAGER'],
  'account.write': ['ACCOUNT_ADMIN']
} as const
export type Operation = keyof typeof MAY

export interface Scope {
  listener: Listener
  accountId: string
  account: AdAccount
  permissions: readonly string[]
  may(operation: Operation): boolean
  /** An address below the account. */
  at(path: string): string
  /** Lets everything of the account be asked for again. */
  changed(): Promise<void>
}

const Context = createContext<Scope | undefined>(undefined)
export const ScopeProvider = Context.Provider

export function useScope(): Scope {
  const scope = useContext(Context)
  if (!scope) throw new Error('no account around this page')
  return scope
}

export function useNewScope(
  listener: Listener,
  account: AdAccount | undefined,
  permissions: readonly string[] | undefined
) {
  const client = useQueryClient()
  return useMemo((): Scope | undefined => {
    if (!account || !permissions) return undefined
    return {
      listener,
      accountId: account.id,
      account,
      permissions,
      may: (operation) => MAY[operation].some((each) => permissions.includes(each)),
      at: (path) => accountPath(listener, account.id, path),
      changed: async () => {
        await client.invalidateQueries({ queryKey: accountKey(listener, account.id) })
      }
    }
  }, [listener, account, permissions, client])
}
