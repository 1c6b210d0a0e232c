/** Around every page of an account: which one it is, and the way to another. */
import { useQuery } from '@tanstack/react-query'
import { getRouteApi, Outlet, useNavigate } from '@tanstack/react-router'
import { useListener } from '../../client/listener.ts'
import { Id, Loading } from '../../ui/bits.tsx'
import { Select } from '../../ui/fields.tsx'
import { Page } from '../../ui/page.tsx'
import { ApprovalBadge } from './badges.tsx'
import { accessQuery, accountQuery, accountsQuery } from './queries.ts'
import { Refusal } from './refusal.tsx'
import { type Scope, ScopeProvider, useNewScope } from './scope.tsx'

const route = getRouteApi('/shell/ads/$accountId')

export function AccountFrame() {
  const { accountId } = route.useParams()
  const listener = useListener()
  const account = useQuery(accountQuery(listener, accountId))
  const access = useQuery(accessQuery(listener, accountId))
  const scope = useNewScope(listener, account.data, access.data?.permissions)
  if (!scope) {
    const error = account.error ?? access.error
    return error ? (
      <Refusal accountId={accountId} listener={listener} error={error} />
    ) : (
      <Page title="Ad account">
        <Loading what="the account" />
      </Page>
    )
  }
  return (
    <ScopeProvider value={scope}>
      <AccountBar scope={scope} />
      <Outlet key={scope.accountId} />
    </ScopeProvider>
  )
}

const ALL = ''

function AccountBar({ scope }: { scope: Scope }) {
  const { listener, account } = scope
  const navigate = useNavigate()
  const { data } = useQuery(accountsQuery(listener))
  const others = data?.data ?? []
  const known = others.some(({ id }) => id === account.id) ? others : [account, ...others]
  return (
    <section className="account-bar" aria-label="Account">
      <span className="account-mark" aria-hidden="true">
        {account.name.slice(0, 1).toUpperCase()}
      </span>
      <Select
        label="Account"
        value={account.id}
        onChange={({ target }) =>
          void (target.value === ALL
            ? navigate({ to: '/ads', search: { listener: listener === 'sandbox' ? listener : undefined } })
            : navigate({
                to: '/ads/$accountId',
                params: { accountId: target.value },
                search: { listener: listener === 'sandbox' ? listener : undefined }
              }))
        }
        choices={[
          ...known.map(({ id, name }) => {
            const alone = known.filter((each) => each.name === name).length === 1
            return [id, alone ? name : `${name} (${id})`] as const
          }),
          [ALL, 'All accounts …']
        ]}
      />
      <span className="account-facts row wrap">
        <Id value={account.id} />
        {account.approval_status === 'ACCEPTED' ? null : <ApprovalBadge status={account.approval_status} />}
        <span className="muted small">Days begin at midnight in {account.timezone.replaceAll('_', ' ')}</span>
      </span>
    </section>
  )
}
