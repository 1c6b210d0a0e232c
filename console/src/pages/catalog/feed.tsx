/** Where the products come from: the feed, when it is fetched, and what became of it. */
import { useInfiniteQuery, useMutation, useQuery, useQueryClient } from '@tanstack/react-query'
import { Link, useNavigate } from '@tanstack/react-router'
import { useState } from 'react'
import { ask } from '../../client/api.ts'
import { compact, plural } from '../../client/format.ts'
import { LIVE_MS } from '../../client/query-client.ts'
import { Badge, Card, Empty, Facts, Loading, Problem, Time } from '../../ui/bits.tsx'
import { Button } from '../../ui/button.tsx'
import { Confirm, Dialog, Menu, say, sayProblem } from '../../ui/overlays.tsx'
import { type Column, Table } from '../../ui/table.tsx'
import { type CatalogAt, type Feed, type FeedRun, feedQuery, nextRunsQuery, runPages } from './api.ts'
import { FeedForm, NextTimes, scheduleInWords } from './feed-form.tsx'
import { RunBadge } from './run-badge.tsx'
import { RunProgress } from './run-progress.tsx'
import { isUnderWay } from './run-states.ts'

export function FeedTab({ catalog }: { catalog: CatalogAt }) {
  const [creating, setCreating] = useState(false)
  const feed = useQuery(feedQuery(catalog))
  if (feed.error) return <Problem error={feed.error} retry={() => void feed.refetch()} />
  if (feed.isPending) return <Loading what="the feed" />
  if (feed.data === null)
    return (
      <>
        <Empty
          icon="clock"
          title="No feed yet"
          action={
            <span className="row wrap" style={{ justifyContent: 'center' }}>
              <Button variant="primary" icon="plus" onClick={() => setCreating(true)}>
                Create the feed
              </Button>
              <Link className="button" to="/catalog/$catalogId/check" params={{ catalogId: catalog.id }}>
                Try a file first
              </Link>
            </span>
          }
        >
          A feed is a CSV, TSV or XML file of your shop that Herald fetches on a schedule. Trying a file says what an
          import would say, row by row, and changes nothing.
        </Empty>
        <FeedDialog open={creating} onClose={() => setCreating(false)} catalog={catalog} />
      </>
    )
  return <FeedView catalog={catalog} feed={feed.data} />
}

const FeedDialog = (props: { open: boolean; onClose: () => void; catalog: CatalogAt; feed?: Feed }) => (
  <Dialog
    open={props.open}
    onClose={props.onClose}
    title={props.feed ? 'Change the feed' : 'Create the feed'}
    about="What is in the file is added and updated; products that are no longer in it stay."
    wide
  >
    <FeedForm catalog={props.catalog} feed={props.feed} onClose={props.onClose} />
  </Dialog>
)

function FeedView({ catalog, feed }: { catalog: CatalogAt; feed: Feed }) {
  const next = useQuery(nextRunsQuery(catalog, feed))
  return (
    <div className="stack loose">
      <div className="grid-2">
        <Card title="Feed" actions={<FeedActions catalog={catalog} feed={feed} />}>
          <Facts
            items={[
              ['File', <code key="url">{feed.feed_url}</code>],
              ['Format', feed.feed_format],
              ['Fetched', scheduleInWords(feed)],
              ['Changed', <Time key="changed" iso={feed.updated_at} form="full" />]
            ]}
          />
        </Card>
        <Card title="Next fetches">
          {next.error ? (
            <Problem error={next.error} />
          ) : next.data ? (
            <NextTimes runs={next.data} />
          ) : (
            <Loading what="the next times" />
          )}
        </Card>
      </div>
      <Runs catalog={catalog} feed={feed} />
    </div>
  )
}

type Asked = { validate_only?: true; force?: true }

