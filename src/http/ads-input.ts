/**
 * Inputs of /12. A parameter is text from the query string or a form, or a value from a JSON body; a Field turns it into what
 * it stands for or says what is wrong, in the words clients of this API know. All problems of a request are reported together.
 */
import type { ErrorItem } from '../errors.ts'
import { exactNumber } from './json.ts'

/** What a field throws; the name of the parameter is added by the reader. */
export class Refused extends Error {
  readonly item: Partial<ErrorItem>
  constructor(message: string, item: Partial<ErrorItem> = {}) {
    super(message)
    this.item = item
  }
}

export interface Field<T, Required extends boolean = boolean, Clearable extends boolean = boolean> {
  required: Required
  /** An empty string (or JSON null) un-sets the value. */
  clearable: Clearable
  /** An empty string is a mistake, not an absent value. */
  refuseEmpty?: boolean
  list: boolean
  /** For the OpenAPI description. */
  schema: Record<string, unknown>
  read(raw: unknown, name: string): T
  /** How the value looks in `request.params`. */
  echo(value: T): unknown
}

export type Fields = Record<string, Field<unknown>>
type ValueOf<F> = F extends Field<infer T, boolean, infer C> ? (C extends true ? T | null : T) : never
export type InputOf<F> = { [K in keyof F as F[K] extends { required: true } ? K : never]: ValueOf<F[K]> } & {
  [K in keyof F as F[K] extends { required: true } ? never : K]?: ValueOf<F[K]>
}

type Optional<T> = Field<T, false, false>

const field = <T>(
  schema: Record<string, unknown>,
  read: Field<T>['read'],
  echo: (value: T) => unknown = (v) => v,
  list = false
): Optional<T> => ({
  required: false,
  clearable: false,
  list,
  schema,
  read,
  echo
})

export const required = <T, C extends boolean>(of: Field<T, boolean, C>): Field<T, true, C> => ({
  ...of,
  required: true
})
export const clearable = <T>(of: Field<T, false>): Field<T, false, true> => ({ ...of, clearable: true })
/** Says what the parameter is for, in the published description. */
export const about = <T, R extends boolean, C extends boolean>(
  of: Field<T, R, C>,
  description: string
): Field<T, R, C> => ({
  ...of,
  schema: { ...of.schema, description }
})

const shown = (raw: unknown) =>
  (typeof raw === 'string' ? raw : typeof raw === 'bigint' ? raw.toString() : (JSON.stringify(raw) ?? '')).slice(0, 200)
const expected = (what: string, raw: unknown, name: string) =>
  new Refused(`Expected ${what}, got "${shown(raw)}" for ${name}`)

const asText = (raw: unknown, name: string): string => {
  if (typeof raw === 'string') return raw
  if (typeof raw === 'number' || typeof raw === 'bigint' || typeof raw === 'boolean') return String(raw)
  throw expected('a single value', raw, name)
}

/** A character is built of a few code units (a family emoji has 11), never of more than this. */
const UNITS_PER_CHARACTER_MAX = 16

export const text = ({
  min = 1,
  max = 255,
  refuseEmpty = false
}: {
  min?: number
  max?: number
  refuseEmpty?: boolean
} = {}) => ({
  ...field<string>({ type: 'string', minLength: min, maxLength: max }, (raw, name) => {
    const value = asText(raw, name)
    // Characters as a person counts them, but only where it can matter: megabytes would take seconds to count.
    const isNear = value.length > max && value.length <= max * UNITS_PER_CHARACTER_MAX
    const length = isNear ? [...new Intl.Segmenter().segment(value)].length : value.length
    if (length < min || length > max)
      throw new Refused(`Expected a text of ${min} to ${max} characters, got ${length} for ${name}`)
    return value
  }),
  refuseEmpty
})

export const choice = <const V extends string>(values: readonly V[]) =>
  field<V>({ type: 'string', enum: [...values] }, (raw, name) => {
    const value = values.find((v) => v === raw)
    if (value === undefined) throw expected(`a value in {${values.join(', ')}}`, raw, name)
    return value
  })

const LONG_MAX = 2n ** 63n - 1n

/** A 64-bit whole number, exact; echoed as a JSON number. */
export const long = ({ min, max = LONG_MAX }: { min?: bigint; max?: bigint } = {}) =>
  field<bigint>(
    { type: 'integer', format: 'int64', ...(min === undefined ? {} : { minimum: Number(min) }) },
    (raw, name) => {
      const digits = typeof raw === 'string' || typeof raw === 'bigint' || Number.isSafeInteger(raw) ? String(raw) : ''
      if (!/^[+-]?\d{1,19}$/.test(digits)) throw expected('Long', raw, name)
      const value = BigInt(digits.replace(/^\+/, ''))
      if (value > LONG_MAX || value < -LONG_MAX) throw expected('Long', raw, name)
      if (min !== undefined && value < min)
        throw expected(min === 1n ? 'a value above 0' : `a value of at least ${min}`, raw, name)
      if (value > max) throw expected(`a value of at most ${max}`, raw, name)
      return value
    },
    exactNumber
  )

/** A 64-bit id given as a number or text; kept and echoed as a string. */
export const longId = () =>
  ({
    ...long({ min: 0n }),
    read: (raw: unknown, name: string) => long({ min: 0n }).read(raw, name).toString(),
    echo: (v: string) => v,
    schema: { type: 'string', pattern: '^[0-9]{1,19}$' }
  }) as Optional<string>

export const int = ({ min, max }: { min: number; max: number }) =>
  field<number>({ type: 'integer', minimum: min, maximum: max }, (raw, name) => {
    const value =
      typeof raw === 'number' ? raw : typeof raw === 'string' && /^[+-]?\d{1,15}$/.test(raw) ? Number(raw) : Number.NaN
    if (!Number.isInteger(value)) throw expected('Integer', raw, name)
    if (value < min || value > max) throw expected(`a value between ${min} and ${max}`, raw, name)
    return value
  })

