import './apps.css'
import { useMutation, useQuery, useQueryClient } from '@tanstack/react-query'
import { type FormEvent, useState } from 'react'
import { ask } from '../../client/api.ts'
import type { App, User } from '../../client/resources.ts'
import { Badge, Empty, Loading, Problem, Time } from '../../ui/bits.tsx'
import { Button } from '../../ui/button.tsx'
import { Check, SelectField } from '../../ui/fields.tsx'
import { Confirm, Dialog, say } from '../../ui/overlays.tsx'
import { type Column, Table } from '../../ui/table.tsx'
import { SCOPES } from './scopes.ts'
import { type Secrets, SecretsDialog } from './secrets.tsx'

interface Token {
  id: string
  kind: 'app' | 'oauth2' | 'oauth1' | 'admin'
  user_id: string | null
  scopes: string[] | null
  permissions: string | null
  created_at: string
  expires_at: string | null
  revoked_at: string | null
}

const KINDS = { app: 'App, bearer', oauth2: 'User, OAuth 2.0', oauth1: 'User, OAuth 1.0a', admin: 'Admin' }

export function Tokens({ app, users }: { app: App; users: User[] }) {
  const client = useQueryClient()
  const key = ['tokens', app.id]
  const tokens = useQuery({
    queryKey: key,
    queryFn: ({ signal }) => ask<Token[]>('GET', '/admin/tokens', { query: { app_id: app.id }, signal })
  })
  const [making, setMaking] = useState(false)
  const [revoking, setRevoking] = useState<Token>()
  const [secrets, setSecrets] = useState<Secrets>()
  const usernameOf = (id: string) => users.find((user) => user.id === id)?.username ?? id
  const columns: Column<Token>[] = [
    { id: 'kind', header: 'Kind', width: 'shrink', cell: ({ kind }) => KINDS[kind] },
    {
      id: 'user',
      header: 'For',
      width: 'shrink',
      cell: ({ user_id }) => (user_id ? `@${usernameOf(user_id)}` : 'the app')
    },
    {
      id: 'may',
      header: 'May',
      clip: true,
      cell: ({ scopes, permissions }) => (
        <span title={scopes?.join(' ') ?? ''} className="muted">
          {scopes ? (scopes.length > 20 ? 'all scopes' : scopes.join(' ')) : (permissions ?? '–')}
        </span>
      )
    },
    { id: 'created', header: 'Made', width: 'shrink', cell: ({ created_at }) => <Time iso={created_at} /> },
    {
      id: 'state',
      header: 'State',
      width: 'shrink',
      cell: ({ revoked_at, expires_at }) =>
        revoked_at ? (
          <Badge tone="bad">revoked</Badge>
        ) : expires_at ? (
          Date.parse(expires_at) < Date.now() ? (
            <Badge>expired</Badge>
          ) : (
            <span>
              ends <Time iso={expires_at} form="relative" />
            </span>
          )
        ) : (
          <Badge tone="good">valid</Badge>
        )
    },
    {
      id: 'revoke',
      header: '',
      width: 'shrink',
      cell: (token) =>
        token.revoked_at ? null : (
          <Button variant="ghost" size="small" onClick={() => setRevoking(token)}>
            Revoke
          </Button>
        )
    }
  ]
  return (
    <div className="stack">
      <div className="row spread wrap">
        <p className="muted">What each token is for; what it is, is shown only when it is made.</p>
        <Button icon="plus" onClick={() => setMaking(true)}>
          Make a token
        </Button>
      </div>
      {tokens.error ? <Problem error={tokens.error} retry={() => void tokens.refetch()} /> : null}
      {tokens.data === undefined ? (
        <Loading what="tokens" />
      ) : tokens.data.length === 0 ? (
        <Empty icon="key" title="No tokens yet">
          A token lets this app call the API for a user, or for itself.
        </Empty>
      ) : (
        <Table rows={tokens.data} columns={columns} keyOf={({ id }) => id} label="Tokens" />
      )}
      <Dialog
        open={making}
        onClose={() => setMaking(false)}
        title="Make a token"
        about="As if the user had allowed the app just now."
      >
        <TokenForm
          app={app}
          users={users}
          onClose={() => setMaking(false)}
          onMade={(made) => {
            setMaking(false)
            setSecrets(made)
            void client.invalidateQueries({ queryKey: key })
          }}
        />
      </Dialog>
      <SecretsDialog title="The new token" secrets={secrets} onClose={() => setSecrets(undefined)} />
      <Confirm
        open={revoking !== undefined}
        onClose={() => setRevoking(undefined)}
        title="Revoke this token?"
        action="Revoke"
        busy="Revoking …"
        onConfirm={async () => {
          await ask('DELETE', `/admin/tokens/${revoking!.id}`)
          await client.invalidateQueries({ queryKey: key })
          say('The token is revoked')
        }}
      >
        Whoever uses it is refused from now on. This cannot be undone; a new one can be made.
      </Confirm>
    </div>
  )
}

