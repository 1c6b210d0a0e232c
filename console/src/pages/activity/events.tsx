/** Everything that is published, as it is published. */
import '../home/inbox.css'
import { useQuery } from '@tanstack/react-query'
import { getRouteApi } from '@tanstack/react-router'
import { type FormEvent, useEffect, useState } from 'react'
import { ask } from '../../client/api.ts'
import { plural } from '../../client/format.ts'
import { LIVE_MS } from '../../client/query-client.ts'
import { Badge, Card, Empty, Id, Loading, Problem, Time } from '../../ui/bits.tsx'
import { Button } from '../../ui/button.tsx'
import { Json } from '../../ui/code.tsx'
import { SearchBox, Select } from '../../ui/fields.tsx'
import { eventTypesQuery } from './queries.ts'

const route = getRouteApi('/shell/activity')
const KEPT = 300

interface Published {
  id: string
  event_type: string
  user_id: string | null
  payload: unknown
  occurred_at: string
  created_at: string
}

export function Events() {
  const { type, user } = route.useSearch()
  const navigate = route.useNavigate()
  const { data: types } = useQuery(eventTypesQuery)
  const [paused, setPaused] = useState(false)
  const [events, setEvents] = useState<Published[]>()
  const [open, setOpen] = useState<string>()
  const latest = events?.[0]?.id
  const tail = useQuery({
    queryKey: ['events', type, user],
    queryFn: ({ signal }) =>
      ask<Published[]>('GET', '/admin/events', {
        query: { event_type: type, user_id: user, max_results: 100 },
        signal
      }),
    refetchInterval: paused ? false : LIVE_MS / 2
  })
  // New ones on top; what scrolled by stays for a while.
  useEffect(() => {
    if (!tail.data || paused) return
    setEvents((before = []) => {
      const known = new Set(before.map(({ id }) => id))
      return [...tail.data.filter(({ id }) => !known.has(id)), ...before].slice(0, KEPT)
    })
  }, [tail.data, paused])
  // biome-ignore lint/correctness/useExhaustiveDependencies: other filters, another list
  useEffect(() => setEvents(undefined), [type, user])
  const shown = events ?? (paused ? tail.data : undefined)
  const submit = (event: FormEvent<HTMLFormElement>) => {
    event.preventDefault()
    const wanted = String(new FormData(event.currentTarget).get('user') ?? '').trim()
    void navigate({ search: (was) => ({ ...was, user: wanted || undefined }) })
  }
  return (
    <div className="stack">
      <div className="filters" style={{ marginBottom: 0 }}>
        <Select
          label="Event type"
          value={type ?? ''}
          onChange={({ target }) => void navigate({ search: (was) => ({ ...was, type: target.value || undefined }) })}
          choices={[['', 'All types'], ...(types ?? []).map(({ name }) => [name, name] as const)]}
        />
        <form onSubmit={submit}>
          <SearchBox label="User id" name="user" key={user ?? ''} defaultValue={user ?? ''} inputMode="numeric" />
        </form>
        <Button icon={paused ? 'right' : 'stop'} onClick={() => setPaused(!paused)}>
          {paused ? 'Go on' : 'Pause'}
        </Button>
      </div>
      {tail.error ? <Problem error={tail.error} retry={() => void tail.refetch()} /> : null}
      <Card
        bare
        title={
          <span className="row">
            {paused ? null : <span className="live-dot" />}
            {shown ? plural(shown.length, 'event') : 'Events'}
          </span>
        }
      >
        {shown === undefined ? (
          <div className="body">
            <Loading what="events" />
          </div>
        ) : shown.length === 0 ? (
          <Empty icon="activity" title="Nothing was published in the last 24 hours">
            The host platform publishes with POST /admin/events; the first steps on the home page publish one for you.
          </Empty>
        ) : (
          <ul aria-live="off">
            {shown.map((event) => (
              <li key={event.id} className={`inbox-item ${event.id === latest ? 'fresh' : ''}`}>
                <button
                  type="button"
                  className="inbox-line"
                  aria-expanded={open === event.id}
                  onClick={() => setOpen(open === event.id ? undefined : event.id)}
                >
                  <Badge tone="accent">{event.event_type}</Badge>
                  <span className="mono ellipsis grow">{JSON.stringify(event.payload)}</span>
                  {event.user_id ? <span className="muted mono">user {event.user_id}</span> : null}
                  <Time iso={event.created_at} />
                </button>
                {open === event.id ? (
                  <div className="inbox-body stack tight">
                    <div className="row wrap small muted">
                      <Id value={event.id} /> occurred <Time iso={event.occurred_at} form="full" />
                    </div>
                    <Json text={JSON.stringify(event.payload)} label="the payload" />
                  </div>
                ) : null}
              </li>
            ))}
          </ul>
        )}
      </Card>
    </div>
  )
}
