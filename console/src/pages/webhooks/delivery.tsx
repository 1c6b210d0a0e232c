/** One delivery: what was sent, what was answered, what comes next. */
import { useMutation, useQuery, useQueryClient } from '@tanstack/react-query'
import { Link } from '@tanstack/react-router'
import { ask } from '../../client/api.ts'
import { bytes, milliseconds, plural } from '../../client/format.ts'
import { LIVE_MS } from '../../client/query-client.ts'
import { type Attempt, type DeliveryDetail, deliveryQuery } from '../../client/resources.ts'
import { Badge, Callout, Facts, Id, Loading, Problem, Time, type Tone } from '../../ui/bits.tsx'
import { Button } from '../../ui/button.tsx'
import { Code, Json } from '../../ui/code.tsx'
import { Icon, type IconName } from '../../ui/icon.tsx'
import { say, sayProblem } from '../../ui/overlays.tsx'
import { StateBadge } from './deliveries.tsx'

export function DeliveryView({ id }: { id: string }) {
  const client = useQueryClient()
  const delivery = useQuery({ ...deliveryQuery(id), refetchInterval: LIVE_MS })
  const resend = useMutation({
    mutationFn: () => ask('POST', `/admin/deliveries/${id}/resend`),
    onSuccess: async () => {
      await client.invalidateQueries(deliveryQuery(id))
      say('It is sent once more', 'The same bytes under the same id.')
    },
    onError: sayProblem
  })
  if (delivery.error) return <Problem error={delivery.error} retry={() => void delivery.refetch()} />
  if (!delivery.data) return <Loading what="the delivery" />
  const { data } = delivery
  const queued = data.next_attempt_at !== null
  return (
    <div className="stack loose">
      <div className="row spread wrap">
        <span className="row wrap">
          <StateBadge state={data.state} />
          <span className="muted">{plural(data.attempts, 'attempt')}</span>
        </span>
        <Button icon="replay" disabled={queued} busy={resend.isPending && 'Sending …'} onClick={() => resend.mutate()}>
          Send again
        </Button>
      </div>
      <Outlook delivery={data} />
      <Facts
        items={[
          ['Delivery', <Id key="id" value={data.id} />],
          data.event_id !== null && ['Event', <Id key="event" value={data.event_id} />],
          ['Kind', data.kind],
          ['Created', <Time key="at" iso={data.created_at} form="full" />],
          [
            'To',
            data.url === null ? (
              'a webhook that was deleted'
            ) : (
              <Link key="to" to="/webhooks/$webhookId" params={{ webhookId: data.webhook_id }}>
                {data.url}
              </Link>
            )
          ]
        ]}
      />
      <section className="stack tight">
        <h2>Attempts</h2>
        {data.attempt_records.length === 0 ? (
          <p className="muted">None yet.</p>
        ) : (
          <ol className="timeline">
            {data.attempt_records.toReversed().map((attempt) => (
              <AttemptItem key={`${attempt.created_at} ${attempt.attempt} ${attempt.cause}`} attempt={attempt} />
            ))}
          </ol>
        )}
      </section>
      <section className="stack tight">
        <h2>Body</h2>
        <p className="muted small">{bytes(data.body_bytes)}, as it was signed and sent.</p>
        <Json text={data.body} label="the body" />
      </section>
    </div>
  )
}

function Outlook({ delivery }: { delivery: DeliveryDetail }) {
  if (delivery.next_attempt_at)
    return (
      <Callout tone="accent" role="status">
        The next attempt{delivery.next_attempt_cause === 'live' ? '' : ` (${delivery.next_attempt_cause})`} is due{' '}
        <Time iso={delivery.next_attempt_at} form="relative" />.
      </Callout>
    )
  if (delivery.state === 'failed')
    return (
      <Callout tone="bad">
        It failed for good: {delivery.detail ?? delivery.error ?? 'all attempts are used up'}. Mend the consumer, then
        send it again or replay that time.
      </Callout>
    )
  if (delivery.state === 'held')
    return (
      <Callout tone="warn">
        It is held: {delivery.detail ?? 'the webhook is invalid'}. When the webhook is valid again, send it again or
        replay that time.
      </Callout>
    )
  return null
}

const OUTCOMES: Record<string, { icon: IconName; tone: Tone; text: string }> = {
  delivered: { icon: 'check', tone: 'good', text: 'Acknowledged' },
  retry: { icon: 'replay', tone: 'warn', text: 'Not acknowledged, tried again' },
  failed: { icon: 'cross', tone: 'bad', text: 'Failed for good' },
  held: { icon: 'clock', tone: 'warn', text: 'Held, nothing was sent' }
}

function AttemptItem({ attempt }: { attempt: Attempt }) {
  const { icon, tone, text } = OUTCOMES[attempt.outcome] ?? { icon: 'info', tone: 'plain', text: attempt.outcome }
  return (
    <li>
      <span className={`mark ${tone}`}>
        <Icon name={icon} size={12} />
      </span>
      <div className="stack tight">
        <div className="row wrap spread">
          <span className="row wrap">
            <strong>{text}</strong>
            {attempt.status === null ? null : (
              <Badge tone={attempt.status < 300 ? 'good' : 'bad'}>{attempt.status}</Badge>
            )}
            {attempt.cause === 'live' ? null : <Badge>{attempt.cause}</Badge>}
            {attempt.latency_ms === null ? null : <span className="muted num">{milliseconds(attempt.latency_ms)}</span>}
          </span>
          <Time iso={attempt.created_at} />
        </div>
        {attempt.error || attempt.detail ? (
          <p className="small">{[attempt.error, attempt.detail].filter(Boolean).join(': ')}</p>
        ) : null}
        {attempt.next_attempt_at ? (
          <p className="muted small">
            The next was due at <Time iso={attempt.next_attempt_at} />.
          </p>
        ) : null}
        {attempt.request_headers || attempt.response ? (
          <details>
            <summary className="small">Request and answer</summary>
            <div className="stack tight" style={{ marginTop: '0.5rem' }}>
              {attempt.request_headers ? (
                <Code
                  label="the request headers"
                  text={Object.entries(attempt.request_headers)
                    .map(([name, value]) => `${name}: ${value}`)
                    .join('\n')}
                />
              ) : null}
              {attempt.request_body ? <Json text={attempt.request_body} label="the body of this attempt" /> : null}
              {attempt.response ? <Code label="the beginning of the answer" text={attempt.response} wrap /> : null}
            </div>
          </details>
        ) : null}
      </div>
    </li>
  )
}
