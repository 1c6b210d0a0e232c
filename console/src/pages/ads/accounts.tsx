/** Ad accounts that this person may use on the chosen listener. */
import { useMutation, useQuery, useQueryClient } from '@tanstack/react-query'
import { getRouteApi, Link } from '@tanstack/react-router'
import { useDeferredValue, useState } from 'react'
import { request } from '../../client/api.ts'
import { adsPath, useListener } from '../../client/listener.ts'
import { usePerson } from '../../client/session.ts'
import { Empty, Id, Loading, Problem, Time } from '../../ui/bits.tsx'
import { Button } from '../../ui/button.tsx'
import { SearchBox } from '../../ui/fields.tsx'
import { say, sayProblem } from '../../ui/overlays.tsx'
import { Page } from '../../ui/page.tsx'
import { type Column, Table } from '../../ui/table.tsx'
import { ApprovalBadge } from './badges.tsx'
import { NewAccountDialog } from './new-account.tsx'
import { type AdAccount, accountsQuery, type Page as PageOf } from './queries.ts'

const route = getRouteApi('/shell/ads/')

const COLUMNS: Column<AdAccount>[] = [
  {
    id: 'name',
    header: 'Account',
    cell: (account) => (
      <Link className="row-link" to="/ads/$accountId" params={{ accountId: account.id }}>
        {account.name}
      </Link>
    )
  },
  { id: 'id', header: 'Id', width: 'shrink', cell: ({ id }) => <Id value={id} /> },
  {
    id: 'approval',
    header: 'Review',
    width: 'shrink',
    cell: ({ approval_status }) => <ApprovalBadge status={approval_status} />
  },
  { id: 'zone', header: 'Time zone', width: 'shrink', cell: ({ timezone }) => timezone.replaceAll('_', ' ') },
  { id: 'created', header: 'Since', width: 'shrink', cell: ({ created_at }) => <Time iso={created_at} /> }
]

export function Accounts() {
  const listener = useListener()
  const { q } = route.useSearch()
  const navigate = route.useNavigate()
  const [typed, setTyped] = useState(q ?? '')
  const wanted = useDeferredValue(q)
  const accounts = useQuery(accountsQuery(listener, wanted))
  const create = useCreateAccount()
  const rows = accounts.data?.data ?? []
  const sandbox = listener === 'sandbox'
  const { operator } = usePerson()
  const [making, setMaking] = useState(false)
  const createButton = sandbox ? (
    <Button variant="primary" icon="plus" busy={create.isPending && 'Creating …'} onClick={() => create.mutate()}>
      Create a sandbox account
    </Button>
  ) : operator ? (
    <Button variant="primary" icon="plus" onClick={() => setMaking(true)}>
      Create an ad account
    </Button>
  ) : null
  return (
    <Page title="Ad accounts" lead="Campaigns, line items and creatives live in an account." actions={createButton}>
      {rows.length > 0 || q ? (
        <div className="filters">
          <SearchBox
            label="Name begins with"
            value={typed}
            onChange={({ target }) => {
              setTyped(target.value)
              void navigate({ search: (was) => ({ ...was, q: target.value || undefined }), replace: true })
            }}
          />
        </div>
      ) : null}
      {accounts.error ? <Problem error={accounts.error} retry={() => void accounts.refetch()} /> : null}
      {accounts.isPending ? (
        <Loading what="accounts" />
      ) : rows.length > 0 ? (
        <Table rows={rows} columns={COLUMNS} keyOf={({ id }) => id} label="Ad accounts" />
      ) : accounts.error ? null : q ? (
        <Empty icon="search" title={`No account begins with “${q}”`}>
          Names are compared from their beginning.
        </Empty>
      ) : (
        <Empty
          icon="ads"
          title={`You have no account in ${sandbox ? 'the sandbox' : 'production'}`}
          action={
            createButton ?? (
              <Link className="button" to="/ads" search={{ listener: 'sandbox' }}>
                Try things out in the sandbox
              </Link>
            )
          }
        >
          {sandbox
            ? 'A sandbox account has everything that a real one has. Nothing in it is shown to anybody or costs money.'
            : 'Accounts in production are made by the operator of this server, who gives you access.'}
        </Empty>
      )}
      <NewAccountDialog open={making} onClose={() => setMaking(false)} />
    </Page>
  )
}

function useCreateAccount() {
  const client = useQueryClient()
  const navigate = route.useNavigate()
  return useMutation({
    mutationFn: () => request<PageOf<AdAccount>>('POST', adsPath('sandbox', '/accounts'), { body: {} }),
    onSuccess: async ({ data: [account] }) => {
      await client.invalidateQueries({ queryKey: ['ads', 'sandbox', 'accounts'] })
      say('The account is there')
      if (account)
        await navigate({ to: '/ads/$accountId', params: { accountId: account.id }, search: { listener: 'sandbox' } })
    },
    onError: sayProblem
  })
}
