/** Which of the two listeners a page works with. The choice lives in the address, `?listener=sandbox`; production has none. */
import { retainSearchParams, useSearch } from '@tanstack/react-router'
import { choice, type RawSearch } from './search.ts'

export const LISTENERS = ['production', 'sandbox'] as const
export type Listener = (typeof LISTENERS)[number]

/** For `validateSearch` of every page below a listener. */
export const listenerSearch = (search: RawSearch): { listener?: 'sandbox' } => choice(search, 'listener', ['sandbox'])

/** For `search.middlewares` of the same routes: links and filters stay with the listener that was chosen. */
export const keepListener = retainSearchParams<{ listener?: 'sandbox' }>(['listener'])

export function useListener(): Listener {
  const { listener } = useSearch({ strict: false }) as { listener?: Listener }
  return listener ?? 'production'
}

/** Where `/12/…` of a listener is for the console: the sandbox is another origin, which the server bridges. */
export const adsPath = (listener: Listener, path: string) =>
  `${listener === 'sandbox' ? '/console/sandbox' : ''}/12${path}`
