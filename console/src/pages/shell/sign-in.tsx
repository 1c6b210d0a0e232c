import { useQueryClient } from '@tanstack/react-query'
import { getRouteApi, useNavigate } from '@tanstack/react-router'
import { type FormEvent, useEffect, useState } from 'react'
import { sessionQuery, signIn } from '../../client/session.ts'
import { Problem, Segmented } from '../../ui/bits.tsx'
import { Button } from '../../ui/button.tsx'
import { TextField } from '../../ui/fields.tsx'
import { Logo } from './logo.tsx'

const route = getRouteApi('/sign-in')

export function SignIn() {
  const { to } = route.useSearch()
  const navigate = useNavigate()
  const client = useQueryClient()
  const [as, setAs] = useState<'person' | 'operator'>('person')
  const [state, setState] = useState<{ busy: boolean; error?: unknown }>({ busy: false })
  useEffect(() => {
    document.title = 'Sign in · Herald'
  }, [])

  const submit = async (event: FormEvent<HTMLFormElement>) => {
    event.preventDefault()
    const form = new FormData(event.currentTarget)
    const text = (name: string) => String(form.get(name) ?? '')
    setState({ busy: true })
    try {
      const session = await signIn(
        as === 'person'
          ? { username: text('username'), password: text('password') }
          : { admin_token: text('admin_token') }
      )
      client.clear()
      client.setQueryData(sessionQuery.queryKey, session)
      await navigate({ to: to ?? '/', replace: true })
    } catch (error) {
      setState({ busy: false, error })
    }
  }

  return (
    <main className="sign-in">
      <div className="sign-in-card stack loose">
        <div className="stack tight">
          <Logo size={34} />
          <h1>Sign in to Herald</h1>
        </div>
        <Segmented
          label="Sign in as"
          value={as}
          onChange={(next) => {
            setAs(next)
            setState({ busy: false })
          }}
          options={[
            ['person', 'Username'],
            ['operator', 'Admin token']
          ]}
        />
        <form className="stack" onSubmit={(event) => void submit(event)}>
          {as === 'person' ? (
            <>
              <TextField
                key="username"
                label="Username"
                name="username"
                autoComplete="username"
                autoCapitalize="none"
                spellCheck={false}
                required
                autoFocus
              />
              <TextField
                key="password"
                label="Password"
                name="password"
                type="password"
                autoComplete="current-password"
                required
                hint="The demo user’s password is in credentials.json in the data directory."
              />
            </>
          ) : (
            <TextField
              key="token"
              label="Admin token"
              name="admin_token"
              type="password"
              autoComplete="off"
              required
              autoFocus
              hint="The token of the admin API: HERALD_ADMIN_TOKEN, or admin_token in credentials.json."
            />
          )}
          {state.error ? <Problem error={state.error} /> : null}
          <Button type="submit" variant="primary" size="wide" busy={state.busy && 'Signing in …'}>
            Sign in
          </Button>
        </form>
      </div>
    </main>
  )
}
