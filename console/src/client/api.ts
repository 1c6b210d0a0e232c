/** The one way to the server: the public API and /admin, as the person who signed in. */

export interface Fault {
  message: string
  code?: string
  parameter?: string
  attribute?: string
  parameters?: Record<string, string[]>
  details?: string
}

/** What the server said about a request it refused, in its words. */
export class ApiProblem extends Error {
  readonly status: number
  readonly faults: Fault[]
  readonly requestId: string | null
  /** Of a batch: the faults of each operation, in their order. */
  readonly operations: Fault[][]

  constructor(status: number, message: string, faults: Fault[], requestId: string | null, operations: Fault[][] = []) {
    super(message)
    this.name = 'ApiProblem'
    this.status = status
    this.faults = faults
    this.requestId = requestId
    this.operations = operations
  }
}

export type Method = 'GET' | 'POST' | 'PUT' | 'DELETE'
export type Query = Record<string, string | number | boolean | readonly string[] | undefined | null>

export interface ApiOptions {
  query?: Query | undefined
  body?: unknown
  /** The app to act as, for calls that only apps may make. */
  app?: string | undefined
  signal?: AbortSignal | undefined
}

export function withQuery(path: string, query: Query | undefined) {
  const search = new URLSearchParams()
  for (const [name, value] of Object.entries(query ?? {})) {
    if (value === undefined || value === null || value === '') continue
    search.set(name, Array.isArray(value) ? value.join(',') : String(value))
  }
  const text = search.toString()
  return text === '' ? path : `${path}?${text}`
}

const OFFLINE = 'The server does not answer. It may be restarting; this page tries again by itself.'

/** The whole answer; `ask` gives its `data`. */
export async function request<T>(method: Method, path: string, options: ApiOptions = {}): Promise<T> {
  const { query, body, app, signal } = options
  const response = await fetch(withQuery(path, query), {
    method,
    headers: {
      'x-herald-console': '1',
      accept: 'application/json',
      ...(app === undefined ? {} : { 'x-herald-app': app }),
      ...(body === undefined ? {} : { 'content-type': 'application/json' })
    },
    credentials: 'same-origin',
    ...(body === undefined ? {} : { body: JSON.stringify(body) }),
    ...(signal ? { signal } : {})
  }).catch((error: unknown) => {
    if (signal?.aborted) throw error
    throw new ApiProblem(0, OFFLINE, [], null)
  })
  const answer = await readAnswer(response)
  if (!response.ok) throw problemOf(response, answer)
  return answer as T
}

export const ask = async <T>(method: Method, path: string, options?: ApiOptions): Promise<T> =>
  (await request<{ data: T }>(method, path, options)).data

async function readAnswer(response: Response): Promise<unknown> {
  const text = await response.text()
  try {
    return text === '' ? undefined : JSON.parse(text)
  } catch {
    return undefined
  }
}

/** Problem objects of /2 and /admin, and the error lists of /12. */
function problemOf(response: Response, answer: unknown): ApiProblem {
  const { detail, title, errors, operation_errors } = (answer ?? {}) as {
    detail?: string
    title?: string
    errors?: Fault[]
    operation_errors?: Fault[][]
  }
  const faults = errors ?? operation_errors?.flat() ?? []
  const fallback =
    response.status === 429
      ? 'Too many requests; wait a moment.'
      : response.status >= 500
        ? 'Something is broken on the server.'
        : `The server answered ${response.status}.`
  const generic = 'One or more parameters to your request was invalid.'
  const first = faults[0]?.message
  const message = (detail === generic || detail === undefined ? (first ?? detail ?? title) : detail) ?? fallback
  return new ApiProblem(response.status, message, faults, response.headers.get('x-request-id'), operation_errors)
}

/** One sentence for a person, whatever went wrong. */
export const sentence = (error: unknown) => (error instanceof Error ? error.message : String(error))
