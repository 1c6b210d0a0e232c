/** The file and its schedule; the next five times show while it is edited, by the clock of the chosen zone. */
import { useMutation, useQuery, useQueryClient } from '@tanstack/react-query'
import { type FormEvent, useState } from 'react'
import { ask } from '../../client/api.ts'
import { localTime, utc } from '../../client/format.ts'
import { Problem, Segmented } from '../../ui/bits.tsx'
import { Button } from '../../ui/button.tsx'
import { problemFor, SelectField, TextField } from '../../ui/fields.tsx'
import { say } from '../../ui/overlays.tsx'
import type { CatalogAt, Feed, NextRuns } from './api.ts'

const WEEKDAYS = ['MONDAY', 'TUESDAY', 'WEDNESDAY', 'THURSDAY', 'FRIDAY', 'SATURDAY', 'SUNDAY'] as const
const HOURS = ['1', '2', '3', '4', '6', '8', '12'] as const
const ZONES = ['UTC', ...Intl.supportedValuesOf('timeZone').filter((zone) => zone !== 'UTC')]
const HERE = Intl.DateTimeFormat().resolvedOptions().timeZone

const capital = (word: string) => word.slice(0, 1) + word.slice(1).toLowerCase()

export function scheduleInWords({ frequency, repeat, start_time, time_zone }: Omit<Feed, 'id'>) {
  const when =
    frequency === 'DAILY'
      ? `every day at ${start_time}`
      : frequency === 'WEEKLY'
        ? `every ${capital(repeat ?? '')} at ${start_time}`
        : repeat === '1'
          ? `every hour at ${start_time.slice(3)} past`
          : `every ${repeat} hours, from ${start_time}`
  return `${when}, ${time_zone} time`
}

type Schedule = Pick<Feed, 'frequency' | 'start_time' | 'time_zone'> & { repeat: string | null }

