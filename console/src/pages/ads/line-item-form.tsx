/** A line item, new or changed: only what its objective allows is offered, and the server checks it while one types. */
import { useQuery } from '@tanstack/react-query'
import { useNavigate } from '@tanstack/react-router'
import { type FormEvent, useState } from 'react'
import { Problem } from '../../ui/bits.tsx'
import { Button } from '../../ui/button.tsx'
import { TextField } from '../../ui/fields.tsx'
import { Dialog, say } from '../../ui/overlays.tsx'
import { FormNotes, useCheckedForm } from './form.tsx'
import { amountProblem, localOf, TimeField } from './inputs.tsx'
import { type Applies, BidFields, BudgetFields, GoalFields, NetworkFields, PlaceFields } from './line-item-fields.tsx'
import { amountText } from './money.ts'
import { parameters } from './parameters.ts'
import {
  type Campaign,
  campaignQuery,
  featuresQuery,
  type LineItem,
  lineItemsQuery,
  type ObjectiveOptions,
  objectivesQuery
} from './queries.ts'
import { useScope } from './scope.tsx'
import { readable, words } from './words.ts'

interface LineItemDialogProps {
  open: boolean
  onClose: () => void
  /** Of a new line item. */
  campaign?: Campaign
  /** The one to change. */
  item?: LineItem
}

export const LineItemDialog = ({ open, onClose, campaign, item }: LineItemDialogProps) => (
  <Dialog
    open={open}
    onClose={onClose}
    wide
    title={item ? 'Edit the line item' : 'New line item'}
    about={item ? undefined : 'Where ads are shown, for what, and what they may cost.'}
  >
    {open ? <Loaded onClose={onClose} campaignId={campaign?.id ?? item!.campaign_id} item={item} /> : null}
  </Dialog>
)

interface LoadedProps {
  onClose: () => void
  campaignId: string
  item: LineItem | undefined
}

function Loaded({ campaignId, ...props }: LoadedProps) {
  const scope = useScope()
  const campaign = useQuery(campaignQuery(scope, campaignId))
  const siblings = useQuery(lineItemsQuery(scope, campaignId))
  const objectives = useQuery(objectivesQuery(scope.listener))
  const features = useQuery(featuresQuery(scope))
  const error = campaign.error ?? siblings.error ?? objectives.error ?? features.error
  if (error) return <Problem error={error} />
  if (!campaign.data || !siblings.data || !objectives.data || !features.data) return null
  return (
    <LineItemForm
      {...props}
      campaign={campaign.data}
      sibling={siblings.data.data[0]}
      objectives={objectives.data}
      features={features.data}
    />
  )
}

export interface LineItemValues extends Record<string, string> {
  name: string
  objective: string
  product_type: string
  placements: string
  goal: string
  pay_by: string
  bid_strategy: string
  bid_amount_local_micro: string
  start_time: string
  end_time: string
  daily_budget_amount_local_micro: string
  total_budget_amount_local_micro: string
  standard_delivery: string
  frequency_cap: string
  duration_in_days: string
  android_app_store_identifier: string
  ios_app_store_identifier: string
  primary_web_event_tag: string
  advertiser_domain: string
  categories: string
  entity_status: string
}

/** What the form begins with: the line item, or the least that works. */
function beginning(item: LineItem | undefined, sibling: LineItem | undefined, currency: string): LineItemValues {
  const objective = item?.objective ?? sibling?.objective ?? 'ENGAGEMENTS'
  return {
    name: item?.name ?? '',
    objective,
    product_type: item?.product_type ?? sibling?.product_type ?? usualProduct(objective),
    placements: (item?.placements ?? ['ALL_ON_SVC']).join(','),
    goal: item?.goal ?? '',
    pay_by: item?.pay_by ?? '',
    bid_strategy: item?.bid_strategy ?? 'AUTO',
    bid_amount_local_micro: amountText(item?.bid_amount_local_micro ?? null, currency),
    start_time: localOf(item?.start_time ?? null),
    end_time: localOf(item?.end_time ?? null),
    daily_budget_amount_local_micro: amountText(item?.daily_budget_amount_local_micro ?? null, currency),
    total_budget_amount_local_micro: amountText(item?.total_budget_amount_local_micro ?? null, currency),
    standard_delivery: item?.standard_delivery === false ? 'false' : 'true',
    frequency_cap: item?.frequency_cap?.toString() ?? '',
    duration_in_days: item?.duration_in_days?.toString() ?? '7',
    android_app_store_identifier: item?.android_app_store_identifier ?? '',
    ios_app_store_identifier: item?.ios_app_store_identifier ?? '',
    primary_web_event_tag: item?.primary_web_event_tag ?? '',
    advertiser_domain: item?.advertiser_domain ?? '',
    categories: (item?.categories ?? []).join(','),
    entity_status: item?.entity_status ?? 'ACTIVE'
  }
}

export const usualProduct = (objective: string) =>
  objective === 'FOLLOWERS' ? 'PROMOTED_ACCOUNT' : objective === 'PREROLL_VIEWS' ? 'MEDIA' : 'PROMOTED_TWEETS'

