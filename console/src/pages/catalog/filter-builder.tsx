/** Filters as sentences: an attribute, how it compares, and a value. All of them must hold. */
import { Button } from '../../ui/button.tsx'
import { Select, TextField } from '../../ui/fields.tsx'
import {
  ATTRIBUTE_CHOICES,
  exampleOf,
  FILTERS_MAX,
  type Filter,
  newFilter,
  operatorsOf,
  problemOfFilter,
  withAttribute
} from './filters.ts'

export function FilterBuilder({
  filters,
  onChange,
  message
}: {
  filters: readonly Filter[]
  onChange: (filters: Filter[]) => void
  /** What the server said about them. */
  message: string | undefined
}) {
  const change = (at: number, filter: Filter) => onChange(filters.map((each, i) => (i === at ? filter : each)))
  // The server counts those that it was sent, which are those with a value.
  const sentAt = (at: number) => filters.slice(0, at).filter(({ value }) => value.trim() !== '').length
  return (
    <fieldset className="filter-builder">
      <legend>Products of which all of this holds</legend>
      {filters.map((filter, at) => (
        // biome-ignore lint/suspicious/noArrayIndexKey: filters have no name but their place
        <div key={at} className="filter-row">
          <Select
            label={`Attribute of filter ${at + 1}`}
            value={filter.attribute}
            onChange={({ target }) => change(at, withAttribute(filter, target.value))}
            choices={ATTRIBUTE_CHOICES}
          />
          <Select
            label={`Comparison of filter ${at + 1}`}
            value={filter.operator}
            onChange={({ target }) => change(at, { ...filter, operator: target.value })}
            choices={operatorsOf(filter.attribute)}
          />
          <TextField
            label={<span className="visually-hidden">Value of filter {at + 1}</span>}
            value={filter.value}
            onChange={({ target }) => change(at, { ...filter, value: target.value })}
            placeholder={exampleOf(filter.attribute)}
            autoComplete="off"
            problem={filter.value.trim() === '' ? undefined : problemOfFilter(message, sentAt(at))}
          />
          <Button
            variant="ghost"
            icon="trash"
            aria-label={`Take filter ${at + 1} away`}
            disabled={filters.length === 1}
            onClick={() => onChange(filters.filter((_, i) => i !== at))}
          />
        </div>
      ))}
      <div>
        <Button
          icon="plus"
          disabled={filters.length >= FILTERS_MAX}
          onClick={() => onChange([...filters, newFilter(filters.at(-1)?.attribute)])}
        >
          Add a filter
        </Button>
      </div>
    </fieldset>
  )
}