interface Issued {
  access_token?: string
  refresh_token?: string
  oauth_token?: string
  oauth_token_secret?: string
}

const LIFETIMES = [
  ['', 'It never ends'],
  ['7200', '2 hours'],
  ['86400', '1 day'],
  ['2592000', '30 days']
] as const

function TokenForm({
  app,
  users,
  onClose,
  onMade
}: {
  app: App
  users: User[]
  onClose: () => void
  onMade: (secrets: Secrets) => void
}) {
  const [kind, setKind] = useState<'oauth2' | 'oauth1'>('oauth2')
  const [scopes, setScopes] = useState<ReadonlySet<string>>(new Set(SCOPES))
  const make = useMutation({
    gcTime: 0,
    mutationFn: (body: object) => ask<Issued>('POST', '/admin/tokens', { body }),
    onSuccess: ({ access_token, refresh_token, oauth_token, oauth_token_secret }) =>
      onMade(
        [
          ['Access token', access_token],
          ['Refresh token', refresh_token],
          ['Token', oauth_token],
          ['Token secret', oauth_token_secret]
        ].filter((pair): pair is [string, string] => pair[1] !== undefined)
      )
  })
  const submit = (event: FormEvent<HTMLFormElement>) => {
    event.preventDefault()
    const form = new FormData(event.currentTarget)
    const lifetime = String(form.get('expires_in') ?? '')
    make.mutate({
      kind,
      app_id: app.id,
      user_id: form.get('user'),
      ...(kind === 'oauth2'
        ? { scopes: [...scopes], ...(lifetime ? { expires_in: Number(lifetime) } : {}) }
        : { permissions: form.get('permissions') })
    })
  }
  const toggle = (scope: string) => {
    const next = new Set(scopes)
    if (!next.delete(scope)) next.add(scope)
    setScopes(next)
  }
  return (
    <form className="stack" style={{ marginTop: '1rem' }} onSubmit={submit}>
      <div className="grid-2" style={{ '--min': '12rem' } as React.CSSProperties}>
        <SelectField
          label="User"
          name="user"
          required
          choices={users.map(({ id, username }) => [id, `@${username}`])}
        />
        <SelectField
          label="Kind"
          value={kind}
          onChange={({ target }) => setKind(target.value as typeof kind)}
          choices={[
            ['oauth2', 'OAuth 2.0'],
            ['oauth1', 'OAuth 1.0a']
          ]}
        />
      </div>
      {kind === 'oauth2' ? (
        <>
          <fieldset className="scopes">
            <legend className="row spread">
              Scopes
              <span className="row">
                <Button variant="ghost" size="small" onClick={() => setScopes(new Set(SCOPES))}>
                  All
                </Button>
                <Button variant="ghost" size="small" onClick={() => setScopes(new Set())}>
                  None
                </Button>
              </span>
            </legend>
            <div className="scope-grid">
              {SCOPES.map((scope) => (
                <Check
                  key={scope}
                  label={<code>{scope}</code>}
                  checked={scopes.has(scope)}
                  onChange={() => toggle(scope)}
                />
              ))}
            </div>
          </fieldset>
          <SelectField label="Lifetime" name="expires_in" choices={LIFETIMES} />
        </>
      ) : (
        <SelectField
          label="Permissions"
          name="permissions"
          choices={[
            ['read-write-directmessages', 'Read, write and direct messages'],
            ['read-write', 'Read and write'],
            ['read', 'Read']
          ]}
        />
      )}
      {make.error ? <Problem error={make.error} /> : null}
      <div className="actions">
        <Button onClick={onClose}>Cancel</Button>
        <Button
          type="submit"
          variant="primary"
          busy={make.isPending && 'Making …'}
          disabled={kind === 'oauth2' && scopes.size === 0}
        >
          Make the token
        </Button>
      </div>
    </form>
  )
}
