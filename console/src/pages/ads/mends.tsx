/** Dialogs that fill in what a mending call still needs. */
import { type FormEvent, useState } from 'react'
import { adsPath } from '../../client/listener.ts'
import { Button } from '../../ui/button.tsx'
import { SelectField, TextField } from '../../ui/fields.tsx'
import { Dialog, say } from '../../ui/overlays.tsx'
import { MediaForm, PostsForm, PromotedAccountForm } from './creative-forms.tsx'
import { FormNotes, useCheckedForm } from './form.tsx'
import { amountProblem, localOf, MoneyField, TimeField } from './inputs.tsx'
import { amountText } from './money.ts'
import { parameters } from './parameters.ts'
import type { Campaign, LineItem, Mend } from './queries.ts'
import { useScope } from './scope.tsx'
import { fieldName, isMoney } from './words.ts'

interface MendProps {
  mend: Mend
  campaign: Campaign
  lineItem: LineItem | undefined
  onClose: () => void
}

export const MendDialog = ({ open, title, ...props }: MendProps & { open: boolean; title: string }) => (
  <Dialog open={open} onClose={props.onClose} title={title}>
    {open ? <MendForm {...props} /> : null}
  </Dialog>
)

function MendForm(props: MendProps) {
  const { mend, lineItem, onClose } = props
  if (mend.method === 'PUT') return <ValueForm {...props} />
  const { line_item_id } = mend.params
  if (line_item_id === undefined) return null
  if (mend.path.endsWith('/promoted_tweets')) return <PostsForm lineItemId={line_item_id} onClose={onClose} />
  if (mend.path.endsWith('/promoted_accounts'))
    return <PromotedAccountForm lineItemId={line_item_id} onClose={onClose} />
  if (mend.path.endsWith('/media_creatives'))
    return <MediaForm lineItemId={line_item_id} objective={lineItem?.objective} onClose={onClose} />
  return <KeywordForm lineItemId={line_item_id} onClose={onClose} />
}

const DAY_MS = 86_400_000

/** One amount or one time of a campaign or a line item. */
function ValueForm({ mend, campaign, lineItem, onClose }: MendProps) {
  const scope = useScope()
  const name = Object.keys(mend.params)[0]!
  const entity = mend.path.includes('/campaigns/') ? campaign : lineItem
  const { currency } = campaign
  const [initial] = useState((): Record<string, string> => {
    const now = (entity as unknown as Record<string, unknown> | undefined)?.[name]
    if (isMoney(name)) return { [name]: amountText(typeof now === 'number' ? now : null, currency) }
    const moment = name === 'start_time' ? Date.now() : Date.now() + 30 * DAY_MS
    return { [name]: localOf(new Date(moment).toISOString()) }
  })
  const form = useCheckedForm<Record<string, string>>({
    initial,
    method: 'PUT',
    path: adsPath(scope.listener, mend.path.replace(/^\/12/, '')),
    currency,
    needed: [name],
    problems: (values) => (isMoney(name) ? { [name]: amountProblem(values[name] ?? '') } : {}),
    body: (values) => parameters(values),
    onDone: async () => {
      await scope.changed()
      say('Saved')
      onClose()
    }
  })
  const submit = (event: FormEvent) => {
    event.preventDefault()
    void form.submit()
  }
  return (
    <form className="stack" style={{ marginTop: '1rem' }} onSubmit={submit} noValidate>
      {isMoney(name) ? (
        <MoneyField label={fieldName(name)} currency={currency} autoFocus {...form.field(name)} />
      ) : (
        <TimeField label={fieldName(name)} zone={scope.account.timezone} autoFocus {...form.field(name)} />
      )}
      <FormNotes form={form} />
      <div className="actions">
        <Button onClick={onClose}>Cancel</Button>
        <Button type="submit" variant="primary" busy={form.saving && 'Saving …'}>
          Save
        </Button>
      </div>
    </form>
  )
}

function KeywordForm({ lineItemId, onClose }: { lineItemId: string; onClose: () => void }) {
  const scope = useScope()
  const [initial] = useState({ targeting_value: '', targeting_type: 'BROAD_KEYWORD' })
  const form = useCheckedForm<typeof initial>({
    initial,
    method: 'POST',
    path: scope.at('/targeting_criteria'),
    needed: ['targeting_value'],
    body: (values) => ({ line_item_id: lineItemId, ...values }),
    onDone: async () => {
      await scope.changed()
      say('The keyword is added')
      onClose()
    }
  })
  const submit = (event: FormEvent) => {
    event.preventDefault()
    void form.submit()
  }
  return (
    <form className="stack" style={{ marginTop: '1rem' }} onSubmit={submit} noValidate>
      <TextField label="Keyword" autoFocus hint="What people search for" {...form.field('targeting_value')} />
      <SelectField
        label="Matches"
        {...form.field('targeting_type')}
        choices={[
          ['BROAD_KEYWORD', 'Words like it'],
          ['UNORDERED_KEYWORD', 'Its words in any order'],
          ['PHRASE_KEYWORD', 'Its words together'],
          ['EXACT_KEYWORD', 'Exactly this']
        ]}
      />
      <FormNotes form={form} />
      <div className="actions">
        <Button onClick={onClose}>Cancel</Button>
        <Button type="submit" variant="primary" busy={form.saving && 'Adding …'}>
          Add
        </Button>
      </div>
    </form>
  )
}
