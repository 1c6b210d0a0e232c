/** What the navigation offers, and to whom. */
import type { LinkProps } from '@tanstack/react-router'
import type { Person } from '../client/session.ts'
import type { IconName } from '../ui/icon.tsx'

export interface Section {
  to: LinkProps['to']
  label: string
  icon: IconName
  /** Whether there is anything for this person; the server refuses the rest anyway. */
  for: (person: Person) => boolean
}

const everyone = () => true
const operators = ({ operator }: Person) => operator

export const SECTIONS: readonly Section[] = [
  { to: '/', label: 'Home', icon: 'home', for: everyone },
  { to: '/apps', label: 'Apps', icon: 'apps', for: operators },
  { to: '/webhooks', label: 'Webhooks', icon: 'webhook', for: operators },
  { to: '/activity', label: 'Activity', icon: 'activity', for: operators },
  { to: '/catalog', label: 'Catalog', icon: 'catalog', for: everyone },
  { to: '/ads', label: 'Ads', icon: 'ads', for: everyone },
  { to: '/inbox', label: 'Inbox', icon: 'inbox', for: operators }
]
