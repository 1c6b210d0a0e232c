/** What can be done with a campaign or a line item, from wherever it is shown. */
import { useMutation, useQuery } from '@tanstack/react-query'
import { useNavigate } from '@tanstack/react-router'
import { useState } from 'react'
import { ask } from '../../client/api.ts'
import { plural } from '../../client/format.ts'
import { Button } from '../../ui/button.tsx'
import { Confirm, Menu, say, sayProblem } from '../../ui/overlays.tsx'
import { CampaignDialog } from './campaign-form.tsx'
import { LineItemDialog } from './line-item-form.tsx'
import { type Campaign, type LineItem, lineItemsQuery, promotedPostsQuery } from './queries.ts'
import { useScope } from './scope.tsx'
import { word } from './words.ts'

type Doing = 'edit' | 'copy' | 'delete'

/** Pausing is undone with one press, so nobody is asked. */
export function useStatus(path: string, what: string) {
  const scope = useScope()
  return useMutation({
    mutationFn: (entity_status: string) => ask('PUT', scope.at(path), { body: { entity_status } }),
    onSuccess: async (_, entity_status) => {
      await scope.changed()
      say(entity_status === 'ACTIVE' ? `${what} is active` : `${what} is paused`)
    },
    onError: sayProblem
  })
}

const toggled = (status: string) => (status === 'ACTIVE' ? 'PAUSED' : 'ACTIVE')
const verb = (status: string) => (status === 'ACTIVE' ? 'Pause' : status === 'DRAFT' ? 'Launch' : 'Activate')

interface CampaignMenuProps {
  campaign: Campaign
  /** With what is done most outside the menu. */
  buttons?: boolean
}

export function CampaignMenu({ campaign, buttons = false }: CampaignMenuProps) {
  const scope = useScope()
  const navigate = useNavigate()
  const [doing, setDoing] = useState<Doing>()
  const status = useStatus(`/campaigns/${campaign.id}`, campaign.name)
  const close = () => setDoing(undefined)
  if (!scope.may('campaigns.write') || campaign.deleted) return null
  const flip = () => status.mutate(toggled(campaign.entity_status))
  return (
    <span className="row">
      {buttons ? (
        <Buttons
          status={campaign.entity_status}
          busy={status.isPending}
          onFlip={flip}
          onEdit={() => setDoing('edit')}
        />
      ) : null}
      <Menu
        trigger={<Button variant="ghost" size="small" icon="more" aria-label={`More about ${campaign.name}`} />}
        entries={[
          ...(buttons
            ? []
            : [
                { label: verb(campaign.entity_status), icon: 'bolt' as const, onSelect: flip },
                { label: 'Edit …', icon: 'edit' as const, onSelect: () => setDoing('edit') }
              ]),
          { label: 'Copy …', icon: 'copy', onSelect: () => setDoing('copy') },
          'separator',
          { label: 'Delete …', icon: 'trash', danger: true, onSelect: () => setDoing('delete') }
        ]}
      />
      <CampaignDialog open={doing === 'edit'} onClose={close} campaign={campaign} />
      <CampaignDialog open={doing === 'copy'} onClose={close} template={campaign} />
      <Confirm
        open={doing === 'delete'}
        onClose={close}
        title={`Delete ${campaign.name}?`}
        action="Delete the campaign"
        busy="Deleting …"
        onConfirm={async () => {
          await ask('DELETE', scope.at(`/campaigns/${campaign.id}`))
          if (buttons) await navigate({ to: '/ads/$accountId', params: { accountId: scope.accountId } })
          await scope.changed()
          say('The campaign is deleted')
        }}
      >
        {doing === 'delete' ? <GoesWithCampaign campaign={campaign} /> : null}
      </Confirm>
    </span>
  )
}

