/** How far an import is: a bar, the rate, the time left. */
import { bytes, compact, count, duration, percent } from '../../client/format.ts'
import { Progress, Time } from '../../ui/bits.tsx'
import type { FeedRun } from './api.ts'

/** Between 0 and 1; undefined while nobody can know. */
const shareOf = ({ state, progress: { bytes_read, bytes_total } }: FeedRun) =>
  state === 'FETCHING' && bytes_total ? Math.min(1, bytes_read / bytes_total) : undefined

export function RunProgress({ run, brief }: { run: FeedRun; brief?: boolean }) {
  const { progress, state } = run
  const share = shareOf(run)
  const facts = [
    share === undefined ? '' : percent(share),
    progress.rows_read > 0 ? `${(brief ? compact : count)(progress.rows_read)} rows` : '',
    progress.rows_per_second && !brief ? `${compact(progress.rows_per_second)} rows a second` : '',
    progress.bytes_read > 0 && !brief
      ? `${bytes(progress.bytes_read)}${progress.bytes_total ? ` of ${bytes(progress.bytes_total)}` : ''}`
      : '',
    progress.seconds_left === null ? '' : `about ${duration(progress.seconds_left * 1_000)} left`
  ].filter(Boolean)
  return (
    <div className="stack tight run-progress">
      {share === undefined ? (
        <div className="progress waiting" role="progressbar" aria-label="Progress of the import">
          <div />
        </div>
      ) : (
        <Progress value={share} label="Progress of the import" />
      )}
      <span className="small muted num">
        {state === 'QUEUED' ? (
          run.next_fetch_at ? (
            <>
              The download failed in passing and is tried again <Time iso={run.next_fetch_at} form="relative" />
            </>
          ) : (
            'Waiting for a worker'
          )
        ) : state === 'MERGING' ? (
          `Writing ${count(progress.rows_read)} rows to the catalog, all of them or none`
        ) : (
          facts.join(' · ') || 'Connecting to the host'
        )}
      </span>
    </div>
  )
}
