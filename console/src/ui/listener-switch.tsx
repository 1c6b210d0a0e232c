/** Says on every page of a section which listener it works with, so that nobody takes one for the other. */
import './listener-switch.css'
import { Link, type LinkProps } from '@tanstack/react-router'
import type { ReactNode } from 'react'
import { LISTENERS, type Listener, useListener } from '../client/listener.ts'
import { Icon } from './icon.tsx'

const WORDS: Record<Listener, { name: string; about: string }> = {
  production: { name: 'Production', about: 'What you change here is live.' },
  sandbox: { name: 'Sandbox', about: 'Made to try things out. Nothing here is shown to anybody or costs money.' }
}

/**
 * Around the pages of a section. What belongs to one listener does not exist on the other, so the switch leads to `home`,
 * the beginning of the section.
 */
export function Listening({ home, children }: { home: LinkProps['to']; children: ReactNode }) {
  const listener = useListener()
  const { name, about } = WORDS[listener]
  return (
    <div className="listening" data-listener={listener}>
      <section className="listener-band" aria-label="Listener">
        <Icon name={listener === 'sandbox' ? 'alert' : 'bolt'} />
        <p>
          <strong>{name}</strong> <span className="listener-about">{about}</span>
        </p>
        <nav className="listener-switch" aria-label="Production or sandbox">
          {LISTENERS.map((each) => (
            <Link
              key={each}
              to={home!}
              search={{ listener: each === 'sandbox' ? each : undefined } as never}
              activeOptions={{ exact: true, includeSearch: true }}
              aria-current={each === listener ? 'true' : undefined}
              data-chosen={each === listener ? '' : undefined}
            >
              {WORDS[each].name}
            </Link>
          ))}
        </nav>
      </section>
      {children}
    </div>
  )
}
