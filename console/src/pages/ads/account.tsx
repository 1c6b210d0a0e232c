/** One account: its campaigns as a tree, where its money comes from, its settings. */
import { getRouteApi, Link } from '@tanstack/react-router'
import { useState } from 'react'
import { Empty } from '../../ui/bits.tsx'
import { Button } from '../../ui/button.tsx'
import { Page } from '../../ui/page.tsx'
import { Tabs } from '../../ui/tabs.tsx'
import { CampaignDialog } from './campaign-form.tsx'
import { Campaigns } from './campaigns.tsx'
import { Funding } from './funding.tsx'
import { useScope } from './scope.tsx'
import { Settings } from './settings.tsx'
import { PERMISSIONS } from './words.ts'

const route = getRouteApi('/shell/ads/$accountId/')
const TABS = [
  ['campaigns', 'Campaigns'],
  ['funding', 'Funding'],
  ['settings', 'Settings']
] as const

export function AccountPage() {
  const { tab = 'campaigns' } = route.useSearch()
  const navigate = route.useNavigate()
  const scope = useScope()
  const [creating, setCreating] = useState(false)
  const create = scope.may('campaigns.write') ? (
    <Button variant="primary" icon="plus" onClick={() => setCreating(true)}>
      New campaign
    </Button>
  ) : null
  return (
    <Page title={scope.account.name} above={<Link to="/ads">Ad accounts</Link>} actions={create}>
      {scope.may('campaigns.read') ? (
        <Tabs
          label="About this account"
          tabs={TABS}
          value={tab}
          onChange={(next) => void navigate({ search: { tab: next === 'campaigns' ? undefined : next } })}
        >
          {tab === 'campaigns' ? <Campaigns create={create} /> : null}
          {tab === 'funding' ? <Funding /> : null}
          {tab === 'settings' ? <Settings /> : null}
        </Tabs>
      ) : (
        <Empty icon="key" title="You may not see the campaigns of this account">
          Your role is for {scope.permissions.map((each) => PERMISSIONS[each] ?? each).join(', ')}. An administrator of
          the account can give you another one.
        </Empty>
      )}
      <CampaignDialog open={creating} onClose={() => setCreating(false)} />
    </Page>
  )
}
