/** How everything is doing right now, and the way in for those who are new. */
import { useQuery } from '@tanstack/react-query'
import { Link } from '@tanstack/react-router'
import { useState } from 'react'
import { compact, duration, milliseconds, percent, plural, rate } from '../../client/format.ts'
import { LIVE_MS } from '../../client/query-client.ts'
import { appsQuery, webhooksQuery } from '../../client/resources.ts'
import { usePerson } from '../../client/session.ts'
import { Callout, Card, Empty, Loading, Problem, Tile, useNow } from '../../ui/bits.tsx'
import { Page } from '../../ui/page.tsx'
import { type Column, Table } from '../../ui/table.tsx'
import { FirstSteps } from './first-steps.tsx'
import { HealthCards } from './health.tsx'
import { OwnApp } from './own-apps.tsx'
import { type Lane, type Overview, overviewQuery } from './queries.ts'
import { Traffic } from './traffic.tsx'

export function Home() {
  const { operator } = usePerson()
  return operator ? <OperatorHome /> : <PersonHome />
}

function PersonHome() {
  const { user, apps } = usePerson()
  return (
    <Page title={`Hello, ${user?.name ?? 'there'}`} lead="Your apps and what they are told.">
      {apps.length === 0 ? (
        <Empty icon="apps" title="You have no apps">
          An operator creates an app and makes you its owner; then its webhooks are here.
        </Empty>
      ) : (
        <div className="stack">
          {apps.map((app) => (
            <OwnApp key={app.id} app={app} />
          ))}
        </div>
      )}
    </Page>
  )
}

function OperatorHome() {
  const { data, error, refetch } = useQuery({ ...overviewQuery, refetchInterval: LIVE_MS })
  // Where nothing is registered yet, the first steps come first. Decided once: nothing jumps while they are taken.
  const [isNew, setIsNew] = useState<boolean>()
  if (data && isNew === undefined) setIsNew(data.webhooks === 0)
  return (
    <Page
      title="Home"
      lead={
        <span className="row">
          <span className="live-dot" />
          Live
        </span>
      }
    >
      <div className="stack loose">
        {error ? <Problem error={error} retry={() => void refetch()} /> : null}
        {data ? <Figures overview={data} /> : error ? null : <Loading what="the overview" />}
        {isNew === true ? <FirstSteps /> : null}
        <Traffic />
        {data ? <Backlog lanes={data.oldest_by_webhook} /> : null}
        {isNew === false ? <FirstSteps /> : null}
        <HealthCards />
      </div>
    </Page>
  )
}

function Figures({ overview }: { overview: Overview }) {
  const { latency_ms: latency, success_rate, invalid_webhooks, oldest_due_at } = overview
  const now = useNow()
  const behind = oldest_due_at ? now - Date.parse(oldest_due_at) : 0
  return (
    <div className="stack">
      {invalid_webhooks > 0 ? (
        <Callout tone="bad">
          {plural(invalid_webhooks, 'webhook is', 'webhooks are')} invalid and {invalid_webhooks === 1 ? 'gets' : 'get'}{' '}
          no events.{' '}
          <Link to="/webhooks" search={{ valid: false }}>
            See why and mend it
          </Link>
        </Callout>
      ) : null}
      <div className="grid-4">
        <Tile
          label="Deliveries per second"
          value={rate(overview.deliveries_per_second)}
          note={`over ${duration(overview.window_seconds * 1_000)}`}
        />
        <Tile
          label="Success rate"
          value={success_rate === null ? '–' : percent(success_rate)}
          tone={success_rate !== null && success_rate < 0.95 ? (success_rate < 0.8 ? 'bad' : 'warn') : 'plain'}
          note={
            success_rate === null
              ? 'nothing was sent lately'
              : `${compact(overview.delivered)} of ${compact(overview.attempts)} attempts`
          }
        />
        <Tile
          label="Latency, median"
          value={latency.p50 === null ? '–' : milliseconds(latency.p50)}
          note={
            latency.p99 === null
              ? 'of the consumer’s answer'
              : `p95 ${milliseconds(latency.p95!)} · p99 ${milliseconds(latency.p99)}`
          }
        />
        <Tile
          label="Backlog"
          value={`${compact(overview.backlog)}${overview.backlog_counted_to_end ? '' : '+'}`}
          tone={behind > 60_000 ? 'warn' : 'plain'}
          note={oldest_due_at && behind > 0 ? `the oldest was due ${duration(behind)} ago` : 'nothing is late'}
        />
      </div>
    </div>
  )
}

function Backlog({ lanes }: { lanes: Lane[] }) {
  const { data: webhooks } = useQuery(webhooksQuery())
  const { data: apps } = useQuery(appsQuery)
  if (lanes.length === 0) return null
  const urlOf = (id: string) => webhooks?.data.find((webhook) => webhook.id === id)?.url ?? id
  const columns: Column<Lane>[] = [
    {
      id: 'webhook',
      header: 'Webhook',
      clip: true,
      cell: (lane) => (
        <Link className="row-link" to="/webhooks/$webhookId" params={{ webhookId: lane.webhook_id }}>
          {urlOf(lane.webhook_id)}
        </Link>
      )
    },
    {
      id: 'app',
      header: 'App',
      width: 'shrink',
      cell: (lane) => apps?.find(({ id }) => id === lane.app_id)?.name ?? lane.app_id
    },
    {
      id: 'backlog',
      header: 'Waiting',
      align: 'end',
      width: 'shrink',
      cell: (lane) => <span className="num">{compact(lane.backlog)}</span>
    },
    {
      id: 'oldest',
      header: 'Oldest due',
      align: 'end',
      width: 'shrink',
      cell: (lane) => <Late iso={lane.oldest_due_at} />
    }
  ]
  return (
    <Card title="What waits, by webhook" bare>
      <Table rows={lanes} columns={columns} keyOf={(lane) => lane.webhook_id} label="Backlog by webhook" />
    </Card>
  )
}

function Late({ iso }: { iso: string }) {
  const behind = useNow() - Date.parse(iso)
  return (
    <span className={`num nowrap ${behind > 60_000 ? 'warn' : ''}`}>
      {behind > 0 ? `${duration(behind)} ago` : `in ${duration(-behind)}`}
    </span>
  )
}
