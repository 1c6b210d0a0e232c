/** From nothing to a delivered event, with the built-in inbox as the consumer. What is done is read from the server, not remembered. */
import { useMutation, useQuery, useQueryClient } from '@tanstack/react-query'
import { Link } from '@tanstack/react-router'
import { type ReactNode, useState } from 'react'
import { ask, request } from '../../client/api.ts'
import {
  type App,
  appsQuery,
  type PageOf,
  type Subscription,
  usersQuery,
  webhooksQuery
} from '../../client/resources.ts'
import { usePerson } from '../../client/session.ts'
import { Badge, Card, Problem, Time } from '../../ui/bits.tsx'
import { Button } from '../../ui/button.tsx'
import { Json } from '../../ui/code.tsx'
import { Select } from '../../ui/fields.tsx'
import { Icon } from '../../ui/icon.tsx'
import { type InboxRequest, inboxQuery, inboxRequestsQuery } from './queries.ts'

/** Public, so nobody's consent is needed. */
const EVENT_TYPE = 'profile.update.bio'
const HIDDEN_KEY = 'herald-first-steps-hidden'

export function FirstSteps() {
  const [hidden, setHidden] = useState(() => localStorage.getItem(HIDDEN_KEY) === '1')
  const { data: inbox } = useQuery(inboxQuery)
  const { data: apps } = useQuery(appsQuery)
  const show = (next: boolean) => {
    localStorage.setItem(HIDDEN_KEY, next ? '0' : '1')
    setHidden(!next)
  }
  if (!inbox?.available || !apps) return null
  if (hidden)
    return (
      <div>
        <Button variant="ghost" size="small" icon="bolt" onClick={() => show(true)}>
          Show the first steps
        </Button>
      </div>
    )
  return (
    <Card
      title="First steps: deliver an event"
      actions={
        <Button
          variant="ghost"
          size="small"
          icon="cross"
          aria-label="Hide the first steps"
          onClick={() => show(false)}
        />
      }
    >
      <Steps apps={apps.filter(({ suspended }) => !suspended)} inboxUrl={inbox.url} />
    </Card>
  )
}

