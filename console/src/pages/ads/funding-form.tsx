/** Funding instruments are made by their users only in the sandbox; in production the operator makes them, as operator. */
import { useQuery } from '@tanstack/react-query'
import { type FormEvent, useState } from 'react'
import { usePerson } from '../../client/session.ts'
import { Button } from '../../ui/button.tsx'
import { SelectField, TextField } from '../../ui/fields.tsx'
import { Dialog, say } from '../../ui/overlays.tsx'
import { FormNotes, useCheckedForm } from './form.tsx'
import { amountProblem, localOf, MoneyField, TimeField } from './inputs.tsx'
import { parameters } from './parameters.ts'
import { currenciesQuery, type FundingInstrument } from './queries.ts'
import { useScope } from './scope.tsx'

interface FundingDialogProps {
  open: boolean
  onClose: () => void
}

/** Whether this person can add one, as user or as operator. */
export function useAddsFunding() {
  const scope = useScope()
  const { operator } = usePerson()
  return scope.may('campaigns.write') && (scope.listener === 'sandbox' || operator)
}

export function FundingDialog({ open, onClose }: FundingDialogProps) {
  const { listener } = useScope()
  const about =
    listener === 'sandbox'
      ? 'In the sandbox no money is ever moved.'
      : 'You add it as operator: campaigns under it can spend from now on.'
  return (
    <Dialog open={open} onClose={onClose} title="Add a funding instrument" about={about}>
      {open ? <FundingForm onClose={onClose} /> : null}
    </Dialog>
  )
}

const TYPES = [
  ['CREDIT_CARD', 'Credit card'],
  ['CREDIT_LINE', 'Credit line'],
  ['INSERTION_ORDER', 'Insertion order'],
  ['AGENCY_CREDIT_LINE', 'Credit line of an agency'],
  ['PARTNER_MANAGED', 'Managed by a partner']
] as const
const LIMITED = ['CREDIT_CARD', 'CREDIT_LINE']

function FundingForm({ onClose }: Omit<FundingDialogProps, 'open'>) {
  const scope = useScope()
  const asOperator = scope.listener === 'production'
  const { data: currencies } = useQuery(currenciesQuery(scope.listener))
  const [initial] = useState(() => ({
    type: 'CREDIT_CARD',
    currency: 'USD',
    start_time: localOf(new Date().toISOString()),
    end_time: '',
    credit_limit_local_micro: '',
    funded_amount_local_micro: '',
    description: ''
  }))
  const [currency, setCurrency] = useState(initial.currency)
  const form = useCheckedForm<typeof initial, FundingInstrument>({
    initial,
    method: 'POST',
    path: asOperator ? `/admin/ad_accounts/${scope.accountId}/funding_instruments` : scope.at('/funding_instruments'),
    unchecked: asOperator,
    currency,
    problems: (values) => ({
      credit_limit_local_micro: amountProblem(values.credit_limit_local_micro),
      funded_amount_local_micro: amountProblem(values.funded_amount_local_micro)
    }),
    body: ({ credit_limit_local_micro, funded_amount_local_micro, description, ...values }) =>
      parameters({
        ...values,
        ...(asOperator ? { description } : {}),
        ...(LIMITED.includes(values.type) ? { credit_limit_local_micro } : {}),
        ...(values.type === 'INSERTION_ORDER' ? { funded_amount_local_micro } : {})
      }),
    needed: ['start_time'],
    onDone: async () => {
      await scope.changed()
      say('The funding instrument is there')
      onClose()
    }
  })
  const submit = (event: FormEvent) => {
    event.preventDefault()
    event.stopPropagation()
    void form.submit()
  }
  const { type } = form.values
  return (
    <form className="stack" style={{ marginTop: '1rem' }} onSubmit={submit} noValidate>
      <div className="grid-2 fields-2">
        <SelectField label="Kind" {...form.field('type')} choices={TYPES} />
        <SelectField
          label="Currency"
          {...form.field('currency')}
          onChange={({ target }) => {
            setCurrency(target.value)
            form.set('currency', target.value)
          }}
          choices={(currencies ?? [{ currency: 'USD' }]).map((each) => [each.currency, each.currency])}
          hint="Campaigns under it have the same"
        />
      </div>
      <div className="grid-2 fields-2">
        <TimeField label="Valid from" zone={scope.account.timezone} {...form.field('start_time')} />
        <TimeField label="Until" zone={scope.account.timezone} hint="Empty: no end" {...form.field('end_time')} />
      </div>
      {LIMITED.includes(type) ? (
        <MoneyField
          label="Credit limit"
          currency={currency}
          hint="Empty: none"
          {...form.field('credit_limit_local_micro')}
        />
      ) : null}
      {type === 'INSERTION_ORDER' ? (
        <MoneyField
          label="Funded amount"
          currency={currency}
          hint="What was booked"
          {...form.field('funded_amount_local_micro')}
        />
      ) : null}
      {asOperator ? (
        <TextField
          label="Description"
          maxLength={255}
          hint="What people see, such as the last digits of a card"
          {...form.field('description')}
        />
      ) : null}
      <FormNotes form={form} />
      <div className="actions">
        <Button onClick={onClose}>Cancel</Button>
        <Button type="submit" variant="primary" busy={form.saving && 'Adding …'}>
          Add
        </Button>
      </div>
    </form>
  )
}
