/** What a set is called and which products it holds. Filters of a set that exists cannot be changed, only copied. */
import { useMutation, useQuery, useQueryClient } from '@tanstack/react-query'
import { type FormEvent, useMemo, useState } from 'react'
import { ApiProblem, ask, sentence } from '../../client/api.ts'
import { Card, Problem, Segmented } from '../../ui/bits.tsx'
import { Button } from '../../ui/button.tsx'
import { problemFor, TextField } from '../../ui/fields.tsx'
import { type CatalogAt, figuresQuery, type Glimpse, type ProductSet } from './api.ts'
import { FilterBuilder } from './filter-builder.tsx'
import { type Filter, newFilter } from './filters.ts'
import { CountPanel, useLiveCount } from './live-count.tsx'
import { ProductPicker } from './product-picker.tsx'

export interface SetStart {
  /** The set to change; without it a new one is made. */
  id?: string
  name: string
  description: string
  type: ProductSet['type']
  filters: Filter[]
  picked: Glimpse[]
}

export const BLANK: SetStart = {
  name: '',
  description: '',
  type: 'FILTERED',
  filters: [newFilter()],
  picked: []
}

const PARAMETERS = ['name', 'description', 'filters', 'product_keys']
const isSaidElsewhere = (error: unknown) =>
  error instanceof ApiProblem && error.faults.every(({ parameter }) => PARAMETERS.includes(parameter ?? ''))

export function SetForm({
  catalog,
  start,
  onDone,
  onCancel
}: {
  catalog: CatalogAt
  start: SetStart
  onDone: (set: ProductSet) => Promise<unknown>
  onCancel: () => void
}) {
  const client = useQueryClient()
  const [name, setName] = useState(start.name)
  const [description, setDescription] = useState(start.description)
  const [type, setType] = useState(start.type)
  const [filters, setFilters] = useState(start.filters)
  const [picked, setPicked] = useState(start.picked)
  const { data: figures } = useQuery(figuresQuery(catalog))
  const whole = useMemo(() => filters.filter(({ value }) => value.trim() !== ''), [filters])
  const found = useLiveCount(catalog, type === 'FILTERED' && start.id === undefined ? whole : [])
  const save = useMutation({
    mutationFn: () => {
      const product_keys = picked.map(({ product_key }) => product_key)
      if (start.id !== undefined)
        return ask<ProductSet>('PUT', catalog.path(`/product_sets/${start.id}`), {
          body: { name, description, product_keys }
        })
      const content = type === 'FILTERED' ? { filters: whole } : { product_keys }
      const body = { name, type, ...(description === '' ? {} : { description }), ...content }
      return ask<ProductSet>('POST', catalog.path('/product_sets'), { body })
    },
    onSuccess: async (set) => {
      await client.invalidateQueries({ queryKey: catalog.key() })
      await onDone(set)
    }
  })
  const submit = (event: FormEvent) => {
    event.preventDefault()
    save.mutate()
  }
  const ofFilters =
    problemFor(save.error, 'filters') ??
    (found?.error ? (problemFor(found.error, 'filters') ?? sentence(found.error)) : undefined)
  const fields = (
    <div className="stack">
      <div className="grid-2" style={{ '--min': '14rem' } as React.CSSProperties}>
        <TextField
          label="Name"
          value={name}
          onChange={({ target }) => setName(target.value)}
          placeholder="Shoes over 100 dollars"
          autoComplete="off"
          required
          problem={problemFor(save.error, 'name')}
        />
        <TextField
          label="Description"
          value={description}
          onChange={({ target }) => setDescription(target.value)}
          autoComplete="off"
          problem={problemFor(save.error, 'description')}
        />
      </div>
      {start.id === undefined ? (
        <Segmented
          label="How products get into the set"
          value={type}
          onChange={setType}
          options={[
            ['FILTERED', 'By filters'],
            ['MANUAL', 'By hand']
          ]}
        />
      ) : null}
      {type === 'FILTERED' ? (
        <>
          <FilterBuilder filters={filters} onChange={setFilters} message={ofFilters} />
          {whole.length === 0 && save.error ? <p className="bad small">{problemFor(save.error, 'filters')}</p> : null}
        </>
      ) : (
        <ProductPicker
          catalog={catalog}
          picked={picked}
          onChange={setPicked}
          problem={problemFor(save.error, 'product_keys')}
        />
      )}
      {save.error && !isSaidElsewhere(save.error) ? <Problem error={save.error} /> : null}
      <div className="actions">
        <Button onClick={onCancel}>Cancel</Button>
        <Button type="submit" variant="primary" busy={save.isPending && 'Saving …'}>
          {start.id === undefined ? 'Create the set' : 'Save'}
        </Button>
      </div>
    </div>
  )
  return (
    <form className={type === 'FILTERED' ? 'set-form' : 'stack'} onSubmit={submit}>
      <Card>{fields}</Card>
      {type === 'FILTERED' ? (
        <Card title="Matches now">
          <CountPanel catalog={catalog} found={found} figures={figures} />
        </Card>
      ) : null}
    </form>
  )
}
