import { MutationCache, QueryCache, QueryClient } from '@tanstack/react-query'
import { ApiProblem } from './api.ts'
import { sessionQuery } from './session.ts'

/** A session may end at any time (12 hours, a new password, another tab): then the page asks who is there. */
function onError(error: unknown) {
  if (error instanceof ApiProblem && error.status === 401) void queryClient.invalidateQueries(sessionQuery)
}

export const queryClient: QueryClient = new QueryClient({
  queryCache: new QueryCache({ onError }),
  mutationCache: new MutationCache({ onError }),
  defaultOptions: {
    queries: {
      staleTime: 1_000,
      retry: (failures, error) =>
        failures < 2 && error instanceof ApiProblem && (error.status === 0 || error.status >= 500)
    }
  }
})

/** How often what is live is asked for again; nothing is asked while the page is hidden. */
export const LIVE_MS = 2_000
