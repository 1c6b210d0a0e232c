import { useMutation, useQueryClient } from '@tanstack/react-query'
import { useState } from 'react'
import { ask } from '../../client/api.ts'
import { localTime } from '../../client/format.ts'
import type { App } from '../../client/resources.ts'
import { Callout, Card, Facts, Id, Problem } from '../../ui/bits.tsx'
import { Button } from '../../ui/button.tsx'
import { SelectField } from '../../ui/fields.tsx'
import { Confirm, Dialog, sayProblem } from '../../ui/overlays.tsx'
import { type Secrets, SecretsDialog } from './secrets.tsx'

const OVERLAPS = [
  ['86400', '24 hours'],
  ['3600', '1 hour'],
  ['604800', '7 days'],
  ['0', 'Not at all: the old one ends now']
] as const

interface Shown {
  title: string
  about?: string
  secrets: Secrets
}

export function Keys({ app }: { app: App }) {
  const [dialog, setDialog] = useState<'consumer' | 'client'>()
  const [shown, setShown] = useState<Shown>()
  const bearer = useMutation({
    gcTime: 0,
    mutationFn: () => ask<{ access_token: string }>('POST', '/admin/tokens', { body: { kind: 'app', app_id: app.id } }),
    onSuccess: ({ access_token }) =>
      setShown({
        title: 'Bearer token',
        about:
          'For calls that the app makes for itself. Unlike the other secrets it can be asked for again, until it is revoked.',
        secrets: [['Bearer token', access_token]]
      }),
    onError: sayProblem
  })
  return (
    <div className="grid-2" style={{ '--min': '26rem' } as React.CSSProperties}>
      <Card title="Consumer key and secret">
        <div className="stack">
          <p className="muted">Sign OAuth 1.0a requests, answer challenges and check the signatures of deliveries.</p>
          <Facts
            items={[
              ['Consumer key', <Id key="key" value={app.consumer_key} />],
              [
                'Consumer secret',
                <span key="secret" className="muted">
                  was shown when it was made
                </span>
              ]
            ]}
          />
          <div>
            <Button icon="refresh" onClick={() => setDialog('consumer')}>
              New consumer secret …
            </Button>
          </div>
        </div>
      </Card>
      <Card title="OAuth 2.0 client">
        <div className="stack">
          <p className="muted">For people who allow the app, and for tokens of the app itself.</p>
          <Facts
            items={[
              ['Client id', <Id key="id" value={app.client_id} />],
              [
                'Client secret',
                <span key="secret" className="muted">
                  {app.client_type === 'public' ? 'a public client has none' : 'was shown when it was made'}
                </span>
              ]
            ]}
          />
          <div className="row wrap">
            <Button icon="key" busy={bearer.isPending && 'Asking …'} onClick={() => bearer.mutate()}>
              Show the bearer token
            </Button>
            {app.client_type === 'confidential' ? (
              <Button icon="refresh" onClick={() => setDialog('client')}>
                New client secret …
              </Button>
            ) : null}
          </div>
        </div>
      </Card>
      <Dialog
        open={dialog === 'consumer'}
        onClose={() => setDialog(undefined)}
        title="A new consumer secret"
        about="During the overlap both secrets are valid: signatures carry both, and challenges may be answered with either. Change your consumers meanwhile."
      >
        <RotateForm
          app={app}
          onClose={() => setDialog(undefined)}
          onRotated={(next) => {
            setDialog(undefined)
            setShown(next)
          }}
        />
      </Dialog>
      <ClientConfirm app={app} open={dialog === 'client'} onClose={() => setDialog(undefined)} onRotated={setShown} />
      <SecretsDialog
        title={shown?.title ?? ''}
        about={shown?.about}
        secrets={shown?.secrets}
        onClose={() => {
          setShown(undefined)
          bearer.reset()
        }}
      />
    </div>
  )
}

function RotateForm({ app, onClose, onRotated }: { app: App; onClose: () => void; onRotated: (shown: Shown) => void }) {
  const client = useQueryClient()
  const [overlap, setOverlap] = useState('86400')
  const rotate = useMutation({
    gcTime: 0,
    mutationFn: () =>
      ask<{ consumer_secret: string; previous_consumer_secret_valid_until: string | null }>(
        'POST',
        `/admin/apps/${app.id}/rotate_consumer_secret`,
        { body: { overlap_seconds: Number(overlap) } }
      ),
    onSuccess: async ({ consumer_secret, previous_consumer_secret_valid_until: until }) => {
      onRotated({
        title: 'The new consumer secret',
        about: until ? `The old one stays valid until ${localTime(until)}.` : 'The old one is no longer valid.',
        secrets: [['Consumer secret', consumer_secret]]
      })
      await client.invalidateQueries({ queryKey: ['apps'] })
    }
  })
  return (
    <div className="stack" style={{ marginTop: '1rem' }}>
      <SelectField
        label="The old secret stays valid for"
        value={overlap}
        onChange={({ target }) => setOverlap(target.value)}
        choices={OVERLAPS}
      />
      {overlap === '0' ? (
        <Callout tone="warn">
          Consumers that still have the old secret fail their next challenge, and their webhooks turn invalid.
        </Callout>
      ) : null}
      {rotate.error ? <Problem error={rotate.error} /> : null}
      <div className="actions">
        <Button onClick={onClose}>Cancel</Button>
        <Button
          variant={overlap === '0' ? 'danger' : 'primary'}
          busy={rotate.isPending && 'Making …'}
          onClick={() => rotate.mutate()}
        >
          Make a new secret
        </Button>
      </div>
    </div>
  )
}

const ClientConfirm = ({
  app,
  open,
  onClose,
  onRotated
}: {
  app: App
  open: boolean
  onClose: () => void
  onRotated: (shown: Shown) => void
}) => (
  <Confirm
    open={open}
    onClose={onClose}
    title="Make a new client secret?"
    action="Make a new secret"
    busy="Making …"
    onConfirm={async () => {
      const { client_secret } = await ask<{ client_secret: string }>(
        'POST',
        `/admin/apps/${app.id}/rotate_client_secret`
      )
      onRotated({ title: 'The new client secret', secrets: [['Client secret', client_secret]] })
    }}
  >
    The old one ends at once: servers that use it cannot get or refresh tokens until they have the new one. Tokens that
    were issued stay valid.
  </Confirm>
)
