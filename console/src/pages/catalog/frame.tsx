/** Around every page of the section: the listener, and what to do for those who have no access yet. */
import './catalog.css'
import { useMutation, useQueryClient } from '@tanstack/react-query'
import { Link } from '@tanstack/react-router'
import type { ReactNode } from 'react'
import { ApiProblem, ask } from '../../client/api.ts'
import { usePerson } from '../../client/session.ts'
import { Empty, Problem } from '../../ui/bits.tsx'
import { Button } from '../../ui/button.tsx'
import { Code } from '../../ui/code.tsx'
import { Listening } from '../../ui/listener-switch.tsx'
import { say } from '../../ui/overlays.tsx'

export const Frame = ({ children }: { children: ReactNode }) => <Listening home="/catalog">{children}</Listening>

const EARLY_ACCESS = 'catalog.early_access'

const isNoAccess = (error: unknown) =>
  error instanceof ApiProblem &&
  error.status === 403 &&
  error.faults.some(({ code }) => code === 'UNAUTHORIZED_CLIENT_APPLICATION')

/** What the server refused, with a way on where there is one. */
export function Refusal({ error, retry }: { error: unknown; retry?: (() => void) | undefined }) {
  const { user } = usePerson()
  if (!user) return <NoUser />
  return isNoAccess(error) ? <NoEarlyAccess error={error as ApiProblem} /> : <Problem error={error} retry={retry} />
}

/** Signed in with an admin token: there is no user whose catalogs these could be. */
function NoUser() {
  return (
    <Empty
      icon="user"
      title="Catalogs belong to users"
      action={
        <Link className="button" to="/catalog/imports">
          See all imports
        </Link>
      }
    >
      You have signed in with an admin token, which acts for nobody. Sign in with a username and password to see the
      catalogs of that user. As an operator you can look at the imports of all catalogs.
    </Empty>
  )
}

function NoEarlyAccess({ error }: { error: ApiProblem }) {
  const client = useQueryClient()
  const { user, operator } = usePerson()
  const entry = { list: EARLY_ACCESS, subject_kind: 'user', subject_id: user!.id }
  const grant = useMutation({
    mutationFn: () => ask('PUT', '/admin/allow_lists', { body: entry }),
    onSuccess: async () => {
      await client.invalidateQueries()
      say('You have early access')
    }
  })
  return (
    <Empty
      icon="key"
      title="Catalogs need early access"
      action={
        operator ? (
          <Button variant="primary" busy={grant.isPending && 'Adding you …'} onClick={() => grant.mutate()}>
            Give me early access
          </Button>
        ) : (
          <div style={{ width: 'min(46rem, 100%)', textAlign: 'left' }}>
            <Code wrap label="request for the operator" text={`PUT /admin/allow_lists\n${JSON.stringify(entry)}`} />
          </div>
        )
      }
    >
      {error.message}.{' '}
      {operator
        ? 'You are an operator and can give it to yourself.'
        : 'Ask the operator of this server for it; this is the request they have to make:'}
      {grant.error ? <Problem error={grant.error} /> : null}
    </Empty>
  )
}
