/** One webhook: is it valid and why, what was sent to it, and what can be done about it. */
import { useMutation, useQuery, useQueryClient } from '@tanstack/react-query'
import { getRouteApi, Link } from '@tanstack/react-router'
import { useState } from 'react'
import { ask } from '../../client/api.ts'
import { compact, percent } from '../../client/format.ts'
import { LIVE_MS } from '../../client/query-client.ts'
import { appsQuery, type Webhook, webhookQuery } from '../../client/resources.ts'
import { Callout, CopyButton, Loading, Problem, Tile, Time } from '../../ui/bits.tsx'
import { Button } from '../../ui/button.tsx'
import { Confirm, Menu, say, sayProblem } from '../../ui/overlays.tsx'
import { Page } from '../../ui/page.tsx'
import { Tabs } from '../../ui/tabs.tsx'
import { Checks } from './checks.tsx'
import { Deliveries } from './deliveries.tsx'
import { ReplayDialog, Replays } from './replays.tsx'
import { Validity } from './validity.tsx'
import { Why } from './why.tsx'

const route = getRouteApi('/shell/webhooks/$webhookId')
const TABS = [
  ['deliveries', 'Deliveries'],
  ['checks', 'Challenges'],
  ['replays', 'Replays'],
  ['why', 'Why did this not arrive?']
] as const

