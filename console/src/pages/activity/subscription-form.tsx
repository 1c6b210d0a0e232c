import { useMutation, useQuery } from '@tanstack/react-query'
import { type FormEvent, useState } from 'react'
import { ask } from '../../client/api.ts'
import type { App, Webhook } from '../../client/resources.ts'
import { Callout, Problem } from '../../ui/bits.tsx'
import { Button } from '../../ui/button.tsx'
import { problemFor, SelectField, TextField } from '../../ui/fields.tsx'
import { Dialog, say } from '../../ui/overlays.tsx'
import { eventTypesQuery, type Subscribed } from './queries.ts'

const webhookChoices = (webhooks: Webhook[], none?: string) => [
  ...(none === undefined ? [] : [['', none] as const]),
  ...webhooks.map(
    ({ id, url, valid }) => [id, `${url.replace(/^https:\/\//, '')}${valid ? '' : ' (invalid)'}`] as const
  )
]

interface NewProps {
  open: boolean
  onClose: () => void
  app: App
  webhooks: Webhook[]
  onDone: () => Promise<unknown>
}

export const NewSubscription = (props: NewProps) => (
  <Dialog open={props.open} onClose={props.onClose} title="Subscribe to an event">
    <NewForm {...props} />
  </Dialog>
)

function NewForm({ onClose, app, webhooks, onDone }: NewProps) {
  const { data: types } = useQuery(eventTypesQuery)
  const [name, setName] = useState('profile.update.bio')
  const type = types?.find((each) => each.name === name)
  const create = useMutation({
    mutationFn: (body: object) => ask('POST', '/2/activity/subscriptions', { app: app.id, body }),
    onSuccess: async () => {
      await onDone()
      say('Subscribed')
      onClose()
    }
  })
  const submit = (event: FormEvent<HTMLFormElement>) => {
    event.preventDefault()
    const form = new FormData(event.currentTarget)
    const text = (field: string) => String(form.get(field) ?? '').trim()
    const filter =
      type?.filter === 'keyword'
        ? { keyword: text('keyword') }
        : { user_id: text('user_id'), ...(text('direction') ? { direction: text('direction') } : {}) }
    create.mutate({
      event_type: name,
      filter,
      ...(text('tag') ? { tag: text('tag') } : {}),
      ...(text('webhook_id') ? { webhook_id: text('webhook_id') } : {})
    })
  }
  return (
    <form className="stack" style={{ marginTop: '1rem' }} onSubmit={submit}>
      <SelectField
        label="Event type"
        value={name}
        onChange={({ target }) => setName(target.value)}
        choices={(types ?? []).map((each) => [
          each.name,
          each.visibility === 'private' ? `${each.name} (private)` : each.name
        ])}
        hint={type?.about}
        problem={problemFor(create.error, 'event_type')}
      />
      {type?.visibility === 'private' ? (
        <Callout tone="warn">
          A private event: it needs a user who allows {app.name} the scope <code>{type.scope}</code>, and the call must
          carry that user’s token. From here it only works for what the app may see by itself.
        </Callout>
      ) : null}
      {type?.filter === 'keyword' ? (
        <TextField
          label="Keyword"
          name="keyword"
          required
          maxLength={150}
          problem={problemFor(create.error, 'keyword')}
        />
      ) : (
        <TextField
          label="User id"
          name="user_id"
          required
          inputMode="numeric"
          pattern="[0-9]{1,19}"
          className="mono"
          hint="Whom it is about, by the id of the host platform."
          problem={problemFor(create.error, 'user_id')}
        />
      )}
      {type?.direction ? (
        <SelectField
          label="Direction"
          name="direction"
          choices={[
            ['', 'Both'],
            ['inbound', 'Inbound: done to the user'],
            ['outbound', 'Outbound: done by the user']
          ]}
        />
      ) : null}
      <SelectField
        label="Deliver to"
        name="webhook_id"
        choices={webhookChoices(webhooks, 'No webhook: only streams')}
      />
      <TextField
        label="Tag"
        name="tag"
        maxLength={200}
        hint="Comes with every event, so that you know why you got it."
      />
      {create.error ? <Problem error={create.error} /> : null}
      <div className="actions">
        <Button onClick={onClose}>Cancel</Button>
        <Button type="submit" variant="primary" busy={create.isPending && 'Subscribing …'}>
          Subscribe
        </Button>
      </div>
    </form>
  )
}

interface ChangeProps {
  subscription: Subscribed | undefined
  onClose: () => void
  webhooks: Webhook[]
  onDone: () => Promise<unknown>
}

export const ChangeSubscription = (props: ChangeProps) => (
  <Dialog open={props.subscription !== undefined} onClose={props.onClose} title="Change the subscription">
    {props.subscription ? <ChangeForm {...props} subscription={props.subscription} /> : null}
  </Dialog>
)

function ChangeForm({ subscription, onClose, webhooks, onDone }: ChangeProps & { subscription: Subscribed }) {
  const change = useMutation({
    mutationFn: (body: object) =>
      ask('PUT', `/2/activity/subscriptions/${subscription.id}`, { app: subscription.app_id, body }),
    onSuccess: async () => {
      await onDone()
      say('Saved')
      onClose()
    }
  })
  const submit = (event: FormEvent<HTMLFormElement>) => {
    event.preventDefault()
    const form = new FormData(event.currentTarget)
    const text = (field: string) => String(form.get(field) ?? '').trim()
    change.mutate({
      ...(text('tag') ? { tag: text('tag') } : {}),
      ...(text('webhook_id') ? { webhook_id: text('webhook_id') } : {})
    })
  }
  return (
    <form className="stack" style={{ marginTop: '1rem' }} onSubmit={submit}>
      <SelectField
        label="Deliver to"
        name="webhook_id"
        defaultValue={subscription.webhook_id ?? ''}
        choices={webhookChoices(webhooks, subscription.webhook_id ? undefined : 'No webhook: only streams')}
      />
      <TextField label="Tag" name="tag" maxLength={200} defaultValue={subscription.tag ?? ''} />
      {change.error ? <Problem error={change.error} /> : null}
      <div className="actions">
        <Button onClick={onClose}>Cancel</Button>
        <Button type="submit" variant="primary" busy={change.isPending && 'Saving …'}>
          Save
        </Button>
      </div>
    </form>
  )
}
