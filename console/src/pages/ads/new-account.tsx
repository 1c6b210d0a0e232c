/** Accounts in production are made by operators; the one who makes it is its first administrator. */
import { useQueryClient } from '@tanstack/react-query'
import { useNavigate } from '@tanstack/react-router'
import { type FormEvent, useState } from 'react'
import { usePerson } from '../../client/session.ts'
import { Button } from '../../ui/button.tsx'
import { SelectField, TextField } from '../../ui/fields.tsx'
import { Dialog, say } from '../../ui/overlays.tsx'
import { FormNotes, useCheckedForm } from './form.tsx'
import { parameters } from './parameters.ts'

interface Props {
  open: boolean
  onClose: () => void
}

export const NewAccountDialog = ({ open, onClose }: Props) => (
  <Dialog
    open={open}
    onClose={onClose}
    title="Create an ad account"
    about="In production, as operator. You become its administrator; others get access through the admin API."
  >
    {open ? <NewAccountForm onClose={onClose} /> : null}
  </Dialog>
)

const ZONES = Intl.supportedValuesOf('timeZone')

function NewAccountForm({ onClose }: Omit<Props, 'open'>) {
  const client = useQueryClient()
  const navigate = useNavigate()
  const { user } = usePerson()
  const [initial] = useState(() => ({ name: '', timezone: new Intl.DateTimeFormat().resolvedOptions().timeZone }))
  const form = useCheckedForm<typeof initial, { id: string }>({
    initial,
    method: 'POST',
    path: '/admin/ad_accounts',
    unchecked: true,
    needed: ['name'],
    body: (values) => ({ ...parameters(values), environment: 'production', owner_user_id: user!.id }),
    onDone: async ({ id }) => {
      await client.invalidateQueries({ queryKey: ['ads', 'production', 'accounts'] })
      say('The account is there')
      onClose()
      await navigate({ to: '/ads/$accountId', params: { accountId: id } })
    }
  })
  const submit = (event: FormEvent) => {
    event.preventDefault()
    void form.submit()
  }
  return (
    <form className="stack" style={{ marginTop: '1rem' }} onSubmit={submit} noValidate>
      <TextField label="Name" autoFocus maxLength={255} {...form.field('name')} />
      <SelectField
        label="Time zone"
        hint="Days and daily budgets begin at midnight there. It cannot be changed afterwards."
        {...form.field('timezone')}
        choices={[...new Set([initial.timezone, ...ZONES])].map((zone) => [zone, zone.replaceAll('_', ' ')])}
      />
      <FormNotes form={form} />
      <div className="actions">
        <Button onClick={onClose}>Cancel</Button>
        <Button type="submit" variant="primary" busy={form.saving && 'Creating …'}>
          Create the account
        </Button>
      </div>
    </form>
  )
}
