/** Campaigns of an account with their line items below them, asked for when they are opened. */
import { useInfiniteQuery, useQuery } from '@tanstack/react-query'
import { getRouteApi } from '@tanstack/react-router'
import { type ReactNode, useState } from 'react'
import { count } from '../../client/format.ts'
import { Callout, Empty, Loading, Problem, Segmented } from '../../ui/bits.tsx'
import { Button } from '../../ui/button.tsx'
import { Check, SearchBox, Select } from '../../ui/fields.tsx'
import { campaignsQuery, fundingQuery } from './queries.ts'
import { SORTS, STATUSES } from './routes.ts'
import { useScope } from './scope.tsx'
import { Tree } from './tree.tsx'
import { readable } from './words.ts'

const route = getRouteApi('/shell/ads/$accountId/')

const SORT_KEYS: Record<(typeof SORTS)[number], string> = {
  newest: 'created_at-desc',
  name: 'name-asc',
  changed: 'updated_at-desc',
  budget: 'daily_budget_amount_local_micro-desc'
}
const SORT_NAMES: Record<(typeof SORTS)[number], string> = {
  newest: 'Newest first',
  name: 'By name',
  changed: 'Last changed first',
  budget: 'Largest daily budget first'
}
const SEARCH_PAUSE_MS = 250

export function Campaigns({ create }: { create: ReactNode }) {
  const scope = useScope()
  const search = route.useSearch()
  const navigate = route.useNavigate()
  const { q, status, funding, sort = 'newest', deleted, open } = search
  const list = useInfiniteQuery({
    ...campaignsQuery(scope, {
      q,
      entity_statuses: status,
      funding_instrument_ids: funding,
      sort_by: SORT_KEYS[sort],
      with_draft: true,
      with_deleted: deleted
    }),
    refetchInterval: ({ state }) => ((state.data?.pages.length ?? 0) <= 1 ? 15_000 : false)
  })
  const { data: instruments } = useQuery(fundingQuery(scope))
  const rows = list.data?.pages.flatMap((page) => page.data) ?? []
  const set = (change: Partial<typeof search>) =>
    void navigate({ search: (was) => ({ ...was, ...change }), replace: true })
  const filtered = [q, status, funding].some((each) => each !== undefined)
  return (
    <>
      <div className="filters">
        <NameSearch value={q} onSearch={(next) => set({ q: next })} />
        <Segmented
          label="Status"
          value={status ?? 'all'}
          onChange={(next) => set({ status: next === 'all' ? undefined : next })}
          options={[['all', 'All'], ...STATUSES.map((each) => [each, readable(each)] as const)]}
        />
        {(instruments?.data.length ?? 0) > 1 ? (
          <Select
            label="Funding"
            value={funding ?? ''}
            onChange={({ target }) => set({ funding: target.value || undefined })}
            choices={[
              ['', 'All funding'],
              ...instruments!.data.map(
                ({ id, type, description }) =>
                  [id, `${readable(type)}${description ? ` · ${description}` : ''}`] as const
              )
            ]}
          />
        ) : null}
        <Select
          label="Order"
          value={sort}
          onChange={({ target }) => set({ sort: SORTS.find((each) => each === target.value && each !== 'newest') })}
          choices={SORTS.map((each) => [each, SORT_NAMES[each]] as const)}
        />
        <Check
          label="Deleted ones too"
          checked={deleted ?? false}
          onChange={({ target }) => set({ deleted: target.checked || undefined })}
        />
      </div>
      {instruments && instruments.data.length === 0 ? <NoFunding /> : null}
      {list.error ? <Problem error={list.error} retry={() => void list.refetch()} /> : null}
      {list.isPending ? (
        <Loading what="campaigns" />
      ) : rows.length > 0 ? (
        <Tree
          campaigns={rows}
          withDeleted={deleted ?? false}
          open={(open ?? '').split(',').filter(Boolean)}
          onOpen={(ids) => set({ open: ids.join(',') || undefined })}
        />
      ) : list.error ? null : filtered ? (
        <Empty
          icon="filter"
          title="No campaign fits"
          action={<Button onClick={() => void navigate({ search: {} })}>Show all</Button>}
        >
          Names are compared from their beginning; drafts are among them.
        </Empty>
      ) : (
        <Empty icon="ads" title="No campaigns yet" action={create}>
          A campaign is a budget under a funding instrument. Its line items say where, to whom and for what the money is
          spent.
        </Empty>
      )}
      {rows.length > 0 ? (
        <div className="row spread wrap tree-foot">
          <span className="muted small num">
            {count(rows.length)} {list.hasNextPage ? 'shown' : 'in all'}
          </span>
          {list.hasNextPage ? (
            <Button busy={list.isFetchingNextPage && 'Loading …'} onClick={() => void list.fetchNextPage()}>
              Show more
            </Button>
          ) : null}
        </div>
      ) : null}
    </>
  )
}

function NoFunding() {
  const scope = useScope()
  const navigate = route.useNavigate()
  return (
    <div style={{ marginBottom: '0.85rem' }}>
      <Callout tone="warn">
        <div className="row spread wrap">
          <span>
            This account has no funding instrument, so nothing new can be paid for.
            {scope.listener === 'sandbox' ? '' : ' The operator of this server adds one.'}
          </span>
          <Button onClick={() => void navigate({ search: { tab: 'funding' } })}>Go to funding</Button>
        </div>
      </Callout>
    </div>
  )
}

/** Writes to the address when the typing pauses. */
function NameSearch({ value, onSearch }: { value: string | undefined; onSearch: (q: string | undefined) => void }) {
  const [text, setText] = useState(value ?? '')
  const [timer, setTimer] = useState<ReturnType<typeof setTimeout>>()
  return (
    <SearchBox
      label="Name begins with"
      value={text}
      onChange={({ target }) => {
        setText(target.value)
        clearTimeout(timer)
        setTimer(setTimeout(() => onSearch(target.value.trim() || undefined), SEARCH_PAUSE_MS))
      }}
    />
  )
}
