/** Forms that the server checks while one types: `validate_only` asks it without changing anything. */
import { useEffect, useMemo, useRef, useState } from 'react'
import { ask, type Method } from '../../client/api.ts'
import { Callout } from '../../ui/bits.tsx'
import { Icon, type IconName } from '../../ui/icon.tsx'
import { faultsByField } from './faults.ts'
import { fieldName } from './words.ts'

const PAUSE_MS = 350

type FormState = 'idle' | 'checking' | 'good' | 'bad' | 'unasked'

export interface CheckedForm<V extends Record<string, string>, T> {
  values: V
  set<K extends keyof V & string>(name: K, value: V[K]): void
  /** What an input needs: its value, what typing does, and what is wrong with it. */
  field(name: keyof V & string): {
    name: string
    value: string
    onChange: (event: { target: { value: string } }) => void
    onBlur: () => void
    problem: string | undefined
  }
  /** What is wrong and belongs to no field. */
  general: string | undefined
  /** Fields that the server still wants something from and that were not reached yet. */
  waiting: string[]
  /** What would be stored, by the last check that went well. */
  preview: T | undefined
  state: FormState
  saving: boolean
  submit(): Promise<T | undefined>
}

interface FormOptions<V extends Record<string, string>, T> {
  initial: V
  method: Method
  path: string
  /** What is sent; undefined while something is missing that the server need not be asked about. */
  body: (values: V) => object | undefined
  /** What the page itself knows to be wrong, by field: amounts and times that are none. */
  problems?: (values: V) => Partial<Record<keyof V & string, string>>
  /** Fields that must not be empty. */
  needed?: readonly (keyof V & string)[]
  currency?: string | undefined
  /** Where the server cannot be asked without being told: its calls know no validate_only. */
  unchecked?: boolean | undefined
  onDone: (answer: T) => unknown
}

export function useCheckedForm<V extends Record<string, string>, T = unknown>(
  options: FormOptions<V, T>
): CheckedForm<V, T> {
  const { initial, method, path, body, problems, needed = [], currency, unchecked = false, onDone } = options
  const [values, setValues] = useState(initial)
  const [touched, setTouched] = useState<ReadonlySet<string>>(new Set())
  const [tried, setTried] = useState(false)
  const [saving, setSaving] = useState(false)
  const [checking, setChecking] = useState(false)
  const [outcome, setOutcome] = useState<{ answer?: T; error?: unknown }>({})
  const edited = useRef(false)

  const own = new Map<string, string>(
    Object.entries(problems?.(values) ?? {}).filter((entry): entry is [string, string] => entry[1] !== undefined)
  )
  for (const name of needed) if (values[name]?.trim() === '' && !own.has(name)) own.set(name, 'This is needed.')
  const sent = own.size === 0 ? body(values) : undefined
  const text = sent === undefined ? undefined : JSON.stringify(sent)

  useEffect(() => {
    if (text === undefined || !edited.current || unchecked) return
    const controller = new AbortController()
    const { signal } = controller
    const timer = setTimeout(() => {
      setChecking(true)
      ask<T>(method, path, { body: { ...JSON.parse(text), validate_only: true }, signal })
        .then(
          (answer) => !signal.aborted && setOutcome({ answer }),
          (error: unknown) => !signal.aborted && setOutcome({ error })
        )
        .finally(() => !signal.aborted && setChecking(false))
    }, PAUSE_MS)
    return () => {
      clearTimeout(timer)
      controller.abort()
      setChecking(false)
    }
  }, [text, method, path, unchecked])

  const names = useMemo(() => new Set(Object.keys(initial)), [initial])
  const told = faultsByField(text === undefined ? undefined : outcome.error, names, currency)
  const problemOf = (name: string) => (tried || touched.has(name) ? (own.get(name) ?? told.get(name)) : undefined)

  const set = (name: string, value: string) => {
    edited.current = true
    setValues((was) => ({ ...was, [name]: value }))
  }
  const touch = (name: string) => setTouched((was) => (was.has(name) ? was : new Set(was).add(name)))

  return {
    values,
    set: (name, value) => {
      touch(name)
      set(name, value)
    },
    field: (name) => ({
      name,
      value: values[name] ?? '',
      onChange: ({ target }) => {
        // An empty field is told when it is left, not while it is still to be filled.
        if (target.value !== '') touch(name)
        set(name, target.value)
      },
      onBlur: () => {
        if (edited.current) touch(name)
      },
      problem: problemOf(name)
    }),
    general: edited.current || tried ? told.get('') : undefined,
    waiting: [...told.keys()].filter((name) => name !== '' && problemOf(name) === undefined),
    preview: outcome.answer,
    state: unchecked
      ? 'unasked'
      : checking
        ? 'checking'
        : text === undefined
          ? 'idle'
          : outcome.error
            ? 'bad'
            : outcome.answer
              ? 'good'
              : 'idle',
    saving,
    async submit() {
      setTried(true)
      if (sent === undefined) return undefined
      setSaving(true)
      try {
        const answer = await ask<T>(method, path, { body: sent })
        await onDone(answer)
        return answer
      } catch (error) {
        setOutcome({ error })
        return undefined
      } finally {
        setSaving(false)
      }
    }
  }
}

const STATES: Record<FormState, { text: string; tone: string; icon?: IconName }> = {
  idle: { text: 'Checked while you type; nothing is saved before you say so.', tone: 'muted' },
  unasked: { text: '', tone: 'muted' },
  checking: { text: 'Checking …', tone: 'muted' },
  good: { text: 'Checked: this can be saved.', tone: 'good', icon: 'check' },
  bad: { text: 'This cannot be saved yet.', tone: 'bad', icon: 'alert' }
}

/** What stands between the fields and the buttons. */
export const FormNotes = ({
  form
}: {
  form: Pick<CheckedForm<Record<string, string>, unknown>, 'general' | 'state' | 'waiting'>
}) => (
  <>
    {form.general ? (
      <Callout tone="bad" role="alert">
        {form.general}
      </Callout>
    ) : null}
    <output className={`form-state small ${STATES[form.state].tone}`}>
      {STATES[form.state].icon ? <Icon name={STATES[form.state].icon!} size={14} /> : null}
      {form.state === 'bad' && form.waiting.length > 0
        ? `Still to be filled in: ${form.waiting.map(fieldName).join(', ')}.`
        : STATES[form.state].text}
    </output>
  </>
)
