/** Whom a line item is shown to. Changes are collected, estimated as they come, and saved together. */
import { useQuery } from '@tanstack/react-query'
import { useBlocker } from '@tanstack/react-router'
import { useEffect, useState } from 'react'
import { ApiProblem, request } from '../../client/api.ts'
import { plural } from '../../client/format.ts'
import { Empty, Loading, Problem } from '../../ui/bits.tsx'
import { Button } from '../../ui/button.tsx'
import { Confirm, say } from '../../ui/overlays.tsx'
import { Audience } from './audience.tsx'
import { CriteriaSearch } from './criteria-search.tsx'
import { faultSentence } from './faults.ts'
import { accountPath, type Criterion, criteriaQuery, type LineItem, targetingTypesQuery } from './queries.ts'
import { useScope } from './scope.tsx'
import { criterionName, inOrder, typeName } from './targeting-words.ts'

/** One that is not saved yet. */
export interface NewCriterion {
  targeting_type: string
  targeting_value: string
  operator_type: string
  name: string
}

export const keyOf = ({ targeting_type, targeting_value, operator_type }: Omit<NewCriterion, 'name'>) =>
  `${targeting_type} ${operator_type} ${targeting_value}`

export function Targeting({ item }: { item: LineItem }) {
  const scope = useScope()
  const saved = useQuery(criteriaQuery(scope, item.id))
  const types = useQuery(targetingTypesQuery(scope.listener))
  const [added, setAdded] = useState<readonly NewCriterion[]>([])
  const [removed, setRemoved] = useState<ReadonlySet<string>>(new Set())
  const draft = useBatch(item, added, removed)
  const changes = added.length + removed.size
  // Asked only where the pages change; saving goes through without a question.
  const leaving = useBlocker({
    shouldBlockFn: () => changes > 0,
    enableBeforeUnload: () => changes > 0,
    withResolver: true
  })
  const error = saved.error ?? types.error
  if (error) return <Problem error={error} retry={() => void saved.refetch()} />
  if (!saved.data || !types.data) return <Loading what="the targeting" />
  const writes = scope.may('campaigns.write') && !item.deleted
  const rows = saved.data.data
  const kept = rows.filter(({ id }) => !removed.has(id))
  const known = new Set([...kept, ...added].map(keyOf))
  const discard = () => {
    setAdded([])
    setRemoved(new Set())
  }
  const add = (criterion: NewCriterion) => {
    const again = rows.find((row) => keyOf(row) === keyOf(criterion))
    if (again) setRemoved(new Set([...removed].filter((id) => id !== again.id)))
    else if (!known.has(keyOf(criterion))) setAdded([...added, criterion])
  }
  return (
    <div className="targeting-page">
      <div className="stack">
        {writes ? <CriteriaSearch types={types.data} known={known} onAdd={add} /> : null}
        <Groups
          saved={rows}
          added={added}
          removed={removed}
          problems={draft.problems}
          primary={new Set(types.data.filter((type) => type.primary).map((type) => type.targeting_type))}
          onRemove={writes ? (id) => setRemoved(new Set(removed).add(id)) : undefined}
          onKeep={(id) => setRemoved(new Set([...removed].filter((each) => each !== id)))}
          onDrop={(criterion) => setAdded(added.filter((each) => keyOf(each) !== keyOf(criterion)))}
        />
        {changes > 0 ? (
          <section className="save-bar" aria-label="Changes that are not saved">
            <span className="grow">
              <strong>{plural(changes, 'change')}</strong> not saved yet
            </span>
            <Problems draft={draft} added={added} />
            <Button onClick={discard}>Discard</Button>
            <Button
              variant="primary"
              busy={draft.saving && 'Saving …'}
              onClick={() =>
                void draft.save().then((done) => {
                  if (done) discard()
                })
              }
            >
              Save the targeting
            </Button>
          </section>
        ) : null}
      </div>
      <Confirm
        open={leaving.status === 'blocked'}
        onClose={() => leaving.reset?.()}
        title="Leave without saving?"
        action="Leave"
        onConfirm={async () => leaving.proceed?.()}
      >
        {plural(changes, 'change')} of the targeting would be lost.
      </Confirm>
      <Audience saved={rows} criteria={[...kept, ...added]} types={types.data} />
    </div>
  )
}

const PAUSE_MS = 350