export function FeedForm({
  catalog,
  feed,
  onClose
}: {
  catalog: CatalogAt
  feed: Feed | undefined
  onClose: () => void
}) {
  const client = useQueryClient()
  const [url, setUrl] = useState(feed?.feed_url ?? '')
  const [format, setFormat] = useState<string>(feed?.feed_format ?? 'CSV')
  const [schedule, setSchedule] = useState<Schedule>({
    frequency: feed?.frequency ?? 'DAILY',
    repeat: feed?.repeat ?? null,
    start_time: feed?.start_time ?? '03:00',
    time_zone: feed?.time_zone ?? HERE
  })
  const set = (change: Partial<Schedule>) => setSchedule((was) => ({ ...was, ...change }))
  const timing = { ...schedule, ...(schedule.repeat === null ? { repeat: undefined } : {}) }
  const next = useQuery({
    queryKey: catalog.key('times', timing),
    queryFn: ({ signal }) =>
      ask<NextRuns>('POST', catalog.path('/scheduled_feeds/next_runs'), { body: timing, signal }),
    placeholderData: (before) => before,
    retry: false
  })
  const save = useMutation({
    mutationFn: () => {
      const body = { feed_url: url, feed_format: format, ...timing }
      return feed
        ? ask<Feed>('PUT', catalog.path(`/scheduled_feeds/${feed.id}`), { body })
        : ask<Feed>('POST', catalog.path('/scheduled_feeds'), { body })
    },
    onSuccess: async () => {
      await client.invalidateQueries({ queryKey: catalog.key() })
      say(feed ? 'The feed is changed' : 'The feed is created', 'It runs next when its time has come, or when you ask.')
      onClose()
    }
  })
  const submit = (event: FormEvent) => {
    event.preventDefault()
    save.mutate()
  }
  const problem = (name: string) => problemFor(save.error, name) ?? problemFor(next.error, name)
  const isSaid = ['feed_url', 'feed_format', 'frequency', 'repeat', 'start_time', 'time_zone'].some((name) =>
    problemFor(save.error, name)
  )
  return (
    <form className="stack" style={{ marginTop: '1rem' }} onSubmit={submit}>
      <div className="feed-file">
        <TextField
          label="Address of the file"
          value={url}
          onChange={({ target }) => {
            setUrl(target.value)
            const ending = /\.(csv|tsv|xml)\b/i.exec(target.value)?.[1]
            if (ending) setFormat(ending.toUpperCase())
          }}
          placeholder="https://shop.example.com/products.csv"
          inputMode="url"
          autoComplete="off"
          spellCheck={false}
          required
          problem={problem('feed_url')}
        />
        <SelectField
          label="Format"
          value={format}
          onChange={({ target }) => setFormat(target.value)}
          choices={['CSV', 'TSV', 'XML'].map((each) => [each, each])}
          problem={problem('feed_format')}
        />
      </div>
      <div className="schedule">
        <div className="stack">
          <Segmented
            label="How often"
            value={schedule.frequency}
            onChange={(frequency) =>
              set({ frequency, repeat: frequency === 'DAILY' ? null : frequency === 'WEEKLY' ? 'MONDAY' : '1' })
            }
            options={[
              ['HOURLY', 'Hourly'],
              ['DAILY', 'Daily'],
              ['WEEKLY', 'Weekly']
            ]}
          />
          {schedule.frequency === 'HOURLY' ? (
            <SelectField
              label="Every"
              value={schedule.repeat ?? '1'}
              onChange={({ target }) => set({ repeat: target.value })}
              choices={HOURS.map((hours) => [hours, hours === '1' ? 'hour' : `${hours} hours`])}
              problem={problem('repeat')}
            />
          ) : null}
          {schedule.frequency === 'WEEKLY' ? (
            <SelectField
              label="On"
              value={schedule.repeat ?? 'MONDAY'}
              onChange={({ target }) => set({ repeat: target.value })}
              choices={WEEKDAYS.map((day) => [day, capital(day)])}
              problem={problem('repeat')}
            />
          ) : null}
          <TextField
            label="At"
            type="time"
            value={schedule.start_time}
            onChange={({ target }) => set({ start_time: target.value })}
            required
            problem={problem('start_time')}
          />
          <TextField
            label="Time zone"
            value={schedule.time_zone}
            onChange={({ target }) => set({ time_zone: target.value })}
            list="time-zones"
            required
            autoComplete="off"
            spellCheck={false}
            hint={HERE === schedule.time_zone ? 'Yours.' : `Yours is ${HERE}.`}
            problem={problem('time_zone')}
          />
          <datalist id="time-zones">
            {ZONES.map((zone) => (
              <option key={zone} value={zone} />
            ))}
          </datalist>
        </div>
        <section className="next-runs" aria-label="Next fetches">
          <h3>The next five fetches</h3>
          {next.data && !next.error ? (
            <NextTimes runs={next.data} />
          ) : next.error && !['repeat', 'start_time', 'time_zone'].some((name) => problemFor(next.error, name)) ? (
            <Problem error={next.error} />
          ) : (
            <p className="muted small">They show as soon as the schedule is right.</p>
          )}
        </section>
      </div>
      {save.error && !isSaid ? <Problem error={save.error} /> : null}
      <div className="actions">
        <Button onClick={onClose}>Cancel</Button>
        <Button type="submit" variant="primary" busy={save.isPending && 'Saving …'}>
          {feed ? 'Save' : 'Create the feed'}
        </Button>
      </div>
    </form>
  )
}

const inZone = (iso: string, timeZone: string) =>
  new Intl.DateTimeFormat(undefined, {
    timeZone,
    weekday: 'short',
    day: 'numeric',
    month: 'short',
    hour: '2-digit',
    minute: '2-digit',
    timeZoneName: 'short'
  }).format(new Date(iso))

/** By the clock of the feed's zone; the reader's own time and UTC on hover. */
export const NextTimes = ({ runs }: { runs: NextRuns }) => (
  <ol className="next-times">
    {runs.next_runs.map((iso) => (
      <li key={iso}>
        <time dateTime={iso} title={`${localTime(iso)} here · ${utc(iso)}`} className="num">
          {inZone(iso, runs.time_zone)}
        </time>
      </li>
    ))}
  </ol>
)
