import { useQuery } from '@tanstack/react-query'
import { Link } from '@tanstack/react-router'
import { useState } from 'react'
import { type App, appsQuery, usersQuery } from '../../client/resources.ts'
import { Badge, Empty, Id, Loading, Problem, Time } from '../../ui/bits.tsx'
import { Button } from '../../ui/button.tsx'
import { SearchBox } from '../../ui/fields.tsx'
import { Page } from '../../ui/page.tsx'
import { type Column, Table } from '../../ui/table.tsx'
import { CreateApp } from './create.tsx'

const ADS_ACCESS: Record<string, string> = { none: '–', read: 'Read', 'read-write': 'Read and write' }

const columnsFor = (usernameOf: (id: string) => string): Column<App>[] => [
  {
    id: 'name',
    header: 'App',
    cell: (app) => (
      <span className="row">
        <Link className="row-link" to="/apps/$appId" params={{ appId: app.id }}>
          {app.name}
        </Link>
        {app.suspended ? <Badge tone="bad">suspended</Badge> : null}
      </span>
    )
  },
  { id: 'id', header: 'Id', width: 'shrink', cell: (app) => <Id value={app.id} /> },
  {
    id: 'owner',
    header: 'Owner',
    width: 'shrink',
    cell: (app) => (app.owner_user_id ? `@${usernameOf(app.owner_user_id)}` : <span className="muted">–</span>)
  },
  { id: 'ads', header: 'Ads API', width: 'shrink', cell: (app) => ADS_ACCESS[app.ads_access] ?? app.ads_access },
  { id: 'created', header: 'Created', width: 'shrink', align: 'end', cell: (app) => <Time iso={app.created_at} /> }
]

export function AppList() {
  const apps = useQuery(appsQuery)
  const { data: users } = useQuery(usersQuery)
  const [creating, setCreating] = useState(false)
  const [wanted, setWanted] = useState('')
  const usernameOf = (id: string) => users?.find((user) => user.id === id)?.username ?? id
  const found = (apps.data ?? []).filter(
    ({ name, id, consumer_key }) =>
      wanted === '' || [name.toLowerCase(), id, consumer_key].some((text) => text.includes(wanted.toLowerCase()))
  )
  const create = (
    <Button variant="primary" icon="plus" onClick={() => setCreating(true)}>
      Create an app
    </Button>
  )
  return (
    <Page
      title="Apps"
      lead="An app has keys, owns webhooks, and calls the APIs for itself or for people who allow it."
      actions={create}
    >
      {apps.error ? <Problem error={apps.error} retry={() => void apps.refetch()} /> : null}
      {apps.data === undefined ? (
        apps.error ? null : (
          <Loading what="apps" />
        )
      ) : apps.data.length === 0 ? (
        <Empty icon="apps" title="No apps yet" action={create}>
          Everything begins with an app: its keys sign requests and deliveries.
        </Empty>
      ) : (
        <>
          {apps.data.length > 5 ? (
            <div className="filters">
              <SearchBox label="Name, id or key" value={wanted} onChange={({ target }) => setWanted(target.value)} />
            </div>
          ) : null}
          {found.length === 0 ? (
            <Empty
              icon="search"
              title={`No app fits “${wanted}”`}
              action={<Button onClick={() => setWanted('')}>Show all</Button>}
            />
          ) : (
            <Table rows={found} columns={columnsFor(usernameOf)} keyOf={({ id }) => id} label="Apps" />
          )}
        </>
      )}
      <CreateApp open={creating} onClose={() => setCreating(false)} users={users ?? []} />
    </Page>
  )
}
