/** Groups of fields of a line item. */
import { useQuery } from '@tanstack/react-query'
import { useState } from 'react'
import { SelectField, TextField } from '../../ui/fields.tsx'
import type { CheckedForm } from './form.tsx'
import { MoneyField, zoneName } from './inputs.tsx'
import { type LineItemValues, usualProduct } from './line-item-form.tsx'
import {
  businessCategoriesQuery,
  iabCategoriesQuery,
  type LineItem,
  type ObjectiveOptions,
  placementsQuery
} from './queries.ts'
import { useScope } from './scope.tsx'
import { OBJECTIVE_HINTS, word, words } from './words.ts'

/** Which fields matter. */
export interface Applies {
  bid: boolean
  budgets: boolean
  cap: boolean
  app: boolean
  tag: boolean
  network: boolean
  preroll: boolean
}

interface FieldsProps {
  form: CheckedForm<LineItemValues, LineItem>
  currency: string
  rule: ObjectiveOptions | undefined
  shown: Applies
}

interface PlaceProps extends FieldsProps {
  objectives: ObjectiveOptions[]
  sibling: LineItem | undefined
}

const PRODUCTS = ['PROMOTED_TWEETS', 'PROMOTED_ACCOUNT', 'MEDIA']
const SHARED = 'The same for all line items of the campaign.'

/** What is set once: what for, with what, where. */
export function PlaceFields({ form, objectives, sibling }: PlaceProps) {
  const { data: placements } = useQuery(placementsQuery(useScope().listener))
  const { objective, product_type } = form.values
  const combinations = placements?.find((each) => each.product_type === product_type)?.placements ?? [['ALL_ON_SVC']]
  return (
    <>
      <div className="grid-2 fields-2">
        <SelectField
          label="Objective"
          disabled={sibling !== undefined}
          {...form.field('objective')}
          onChange={({ target }) => {
            form.set('objective', target.value)
            form.set('product_type', usualProduct(target.value))
            form.set('placements', 'ALL_ON_SVC')
            form.set('goal', '')
            form.set('pay_by', '')
            form.set('bid_strategy', 'AUTO')
          }}
          choices={objectives.map((each) => [each.objective, word(each.objective)])}
          hint={sibling ? SHARED : OBJECTIVE_HINTS[objective]}
        />
        <SelectField
          label="What is shown"
          disabled={sibling !== undefined}
          {...form.field('product_type')}
          onChange={({ target }) => {
            form.set('product_type', target.value)
            form.set('placements', 'ALL_ON_SVC')
          }}
          choices={PRODUCTS.map((each) => [each, word(each)])}
          hint={sibling ? SHARED : undefined}
        />
      </div>
      <SelectField
        label="Placements"
        {...form.field('placements')}
        choices={combinations.map((each) => [each.join(','), words(each)])}
        hint={
          form.values.placements.includes('SVC_SEARCH')
            ? 'Search results show ads only for keywords: add some to the targeting afterwards.'
            : undefined
        }
      />
    </>
  )
}

export function GoalFields({ form, rule, shown, creating }: FieldsProps & { creating: boolean }) {
  const { goal, pay_by } = form.values
  const goals = rule?.goals ?? []
  const current = goals.find((each) => each.goal === goal) ?? goals[0]
  // Afterwards only app installs may change how they are paid for.
  const pays = creating || rule?.objective === 'APP_INSTALLS' ? (current?.pay_by ?? []) : []
  return (
    <>
      {goals.length > 1 || pays.length > 1 ? (
        <div className="grid-2 fields-2">
          {goals.length > 1 ? (
            <SelectField
              label="Goal"
              {...form.field('goal')}
              value={goal || (goals[0]?.goal ?? '')}
              onChange={({ target }) => {
                form.set('goal', target.value)
                form.set('pay_by', '')
              }}
              choices={goals.map((each) => [each.goal, word(each.goal)])}
              hint="What delivery is optimised for"
            />
          ) : null}
          {pays.length > 1 ? (
            <SelectField
              label="Paid by"
              {...form.field('pay_by')}
              value={pay_by || (pays[0] ?? '')}
              choices={pays.map((each) => [each, word(each)])}
            />
          ) : null}
        </div>
      ) : null}
      {shown.tag ? (
        <TextField
          label="Web event tag"
          hint="The tag on your website that reports a conversion"
          {...form.field('primary_web_event_tag')}
        />
      ) : null}
      {shown.app ? (
        <div className="grid-2 fields-2">
          <TextField
            label="Android app"
            placeholder="com.example.app"
            className="mono"
            {...form.field('android_app_store_identifier')}
          />
          <TextField
            label="iOS app"
            placeholder="333903271"
            className="mono"
            hint="At least one of the two"
            {...form.field('ios_app_store_identifier')}
          />
        </div>
      ) : null}
    </>
  )
}