function GoesWithCampaign({ campaign }: { campaign: Campaign }) {
  const { data } = useQuery(lineItemsQuery(useScope(), campaign.id))
  const items = data?.data ?? []
  return (
    <div className="stack tight">
      <p>This cannot be undone: a deleted campaign never serves again.</p>
      {items.length === 0 ? (
        <p>It has no line items.</p>
      ) : (
        <>
          <p>
            Its {plural(items.length, 'line item')} {items.length === 1 ? 'stops' : 'stop'} serving with it. They are
            not deleted and can still be read:
          </p>
          <ul className="bullets">
            {items.slice(0, 5).map((item) => (
              <li key={item.id}>{item.name ?? word(item.objective)}</li>
            ))}
            {items.length > 5 ? <li>and {items.length - 5} more</li> : null}
          </ul>
        </>
      )}
      <p>The history is kept. To stop it for a while, pause it instead.</p>
    </div>
  )
}

interface LineItemMenuProps {
  item: LineItem
  buttons?: boolean
}

export function LineItemMenu({ item, buttons = false }: LineItemMenuProps) {
  const scope = useScope()
  const navigate = useNavigate()
  const [doing, setDoing] = useState<Doing>()
  const name = item.name ?? word(item.objective)
  const status = useStatus(`/line_items/${item.id}`, name)
  const close = () => setDoing(undefined)
  if (!scope.may('campaigns.write') || item.deleted) return null
  const flip = () => status.mutate(toggled(item.entity_status))
  return (
    <span className="row">
      {buttons ? (
        <Buttons status={item.entity_status} busy={status.isPending} onFlip={flip} onEdit={() => setDoing('edit')} />
      ) : null}
      <Menu
        trigger={<Button variant="ghost" size="small" icon="more" aria-label={`More about ${name}`} />}
        entries={[
          ...(buttons
            ? []
            : [
                { label: verb(item.entity_status), icon: 'bolt' as const, onSelect: flip },
                { label: 'Edit …', icon: 'edit' as const, onSelect: () => setDoing('edit') },
                'separator' as const
              ]),
          { label: 'Delete …', icon: 'trash', danger: true, onSelect: () => setDoing('delete') }
        ]}
      />
      <LineItemDialog open={doing === 'edit'} onClose={close} item={item} />
      <Confirm
        open={doing === 'delete'}
        onClose={close}
        title={`Delete ${name}?`}
        action="Delete the line item"
        busy="Deleting …"
        onConfirm={async () => {
          await ask('DELETE', scope.at(`/line_items/${item.id}`))
          if (buttons)
            await navigate({
              to: '/ads/$accountId/campaigns/$campaignId',
              params: { accountId: scope.accountId, campaignId: item.campaign_id }
            })
          await scope.changed()
          say('The line item is deleted')
        }}
      >
        {doing === 'delete' ? <GoesWithLineItem item={item} /> : null}
      </Confirm>
    </span>
  )
}

function GoesWithLineItem({ item }: { item: LineItem }) {
  const scope = useScope()
  const posts = useQuery({ ...promotedPostsQuery(scope, item.id), enabled: item.product_type === 'PROMOTED_TWEETS' })
  const number = posts.data?.data.length ?? 0
  return (
    <div className="stack tight">
      <p>This cannot be undone: a deleted line item never serves again.</p>
      <p>
        {number > 0
          ? `Its ${plural(number, 'promoted post')} ${number === 1 ? 'goes' : 'go'} out of sight with it (the posts themselves stay where they are). `
          : ''}
        Its targeting goes with it. The campaign and its other line items stay as they are.
      </p>
      <p>The history is kept. To stop it for a while, pause it instead.</p>
    </div>
  )
}

interface ButtonsProps {
  status: string
  busy: boolean
  onFlip: () => void
  onEdit: () => void
}

const Buttons = ({ status, busy, onFlip, onEdit }: ButtonsProps) => (
  <>
    <Button busy={busy && 'Saving …'} onClick={onFlip}>
      {verb(status)}
    </Button>
    <Button icon="edit" onClick={onEdit}>
      Edit
    </Button>
  </>
)
