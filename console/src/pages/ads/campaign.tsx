/** One campaign: does it serve and why not, its budget, its line items, its history. */
import { useQuery } from '@tanstack/react-query'
import { getRouteApi, Link } from '@tanstack/react-router'
import { useState } from 'react'
import { Callout, Empty, Id, Loading, Problem, Tile } from '../../ui/bits.tsx'
import { Button } from '../../ui/button.tsx'
import { Page } from '../../ui/page.tsx'
import { type Column, Table } from '../../ui/table.tsx'
import { Tabs } from '../../ui/tabs.tsx'
import { CampaignMenu, LineItemMenu } from './actions.tsx'
import { ServabilityBadge, StatusBadge } from './badges.tsx'
import { History } from './history.tsx'
import { zoneName } from './inputs.tsx'
import { LineItemDialog } from './line-item-form.tsx'
import { money } from './money.ts'
import {
  type Campaign,
  campaignQuery,
  campaignServabilityQuery,
  fundingQuery,
  type LineItem,
  type LineItemServability,
  lineItemsQuery
} from './queries.ts'
import { useScope } from './scope.tsx'
import { ServabilityCard } from './servability.tsx'
import { Flight } from './tree.tsx'
import { readable, word, words } from './words.ts'

const route = getRouteApi('/shell/ads/$accountId/campaigns/$campaignId')
const TABS = [
  ['line-items', 'Line items'],
  ['history', 'History']
] as const

/** Reasons follow the clock, too. */
const AGAIN_MS = 15_000

export function CampaignPage() {
  const { campaignId } = route.useParams()
  const { tab = 'line-items' } = route.useSearch()
  const navigate = route.useNavigate()
  const scope = useScope()
  const campaign = useQuery({ ...campaignQuery(scope, campaignId), refetchInterval: AGAIN_MS })
  const items = useQuery(lineItemsQuery(scope, campaignId))
  const servability = useQuery({
    ...campaignServabilityQuery(scope, campaignId),
    enabled: campaign.data?.deleted === false,
    refetchInterval: AGAIN_MS
  })
  const above = (
    <>
      <Link to="/ads">Ad accounts</Link>
      <span aria-hidden="true">/</span>
      <Link to="/ads/$accountId" params={{ accountId: scope.accountId }}>
        {scope.account.name}
      </Link>
    </>
  )
  const { data } = campaign
  if (!data)
    return (
      <Page title="Campaign" above={above}>
        {campaign.error ? (
          <Problem error={campaign.error} retry={() => void campaign.refetch()} />
        ) : (
          <Loading what="the campaign" />
        )}
      </Page>
    )
  return (
    <Page
      title={data.name}
      above={above}
      lead={
        <span className="row wrap">
          <StatusBadge status={data.entity_status} deleted={data.deleted} />
          <ServabilityBadge servable={data.servable} />
          <Id value={data.id} />
        </span>
      }
      actions={<CampaignMenu campaign={data} buttons />}
    >
      <div className="stack" style={{ marginBottom: '1.2rem' }}>
        {data.deleted ? (
          <Callout tone="bad">
            This campaign is deleted. It never serves again; its line items can still be read.
          </Callout>
        ) : null}
        {servability.data && !data.deleted ? (
          <ServabilityCard
            servability={servability.data}
            campaign={data}
            lineItems={items.data?.data ?? []}
            of="campaign"
          />
        ) : null}
        <Figures campaign={data} />
      </div>
      <Tabs
        label="About this campaign"
        tabs={TABS}
        value={tab}
        onChange={(next) => void navigate({ search: { tab: next === 'line-items' ? undefined : next } })}
      >
        {tab === 'line-items' ? (
          <LineItems campaign={data} states={servability.data?.line_items ?? []} items={items} />
        ) : (
          <History entity="CAMPAIGN" of={data} />
        )}
      </Tabs>
    </Page>
  )
}

