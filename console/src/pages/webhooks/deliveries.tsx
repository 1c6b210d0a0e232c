import { useInfiniteQuery } from '@tanstack/react-query'
import { getRouteApi, Link } from '@tanstack/react-router'
import { type FormEvent, useCallback, useMemo, useState } from 'react'
import { count, milliseconds } from '../../client/format.ts'
import { LIVE_MS } from '../../client/query-client.ts'
import { DELIVERY_STATES, type Delivery, type DeliveryState, pagesOf, type Webhook } from '../../client/resources.ts'
import { Badge, Empty, Loading, Problem, Time, type Tone } from '../../ui/bits.tsx'
import { Button } from '../../ui/button.tsx'
import { SearchBox, Select } from '../../ui/fields.tsx'
import { Drawer } from '../../ui/overlays.tsx'
import { type Column, LongTable } from '../../ui/table.tsx'
import { DeliveryView } from './delivery.tsx'

const route = getRouteApi('/shell/webhooks/$webhookId')

export const STATE_TONES: Record<DeliveryState, Tone> = {
  waiting: 'plain',
  retrying: 'warn',
  delivered: 'good',
  failed: 'bad',
  held: 'warn'
}
const STATE_NAMES: Record<DeliveryState, string> = {
  waiting: 'Waiting',
  retrying: 'Retrying',
  delivered: 'Delivered',
  failed: 'Failed',
  held: 'Held'
}

export const StateBadge = ({ state }: { state: DeliveryState }) => (
  <Badge tone={STATE_TONES[state]} dot>
    {STATE_NAMES[state]}
  </Badge>
)

const COLUMNS: Column<Delivery>[] = [
  { id: 'state', header: 'State', width: '8rem', cell: ({ state }) => <StateBadge state={state} /> },
  { id: 'created', header: 'Created', width: '11.5rem', cell: ({ created_at }) => <Time iso={created_at} /> },
  { id: 'kind', header: 'Kind', width: '9rem', cell: ({ kind }) => kind },
  {
    id: 'event',
    header: 'Event',
    width: '12.5rem',
    cell: ({ event_id }) => <span className="mono">{event_id ?? '–'}</span>
  },
  {
    id: 'answer',
    header: 'Last answer',
    cell: ({ status, error, detail, latency_ms, state }) =>
      status === null && error === null && state !== 'held' ? (
        <span className="muted">–</span>
      ) : (
        <span title={detail ?? ''}>
          {status ?? error ?? detail}
          {latency_ms === null ? '' : ` · ${milliseconds(latency_ms)}`}
          {status !== null && error !== null ? ` · ${error}` : ''}
        </span>
      )
  },
  {
    id: 'attempts',
    header: 'Attempts',
    width: '6rem',
    align: 'end',
    cell: ({ attempts }) => <span className="num">{attempts}</span>
  },
  {
    id: 'next',
    header: 'Next attempt',
    width: '9rem',
    cell: ({ next_attempt_at }) =>
      next_attempt_at ? <Time iso={next_attempt_at} form="relative" /> : <span className="muted">–</span>
  }
]

/** As `datetime-local` has it, in the reader's zone, to ISO. */
const isoOf = (local: string | undefined) => {
  const date = local ? new Date(local) : undefined
  return date && !Number.isNaN(date.getTime()) ? date.toISOString() : undefined
}

