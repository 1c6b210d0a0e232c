/** A table whose rows open: campaigns, and below each its line items. Arrow keys move, right opens, left closes. */
import { useQuery } from '@tanstack/react-query'
import { Link } from '@tanstack/react-router'
import { type KeyboardEvent, type ReactNode, useRef, useState } from 'react'
import { utc } from '../../client/format.ts'
import { Problem } from '../../ui/bits.tsx'
import { Button } from '../../ui/button.tsx'
import { CampaignMenu, LineItemMenu } from './actions.tsx'
import { ServabilityBadge, StatusBadge } from './badges.tsx'
import { LineItemDialog } from './line-item-form.tsx'
import { money } from './money.ts'
import { type Campaign, campaignServabilityQuery, type LineItem, lineItemsQuery } from './queries.ts'
import { useScope } from './scope.tsx'
import { word, words } from './words.ts'

interface TreeProps {
  campaigns: readonly Campaign[]
  withDeleted: boolean
  open: readonly string[]
  onOpen: (ids: string[]) => void
}

export function Tree({ campaigns, withDeleted, open, onOpen }: TreeProps) {
  const table = useRef<HTMLTableElement>(null)
  const [current, setCurrent] = useState<string>()
  const toggle = (id: string) => onOpen(open.includes(id) ? open.filter((each) => each !== id) : [...open, id])

  const move = (event: KeyboardEvent) => {
    const rows = [...(table.current?.querySelectorAll<HTMLElement>('tr[data-row]') ?? [])]
    const at = rows.indexOf(event.target as HTMLElement)
    if (at < 0) return
    const row = rows[at]!
    const { campaign = '', row: id = '' } = row.dataset
    const isOpen = open.includes(campaign)
    const level = row.getAttribute('aria-level')
    const go = (to: HTMLElement | undefined) => () => to?.focus()
    const acts: [key: string, act: () => void][] = [
      ['ArrowDown', go(rows[at + 1])],
      ['ArrowUp', go(rows[at - 1])],
      ['Home', go(rows[0])],
      ['End', go(rows.at(-1))],
      ['ArrowRight', level === '2' ? go(undefined) : isOpen ? go(rows[at + 1]) : () => toggle(campaign)],
      ['Enter', () => row.querySelector<HTMLElement>('a')?.click()]
    ]
    const up = level === '2' ? go(rows.find((each) => each.dataset.row === campaign)) : () => isOpen && toggle(campaign)
    const act = event.key === 'ArrowLeft' ? up : acts.find(([key]) => key === event.key)?.[1]
    if (!act) return
    event.preventDefault()
    act()
    setCurrent(id)
  }

  const first = campaigns[0]?.id
  const tabStop = (id: string) => ((current ?? first) === id ? 0 : -1)
  return (
    <div className="table-wrap tree-wrap">
      {/* biome-ignore lint/a11y/noNoninteractiveElementToInteractiveRole: a table whose rows open is a treegrid */}
      <table ref={table} className="table tree" role="treegrid" aria-label="Campaigns and line items" onKeyDown={move}>
        <thead>
          <tr>
            <th scope="col">Name</th>
            <th scope="col" className="shrink">
              Status
            </th>
            <th scope="col" className="shrink">
              Servability
            </th>
            <th scope="col" className="shrink end">
              Daily budget
            </th>
            <th scope="col" className="shrink end">
              Total budget
            </th>
            <th scope="col" className="shrink">
              Runs
            </th>
            <th scope="col" className="shrink">
              <span className="visually-hidden">Actions</span>
            </th>
          </tr>
        </thead>
        <tbody>
          {campaigns.map((campaign) => (
            <CampaignRows
              key={campaign.id}
              campaign={campaign}
              withDeleted={withDeleted}
              isOpen={open.includes(campaign.id)}
              onToggle={() => toggle(campaign.id)}
              tabStop={tabStop}
              onFocus={setCurrent}
            />
          ))}
        </tbody>
      </table>
    </div>
  )
}

interface RowsProps {
  campaign: Campaign
  withDeleted: boolean
  isOpen: boolean
  onToggle: () => void
  tabStop: (id: string) => number
  onFocus: (id: string) => void
}

function CampaignRows({ campaign, withDeleted, isOpen, onToggle, tabStop, onFocus }: RowsProps) {
  const { id, name, currency } = campaign
  return (
    <>
      <tr
        data-row={id}
        data-campaign={id}
        aria-level={1}
        aria-expanded={isOpen}
        tabIndex={tabStop(id)}
        onFocus={(event) => event.target === event.currentTarget && onFocus(id)}
      >
        <Cell>
          <span className="row">
            <Button
              variant="ghost"
              size="small"
              icon="right"
              className={isOpen ? 'tree-open' : ''}
              tabIndex={-1}
              aria-label={`${isOpen ? 'Hide' : 'Show'} the line items of ${name}`}
              aria-expanded={isOpen}
              onClick={onToggle}
            />
            <Link
              className="row-link"
              to="/ads/$accountId/campaigns/$campaignId"
              from="/ads/$accountId"
              params={{ campaignId: id }}
            >
              {name}
            </Link>
          </span>
        </Cell>
        <Cell shrink>
          <StatusBadge status={campaign.entity_status} deleted={campaign.deleted} />
        </Cell>
        <Cell shrink>
          <ServabilityBadge servable={campaign.servable} reasons={campaign.reasons_not_servable} />
        </Cell>
        <Amount micros={campaign.daily_budget_amount_local_micro} currency={currency} />
        <Amount micros={campaign.total_budget_amount_local_micro} currency={currency} />
        <Cell shrink>
          <span className="muted small">
            {campaign.budget_optimization === 'LINE_ITEM' ? 'Budgets by line item' : 'As its line items'}
          </span>
        </Cell>
        <Cell shrink>
          <CampaignMenu campaign={campaign} />
        </Cell>
      </tr>
      {isOpen ? <Children campaign={campaign} withDeleted={withDeleted} tabStop={tabStop} onFocus={onFocus} /> : null}
    </>
  )
}

