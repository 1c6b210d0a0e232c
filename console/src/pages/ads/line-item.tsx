/** One line item: does it serve, how it runs, whom it reaches, what it shows, what became of it. */
import { useQuery } from '@tanstack/react-query'
import { getRouteApi, Link } from '@tanstack/react-router'
import { Callout, Card, Facts, Id, Loading, Problem, Time } from '../../ui/bits.tsx'
import { Page } from '../../ui/page.tsx'
import { Tabs } from '../../ui/tabs.tsx'
import { LineItemMenu } from './actions.tsx'
import { ServabilityBadge, StatusBadge } from './badges.tsx'
import { Creatives } from './creatives.tsx'
import { History } from './history.tsx'
import { inZone, zoneName } from './inputs.tsx'
import { money } from './money.ts'
import { type Campaign, campaignQuery, type LineItem, lineItemQuery, lineItemServabilityQuery } from './queries.ts'
import { useScope } from './scope.tsx'
import { ServabilityCard } from './servability.tsx'
import { Targeting } from './targeting.tsx'
import { word, words } from './words.ts'

const route = getRouteApi('/shell/ads/$accountId/line-items/$lineItemId')
const TABS = [
  ['overview', 'Overview'],
  ['targeting', 'Targeting and audience'],
  ['creatives', 'Creatives'],
  ['history', 'History']
] as const

const AGAIN_MS = 15_000

export function LineItemPage() {
  const { lineItemId } = route.useParams()
  const { tab = 'overview' } = route.useSearch()
  const navigate = route.useNavigate()
  const scope = useScope()
  const item = useQuery({ ...lineItemQuery(scope, lineItemId), refetchInterval: AGAIN_MS })
  const { data } = item
  const campaign = useQuery({ ...campaignQuery(scope, data?.campaign_id ?? ''), enabled: data !== undefined })
  const servability = useQuery({
    ...lineItemServabilityQuery(scope, lineItemId),
    enabled: data?.deleted === false,
    refetchInterval: AGAIN_MS
  })
  const above = (
    <>
      <Link to="/ads">Ad accounts</Link>
      <span aria-hidden="true">/</span>
      <Link to="/ads/$accountId" params={{ accountId: scope.accountId }}>
        {scope.account.name}
      </Link>
      {data ? (
        <>
          <span aria-hidden="true">/</span>
          <Link
            to="/ads/$accountId/campaigns/$campaignId"
            params={{ accountId: scope.accountId, campaignId: data.campaign_id }}
          >
            {campaign.data?.name ?? 'Campaign'}
          </Link>
        </>
      ) : null}
    </>
  )
  if (!data)
    return (
      <Page title="Line item" above={above}>
        {item.error ? (
          <Problem error={item.error} retry={() => void item.refetch()} />
        ) : (
          <Loading what="the line item" />
        )}
      </Page>
    )
  return (
    <Page
      title={data.name ?? word(data.objective)}
      above={above}
      lead={
        <span className="row wrap">
          <StatusBadge status={data.entity_status} deleted={data.deleted} />
          <ServabilityBadge servable={data.deleted ? null : servability.data?.servable} />
          {data.name ? <span>{word(data.objective)}</span> : null}
          <Id value={data.id} />
        </span>
      }
      actions={<LineItemMenu item={data} buttons />}
    >
      {data.deleted ? (
        <div style={{ marginBottom: '1rem' }}>
          <Callout tone="bad">This line item is deleted and never serves again.</Callout>
        </div>
      ) : null}
      <Tabs
        label="About this line item"
        tabs={TABS}
        value={tab}
        onChange={(next) => void navigate({ search: { tab: next === 'overview' ? undefined : next } })}
      >
        {tab === 'overview' ? (
          <div className="stack">
            {servability.error ? <Problem error={servability.error} /> : null}
            {servability.data && campaign.data && !data.deleted ? (
              <ServabilityCard
                servability={servability.data}
                campaign={campaign.data}
                lineItems={[data]}
                of="line item"
              />
            ) : null}
            <About item={data} campaign={campaign.data} />
          </div>
        ) : null}
        {tab === 'targeting' ? <Targeting key={data.id} item={data} /> : null}
        {tab === 'creatives' ? <Creatives item={data} /> : null}
        {tab === 'history' ? <History entity="LINE_ITEM" of={data} /> : null}
      </Tabs>
    </Page>
  )
}

/** In the reader's zone, with the account's beside it: days and budgets follow that one. */
function Moment({ iso, none }: { iso: string | null; none: string }) {
  const { timezone } = useScope().account
  if (iso === null) return <>{none}</>
  return (
    <span className="row wrap" style={{ gap: '0 0.57rem' }}>
      <Time iso={iso} form="full" />
      {inZone(iso) === inZone(iso, timezone) ? null : (
        <span className="muted small">
          {inZone(iso, timezone)} in {zoneName(timezone)}
        </span>
      )}
    </span>
  )
}

function About({ item, campaign }: { item: LineItem; campaign: Campaign | undefined }) {
  const { currency } = item
  const own = campaign?.budget_optimization === 'LINE_ITEM'
  const budget = (micros: number | null) => (micros === null ? 'none' : money(micros, currency))
  return (
    <div className="grid-2">
      <Card title="What and where">
        <Facts
          items={[
            ['Objective', word(item.objective)],
            ['Shows', word(item.product_type)],
            ['Placements', words(item.placements)],
            ['Optimised for', word(item.goal)],
            item.primary_web_event_tag ? ['Web event tag', item.primary_web_event_tag] : null,
            item.android_app_store_identifier ? ['Android app', item.android_app_store_identifier] : null,
            item.ios_app_store_identifier ? ['iOS app', item.ios_app_store_identifier] : null,
            item.advertiser_domain ? ['Domain', item.advertiser_domain] : null,
            item.categories.length > 0 ? ['Categories', item.categories.join(', ')] : null
          ]}
        />
      </Card>
      <Card title="When and for how much">
        <Facts
          items={[
            ['Start', <Moment key="start" iso={item.start_time} none="at once" />],
            ['End', <Moment key="end" iso={item.end_time} none="no end" />],
            [
              'Bid',
              item.bid_amount_local_micro === null
                ? word(item.bid_strategy)
                : `${money(item.bid_amount_local_micro, currency)}, ${word(item.bid_strategy).toLowerCase()}`
            ],
            ['Paid by', word(item.pay_by)],
            own ? ['Daily budget', budget(item.daily_budget_amount_local_micro)] : null,
            own ? ['Total budget', budget(item.total_budget_amount_local_micro)] : null,
            own || !campaign
              ? null
              : ['Budget', `the campaign’s, ${budget(campaign.daily_budget_amount_local_micro)} a day`],
            item.frequency_cap
              ? ['Frequency cap', `${item.frequency_cap} times per person in ${item.duration_in_days} days`]
              : null,
            ['Changed', <Time key="changed" iso={item.updated_at} form="full" />]
          ]}
        />
      </Card>
    </div>
  )
}
