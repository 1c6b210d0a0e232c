/** What became of a file: how far it is, what was taken, what was not and why, down to row and column. */
import { useMutation } from '@tanstack/react-query'
import { useState } from 'react'
import { bytes, compact, count, milliseconds, plural } from '../../client/format.ts'
import { Badge, Callout, Card, Empty, Facts, Tile, Time } from '../../ui/bits.tsx'
import { Button } from '../../ui/button.tsx'
import { sayProblem } from '../../ui/overlays.tsx'
import type { FeedRun, IssueCount } from './api.ts'
import { download } from './download.ts'
import { labelOf } from './product-fields.ts'
import { RunProgress } from './run-progress.tsx'
import { isUnderWay } from './run-states.ts'

export function RunReport({
  run,
  rejectedPath,
  confirm
}: {
  run: FeedRun
  /** Where the rejected rows are, for those who may have them. */
  rejectedPath?: string
  /** Lets an import go on that the guard stopped. */
  confirm?: () => void
}) {
  const { counts, progress } = run
  return (
    <div className="stack loose">
      {isUnderWay(run.state) ? (
        <Card>
          <RunProgress run={run} />
        </Card>
      ) : null}
      {run.error ? (
        <Callout tone="bad" role="alert">
          <strong>{run.error.message}</strong>
          {position(run.error) ? <div className="small">At {position(run.error)}.</div> : null}
          <div className="small">
            {run.validate_only ? 'Nothing was changed, as asked.' : 'The catalog is as it was before.'}{' '}
            <code>{run.error.code}</code>
          </div>
        </Callout>
      ) : null}
      {run.guard && run.state === 'NEEDS_CONFIRMATION' ? (
        <Callout tone="warn" role="alert">
          <div className="row spread wrap">
            <div className="stack tight" style={{ flex: '1 1 24rem' }}>
              <strong>This import waits for somebody to look at it</strong>
              <span>{run.guard.message}</span>
              <span className="small num">
                The catalog has {count(run.guard.catalog_products)} products; {count(run.guard.created)} would be new
                and {count(run.guard.changed)} would change.
              </span>
            </div>
            {confirm ? (
              <Button variant="primary" onClick={confirm}>
                Import it …
              </Button>
            ) : null}
          </div>
        </Callout>
      ) : null}
      {run.not_modified ? (
        <Callout tone="good">The host says that the file is the one imported last, so there was nothing to do.</Callout>
      ) : null}
      {run.state === 'SUPERSEDED' ? (
        <Callout>
          Nobody confirmed this import, and a newer one took its place. The catalog was not changed by it.
        </Callout>
      ) : null}
      {isUnderWay(run.state) || run.not_modified || (run.error && counts.read === 0) ? null : <Counts run={run} />}
      {progress.seconds > 0 && !isUnderWay(run.state) ? (
        <p className="muted small num">
          {bytes(progress.bytes_read)} in {milliseconds(progress.seconds * 1_000)}
          {progress.rows_per_second ? `, ${compact(progress.rows_per_second)} rows a second` : ''}
        </p>
      ) : null}
      <IssueList run={run} rejectedPath={rejectedPath} />
      <Card title="About this run">
        <Facts
          items={[
            ['File', run.feed_url ? <code key="url">{run.feed_url}</code> : 'uploaded'],
            ['Format', run.feed_format],
            ['Asked for', <Time key="created" iso={run.created_at} form="full" />],
            run.started_at !== null && ['Started', <Time key="started" iso={run.started_at} form="full" />],
            run.finished_at !== null && ['Finished', <Time key="finished" iso={run.finished_at} form="full" />],
            ['Run', <code key="id">{run.id}</code>]
          ]}
        />
      </Card>
    </div>
  )
}

const SHARES = [
  ['created', 'Created', 'share-created'],
  ['updated', 'Updated', 'share-updated'],
  ['unchanged', 'Unchanged', 'share-unchanged'],
  ['rejected', 'Rejected', 'share-rejected'],
  ['duplicate', 'Repeated ids', 'share-duplicate']
] as const

