import { useMutation, useQueryClient } from '@tanstack/react-query'
import type { FormEvent } from 'react'
import { ask } from '../../client/api.ts'
import type { App } from '../../client/resources.ts'
import { Problem } from '../../ui/bits.tsx'
import { Button } from '../../ui/button.tsx'
import { TextField } from '../../ui/fields.tsx'
import { say } from '../../ui/overlays.tsx'

const KNOWN: Record<string, string> = {
  webhooks: 'Webhooks',
  subscriptions: 'Activity subscriptions',
  account_activity: 'Account activity subscriptions',
  rules: 'Filtered-stream rules',
  project_rules: 'Rules of all apps of the project',
  filtered_stream_connections: 'Open filtered streams',
  activity_stream_connections: 'Open activity streams'
}

export function Quotas({ app }: { app: App }) {
  const client = useQueryClient()
  const names = [...new Set([...Object.keys(KNOWN), ...Object.keys(app.quotas)])]
  const save = useMutation({
    mutationFn: (body: object) => ask<App>('PUT', `/admin/apps/${app.id}/quotas`, { body }),
    onSuccess: async () => {
      await client.invalidateQueries({ queryKey: ['apps'] })
      say('Saved')
    }
  })
  const submit = (event: FormEvent<HTMLFormElement>) => {
    event.preventDefault()
    const form = new FormData(event.currentTarget)
    save.mutate(
      Object.fromEntries(
        names.map((name) => {
          const text = String(form.get(name) ?? '').trim()
          return [name, text === '' ? null : Number(text)]
        })
      )
    )
  }
  return (
    <form className="card" style={{ maxWidth: '46rem' }} onSubmit={submit}>
      <div className="body stack">
        <p className="muted">How much of each this app may have. Empty: the default of the server.</p>
        <div className="grid-2" style={{ '--min': '16rem' } as React.CSSProperties}>
          {names.map((name) => (
            <TextField
              key={name}
              label={KNOWN[name] ?? name}
              name={name}
              type="number"
              min={0}
              step={1}
              placeholder="default"
              defaultValue={app.quotas[name] ?? ''}
            />
          ))}
        </div>
        {save.error ? <Problem error={save.error} /> : null}
        <div>
          <Button type="submit" variant="primary" busy={save.isPending && 'Saving …'}>
            Save
          </Button>
        </div>
      </div>
    </form>
  )
}
