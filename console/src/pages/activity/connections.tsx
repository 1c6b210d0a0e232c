import { useInfiniteQuery, useQueryClient } from '@tanstack/react-query'
import { useState } from 'react'
import { ask } from '../../client/api.ts'
import { LIVE_MS } from '../../client/query-client.ts'
import { type App, pagesOf } from '../../client/resources.ts'
import { Badge, Empty, Loading, Problem, Segmented, Time } from '../../ui/bits.tsx'
import { Button } from '../../ui/button.tsx'
import { Confirm, say, sayProblem } from '../../ui/overlays.tsx'
import { type Column, Table } from '../../ui/table.tsx'

interface Connection {
  id: string
  endpoint_name: string
  connected_at: string
  client_ip: string
  disconnected_at?: string
  disconnect_reason?: string
}

interface Killed {
  failed_kills: number
  results: { error_message?: string }[]
}

const STREAMS: Record<string, string> = { filtered_stream: 'Filtered stream', activity_stream: 'Activity stream' }

export function Connections({ app }: { app: App }) {
  const client = useQueryClient()
  const [status, setStatus] = useState<'active' | 'all'>('active')
  const [ending, setEnding] = useState<Connection | 'all'>()
  const list = useInfiniteQuery({
    ...pagesOf<Connection>(['connections', app.id], '/2/connections', { status, max_results: 100 }, app.id),
    refetchInterval: 2.5 * LIVE_MS
  })
  const rows = list.data?.pages.flatMap((page) => page.data) ?? []
  const open = rows.filter(({ disconnected_at }) => disconnected_at === undefined)
  const columns: Column<Connection>[] = [
    {
      id: 'state',
      header: 'State',
      width: 'shrink',
      cell: ({ disconnected_at }) =>
        disconnected_at === undefined ? (
          <Badge tone="good" dot>
            Open
          </Badge>
        ) : (
          <Badge>Ended</Badge>
        )
    },
    {
      id: 'stream',
      header: 'Stream',
      width: 'shrink',
      cell: ({ endpoint_name }) => STREAMS[endpoint_name] ?? endpoint_name
    },
    { id: 'from', header: 'From', width: 'shrink', cell: ({ client_ip }) => <code>{client_ip}</code> },
    {
      id: 'since',
      header: 'Opened',
      width: 'shrink',
      cell: ({ connected_at }) => <Time iso={connected_at} form="relative" />
    },
    {
      id: 'why',
      header: 'Why it ended',
      clip: true,
      cell: ({ disconnected_at, disconnect_reason }) =>
        disconnected_at ? (
          <span>
            {disconnect_reason ?? 'the client went away'}, <Time iso={disconnected_at} form="relative" />
          </span>
        ) : (
          <span className="muted">–</span>
        )
    },
    {
      id: 'kill',
      header: '',
      width: 'shrink',
      cell: (connection) =>
        connection.disconnected_at === undefined ? (
          <Button variant="ghost" size="small" icon="stop" onClick={() => setEnding(connection)}>
            End
          </Button>
        ) : null
    }
  ]
  return (
    <div className="stack">
      <div className="row spread wrap">
        <Segmented
          label="Which connections"
          value={status}
          onChange={setStatus}
          options={[
            ['active', 'Open'],
            ['all', 'All']
          ]}
        />
        {open.length > 1 ? (
          <Button icon="stop" onClick={() => setEnding('all')}>
            End all …
          </Button>
        ) : null}
      </div>
      {list.error ? <Problem error={list.error} retry={() => void list.refetch()} /> : null}
      {list.isPending ? (
        <Loading what="connections" />
      ) : rows.length === 0 ? (
        <Empty icon="link" title={status === 'active' ? 'No stream is open' : 'No stream was opened lately'}>
          GET /2/activity/stream and GET /2/tweets/search/stream stay open and tell events as they happen.
        </Empty>
      ) : (
        <Table rows={rows} columns={columns} keyOf={({ id }) => id} label="Streaming connections" />
      )}
      <Confirm
        open={ending !== undefined}
        onClose={() => setEnding(undefined)}
        title={ending === 'all' ? 'End all streams of this app?' : 'End this stream?'}
        action={ending === 'all' ? 'End all' : 'End it'}
        busy="Ending …"
        onConfirm={async () => {
          const killed =
            ending === 'all'
              ? await ask<Killed>('DELETE', '/2/connections/all', { app: app.id })
              : await ask<Killed>('DELETE', '/2/connections', {
                  app: app.id,
                  body: { uuids: [(ending as Connection).id] }
                })
          await client.invalidateQueries({ queryKey: ['connections'] })
          if (killed.failed_kills > 0)
            sayProblem(
              new Error(killed.results.find((each) => each.error_message)?.error_message ?? 'It could not be ended.')
            )
          else say('Ended')
        }}
      >
        The client is told why and disconnected. It may connect again and recover up to 24 hours of what it missed.
      </Confirm>
    </div>
  )
}
