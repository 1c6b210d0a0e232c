/** Deliver a range of the past again, and watch how far it is. */
import { useInfiniteQuery, useMutation, useQueryClient } from '@tanstack/react-query'
import { useNavigate } from '@tanstack/react-router'
import { type FormEvent, useState } from 'react'
import { request } from '../../client/api.ts'
import { count, duration, percent } from '../../client/format.ts'
import { LIVE_MS } from '../../client/query-client.ts'
import { pagesOf, type Replay, type Webhook } from '../../client/resources.ts'
import { Badge, Empty, Loading, Problem, Progress, Time, type Tone, useNow } from '../../ui/bits.tsx'
import { Button } from '../../ui/button.tsx'
import { TextField } from '../../ui/fields.tsx'
import { Dialog, say } from '../../ui/overlays.tsx'

const DAY_MS = 24 * 3_600_000
const MINUTE_MS = 60_000

/** For `datetime-local`, in the reader's zone. */
const localMinute = (ms: number) => {
  const date = new Date(ms)
  return new Date(ms - date.getTimezoneOffset() * MINUTE_MS).toISOString().slice(0, 16)
}
/** yyyymmddhhmm, UTC, as the API takes it. */
const apiMinute = (local: string) => new Date(local).toISOString().replace(/\D/g, '').slice(0, 12)

const RANGES = [
  ['15 minutes', 15 * MINUTE_MS],
  ['1 hour', 60 * MINUTE_MS],
  ['6 hours', 360 * MINUTE_MS],
  ['24 hours', DAY_MS - 2 * MINUTE_MS]
] as const

interface Props {
  open: boolean
  onClose: () => void
  webhook: Webhook
}

export const ReplayDialog = (props: Props) => (
  <Dialog
    open={props.open}
    onClose={props.onClose}
    title="Replay"
    about="Delivers again what was delivered or attempted in a range of the past 24 hours. A challenge is sent first; live events go on beside it."
  >
    <ReplayForm {...props} />
  </Dialog>
)

function ReplayForm({ onClose, webhook }: Props) {
  const client = useQueryClient()
  const navigate = useNavigate()
  const now = Date.now()
  const [from, setFrom] = useState(localMinute(now - 60 * MINUTE_MS))
  const [to, setTo] = useState(localMinute(now))
  const replay = useMutation({
    mutationFn: () =>
      request<{ job_id: string }>('POST', '/2/webhooks/replay', {
        app: webhook.app_id,
        body: { webhook_id: webhook.id, from_date: apiMinute(from), to_date: apiMinute(to) }
      }),
    onSuccess: async () => {
      await client.invalidateQueries({ queryKey: ['replays'] })
      say('The replay has begun')
      onClose()
      await navigate({ to: '/webhooks/$webhookId', params: { webhookId: webhook.id }, search: { tab: 'replays' } })
    }
  })
  const submit = (event: FormEvent) => {
    event.preventDefault()
    replay.mutate()
  }
  return (
    <form className="stack" style={{ marginTop: '1rem' }} onSubmit={submit}>
      <div className="row wrap">
        <span className="muted small">The past</span>
        {RANGES.map(([text, ms]) => (
          <Button
            key={text}
            size="small"
            onClick={() => {
              setFrom(localMinute(Date.now() - ms))
              setTo(localMinute(Date.now()))
            }}
          >
            {text}
          </Button>
        ))}
      </div>
      <div className="grid-2" style={{ '--min': '12rem' } as React.CSSProperties}>
        <TextField
          label="From"
          type="datetime-local"
          required
          value={from}
          onChange={({ target }) => setFrom(target.value)}
        />
        <TextField
          label="To (not included)"
          type="datetime-local"
          required
          value={to}
          onChange={({ target }) => setTo(target.value)}
        />
      </div>
      <p className="muted small">Your time zone: {Intl.DateTimeFormat().resolvedOptions().timeZone}.</p>
      {replay.error ? <Problem error={replay.error} /> : null}
      <div className="actions">
        <Button onClick={onClose}>Cancel</Button>
        <Button type="submit" variant="primary" busy={replay.isPending && 'Sending a challenge …'}>
          Replay
        </Button>
      </div>
    </form>
  )
}

const TONES: Record<Replay['state'], Tone> = {
  pending: 'plain',
  running: 'accent',
  complete: 'good',
  incomplete: 'bad'
}

export function Replays({ webhook }: { webhook: Webhook }) {
  const list = useInfiniteQuery({
    ...pagesOf<Replay>(['replays', webhook.id], '/admin/replays', { webhook_id: webhook.id }),
    refetchInterval: LIVE_MS / 2
  })
  const replays = list.data?.pages.flatMap((page) => page.data) ?? []
  if (list.error) return <Problem error={list.error} retry={() => void list.refetch()} />
  if (list.isPending) return <Loading what="replays" />
  if (replays.length === 0)
    return (
      <Empty icon="replay" title="Nothing was replayed yet">
        After an outage, “Replay …” above delivers again what the consumer missed.
      </Empty>
    )
  return (
    <ul className="stack" style={{ maxWidth: '56rem' }}>
      {replays.map((replay) => (
        <ReplayItem key={replay.id} replay={replay} />
      ))}
    </ul>
  )
}

function ReplayItem({ replay }: { replay: Replay }) {
  const now = useNow()
  const elapsed = replay.started_at
    ? (replay.finished_at ? Date.parse(replay.finished_at) : now) - Date.parse(replay.started_at)
    : 0
  const left =
    replay.state === 'running' && replay.progress > 0.02
      ? (elapsed / replay.progress) * (1 - replay.progress)
      : undefined
  return (
    <li className="card">
      <div className="body stack tight">
        <div className="row wrap spread">
          <span className="row wrap">
            <Badge tone={TONES[replay.state]} dot>
              {replay.state}
            </Badge>
            <Time iso={replay.from_date} form="full" /> – <Time iso={replay.to_date} form="full" />
          </span>
          <span className="muted small">
            asked for <Time iso={replay.created_at} form="relative" />
          </span>
        </div>
        <Progress value={replay.state === 'complete' ? 1 : replay.progress} label="Progress of the replay" />
        <div className="row wrap spread small muted num">
          <span>
            {count(replay.delivered)} delivered, {count(replay.failed)} failed
          </span>
          <span>
            {percent(replay.state === 'complete' ? 1 : replay.progress)}
            {left === undefined ? '' : ` · about ${duration(left)} left`}
            {replay.finished_at ? ` · took ${duration(elapsed)}` : ''}
          </span>
        </div>
        {replay.detail ? <p className="bad small">{replay.detail}</p> : null}
      </div>
    </li>
  )
}
