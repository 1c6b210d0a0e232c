/** How many products filters match: a number at once, the whole number soon, and some of the products. */
import { useEffect, useState } from 'react'
import { ask } from '../../client/api.ts'
import { count, percent } from '../../client/format.ts'
import { Problem, Progress } from '../../ui/bits.tsx'
import type { CatalogAt, Figures, Glimpse } from './api.ts'
import type { Filter } from './filters.ts'
import { Picture } from './picture.tsx'
import { Price } from './tiles.tsx'

export interface LiveCount {
  matched: number
  lookedAt: number
  isWhole: boolean
  samples: Glimpse[]
  error?: unknown
}
interface Answer {
  matched: number
  looked_at: number
  next_cursor: string | null
  samples: Glimpse[]
}

const SETTLED_MS = 300

/** Counts on until there are no more products, unless the filters change meanwhile. */
export function useLiveCount(catalog: CatalogAt, filters: readonly Filter[]): LiveCount | undefined {
  const [found, setFound] = useState<LiveCount>()
  const text = JSON.stringify(filters)
  const path = catalog.path('/product_sets/count')
  useEffect(() => {
    if (text === '[]') {
      setFound(undefined)
      return
    }
    const controller = new AbortController()
    const { signal } = controller
    const countOn = async () => {
      const sum: LiveCount = { matched: 0, lookedAt: 0, isWhole: false, samples: [] }
      for (let cursor: string | null = null; ; ) {
        const body: object = { filters: JSON.parse(text), ...(cursor === null ? {} : { cursor }) }
        const answer: Answer = await ask<Answer>('POST', path, { body, signal })
        sum.matched += answer.matched
        sum.lookedAt += answer.looked_at
        sum.isWhole = answer.next_cursor === null
        if (sum.samples.length === 0) sum.samples = answer.samples
        setFound({ ...sum })
        if (answer.next_cursor === null) return
        cursor = answer.next_cursor
      }
    }
    const timer = setTimeout(() => {
      countOn().catch((error: unknown) => {
        if (!signal.aborted) setFound({ matched: 0, lookedAt: 0, isWhole: false, samples: [], error })
      })
    }, SETTLED_MS)
    return () => {
      clearTimeout(timer)
      controller.abort()
    }
  }, [path, text])
  return found
}

export function CountPanel({
  catalog,
  found,
  figures
}: {
  catalog: CatalogAt
  found: LiveCount | undefined
  figures: Figures | undefined
}) {
  if (!found) return <p className="muted">Complete a filter to see how many products it matches.</p>
  // What is wrong with a filter is said beside it.
  if (found.error)
    return hasFilter(found.error) ? (
      <p className="muted">A filter is not right yet.</p>
    ) : (
      <Problem error={found.error} />
    )
  const share = figures && figures.product_count > 0 ? Math.min(1, found.lookedAt / figures.product_count) : undefined
  return (
    <div className="stack">
      <div aria-live="polite">
        <p className="big-number">
          {found.isWhole ? '' : 'at least '}
          {count(found.matched)}
        </p>
        <p className="muted">
          {found.matched === 1 ? 'product matches' : 'products match'}
          {found.isWhole ? ` of ${count(found.lookedAt)}` : ` of the first ${count(found.lookedAt)}`}
        </p>
      </div>
      {found.isWhole || share === undefined ? null : (
        <>
          <Progress value={share} label="Products looked at" />
          <p className="muted small">{percent(share)} of the catalog looked at</p>
        </>
      )}
      {found.samples.length > 0 ? (
        <ul className="samples" aria-label="Some of them">
          {found.samples.map((product) => (
            <li key={product.product_key}>
              <span className="thumb">
                <Picture catalog={catalog} product={product} />
              </span>
              <span className="stack tight">
                <span className="ellipsis">{product.title}</span>
                <span className="small">
                  <Price product={product} />
                </span>
              </span>
            </li>
          ))}
        </ul>
      ) : found.isWhole ? (
        <p className="muted small">Loosen a filter, or take one away: all of them must hold.</p>
      ) : null}
    </div>
  )
}

const hasFilter = (error: unknown) => error instanceof Error && /filters\[\d+\]/.test(error.message)
