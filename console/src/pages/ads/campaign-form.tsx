import { useQuery } from '@tanstack/react-query'
import { useNavigate } from '@tanstack/react-router'
import { type FormEvent, useState } from 'react'
import { Callout } from '../../ui/bits.tsx'
import { Button } from '../../ui/button.tsx'
import { SelectField, TextField } from '../../ui/fields.tsx'
import { Dialog, say } from '../../ui/overlays.tsx'
import { FormNotes, useCheckedForm } from './form.tsx'
import { FundingDialog, useAddsFunding } from './funding-form.tsx'
import { amountProblem, MoneyField, zoneName } from './inputs.tsx'
import { amountText, money } from './money.ts'
import { parameters } from './parameters.ts'
import { type Campaign, type FundingInstrument, fundingQuery } from './queries.ts'
import { useScope } from './scope.tsx'
import { readable } from './words.ts'

interface CampaignDialogProps {
  open: boolean
  onClose: () => void
  /** The one to change; without it a new one is made. */
  campaign?: Campaign
  /** What a new one begins with. */
  template?: Campaign
}

export const CampaignDialog = ({ open, onClose, campaign, template }: CampaignDialogProps) => (
  <Dialog
    open={open}
    onClose={onClose}
    title={campaign ? 'Edit the campaign' : template ? 'Copy the campaign' : 'New campaign'}
    about={template && !campaign ? 'The budget and its funding are new; line items are not copied.' : undefined}
  >
    {open ? <WithFunding onClose={onClose} campaign={campaign} template={template} /> : null}
  </Dialog>
)

interface FormProps {
  onClose: () => void
  campaign: Campaign | undefined
  template: Campaign | undefined
}

function WithFunding(props: FormProps) {
  const { data } = useQuery(fundingQuery(useScope()))
  // What was added meanwhile is chosen at once.
  return data ? <CampaignForm key={data.data.length} {...props} instruments={data.data} /> : null
}

const NEVER_AGAIN = ['DELETED', 'EXPIRED', 'BUDGET_EXHAUSTED', 'CREDIT_CARD_REJECTED', 'CREDIT_CARD_DELETED']
/** Whether a campaign can be made under it: it funds, or may one day. */
const usable = ({ reasons_not_able_to_fund: reasons }: FundingInstrument) =>
  !reasons.some((reason) => NEVER_AGAIN.includes(reason))

export const fundingLabel = ({ type, description, currency, able_to_fund, id }: FundingInstrument) =>
  `${readable(type)} · ${currency} · ${description && !description.startsWith('(') ? description : id}${able_to_fund ? '' : ' (not able to fund yet)'}`