function Counts({ run: { counts, validate_only } }: { run: FeedRun }) {
  return (
    <section className="stack" aria-label="Counts">
      <div className="count-tiles">
        <Tile label="Rows read" value={compact(counts.read)} note={validate_only ? 'in a dry run' : ''} />
        {SHARES.map(([name, label]) => (
          <Tile
            key={name}
            label={
              validate_only && (name === 'created' || name === 'updated') ? `Would be ${label.toLowerCase()}` : label
            }
            value={compact(counts[name])}
            tone={(name === 'rejected' || name === 'duplicate') && counts[name] > 0 ? 'bad' : 'plain'}
          />
        ))}
      </div>
      {counts.read > 0 ? (
        <div className="shares" aria-hidden="true">
          {SHARES.map(([name, label, look]) =>
            counts[name] > 0 ? (
              <span
                key={name}
                className={look}
                style={{ flexGrow: counts[name] }}
                title={`${label}: ${count(counts[name])}`}
              />
            ) : null
          )}
        </div>
      ) : null}
    </section>
  )
}

const position = ({ row, line, column }: { row: number | null; line: number | null; column: number | null }) =>
  [
    row === null ? '' : `row ${count(row)}`,
    line === null || line === row ? '' : `line ${count(line)}`,
    column === null ? '' : `column ${column}`
  ]
    .filter(Boolean)
    .join(', ')

function IssueList({ run, rejectedPath }: { run: FeedRun; rejectedPath: string | undefined }) {
  const notTaken = run.counts.rejected + run.counts.duplicate
  if (run.issues.length === 0)
    return isUnderWay(run.state) || run.error || run.not_modified || run.counts.read === 0 ? null : (
      <Empty icon="check" title="Nothing is wrong with this file">
        Every row passed the rules without a warning.
      </Empty>
    )
  return (
    <Card
      title={`What is wrong · ${plural(run.issues.length, 'kind')}`}
      actions={rejectedPath && notTaken > 0 ? <DownloadRejected run={run} path={rejectedPath} rows={notTaken} /> : null}
      bare
    >
      <ul className="issue-kinds">
        {run.issues.map((issue, at) => (
          <IssueKind key={`${issue.severity} ${issue.code} ${issue.field}`} issue={issue} open={at === 0} />
        ))}
      </ul>
    </Card>
  )
}

function DownloadRejected({ run, path, rows }: { run: FeedRun; path: string; rows: number }) {
  const [read, setRead] = useState(0)
  const fetching = useMutation({
    mutationFn: () => download(path, `rejected-${run.id}.csv`, setRead),
    onError: sayProblem
  })
  return (
    <Button
      size="small"
      icon="download"
      busy={fetching.isPending && `Fetching … ${bytes(read)}`}
      onClick={() => fetching.mutate()}
    >
      Download {plural(rows, 'rejected row')}
    </Button>
  )
}

function IssueKind({ issue, open }: { issue: IssueCount; open: boolean }) {
  return (
    <li>
      <details open={open}>
        <summary>
          <Badge tone={issue.severity === 'error' ? 'bad' : 'warn'}>{issue.severity}</Badge>
          <code>{issue.code}</code>
          <span className="grow">{issue.field ? labelOf(issue.field) : ''}</span>
          <strong className="num">{count(issue.count)}</strong>
        </summary>
        <Samples issue={issue} />
      </details>
    </li>
  )
}

const Samples = ({ issue: { samples, count: all, code, severity } }: { issue: IssueCount }) => (
  // biome-ignore lint/a11y/noNoninteractiveTabindex: what scrolls must be reachable by keyboard
  <div className="table-wrap" role="region" aria-label={`Samples of ${code}`} tabIndex={0}>
    <table className="table samples-table">
      <thead>
        <tr>
          <th scope="col" className="end shrink">
            Row
          </th>
          <th scope="col" className="end shrink">
            Column
          </th>
          <th scope="col" className="shrink">
            Value
          </th>
          <th scope="col">What to do</th>
        </tr>
      </thead>
      <tbody>
        {samples.map((sample) => (
          <tr key={`${sample.row} ${sample.column} ${sample.message}`}>
            <td className="end num" title={sample.line === null ? '' : `line ${sample.line} of the file`}>
              {sample.row === null ? '–' : count(sample.row)}
            </td>
            <td className="end num">{sample.column ?? '–'}</td>
            <td>
              {sample.value === null ? (
                <span className="muted">nothing</span>
              ) : (
                <code className="sample-value">{sample.value}</code>
              )}
            </td>
            <td>
              <span className="wrap-anywhere">{sample.message}</span>
            </td>
          </tr>
        ))}
      </tbody>
    </table>
    {all > samples.length ? (
      <p className="muted small samples-more">
        The first {samples.length} of {count(all)}
        {severity === 'error' ? '; the download has every row.' : '. Rows with warnings are taken.'}
      </p>
    ) : null}
  </div>
)
