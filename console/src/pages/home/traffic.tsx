import { useQuery } from '@tanstack/react-query'
import { useMemo } from 'react'
import { ask } from '../../client/api.ts'
import { duration, milliseconds, rate } from '../../client/format.ts'
import { LIVE_MS } from '../../client/query-client.ts'
import { Card } from '../../ui/bits.tsx'
import { Chart } from '../../ui/chart.tsx'

interface Step {
  at: string
  delivered: number
  failed: number
  p50: number | null
  p95: number | null
}
interface Series {
  at: string
  step_seconds: number
  steps: Step[]
}

/** Deliveries and latency over the past minutes. */
export function Traffic() {
  const { data } = useQuery({
    queryKey: ['overview', 'series'],
    queryFn: ({ signal }) => ask<Series>('GET', '/admin/overview/series', { signal }),
    refetchInterval: LIVE_MS
  })
  const picture = useMemo(() => (data ? pictureOf(data) : undefined), [data])
  if (!data || !picture) return null
  const over = duration(data.step_seconds * data.steps.length * 1_000)
  return (
    <div className="grid-2" style={{ '--min': '24rem' } as React.CSSProperties}>
      <Card title="Deliveries per second">
        <Chart
          times={picture.times}
          format={rate}
          least={1}
          label={`Deliveries per second over ${over}: at most ${rate(Math.max(...picture.delivered))}, now ${rate(picture.delivered.at(-1)!)}`}
          series={[
            { label: 'delivered', colour: '--accent', values: picture.delivered, fill: true },
            { label: 'not acknowledged', colour: '--bad', values: picture.failed }
          ]}
        />
      </Card>
      <Card title="Time until the answer">
        <Chart
          times={picture.times}
          format={milliseconds}
          least={40}
          label={`Time until consumers answered over ${over}: median and 95th percentile`}
          series={[
            { label: 'median', colour: '--good', values: data.steps.map(({ p50 }) => p50), fill: true },
            { label: 'p95', colour: '--warn', values: data.steps.map(({ p95 }) => p95) }
          ]}
        />
      </Card>
    </div>
  )
}

/** The last step is not over yet: its rate is that of the time it had. */
function pictureOf({ at, step_seconds, steps }: Series) {
  const secondsOf = (step: Step) => Math.max(1, Math.min(step_seconds, (Date.parse(at) - Date.parse(step.at)) / 1_000))
  return {
    times: steps.map((step) => Date.parse(step.at) / 1_000),
    delivered: steps.map((step) => step.delivered / secondsOf(step)),
    failed: steps.map((step) => step.failed / secondsOf(step))
  }
}
