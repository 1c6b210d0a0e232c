/** States of an import, as the API has them. */
export const RUN_STATES = [
  'QUEUED',
  'FETCHING',
  'MERGING',
  'NEEDS_CONFIRMATION',
  'DONE',
  'FAILED',
  'SUPERSEDED'
] as const
export type RunState = (typeof RUN_STATES)[number]

export const isUnderWay = (state: string) => state === 'QUEUED' || state === 'FETCHING' || state === 'MERGING'
