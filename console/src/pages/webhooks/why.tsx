/** "Why did this not arrive?": an event id in, the reason out, and the button that helps. */
import { useMutation, useQuery, useQueryClient } from '@tanstack/react-query'
import { getRouteApi, Link } from '@tanstack/react-router'
import { type FormEvent, useState } from 'react'
import { ask } from '../../client/api.ts'
import type { Delivery, Webhook } from '../../client/resources.ts'
import { Badge, Loading, Problem, type Tone } from '../../ui/bits.tsx'
import { Button } from '../../ui/button.tsx'
import { TextField } from '../../ui/fields.tsx'
import { say, sayProblem } from '../../ui/overlays.tsx'
import type { Subscribed } from '../activity/queries.ts'
import { StateBadge } from './deliveries.tsx'

const route = getRouteApi('/shell/webhooks/$webhookId')

interface Answer {
  verdict: string
  sentences: string[]
  next?: string
  deliveries: Delivery[]
}

const VERDICTS: Record<string, { tone: Tone; text: string }> = {
  delivered: { tone: 'good', text: 'It was delivered' },
  waiting: { tone: 'plain', text: 'It waits for its first attempt' },
  retrying: { tone: 'warn', text: 'It is being retried' },
  failed: { tone: 'bad', text: 'It failed for good' },
  held: { tone: 'warn', text: 'It is held, because the webhook is invalid' },
  not_matched: { tone: 'warn', text: 'Nothing asked for it' },
  webhook_registered_later: { tone: 'warn', text: 'It happened before the webhook was registered' },
  event_unknown: { tone: 'bad', text: 'There was no such event' },
  event_expired: { tone: 'warn', text: 'It is too old to tell' }
}

export function Why({ webhook }: { webhook: Webhook }) {
  const { event } = route.useSearch()
  const navigate = route.useNavigate()
  const [text, setText] = useState(event ?? '')
  const why = useQuery({
    queryKey: ['why', webhook.id, event],
    enabled: event !== undefined,
    queryFn: ({ signal }) =>
      ask<Answer>('GET', `/admin/webhooks/${webhook.id}/why`, { query: { event_id: event }, signal })
  })
  const submit = (submitted: FormEvent) => {
    submitted.preventDefault()
    void navigate({ search: { tab: 'why', event: text.trim() || undefined } })
  }
  return (
    <div className="stack" style={{ maxWidth: '48rem' }}>
      <form className="row" onSubmit={submit} style={{ alignItems: 'end' }}>
        <div className="grow">
          <TextField
            label="Event id"
            value={text}
            onChange={({ target }) => setText(target.value)}
            placeholder="The id that POST /admin/events answered with"
            className="mono"
            required
            spellCheck={false}
          />
        </div>
        <Button type="submit" variant="primary" icon="question" style={{ minHeight: 34 }}>
          Find out
        </Button>
      </form>
      {why.error ? <Problem error={why.error} retry={() => void why.refetch()} /> : null}
      {why.isFetching && !why.data ? <Loading what="the reason" /> : null}
      {why.data ? <Explanation answer={why.data} webhook={webhook} eventId={event!} /> : null}
    </div>
  )
}

function Explanation({ answer, webhook, eventId }: { answer: Answer; webhook: Webhook; eventId: string }) {
  const client = useQueryClient()
  const { tone, text } = VERDICTS[answer.verdict] ?? { tone: 'plain' as const, text: answer.verdict }
  const stuck = answer.deliveries.find(({ state }) => state === 'failed' || state === 'held')
  const resend = useMutation({
    mutationFn: () => ask('POST', `/admin/deliveries/${stuck!.id}/resend`),
    onSuccess: async () => {
      await client.invalidateQueries({ queryKey: ['why'] })
      say('It is sent once more')
    },
    onError: sayProblem
  })
  return (
    <output className="card">
      <div className="body stack">
        <div>
          <Badge tone={tone} dot>
            {text}
          </Badge>
        </div>
        {answer.sentences.map((sentence) => (
          <p key={sentence}>{sentence}</p>
        ))}
        {answer.verdict === 'not_matched' ? <Subscriptions webhook={webhook} eventId={eventId} /> : null}
        {answer.deliveries.length > 0 ? (
          <ul className="stack tight">
            {answer.deliveries.map(({ id, state }) => (
              <li key={id} className="row">
                <StateBadge state={state} />
                <Link to="/deliveries/$deliveryId" params={{ deliveryId: id }}>
                  Delivery {id}
                </Link>
              </li>
            ))}
          </ul>
        ) : null}
        {stuck ? (
          <div>
            <Button icon="replay" busy={resend.isPending && 'Sending …'} onClick={() => resend.mutate()}>
              Send it again
            </Button>
          </div>
        ) : null}
      </div>
    </output>
  )
}

const ASKED_MAX = 10

interface Reason {
  summary: string
  reasons: { sentence: string }[]
}

/** Each subscription that leads to the webhook, and what kept the event from it. */
function Subscriptions({ webhook, eventId }: { webhook: Webhook; eventId: string }) {
  const reasons = useQuery({
    queryKey: ['why', webhook.id, eventId, 'subscriptions'],
    queryFn: async ({ signal }) => {
      const all = await ask<Subscribed[]>('GET', '/admin/activity/subscriptions', {
        query: { app_id: webhook.app_id, max_results: 1_000 },
        signal
      })
      const leading = all.filter(({ webhook_id }) => webhook_id === webhook.id)
      const asked = leading.slice(0, ASKED_MAX).map(async (subscription) => {
        const of =
          subscription.product === 'activity'
            ? { subscription_id: subscription.id }
            : { app_id: subscription.app_id, user_id: subscription.user_id }
        const reason = await ask<Reason>('GET', '/admin/activity/explain', {
          query: { event_id: eventId, ...of },
          signal
        })
        return { subscription, reason }
      })
      return { found: await Promise.all(asked), more: leading.length - asked.length }
    }
  })
  if (reasons.error) return <Problem error={reasons.error} />
  if (!reasons.data) return <Loading what="the subscriptions" />
  const { found, more } = reasons.data
  if (found.length === 0) return <p>No subscription leads to this webhook at all.</p>
  return (
    <ul className="stack tight">
      {found.map(({ subscription, reason }) => (
        <li key={subscription.id}>
          <strong>{subscription.event_type ?? 'account activity'}</strong>{' '}
          {subscription.tag ? <Badge>{subscription.tag}</Badge> : null}
          <p>{reason.reasons.map(({ sentence }) => sentence).join(' ') || reason.summary}</p>
        </li>
      ))}
      {more > 0 ? <li className="muted">and {more} more under Activity</li> : null}
    </ul>
  )
}
