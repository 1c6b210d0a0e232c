/** The frame around every page: navigation, who is signed in, what is worth knowing everywhere. */
import { useQuery } from '@tanstack/react-query'
import { Link, Outlet, useLocation, useNavigate } from '@tanstack/react-router'
import { useEffect, useRef, useState } from 'react'
import { type Person, signOut, usePerson, useSession } from '../../client/session.ts'
import { Button } from '../../ui/button.tsx'
import { Icon } from '../../ui/icon.tsx'
import { Confirm, Menu } from '../../ui/overlays.tsx'
import { applyTheme, currentTheme, THEMES, type Theme } from '../../ui/theme.ts'
import { overviewQuery } from '../home/queries.ts'
import { SECTIONS } from '../sections.ts'
import { Logo } from './logo.tsx'

export function Shell() {
  const { person } = useSession()
  const location = useLocation()
  const navigate = useNavigate()
  const [open, setOpen] = useState(false)
  // The session may have ended elsewhere; whoever signs in again comes back here.
  const signedIn = person !== undefined
  useEffect(() => {
    const { pathname, search } = window.location
    if (!signedIn && pathname !== '/sign-in') void navigate({ to: '/sign-in', search: { to: pathname + search } })
  }, [signedIn, navigate])
  // Another page: the menu of small screens closes, and whoever reads or types goes on at its beginning.
  const shown = useRef(location.pathname)
  useEffect(() => {
    if (shown.current === location.pathname) return
    shown.current = location.pathname
    setOpen(false)
    document.getElementById('content')?.focus({ preventScroll: true })
  }, [location.pathname])
  if (!person) return null
  return (
    <div className="shell">
      <a className="skip" href="#content">
        Skip to the content
      </a>
      <header className="sidebar" data-open={open ? '' : undefined}>
        <Link to="/" className="brand">
          <Logo />
          Herald
        </Link>
        <Button
          className="menu-button"
          variant="ghost"
          icon={open ? 'cross' : 'menu'}
          aria-label="Menu"
          aria-expanded={open}
          onClick={() => setOpen(!open)}
        />
        <nav className="nav" aria-label="Main">
          {SECTIONS.filter((section) => section.for(person)).map(({ to, label, icon }) => (
            <Link key={label} to={to!} activeOptions={{ exact: to === '/' }} activeProps={{ className: 'active' }}>
              <Icon name={icon} />
              {label}
              {to === '/webhooks' && person.operator ? <InvalidCount /> : null}
            </Link>
          ))}
          <a href="/docs/" target="_blank" rel="noreferrer">
            <Icon name="external" />
            API reference
          </a>
        </nav>
        <div className="sidebar-foot">
          <Who person={person} />
        </div>
      </header>
      <main className="main" id="content" tabIndex={-1}>
        <Outlet />
      </main>
    </div>
  )
}

/** Webhooks that turned invalid must not go unnoticed, whatever page is open. */
function InvalidCount() {
  const { data } = useQuery({ ...overviewQuery, refetchInterval: 15_000 })
  const invalid = data?.invalid_webhooks ?? 0
  return invalid > 0 ? (
    <span className="nav-count" title={`${invalid} invalid`}>
      {invalid}
      <span className="visually-hidden"> invalid</span>
    </span>
  ) : null
}

const THEME_ICONS = { system: 'screen', light: 'sun', dark: 'moon' } as const
const THEME_NAMES = { system: 'Theme of the system', light: 'Light theme', dark: 'Dark theme' } as const

function Who({ person }: { person: Person }) {
  const [asking, setAsking] = useState(false)
  const [theme, setTheme] = useState<Theme>(currentTheme)
  const { user, operator } = usePerson()
  const name = person.user?.name ?? 'Operator'
  return (
    <>
      <Menu
        trigger={
          <button type="button" className="who">
            <span className="visually-hidden">Account: </span>
            <span className="avatar" aria-hidden="true">
              {name.slice(0, 1).toUpperCase()}
            </span>
            <span className="ellipsis">
              {name}
              <span className="muted small" style={{ display: 'block' }}>
                {user ? `@${user.username}${operator ? ' · operator' : ''}` : 'admin token'}
              </span>
            </span>
          </button>
        }
        entries={[
          ...THEMES.filter((each) => each !== theme).map((each) => ({
            label: THEME_NAMES[each],
            icon: THEME_ICONS[each],
            onSelect: () => {
              applyTheme(each)
              setTheme(each)
            }
          })),
          'separator' as const,
          { label: 'Sign out', icon: 'leave' as const, onSelect: () => void signOut() },
          { label: 'Sign out everywhere …', icon: 'leave' as const, danger: true, onSelect: () => setAsking(true) }
        ]}
      />
      <Confirm
        open={asking}
        onClose={() => setAsking(false)}
        title="Sign out everywhere?"
        action="Sign out everywhere"
        busy="Signing out …"
        onConfirm={() => signOut({ everywhere: true })}
      >
        All browsers in which {user ? `@${user.username}` : 'this admin token'} is signed in, this one included, have to
        sign in again. Apps and their tokens are not affected.
      </Confirm>
    </>
  )
}
