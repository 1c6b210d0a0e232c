import { createRootRoute, createRoute, redirect } from '@tanstack/react-router'
import { queryClient } from '../../client/query-client.ts'
import { sessionQuery } from '../../client/session.ts'
import { NotFound } from './not-found.tsx'
import { Shell } from './shell.tsx'
import { SignIn } from './sign-in.tsx'

export const rootRoute = createRootRoute({ notFoundComponent: NotFound })

/** Only addresses of our own; anything else could lead a person who signs in elsewhere. */
const ownPath = (to: unknown) =>
  typeof to === 'string' && /^\/(?![/\\])/.test(to) && !to.startsWith('/sign-in') ? to : undefined

export const signInRoute = createRoute({
  getParentRoute: () => rootRoute,
  path: '/sign-in',
  validateSearch: (search: Record<string, unknown>): { to?: string } => {
    const to = ownPath(search.to)
    return to === undefined ? {} : { to }
  },
  component: SignIn
})

export const shellRoute = createRoute({
  getParentRoute: () => rootRoute,
  id: 'shell',
  beforeLoad: async ({ location }) => {
    const { person } = await queryClient.ensureQueryData(sessionQuery)
    if (!person) throw redirect({ to: '/sign-in', search: location.href === '/' ? {} : { to: location.href } })
  },
  component: Shell
})