function Steps({ apps, inboxUrl }: { apps: App[]; inboxUrl: string }) {
  const client = useQueryClient()
  const person = usePerson()
  const [chosen, setChosen] = useState<string>()
  const app = apps.find(({ id }) => id === chosen) ?? apps[0]
  const { data: users } = useQuery(usersQuery)
  const userId = person.user?.id ?? users?.[0]?.id ?? '42'
  const { data: webhooks } = useQuery(webhooksQuery({ app_id: app?.id }))
  const url = app ? inboxUrl.replace('{app_id}', app.id) : ''
  const webhook = app ? webhooks?.data.find((each) => each.url === url) : undefined
  const subscriptionsKey = ['subscriptions', app?.id]
  const { data: subscriptions } = useQuery({
    queryKey: subscriptionsKey,
    enabled: app !== undefined,
    queryFn: ({ signal }) => request<PageOf<Subscription>>('GET', '/2/activity/subscriptions', { app: app!.id, signal })
  })
  const subscription = subscriptions?.data.find(
    (each) =>
      webhook && each.webhook_id === webhook.id && each.event_type === EVENT_TYPE && each.filter.user_id === userId
  )
  const { data: received } = useQuery({ ...inboxRequestsQuery, enabled: webhook !== undefined })
  const arrived = received?.find(
    (each) => each.what === 'event' && each.app_id === app?.id && each.body.includes(EVENT_TYPE)
  )

  const createApp = useMutation({
    mutationFn: () => ask('POST', '/admin/apps', { body: { name: 'My first app', ads_access: 'read-write' } }),
    onSuccess: () => client.invalidateQueries(appsQuery)
  })
  const register = useMutation({
    mutationFn: () => ask('POST', '/2/webhooks', { app: app!.id, body: { url } }),
    onSuccess: () => client.invalidateQueries({ queryKey: ['webhooks'] })
  })
  const subscribe = useMutation({
    mutationFn: () =>
      ask('POST', '/2/activity/subscriptions', {
        app: app!.id,
        body: { event_type: EVENT_TYPE, filter: { user_id: userId }, tag: 'first steps', webhook_id: webhook!.id }
      }),
    onSuccess: () => client.invalidateQueries({ queryKey: subscriptionsKey })
  })
  const publish = useMutation({
    mutationFn: () =>
      request('POST', '/admin/events', {
        body: {
          events: [
            { event_type: EVENT_TYPE, user_id: userId, payload: { before: 'Hello', after: 'Hello from Herald' } }
          ]
        }
      }),
    onSuccess: () => client.invalidateQueries({ queryKey: ['inbox'] })
  })
  const error = createApp.error ?? register.error ?? subscribe.error ?? publish.error
  const next = !app ? 0 : !webhook ? 1 : !subscription ? 2 : 3

  return (
    <div className="stack">
      <ol className="steps">
        <Step
          number={1}
          done={app !== undefined}
          next={next === 0}
          title="Have an app"
          action={
            apps.length > 1 ? (
              <Select
                label="App"
                value={app?.id ?? ''}
                onChange={(event) => setChosen(event.target.value)}
                choices={apps.map(({ id, name }) => [id, name])}
              />
            ) : app ? (
              <Link to="/apps/$appId" params={{ appId: app.id }}>
                {app.name}
              </Link>
            ) : (
              <Button variant="primary" busy={createApp.isPending && 'Creating …'} onClick={() => createApp.mutate()}>
                Create an app
              </Button>
            )
          }
        >
          An app owns webhooks and has the secret that signs what they get.
        </Step>
        <Step
          number={2}
          done={webhook !== undefined}
          next={next === 1}
          title="Register a webhook"
          action={
            webhook ? (
              <Link to="/webhooks/$webhookId" params={{ webhookId: webhook.id }}>
                Open the webhook
              </Link>
            ) : (
              <Button
                variant={next === 1 ? 'primary' : 'secondary'}
                disabled={next < 1}
                busy={register.isPending && 'Checking …'}
                onClick={() => register.mutate()}
              >
                Register the inbox
              </Button>
            )
          }
        >
          The built-in inbox at <code>{url || inboxUrl}</code> is a real consumer: Herald sends it a challenge, and it
          answers with the app’s secret.
        </Step>
        <Step
          number={3}
          done={subscription !== undefined}
          next={next === 2}
          title="Subscribe to an event"
          action={
            subscription ? (
              <Badge tone="good">subscribed</Badge>
            ) : (
              <Button
                variant={next === 2 ? 'primary' : 'secondary'}
                disabled={next < 2}
                busy={subscribe.isPending && 'Subscribing …'}
                onClick={() => subscribe.mutate()}
              >
                Subscribe
              </Button>
            )
          }
        >
          <code>{EVENT_TYPE}</code> of user <code>{userId}</code>, delivered to the inbox.
        </Step>
        <Step
          number={4}
          done={arrived !== undefined}
          next={next === 3}
          title="Publish an event and watch it arrive"
          action={
            <Button
              variant={next === 3 && !arrived ? 'primary' : 'secondary'}
              icon="send"
              disabled={next < 3}
              busy={publish.isPending && 'Publishing …'}
              onClick={() => publish.mutate()}
            >
              {arrived ? 'Publish another' : 'Publish'}
            </Button>
          }
        >
          What the host platform does with <code>POST /admin/events</code>.
        </Step>
      </ol>
      {error ? <Problem error={error} /> : null}
      {arrived ? (
        <Arrived request={arrived} />
      ) : publish.isSuccess ? (
        <p className="muted">Published; waiting for it to arrive …</p>
      ) : null}
    </div>
  )
}

const Step = ({
  number,
  done,
  next,
  title,
  action,
  children
}: {
  number: number
  done: boolean
  next: boolean
  title: string
  action: ReactNode
  children: ReactNode
}) => (
  <li>
    <span className={`step-mark ${done ? 'done' : next ? 'next' : ''}`}>
      {done ? <Icon name="check" size={14} /> : number}
      <span className="visually-hidden">{done ? ' done' : ''}</span>
    </span>
    <div>
      <h3>{title}</h3>
      <p className="muted small">{children}</p>
    </div>
    <div className="row">{action}</div>
  </li>
)

const Arrived = ({ request }: { request: InboxRequest }) => (
  <output className="stack tight" style={{ '--code-max': '15rem' } as React.CSSProperties}>
    <div className="row wrap spread">
      <span className="row">
        <Badge tone="good" dot>
          Delivered
        </Badge>
        <span className="muted small">
          <Time iso={request.received_at} form="relative" />, signature {request.signature}
        </span>
      </span>
      <span className="row">
        {request.delivery_id ? (
          <Link to="/deliveries/$deliveryId" params={{ deliveryId: request.delivery_id }}>
            See the delivery
          </Link>
        ) : null}
        <Link to="/inbox">Open the inbox</Link>
      </span>
    </div>
    <Json text={request.body} label="the event as it arrived" />
  </output>
)