const STRATEGIES: Record<string, string> = {
  AUTO: 'Automatic: the most for the budget',
  MAX: 'At most the bid',
  TARGET: 'The bid on average of a day'
}

export function BidFields({ form, currency, rule, shown, creating }: FieldsProps & { creating: boolean }) {
  const strategies = (creating ? rule?.bid_strategies_on_create : rule?.bid_strategies) ?? ['AUTO']
  return (
    <>
      <div className="grid-2 fields-2">
        <SelectField
          label="Bidding"
          {...form.field('bid_strategy')}
          choices={strategies.map((each) => [each, STRATEGIES[each] ?? word(each)])}
        />
        {shown.bid ? (
          <MoneyField label="Bid" currency={currency} {...form.field('bid_amount_local_micro')} />
        ) : (
          <span />
        )}
      </div>
      {shown.cap ? (
        <div className="grid-2 fields-2">
          <TextField
            label="Frequency cap"
            inputMode="numeric"
            hint="How often one person may see it; empty: no cap"
            {...form.field('frequency_cap')}
          />
          <SelectField
            label="Within"
            disabled={form.values.frequency_cap === ''}
            {...form.field('duration_in_days')}
            choices={[
              ['1', 'a day'],
              ['7', 'a week'],
              ['30', '30 days']
            ]}
          />
        </div>
      ) : null}
    </>
  )
}

export function BudgetFields({ form, currency }: FieldsProps) {
  const { account } = useScope()
  return (
    <div className="grid-2 fields-2">
      <MoneyField
        label="Daily budget"
        currency={currency}
        hint={`Per day, from midnight in ${zoneName(account.timezone)}`}
        {...form.field('daily_budget_amount_local_micro')}
      />
      <MoneyField
        label="Total budget"
        currency={currency}
        hint="One of the two is needed to serve"
        {...form.field('total_budget_amount_local_micro')}
      />
      <SelectField
        label="Pace"
        {...form.field('standard_delivery')}
        choices={[
          ['true', 'Evenly over the day'],
          ['false', 'As fast as possible']
        ]}
      />
    </div>
  )
}

/** What publishers want to know of an advertiser. */
export const NetworkFields = (props: FieldsProps) => (
  <div className="grid-2 fields-2">
    {props.shown.preroll ? <BusinessCategory {...props} /> : <IabCategory {...props} />}
    {props.shown.network ? (
      <TextField
        label="Advertiser’s domain"
        placeholder="example.com"
        hint="Without https://"
        {...props.form.field('advertiser_domain')}
      />
    ) : null}
  </div>
)

function IabCategory({ form }: FieldsProps) {
  const { data } = useQuery(iabCategoriesQuery(useScope().listener))
  const top = (data ?? []).filter(({ parent_id }) => parent_id === null)
  return (
    <SelectField
      label="Category of the advertiser"
      {...form.field('categories')}
      value={form.values.categories.split(',')[0] ?? ''}
      choices={[['', 'Choose one …'], ...top.map(({ id, name }) => [id, name] as const)]}
    />
  )
}

/** One or two, each standing for a set of IAB categories. */
function BusinessCategory({ form }: FieldsProps) {
  const { data = [] } = useQuery(businessCategoriesQuery(useScope().listener))
  const [chosen, setChosen] = useState<readonly string[]>()
  const given = form.values.categories.split(',').filter(Boolean)
  const shown =
    chosen ?? data.filter(({ iab_categories: all }) => all.every((each) => given.includes(each))).map(({ id }) => id)
  const choose = (at: number, id: string) => {
    const next = [shown[0] ?? '', shown[1] ?? ''].map((each, i) => (i === at ? id : each))
    setChosen(next)
    const iab = next.flatMap((each) => data.find((row) => row.id === each)?.iab_categories ?? [])
    form.set('categories', [...new Set(iab)].join(','))
  }
  const choices = data.map(({ id, name }) => [id, name] as const)
  return (
    <>
      <SelectField
        label="Business of the advertiser"
        value={shown[0] ?? ''}
        onChange={({ target }) => choose(0, target.value)}
        choices={[['', 'Choose one …'], ...choices]}
        problem={form.field('categories').problem}
      />
      <SelectField
        label="A second business"
        value={shown[1] ?? ''}
        onChange={({ target }) => choose(1, target.value)}
        choices={[['', 'None'], ...choices]}
      />
    </>
  )
}
