/** Labelled inputs; each says what is wrong with it, in the server's words where the server said so. */
import { type ComponentProps, type ReactNode, useId } from 'react'
import { ApiProblem } from '../client/api.ts'
import { Icon } from './icon.tsx'

interface FieldProps {
  label: ReactNode
  hint?: ReactNode
  problem?: string | undefined
}

const describedBy = (id: string, { hint, problem }: Pick<FieldProps, 'hint' | 'problem'>) =>
  [hint ? `${id}-hint` : '', problem ? `${id}-problem` : ''].filter(Boolean).join(' ') || undefined

const Field = ({ id, label, hint, problem, children }: FieldProps & { id: string; children: ReactNode }) => (
  <div className="field">
    <label htmlFor={id}>{label}</label>
    {children}
    {hint ? (
      <span className="hint" id={`${id}-hint`}>
        {hint}
      </span>
    ) : null}
    {problem ? (
      <span className="problem" id={`${id}-problem`} role="alert">
        {problem}
      </span>
    ) : null}
  </div>
)

export function TextField({ label, hint, problem, className, ...input }: FieldProps & ComponentProps<'input'>) {
  const id = useId()
  return (
    <Field {...{ id, label, hint, problem }}>
      <input
        id={id}
        {...input}
        className={`input ${className ?? ''}`}
        aria-invalid={problem ? true : undefined}
        aria-describedby={describedBy(id, { hint, problem })}
      />
    </Field>
  )
}

export function TextArea({ label, hint, problem, className, ...input }: FieldProps & ComponentProps<'textarea'>) {
  const id = useId()
  return (
    <Field {...{ id, label, hint, problem }}>
      <textarea
        id={id}
        {...input}
        className={`textarea ${className ?? ''}`}
        aria-invalid={problem ? true : undefined}
        aria-describedby={describedBy(id, { hint, problem })}
      />
    </Field>
  )
}

export type Choice = readonly [value: string, text: string]

export function SelectField({
  label,
  hint,
  problem,
  choices,
  ...input
}: FieldProps & ComponentProps<'select'> & { choices: readonly Choice[] }) {
  const id = useId()
  return (
    <Field {...{ id, label, hint, problem }}>
      <select id={id} {...input} className="select" aria-describedby={describedBy(id, { hint, problem })}>
        {choices.map(([value, text]) => (
          <option key={value} value={value}>
            {text}
          </option>
        ))}
      </select>
    </Field>
  )
}

/** For filters: the label is only read out. */
export const Select = ({
  label,
  choices,
  ...input
}: ComponentProps<'select'> & { label: string; choices: readonly Choice[] }) => (
  <span className="inline">
    <select aria-label={label} {...input} className="select">
      {choices.map(([value, text]) => (
        <option key={value} value={value}>
          {text}
        </option>
      ))}
    </select>
  </span>
)

export const SearchBox = ({ label, ...input }: ComponentProps<'input'> & { label: string }) => (
  <span className="search-box inline">
    <Icon name="search" />
    <input type="search" aria-label={label} placeholder={label} {...input} className="input" />
  </span>
)

export const Check = ({ label, ...input }: ComponentProps<'input'> & { label: ReactNode }) => (
  <label className="check">
    <input type="checkbox" {...input} />
    <span>{label}</span>
  </label>
)

/** What the server said about one parameter of a request. */
export function problemFor(error: unknown, parameter: string): string | undefined {
  if (!(error instanceof ApiProblem)) return undefined
  const fault = error.faults.find(
    (each) => each.parameter === parameter || each.attribute === parameter || each.parameters?.[parameter] !== undefined
  )
  return fault?.message
}