function Figures({ campaign }: { campaign: Campaign }) {
  const scope = useScope()
  const { data } = useQuery(fundingQuery(scope, true))
  const instrument = data?.data.find(({ id }) => id === campaign.funding_instrument_id)
  const { currency, daily_budget_amount_local_micro: daily, total_budget_amount_local_micro: total } = campaign
  const perItem = campaign.budget_optimization === 'LINE_ITEM'
  return (
    <div className="grid-4">
      <Tile
        label="Daily budget"
        value={daily === null ? 'None' : money(daily, currency)}
        note={perItem ? 'a cap; line items have their own' : `from midnight in ${zoneName(scope.account.timezone)}`}
      />
      <Tile label="Total budget" value={total === null ? 'No limit' : money(total, currency)} note={currency} />
      <Tile
        label="Pace"
        value={perItem ? 'By line item' : campaign.standard_delivery === false ? 'Fast' : 'Even'}
        note={perItem ? 'each decides' : campaign.standard_delivery === false ? 'as fast as possible' : 'over the day'}
      />
      <Tile
        label="Paid by"
        value={instrument ? readable(instrument.type) : '…'}
        tone={instrument?.able_to_fund === false ? 'bad' : 'plain'}
        note={instrument?.able_to_fund === false ? 'not able to fund' : (instrument?.description ?? 'able to fund')}
      />
    </div>
  )
}

interface LineItemsProps {
  campaign: Campaign
  states: readonly LineItemServability[]
  items: { data?: { data: LineItem[] } | undefined; error: Error | null; refetch: () => unknown }
}

function LineItems({ campaign, states, items }: LineItemsProps) {
  const scope = useScope()
  const [adding, setAdding] = useState(false)
  const rows = items.data?.data
  const add =
    scope.may('campaigns.write') && !campaign.deleted ? (
      <Button variant={rows?.length === 0 ? 'primary' : 'secondary'} icon="plus" onClick={() => setAdding(true)}>
        Add a line item
      </Button>
    ) : null
  return (
    <div className="stack">
      {items.error ? <Problem error={items.error} retry={() => void items.refetch()} /> : null}
      {rows === undefined ? (
        items.error ? null : (
          <Loading what="line items" />
        )
      ) : rows.length === 0 ? (
        <Empty icon="ads" title="No line items yet" action={add}>
          A line item says where ads are shown, to whom, and what they may cost.
        </Empty>
      ) : (
        <>
          <Table rows={rows} columns={columnsFor(states)} keyOf={({ id }) => id} label="Line items" />
          <div>{add}</div>
        </>
      )}
      <LineItemDialog open={adding} onClose={() => setAdding(false)} campaign={campaign} />
    </div>
  )
}

const columnsFor = (states: readonly LineItemServability[]): Column<LineItem>[] => [
  {
    id: 'name',
    header: 'Line item',
    cell: (item) => (
      <span className="stack" style={{ gap: 0 }}>
        <Link
          className="row-link"
          to="/ads/$accountId/line-items/$lineItemId"
          from="/ads/$accountId"
          params={{ lineItemId: item.id }}
        >
          {item.name ?? word(item.objective)}
        </Link>
        <span className="muted small">
          {word(item.objective)} · {words(item.placements)}
        </span>
      </span>
    )
  },
  {
    id: 'status',
    header: 'Status',
    width: 'shrink',
    cell: ({ entity_status, deleted }) => <StatusBadge status={entity_status} deleted={deleted} />
  },
  {
    id: 'servable',
    header: 'Servability',
    width: 'shrink',
    cell: ({ id }) => {
      const state = states.find(({ line_item_id }) => line_item_id === id)
      return <ServabilityBadge servable={state?.servable} reasons={state?.reasons_not_servable} />
    }
  },
  {
    id: 'bid',
    header: 'Bid',
    width: 'shrink',
    align: 'end',
    cell: ({ bid_amount_local_micro: bid, bid_strategy, currency }) => (
      <span className="num">{bid === null ? word(bid_strategy) : money(bid, currency)}</span>
    )
  },
  {
    id: 'budget',
    header: 'Daily budget',
    width: 'shrink',
    align: 'end',
    cell: ({ daily_budget_amount_local_micro: daily, currency }) => (
      <span className="num">{money(daily, currency)}</span>
    )
  },
  { id: 'runs', header: 'Runs', width: 'shrink', cell: (item) => <Flight item={item} /> },
  { id: 'more', header: '', width: 'shrink', cell: (item) => <LineItemMenu item={item} /> }
]
