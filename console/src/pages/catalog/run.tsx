/** One import, or one check of a file: its progress while it is under way, its report afterwards. */
import { useQuery, useQueryClient } from '@tanstack/react-query'
import { getRouteApi, Link } from '@tanstack/react-router'
import { useState } from 'react'
import { ask } from '../../client/api.ts'
import { bytes, count } from '../../client/format.ts'
import { Badge, Callout, Loading } from '../../ui/bits.tsx'
import { Confirm, say } from '../../ui/overlays.tsx'
import { type CatalogAt, type FeedRun, feedQuery, runPath, runQuery, useCatalog } from './api.ts'
import { CatalogFrame } from './catalog.tsx'
import { Refusal } from './frame.tsx'
import { RunBadge } from './run-badge.tsx'
import { RunReport } from './run-report.tsx'
import { isUnderWay } from './run-states.ts'

const runRoute = getRouteApi('/shell/catalog/$catalogId/runs/$runId')
const checkRoute = getRouteApi('/shell/catalog/$catalogId/checks/$runId')

const WATCH_MS = 1_000

export function RunPage() {
  const { catalogId, runId } = runRoute.useParams()
  const catalog = useCatalog(catalogId)
  const feed = useQuery(feedQuery(catalog))
  if (!feed.data)
    return (
      <CatalogFrame catalog={catalog} title="Import">
        {feed.error ? (
          <Refusal error={feed.error} retry={() => void feed.refetch()} />
        ) : feed.data === null ? (
          <Callout>The feed of this import is deleted, and its reports with it.</Callout>
        ) : (
          <Loading what="the import" />
        )}
      </CatalogFrame>
    )
  return <Run catalog={catalog} feedId={feed.data.id} runId={runId} />
}

export function CheckReportPage() {
  const { catalogId, runId } = checkRoute.useParams()
  const { of } = checkRoute.useSearch()
  return <Run catalog={useCatalog(catalogId)} feedId={null} runId={runId} fileBytes={of ? Number(of) : undefined} />
}

function Run({
  catalog,
  feedId,
  runId,
  fileBytes
}: {
  catalog: CatalogAt
  feedId: string | null
  runId: string
  fileBytes?: number | undefined
}) {
  const client = useQueryClient()
  const [asking, setAsking] = useState(false)
  const run = useQuery({
    ...runQuery(catalog, feedId, runId),
    refetchInterval: ({ state: { data } }) => (data && isUnderWay(data.state) ? WATCH_MS : false)
  })
  const { data } = run
  return (
    <CatalogFrame
      catalog={catalog}
      title={titleOf(data, feedId)}
      lead={
        data ? (
          <span className="row wrap">
            <RunBadge state={data.state} />
            {data.validate_only ? <Badge>dry run: nothing is changed</Badge> : null}
          </span>
        ) : undefined
      }
      actions={
        <Link
          className="button"
          to={feedId === null ? '/catalog/$catalogId/check' : '/catalog/$catalogId'}
          params={{ catalogId: catalog.id }}
          search={feedId === null ? {} : { tab: 'feed' }}
        >
          {feedId === null ? 'Try another file' : 'All imports'}
        </Link>
      }
    >
      {run.error && !data ? <Refusal error={run.error} retry={() => void run.refetch()} /> : null}
      {!data && !run.error ? <Loading what="the report" /> : null}
      {data ? (
        <div className="stack loose">
          {fileBytes && fileBytes > data.progress.bytes_read ? (
            <Callout>
              The file is large, so its first {bytes(data.progress.bytes_read)} of {bytes(fileBytes)} were checked. Give
              its address instead to have all of it read.
            </Callout>
          ) : null}
          <RunReport
            run={data}
            rejectedPath={`${runPath(catalog, feedId, runId)}/rejected_rows`}
            confirm={() => setAsking(true)}
          />
        </div>
      ) : null}
      {data?.guard ? (
        <Confirm
          open={asking}
          onClose={() => setAsking(false)}
          title="Import it as it is?"
          action="Import it"
          busy="Asking …"
          danger={false}
          onConfirm={async () => {
            await ask('POST', `${runPath(catalog, feedId, runId)}/confirm`)
            await client.invalidateQueries({ queryKey: catalog.key() })
            say('The import goes on')
          }}
        >
          {count(data.guard.changed)} of {count(data.guard.catalog_products)} products in {catalog.listener} change and{' '}
          {count(data.guard.created)} are added, exactly as they were read. This cannot be undone, but a right file can
          be imported after it.
        </Confirm>
      ) : null}
    </CatalogFrame>
  )
}

const titleOf = (run: FeedRun | undefined, feedId: string | null) =>
  feedId === null ? 'Check of a file' : run?.validate_only ? 'Dry run of the feed' : 'Import'
