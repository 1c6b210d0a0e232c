/** A rule as it is written: errors are marked where they are, and each clause says whether the sample post fits it. */
import './rules.css'
import { keepPreviousData, useMutation, useQuery, useQueryClient } from '@tanstack/react-query'
import { type FormEvent, Fragment, type ReactNode, useEffect, useId, useRef, useState } from 'react'
import { ask, request } from '../../client/api.ts'
import type { App } from '../../client/resources.ts'
import { Badge, Card, Problem } from '../../ui/bits.tsx'
import { Button } from '../../ui/button.tsx'
import { TextField } from '../../ui/fields.tsx'
import { say } from '../../ui/overlays.tsx'
import { rulesQuery } from './queries.ts'
import { readPost } from './sample-post.tsx'

interface Clause {
  clause: string
  /** From 1. */
  position: number
  matched: boolean
  found?: unknown
}
interface Tried {
  valid: boolean
  matched: boolean
  errors?: { message: string; position: number }[]
  clauses?: Clause[]
}
interface Added {
  meta: { summary: { created: number } }
  errors?: { title?: string; detail?: string; details?: string[] }[]
}

const PAUSE_MS = 200

function useSettled<T>(value: T): T {
  const [settled, setSettled] = useState(value)
  useEffect(() => {
    const timer = setTimeout(() => setSettled(value), PAUSE_MS)
    return () => clearTimeout(timer)
  }, [value])
  return settled
}

export function RuleEditor({ app, post }: { app: App; post: string }) {
  const client = useQueryClient()
  const [value, setValue] = useState('')
  const [tag, setTag] = useState('')
  const wanted = useSettled(value.trim() === '' ? '' : value)
  const sample = useSettled(post)
  const tried = useQuery({
    queryKey: ['rule-try', wanted, sample],
    enabled: wanted !== '',
    placeholderData: keepPreviousData,
    queryFn: ({ signal }) => {
      const read = readPost(sample)
      const body = { value: wanted, post: 'post' in read ? read.post : { id: '1', text: '' } }
      return ask<Tried>('POST', '/admin/activity/rules/try', { body, signal })
    }
  })
  const add = useMutation({
    mutationFn: async () => {
      const { meta, errors } = await request<Added>('POST', '/2/tweets/search/stream/rules', {
        app: app.id,
        body: { add: [{ value, ...(tag ? { tag } : {}) }] }
      })
      if (meta.summary.created === 0) {
        const [first] = errors ?? []
        throw new Error(first?.details?.join(' ') ?? first?.detail ?? first?.title ?? 'The rule was not added.')
      }
    },
    onSuccess: async () => {
      await client.invalidateQueries(rulesQuery(app.id))
      say('The rule is added')
      setValue('')
      setTag('')
    }
  })
  const verdict = value.trim() === '' ? undefined : tried.data
  const current = wanted === value && !tried.isPlaceholderData
  const submit = (event: FormEvent) => {
    event.preventDefault()
    add.mutate()
  }
  return (
    <Card title="Write a rule" actions={verdict ? <Verdict tried={verdict} /> : undefined}>
      <form className="stack" onSubmit={submit}>
        <RuleField value={value} onChange={setValue} tried={current ? verdict : undefined} />
        {verdict?.clauses && verdict.clauses.length > 0 ? <Clauses clauses={verdict.clauses} /> : null}
        <TextField
          label="Tag"
          value={tag}
          maxLength={255}
          onChange={({ target }) => setTag(target.value)}
          hint="Comes with every post that the rule matched."
        />
        {tried.error ? <Problem error={tried.error} /> : null}
        {add.error ? <Problem error={add.error} /> : null}
        <div>
          <Button
            type="submit"
            variant="primary"
            icon="plus"
            disabled={value.trim() === '' || verdict?.valid === false}
            busy={add.isPending && 'Adding …'}
          >
            Add the rule
          </Button>
        </div>
      </form>
    </Card>
  )
}

const Verdict = ({ tried }: { tried: Tried }) =>
  !tried.valid ? (
    <Badge tone="bad">not a rule yet</Badge>
  ) : tried.matched ? (
    <Badge tone="good">matches the sample post</Badge>
  ) : (
    <Badge tone="warn">does not match the sample post</Badge>
  )

/** A text field over a copy of its text, in which errors and clauses are marked. */
function RuleField({
  value,
  onChange,
  tried
}: {
  value: string
  onChange: (value: string) => void
  tried: Tried | undefined
}) {
  const id = useId()
  const backdrop = useRef<HTMLPreElement>(null)
  const errors = tried?.errors ?? []
  return (
    <div className="field">
      <label htmlFor={id}>Rule</label>
      <div className="rule-field">
        <pre ref={backdrop} aria-hidden="true">
          {marked(value, tried)}
          {'\n'}
        </pre>
        <textarea
          id={id}
          value={value}
          rows={3}
          spellCheck={false}
          autoComplete="off"
          placeholder='cat has:images -is:retweet (lang:en OR lang:de) "on the keyboard"'
          aria-invalid={errors.length > 0 ? true : undefined}
          aria-describedby={errors.length > 0 ? `${id}-problem` : undefined}
          onChange={({ target }) => onChange(target.value)}
          onScroll={({ currentTarget }) => backdrop.current?.scrollTo(0, currentTarget.scrollTop)}
        />
      </div>
      {errors.length > 0 ? (
        <div className="problem" id={`${id}-problem`} role="alert">
          {errors.map(({ message, position }) => (
            <p key={`${position} ${message}`}>{message}</p>
          ))}
        </div>
      ) : null}
    </div>
  )
}

function marked(value: string, tried: Tried | undefined): ReactNode {
  if (!tried) return value
  const marks = tried.valid
    ? (tried.clauses ?? []).map(({ clause, position, matched }) => ({
        at: position - 1,
        length: clause.length,
        className: matched ? 'clause-good' : 'clause-bad'
      }))
    : (tried.errors ?? []).map(({ position }) => ({
        at: Math.min(position - 1, Math.max(0, value.length - 1)),
        // The word that begins there, or one character.
        length: /^[^\s()]+/.exec(value.slice(position - 1))?.[0].length ?? 1,
        className: 'rule-error'
      }))
  const parts: ReactNode[] = []
  let end = 0
  for (const { at, length, className } of marks.sort((a, b) => a.at - b.at)) {
    if (at < end) continue
    parts.push(<Fragment key={`text ${at}`}>{value.slice(end, at)}</Fragment>)
    parts.push(
      <mark key={at} className={className}>
        {value.slice(at, at + length)}
      </mark>
    )
    end = at + length
  }
  parts.push(<Fragment key="rest">{value.slice(end)}</Fragment>)
  return parts
}

const shown = (found: unknown) => {
  const text = Array.isArray(found) ? found.map(String).join(', ') : JSON.stringify(found)
  return text === '' || text === undefined ? 'nothing' : text.slice(0, 120)
}

const Clauses = ({ clauses }: { clauses: Clause[] }) => (
  <ul className="row wrap" aria-label="What each part makes of the sample post">
    {clauses.map(({ clause, position, matched, found }) => (
      <li key={position}>
        <span title={`The post has: ${shown(found)}`}>
          <Badge tone={matched ? 'good' : 'bad'}>
            {matched ? '✓' : '✗'} <code>{clause}</code>
            <span className="visually-hidden">{matched ? ' fits' : ' does not fit'}</span>
          </Badge>
        </span>
      </li>
    ))}
  </ul>
)
