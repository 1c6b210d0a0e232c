/** Validation under /2: what a schema refuses, in the sentences that clients of this API know. */
import { type TSchema, Type } from 'typebox'
import { Compile } from 'typebox/compile'
import { invalidRequest } from './problems.ts'

interface Refusal {
  message: string
  parameters?: Record<string, string[]>
}
interface PropertySchema {
  type?: string
  pattern?: string
  enum?: unknown[]
  const?: unknown
  anyOf?: PropertySchema[]
  items?: PropertySchema
  minimum?: number
  maximum?: number
  minItems?: number
  maxItems?: number
  uniqueItems?: boolean
}
type Checked = { value: unknown } | { error: Error }

const show = (value: unknown) =>
  (typeof value === 'string'
    ? value
    : (JSON.stringify(value, (_k, v) => (typeof v === 'bigint' ? v.toString() : v)) ?? '')
  ).slice(0, 200)

/** Fastify calls the compiled function with each part of a request. */
export function compileValidator(httpPart: string | undefined, schema: TSchema): (value: unknown) => Checked {
  if (httpPart === 'querystring' || httpPart === 'params') return parameterValidator(httpPart, schema)
  // Compiled when first needed, as serializers are.
  let check: ReturnType<typeof Compile> | undefined
  return (value) => {
    check ??= Compile(schema)
    if (check.Check(value)) return { value }
    return { error: invalidRequest(...bodyRefusals(check.Errors(value), value)) }
  }
}

const typeName = (value: unknown) => {
  if (value === null) return 'null'
  if (Array.isArray(value)) return 'array'
  if (typeof value === 'bigint') return 'integer'
  if (typeof value === 'number') return Number.isInteger(value) ? 'integer' : 'number'
  return typeof value
}

function at(value: unknown, pointer: string): unknown {
  let here = value
  for (const part of pointer.split('/').slice(1))
    here = (here as Record<string, unknown> | undefined)?.[part.replaceAll('~1', '/').replaceAll('~0', '~')]
  return here
}

interface SchemaError {
  keyword: string
  instancePath: string
  params: object
  message: string
}

/** `$.filter.user_id: …`, one line per fault. `root` is where the body itself lies, if not at the top. */
export function bodyRefusals(errors: SchemaError[], body: unknown, root = '$'): Refusal[] {
  if (body === undefined || body === null) return [{ message: `${root}: is missing but it is required` }]
  const seen = new Map<string, Refusal>()
  const add = (path: string, message: string, parameters?: Refusal['parameters']) => {
    if (!seen.has(path))
      seen.set(path, { message: `${root}${path}: ${message}`, ...(parameters ? { parameters } : {}) })
  }
  for (const { keyword, instancePath, params, message } of errors) {
    const path = instancePath.replace(/\/(\d+)(?=\/|$)/g, '[$1]').replaceAll('/', '.')
    const value = at(body, instancePath)
    const given = instancePath ? { [instancePath.split('/').at(-1)!]: [show(value)] } : undefined
    const p = params as Record<string, unknown>
    if (keyword === 'required') {
      for (const name of p.requiredProperties as string[]) add(`${path}.${name}`, 'is missing but it is required')
    } else if (keyword === 'additionalProperties') {
      for (const name of p.additionalProperties as string[]) add(`${path}.${name}`, 'is not a known property here')
    } else if (keyword === 'type')
      add(path, `${typeName(value)} found, ${[p.type].flat().join(' or ')} expected`, given)
    else if (keyword === 'enum' && Array.isArray(p.allowedValues))
      add(path, `[${show(value)}] is not one of [${p.allowedValues.join(',')}]`, given)
    else if (keyword === 'enum' || keyword === 'const' || keyword === 'anyOf')
      add(path, `[${show(value)}] is not an accepted value`, given)
    else if (keyword === 'pattern')
      add(path, `does not match ${p.pattern instanceof RegExp ? p.pattern.source : p.pattern}`, given)
    else if (keyword === 'maxLength') add(path, `may only be ${p.limit} characters long`, given)
    else if (keyword === 'minLength') add(path, `must be at least ${p.limit} characters long`, given)
    else if (keyword !== 'boolean' && keyword !== '~guard') add(path, message, given)
  }
  return seen.size > 0 ? [...seen.values()] : [{ message: `${root}: is not valid` }]
}

