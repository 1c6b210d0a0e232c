import { useMutation, useQuery, useQueryClient } from '@tanstack/react-query'
import { useNavigate } from '@tanstack/react-router'
import { type FormEvent, useState } from 'react'
import { ask } from '../../client/api.ts'
import type { App } from '../../client/resources.ts'
import { Problem } from '../../ui/bits.tsx'
import { Button } from '../../ui/button.tsx'
import { SelectField, TextField } from '../../ui/fields.tsx'
import { Dialog, say } from '../../ui/overlays.tsx'
import { inboxQuery } from '../home/queries.ts'

interface Props {
  open: boolean
  onClose: () => void
  apps: App[]
  appId?: string | undefined
}

export const RegisterDialog = (props: Props) => (
  <Dialog
    open={props.open}
    onClose={props.onClose}
    title="Register a webhook"
    about="Herald sends a challenge to the address at once; it must be answered with the app’s consumer secret."
  >
    <RegisterForm {...props} />
  </Dialog>
)

function RegisterForm({ onClose, apps, appId }: Props) {
  const client = useQueryClient()
  const navigate = useNavigate()
  const { data: inbox } = useQuery(inboxQuery)
  const [app, setApp] = useState(appId ?? apps[0]?.id ?? '')
  const [url, setUrl] = useState('')
  const register = useMutation({
    mutationFn: () => ask<{ id: string }>('POST', '/2/webhooks', { app, body: { url } }),
    onSuccess: async ({ id }) => {
      await client.invalidateQueries({ queryKey: ['webhooks'] })
      say('The webhook is registered', 'Its challenge was answered.')
      onClose()
      await navigate({ to: '/webhooks/$webhookId', params: { webhookId: id } })
    }
  })
  const submit = (event: FormEvent) => {
    event.preventDefault()
    register.mutate()
  }
  return (
    <form className="stack" style={{ marginTop: '1rem' }} onSubmit={submit}>
      <SelectField
        label="App"
        value={app}
        onChange={(event) => setApp(event.target.value)}
        choices={apps.map(({ id, name }) => [id, name])}
        required
      />
      <TextField
        label="Address"
        value={url}
        onChange={(event) => setUrl(event.target.value)}
        placeholder="https://hooks.example.com/herald"
        inputMode="url"
        autoComplete="off"
        spellCheck={false}
        required
        hint="https, without a port, on the public internet."
      />
      {inbox?.available ? (
        <div>
          <Button size="small" icon="inbox" onClick={() => setUrl(inbox.url.replace('{app_id}', app))}>
            Use the built-in inbox
          </Button>
        </div>
      ) : null}
      {register.error ? <Problem error={register.error} /> : null}
      <div className="actions">
        <Button onClick={onClose}>Cancel</Button>
        <Button type="submit" variant="primary" busy={register.isPending && 'Sending a challenge …'}>
          Register
        </Button>
      </div>
    </form>
  )
}