function Children({ campaign, withDeleted, tabStop, onFocus }: Omit<RowsProps, 'isOpen' | 'onToggle'>) {
  const scope = useScope()
  const items = useQuery(lineItemsQuery(scope, campaign.id, withDeleted))
  const servability = useQuery({ ...campaignServabilityQuery(scope, campaign.id), enabled: !campaign.deleted })
  const [adding, setAdding] = useState(false)
  const stateOf = (id: string) => servability.data?.line_items.find(({ line_item_id }) => line_item_id === id)
  const rows = items.data?.data
  if (!rows)
    return (
      <Note>
        {items.error ? (
          <Problem error={items.error} retry={() => void items.refetch()} />
        ) : (
          <span className="muted">Loading line items …</span>
        )}
      </Note>
    )
  return (
    <>
      {rows.map((item) => (
        <LineItemRow
          key={item.id}
          item={item}
          state={stateOf(item.id)}
          tabIndex={tabStop(item.id)}
          onFocus={() => onFocus(item.id)}
        />
      ))}
      {rows.length === 0 || scope.may('campaigns.write') ? (
        <Note>
          <span className="row wrap">
            {rows.length === 0 ? <span className="muted">No line items yet.</span> : null}
            {scope.may('campaigns.write') && !campaign.deleted ? (
              <Button size="small" icon="plus" onClick={() => setAdding(true)}>
                Add a line item
              </Button>
            ) : null}
          </span>
        </Note>
      ) : null}
      <LineItemDialog open={adding} onClose={() => setAdding(false)} campaign={campaign} />
    </>
  )
}

interface LineItemRowProps {
  item: LineItem
  state: { servable: boolean | null; reasons_not_servable: string[] } | undefined
  tabIndex: number
  onFocus: () => void
}

const LineItemRow = ({ item, state, tabIndex, onFocus }: LineItemRowProps) => (
  <tr
    data-row={item.id}
    data-campaign={item.campaign_id}
    className="tree-child"
    aria-level={2}
    tabIndex={tabIndex}
    onFocus={(event) => event.target === event.currentTarget && onFocus()}
  >
    <Cell>
      <span className="tree-name">
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
    </Cell>
    <Cell shrink>
      <StatusBadge status={item.entity_status} deleted={item.deleted} />
    </Cell>
    <Cell shrink>
      <ServabilityBadge servable={item.deleted ? null : state?.servable} reasons={state?.reasons_not_servable} />
    </Cell>
    <Amount micros={item.daily_budget_amount_local_micro} currency={item.currency} />
    <Amount micros={item.total_budget_amount_local_micro} currency={item.currency} />
    <Cell shrink>
      <Flight item={item} />
    </Cell>
    <Cell shrink>
      <LineItemMenu item={item} />
    </Cell>
  </tr>
)

const days = new Intl.DateTimeFormat(undefined, { dateStyle: 'medium' })

/** The days it runs, in the reader's zone; the exact times on hover. */
export function Flight({ item: { start_time, end_time } }: { item: Pick<LineItem, 'start_time' | 'end_time'> }) {
  const title = [start_time && `from ${utc(start_time)}`, end_time && `to ${utc(end_time)}`].filter(Boolean).join(' ')
  const text =
    start_time && end_time
      ? days.formatRange(new Date(start_time), new Date(end_time))
      : start_time
        ? `from ${days.format(new Date(start_time))}`
        : end_time
          ? `until ${days.format(new Date(end_time))}`
          : 'always'
  return (
    <span className="small num nowrap" title={title}>
      {text}
    </span>
  )
}

const Cell = ({ shrink, end, children }: { shrink?: boolean; end?: boolean; children: ReactNode }) => (
  <td className={[shrink ? 'shrink' : '', end ? 'end' : ''].filter(Boolean).join(' ')}>{children}</td>
)

const Amount = ({ micros, currency }: { micros: number | null; currency: string }) => (
  <Cell shrink end>
    <span className={micros === null ? 'muted' : 'num'}>{money(micros, currency)}</span>
  </Cell>
)

const Note = ({ children }: { children: ReactNode }) => (
  <tr className="tree-child" aria-level={2}>
    <td colSpan={7}>
      <span className="tree-name">{children}</span>
    </td>
  </tr>
)
