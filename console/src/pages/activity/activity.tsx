/** Who is told what: subscriptions, rules, open streams, and everything that happens as it happens. */
import { useQuery } from '@tanstack/react-query'
import { getRouteApi, Link } from '@tanstack/react-router'
import { appsQuery } from '../../client/resources.ts'
import { Empty, Loading, Problem } from '../../ui/bits.tsx'
import { Select } from '../../ui/fields.tsx'
import { Page } from '../../ui/page.tsx'
import { Tabs } from '../../ui/tabs.tsx'
import { AccountActivity } from './account-activity.tsx'
import { Connections } from './connections.tsx'
import { Events } from './events.tsx'
import { Rules } from './rules.tsx'
import { Subscriptions } from './subscriptions.tsx'

const route = getRouteApi('/shell/activity')
const TABS = [
  ['subscriptions', 'Subscriptions'],
  ['accounts', 'Account activity'],
  ['rules', 'Filtered-stream rules'],
  ['connections', 'Open streams'],
  ['events', 'Live events']
] as const

export function ActivityPage() {
  const { app: chosen, tab = 'subscriptions' } = route.useSearch()
  const navigate = route.useNavigate()
  const apps = useQuery(appsQuery)
  const app = apps.data?.find(({ id }) => id === chosen) ?? apps.data?.[0]
  return (
    <Page
      title="Activity"
      lead="Events that the platform publishes, and the apps that hear of them."
      actions={
        app && tab !== 'events' ? (
          <Select
            label="App"
            value={app.id}
            onChange={({ target }) => void navigate({ search: (was) => ({ ...was, app: target.value }) })}
            choices={(apps.data ?? []).map(({ id, name }) => [id, name])}
          />
        ) : undefined
      }
    >
      {apps.error ? <Problem error={apps.error} retry={() => void apps.refetch()} /> : null}
      {apps.isPending ? <Loading what="apps" /> : null}
      {apps.data ? (
        <Tabs
          label="Activity"
          tabs={TABS}
          value={tab}
          onChange={(next) =>
            void navigate({
              search: ({ app: kept }) => ({ app: kept, tab: next === 'subscriptions' ? undefined : next })
            })
          }
        >
          {tab === 'events' ? (
            <Events />
          ) : !app ? (
            <Empty icon="apps" title="There is no app yet" action={<Link to="/apps">Create an app</Link>}>
              Subscriptions and rules belong to an app.
            </Empty>
          ) : tab === 'subscriptions' ? (
            <Subscriptions key={app.id} app={app} />
          ) : tab === 'accounts' ? (
            <AccountActivity key={app.id} app={app} />
          ) : tab === 'rules' ? (
            <Rules key={app.id} app={app} />
          ) : (
            <Connections key={app.id} app={app} />
          )}
        </Tabs>
      ) : null}
    </Page>
  )
}
