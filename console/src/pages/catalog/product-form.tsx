/** The fields of a product. While one types, the server says what it would say to a PUT, field by field. */
import { useMutation, useQuery, useQueryClient } from '@tanstack/react-query'
import { type FormEvent, useDeferredValue, useEffect, useRef, useState } from 'react'
import { ask } from '../../client/api.ts'
import { Badge, Callout, Problem } from '../../ui/bits.tsx'
import { Button } from '../../ui/button.tsx'
import { SelectField, TextArea, TextField } from '../../ui/fields.tsx'
import { say } from '../../ui/overlays.tsx'
import type { CatalogAt } from './api.ts'
import {
  byField,
  type Draft,
  draftOf,
  FIELD_GROUPS,
  type FieldName,
  type FormField,
  NEW_DRAFT,
  type Product,
  productOf
} from './product-fields.ts'

interface FieldIssue {
  code: string
  field: string | null
  message: string
}
interface Review {
  would_be: 'CREATED' | 'UPDATED' | 'UNCHANGED' | 'REFUSED'
  errors: FieldIssue[]
  warnings: FieldIssue[]
}
interface BatchResult {
  status: 'CREATE_SUCCESS' | 'UPDATE_SUCCESS' | 'NO_CHANGE' | 'ERROR'
  errors: string[]
  warnings: string[]
  product_key: string | null
}

/** The server has read the product and refused it. */
class RefusedProduct extends Error {
  readonly errors: string[]
  constructor(errors: string[]) {
    super('The product was not saved; what is wrong is said at its fields.')
    this.errors = errors
  }
}

const SETTLED_MS = 350

function useSettled<T>(value: T): T {
  const [settled, setSettled] = useState(value)
  useEffect(() => {
    const timer = setTimeout(() => setSettled(value), SETTLED_MS)
    return () => clearTimeout(timer)
  }, [value])
  return settled
}

const messagesByField = (issues: readonly FieldIssue[] = []) =>
  Object.fromEntries(
    [...Map.groupBy(issues, ({ field }) => field ?? '')].map(([field, all]) => [
      field,
      all.map(({ message }) => message).join(' ')
    ])
  ) as Partial<Record<FieldName | '', string>>

