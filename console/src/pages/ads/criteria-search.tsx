/** Finds what can be targeted in the lookups, or takes it as it is typed. */
import { keepPreviousData, useQuery } from '@tanstack/react-query'
import { type FormEvent, useEffect, useState } from 'react'
import { Problem, Skeleton } from '../../ui/bits.tsx'
import { Button } from '../../ui/button.tsx'
import { SearchBox, Select } from '../../ui/fields.tsx'
import { Icon } from '../../ui/icon.tsx'
import { lookupQuery, type Option, type TargetingType } from './queries.ts'
import { useScope } from './scope.tsx'
import { keyOf, type NewCriterion } from './targeting.tsx'
import { criterionName, inOrder, typeName, valueName } from './targeting-words.ts'
import { readable } from './words.ts'

interface SearchProps {
  types: readonly TargetingType[]
  /** Keys of what is there already. */
  known: ReadonlySet<string>
  onAdd: (criterion: NewCriterion) => void
}

const PAUSE_MS = 250
const SHOWN_MAX = 40

export function CriteriaSearch({ types, known, onAdd }: SearchProps) {
  const [name, setName] = useState('INTEREST')
  const [typed, setTyped] = useState('')
  const type = types.find((each) => each.targeting_type === name) ?? types[0]!
  // Content categories come only as whole sets.
  const offered = inOrder(types.map((each) => each.targeting_type)).filter((each) => each !== 'IAB_CATEGORY')
  const optionsOf = (primary: boolean) =>
    offered.filter((each) => types.find((one) => one.targeting_type === each)?.primary === primary)
  return (
    <section className="card" aria-label="Add targeting">
      <header>
        <h2>Add targeting</h2>
      </header>
      <div className="body stack">
        <div className="row wrap criteria-find">
          <span className="inline">
            <select
              aria-label="What to look for"
              className="select"
              value={type.targeting_type}
              onChange={({ target }) => {
                setName(target.value)
                setTyped('')
              }}
            >
              <optgroup label="Who is reached">
                {optionsOf(true).map((each) => (
                  <option key={each} value={each}>
                    {typeName(each)}
                  </option>
                ))}
              </optgroup>
              <optgroup label="Narrow it to">
                {optionsOf(false).map((each) => (
                  <option key={each} value={each}>
                    {typeName(each)}
                  </option>
                ))}
              </optgroup>
            </select>
          </span>
          {type.expects ? (
            <Typed key={type.targeting_type} type={type} onAdd={onAdd} />
          ) : (
            <SearchBox
              label={`Search: ${typeName(type.targeting_type)}`}
              value={typed}
              onChange={({ target }) => setTyped(target.value)}
            />
          )}
        </div>
        {type.expects ? null : (
          <Found key={type.targeting_type} type={type} typed={typed.trim()} known={known} onAdd={onAdd} />
        )}
      </div>
    </section>
  )
}

/** For what no lookup knows: keywords, users, audiences. */
function Typed({ type, onAdd }: { type: TargetingType; onAdd: SearchProps['onAdd'] }) {
  const [value, setValue] = useState('')
  const [operator, setOperator] = useState(type.operator_types[0]!)
  const add = (event: FormEvent) => {
    event.preventDefault()
    const targeting_value = value.trim()
    if (targeting_value === '') return
    onAdd({ targeting_type: type.targeting_type, targeting_value, operator_type: operator, name: targeting_value })
    setValue('')
  }
  return (
    <form className="row wrap grow inline" onSubmit={add}>
      {type.operator_types.length > 1 ? (
        <Select
          label="How"
          value={operator}
          onChange={({ target }) => setOperator(target.value)}
          choices={type.operator_types.map((each) => [each, OPERATOR_NAMES[each] ?? each])}
        />
      ) : null}
      <input
        className="input grow"
        aria-label={typeName(type.targeting_type)}
        placeholder={`Type ${type.expects}`}
        value={value}
        onChange={({ target }) => setValue(target.value)}
      />
      <Button type="submit" icon="plus">
        Add
      </Button>
    </form>
  )
}
const OPERATOR_NAMES: Record<string, string> = { EQ: 'Include', NE: 'Exclude', GTE: 'At least', LT: 'Less than' }

