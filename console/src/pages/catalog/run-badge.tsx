import { Badge, type Tone } from '../../ui/bits.tsx'
import type { RunState } from './run-states.ts'

const LOOKS: Record<RunState, { tone: Tone; name: string }> = {
  QUEUED: { tone: 'plain', name: 'Waiting' },
  FETCHING: { tone: 'accent', name: 'Reading the file' },
  MERGING: { tone: 'accent', name: 'Writing products' },
  NEEDS_CONFIRMATION: { tone: 'warn', name: 'Needs confirmation' },
  DONE: { tone: 'good', name: 'Done' },
  FAILED: { tone: 'bad', name: 'Failed' },
  SUPERSEDED: { tone: 'plain', name: 'Superseded' }
}

export const stateName = (state: RunState) => LOOKS[state].name

export const RunBadge = ({ state }: { state: RunState }) => (
  <Badge tone={LOOKS[state].tone} dot>
    {LOOKS[state].name}
  </Badge>
)
