/** The problem types of /2, one line each: slug, title, status. */
import { ApiError, type ErrorItem } from '../errors.ts'

export const PROBLEMS = {
  'client-disconnected': ['Client Disconnected', 400],
  'client-forbidden': ['Client Forbidden', 403],
  conflict: ['Conflict', 409],
  'disallowed-resource': ['Disallowed Resource Error', 400],
  'duplicate-rules': ['DuplicateRule', 400],
  'invalid-request': ['Invalid Request', 400],
  'invalid-rules': ['UnprocessableEntity', 422],
  'noncompliant-rules': ['NonCompliantRules', 422],
  'not-authorized-for-field': ['Field Authorization Error', 403],
  'not-authorized-for-resource': ['Authorization Error', 403],
  'operational-disconnect': ['operational-disconnect', 503],
  'resource-not-found': ['Not Found Error', 404],
  'resource-unavailable': ['Resource Unavailable Error', 404],
  'rule-cap': ['RulesCapExceeded', 422],
  'streaming-connection': ['ConnectionException', 429],
  'unsupported-authentication': ['Unsupported Authentication', 403],
  'usage-capped': ['UsageCapExceeded', 429]
} as const satisfies Record<string, readonly [title: string, status: number]>

export type Slug = keyof typeof PROBLEMS

/** Statuses that have no slug of their own: the generic problem, titled by the HTTP reason. */
const REASONS: Record<number, string> = {
  400: 'Bad Request',
  401: 'Unauthorized',
  403: 'Forbidden',
  404: 'Not Found',
  405: 'Method Not Allowed',
  408: 'Request Timeout',
  413: 'Payload Too Large',
  414: 'URI Too Long',
  415: 'Unsupported Media Type',
  429: 'Too Many Requests',
  500: 'Internal Server Error',
  503: 'Service Unavailable'
}

export interface Problem {
  type: string
  title: string
  detail?: string
  status?: number
  [extra: string]: unknown
}

export const genericProblem = (status: number, detail: string): Problem => ({
  title: REASONS[status] ?? 'Error',
  type: 'about:blank',
  status,
  detail
})

/** A problem object on its own: in `errors` of a partial answer, or as the line that ends a stream. */
export function problem(typeBase: string, slug: Slug, detail?: string, extra: Record<string, unknown> = {}): Problem {
  return {
    ...extra,
    title: PROBLEMS[slug][0],
    type: `${typeBase}/${slug}`,
    ...(detail === undefined ? {} : { detail })
  }
}

/** Throw this to answer with a problem of document 1. `extra` holds the fields that the slug asks for. */
export function problemError(
  slug: Slug,
  detail: string,
  extra: Record<string, unknown> = {},
  status: number = PROBLEMS[slug][1]
) {
  return new ApiError(status, [{ code: slug, message: detail }], { slug, fields: extra })
}

const DETAIL = 'One or more parameters to your request was invalid.'

/** `invalid-request`: each item says what is wrong; `parameters` maps a name to the raw values that were refused. */
export function invalidRequest(...errors: { message: string; parameters?: Record<string, string[]> }[]) {
  return problemError('invalid-request', DETAIL, { errors })
}

/** `Reason: details`, the form of the webhook, subscription and replay endpoints. Extra keys (an existing id) may ride along. */
export const invalidBecause = (reason: string, details: string, more: Record<string, unknown> = {}) =>
  problemError('invalid-request', DETAIL, { errors: [{ message: `${reason}: ${details}`, ...more }] })

export const unsupportedAuthentication = (used: string, accepted: readonly string[]) =>
  problemError(
    'unsupported-authentication',
    `Authenticating with ${used} is forbidden for this endpoint.  Supported authentication types are [${accepted.join(', ')}].`
  )

/** The app is known, but is in no project or was not enrolled for what it asks. `registrationUrl` is where that is changed. */
export const clientForbidden = (appId: string, detail: string, registrationUrl: string) =>
  problemError('client-forbidden', detail, {
    client_id: appId,
    reason: 'client-not-enrolled',
    required_enrollment: 'Appropriate Level of API Access',
    registration_url: registrationUrl
  })

export const resourceNotFound = (resource_type: string, parameter: string, value: string) =>
  problemError('resource-not-found', `Could not find ${resource_type} with ${parameter}: [${value}].`, {
    parameter,
    value,
    resource_id: value,
    resource_type
  })

/** How any ApiError looks under /2. */
export function toProblem(error: ApiError, typeBase: string): Problem {
  const { slug, fields } = error.extra as { slug?: Slug; fields?: Record<string, unknown> }
  if (slug) return { ...problem(typeBase, slug, error.message, fields), status: error.status }
  if (error.status === 400) {
    const errors = error.items.map((item: ErrorItem) => ({
      message: item.message,
      ...(item.parameter ? { parameters: { [item.parameter]: [item.value ?? ''] } } : {})
    }))
    return { ...problem(typeBase, 'invalid-request', DETAIL, { errors }), status: 400 }
  }
  return genericProblem(error.status, error.message)
}
