/** Status and servability at a glance. */
import { Badge } from '../../ui/bits.tsx'
import { readable, reasonTitle, STATUS_TONES } from './words.ts'

export const StatusBadge = ({ status, deleted = false }: { status: string; deleted?: boolean }) =>
  deleted ? <Badge tone="bad">Deleted</Badge> : <Badge tone={STATUS_TONES[status] ?? 'plain'}>{readable(status)}</Badge>

/** Serves, or the reasons why not. */
export function ServabilityBadge({
  servable,
  reasons = []
}: {
  servable: boolean | null | undefined
  /** Left out where they are told beside it. */
  reasons?: readonly string[]
}) {
  if (servable === undefined) return <span className="muted">…</span>
  if (servable === null) return <span className="muted">–</span>
  if (servable)
    return (
      <Badge tone="good" dot>
        Serving
      </Badge>
    )
  const [first, ...rest] = reasons
  return (
    <span className="row" title={reasons.map(reasonTitle).join(', ')}>
      <Badge tone="bad" dot>
        {first ? reasonTitle(first) : 'Not serving'}
      </Badge>
      {rest.length > 0 ? <span className="muted small nowrap">and {rest.length} more</span> : null}
    </span>
  )
}

export const APPROVAL_TONES = { ACCEPTED: 'good', UNDER_REVIEW: 'warn', REJECTED: 'bad' } as const

export const ApprovalBadge = ({ status }: { status: string }) => (
  <Badge tone={APPROVAL_TONES[status as keyof typeof APPROVAL_TONES] ?? 'plain'}>{readable(status)}</Badge>
)
