/** An account that is not this person's to see, or is on the other listener: said clearly, with the ways on. */
import { useMutation, useQuery, useQueryClient } from '@tanstack/react-query'
import { Link } from '@tanstack/react-router'
import { ApiProblem, ask } from '../../client/api.ts'
import type { Listener } from '../../client/listener.ts'
import { usePerson } from '../../client/session.ts'
import { Empty, Problem } from '../../ui/bits.tsx'
import { Button } from '../../ui/button.tsx'
import { say, sayProblem } from '../../ui/overlays.tsx'
import { Page } from '../../ui/page.tsx'
import { accountKey, accountsQuery } from './queries.ts'

interface Props {
  accountId: string
  listener: Listener
  error: Error
}

export function Refusal({ accountId, listener, error }: Props) {
  const refused = error instanceof ApiProblem && (error.status === 403 || error.status === 404)
  return (
    <Page title="Ad account" above={<Link to="/ads">Ad accounts</Link>}>
      {refused ? <Refused accountId={accountId} listener={listener} error={error} /> : <Problem error={error} />}
    </Page>
  )
}

function Refused({ accountId, listener, error }: Props) {
  const { operator } = usePerson()
  const other: Listener = listener === 'sandbox' ? 'production' : 'sandbox'
  const elsewhere = useQuery(accountsQuery(other))
  const there = elsewhere.data?.data.find(({ id }) => id === accountId)
  const where = (name: Listener) => (name === 'sandbox' ? 'the sandbox' : 'production')
  if (there)
    return (
      <Empty
        icon="ads"
        title={`${there.name} is in ${where(other)}`}
        action={
          <Link
            className="button primary"
            to="/ads/$accountId"
            params={{ accountId }}
            search={{ listener: other === 'sandbox' ? other : undefined }}
          >
            Open it in {where(other)}
          </Link>
        }
      >
        You are looking at {where(listener)}, where this account does not exist.
      </Empty>
    )
  return (
    <Empty
      icon="key"
      title="You have no access to this account"
      action={
        <div className="row wrap">
          <Link className="button" to="/ads">
            Your accounts
          </Link>
          {operator ? <TakeAccess accountId={accountId} listener={listener} /> : null}
        </div>
      }
    >
      {error.message}. Either there is no account <code>{accountId}</code> in {where(listener)}, or nobody has given you
      access to it. Its owner or the operator of this server can.
    </Empty>
  )
}

/** Operators may give anybody access, themselves included; the account must be there. */
function TakeAccess({ accountId, listener }: Omit<Props, 'error'>) {
  const { user } = usePerson()
  const client = useQueryClient()
  const found = useQuery({
    queryKey: ['admin', 'ad_accounts', accountId],
    queryFn: ({ signal }) =>
      ask<{ name: string; environment: Listener; deleted: boolean }>('GET', `/admin/ad_accounts/${accountId}`, {
        signal
      }),
    retry: false
  })
  const take = useMutation({
    mutationFn: () =>
      ask('PUT', `/admin/account_access/${accountId}/${user!.id}`, { body: { permissions: ['ACCOUNT_ADMIN'] } }),
    onSuccess: async () => {
      await client.resetQueries({ queryKey: accountKey(listener, accountId) })
      await client.invalidateQueries({ queryKey: ['ads', listener, 'accounts'] })
      say('You have access now')
    },
    onError: sayProblem
  })
  if (!user || found.data?.environment !== listener || found.data.deleted) return null
  return (
    <Button icon="key" busy={take.isPending && 'Giving access …'} onClick={() => take.mutate()}>
      Give me access to {found.data.name}
    </Button>
  )
}
