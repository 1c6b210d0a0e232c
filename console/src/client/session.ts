/** Who has signed in, and what they may do. The server decides; this only says what is worth offering. */
import { queryOptions, useSuspenseQuery } from '@tanstack/react-query'
import { ask } from './api.ts'

export interface Person {
  user: { id: string; username: string; name: string } | null
  operator: boolean
  /** The apps this user owns; operators see all of them under Apps. */
  apps: { id: string; name: string }[]
}
export interface Session {
  person?: Person
  urls: { main: string; sandbox: string }
}

export const sessionQuery = queryOptions({
  queryKey: ['session'],
  queryFn: ({ signal }) => ask<Session>('GET', '/console/session', { signal }),
  staleTime: 60_000
})

export const useSession = () => useSuspenseQuery(sessionQuery).data

export function usePerson(): Person {
  return useSession().person ?? { user: null, operator: false, apps: [] }
}

export const signIn = (credentials: { username: string; password: string } | { admin_token: string }) =>
  ask<Session>('POST', '/console/session', { body: credentials })

/** Leaves the page for good, so that nothing of what it knew stays in memory. */
export async function signOut({ everywhere = false } = {}) {
  await ask('DELETE', '/console/session', { query: { everywhere: everywhere || undefined } })
  window.location.assign('/sign-in')
}
