import { useQuery } from '@tanstack/react-query'
import { ask } from '../../client/api.ts'
import { bytes, milliseconds } from '../../client/format.ts'
import { Badge, Card, Facts, Loading, Problem, Time } from '../../ui/bits.tsx'
import { type Column, Table } from '../../ui/table.tsx'

interface Node {
  id: string
  host: string
  pid: number
  roles: string[]
  version: string
  memory_bytes: number
  started_at: string
  seen_at: string
  alive: boolean
}
interface Health {
  nodes: Node[]
  database: { version: string; size_bytes: number; connections: number; connections_max: number; latency_ms: number }
}

const COLUMNS: Column<Node>[] = [
  {
    id: 'state',
    header: 'State',
    width: 'shrink',
    cell: ({ alive, seen_at }) =>
      alive ? (
        <Badge tone="good" dot>
          Running
        </Badge>
      ) : (
        <Badge tone="bad" dot>
          Away since <Time iso={seen_at} form="relative" />
        </Badge>
      )
  },
  { id: 'host', header: 'Node', cell: ({ host, pid }) => <span title={`process ${pid}`}>{host}</span> },
  { id: 'roles', header: 'Roles', width: 'shrink', cell: ({ roles }) => roles.join(', ') },
  {
    id: 'memory',
    header: 'Memory',
    width: 'shrink',
    align: 'end',
    cell: ({ memory_bytes }) => <span className="num">{bytes(memory_bytes)}</span>
  },
  {
    id: 'up',
    header: 'Started',
    width: 'shrink',
    align: 'end',
    cell: ({ started_at }) => <Time iso={started_at} form="relative" />
  }
]

export function HealthCards() {
  const { data, error, refetch } = useQuery({
    queryKey: ['health'],
    queryFn: ({ signal }) => ask<Health>('GET', '/admin/health', { signal }),
    refetchInterval: 5_000
  })
  if (error) return <Problem error={error} retry={() => void refetch()} />
  if (!data) return <Loading what="the health of the nodes" />
  const { database } = data
  const full = database.connections / database.connections_max > 0.9
  return (
    <div className="grid-2" style={{ '--min': '24rem' } as React.CSSProperties}>
      <Card title="Nodes" bare>
        <Table rows={data.nodes} columns={COLUMNS} keyOf={({ id }) => id} label="Nodes" />
      </Card>
      <Card
        title="Database"
        actions={
          <Badge tone={full ? 'warn' : 'good'} dot>
            {full ? 'Few connections left' : 'Answers'}
          </Badge>
        }
      >
        <Facts
          items={[
            ['PostgreSQL', database.version],
            ['Size', bytes(database.size_bytes)],
            ['Connections', `${database.connections} of ${database.connections_max}`],
            [
              'A round trip takes',
              milliseconds(database.latency_ms) === '0 ms' ? 'less than 1 ms' : milliseconds(database.latency_ms)
            ]
          ]}
        />
      </Card>
    </div>
  )
}
