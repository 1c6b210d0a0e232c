/** Requests for a terminal, with the reader's own credentials if they want them. */
import { useMutation } from '@tanstack/react-query'
import { useState } from 'react'
import { ask } from '../../client/api.ts'
import type { App } from '../../client/resources.ts'
import { usePerson, useSession } from '../../client/session.ts'
import { Callout, Card } from '../../ui/bits.tsx'
import { Button } from '../../ui/button.tsx'
import { Code } from '../../ui/code.tsx'
import { sayProblem } from '../../ui/overlays.tsx'

interface Credentials {
  bearer?: string
  user?: string
}

/** Single quotes keep a shell from reading anything into it. */
const quoted = (text: string) => `'${text.replaceAll("'", `'\\''`)}'`

function curl(method: string, url: string, token: string, body?: object) {
  const lines = [
    `curl${method === 'GET' ? '' : ` -X ${method}`} ${quoted(url)}`,
    `  -H "Authorization: Bearer ${token}"`
  ]
  if (body) lines.push(`  -H 'Content-Type: application/json'`, `  -d ${quoted(JSON.stringify(body))}`)
  return lines.join(' \\\n')
}

export function Requests({ app }: { app: App }) {
  const { urls } = useSession()
  const { user } = usePerson()
  const [credentials, setCredentials] = useState<Credentials>({})
  const fill = useMutation({
    gcTime: 0,
    mutationFn: async () => {
      const { access_token: bearer } = await ask<{ access_token: string }>('POST', '/admin/tokens', {
        body: { kind: 'app', app_id: app.id }
      })
      if (!user) return { bearer }
      const { access_token } = await ask<{ access_token: string }>('POST', '/admin/tokens', {
        body: { kind: 'oauth2', app_id: app.id, user_id: user.id, expires_in: 7_200 }
      })
      return { bearer, user: access_token }
    },
    onSuccess: setCredentials,
    onError: sayProblem
  })
  const filled = credentials.bearer !== undefined
  const bearer = credentials.bearer ?? '$BEARER_TOKEN'
  const userToken = credentials.user ?? '$USER_TOKEN'
  const requests: [string, string, string][] = [
    ['List the webhooks', 'As the app.', curl('GET', `${urls.main}/2/webhooks`, bearer)],
    [
      'Register a webhook',
      'A challenge is sent to the address at once.',
      curl('POST', `${urls.main}/2/webhooks`, bearer, { url: 'https://hooks.example.com/herald' })
    ],
    [
      'Subscribe to an event',
      'Public events need no consent; add "webhook_id" to have them delivered.',
      curl('POST', `${urls.main}/2/activity/subscriptions`, bearer, {
        event_type: 'profile.update.bio',
        filter: { user_id: user?.id ?? '42' }
      })
    ],
    [
      'Stream events',
      'Stays open; an empty line is a sign of life.',
      curl('GET', `${urls.main}/2/activity/stream`, bearer).replace('curl ', 'curl -N ')
    ],
    [
      'Publish an event',
      'What the host platform does, with the admin token.',
      curl('POST', `${urls.main}/admin/events`, '$ADMIN_TOKEN', {
        events: [
          {
            event_type: 'profile.update.bio',
            user_id: user?.id ?? '42',
            payload: { before: 'Hello', after: 'Hello from Herald' }
          }
        ]
      })
    ],
    ['List the ad accounts', 'For the user, in production.', curl('GET', `${urls.main}/12/accounts`, userToken)],
    ['The same in the sandbox', 'Another port, other data.', curl('GET', `${urls.sandbox}/12/accounts`, userToken)]
  ]
  return (
    <div className="stack" style={{ maxWidth: '56rem' }}>
      <div className="row spread wrap">
        <p className="muted grow">
          {filled
            ? `With the bearer token of ${app.name}${credentials.user ? ` and a token of @${user?.username} that ends in 2 hours` : ''}.`
            : 'Set BEARER_TOKEN and USER_TOKEN in your shell, or have them filled in.'}
        </p>
        {filled ? (
          <Button
            onClick={() => {
              setCredentials({})
              fill.reset()
            }}
          >
            Take the credentials out
          </Button>
        ) : (
          <Button icon="key" busy={fill.isPending && 'Asking …'} onClick={() => fill.mutate()}>
            Fill in my credentials
          </Button>
        )}
      </div>
      {filled ? (
        <Callout tone="warn">The requests below contain secrets. They are gone when you leave this page.</Callout>
      ) : null}
      {requests.map(([title, about, text]) => (
        <Card key={title} title={title}>
          <div className="stack tight">
            <p className="muted small">{about}</p>
            <Code text={text} label={title.toLowerCase()} wrap />
          </div>
        </Card>
      ))}
    </div>
  )
}
