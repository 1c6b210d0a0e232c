/** The account itself: its name, what this person may do, its features, and the end of a sandbox account. */
import { useMutation, useQuery, useQueryClient } from '@tanstack/react-query'
import { useNavigate } from '@tanstack/react-router'
import { type FormEvent, useState } from 'react'
import { ask } from '../../client/api.ts'
import { Badge, Card, Facts, Id, Loading, Time } from '../../ui/bits.tsx'
import { Button } from '../../ui/button.tsx'
import { SelectField, TextField } from '../../ui/fields.tsx'
import { Confirm, say, sayProblem } from '../../ui/overlays.tsx'
import { ApprovalBadge } from './badges.tsx'
import { FormNotes, useCheckedForm } from './form.tsx'
import { parameters } from './parameters.ts'
import { type AdAccount, featuresQuery } from './queries.ts'
import { useScope } from './scope.tsx'
import { PERMISSIONS, readable } from './words.ts'

const INDUSTRIES = [
  'AGENCY',
  'BUSINESS_TO_BUSINESS',
  'ONLINE_SERVICES',
  'EDUCATION',
  'FINANCIAL',
  'HEALTH',
  'GOVERNMENT',
  'MEDIA',
  'MOBILE',
  'RESTAURANT',
  'RETAIL',
  'TECHNOLOGY',
  'TRAVEL',
  'OTHER'
]

export function Settings() {
  const scope = useScope()
  const { account } = scope
  return (
    <div className="stack loose" style={{ maxWidth: '52rem' }}>
      <Card title="Account">
        <div className="stack">
          <Facts
            items={[
              ['Id', <Id key="id" value={account.id} />],
              ['Review', <ApprovalBadge key="review" status={account.approval_status} />],
              ['Time zone', account.timezone.replaceAll('_', ' ')],
              ['Since', <Time key="since" iso={account.created_at} form="full" />]
            ]}
          />
          {scope.may('account.write') ? <NameForm account={account} /> : null}
        </div>
      </Card>
      <Card title="What you may do">
        <ul className="stack tight">
          {scope.permissions.map((permission) => (
            <li key={permission} className="row wrap">
              <Badge tone="accent">{readable(permission)}</Badge> {PERMISSIONS[permission] ?? ''}
            </li>
          ))}
        </ul>
      </Card>
      <Features />
      {scope.listener === 'sandbox' && scope.may('account.write') ? <TheEnd /> : null}
    </div>
  )
}

function NameForm({ account }: { account: AdAccount }) {
  const scope = useScope()
  const [initial] = useState({ name: account.name, industry_type: account.industry_type ?? '' })
  const form = useCheckedForm<typeof initial, AdAccount>({
    initial,
    method: 'PUT',
    path: scope.at(''),
    needed: ['name'],
    body: (values) => parameters(values, initial),
    onDone: async () => {
      await scope.changed()
      say('Saved')
    }
  })
  const submit = (event: FormEvent) => {
    event.preventDefault()
    void form.submit()
  }
  return (
    <form className="stack" onSubmit={submit} noValidate>
      <div className="grid-2 fields-2">
        <TextField label="Name" maxLength={255} {...form.field('name')} />
        <SelectField
          label="Industry"
          {...form.field('industry_type')}
          choices={[['', 'Not said'], ...INDUSTRIES.map((each) => [each, readable(each)] as const)]}
        />
      </div>
      <FormNotes form={form} />
      <div>
        <Button type="submit" variant="primary" busy={form.saving && 'Saving …'}>
          Save
        </Button>
      </div>
    </form>
  )
}

function Features() {
  const scope = useScope()
  const { data } = useQuery(featuresQuery(scope))
  const mayChange = scope.listener === 'sandbox' && scope.may('account.write')
  const remove = useMutation({
    mutationFn: (key: string) => ask('DELETE', scope.at('/features'), { query: { feature_keys: key } }),
    onSuccess: scope.changed,
    onError: sayProblem
  })
  return (
    <Card title="Features">
      {data === undefined ? (
        <Loading what="features" />
      ) : (
        <div className="stack">
          {data.length === 0 ? (
            <p className="muted">This account has no feature that is in beta or limited release.</p>
          ) : (
            <ul className="chips">
              {data.map((key) => (
                <li key={key} className="chip" title={key}>
                  {readable(key)}
                  {mayChange ? (
                    <Button
                      variant="ghost"
                      size="small"
                      icon="cross"
                      aria-label={`Remove ${readable(key)}`}
                      onClick={() => remove.mutate(key)}
                    />
                  ) : null}
                </li>
              ))}
            </ul>
          )}
          {mayChange ? <AddFeature /> : null}
        </div>
      )}
    </Card>
  )
}

function AddFeature() {
  const scope = useScope()
  const [initial] = useState({ feature_keys: '' })
  const form = useCheckedForm<typeof initial>({
    initial,
    method: 'POST',
    path: scope.at('/features'),
    needed: ['feature_keys'],
    body: ({ feature_keys }) => ({ feature_keys: feature_keys.trim().toUpperCase().replaceAll(' ', '_') }),
    onDone: async () => {
      await scope.changed()
      say('The feature is added')
    }
  })
  const submit = (event: FormEvent) => {
    event.preventDefault()
    void form.submit()
  }
  return (
    <form className="row wrap" style={{ alignItems: 'start' }} onSubmit={submit} noValidate>
      <div className="grow">
        <TextField
          label="Add a feature"
          placeholder="REACH_FREQUENCY_CAP"
          className="mono"
          hint="In the sandbox everything can be tried; REACH_FREQUENCY_CAP allows frequency caps."
          {...form.field('feature_keys')}
        />
      </div>
      <Button type="submit" busy={form.saving && 'Adding …'} style={{ marginTop: '1.6rem' }}>
        Add
      </Button>
    </form>
  )
}

function TheEnd() {
  const scope = useScope()
  const client = useQueryClient()
  const navigate = useNavigate()
  const [asking, setAsking] = useState(false)
  const remove = useMutation({
    mutationFn: () => ask('DELETE', scope.at('')),
    onSuccess: async () => {
      await navigate({ to: '/ads', search: { listener: 'sandbox' } })
      await client.invalidateQueries({ queryKey: ['ads', 'sandbox', 'accounts'] })
      say('The account is deleted')
    },
    onError: sayProblem
  })
  return (
    <Card title="Delete this sandbox account">
      <div className="row spread wrap">
        <p className="muted grow">Its campaigns, line items and funding go with it.</p>
        <Button variant="danger" icon="trash" onClick={() => setAsking(true)}>
          Delete the account …
        </Button>
      </div>
      <Confirm
        open={asking}
        onClose={() => setAsking(false)}
        title={`Delete ${scope.account.name}?`}
        action="Delete the account"
        busy="Deleting …"
        onConfirm={() => remove.mutateAsync()}
      >
        Everything in it goes with it: campaigns, line items, creatives, funding instruments. This cannot be undone.
        Another sandbox account is made with one press.
      </Confirm>
    </Card>
  )
}
