/** How many people the criteria reach, as they are now on the page; it moves with every one that comes or goes. */
import { keepPreviousData, useQuery } from '@tanstack/react-query'
import { useEffect, useState } from 'react'
import { ask } from '../../client/api.ts'
import { Problem } from '../../ui/bits.tsx'
import { accountKey, type TargetingType } from './queries.ts'
import { useScope } from './scope.tsx'
import { keyOf, type NewCriterion } from './targeting.tsx'
import { criterionName } from './targeting-words.ts'

interface Size {
  min: number
  max: number
}

type Estimated = Omit<NewCriterion, 'name'> & { name: string | null }

interface AudienceProps {
  saved: readonly Estimated[]
  criteria: readonly Estimated[]
  types: readonly TargetingType[]
}

/** What counts: comparisons of another kind than include and exclude are no part of an estimate. */
function countable(criteria: readonly Estimated[], types: readonly TargetingType[]) {
  const counted = criteria.filter(({ operator_type }) => operator_type === 'EQ' || operator_type === 'NE')
  const primary = new Set(types.filter((type) => type.primary).map((type) => type.targeting_type))
  const enough = counted.some(
    ({ targeting_type, operator_type }) => primary.has(targeting_type) && operator_type === 'EQ'
  )
  return { counted, enough }
}

function useEstimate(criteria: readonly Estimated[], types: readonly TargetingType[]) {
  const scope = useScope()
  const { counted, enough } = countable(criteria, types)
  const targeting_criteria = counted.map(({ targeting_type, targeting_value, operator_type }) => ({
    targeting_type,
    targeting_value,
    operator_type
  }))
  const estimate = useQuery<Size>({
    queryKey: [...accountKey(scope.listener, scope.accountId), 'estimate', counted.map(keyOf).sort()],
    queryFn: ({ signal }) =>
      ask<{ audience_size: Size }>('POST', scope.at('/audience_estimate'), {
        body: { targeting_criteria },
        signal
      }).then(({ audience_size }) => audience_size),
    enabled: enough,
    placeholderData: keepPreviousData,
    staleTime: 300_000,
    retry: false
  })
  return { ...estimate, enough }
}

const people = new Intl.NumberFormat(undefined, { notation: 'compact', maximumSignificantDigits: 3 })
const exact = new Intl.NumberFormat()
const range = ({ min, max }: Size) => `${people.format(min)} – ${people.format(max)}`
const middle = ({ min, max }: Size) => (min + max) / 2

/** A scale by magnitudes: from ten people to a hundred million. */
const DECADES = [1, 8] as const
const place = (n: number) => {
  const [from, to] = DECADES
  return Math.min(100, Math.max(0, ((Math.log10(Math.max(n, 1)) - from) / (to - from)) * 100))
}

interface Move {
  id: number
  what: string
  from: Size
  to: Size
}

export function Audience({ saved, criteria, types }: AudienceProps) {
  const now = useEstimate(criteria, types)
  const before = useEstimate(saved, types)
  const moves = useMoves(criteria, now.isPlaceholderData ? undefined : now.data)
  const changed = criteria.map(keyOf).sort().join() !== saved.map(keyOf).sort().join()
  return (
    <aside className="card audience" aria-label="Audience estimate">
      <header>
        <h2>Audience</h2>
        {now.isFetching ? <span className="muted small">counting …</span> : null}
      </header>
      <div className="body stack">
        {!now.enough ? (
          <p className="muted">
            An estimate begins with people: add an interest, a keyword, followers of somebody, a TV show or a custom
            audience. Everything else narrows them.
          </p>
        ) : now.error ? (
          <Problem error={now.error} retry={() => void now.refetch()} />
        ) : now.data ? (
          <>
            <output className="audience-size" data-moving={now.isPlaceholderData ? '' : undefined}>
              <strong className="num">{range(now.data)}</strong>
              <span className="muted">people</span>
            </output>
            <Meter size={now.data} before={changed && before.enough ? before.data : undefined} />
            {changed && before.enough && before.data ? (
              <p className="small">
                As saved: <span className="num">{range(before.data)}</span> (<Delta from={before.data} to={now.data} />)
              </p>
            ) : null}
            <p className="muted small">
              Between {exact.format(now.data.min)} and {exact.format(now.data.max)} people are expected, with 95 %
              certainty.
            </p>
          </>
        ) : (
          <p className="muted">Counting people …</p>
        )}
        {moves.length > 0 ? (
          <section aria-label="How it moved" className="stack tight">
            <h3>How it moved</h3>
            <ol className="moves">
              {moves.map(({ id, what, from, to }) => (
                <li key={id}>
                  <span className="ellipsis grow" title={what}>
                    {what}
                  </span>
                  <Delta from={from} to={to} />
                </li>
              ))}
            </ol>
          </section>
        ) : null}
      </div>
    </aside>
  )
}

function Delta({ from, to }: { from: Size; to: Size }) {
  const share = middle(from) === 0 ? 0 : middle(to) / middle(from) - 1
  const percent = `${share > 0 ? '+' : share < 0 ? '−' : '±'}${Math.abs(share * 100).toFixed(Math.abs(share) < 0.1 ? 1 : 0)} %`
  return <span className={`num nowrap ${share > 0.001 ? 'good' : share < -0.001 ? 'warn' : 'muted'}`}>{percent}</span>
}

const TICKS = [
  [100, '100'],
  [10_000, '10K'],
  [1_000_000, '1M'],
  [100_000_000, '100M']
] as const

const Meter = ({ size, before }: { size: Size; before: Size | undefined }) => (
  <div className="meter" aria-hidden="true">
    <div className="meter-track">
      {before ? <span className="meter-before" style={{ left: `${place(middle(before))}%` }} /> : null}
      <span
        className="meter-range"
        style={{ left: `${place(size.min)}%`, width: `max(8px, ${place(size.max) - place(size.min)}%)` }}
      />
    </div>
    <div className="meter-ticks">
      {TICKS.map(([at, label]) => (
        <span key={label} style={{ left: `${place(at)}%` }}>
          {label}
        </span>
      ))}
    </div>
  </div>
)

/** What came or went, and what that did, the last one first. */
function useMoves(criteria: readonly Estimated[], size: Size | undefined): Move[] {
  const [state, setState] = useState<{ keys: Map<string, string>; size: Size; moves: Move[] }>()
  const keys = new Map(
    criteria.map((each) => [
      keyOf(each),
      each.operator_type === 'NE' ? `not ${criterionName(each)}` : criterionName(each)
    ])
  )
  const text = [...keys.keys()].sort().join()
  // biome-ignore lint/correctness/useExhaustiveDependencies: `text` stands for the criteria
  useEffect(() => {
    if (!size) return
    setState((was) => {
      if (!was) return { keys, size, moves: [] }
      const came = [...keys].filter(([key]) => !was.keys.has(key)).map(([, name]) => `+ ${name}`)
      const went = [...was.keys].filter(([key]) => !keys.has(key)).map(([, name]) => `− ${name}`)
      const what = [...came, ...went].join(', ')
      if (what === '') return was
      return {
        keys,
        size,
        moves: [{ id: (was.moves[0]?.id ?? 0) + 1, what, from: was.size, to: size }, ...was.moves].slice(0, 8)
      }
    })
  }, [text, size])
  return state?.moves ?? []
}
