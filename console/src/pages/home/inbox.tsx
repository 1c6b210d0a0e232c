/** What the built-in consumer received, live; and how it behaves, to see what Herald does then. */
import './inbox.css'
import { useMutation, useQuery, useQueryClient } from '@tanstack/react-query'
import { Link } from '@tanstack/react-router'
import { useState } from 'react'
import { ask } from '../../client/api.ts'
import { bytes, plural } from '../../client/format.ts'
import { Badge, Card, CopyButton, Empty, Loading, Problem, Time } from '../../ui/bits.tsx'
import { Button } from '../../ui/button.tsx'
import { Json } from '../../ui/code.tsx'
import { Select } from '../../ui/fields.tsx'
import { sayProblem } from '../../ui/overlays.tsx'
import { Page } from '../../ui/page.tsx'
import { type InboxRequest, inboxQuery, inboxRequestsQuery } from './queries.ts'

const BEHAVIOURS = [
  ['ok', 'Answers well'],
  ['slow', 'Answers after 3 s'],
  ['fail', 'Answers 500'],
  ['lie', 'Fails challenges'],
  ['stall', 'Never answers']
] as const

export function InboxPage() {
  const client = useQueryClient()
  const inbox = useQuery(inboxQuery)
  const requests = useQuery(inboxRequestsQuery)
  const [open, setOpen] = useState<number>()
  const behave = useMutation({
    mutationFn: (behaviour: string) => ask('PUT', '/admin/inbox', { body: { behaviour } }),
    onSuccess: () => client.invalidateQueries(inboxQuery),
    onError: sayProblem
  })
  const clear = useMutation({
    mutationFn: () => ask('DELETE', '/admin/inbox/requests'),
    onSuccess: () => client.invalidateQueries({ queryKey: ['inbox'] }),
    onError: sayProblem
  })
  const error = inbox.error ?? requests.error
  return (
    <Page
      title="Inbox"
      lead="A consumer of webhooks inside Herald, to try deliveries with. It is only there on a developer’s own server."
      actions={
        inbox.data?.available ? (
          <>
            <Select
              label="How the inbox answers"
              value={inbox.data.behaviour}
              onChange={(event) => behave.mutate(event.target.value)}
              choices={BEHAVIOURS}
            />
            <Button
              icon="trash"
              disabled={!requests.data?.length}
              busy={clear.isPending && 'Clearing …'}
              onClick={() => clear.mutate()}
            >
              Clear
            </Button>
          </>
        ) : undefined
      }
    >
      {error ? <Problem error={error} retry={() => void requests.refetch()} /> : null}
      {inbox.data?.available === false ? (
        <Empty icon="inbox" title="There is no inbox on this server">
          Others may reach this server, so it has none. HERALD_DEV_LISTENER=on turns it on; npx herald listen starts a
          receiver of your own.
        </Empty>
      ) : inbox.data ? (
        <div className="stack">
          <div className="row wrap muted small">
            Register it as <code>{inbox.data.url}</code>
            <CopyButton text={inbox.data.url} label="Copy the address" />
            <span>with the id of an app in place of {'{app_id}'}.</span>
          </div>
          <Card title={<Title requests={requests.data} />} bare>
            {requests.data === undefined ? (
              <div className="body">
                <Loading what="the inbox" />
              </div>
            ) : requests.data.length === 0 ? (
              <Empty icon="inbox" title="Nothing has arrived yet" action={<Link to="/">Go to the first steps</Link>}>
                Register the inbox as a webhook and publish an event.
              </Empty>
            ) : (
              <ul>
                {requests.data.map((request) => (
                  <Received
                    key={request.position}
                    request={request}
                    open={open === request.position}
                    toggle={() => setOpen(open === request.position ? undefined : request.position)}
                  />
                ))}
              </ul>
            )}
          </Card>
        </div>
      ) : (
        <Loading what="the inbox" />
      )}
    </Page>
  )
}

const Title = ({ requests }: { requests: InboxRequest[] | undefined }) => (
  <span className="row">
    <span className="live-dot" />
    {requests === undefined ? 'Received' : plural(requests.length, 'request')}
  </span>
)

const Received = ({ request, open, toggle }: { request: InboxRequest; open: boolean; toggle: () => void }) => (
  <li className="inbox-item">
    <button type="button" className="inbox-line" aria-expanded={open} onClick={toggle}>
      <Badge tone={request.what === 'crc' ? 'accent' : 'plain'}>{request.what === 'crc' ? 'Challenge' : 'Event'}</Badge>
      <span className="mono ellipsis grow">{request.what === 'crc' ? 'GET, a CRC' : summary(request.body)}</span>
      <Badge tone={request.signature === 'good' ? 'good' : 'bad'}>signature {request.signature}</Badge>
      <Badge tone={request.answered >= 200 && request.answered < 300 ? 'good' : 'bad'}>
        {request.answered === 0 ? 'no answer' : `answered ${request.answered}`}
      </Badge>
      <Time iso={request.received_at} form="relative" />
    </button>
    {open ? (
      <div className="inbox-body stack tight">
        <div className="row wrap small muted">
          {bytes(request.bytes)} · <Time iso={request.received_at} form="full" />
          {request.delivery_id ? (
            <Link to="/deliveries/$deliveryId" params={{ deliveryId: request.delivery_id }}>
              Delivery {request.delivery_id}
            </Link>
          ) : null}
        </div>
        {request.body ? <Json text={request.body} label="the body" /> : null}
      </div>
    ) : null}
  </li>
)

/** The kind of event, where the body says it. */
function summary(body: string) {
  const type = /"event_type":"([^"]+)"/.exec(body)?.[1]
  return type ?? body.slice(0, 120)
}
