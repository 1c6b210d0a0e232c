/** What domains throw. How an error looks on the wire is decided by the scope that answers: http/v2.ts or http/ads.ts. */
export interface ErrorItem {
  code: string
  message: string
  /** The request parameter at fault (ads: "parameter error"). */
  parameter?: string
  /** The entity field at fault (ads: "model error"). */
  attribute?: string
  details?: string
  value?: string
}

export class ApiError extends Error {
  readonly status: number
  readonly items: ErrorItem[]
  /** Of the first item. */
  code: string
  /** Extra fields of a v2 problem object, or headers' worth of context; never secrets. */
  readonly extra: Record<string, unknown>

  constructor(status: number, items: ErrorItem[], extra: Record<string, unknown> = {}) {
    super(items.map((item) => item.message).join('; '))
    this.name = 'ApiError'
    this.status = status
    this.items = items
    this.extra = extra
    this.code = items[0]?.code ?? 'INTERNAL_ERROR'
  }
}

const error =
  (status: number) =>
  (code: string, message: string, more: Partial<ErrorItem> = {}) =>
    new ApiError(status, [{ code, message, ...more }])

export const badRequest = error(400)
export const unauthorized = error(401)
export const forbidden = error(403)
export const notFound = error(404)
export const conflict = error(409)

/** All problems of one request, reported together; the first one decides the status. */
export const badRequests = (items: ErrorItem[], status = 400) => new ApiError(status, items)