/** Query and path parameters are text; the schema says what they stand for. */
function parameterValidator(httpPart: 'querystring' | 'params', schema: TSchema): (value: unknown) => Checked {
  const { properties = {}, required = [] } = schema as unknown as {
    properties?: Record<string, PropertySchema>
    required?: string[]
  }
  const names = Object.keys(properties)
  return (input) => {
    const refusals: Refusal[] = []
    const value: Record<string, unknown> = {}
    for (const [name, raw] of Object.entries((input ?? {}) as Record<string, string | string[]>)) {
      const property = properties[name]
      if (!property) {
        if (httpPart === 'querystring') {
          refusals.push({
            message: `The query parameter [${name.slice(0, 80)}] is not one of [${names.join(',')}]`,
            parameters: { [name.slice(0, 80)]: [raw].flat().map(show) }
          })
        }
      } else if (Array.isArray(raw) && property.type !== 'array') {
        refusals.push({
          message: `Duplicate parameters are not allowed: the \`${name}\` query parameter`,
          parameters: { [name]: raw.map(show) }
        })
      } else {
        const problem = read(name, property, [raw].flat().join(','), value)
        if (problem) refusals.push({ message: problem, parameters: { [name]: [raw].flat().map(show) } })
      }
    }
    for (const name of required) {
      if (!(name in ((input ?? {}) as object))) {
        refusals.push({ message: `The \`${name}\` query parameter can not be empty`, parameters: { [name]: [] } })
      }
    }
    return refusals.length > 0 ? { error: invalidRequest(...refusals) } : { value }
  }
}

const choices = (property: PropertySchema): string[] | undefined =>
  property.enum?.map(String) ?? property.anyOf?.map((one) => String(one.const)).filter((one) => one !== 'undefined')

function read(name: string, property: PropertySchema, raw: string, into: Record<string, unknown>): string | undefined {
  const value = `The \`${name}\` query parameter value [${show(raw)}]`
  if (raw === '') return `The \`${name}\` query parameter can not be empty`
  if (property.type === 'array') {
    const items = raw.split(',')
    const allowed = property.items && choices(property.items)
    const strange = allowed && items.find((item) => !allowed.includes(item))
    if (strange !== undefined)
      return `The \`${name}\` query parameter value [${show(strange)}] is not one of [${allowed!.join(',')}]`
    const pattern = property.items?.pattern
    const bad = pattern && items.find((item) => !new RegExp(pattern).test(item))
    if (bad !== undefined && bad !== '' && bad)
      return `The \`${name}\` query parameter value [${show(bad)}] is not valid`
    if (items.includes('')) return `The \`${name}\` query parameter can not hold empty values`
    if (property.uniqueItems && new Set(items).size !== items.length) return `${value} holds a value twice`
    if (items.length > (property.maxItems ?? 1_000))
      return `The \`${name}\` query parameter holds more than ${property.maxItems ?? 1_000} values`
    into[name] = items
    return undefined
  }
  if (property.type === 'integer') {
    const number = Number(raw)
    if (!/^-?\d{1,15}$/.test(raw)) return `${value} is not valid`
    if (number < (property.minimum ?? -Infinity) || number > (property.maximum ?? Infinity)) {
      return `${value} is not between ${property.minimum} and ${property.maximum}`
    }
    into[name] = number
    return undefined
  }
  if (property.type === 'boolean') {
    if (!/^(true|false)$/i.test(raw)) return `${value} is not one of [true,false]`
    into[name] = raw.toLowerCase() === 'true'
    return undefined
  }
  const allowed = choices(property)
  if (allowed && !allowed.includes(raw)) return `${value} is not one of [${allowed.join(',')}]`
  const { minLength = 0, maxLength } = property as { minLength?: number; maxLength?: number }
  if (raw.length < minLength || raw.length > (maxLength ?? 100_000))
    return maxLength === undefined
      ? `${value} is not valid`
      : `${value} is not between ${minLength} and ${maxLength} characters long`
  if (property.pattern && !new RegExp(property.pattern).test(raw)) return `${value} is not valid`
  into[name] = raw
  return undefined
}

/** `x.fields=a,b`: the fields to return. */
export const Fields = <const N extends string>(names: readonly N[]) =>
  Type.Unsafe<N[]>({
    type: 'array',
    items: { type: 'string', enum: [...names] },
    minItems: 1,
    uniqueItems: true,
    description: `Fields to return, a comma list of ${names.join(', ')}.`
  })
