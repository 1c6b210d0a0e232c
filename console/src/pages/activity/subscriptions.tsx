import { useInfiniteQuery, useQuery, useQueryClient } from '@tanstack/react-query'
import { Link } from '@tanstack/react-router'
import { useState } from 'react'
import { ask } from '../../client/api.ts'
import { type App, type Webhook, webhooksQuery } from '../../client/resources.ts'
import { Badge, Empty, Id, Loading, Problem, Time } from '../../ui/bits.tsx'
import { Button } from '../../ui/button.tsx'
import { Confirm, Menu, say } from '../../ui/overlays.tsx'
import { type Column, Table } from '../../ui/table.tsx'
import { ExplainDialog } from './explain.tsx'
import { type Subscribed, subscribedQuery } from './queries.ts'
import { ChangeSubscription, NewSubscription } from './subscription-form.tsx'

type Action = { what: 'new' } | { what: 'change' | 'delete' | 'explain'; subscription: Subscribed }

export function Subscriptions({ app }: { app: App }) {
  const client = useQueryClient()
  const list = useInfiniteQuery(subscribedQuery(app.id))
  const { data: webhooks } = useQuery(webhooksQuery({ app_id: app.id }))
  const [action, setAction] = useState<Action>()
  const close = () => setAction(undefined)
  const rows = (list.data?.pages.flatMap((page) => page.data) ?? []).filter(({ product }) => product === 'activity')
  const changed = () => client.invalidateQueries({ queryKey: ['activity', app.id] })
  const create = (
    <Button variant="primary" icon="plus" onClick={() => setAction({ what: 'new' })}>
      Subscribe
    </Button>
  )
  return (
    <div className="stack">
      <div className="row spread wrap">
        <p className="muted grow">
          What {app.name} is told, and through which webhook. Without one, its streams tell it.
        </p>
        {create}
      </div>
      {list.error ? <Problem error={list.error} retry={() => void list.refetch()} /> : null}
      {list.isPending ? (
        <Loading what="subscriptions" />
      ) : rows.length === 0 ? (
        <Empty icon="activity" title="This app is subscribed to nothing" action={create}>
          A subscription names an event type and whom it is about. Public events need nobody’s consent.
        </Empty>
      ) : (
        <Table
          rows={rows}
          columns={columnsFor(webhooks?.data ?? [], setAction)}
          keyOf={({ id }) => id}
          label="Subscriptions"
        />
      )}
      {list.hasNextPage ? (
        <div>
          <Button busy={list.isFetchingNextPage && 'Loading …'} onClick={() => void list.fetchNextPage()}>
            Show older ones
          </Button>
        </div>
      ) : null}
      <NewSubscription
        open={action?.what === 'new'}
        onClose={close}
        app={app}
        webhooks={webhooks?.data ?? []}
        onDone={changed}
      />
      <ChangeSubscription
        subscription={action?.what === 'change' ? action.subscription : undefined}
        onClose={close}
        webhooks={webhooks?.data ?? []}
        onDone={changed}
      />
      <ExplainDialog
        open={action?.what === 'explain'}
        onClose={close}
        query={action?.what === 'explain' ? { subscription_id: action.subscription.id } : {}}
      />
      <Confirm
        open={action?.what === 'delete'}
        onClose={close}
        title="Delete this subscription?"
        action="Delete"
        busy="Deleting …"
        onConfirm={async () => {
          const { subscription } = action as { subscription: Subscribed }
          await ask('DELETE', `/2/activity/subscriptions/${subscription.id}`, { app: app.id })
          await changed()
          say('The subscription is deleted')
        }}
      >
        {app.name} is no longer told of these events. What was published before is not delivered any more, retries
        included.
      </Confirm>
    </div>
  )
}

const columnsFor = (webhooks: Webhook[], act: (action: Action) => void): Column<Subscribed>[] => [
  { id: 'type', header: 'Event type', width: 'shrink', cell: ({ event_type }) => <code>{event_type}</code> },
  {
    id: 'filter',
    header: 'About',
    width: 'shrink',
    cell: ({ filter }) =>
      filter?.keyword !== undefined ? (
        <span>“{filter.keyword}”</span>
      ) : (
        <span className="row">
          user <Id value={filter?.user_id ?? '–'} copy={false} />
          {filter?.direction ? <Badge>{filter.direction}</Badge> : null}
        </span>
      )
  },
  { id: 'tag', header: 'Tag', clip: true, cell: ({ tag }) => tag ?? <span className="muted">–</span> },
  {
    id: 'webhook',
    header: 'Delivered to',
    clip: true,
    cell: ({ webhook_id, webhook_valid }) =>
      webhook_id === null ? (
        <span className="muted">streams</span>
      ) : (
        <span className="row">
          {webhook_valid === false ? <Badge tone="bad">invalid</Badge> : null}
          <Link to="/webhooks/$webhookId" params={{ webhookId: webhook_id }} className="ellipsis">
            {webhooks.find(({ id }) => id === webhook_id)?.url.replace(/^https:\/\//, '') ?? webhook_id}
          </Link>
        </span>
      )
  },
  { id: 'created', header: 'Since', width: 'shrink', cell: ({ created_at }) => <Time iso={created_at} /> },
  {
    id: 'more',
    header: '',
    width: 'shrink',
    cell: (subscription) => (
      <Menu
        trigger={
          <Button variant="ghost" size="small" icon="more" aria-label={`More about subscription ${subscription.id}`} />
        }
        entries={[
          { label: 'Change tag or webhook …', icon: 'edit', onSelect: () => act({ what: 'change', subscription }) },
          {
            label: 'Why did an event not arrive? …',
            icon: 'question',
            onSelect: () => act({ what: 'explain', subscription })
          },
          'separator',
          { label: 'Delete …', icon: 'trash', danger: true, onSelect: () => act({ what: 'delete', subscription }) }
        ]}
      />
    )
  }
]
