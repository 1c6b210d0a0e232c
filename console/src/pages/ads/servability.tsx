/** Why something does not serve: each reason in words, with the button that mends it. */
import { useMutation } from '@tanstack/react-query'
import { Link } from '@tanstack/react-router'
import { useState } from 'react'
import { ask } from '../../client/api.ts'
import { adsPath } from '../../client/listener.ts'
import { usePerson } from '../../client/session.ts'
import { Badge } from '../../ui/bits.tsx'
import { Button } from '../../ui/button.tsx'
import { Icon } from '../../ui/icon.tsx'
import { say, sayProblem } from '../../ui/overlays.tsx'
import { CampaignDialog } from './campaign-form.tsx'
import { LineItemDialog } from './line-item-form.tsx'
import { MendDialog } from './mends.tsx'
import type { Campaign, LineItem, Mend, Reason, Servability } from './queries.ts'
import { useScope } from './scope.tsx'
import { plainly, reasonTitle, word } from './words.ts'

interface Props {
  servability: Servability
  campaign: Campaign
  /** Those that reasons may name. */
  lineItems: readonly LineItem[]
  /** What this is said of. */
  of: 'campaign' | 'line item'
}

const SHOWN_AT_FIRST = 8

export function ServabilityCard({ servability, campaign, lineItems, of }: Props) {
  const { servable, reasons } = servability
  const [all, setAll] = useState(false)
  const shown = all ? reasons : reasons.slice(0, SHOWN_AT_FIRST)
  if (servable === null) return null
  return (
    <section className={`card serving ${servable ? 'good' : 'bad'}`} aria-label="Servability">
      <header>
        <h2 className="row">
          <Icon name={servable ? 'check' : 'alert'} />
          {servable ? `This ${of} can be served` : `This ${of} does not serve`}
        </h2>
        {servable ? null : (
          <span className="muted">
            {reasons.length === 1 ? 'One thing stands in the way' : `${reasons.length} things stand in the way`}
          </span>
        )}
      </header>
      {servable ? null : (
        <ol className="reasons">
          {shown.map((reason) => (
            <ReasonRow
              key={`${reason.reason} ${reason.entity_id} ${reason.explanation}`}
              reason={reason}
              campaign={campaign}
              lineItem={lineItems.find(({ id }) => id === reason.entity_id)}
              of={of}
            />
          ))}
        </ol>
      )}
      {shown.length < reasons.length ? (
        <footer>
          <Button onClick={() => setAll(true)}>Show all {reasons.length}</Button>
        </footer>
      ) : null}
    </section>
  )
}

