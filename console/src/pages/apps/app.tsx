/** One app: its keys, tokens, settings and quotas, and requests that can be pasted into a terminal. */
import { useQuery } from '@tanstack/react-query'
import { getRouteApi, Link } from '@tanstack/react-router'
import { ask } from '../../client/api.ts'
import { type App, usersQuery } from '../../client/resources.ts'
import { Badge, Callout, CopyButton, Loading, Problem } from '../../ui/bits.tsx'
import { Page } from '../../ui/page.tsx'
import { Tabs } from '../../ui/tabs.tsx'
import { Keys } from './keys.tsx'
import { Quotas } from './quotas.tsx'
import { Requests } from './requests.tsx'
import { Settings } from './settings.tsx'
import { Tokens } from './tokens.tsx'

const route = getRouteApi('/shell/apps/$appId')
const TABS = [
  ['keys', 'Keys'],
  ['tokens', 'Tokens'],
  ['requests', 'Requests to paste'],
  ['settings', 'Settings'],
  ['quotas', 'Quotas']
] as const

export const appQuery = (id: string) => ({
  queryKey: ['apps', id],
  queryFn: ({ signal }: { signal: AbortSignal }) => ask<App>('GET', `/admin/apps/${id}`, { signal })
})

export function AppPage() {
  const { appId } = route.useParams()
  const { tab = 'keys' } = route.useSearch()
  const navigate = route.useNavigate()
  const app = useQuery(appQuery(appId))
  const { data: users } = useQuery(usersQuery)
  const above = <Link to="/apps">Apps</Link>
  if (!app.data)
    return (
      <Page title="App" above={above}>
        {app.error ? <Problem error={app.error} retry={() => void app.refetch()} /> : <Loading what="the app" />}
      </Page>
    )
  const { data } = app
  const owner = users?.find(({ id }) => id === data.owner_user_id)
  return (
    <Page
      title={data.name}
      above={above}
      lead={
        <span className="row wrap">
          {data.suspended ? <Badge tone="bad">suspended</Badge> : null}
          <span className="row">
            id <code>{data.id}</code>
            <CopyButton text={data.id} label="Copy the id" />
          </span>
          {owner ? <span>owned by @{owner.username}</span> : null}
          <Link to="/webhooks" search={{ app: data.id }}>
            Webhooks
          </Link>
          <Link to="/activity" search={{ app: data.id }}>
            Activity
          </Link>
        </span>
      }
    >
      {data.suspended ? (
        <div style={{ marginBottom: '1rem' }}>
          <Callout tone="bad">This app is suspended: its keys and tokens are refused. Settings lift it.</Callout>
        </div>
      ) : null}
      <Tabs
        label="About this app"
        tabs={TABS}
        value={tab}
        onChange={(next) => void navigate({ search: { tab: next === 'keys' ? undefined : next } })}
      >
        {tab === 'keys' ? <Keys app={data} /> : null}
        {tab === 'tokens' ? <Tokens app={data} users={users ?? []} /> : null}
        {tab === 'requests' ? <Requests app={data} /> : null}
        {tab === 'settings' ? <Settings key={data.updated_at} app={data} users={users ?? []} /> : null}
        {tab === 'quotas' ? <Quotas key={data.updated_at} app={data} /> : null}
      </Tabs>
    </Page>
  )
}
