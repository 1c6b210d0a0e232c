/** What a person who is no operator sees of their apps: the webhooks, through the public API, as the app. */
import { useMutation, useQuery, useQueryClient } from '@tanstack/react-query'
import { type FormEvent, useState } from 'react'
import { ask, request } from '../../client/api.ts'
import { LIVE_MS } from '../../client/query-client.ts'
import type { PageOf } from '../../client/resources.ts'
import { Badge, Card, Empty, Loading, Problem, Time } from '../../ui/bits.tsx'
import { Button } from '../../ui/button.tsx'
import { TextField } from '../../ui/fields.tsx'
import { Confirm, Dialog, say, sayProblem } from '../../ui/overlays.tsx'
import { type Column, Table } from '../../ui/table.tsx'

interface OwnApp {
  id: string
  name: string
}
interface OwnWebhook {
  id: string
  url: string
  valid: boolean
  created_at: string
}

export function OwnApp({ app }: { app: OwnApp }) {
  const client = useQueryClient()
  const key = ['own-webhooks', app.id]
  const webhooks = useQuery({
    queryKey: key,
    queryFn: ({ signal }) => request<PageOf<OwnWebhook>>('GET', '/2/webhooks', { app: app.id, signal }),
    refetchInterval: LIVE_MS * 5
  })
  const [registering, setRegistering] = useState(false)
  const [deleting, setDeleting] = useState<OwnWebhook>()
  const changed = () => client.invalidateQueries({ queryKey: key })
  const check = useMutation({
    mutationFn: (id: string) => ask<{ valid: boolean }>('PUT', `/2/webhooks/${id}`, { app: app.id }),
    onSuccess: async () => {
      await changed()
      say('The webhook is valid', 'It answered the challenge as it should.')
    },
    onError: sayProblem
  })
  const columns: Column<OwnWebhook>[] = [
    {
      id: 'url',
      header: 'Address',
      clip: true,
      cell: ({ url }) => <span title={url}>{url.replace(/^https:\/\//, '')}</span>
    },
    {
      id: 'valid',
      header: 'Status',
      width: 'shrink',
      cell: ({ valid }) => (
        <Badge tone={valid ? 'good' : 'bad'} dot>
          {valid ? 'Valid' : 'Invalid'}
        </Badge>
      )
    },
    { id: 'since', header: 'Since', width: 'shrink', cell: ({ created_at }) => <Time iso={created_at} /> },
    {
      id: 'do',
      header: '',
      width: 'shrink',
      cell: (webhook) => (
        <span className="row">
          <Button
            variant="ghost"
            size="small"
            icon="refresh"
            disabled={check.isPending}
            onClick={() => check.mutate(webhook.id)}
          >
            Check now
          </Button>
          <Button
            variant="ghost"
            size="small"
            icon="trash"
            aria-label={`Delete ${webhook.url}`}
            onClick={() => setDeleting(webhook)}
          />
        </span>
      )
    }
  ]
  return (
    <Card
      title={app.name}
      bare
      actions={
        <Button size="small" icon="plus" onClick={() => setRegistering(true)}>
          Register a webhook
        </Button>
      }
    >
      {webhooks.error ? <Problem error={webhooks.error} retry={() => void webhooks.refetch()} /> : null}
      {webhooks.data === undefined ? (
        <div className="body">
          <Loading what="webhooks" />
        </div>
      ) : webhooks.data.data.length === 0 ? (
        <Empty icon="webhook" title="No webhooks yet">
          Register an https address of yours; it must answer a challenge with the app’s consumer secret.
        </Empty>
      ) : (
        <Table rows={webhooks.data.data} columns={columns} keyOf={({ id }) => id} label={`Webhooks of ${app.name}`} />
      )}
      <Dialog
        open={registering}
        onClose={() => setRegistering(false)}
        title="Register a webhook"
        about="Herald sends a challenge to the address at once."
      >
        <RegisterForm
          app={app}
          onClose={() => setRegistering(false)}
          onDone={async () => {
            await changed()
            setRegistering(false)
          }}
        />
      </Dialog>
      <Confirm
        open={deleting !== undefined}
        onClose={() => setDeleting(undefined)}
        title="Delete this webhook?"
        action="Delete"
        busy="Deleting …"
        onConfirm={async () => {
          await ask('DELETE', `/2/webhooks/${deleting!.id}`, { app: app.id })
          await changed()
        }}
      >
        Nothing is sent to {deleting?.url} any more. The address can be registered again.
      </Confirm>
    </Card>
  )
}

function RegisterForm({ app, onClose, onDone }: { app: OwnApp; onClose: () => void; onDone: () => Promise<void> }) {
  const register = useMutation({
    mutationFn: (url: string) => ask('POST', '/2/webhooks', { app: app.id, body: { url } }),
    onSuccess: onDone
  })
  const submit = (event: FormEvent<HTMLFormElement>) => {
    event.preventDefault()
    register.mutate(String(new FormData(event.currentTarget).get('url')))
  }
  return (
    <form className="stack" style={{ marginTop: '1rem' }} onSubmit={submit}>
      <TextField
        label="Address"
        name="url"
        placeholder="https://hooks.example.com/herald"
        inputMode="url"
        required
        spellCheck={false}
      />
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