export function WebhookPage() {
  const { webhookId } = route.useParams()
  const { tab = 'deliveries' } = route.useSearch()
  const navigate = route.useNavigate()
  const webhook = useQuery({ ...webhookQuery(webhookId), refetchInterval: LIVE_MS })
  const { data: apps } = useQuery(appsQuery)
  const above = <Link to="/webhooks">Webhooks</Link>
  if (!webhook.data)
    return (
      <Page title="Webhook" above={above}>
        {webhook.error ? (
          <Problem error={webhook.error} retry={() => void webhook.refetch()} />
        ) : (
          <Loading what="the webhook" />
        )}
      </Page>
    )
  const { data } = webhook
  const app = apps?.find(({ id }) => id === data.app_id)
  return (
    <Page
      title={data.url.replace(/^https:\/\//, '')}
      above={above}
      lead={
        <span className="row wrap">
          <Validity webhook={data} />
          <span>
            of{' '}
            <Link to="/apps/$appId" params={{ appId: data.app_id }}>
              {app?.name ?? data.app_id}
            </Link>
          </span>
          <span className="row">
            id <code>{data.id}</code>
            <CopyButton text={data.id} label="Copy the id" />
          </span>
        </span>
      }
      actions={<Actions webhook={data} />}
    >
      <div className="stack" style={{ marginBottom: '1.2rem' }}>
        {data.valid ? null : <Invalid webhook={data} />}
        <Figures webhook={data} />
      </div>
      <Tabs
        label="About this webhook"
        tabs={TABS}
        value={tab}
        onChange={(next) => void navigate({ search: { tab: next === 'deliveries' ? undefined : next } })}
      >
        {tab === 'deliveries' ? <Deliveries webhook={data} /> : null}
        {tab === 'checks' ? <Checks webhook={data} /> : null}
        {tab === 'replays' ? <Replays webhook={data} /> : null}
        {tab === 'why' ? <Why webhook={data} /> : null}
      </Tabs>
    </Page>
  )
}

/** What a challenge found, in words. */
interface Validated {
  valid: boolean
  outcome: string
  detail: string | null
  error: string | null
  status: number | null
}

export function useValidate(webhook: Webhook) {
  const client = useQueryClient()
  return useMutation({
    mutationFn: () => ask<Validated>('POST', `/admin/webhooks/${webhook.id}/validate`),
    onSuccess: async ({ valid, detail, error }) => {
      await client.invalidateQueries()
      if (valid) say('The webhook is valid', 'It answered the challenge as it should.')
      else sayProblem(new Error(detail ?? error ?? 'The challenge was not answered as it should be.'))
    },
    onError: sayProblem
  })
}

function Invalid({ webhook }: { webhook: Webhook }) {
  const validate = useValidate(webhook)
  return (
    <Callout tone="bad">
      <div className="row spread wrap">
        <div className="stack tight" style={{ flex: '1 1 24rem' }}>
          <strong>
            Invalid since {webhook.invalid_since ? <Time iso={webhook.invalid_since} form="full" /> : 'a while'}:
            nothing is sent
          </strong>
          <span>{webhook.invalid_reason}</span>
          <span>
            Mend the consumer, then check again; what was held meanwhile can be replayed. <strong>Challenges</strong>{' '}
            shows every answer.
          </span>
        </div>
        <Button icon="refresh" busy={validate.isPending && 'Checking …'} onClick={() => validate.mutate()}>
          Check again now
        </Button>
      </div>
    </Callout>
  )
}

const CRC_NOTES: Record<string, string> = {
  pass: 'answered as it should be',
  transient: 'got no usable answer',
  definitive: 'got a wrong answer'
}

const Figures = ({ webhook }: { webhook: Webhook }) => (
  <div className="grid-4">
    <Tile
      label="Success, last hour"
      value={webhook.success_rate === null ? '–' : percent(webhook.success_rate)}
      tone={webhook.success_rate !== null && webhook.success_rate < 0.8 ? 'bad' : 'plain'}
      note={
        webhook.recent_attempts === 0
          ? 'nothing was sent'
          : `${compact(webhook.recent_delivered)} of ${compact(webhook.recent_attempts)} attempts`
      }
    />
    <Tile
      label="Waiting"
      value={`${compact(webhook.backlog)}${webhook.backlog_counted_to_end ? '' : '+'}`}
      note={
        webhook.oldest_due_at ? (
          <>
            the oldest is due <Time iso={webhook.oldest_due_at} form="relative" />
          </>
        ) : (
          'nothing is due'
        )
      }
    />
    <Tile
      label="Last challenge"
      value={webhook.last_crc_at ? <Time iso={webhook.last_crc_at} form="relative" /> : '–'}
      note={CRC_NOTES[webhook.last_crc_outcome ?? ''] ?? 'none yet'}
    />
    <Tile
      label="Next challenge"
      value={webhook.valid ? <Time iso={webhook.next_check_at} form="relative" /> : 'when you ask'}
      note={
        !webhook.valid
          ? 'nothing is asked while it is invalid'
          : webhook.next_check === 'expire'
            ? 'becomes invalid then without a good answer'
            : 'sent by itself'
      }
    />
  </div>
)

function Actions({ webhook }: { webhook: Webhook }) {
  const client = useQueryClient()
  const navigate = route.useNavigate()
  const validate = useValidate(webhook)
  const [dialog, setDialog] = useState<'replay' | 'delete'>()
  const test = useMutation({
    mutationFn: () => ask<{ delivery_id: string }>('POST', `/admin/webhooks/${webhook.id}/test_event`, { body: {} }),
    onSuccess: async ({ delivery_id }) => {
      await client.invalidateQueries({ queryKey: ['deliveries'] })
      await navigate({ search: { delivery: delivery_id } })
    },
    onError: sayProblem
  })
  return (
    <>
      <Button icon="send" disabled={!webhook.valid} busy={test.isPending && 'Sending …'} onClick={() => test.mutate()}>
        Send a test event
      </Button>
      <Button icon="replay" disabled={!webhook.valid} onClick={() => setDialog('replay')}>
        Replay …
      </Button>
      <Menu
        trigger={<Button icon="more" aria-label="More" />}
        entries={[
          { label: 'Send a challenge now', icon: 'refresh', onSelect: () => validate.mutate() },
          'separator',
          { label: 'Delete the webhook …', icon: 'trash', danger: true, onSelect: () => setDialog('delete') }
        ]}
      />
      <ReplayDialog open={dialog === 'replay'} onClose={() => setDialog(undefined)} webhook={webhook} />
      <Confirm
        open={dialog === 'delete'}
        onClose={() => setDialog(undefined)}
        title="Delete this webhook?"
        action="Delete"
        busy="Deleting …"
        onConfirm={async () => {
          await ask('DELETE', `/2/webhooks/${webhook.id}`, { app: webhook.app_id })
          await navigate({ to: '/webhooks' })
          await client.invalidateQueries({ queryKey: ['webhooks'] })
          say('The webhook is deleted')
        }}
      >
        Nothing is sent to {webhook.url} any more, what waits included, and subscriptions that deliver to it lose it.
        This cannot be undone; the address can be registered again.
      </Confirm>
    </>
  )
}
