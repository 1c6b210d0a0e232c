/** What a line item shows, and what became of it in review. */
import { useMutation, useQuery } from '@tanstack/react-query'
import { useState } from 'react'
import { ask } from '../../client/api.ts'
import { usePerson } from '../../client/session.ts'
import { Empty, Id, Loading, Problem, Time } from '../../ui/bits.tsx'
import { Button } from '../../ui/button.tsx'
import { Confirm, Dialog, Menu, say, sayProblem } from '../../ui/overlays.tsx'
import { type Column, Table } from '../../ui/table.tsx'
import { ApprovalBadge, StatusBadge } from './badges.tsx'
import { MediaForm, mediaLabel, PostsForm, PromotedAccountForm } from './creative-forms.tsx'
import {
  type Creative,
  type LineItem,
  type MediaCreative,
  mediaCreativesQuery,
  mediaQuery,
  type PromotedAccount,
  type PromotedPost,
  promotedAccountsQuery,
  promotedPostsQuery
} from './queries.ts'
import { useScope } from './scope.tsx'

export function Creatives({ item }: { item: LineItem }) {
  const scope = useScope()
  return (
    <div className="stack loose">
      {item.product_type === 'PROMOTED_TWEETS' ? <Posts item={item} /> : null}
      {item.product_type === 'PROMOTED_ACCOUNT' ? <PromotedAccounts item={item} /> : null}
      {scope.may('creatives.read') ? <Media item={item} /> : null}
    </div>
  )
}

function Posts({ item }: { item: LineItem }) {
  const scope = useScope()
  const list = useQuery(promotedPostsQuery(scope, item.id))
  return (
    <Section<PromotedPost>
      item={item}
      title="Promoted posts"
      path="promoted_tweets"
      list={list}
      add="Add posts"
      may={scope.may('campaigns.write')}
      form={(close) => <PostsForm lineItemId={item.id} onClose={close} />}
      columns={[{ id: 'post', header: 'Post', cell: ({ tweet_id }) => <Id value={tweet_id} /> }]}
      empty="Posts are what people see of a line item. Without one it does not serve."
      removed="The post itself stays where it is; it can be promoted again."
    />
  )
}

function PromotedAccounts({ item }: { item: LineItem }) {
  const scope = useScope()
  const list = useQuery(promotedAccountsQuery(scope, item.id))
  return (
    <Section<PromotedAccount>
      item={item}
      title="Promoted accounts"
      path="promoted_accounts"
      list={list}
      add="Promote an account"
      may={scope.may('campaigns.write')}
      form={(close) => <PromotedAccountForm lineItemId={item.id} onClose={close} />}
      columns={[{ id: 'user', header: 'User', cell: ({ user_id }) => <Id value={user_id} /> }]}
      empty="The account that people are asked to follow. Without one the line item does not serve."
      removed="The account itself is not touched."
    />
  )
}

function Media({ item }: { item: LineItem }) {
  const scope = useScope()
  const list = useQuery(mediaCreativesQuery(scope, item.id))
  const { data: media } = useQuery(mediaQuery(scope))
  const nameOf = (id: string) => {
    const found = media?.data.find((each) => each.id === id)
    return found ? mediaLabel(found) : id
  }
  return (
    <Section<MediaCreative>
      item={item}
      title="Media"
      path="media_creatives"
      list={list}
      add="Attach media"
      may={scope.may('creatives.write')}
      form={(close) => <MediaForm lineItemId={item.id} objective={item.objective} onClose={close} />}
      columns={[
        { id: 'media', header: 'Media', cell: ({ account_media_id }) => nameOf(account_media_id) },
        {
          id: 'landing',
          header: 'Leads to',
          clip: true,
          cell: ({ landing_url }) => landing_url ?? <span className="muted">–</span>
        }
      ]}
      empty={
        item.product_type === 'MEDIA'
          ? 'Videos or images of the account. Without one the line item does not serve.'
          : 'Images and videos of the account can be shown beside, on the audience network and before videos.'
      }
      removed="The media stays in the account."
    />
  )
}

