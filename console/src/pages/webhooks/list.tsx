import { useQuery } from '@tanstack/react-query'
import { getRouteApi, Link } from '@tanstack/react-router'
import { useState } from 'react'
import { compact, percent } from '../../client/format.ts'
import { LIVE_MS } from '../../client/query-client.ts'
import { appsQuery, type Webhook, webhooksQuery } from '../../client/resources.ts'
import { Empty, Loading, Problem, Segmented, Time } from '../../ui/bits.tsx'
import { Button } from '../../ui/button.tsx'
import { Select } from '../../ui/fields.tsx'
import { Page } from '../../ui/page.tsx'
import { type Column, Table } from '../../ui/table.tsx'
import { RegisterDialog } from './register.tsx'
import { Validity } from './validity.tsx'

const route = getRouteApi('/shell/webhooks')

const columnsFor = (appName: (id: string) => string): Column<Webhook>[] => [
  {
    id: 'url',
    header: 'Address',
    clip: true,
    cell: (webhook) => (
      <Link className="row-link" to="/webhooks/$webhookId" params={{ webhookId: webhook.id }} title={webhook.url}>
        {webhook.url.replace(/^https:\/\//, '')}
      </Link>
    )
  },
  { id: 'app', header: 'App', width: 'shrink', cell: (webhook) => appName(webhook.app_id) },
  { id: 'valid', header: 'Status', width: 'shrink', cell: (webhook) => <Validity webhook={webhook} /> },
  {
    id: 'why',
    header: 'Why',
    cell: (webhook) =>
      webhook.valid ? (
        <span className="muted">
          {webhook.last_crc_outcome === 'transient'
            ? 'The last check got no answer; it is repeated'
            : 'Answers challenges'}
        </span>
      ) : (
        <span className="clamp" title={webhook.invalid_reason ?? ''}>
          {webhook.invalid_reason}
        </span>
      )
  },
  {
    id: 'success',
    header: 'Success, last hour',
    align: 'end',
    width: 'shrink',
    cell: ({ success_rate }) => (
      <span className={`num ${success_rate !== null && success_rate < 0.8 ? 'bad' : ''}`}>
        {success_rate === null ? '–' : percent(success_rate)}
      </span>
    )
  },
  {
    id: 'backlog',
    header: 'Waiting',
    align: 'end',
    width: 'shrink',
    cell: ({ backlog, backlog_counted_to_end }) => (
      <span className="num">
        {compact(backlog)}
        {backlog_counted_to_end ? '' : '+'}
      </span>
    )
  },
  {
    id: 'checked',
    header: 'Last check',
    align: 'end',
    width: 'shrink',
    cell: ({ last_crc_at }) => (last_crc_at ? <Time iso={last_crc_at} form="relative" /> : '–')
  }
]

export function WebhookList() {
  const { app, valid } = route.useSearch()
  const navigate = route.useNavigate()
  const [registering, setRegistering] = useState(false)
  const apps = useQuery(appsQuery)
  const webhooks = useQuery({ ...webhooksQuery({ app_id: app, valid }), refetchInterval: LIVE_MS })
  const nameOf = (id: string) => apps.data?.find((each) => each.id === id)?.name ?? id
  const filtered = app !== undefined || valid !== undefined
  return (
    <Page
      title="Webhooks"
      lead="Where events are delivered. A webhook stays valid as long as it answers challenges."
      actions={
        <Button variant="primary" icon="plus" onClick={() => setRegistering(true)}>
          Register a webhook
        </Button>
      }
    >
      <div className="filters">
        <Segmented
          label="Status"
          value={valid === undefined ? 'all' : valid ? 'valid' : 'invalid'}
          onChange={(next) =>
            void navigate({ search: (was) => ({ ...was, valid: next === 'all' ? undefined : next === 'valid' }) })
          }
          options={[
            ['all', 'All'],
            ['valid', 'Valid'],
            ['invalid', 'Invalid']
          ]}
        />
        <Select
          label="App"
          value={app ?? ''}
          onChange={(event) => void navigate({ search: (was) => ({ ...was, app: event.target.value || undefined }) })}
          choices={[['', 'All apps'], ...(apps.data ?? []).map(({ id, name }) => [id, name] as const)]}
        />
      </div>
      {webhooks.error ? <Problem error={webhooks.error} retry={() => void webhooks.refetch()} /> : null}
      {webhooks.data === undefined ? (
        webhooks.error ? null : (
          <Loading what="webhooks" />
        )
      ) : webhooks.data.data.length === 0 ? (
        filtered ? (
          <Empty
            icon="filter"
            title="No webhook fits"
            action={<Button onClick={() => void navigate({ search: {} })}>Show all</Button>}
          >
            {valid === false ? 'None is invalid: all of them answer their challenges.' : 'Try another app or status.'}
          </Empty>
        ) : (
          <Empty
            icon="webhook"
            title="No webhooks yet"
            action={
              <Button variant="primary" onClick={() => setRegistering(true)}>
                Register a webhook
              </Button>
            }
          >
            A webhook is an https address of yours. Herald checks that whoever answers there knows the app’s secret, and
            sends events to it from then on. The built-in inbox is one to start with.
          </Empty>
        )
      ) : (
        <Table rows={webhooks.data.data} columns={columnsFor(nameOf)} keyOf={({ id }) => id} label="Webhooks" />
      )}
      <RegisterDialog open={registering} onClose={() => setRegistering(false)} apps={apps.data ?? []} appId={app} />
    </Page>
  )
}
