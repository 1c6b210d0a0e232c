/** "Subscribed but nothing arrives": which filter stood in the way of one event. */
import { useMutation } from '@tanstack/react-query'
import { type FormEvent, useState } from 'react'
import { ask, type Query } from '../../client/api.ts'
import { Badge, Problem } from '../../ui/bits.tsx'
import { Button } from '../../ui/button.tsx'
import { TextField } from '../../ui/fields.tsx'
import { Dialog } from '../../ui/overlays.tsx'

interface Explanation {
  matched: boolean
  deliverable: boolean
  reasons: { reason: string; sentence: string }[]
  summary: string
}

interface Props {
  open: boolean
  onClose: () => void
  /** Of the subscription that is asked about. */
  query: Query
}

export const ExplainDialog = (props: Props) => (
  <Dialog open={props.open} onClose={props.onClose} title="Why did an event not arrive?">
    <ExplainForm {...props} />
  </Dialog>
)

function ExplainForm({ onClose, query }: Props) {
  const [event, setEvent] = useState('')
  const explain = useMutation({
    mutationFn: () =>
      ask<Explanation>('GET', '/admin/activity/explain', { query: { ...query, event_id: event.trim() } })
  })
  const submit = (submitted: FormEvent) => {
    submitted.preventDefault()
    explain.mutate()
  }
  return (
    <form className="stack" style={{ marginTop: '1rem' }} onSubmit={submit}>
      <TextField
        label="Event id"
        value={event}
        onChange={({ target }) => setEvent(target.value)}
        className="mono"
        required
        spellCheck={false}
      />
      {explain.error ? <Problem error={explain.error} /> : null}
      {explain.data ? (
        <output className="stack tight">
          <div>
            <Badge tone={explain.data.deliverable ? 'good' : explain.data.matched ? 'warn' : 'bad'} dot>
              {explain.data.deliverable
                ? 'It matched and was to be delivered'
                : explain.data.matched
                  ? 'It matched, but could not be delivered'
                  : 'It did not match'}
            </Badge>
          </div>
          {explain.data.reasons.map(({ reason, sentence }) => (
            <p key={reason}>{sentence}</p>
          ))}
          <p className="muted">{explain.data.summary}</p>
        </output>
      ) : null}
      <div className="actions">
        <Button onClick={onClose}>Close</Button>
        <Button type="submit" variant="primary" busy={explain.isPending && 'Looking …'}>
          Find out
        </Button>
      </div>
    </form>
  )
}
