/** Every challenge of a webhook as a timeline: what was asked, what was seen. */
import { useInfiniteQuery } from '@tanstack/react-query'
import { milliseconds } from '../../client/format.ts'
import { type CrcCheck, pagesOf, type Webhook } from '../../client/resources.ts'
import { Badge, Empty, Loading, Problem, Time, type Tone } from '../../ui/bits.tsx'
import { Button } from '../../ui/button.tsx'
import { Code } from '../../ui/code.tsx'
import { Icon, type IconName } from '../../ui/icon.tsx'

const OUTCOMES: Record<string, { icon: IconName; tone: Tone; text: string }> = {
  pass: { icon: 'check', tone: 'good', text: 'Answered as it should be' },
  transient: { icon: 'clock', tone: 'warn', text: 'No usable answer; it is asked again' },
  definitive: { icon: 'cross', tone: 'bad', text: 'Wrong answer' }
}
const CAUSES: Record<string, string> = {
  create: 'at registration',
  put: 'asked for',
  tick: 'hourly',
  replay: 'before a replay'
}

export function Checks({ webhook }: { webhook: Webhook }) {
  const list = useInfiniteQuery({
    ...pagesOf<CrcCheck>(['checks', webhook.id], `/admin/webhooks/${webhook.id}/crc_checks`),
    refetchInterval: 5_000
  })
  const checks = list.data?.pages.flatMap((page) => page.data) ?? []
  if (list.error) return <Problem error={list.error} retry={() => void list.refetch()} />
  if (list.isPending) return <Loading what="challenges" />
  if (checks.length === 0) return <Empty icon="clock" title="No challenge was sent yet" />
  return (
    <div className="stack">
      <ol className="timeline" style={{ maxWidth: '56rem' }}>
        {checks.map((check) => (
          <Check key={check.id} check={check} />
        ))}
      </ol>
      {list.hasNextPage ? (
        <div>
          <Button busy={list.isFetchingNextPage && 'Loading …'} onClick={() => void list.fetchNextPage()}>
            Show older ones
          </Button>
        </div>
      ) : null}
    </div>
  )
}

function Check({ check }: { check: CrcCheck }) {
  const { icon, tone, text } = OUTCOMES[check.outcome] ?? { icon: 'info', tone: 'plain', text: check.outcome }
  return (
    <li>
      <span className={`mark ${tone}`}>
        <Icon name={icon} size={12} />
      </span>
      <div className="stack tight">
        <div className="row wrap spread">
          <span className="row wrap">
            <strong>{text}</strong>
            <span className="muted">{CAUSES[check.cause] ?? check.cause}</span>
            {check.status === null ? null : <Badge tone={check.status < 300 ? 'good' : 'bad'}>{check.status}</Badge>}
            {check.latency_ms === null ? null : <span className="muted num">{milliseconds(check.latency_ms)}</span>}
          </span>
          <Time iso={check.created_at} />
        </div>
        {check.detail ? <p>{check.detail}</p> : null}
        {check.outcome !== 'pass' && check.response ? (
          <Code label="the beginning of the answer" text={check.response} wrap />
        ) : null}
      </div>
    </li>
  )
}