interface SectionProps<T extends Creative> {
  item: LineItem
  title: string
  path: string
  list: { data?: { data: T[] } | undefined; error: Error | null; refetch: () => unknown }
  add: string
  may: boolean
  form: (close: () => void) => React.ReactNode
  columns: Column<T>[]
  empty: string
  removed: string
}

function Section<T extends Creative>(props: SectionProps<T>) {
  const { item, title, path, list, add, may, form, empty, removed } = props
  const scope = useScope()
  const { operator } = usePerson()
  const [adding, setAdding] = useState(false)
  const [removing, setRemoving] = useState<T>()
  const review = useMutation({
    mutationFn: ({ id, approval_status }: { id: string; approval_status: string }) =>
      ask('PUT', `/admin/ad_accounts/${scope.accountId}/${path}/${id}/review`, { body: { approval_status } }),
    onSuccess: async () => {
      await scope.changed()
      say('The review is noted')
    },
    onError: sayProblem
  })
  const rows = list.data?.data
  const writes = may && !item.deleted
  const columns: Column<T>[] = [
    ...props.columns,
    {
      id: 'approval',
      header: 'Review',
      width: 'shrink',
      cell: ({ approval_status }) => <ApprovalBadge status={approval_status} />
    },
    {
      id: 'status',
      header: 'Status',
      width: 'shrink',
      cell: ({ entity_status }) => <StatusBadge status={entity_status} />
    },
    { id: 'since', header: 'Since', width: 'shrink', cell: ({ created_at }) => <Time iso={created_at} /> },
    {
      id: 'more',
      header: '',
      width: 'shrink',
      cell: (row) =>
        writes || operator ? (
          <Menu
            trigger={<Button variant="ghost" size="small" icon="more" aria-label={`More about ${row.id}`} />}
            entries={[
              ...(operator
                ? (['ACCEPTED', 'REJECTED'] as const)
                    .filter((each) => each !== row.approval_status)
                    .map((approval_status) => ({
                      label: approval_status === 'ACCEPTED' ? 'Accept it (operator)' : 'Reject it (operator)',
                      icon: approval_status === 'ACCEPTED' ? ('check' as const) : ('cross' as const),
                      onSelect: () => review.mutate({ id: row.id, approval_status })
                    }))
                : []),
              ...(writes
                ? [{ label: 'Take it away …', icon: 'trash' as const, danger: true, onSelect: () => setRemoving(row) }]
                : [])
            ]}
          />
        ) : null
    }
  ]
  const addButton = writes ? (
    <Button icon="plus" variant={rows?.length === 0 ? 'primary' : 'secondary'} onClick={() => setAdding(true)}>
      {add}
    </Button>
  ) : null
  return (
    <section className="stack" aria-label={title}>
      <div className="row spread wrap">
        <h2>{title}</h2>
        {rows && rows.length > 0 ? addButton : null}
      </div>
      {list.error ? (
        <Problem error={list.error} retry={() => void list.refetch()} />
      ) : rows === undefined ? (
        <Loading what={title} />
      ) : rows.length === 0 ? (
        <Empty icon="ads" title={`No ${title.toLowerCase()} yet`} action={addButton}>
          {empty}
        </Empty>
      ) : (
        <Table rows={rows} columns={columns} keyOf={({ id }) => id} label={title} />
      )}
      <Dialog open={adding} onClose={() => setAdding(false)} title={add}>
        {adding ? form(() => setAdding(false)) : null}
      </Dialog>
      <Confirm
        open={removing !== undefined}
        onClose={() => setRemoving(undefined)}
        title="Take it away from this line item?"
        action="Take it away"
        busy="Taking it away …"
        onConfirm={async () => {
          await ask('DELETE', scope.at(`/${path}/${removing!.id}`))
          await scope.changed()
          say('It is no longer shown')
        }}
      >
        It is no longer shown by this line item. {removed}
        {rows?.length === 1 ? ' It is the only one: the line item stops serving.' : ''}
      </Confirm>
    </section>
  )
}