export function Deliveries({ webhook }: { webhook: Webhook }) {
  const search = route.useSearch()
  const navigate = route.useNavigate()
  const { state, event, kind, from, to, delivery } = search
  const query = { state, event_id: event, kind, from: isoOf(from), to: isoOf(to), max_results: 100 }
  const list = useInfiniteQuery({
    ...pagesOf<Delivery>(['deliveries', webhook.id], `/admin/webhooks/${webhook.id}/deliveries`, query),
    // What has been scrolled through is not asked for again and again.
    refetchInterval: ({ state: { data } }) => ((data?.pages.length ?? 0) <= 1 ? LIVE_MS : false)
  })
  const rows = useMemo(() => list.data?.pages.flatMap((page) => page.data) ?? [], [list.data])
  const { hasNextPage, isFetchingNextPage, fetchNextPage } = list
  const more = useCallback(() => {
    if (hasNextPage && !isFetchingNextPage) void fetchNextPage()
  }, [hasNextPage, isFetchingNextPage, fetchNextPage])
  const set = (change: Partial<typeof search>) =>
    void navigate({ search: (was) => ({ ...was, ...change }), replace: true })
  const filtered = [state, event, kind, from, to].some((each) => each !== undefined)
  return (
    <>
      <div className="filters">
        <EventSearch key={event ?? ''} value={event} onSearch={(next) => set({ event: next })} />
        <Select
          label="State"
          value={state ?? ''}
          onChange={({ target }) => set({ state: (target.value || undefined) as DeliveryState | undefined })}
          choices={[['', 'All states'], ...DELIVERY_STATES.map((each) => [each, STATE_NAMES[each]] as const)]}
        />
        <Select
          label="Kind"
          value={kind ?? ''}
          onChange={({ target }) => set({ kind: target.value || undefined })}
          choices={[
            ['', 'All kinds'],
            ['activity', 'Activity'],
            ['account_activity', 'Account activity'],
            ['filtered_stream', 'Filtered stream'],
            ['test', 'Test events'],
            ['replay_status', 'Replay status']
          ]}
        />
        <span className="inline row wrap">
          <input
            className="input"
            type="datetime-local"
            aria-label="Created from"
            value={from ?? ''}
            onChange={({ target }) => set({ from: target.value || undefined })}
          />
          <span className="muted">to</span>
          <input
            className="input"
            type="datetime-local"
            aria-label="Created before"
            value={to ?? ''}
            onChange={({ target }) => set({ to: target.value || undefined })}
          />
        </span>
        {filtered ? (
          <Button
            variant="ghost"
            size="small"
            icon="cross"
            onClick={() => void navigate({ search: {}, replace: true })}
          >
            Clear
          </Button>
        ) : null}
      </div>
      {list.error ? <Problem error={list.error} retry={() => void list.refetch()} /> : null}
      {list.isPending ? (
        <Loading what="deliveries" />
      ) : (
        <LongTable
          label="Deliveries"
          rows={rows}
          columns={COLUMNS}
          keyOf={({ id }) => id}
          minWidth="62rem"
          activeKey={delivery}
          onOpen={({ id }) => void navigate({ search: (was) => ({ ...was, delivery: id }) })}
          onEnd={hasNextPage ? more : undefined}
          loadingMore={isFetchingNextPage}
          empty={
            filtered ? (
              <Empty icon="filter" title="No delivery fits these filters">
                {event ? (
                  <>
                    No delivery of event {event} was made to this webhook.{' '}
                    <Link from="/webhooks/$webhookId" to="." search={{ tab: 'why', event }}>
                      Why did it not arrive?
                    </Link>
                  </>
                ) : (
                  'Take a filter away, or look at another time.'
                )}
              </Empty>
            ) : (
              <Empty icon="send" title="Nothing was sent to this webhook yet">
                Send a test event, or subscribe the app to something that happens.
              </Empty>
            )
          }
          foot={
            <>
              <span className="num">
                {count(rows.length)} {hasNextPage ? 'loaded; scroll for more' : 'in all'}
              </span>
              <span>{isFetchingNextPage ? 'Loading more …' : (list.data?.pages.length ?? 0) <= 1 ? 'Live' : ''}</span>
            </>
          }
        />
      )}
      <Drawer
        open={delivery !== undefined}
        onClose={() => void navigate({ search: ({ delivery: _, ...was }) => was })}
        title="Delivery"
      >
        {delivery ? <DeliveryView id={delivery} /> : null}
      </Drawer>
    </>
  )
}

function EventSearch({
  value,
  onSearch
}: {
  value: string | undefined
  onSearch: (event: string | undefined) => void
}) {
  const [text, setText] = useState(value ?? '')
  const submit = (event: FormEvent) => {
    event.preventDefault()
    onSearch(text.trim() || undefined)
  }
  return (
    <form onSubmit={submit}>
      <SearchBox
        label="Event id"
        value={text}
        onChange={({ target }) => {
          setText(target.value)
          if (target.value === '') onSearch(undefined)
        }}
        size={22}
      />
    </form>
  )
}