/** Which of the fields matter, given the others; what does not matter is neither shown nor sent. */
export function applies(
  values: LineItemValues,
  campaign: Campaign,
  rule: ObjectiveOptions | undefined,
  features: string[]
): Applies {
  const network = values.placements.split(',').includes('PUBLISHER_NETWORK')
  const preroll = values.objective === 'PREROLL_VIEWS'
  return {
    bid: values.bid_strategy !== 'AUTO',
    budgets: campaign.budget_optimization === 'LINE_ITEM',
    cap: (rule?.frequency_cap ?? false) && features.includes('REACH_FREQUENCY_CAP'),
    app: rule?.needs_app ?? false,
    tag: values.goal === 'WEBSITE_CONVERSIONS',
    network,
    preroll
  }
}

function sentOf(values: LineItemValues, shown: Applies): Record<string, string> {
  const keep = (when: boolean, ...names: (keyof LineItemValues & string)[]) =>
    when ? Object.fromEntries(names.map((name) => [name, values[name]!])) : {}
  const { name, objective, product_type, placements, goal, pay_by, bid_strategy, start_time, end_time, entity_status } =
    values
  return {
    ...{ name, objective, product_type, placements, goal, pay_by, bid_strategy, start_time, end_time, entity_status },
    ...keep(shown.bid, 'bid_amount_local_micro'),
    ...keep(shown.budgets, 'daily_budget_amount_local_micro', 'total_budget_amount_local_micro', 'standard_delivery'),
    ...keep(shown.cap, 'frequency_cap'),
    ...keep(shown.cap && values.frequency_cap !== '', 'duration_in_days'),
    ...keep(shown.app, 'android_app_store_identifier', 'ios_app_store_identifier'),
    ...keep(shown.tag, 'primary_web_event_tag'),
    ...keep(shown.network, 'advertiser_domain'),
    ...keep(shown.network || shown.preroll, 'categories')
  } as Record<string, string>
}

interface FormProps {
  onClose: () => void
  campaign: Campaign
  item: LineItem | undefined
  sibling: LineItem | undefined
  objectives: ObjectiveOptions[]
  features: string[]
}

function LineItemForm({ onClose, campaign, item, sibling, objectives, features }: FormProps) {
  const scope = useScope()
  const navigate = useNavigate()
  const { currency } = campaign
  const [initial] = useState(() => beginning(item, sibling, currency))
  const ruleOf = (objective: string) => objectives.find((each) => each.objective === objective)
  const shownFor = (values: LineItemValues) => applies(values, campaign, ruleOf(values.objective), features)
  const form = useCheckedForm<LineItemValues, LineItem>({
    initial,
    method: item ? 'PUT' : 'POST',
    path: scope.at(item ? `/line_items/${item.id}` : '/line_items'),
    currency,
    problems: (values) => ({
      bid_amount_local_micro: amountProblem(values.bid_amount_local_micro),
      daily_budget_amount_local_micro: amountProblem(values.daily_budget_amount_local_micro),
      total_budget_amount_local_micro: amountProblem(values.total_budget_amount_local_micro)
    }),
    body: (values) =>
      item
        ? parameters(sentOf(values, shownFor(values)), initial)
        : { campaign_id: campaign.id, ...parameters(sentOf(values, shownFor(values))) },
    onDone: async (made) => {
      await scope.changed()
      say(item ? 'Saved' : 'The line item is there')
      onClose()
      if (!item)
        await navigate({
          to: '/ads/$accountId/line-items/$lineItemId',
          params: { accountId: scope.accountId, lineItemId: made.id }
        })
    }
  })
  const rule = ruleOf(form.values.objective)
  const shown = shownFor(form.values)
  const common = { form, currency, rule, shown }
  const submit = (event: FormEvent) => {
    event.preventDefault()
    void form.submit()
  }
  return (
    <form className="stack" style={{ marginTop: '1rem' }} onSubmit={submit} noValidate>
      <TextField
        label="Name"
        autoFocus
        maxLength={255}
        hint="May stay empty; then it is called after its objective."
        {...form.field('name')}
      />
      {item ? (
        <p className="muted small">
          {readable(item.objective)} · {words(item.placements)}. Objective, product and placements are set once; make
          another line item for others.
        </p>
      ) : (
        <PlaceFields {...common} objectives={objectives} sibling={sibling} />
      )}
      <GoalFields {...common} creating={!item} />
      <BidFields {...common} creating={!item} />
      {shown.budgets ? <BudgetFields {...common} /> : null}
      <div className="grid-2 fields-2">
        <TimeField label="Start" zone={scope.account.timezone} hint="Empty: at once" {...form.field('start_time')} />
        <TimeField label="End" zone={scope.account.timezone} hint="Empty: no end" {...form.field('end_time')} />
      </div>
      {shown.network || shown.preroll ? <NetworkFields {...common} /> : null}
      {form.preview && form.state === 'good' ? (
        <p className="small preview">
          Optimised for <strong>{readable(form.preview.goal)}</strong>, paid by{' '}
          <strong>{readable(form.preview.pay_by ?? '–')}</strong>, bids{' '}
          <strong>{readable(form.preview.bid_strategy)}</strong>.
        </p>
      ) : null}
      <FormNotes form={form} />
      <div className="actions">
        <Button onClick={onClose}>Cancel</Button>
        <Button type="submit" variant="primary" busy={form.saving && 'Saving …'}>
          {item ? 'Save' : 'Create the line item'}
        </Button>
      </div>
    </form>
  )
}