function CampaignForm({ onClose, campaign, template, instruments }: FormProps & { instruments: FundingInstrument[] }) {
  const scope = useScope()
  const navigate = useNavigate()
  const [funding, setFunding] = useState(false)
  const addsFunding = useAddsFunding()
  const choices = instruments.filter(usable)
  const source = campaign ?? template
  const currencyAtFirst = source?.currency ?? choices[0]?.currency ?? 'USD'
  const [initial] = useState(() => ({
    name: campaign ? campaign.name : template ? `${template.name}, copy` : '',
    funding_instrument_id: campaign?.funding_instrument_id ?? choices[0]?.id ?? '',
    budget_optimization: source?.budget_optimization ?? 'CAMPAIGN',
    daily_budget_amount_local_micro: amountText(source?.daily_budget_amount_local_micro ?? null, currencyAtFirst),
    total_budget_amount_local_micro: amountText(source?.total_budget_amount_local_micro ?? null, currencyAtFirst),
    standard_delivery: source?.standard_delivery === false ? 'false' : 'true',
    purchase_order_number: source?.purchase_order_number ?? '',
    entity_status: campaign?.entity_status ?? 'ACTIVE'
  }))
  const [instrumentId, setInstrumentId] = useState(initial.funding_instrument_id)
  const instrument = instruments.find(({ id }) => id === instrumentId)
  const currency = campaign?.currency ?? instrument?.currency ?? currencyAtFirst
  const form = useCheckedForm<typeof initial, Campaign>({
    initial,
    method: campaign ? 'PUT' : 'POST',
    path: scope.at(campaign ? `/campaigns/${campaign.id}` : '/campaigns'),
    needed: campaign ? ['name'] : ['name', 'funding_instrument_id'],
    currency,
    problems: (values) => ({
      daily_budget_amount_local_micro: amountProblem(values.daily_budget_amount_local_micro),
      total_budget_amount_local_micro: amountProblem(values.total_budget_amount_local_micro)
    }),
    body: ({ standard_delivery, ...values }) => {
      const sent: Record<string, string> =
        values.budget_optimization === 'CAMPAIGN' ? { ...values, standard_delivery } : values
      return parameters(sent, campaign && initial)
    },
    onDone: async (made) => {
      await scope.changed()
      say(campaign ? 'Saved' : 'The campaign is there')
      onClose()
      if (!campaign)
        await navigate({
          to: '/ads/$accountId/campaigns/$campaignId',
          params: { accountId: scope.accountId, campaignId: made.id }
        })
    }
  })
  const perCampaign = form.values.budget_optimization === 'CAMPAIGN'
  const submit = (event: FormEvent) => {
    event.preventDefault()
    void form.submit()
  }
  if (!campaign && choices.length === 0)
    return (
      <div className="stack" style={{ marginTop: '1rem' }}>
        <Callout tone="warn">
          A campaign is paid for by a funding instrument, and this account has none that can be used.
          {addsFunding ? '' : ' The operator of this server adds one.'}
        </Callout>
        <div className="actions">
          <Button onClick={onClose}>Close</Button>
          {addsFunding ? (
            <Button variant="primary" icon="plus" onClick={() => setFunding(true)}>
              Add a funding instrument
            </Button>
          ) : null}
        </div>
        <FundingDialog open={funding} onClose={() => setFunding(false)} />
      </div>
    )
  return (
    <form className="stack" style={{ marginTop: '1rem' }} onSubmit={submit} noValidate>
      <TextField label="Name" autoFocus maxLength={255} {...form.field('name')} />
      {campaign ? null : (
        <SelectField
          label="Funding instrument"
          {...form.field('funding_instrument_id')}
          onChange={({ target }) => {
            setInstrumentId(target.value)
            form.set('funding_instrument_id', target.value)
          }}
          choices={choices.map((each) => [each.id, fundingLabel(each)])}
          hint={
            instrument?.credit_remaining_local_micro == null
              ? 'Cannot be changed afterwards.'
              : `${money(instrument.credit_remaining_local_micro, currency)} of credit left. Cannot be changed afterwards.`
          }
        />
      )}
      <SelectField
        label="Budgets are set on"
        {...form.field('budget_optimization')}
        choices={[
          ['CAMPAIGN', 'The campaign: its line items share the budget'],
          ['LINE_ITEM', 'Each line item: amounts here are caps']
        ]}
      />
      <div className="grid-2 fields-2">
        <MoneyField
          label="Daily budget"
          currency={currency}
          hint={`Per day, from midnight in ${zoneName(scope.account.timezone)}`}
          {...form.field('daily_budget_amount_local_micro')}
        />
        <MoneyField
          label="Total budget"
          currency={currency}
          hint="Empty: no limit"
          {...form.field('total_budget_amount_local_micro')}
        />
      </div>
      {perCampaign ? (
        <SelectField
          label="Pace"
          {...form.field('standard_delivery')}
          choices={[
            ['true', 'Evenly over the day'],
            ['false', 'As fast as possible']
          ]}
        />
      ) : null}
      <div className="grid-2 fields-2">
        {campaign ? null : (
          <SelectField
            label="Status"
            {...form.field('entity_status')}
            choices={[
              ['ACTIVE', 'Active'],
              ['PAUSED', 'Paused'],
              ['DRAFT', 'Draft']
            ]}
          />
        )}
        <TextField
          label="Purchase order number"
          maxLength={50}
          hint="For your own books; may stay empty"
          {...form.field('purchase_order_number')}
        />
      </div>
      <FormNotes form={form} />
      <div className="actions">
        <Button onClick={onClose}>Cancel</Button>
        <Button type="submit" variant="primary" busy={form.saving && 'Saving …'}>
          {campaign ? 'Save' : 'Create the campaign'}
        </Button>
      </div>
    </form>
  )
}
