import { useInfiniteQuery, useQuery, useQueryClient } from '@tanstack/react-query'
import { Link } from '@tanstack/react-router'
import { useState } from 'react'
import { ask } from '../../client/api.ts'
import { type App, usersQuery, webhooksQuery } from '../../client/resources.ts'
import { useSession } from '../../client/session.ts'
import { Badge, Empty, Loading, Problem, Tile, Time } from '../../ui/bits.tsx'
import { Button } from '../../ui/button.tsx'
import { Code } from '../../ui/code.tsx'
import { Confirm, say } from '../../ui/overlays.tsx'
import { type Column, Table } from '../../ui/table.tsx'
import { ExplainDialog } from './explain.tsx'
import { type Subscribed, subscribedQuery } from './queries.ts'

interface Count {
  provisioned_count: string
  subscriptions_count_all: string
}

export function AccountActivity({ app }: { app: App }) {
  const client = useQueryClient()
  const { urls } = useSession()
  const list = useInfiniteQuery(subscribedQuery(app.id))
  const { data: users } = useQuery(usersQuery)
  const { data: webhooks } = useQuery(webhooksQuery({ app_id: app.id }))
  const { data: count } = useQuery({
    queryKey: ['activity', app.id, 'count'],
    queryFn: ({ signal }) => ask<Count>('GET', '/2/account_activity/subscriptions/count', { app: app.id, signal }),
    // A small budget of requests; the list beside it is what is live.
    staleTime: 60_000,
    retry: false
  })
  const [ending, setEnding] = useState<Subscribed>()
  const [asking, setAsking] = useState<Subscribed>()
  const rows = (list.data?.pages.flatMap((page) => page.data) ?? []).filter(
    ({ product }) => product === 'account_activity'
  )
  const webhookId = webhooks?.data[0]?.id ?? 'WEBHOOK_ID'
  const columns: Column<Subscribed>[] = [
    {
      id: 'user',
      header: 'User',
      cell: ({ user_id }) => {
        const user = users?.find(({ id }) => id === user_id)
        return user ? `@${user.username}` : <code>{user_id}</code>
      }
    },
    {
      id: 'webhook',
      header: 'Delivered to',
      clip: true,
      cell: ({ webhook_id, webhook_valid }) => (
        <span className="row">
          {webhook_valid === false ? <Badge tone="bad">invalid</Badge> : null}
          <Link to="/webhooks/$webhookId" params={{ webhookId: webhook_id! }} className="ellipsis">
            {webhooks?.data.find(({ id }) => id === webhook_id)?.url.replace(/^https:\/\//, '') ?? webhook_id}
          </Link>
        </span>
      )
    },
    { id: 'since', header: 'Since', width: 'shrink', cell: ({ created_at }) => <Time iso={created_at} /> },
    {
      id: 'end',
      header: '',
      width: 'shrink',
      cell: (subscription) => (
        <span className="row">
          <Button variant="ghost" size="small" icon="question" onClick={() => setAsking(subscription)}>
            Why not?
          </Button>
          <Button variant="ghost" size="small" onClick={() => setEnding(subscription)}>
            End
          </Button>
        </span>
      )
    }
  ]
  return (
    <div className="stack">
      {count ? (
        <div className="grid-4">
          <Tile
            label="Subscribed"
            value={count.subscriptions_count_all}
            note={`of ${count.provisioned_count} that the app may have`}
          />
        </div>
      ) : null}
      {list.error ? <Problem error={list.error} retry={() => void list.refetch()} /> : null}
      {list.isPending ? (
        <Loading what="account activity" />
      ) : rows.length === 0 ? (
        <Empty icon="user" title="No user has subscribed">
          A user subscribes with their own token, which the app got when they allowed it. Then everything that happens
          on their account is delivered.
        </Empty>
      ) : (
        <Table rows={rows} columns={columns} keyOf={({ id }) => id} label="Account activity subscriptions" />
      )}
      <details>
        <summary>How a user subscribes</summary>
        <div style={{ marginTop: '0.6rem', maxWidth: '56rem' }}>
          <Code
            wrap
            label="the request that subscribes a user"
            text={`curl -X POST '${urls.main}/2/account_activity/webhooks/${webhookId}/subscriptions/all' \\\n  -H "Authorization: Bearer $USER_TOKEN"`}
          />
        </div>
      </details>
      <ExplainDialog
        open={asking !== undefined}
        onClose={() => setAsking(undefined)}
        query={{ app_id: app.id, user_id: asking?.user_id ?? undefined }}
      />
      <Confirm
        open={ending !== undefined}
        onClose={() => setEnding(undefined)}
        title="End this subscription?"
        action="End it"
        busy="Ending …"
        onConfirm={async () => {
          await ask(
            'DELETE',
            `/2/account_activity/webhooks/${ending!.webhook_id}/subscriptions/${ending!.user_id}/all`,
            {
              app: app.id
            }
          )
          await client.invalidateQueries({ queryKey: ['activity', app.id] })
          say('The subscription has ended')
        }}
      >
        {app.name} is no longer told what happens on this account. Only the user can subscribe again.
      </Confirm>
    </div>
  )
}
