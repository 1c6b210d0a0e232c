/**
 * Batches: many operations of one kind in order, all or nothing. What is wrong with the request as a whole is in `errors`,
 * what is wrong with single items in `operation_errors`, index-aligned. See decisions/0058.
 */
import type { TSchema } from 'typebox'
import { ApiError, type ErrorItem } from '../errors.ts'
import type { AdsScope } from '../http/ads.ts'
import { type Fields, id, json, type Parsed, readInput, required } from '../http/ads-input.ts'
import { type Write, writeRoute } from './writes.ts'

export const BATCH_MAX = 40

/** One operation whose parameters could be read. */
export interface Operation<I = Record<string, unknown>> {
  operation_type: string
  input: I
}

/** Index-aligned with the operations; a hole in `rows` has its reason in `errors`. */
export interface Outcome<Row = { id: string }> {
  rows: (Row | undefined)[]
  errors: ErrorItem[][]
}

export interface BatchRoute<Row extends { id: string }> {
  path: string
  summary: string
  max?: number
  output: TSchema
  data_type?: string
  operation: string
  extension?: boolean
  /** Parameters by operation_type. */
  inputs: Record<string, Fields>
  /** Does everything; undefined stands for an item whose parameters could not be read. */
  run(write: Write, operations: (Operation | undefined)[]): Promise<Outcome<Row>>
  /** Rows as they are sent, after everything was done. */
  answer(write: Write, rows: Row[]): Promise<unknown[]>
}

type Apply<Row> = (write: Write, input: never) => Promise<Row>

/** One after the other, each on what the earlier ones left. */
export const inOrder =
  <Row extends { id: string }>(apply: Record<string, Apply<Row>>): BatchRoute<Row>['run'] =>
  async (write, operations) => {
    const outcome: Outcome<Row> = { rows: [], errors: [] }
    for (const [index, operation] of operations.entries()) {
      outcome.errors[index] = []
      if (!operation) continue
      try {
        const input = withEarlierIds(operation.input, index, outcome.rows)
        outcome.rows[index] = await apply[operation.operation_type]!(write, input as never)
      } catch (error) {
        // Everything is undone in the end; until then the other items are told their own problems.
        if (!(error instanceof ApiError)) throw error
        outcome.errors[index] = error.items
      }
    }
    return outcome
  }

/** `#0` stands for what the first item of the same batch creates. */
const EARLIER = /^#(\d{1,3})$/

/** Names an entity, or an earlier item of the batch. */
export const batchId = () => {
  const plain = id()
  return required({
    ...plain,
    read: (raw: unknown, name: string) =>
      typeof raw === 'string' && EARLIER.test(raw) ? raw : (plain.read(raw, name) as string)
  })
}

function withEarlierIds(input: Record<string, unknown>, index: number, rows: ({ id: string } | undefined)[]) {
  const resolved = { ...input }
  for (const [name, value] of Object.entries(input)) {
    const position = name.endsWith('_id') && typeof value === 'string' ? EARLIER.exec(value)?.[1] : undefined
    if (position === undefined) continue
    const row = Number(position) < index ? rows[Number(position)] : undefined
    if (!row) {
      const message = `${value} is not an earlier item of this batch that succeeded, for ${name}`
      throw new ApiError(400, [{ code: 'INVALID_PARAMETER', message, parameter: name }])
    }
    resolved[name] = row.id
  }
  return resolved
}

interface Item {
  operation_type: string
  params: unknown
  parsed: Parsed
}

const isObject = (value: unknown): value is Record<string, unknown> =>
  typeof value === 'object' && value !== null && !Array.isArray(value)

export function batchRoute<Row extends { id: string }>(scope: AdsScope, route: BatchRoute<Row>) {
  const { inputs, max = BATCH_MAX } = route

  const read = (body: unknown[]): Item[] =>
    body.map((given) => {
      const { operation_type, params } = isObject(given) ? given : {}
      const type = String(operation_type ?? '').slice(0, 100)
      const fields = Object.hasOwn(inputs, type) ? inputs[type]! : {}
      return { operation_type: type, params, parsed: readInput(fields, isObject(params) ? params : {}) }
    })

  const echo = (items: Item[], account_id: string) =>
    items.map(({ operation_type, parsed }) => ({ params: { ...parsed.params, account_id }, operation_type }))

  writeRoute(scope, {
    method: 'POST',
    path: route.path,
    summary: route.summary,
    input: { body: json(batchSchema(inputs, max), (raw) => raw) },
    output: route.output,
    many: 'without_cursor',
    batch: true,
    operation: route.operation,
    ...(route.data_type ? { data_type: route.data_type } : {}),
    ...(route.extension ? { extension: true } : {}),
    echo: (params, { account_id }) =>
      Array.isArray(params.body) && params.body.length <= max ? echo(read(params.body), account_id!) : [],
    handler: async (write) => {
      const items = read(checkedBody(write.input.body, max))
      const request = echo(items, write.account.id)
      const problems = items.flatMap((item, index) => itemProblems(item, index, Object.keys(inputs)))
      if (problems.length > 0) throw new ApiError(400, problems, { request })
      const readable = items.map(({ operation_type, parsed }) =>
        parsed.errors.length > 0 ? undefined : { operation_type, input: parsed.input }
      )
      const { rows, errors } = await route.run(write, readable)
      const operation_errors = items.map(({ parsed }, index) => [...parsed.errors, ...(errors[index] ?? [])])
      if (operation_errors.some((each) => each.length > 0)) {
        throw new ApiError(400, operation_errors.flat(), { operation_errors, request })
      }
      return { rows: await route.answer(write, rows as Row[]) }
    }
  })
}

/** What is wrong with the request as a whole. */
function checkedBody(body: unknown, max: number): unknown[] {
  if (!Array.isArray(body) || body.length === 0) {
    const message = 'Send a JSON array of {"operation_type", "params"} as application/json'
    throw new ApiError(400, [{ code: 'INVALID_PARAMETER', message, parameter: 'body' }], { request: [] })
  }
  if (body.length > max) {
    const message = `A batch has at most ${max} items, got ${body.length}`
    throw new ApiError(400, [{ code: 'REQUEST_TOO_COMPLEX', message }], { request: [] })
  }
  return body
}

function itemProblems({ operation_type, params }: Item, index: number, types: string[]): ErrorItem[] {
  const refuse = (parameter: string, message: string) => [{ code: 'INVALID_PARAMETER', message, parameter }]
  if (!types.includes(operation_type)) {
    const wanted = `Expected a value in {${types.join(', ')}}`
    return refuse('operation_type', `${wanted}, got "${operation_type}" for operation_type of item ${index}`)
  }
  return isObject(params) ? [] : refuse('params', `Expected an object for params of item ${index}`)
}

/** For the published description. */
const batchSchema = (inputs: Record<string, Fields>, max: number) => ({
  type: 'array',
  minItems: 1,
  maxItems: max,
  items: {
    type: 'object',
    required: ['operation_type', 'params'],
    properties: {
      operation_type: { type: 'string', enum: Object.keys(inputs) },
      params: {
        type: 'object',
        properties: Object.fromEntries(
          Object.values(inputs).flatMap((fields) => Object.entries(fields).map(([name, { schema }]) => [name, schema]))
        )
      }
    }
  }
})
