import { useMutation, useQueryClient } from '@tanstack/react-query'
import { useNavigate } from '@tanstack/react-router'
import { type FormEvent, useState } from 'react'
import { ask } from '../../client/api.ts'
import { type App, appsQuery, type User } from '../../client/resources.ts'
import { usePerson } from '../../client/session.ts'
import { Problem } from '../../ui/bits.tsx'
import { Button } from '../../ui/button.tsx'
import { problemFor, SelectField, TextField } from '../../ui/fields.tsx'
import { Dialog } from '../../ui/overlays.tsx'
import { type Secrets, SecretsDialog } from './secrets.tsx'

interface Created extends App {
  consumer_secret: string
  client_secret: string | null
  bearer_token: string
}

const secretsOf = (app: Created): Secrets => [
  ['Consumer key', app.consumer_key],
  ['Consumer secret', app.consumer_secret],
  ['Bearer token', app.bearer_token],
  ['Client id', app.client_id],
  ...(app.client_secret ? [['Client secret', app.client_secret] as const] : [])
]

export function CreateApp({ open, onClose, users }: { open: boolean; onClose: () => void; users: User[] }) {
  const navigate = useNavigate()
  const [created, setCreated] = useState<Created>()
  return (
    <>
      <Dialog open={open} onClose={onClose} title="Create an app">
        <CreateForm
          users={users}
          onClose={onClose}
          onCreated={(app) => {
            onClose()
            setCreated(app)
          }}
        />
      </Dialog>
      <SecretsDialog
        title={`The keys of ${created?.name ?? 'the app'}`}
        secrets={created && secretsOf(created)}
        onClose={() => {
          const id = created!.id
          setCreated(undefined)
          void navigate({ to: '/apps/$appId', params: { appId: id } })
        }}
      />
    </>
  )
}

function CreateForm({
  users,
  onClose,
  onCreated
}: {
  users: User[]
  onClose: () => void
  onCreated: (app: Created) => void
}) {
  const client = useQueryClient()
  const { user } = usePerson()
  const create = useMutation({
    mutationFn: (body: object) => ask<Created>('POST', '/admin/apps', { body }),
    gcTime: 0,
    onSuccess: async (app) => {
      onCreated(app)
      await client.invalidateQueries(appsQuery)
    }
  })
  const submit = (event: FormEvent<HTMLFormElement>) => {
    event.preventDefault()
    const form = new FormData(event.currentTarget)
    const text = (name: string) => String(form.get(name) ?? '').trim()
    const uris = text('redirect_uris').split(/\s+/).filter(Boolean)
    create.mutate({
      name: text('name'),
      ads_access: text('ads_access'),
      client_type: text('client_type'),
      ...(text('owner') ? { owner_user_id: text('owner') } : {}),
      ...(uris.length > 0 ? { redirect_uris: uris } : {})
    })
  }
  return (
    <form className="stack" style={{ marginTop: '1rem' }} onSubmit={submit}>
      <TextField
        label="Name"
        name="name"
        required
        maxLength={100}
        autoComplete="off"
        problem={problemFor(create.error, 'name')}
        hint="People see it when they are asked to allow the app."
      />
      <SelectField
        label="Owner"
        name="owner"
        defaultValue={user?.id ?? ''}
        choices={[['', 'Nobody'], ...users.map(({ id, username }) => [id, `@${username}`] as const)]}
        hint="May act as the app in this console."
      />
      <div className="grid-2" style={{ '--min': '12rem' } as React.CSSProperties}>
        <SelectField
          label="Ads API"
          name="ads_access"
          defaultValue="read-write"
          choices={[
            ['none', 'No access'],
            ['read', 'Read'],
            ['read-write', 'Read and write']
          ]}
        />
        <SelectField
          label="OAuth 2.0 client"
          name="client_type"
          choices={[
            ['confidential', 'Confidential: a server keeps its secret'],
            ['public', 'Public: an app on a device']
          ]}
        />
      </div>
      <TextField
        label="Redirect addresses"
        name="redirect_uris"
        placeholder="http://127.0.0.1:3000/callback"
        hint="Where people return after they allowed the app; several are separated by spaces."
        problem={problemFor(create.error, 'redirect_uris')}
      />
      {create.error ? <Problem error={create.error} /> : null}
      <div className="actions">
        <Button onClick={onClose}>Cancel</Button>
        <Button type="submit" variant="primary" busy={create.isPending && 'Creating …'}>
          Create
        </Button>
      </div>
    </form>
  )
}
