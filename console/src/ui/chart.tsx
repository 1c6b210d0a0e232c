/** A time series on a canvas (uPlot), in the colours of the theme. What it shows is also said in words. */
import 'uplot/dist/uPlot.min.css'
import './chart.css'
import { useEffect, useRef } from 'react'
import uPlot from 'uplot'

export interface Series {
  label: string
  /** A custom property, such as --good. */
  colour: string
  values: (number | null)[]
  fill?: boolean
}

interface Latest {
  data: uPlot.AlignedData
  series: Series[]
  format: (value: number) => string
  least: number
}

const HEIGHT = 170
const seconds = new Intl.DateTimeFormat(undefined, { timeStyle: 'medium' })
const minutes = new Intl.DateTimeFormat(undefined, { timeStyle: 'short' })
const colourOf = (name: string) => getComputedStyle(document.documentElement).getPropertyValue(name).trim()

/** `times` are seconds since the epoch. */
export function Chart({
  times,
  series,
  label,
  format,
  least
}: {
  times: number[]
  series: Series[]
  label: string
  format: (value: number) => string
  /** The axis reaches at least this far, so that a quiet time looks quiet. */
  least: number
}) {
  const element = useRef<HTMLDivElement>(null)
  const plot = useRef<uPlot>(null)
  const shape = series.map(({ label: name, colour, fill }) => `${name} ${colour} ${fill ?? ''}`).join()
  const data = [times, ...series.map(({ values }) => values)] as uPlot.AlignedData
  const latest = useRef<Latest>({ data, series, format, least })
  latest.current = { data, series, format, least }

  // biome-ignore lint/correctness/useExhaustiveDependencies: `shape` says all that matters of the series here
  useEffect(() => {
    const host = element.current!
    const draw = () => {
      plot.current?.destroy()
      plot.current = new uPlot(optionsFor(host, latest.current), latest.current.data, host)
    }
    draw()
    const resized = new ResizeObserver(() => plot.current?.setSize({ width: host.clientWidth, height: HEIGHT }))
    resized.observe(host)
    const themed = new MutationObserver(draw)
    themed.observe(document.documentElement, { attributeFilter: ['data-theme'] })
    return () => {
      resized.disconnect()
      themed.disconnect()
      plot.current?.destroy()
      plot.current = null
    }
  }, [shape])
  useEffect(() => plot.current?.setData(data), [data])

  return <div ref={element} className="chart" role="img" aria-label={label} />
}

function optionsFor(host: HTMLElement, { series, format, least }: Latest): uPlot.Options {
  const muted = colourOf('--muted')
  const grid = { stroke: colourOf('--border'), width: 1 }
  const font = '11px "Inter Variable", system-ui, sans-serif'
  return {
    width: host.clientWidth,
    height: HEIGHT,
    padding: [8, 26, 0, 0],
    cursor: { y: false, points: { size: 6 } },
    legend: { live: true },
    axes: [
      {
        stroke: muted,
        font,
        grid: { show: false },
        ticks: { show: false },
        size: 26,
        space: 70,
        values: (_plot, times, _axis, _space, step) =>
          times.map((time) => (step < 60 ? seconds : minutes).format(time * 1_000))
      },
      {
        stroke: muted,
        font,
        grid,
        ticks: { show: false },
        size: 58,
        space: 34,
        values: (_plot, values) => values.map((value) => format(value))
      }
    ],
    scales: { y: { range: (_plot, _min, max) => [0, Math.max(least, (max ?? 0) * 1.15)] } },
    series: [
      { value: (_plot, time) => (time === null ? '–' : new Date(time * 1_000).toLocaleTimeString()) },
      ...series.map(({ label, colour, fill }): uPlot.Series => {
        const stroke = colourOf(colour)
        return {
          label,
          stroke,
          width: 1.6,
          points: { show: false },
          spanGaps: false,
          value: (_plot, value) => (value === null ? '–' : format(value)),
          ...(fill ? { fill: `color-mix(in srgb, ${stroke} 16%, transparent)` } : {})
        }
      })
    ]
  }
}
