/** What has become of a delivery, told from its attempts alone. docs/states/delivery.md shows the table. */

export const DELIVERY_STATES = ['waiting', 'retrying', 'delivered', 'failed', 'held'] as const
export type DeliveryState = (typeof DELIVERY_STATES)[number]

export type AttemptOutcome = 'delivered' | 'retry' | 'failed' | 'held'

export interface Transition {
  from: DeliveryState | 'any other'
  /** How an attempt ended; `replay failed` is the failure of a replayed one, which is never retried. */
  attempt: AttemptOutcome | 'any' | 'replay failed'
  to: DeliveryState
}

/** The first row that fits decides. */
export const TRANSITIONS: readonly Transition[] = [
  { from: 'delivered', attempt: 'any', to: 'delivered' },
  { from: 'waiting', attempt: 'replay failed', to: 'waiting' },
  { from: 'retrying', attempt: 'replay failed', to: 'retrying' },
  { from: 'any other', attempt: 'delivered', to: 'delivered' },
  { from: 'any other', attempt: 'retry', to: 'retrying' },
  { from: 'any other', attempt: 'failed', to: 'failed' },
  { from: 'any other', attempt: 'replay failed', to: 'failed' },
  { from: 'any other', attempt: 'held', to: 'held' }
]

export interface AttemptEnd {
  outcome: AttemptOutcome
  cause: 'live' | 'resend' | 'replay'
}

/** `attempts` in the order in which they were made. */
export function stateOf(attempts: readonly AttemptEnd[]): DeliveryState {
  let state: DeliveryState = 'waiting'
  for (const { outcome, cause } of attempts) {
    const ended = cause === 'replay' && outcome === 'failed' ? 'replay failed' : outcome
    const row = TRANSITIONS.find(
      ({ from, attempt }) => (from === state || from === 'any other') && (attempt === ended || attempt === 'any')
    )
    state = row!.to
  }
  return state
}
