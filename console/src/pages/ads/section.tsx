import './ads.css'
import { Outlet } from '@tanstack/react-router'
import { usePerson } from '../../client/session.ts'
import { Empty } from '../../ui/bits.tsx'
import { Listening } from '../../ui/listener-switch.tsx'
import { Page } from '../../ui/page.tsx'

/** Ad accounts belong to people: whoever signed in with an admin token alone has none. */
export function AdsSection() {
  const { user } = usePerson()
  return (
    <Listening home="/ads">
      {user ? (
        <Outlet />
      ) : (
        <Page title="Ads">
          <Empty icon="user" title="Ad accounts are used by people">
            You are signed in with an admin token, which stands for nobody. Sign in with a username to see the accounts
            that this user may use; operators give access to accounts through the admin API.
          </Empty>
        </Page>
      )}
    </Listening>
  )
}