function useSettled(value: string) {
  const [settled, setSettled] = useState(value)
  useEffect(() => {
    const timer = setTimeout(() => setSettled(value), PAUSE_MS)
    return () => clearTimeout(timer)
  }, [value])
  return settled
}

interface FoundProps extends Omit<SearchProps, 'types'> {
  type: TargetingType
  typed: string
}

function Found({ type, typed, known, onAdd }: FoundProps) {
  const { listener } = useScope()
  const q = useSettled(typed)
  const [locale, setLocale] = useState('en-US')
  const tv = type.lookup?.endsWith('/tv_shows') ?? false
  const markets = useQuery({
    ...lookupQuery(listener, '/targeting_criteria/tv_markets', {}),
    enabled: tv
  })
  // Devices have more rows than a page; names are looked for by the server where it can.
  const found = useQuery({
    ...lookupQuery(listener, type.lookup ?? '', { q, locale: tv ? locale : undefined, count: tv ? 50 : SHOWN_MAX }),
    enabled: type.lookup !== null,
    placeholderData: keepPreviousData
  })
  const options: Option[] = type.lookup
    ? (found.data ?? [])
    : type.values.map((value) => ({ name: valueName(type.targeting_type, value), targeting_value: value }))
  const fitting = options.filter(({ name }) => name.toLowerCase().includes(typed.toLowerCase())).slice(0, SHOWN_MAX)
  return (
    <div className="stack tight">
      {tv ? (
        <Select
          label="Market"
          value={locale}
          onChange={({ target }) => setLocale(target.value)}
          choices={((markets.data ?? []) as unknown as { locale: string; name: string }[]).map((each) => [
            each.locale,
            `${each.name} (${each.locale})`
          ])}
        />
      ) : null}
      {found.error ? <Problem error={found.error} retry={() => void found.refetch()} /> : null}
      {type.lookup && found.isPending && !found.error ? <Skeleton lines={4} /> : null}
      {/* biome-ignore lint/a11y/noNoninteractiveTabindex: what scrolls must be reachable by keyboard */}
      <ul className="options" aria-label={typeName(type.targeting_type)} tabIndex={0}>
        {fitting.map((option) => (
          <OptionRow key={`${option.targeting_value}`} type={type} option={option} known={known} onAdd={onAdd} />
        ))}
        {fitting.length === 0 && !found.isFetching ? (
          <li className="muted">Nothing is called like “{typed}”. Try fewer letters.</li>
        ) : null}
      </ul>
    </div>
  )
}

function OptionRow({ type, option, known, onAdd }: Omit<FoundProps, 'typed'> & { option: Option }) {
  const { targeting_type } = type
  const place = targeting_type === 'LOCATION' && option.location_type !== 'COUNTRIES'
  const name = place ? `${option.name}, ${option.country_code}` : option.name
  const criterion = (operator_type: string): NewCriterion => ({
    targeting_type,
    targeting_value: String(option.targeting_value),
    operator_type,
    name
  })
  const label = criterionName(criterion('EQ'))
  const detail = [
    option.location_type && readable(option.location_type).replace(/ies$/, 'y').replace(/s$/, ''),
    option.os_type,
    option.number,
    option.genre,
    option.conversation_type && readable(option.conversation_type)
  ]
    .filter(Boolean)
    .join(' · ')
  const state = (['EQ', 'NE'] as const).find((operator) => known.has(keyOf(criterion(operator))))
  return (
    <li>
      <span className="grow ellipsis" title={label}>
        {label} {detail ? <span className="muted small">{detail}</span> : null}
      </span>
      {state ? (
        <span className="row small good">
          <Icon name="check" size={14} />
          {state === 'EQ' ? 'included' : 'excluded'}
        </span>
      ) : (
        type.operator_types.map((operator) => (
          <Button
            key={operator}
            size="small"
            variant={operator === 'NE' ? 'ghost' : 'secondary'}
            icon={operator === 'NE' ? undefined : 'plus'}
            aria-label={`${operator === 'NE' ? 'Exclude' : 'Add'} ${label}`}
            onClick={() => onAdd(criterion(operator))}
          >
            {operator === 'NE' ? 'Exclude' : 'Add'}
          </Button>
        ))
      )}
    </li>
  )
}
