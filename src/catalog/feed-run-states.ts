/** States of an import; docs/states/feed-run.md shows the same table. */
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

export const RUN_TRANSITIONS: readonly { from: RunState | 'none'; cause: string; to: RunState }[] = [
  { from: 'none', cause: 'its time has come, or somebody asks', to: 'QUEUED' },
  { from: 'QUEUED', cause: 'a worker takes it', to: 'FETCHING' },
  { from: 'FETCHING', cause: 'the worker died; another takes it', to: 'FETCHING' },
  { from: 'FETCHING', cause: 'a scheduled download failed for a passing reason', to: 'QUEUED' },
  { from: 'FETCHING', cause: 'the host says that the file has not changed', to: 'DONE' },
  { from: 'FETCHING', cause: 'every row is judged, and only that was asked', to: 'DONE' },
  { from: 'FETCHING', cause: 'the download failed or the file cannot be read', to: 'FAILED' },
  { from: 'FETCHING', cause: 'it would change nearly everything', to: 'NEEDS_CONFIRMATION' },
  { from: 'FETCHING', cause: 'every row is judged', to: 'MERGING' },
  { from: 'NEEDS_CONFIRMATION', cause: 'somebody confirms', to: 'MERGING' },
  { from: 'NEEDS_CONFIRMATION', cause: 'another run begins, or nobody confirms for a week', to: 'SUPERSEDED' },
  { from: 'MERGING', cause: 'the rows are in the catalog', to: 'DONE' },
  { from: 'MERGING', cause: 'the staged rows were lost with the database', to: 'FETCHING' },
  { from: 'QUEUED', cause: 'it failed again and again for an unknown reason', to: 'FAILED' },
  { from: 'FETCHING', cause: 'it failed again and again for an unknown reason', to: 'FAILED' },
  { from: 'MERGING', cause: 'it failed again and again for an unknown reason', to: 'FAILED' }
]

/** Something is being done about it, or will be. */
export const ACTIVE_STATES = ['QUEUED', 'FETCHING', 'MERGING'] as const satisfies RunState[]

export const isActive = (state: RunState) => (ACTIVE_STATES as readonly RunState[]).includes(state)

export const statesBefore = (to: RunState): RunState[] => [
  ...new Set(RUN_TRANSITIONS.flatMap(({ from, to: next }) => (next === to && from !== 'none' ? [from] : [])))
]
