import './apps.css'
import { useMutation, useQueryClient } from '@tanstack/react-query'
import { type FormEvent, useState } from 'react'
import { ask } from '../../client/api.ts'
import type { App, User } from '../../client/resources.ts'
import { Card, Problem } from '../../ui/bits.tsx'
import { Button } from '../../ui/button.tsx'
import { Check, problemFor, SelectField, TextArea, TextField } from '../../ui/fields.tsx'
import { Confirm, say } from '../../ui/overlays.tsx'

const PRODUCTS = [
  'webhooks',
  'activity',
  'account_activity',
  'filtered_stream',
  'powerstream',
  'search',
  'posts',
  'notes'
]

export function Settings({ app, users }: { app: App; users: User[] }) {
  const client = useQueryClient()
  const [suspending, setSuspending] = useState(false)
  const change = useMutation({
    mutationFn: (body: object) => ask<App>('PUT', `/admin/apps/${app.id}`, { body }),
    onSuccess: async () => {
      await client.invalidateQueries({ queryKey: ['apps'] })
      say('Saved')
    }
  })
  const submit = (event: FormEvent<HTMLFormElement>) => {
    event.preventDefault()
    const form = new FormData(event.currentTarget)
    const text = (name: string) => String(form.get(name) ?? '').trim()
    change.mutate({
      name: text('name'),
      permissions: text('permissions'),
      ads_access: text('ads_access'),
      redirect_uris: text('redirect_uris').split(/\s+/).filter(Boolean),
      products: form.getAll('products'),
      ...(text('owner') ? { owner_user_id: text('owner') } : {})
    })
  }
  const products = [...new Set([...PRODUCTS, ...app.products])]
  return (
    <div className="stack" style={{ maxWidth: '46rem' }}>
      <form className="card" onSubmit={submit}>
        <div className="body stack">
          <TextField
            label="Name"
            name="name"
            required
            maxLength={100}
            defaultValue={app.name}
            problem={problemFor(change.error, 'name')}
          />
          <div className="grid-2" style={{ '--min': '14rem' } as React.CSSProperties}>
            <SelectField
              label="Owner"
              name="owner"
              defaultValue={app.owner_user_id ?? ''}
              choices={[
                ...(app.owner_user_id ? [] : [['', 'Nobody'] as const]),
                ...users.map(({ id, username }) => [id, `@${username}`] as const)
              ]}
            />
            <SelectField
              label="OAuth 1.0a permissions"
              name="permissions"
              defaultValue={app.permissions}
              choices={[
                ['read', 'Read'],
                ['read-write', 'Read and write'],
                ['read-write-directmessages', 'Read, write and direct messages']
              ]}
            />
            <SelectField
              label="Ads API"
              name="ads_access"
              defaultValue={app.ads_access}
              choices={[
                ['none', 'No access'],
                ['read', 'Read'],
                ['read-write', 'Read and write']
              ]}
            />
          </div>
          <TextArea
            label="Redirect addresses"
            name="redirect_uris"
            defaultValue={app.redirect_uris.join('\n')}
            hint="One per line: https, http on this machine, or an application’s own scheme."
            problem={problemFor(change.error, 'redirect_uris')}
            spellCheck={false}
            className="mono"
          />
          <fieldset className="scopes">
            <legend>Products the app may use</legend>
            <div className="scope-grid">
              {products.map((product) => (
                <Check
                  key={product}
                  name="products"
                  value={product}
                  defaultChecked={app.products.includes(product)}
                  label={<code>{product}</code>}
                />
              ))}
            </div>
          </fieldset>
          {change.error ? <Problem error={change.error} /> : null}
          <div>
            <Button type="submit" variant="primary" busy={change.isPending && 'Saving …'}>
              Save
            </Button>
          </div>
        </div>
      </form>
      <Card title={app.suspended ? 'Lift the suspension' : 'Suspend the app'}>
        <div className="row spread wrap">
          <p className="muted grow">
            {app.suspended
              ? 'Its keys and tokens are refused.'
              : 'All its keys and tokens are refused until it is lifted again.'}
          </p>
          {app.suspended ? (
            <Button onClick={() => change.mutate({ suspended: false })}>Lift the suspension</Button>
          ) : (
            <Button variant="danger" onClick={() => setSuspending(true)}>
              Suspend …
            </Button>
          )}
        </div>
      </Card>
      <Confirm
        open={suspending}
        onClose={() => setSuspending(false)}
        title={`Suspend ${app.name}?`}
        action="Suspend"
        busy="Suspending …"
        onConfirm={() => change.mutateAsync({ suspended: true })}
      >
        Every request of the app is refused from now on. It can be lifted at any time.
      </Confirm>
    </div>
  )
}