export const bool = () =>
  field<boolean>({ type: 'boolean' }, (raw, name) => {
    if (/^(true|1)$/i.test(String(raw))) return true
    if (/^(false|0)$/i.test(String(raw))) return false
    throw expected('Boolean', raw, name)
  })

/** Ids of ads entities: base 36. */
export const id = () =>
  field<string>({ type: 'string', pattern: '^[0-9a-z]{1,13}$' }, (raw, name) => {
    const value = asText(raw, name)
    if (!/^[0-9a-z]{1,13}$/.test(value)) throw expected('an id of lower-case letters and digits', raw, name)
    return value
  })

const TIME = /^(\d{4})-(\d{2})-(\d{2})(?:T(\d{2}):(\d{2})(?::(\d{2})(?:\.(\d{1,9}))?)?(Z|[+-]\d{2}(?::?\d{2})?))?$/

/** Every accepted ISO 8601 form → milliseconds; a date alone is midnight UTC; undefined when it is none. */
export function parseTime(value: string): number | undefined {
  const match = TIME.exec(value)
  if (!match) return undefined
  const [, year, month, day, hour = '00', minute = '00', second = '00', , offset = 'Z'] = match
  const sign = offset.startsWith('-') ? -1 : 1
  const offsetMinutes =
    offset === 'Z' ? 0 : sign * (Number(offset.slice(1, 3)) * 60 + Number(offset.replace(':', '').slice(3, 5) || 0))
  if (Number(hour) > 23 || Number(minute) > 59 || Number(second) > 59 || Math.abs(offsetMinutes) > 18 * 60)
    return undefined
  const date = Date.UTC(Number(year), Number(month) - 1, Number(day))
  // Date.UTC rolls 31 June over to 1 July; a date that does not exist is refused instead.
  if (new Date(date).toISOString().slice(0, 10) !== `${year}-${month}-${day}`) return undefined
  return date + Number(hour) * 3_600_000 + Number(minute) * 60_000 + Number(second) * 1_000 - offsetMinutes * 60_000
}

/** `2017-07-10T16:00:00Z`: how times look under /12. */
export const wireTime = (ms: number) => `${new Date(ms).toISOString().slice(0, 19)}Z`

/** ISO 8601, normalised to UTC without fractions. */
export const time = () =>
  field<string>({ type: 'string', format: 'date-time' }, (raw, name) => {
    // A plus sign that was not encoded arrives as a space.
    const ms = typeof raw === 'string' ? parseTime(raw.replace(/ (\d{2}:?\d{0,2})$/, '+$1')) : undefined
    if (ms === undefined)
      throw new Refused(`Expected time, got "${shown(raw)}" for ${name}`, {
        details: 'invalid date',
        value: shown(raw)
      })
    return wireTime(ms)
  })

/** Comma list, repeated key or JSON array. */
export const list = <T>(of: Field<T>, { min = 1, max = 200 }: { min?: number; max?: number } = {}) =>
  field<T[]>(
    {
      type: 'array',
      items: of.schema,
      minItems: min,
      maxItems: max,
      description: `Comma list, repeated key or JSON array; at most ${max}.`
    },
    (raw, name) => {
      const parts = [raw]
        .flat()
        .flatMap((part: unknown) => (typeof part === 'string' ? part.split(',').map((p) => p.trim()) : [part]))
      const values = parts.filter((part) => part !== '')
      if (values.length < min) throw new Refused(`A minimum of ${min} items must be provided for ${name}`)
      if (values.length > max) throw new Refused(`A maximum of ${max} items may be provided for ${name}`)
      return values.map((value) => of.read(value, name))
    },
    (values) => values.map((value) => of.echo(value)),
    true
  )

/** A JSON value that the domain checks itself. */
export const json = <T>(
  schema: Record<string, unknown>,
  check: (raw: unknown, name: string) => T,
  echo: (value: T) => unknown = (v) => v
) => field<T>(schema, check, echo, true)

export interface Parsed {
  input: Record<string, unknown>
  params: Record<string, unknown>
  errors: ErrorItem[]
}

/** Reads what `fields` names from `raw`; everything else is ignored, so that a client can send back what it loaded. */
export function readInput(fields: Fields, raw: Record<string, unknown>): Parsed {
  const input: Record<string, unknown> = {}
  const params: Record<string, unknown> = {}
  const errors: ErrorItem[] = []
  for (const [name, one] of Object.entries(fields)) {
    const given = raw[name]
    const empty = given === null || (given === '' && !one.refuseEmpty)
    if (given === undefined || (empty && !one.clearable && !one.required)) {
      if (one.required)
        errors.push({ code: 'MISSING_PARAMETER', message: `"${name}" is a required parameter`, parameter: name })
      continue
    }
    if (empty && one.clearable) {
      input[name] = null
      params[name] = null
      continue
    }
    if (given === null) {
      errors.push({ code: 'MISSING_PARAMETER', message: `"${name}" is a required parameter`, parameter: name })
      continue
    }
    if (Array.isArray(given) && !one.list) {
      errors.push({ code: 'INVALID_PARAMETER', message: `Expected a single value for ${name}`, parameter: name })
      continue
    }
    try {
      input[name] = one.read(given, name)
      params[name] = one.echo(input[name])
    } catch (error) {
      if (!(error instanceof Refused)) throw error
      errors.push({ code: 'INVALID_PARAMETER', message: error.message, parameter: name, ...error.item })
    }
  }
  return { input, params, errors }
}