function FeedActions({ catalog, feed }: { catalog: CatalogAt; feed: Feed }) {
  const client = useQueryClient()
  const navigate = useNavigate()
  const [dialog, setDialog] = useState<'change' | 'delete'>()
  const run = useMutation({
    mutationFn: (asked: Asked) =>
      ask<FeedRun>('POST', catalog.path(`/scheduled_feeds/${feed.id}/runs`), { body: asked }),
    onSuccess: async ({ id }) => {
      await client.invalidateQueries({ queryKey: catalog.key('runs') })
      await navigate({ to: '/catalog/$catalogId/runs/$runId', params: { catalogId: catalog.id, runId: id } })
    },
    onError: sayProblem
  })
  return (
    <span className="row wrap">
      <Button size="small" busy={run.isPending && 'Asking …'} onClick={() => run.mutate({ validate_only: true })}>
        Dry run
      </Button>
      <Button size="small" variant="primary" disabled={run.isPending} onClick={() => run.mutate({})}>
        Fetch now
      </Button>
      <Menu
        trigger={<Button size="small" icon="more" aria-label="More for the feed" />}
        entries={[
          { label: 'Change the feed …', icon: 'edit', onSelect: () => setDialog('change') },
          {
            label: 'Fetch even if the file is unchanged',
            icon: 'refresh',
            onSelect: () => run.mutate({ force: true })
          },
          'separator',
          { label: 'Delete the feed …', icon: 'trash', danger: true, onSelect: () => setDialog('delete') }
        ]}
      />
      <FeedDialog open={dialog === 'change'} onClose={() => setDialog(undefined)} catalog={catalog} feed={feed} />
      <Confirm
        open={dialog === 'delete'}
        onClose={() => setDialog(undefined)}
        title="Delete the feed?"
        action="Delete"
        busy="Deleting …"
        onConfirm={async () => {
          await ask('DELETE', catalog.path(`/scheduled_feeds/${feed.id}`))
          await client.invalidateQueries({ queryKey: catalog.key() })
          say('The feed is deleted', 'The products it brought stay.')
        }}
      >
        It is not fetched any more, and the reports of its imports go with it. The products it brought stay in the
        catalog.
      </Confirm>
    </span>
  )
}

const TRIGGERS: Record<string, string> = {
  schedule: 'on schedule',
  request: 'when asked',
  operator: 'by the operator'
}

const columnsFor = (catalog: CatalogAt): Column<FeedRun>[] => [
  {
    id: 'when',
    header: 'When',
    width: 'shrink',
    cell: ({ id, created_at, trigger }) => (
      <>
        <Link className="row-link" to="/catalog/$catalogId/runs/$runId" params={{ catalogId: catalog.id, runId: id }}>
          <Time iso={created_at} />
        </Link>
        <div className="muted small">{TRIGGERS[trigger] ?? trigger}</div>
      </>
    )
  },
  {
    id: 'state',
    header: 'State',
    width: 'shrink',
    cell: ({ state, validate_only }) => (
      <span className="row">
        <RunBadge state={state} />
        {validate_only ? <Badge>dry run</Badge> : null}
      </span>
    )
  },
  { id: 'what', header: 'What came of it', cell: (run) => <Outcome run={run} /> },
  {
    id: 'rejected',
    header: 'Not taken',
    width: 'shrink',
    align: 'end',
    cell: ({ counts }) => (
      <span className={`num ${counts.rejected + counts.duplicate > 0 ? 'bad' : ''}`}>
        {compact(counts.rejected + counts.duplicate)}
      </span>
    )
  },
  {
    id: 'rows',
    header: 'Rows',
    width: 'shrink',
    align: 'end',
    cell: ({ counts }) => <span className="num">{compact(counts.read)}</span>
  }
]

export function Outcome({ run }: { run: FeedRun }) {
  if (isUnderWay(run.state)) return <RunProgress run={run} brief />
  if (run.error) return <span className="bad clamp">{run.error.message}</span>
  if (run.guard && run.state === 'NEEDS_CONFIRMATION') return <span className="warn clamp">{run.guard.message}</span>
  if (run.not_modified) return <span className="muted">The file is the one imported last</span>
  const { created, updated, unchanged } = run.counts
  const would = run.validate_only ? 'would be ' : ''
  return (
    <span className="num outcome">
      {compact(created)} {would}created, {compact(updated)} updated, {compact(unchanged)} unchanged
    </span>
  )
}

function Runs({ catalog, feed }: { catalog: CatalogAt; feed: Feed }) {
  const list = useInfiniteQuery({
    ...runPages(catalog, feed.id),
    refetchInterval: ({ state: { data } }) =>
      data?.pages[0]?.data.some(({ state }) => isUnderWay(state)) ? LIVE_MS : 5 * LIVE_MS
  })
  const rows = list.data?.pages.flatMap(({ data }) => data) ?? []
  return (
    <Card
      title="Imports"
      actions={<span className="muted small">{rows.length > 0 ? plural(rows.length, 'import') : ''}</span>}
      bare
    >
      {list.error ? (
        <Problem error={list.error} retry={() => void list.refetch()} />
      ) : list.isPending ? (
        <div className="body">
          <Loading what="imports" />
        </div>
      ) : rows.length === 0 ? (
        <Empty icon="clock" title="Nothing was imported yet">
          “Fetch now” imports the file at once; “Dry run” only says what an import would say.
        </Empty>
      ) : (
        <Table rows={rows} columns={columnsFor(catalog)} keyOf={({ id }) => id} label="Imports" />
      )}
      {list.hasNextPage ? (
        <div className="body">
          <Button busy={list.isFetchingNextPage && 'Loading …'} onClick={() => void list.fetchNextPage()}>
            Show older ones
          </Button>
        </div>
      ) : null}
    </Card>
  )
}