/** The changes as one batch: checked while they are collected, sent when they are saved. */
function useBatch(item: LineItem, added: readonly NewCriterion[], removed: ReadonlySet<string>) {
  const { listener, accountId, changed } = useScope()
  const [error, setError] = useState<unknown>()
  const [saving, setSaving] = useState(false)
  const path = accountPath(listener, accountId, '/targeting_criteria').replace('/12/', '/12/batch/')
  const text = JSON.stringify([
    ...[...removed].map((id) => ({ operation_type: 'Delete', params: { targeting_criterion_id: id } })),
    ...added.map(({ name: _, ...params }) => ({
      operation_type: 'Create',
      params: { line_item_id: item.id, ...params }
    }))
  ])
  useEffect(() => {
    setError(undefined)
    if (text === '[]') return
    const controller = new AbortController()
    const timer = setTimeout(() => {
      const options = { query: { validate_only: true }, body: JSON.parse(text), signal: controller.signal }
      request('POST', path, options).catch((refused: unknown) => !controller.signal.aborted && setError(refused))
    }, PAUSE_MS)
    return () => {
      clearTimeout(timer)
      controller.abort()
    }
  }, [text, path])
  const operations = error instanceof ApiProblem ? error.operations : []
  const problems = new Map(
    added.flatMap((criterion, at) => {
      const fault = operations[removed.size + at]?.[0]
      return fault ? [[keyOf(criterion), faultSentence(fault)] as const] : []
    })
  )
  return {
    problems,
    general: error && problems.size === 0 ? (error as Error).message : undefined,
    saving,
    async save() {
      setSaving(true)
      try {
        await request('POST', path, { body: JSON.parse(text) })
        await changed()
        say('The targeting is saved')
        return true
      } catch (refused) {
        setError(refused)
        return false
      } finally {
        setSaving(false)
      }
    }
  }
}

/** What the server says about the changes as they are. */
function Problems({ draft, added }: { draft: ReturnType<typeof useBatch>; added: readonly NewCriterion[] }) {
  const wrong = added.filter((each) => draft.problems.has(keyOf(each)))
  if (wrong.length === 0 && !draft.general) return null
  return (
    <div className="save-problems bad" role="alert">
      {draft.general}
      <ul>
        {wrong.map((each) => (
          <li key={keyOf(each)}>
            <strong>{criterionName(each)}</strong>: {draft.problems.get(keyOf(each))}
          </li>
        ))}
      </ul>
    </div>
  )
}

interface GroupsProps {
  saved: readonly Criterion[]
  added: readonly NewCriterion[]
  removed: ReadonlySet<string>
  problems: ReadonlyMap<string, string>
  primary: ReadonlySet<string>
  onRemove: ((id: string) => void) | undefined
  onKeep: (id: string) => void
  onDrop: (criterion: NewCriterion) => void
}

function Groups(props: GroupsProps) {
  const { saved, added, primary } = props
  const types = inOrder([...new Set([...saved, ...added].map(({ targeting_type }) => targeting_type))])
  if (types.length === 0)
    return (
      <Empty icon="user" title="Everybody may see this">
        Without targeting a line item is shown to anybody. Say who they are, or where.
      </Empty>
    )
  const parts = [
    ['People with any of', types.filter((type) => primary.has(type))],
    ['Narrowed to', types.filter((type) => !primary.has(type))]
  ] as const
  return (
    <>
      {parts.map(([title, group]) =>
        group.length === 0 ? null : (
          <section key={title} className="card criteria" aria-label={title}>
            <header>
              <h2>{title}</h2>
            </header>
            <div className="body stack">
              {group.map((type) => (
                <div key={type} className="criteria-type">
                  <h3>{typeName(type)}</h3>
                  <ul className="chips">
                    <Chips {...props} type={type} />
                  </ul>
                </div>
              ))}
            </div>
          </section>
        )
      )}
    </>
  )
}

function Chips({ type, saved, added, removed, problems, onRemove, onKeep, onDrop }: GroupsProps & { type: string }) {
  return (
    <>
      {saved
        .filter(({ targeting_type }) => targeting_type === type)
        .map((row) => {
          const gone = removed.has(row.id)
          const name = criterionName(row)
          return (
            <li key={row.id} className={`chip ${row.operator_type === 'NE' ? 'not' : ''} ${gone ? 'gone' : ''}`}>
              <Operator operator={row.operator_type} />
              {gone ? <del>{name}</del> : name}
              {onRemove ? (
                <Button
                  variant="ghost"
                  size="small"
                  icon={gone ? 'replay' : 'cross'}
                  aria-label={gone ? `Keep ${name}` : `Remove ${name}`}
                  onClick={() => (gone ? onKeep(row.id) : onRemove(row.id))}
                />
              ) : null}
            </li>
          )
        })}
      {added
        .filter(({ targeting_type }) => targeting_type === type)
        .map((each) => {
          const name = criterionName(each)
          return (
            <li
              key={keyOf(each)}
              className={`chip new ${each.operator_type === 'NE' ? 'not' : ''} ${problems.has(keyOf(each)) ? 'wrong' : ''}`}
            >
              <Operator operator={each.operator_type} />
              {name} <span className="small">new</span>
              <Button
                variant="ghost"
                size="small"
                icon="cross"
                aria-label={`Remove ${name}`}
                onClick={() => onDrop(each)}
              />
            </li>
          )
        })}
    </>
  )
}

const OPERATORS: Record<string, string> = { NE: 'not', GTE: 'at least', LT: 'less than' }
const Operator = ({ operator }: { operator: string }) =>
  OPERATORS[operator] ? <strong className="small">{OPERATORS[operator]}</strong> : null
