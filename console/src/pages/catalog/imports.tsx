/** For operators: the imports of all catalogs, and what became of each. */
import { useInfiniteQuery, useMutation, useQuery, useQueryClient } from '@tanstack/react-query'
import { getRouteApi, Link } from '@tanstack/react-router'
import { useCallback, useMemo, useState } from 'react'
import { ask } from '../../client/api.ts'
import { compact, count } from '../../client/format.ts'
import { LIVE_MS } from '../../client/query-client.ts'
import { pagesOf } from '../../client/resources.ts'
import { Badge, Empty, Loading, Problem, Time } from '../../ui/bits.tsx'
import { Button } from '../../ui/button.tsx'
import { Select } from '../../ui/fields.tsx'
import { Confirm, Drawer, say, sayProblem } from '../../ui/overlays.tsx'
import { Page } from '../../ui/page.tsx'
import { type Column, LongTable } from '../../ui/table.tsx'
import './catalog.css'
import type { FeedRun } from './api.ts'
import { RunBadge, stateName } from './run-badge.tsx'
import { RunReport } from './run-report.tsx'
import { isUnderWay, RUN_STATES, type RunState } from './run-states.ts'

const route = getRouteApi('/shell/catalog/imports')

const COLUMNS: Column<FeedRun>[] = [
  {
    id: 'state',
    header: 'State',
    width: '15rem',
    cell: ({ state, validate_only }) => (
      <>
        <RunBadge state={state} /> {validate_only ? <Badge>dry run</Badge> : null}
      </>
    )
  },
  { id: 'when', header: 'Asked for', width: '11.5rem', cell: ({ created_at }) => <Time iso={created_at} /> },
  {
    id: 'catalog',
    header: 'Catalog',
    width: '12.5rem',
    cell: ({ product_catalog_id }) => <span className="mono">{product_catalog_id}</span>
  },
  {
    id: 'file',
    header: 'File',
    cell: ({ feed_url, error }) => (
      <span className={error ? 'bad' : ''} title={error?.message ?? feed_url ?? ''}>
        {error?.message ?? feed_url ?? 'uploaded'}
      </span>
    )
  },
  {
    id: 'rows',
    header: 'Rows',
    width: '6rem',
    align: 'end',
    cell: ({ counts }) => <span className="num">{compact(counts.read)}</span>
  },
  {
    id: 'rejected',
    header: 'Not taken',
    width: '6.5rem',
    align: 'end',
    cell: ({ counts: { rejected, duplicate } }) => (
      <span className={`num ${rejected + duplicate > 0 ? 'bad' : ''}`}>{compact(rejected + duplicate)}</span>
    )
  }
]

export function ImportsPage() {
  const { state, run } = route.useSearch()
  const navigate = route.useNavigate()
  const list = useInfiniteQuery({
    ...pagesOf<FeedRun>(['feed runs'], '/admin/feed_runs', { state, max_results: 50 }),
    refetchInterval: ({ state: { data } }) => ((data?.pages.length ?? 0) <= 1 ? LIVE_MS : false)
  })
  const rows = useMemo(() => list.data?.pages.flatMap(({ data }) => data) ?? [], [list.data])
  const { hasNextPage, isFetchingNextPage, fetchNextPage } = list
  const more = useCallback(() => {
    if (hasNextPage && !isFetchingNextPage) void fetchNextPage()
  }, [hasNextPage, isFetchingNextPage, fetchNextPage])
  return (
    <Page
      title="Imports of all catalogs"
      lead="Of every user, in production and in the sandbox, newest first."
      above={<Link to="/catalog">Catalogs</Link>}
    >
      <div className="filters">
        <Select
          label="State"
          value={state ?? ''}
          onChange={({ target }) =>
            void navigate({ search: (was) => ({ ...was, state: (target.value || undefined) as RunState | undefined }) })
          }
          choices={[['', 'All states'], ...RUN_STATES.map((each) => [each, stateName(each)] as const)]}
        />
      </div>
      {list.error ? <Problem error={list.error} retry={() => void list.refetch()} /> : null}
      {list.isPending ? (
        <Loading what="imports" />
      ) : list.error ? null : (
        <LongTable
          label="Imports"
          rows={rows}
          columns={COLUMNS}
          keyOf={({ id }) => id}
          minWidth="64rem"
          activeKey={run}
          onOpen={({ id }) => void navigate({ search: (was) => ({ ...was, run: id }) })}
          onEnd={hasNextPage ? more : undefined}
          loadingMore={isFetchingNextPage}
          empty={
            <Empty icon="clock" title={state ? 'No import is in this state' : 'Nothing was imported yet'}>
              Imports appear here as soon as a feed runs, whoever owns it.
            </Empty>
          }
          foot={
            <span className="num">
              {count(rows.length)} {hasNextPage ? 'loaded; scroll for more' : 'in all'}
            </span>
          }
        />
      )}
      <Drawer
        open={run !== undefined}
        onClose={() => void navigate({ search: ({ run: _, ...was }) => was })}
        title="Import"
      >
        {run === undefined ? null : <OneImport id={run} />}
      </Drawer>
    </Page>
  )
}

function OneImport({ id }: { id: string }) {
  const client = useQueryClient()
  const run = useQuery({
    queryKey: ['feed run', id],
    queryFn: ({ signal }) => ask<FeedRun>('GET', `/admin/feed_runs/${id}`, { signal }),
    refetchInterval: ({ state: { data } }) => (data && isUnderWay(data.state) ? LIVE_MS / 2 : false)
  })
  const navigate = route.useNavigate()
  const [asking, setAsking] = useState(false)
  const again = useMutation({
    mutationFn: () => ask<FeedRun>('POST', `/admin/scheduled_feeds/${run.data?.scheduled_feed_id}/runs`),
    onSuccess: (next) => navigate({ search: (was) => ({ ...was, run: next.id }) }),
    onError: sayProblem
  })
  if (run.error) return <Problem error={run.error} retry={() => void run.refetch()} />
  if (!run.data) return <Loading what="the import" />
  const { scheduled_feed_id, state, guard } = run.data
  return (
    <div className="stack">
      <div className="row wrap spread">
        <RunBadge state={state} />
        {scheduled_feed_id !== null && !isUnderWay(state) ? (
          <Button size="small" icon="refresh" busy={again.isPending && 'Asking …'} onClick={() => again.mutate()}>
            Run this feed now
          </Button>
        ) : null}
      </div>
      <RunReport run={run.data} confirm={() => setAsking(true)} />
      <Confirm
        open={asking}
        onClose={() => setAsking(false)}
        title="Import it as it is?"
        action="Import it"
        busy="Asking …"
        danger={false}
        onConfirm={async () => {
          await ask('POST', `/admin/feed_runs/${id}/confirm`)
          await client.invalidateQueries({ queryKey: ['feed run', id] })
          say('The import goes on')
        }}
      >
        {guard ? `${count(guard.changed)} of ${count(guard.catalog_products)} products change. ` : ''}
        The catalog belongs to somebody else: ask them first if you can. This cannot be undone.
      </Confirm>
    </div>
  )
}