export function ProductForm({
  catalog,
  product,
  onDone
}: {
  catalog: CatalogAt
  product?: Product
  onDone: () => void
}) {
  const client = useQueryClient()
  const [draft, setDraft] = useState<Draft>(() => (product ? draftOf(product) : NEW_DRAFT))
  const [touched, setTouched] = useState<ReadonlySet<string>>(new Set())
  const initial = product ? draftOf(product) : NEW_DRAFT
  const isChanged = Object.entries(draft).some(([name, value]) => value !== initial[name as FieldName])
  const settled = useSettled(useDeferredValue(draft))
  const review = useQuery({
    queryKey: catalog.key('review', settled),
    queryFn: async ({ signal }) => {
      const body = { products: [productOf(settled)] }
      return (await ask<Review[]>('POST', catalog.path('/products/checks'), { body, signal }))[0]!
    },
    placeholderData: (before) => before,
    gcTime: 0,
    retry: false
  })
  const save = useMutation({
    mutationFn: async () => {
      const body = { products: [productOf(draft)] }
      const { products_response } = await ask<{ products_response: BatchResult[] }>('PUT', catalog.path('/products'), {
        body
      })
      const [result] = products_response
      if (result!.status === 'ERROR') throw new RefusedProduct(result!.errors)
      return result!
    },
    onSuccess: async ({ status }) => {
      await client.invalidateQueries({ queryKey: catalog.key() })
      say(status === 'CREATE_SUCCESS' ? 'The product is created' : 'The product is saved', draft.id)
      onDone()
    }
  })

  const refused = save.error instanceof RefusedProduct ? byField(save.error.errors) : undefined
  const errors = messagesByField(review.data?.errors)
  const warnings = messagesByField(review.data?.warnings)
  /** What the server refused stays until the field says something else; what it would refuse shows once one was there. */
  const problemOf = (name: FieldName) =>
    (touched.has(name) || refused || product ? errors[name] : undefined) ??
    (refused && !touched.has(`${name} since`) ? refused.fields[name] : undefined)
  const change = (name: FieldName) => (value: string) => {
    setDraft((was) => ({ ...was, [name]: value }))
    setTouched((was) => new Set([...was, name, `${name} since`]))
  }
  const submit = (event: FormEvent) => {
    event.preventDefault()
    setTouched((was) => new Set([...was].filter((name) => !name.endsWith(' since'))))
    save.mutate()
  }
  const problems = Object.keys(errors).length
  const form = useRef<HTMLFormElement>(null)
  /** Fields that nobody has touched yet say what is wrong from now on. */
  const showProblems = () => {
    setTouched((was) => new Set([...was, ...Object.keys(errors)]))
    requestAnimationFrame(() => form.current?.querySelector<HTMLElement>('[aria-invalid="true"]')?.focus())
  }
  return (
    <form className="product-form" ref={form} onSubmit={submit} noValidate>
      {FIELD_GROUPS.map(({ title, open, fields }) => {
        const needed = fields.some(({ name }) => draft[name] !== '' || problemOf(name) !== undefined)
        return (
          <details key={title} open={open || needed || undefined}>
            <summary>{title}</summary>
            <div className="product-fields">
              {fields.map((field) => (
                <ProductField
                  key={field.name}
                  field={field}
                  value={draft[field.name]}
                  onChange={change(field.name)}
                  onLeave={() => setTouched((was) => new Set([...was, field.name]))}
                  problem={problemOf(field.name)}
                  warning={warnings[field.name]}
                  readOnly={field.name === 'id' && product !== undefined}
                />
              ))}
            </div>
          </details>
        )
      })}
      {refused?.rest.map((message) => (
        <Callout key={message} tone="bad" role="alert">
          {message}
        </Callout>
      ))}
      {save.error ? <Problem error={save.error} /> : null}
      <div className="form-foot">
        <span className="row wrap small muted" aria-live="polite">
          {review.data && isChanged ? (
            review.data.would_be === 'REFUSED' ? (
              <Button size="small" icon="alert" className="mend" onClick={showProblems}>
                {problems === 1 ? 'One field to mend' : `${problems} fields to mend`}
              </Button>
            ) : (
              <Badge tone="good">Ready to save</Badge>
            )
          ) : product ? (
            'Change a field to edit the product in place.'
          ) : null}
        </span>
        <span className="row">
          {product && isChanged ? <Button onClick={() => setDraft(initial)}>Undo</Button> : null}
          <Button type="submit" variant="primary" disabled={!isChanged} busy={save.isPending && 'Saving …'}>
            {product ? 'Save' : 'Create the product'}
          </Button>
        </span>
      </div>
    </form>
  )
}

function ProductField({
  field,
  value,
  onChange,
  onLeave,
  problem,
  warning,
  readOnly
}: {
  field: FormField
  value: string
  onChange: (value: string) => void
  onLeave: () => void
  problem: string | undefined
  warning: string | undefined
  readOnly: boolean
}) {
  const { name, label, required, hint, placeholder, choices, long } = field
  const shared = {
    name,
    label: required ? (
      <>
        {label} <span className="muted small">required</span>
      </>
    ) : (
      label
    ),
    value,
    problem,
    hint: warning ? <span className="warn">{warning}</span> : readOnly ? undefined : hint,
    onBlur: onLeave
  }
  if (choices)
    return (
      <SelectField
        {...shared}
        aria-invalid={problem ? true : undefined}
        onChange={({ target }) => onChange(target.value)}
        choices={[...(required ? [] : [['', '–'] as const]), ...choices.map((each) => [each, each] as const)]}
      />
    )
  if (long)
    return (
      <div className="whole-row">
        <TextArea {...shared} rows={4} onChange={({ target }) => onChange(target.value)} />
      </div>
    )
  const input = (
    <TextField
      {...shared}
      placeholder={placeholder}
      readOnly={readOnly}
      spellCheck={name === 'title'}
      autoComplete="off"
      onChange={({ target }) => onChange(target.value)}
    />
  )
  return /link|title|effective/.test(name) ? <div className="whole-row">{input}</div> : input
}