/** What is incomplete is named by what would complete it. */
const MISSING: [path: RegExp, title: string][] = [
  [/\/line_items$/, 'No line items'],
  [/\/(promoted_tweets|promoted_accounts|media_creatives)$/, 'Nothing to show'],
  [/\/targeting_criteria$/, 'No keywords'],
  [/\/line_items\//, 'No budget']
]
const titleOf = ({ reason, mend }: Reason) =>
  (reason === 'INCOMPLETE' && MISSING.find(([path]) => path.test(mend?.path ?? ''))?.[1]) || reasonTitle(reason)

interface RowProps {
  reason: Reason
  campaign: Campaign
  lineItem: LineItem | undefined
  of: Props['of']
}

function ReasonRow({ reason, campaign, lineItem, of }: RowProps) {
  const named = of === 'campaign' && reason.entity === 'line_item' && lineItem
  return (
    <li>
      <div className="stack tight reason-words" style={{ gap: '0.1rem' }}>
        <span className="row wrap">
          <strong>{titleOf(reason)}</strong>
          {named ? (
            <Link
              to="/ads/$accountId/line-items/$lineItemId"
              from="/ads/$accountId"
              params={{ lineItemId: lineItem.id }}
              className="small"
            >
              {lineItem.name ?? word(lineItem.objective)}
            </Link>
          ) : of === 'line item' && reason.entity === 'campaign' ? (
            <Badge>of the campaign</Badge>
          ) : null}
        </span>
        <span className="muted">{plainly(reason.explanation)}</span>
      </div>
      <MendButton reason={reason} campaign={campaign} lineItem={lineItem} />
    </li>
  )
}

/** What the button says, by the call that mends: its last part of the path and the parameter that is to be given. */
const LABELS: [test: (mend: Mend) => boolean, label: string][] = [
  [({ path, params }) => path.includes('/campaigns/') && params.entity_status === 'ACTIVE', 'Activate the campaign'],
  [({ params }) => params.entity_status === 'ACTIVE', 'Activate it'],
  [({ path }) => path.endsWith('/line_items'), 'Add a line item'],
  [({ path }) => path.endsWith('/promoted_tweets'), 'Add posts'],
  [({ path }) => path.endsWith('/promoted_accounts'), 'Promote an account'],
  [({ path }) => path.endsWith('/media_creatives'), 'Attach media'],
  [({ path }) => path.endsWith('/targeting_criteria'), 'Add keywords'],
  [({ params }) => 'daily_budget_amount_local_micro' in params, 'Set a budget'],
  [({ params }) => 'total_budget_amount_local_micro' in params, 'Raise the budget'],
  [({ params }) => 'bid_amount_local_micro' in params, 'Lower the bid'],
  [({ params }) => 'end_time' in params, 'Extend the end'],
  [({ params }) => 'start_time' in params, 'Start sooner']
]

function MendButton({ reason, campaign, lineItem }: Omit<RowProps, 'of'>) {
  const scope = useScope()
  const [open, setOpen] = useState(false)
  const { mend } = reason
  const needed = mend?.path.endsWith('/media_creatives') ? 'creatives.write' : 'campaigns.write'
  const once = useMutation({
    mutationFn: ({ method, path, params }: Mend) =>
      ask(method, adsPath(scope.listener, path.replace(/^\/12/, '')), { body: params }),
    onSuccess: async () => {
      await scope.changed()
      say('Done')
    },
    onError: sayProblem
  })
  if (!mend) return <OperatorMend reason={reason} lineItem={lineItem} />
  if (!scope.may(needed)) return <span className="muted small">Your role may not change this</span>
  if (mend.method === 'GET') return <FundingMend campaign={campaign} />
  const label = LABELS.find(([test]) => test(mend))?.[1] ?? 'Mend it'
  const close = () => setOpen(false)
  // Nothing to be filled in: one press does it.
  if (Object.values(mend.params).every((value) => !value.startsWith(':')))
    return (
      <Button variant="primary" busy={once.isPending && 'Mending …'} onClick={() => once.mutate(mend)}>
        {label}
      </Button>
    )
  return (
    <>
      <Button variant="primary" onClick={() => setOpen(true)}>
        {label} …
      </Button>
      {mend.path.endsWith('/line_items') && mend.method === 'POST' ? (
        <LineItemDialog open={open} onClose={close} campaign={campaign} />
      ) : (
        <MendDialog open={open} onClose={close} title={label} mend={mend} campaign={campaign} lineItem={lineItem} />
      )}
    </>
  )
}

/** A campaign keeps its funding for good, so what cannot fund is mended by a copy under another. */
function FundingMend({ campaign }: { campaign: Campaign }) {
  const { accountId } = useScope()
  const [copying, setCopying] = useState(false)
  return (
    <span className="row wrap">
      <Link to="/ads/$accountId" params={{ accountId }} search={{ tab: 'funding' }} className="button">
        See funding
      </Link>
      <Button variant="primary" onClick={() => setCopying(true)}>
        Copy under other funding …
      </Button>
      <CampaignDialog open={copying} onClose={() => setCopying(false)} template={campaign} />
    </span>
  )
}

/** What only the operator decides is offered to operators; for everybody else it is a matter of time. */
function OperatorMend({ reason, lineItem }: Pick<RowProps, 'reason' | 'lineItem'>) {
  const { operator } = usePerson()
  const scope = useScope()
  const accept = useMutation({
    mutationFn: () => ask('PUT', `/admin/ad_accounts/${scope.accountId}`, { body: { approval_status: 'ACCEPTED' } }),
    onSuccess: async () => {
      await scope.changed()
      say('The account is accepted')
    },
    onError: sayProblem
  })
  if (operator && reason.entity === 'account')
    return (
      <Button variant="primary" busy={accept.isPending && 'Accepting …'} onClick={() => accept.mutate()}>
        Accept the account
      </Button>
    )
  if (reason.reason === 'CONTENT_REVIEW_PROBLEM' && lineItem)
    return (
      <Link
        to="/ads/$accountId/line-items/$lineItemId"
        from="/ads/$accountId"
        params={{ lineItemId: lineItem.id }}
        search={{ tab: 'creatives' }}
        className="button"
      >
        {operator ? 'Review the creatives' : 'See the creatives'}
      </Link>
    )
  return reason.reason === 'DELETED' ? null : <span className="muted small">The operator of this server decides</span>
}
