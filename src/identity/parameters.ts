/** Inputs of the OAuth endpoints: query, form or JSON, Basic credentials, cookies. */
import type { FastifyRequest } from 'fastify'

/** One value per name. What was sent twice is in `repeated` and not in `values`: nobody can say which one was meant. */
export interface Parameters {
  get(name: string): string | undefined
  repeated: string[]
}

function collect(pairs: Iterable<readonly [string, string]>): Parameters {
  const values = new Map<string, string>()
  const repeated = new Set<string>()
  for (const [name, value] of pairs) {
    // No database stores a null character, so nothing that has one can be found.
    if (value.includes('\0')) continue
    if (values.has(name)) repeated.add(name)
    values.set(name, value)
  }
  return {
    get: (name) => (repeated.has(name) ? undefined : values.get(name) || undefined),
    repeated: [...repeated]
  }
}

const mediaType = (req: FastifyRequest) => req.headers['content-type']?.split(';', 1)[0]?.trim().toLowerCase()

export const queryParameters = (req: FastifyRequest) => collect(new URLSearchParams(rawQuery(req)))

export const rawQuery = (req: FastifyRequest) => {
  const url = req.raw.url ?? ''
  const mark = url.indexOf('?')
  return mark < 0 ? '' : url.slice(mark + 1)
}

/** The body as parameters: a form, or a JSON object whose values are strings or numbers. */
export function bodyParameters(req: FastifyRequest): Parameters {
  const body = req.body as Buffer | undefined
  if (!body || body.length === 0) return collect([])
  if (mediaType(req) !== 'application/json') return collect(new URLSearchParams(body.toString('utf8')))
  try {
    const object: unknown = JSON.parse(body.toString('utf8'))
    if (object === null || typeof object !== 'object') return collect([])
    return collect(
      Object.entries(object)
        .filter(([, value]) => typeof value === 'string' || typeof value === 'number')
        .map(([name, value]) => [name, String(value)] as const)
    )
  } catch {
    return collect([])
  }
}

/** Name and secret of a Basic header, each percent-decoded (RFC 6749, 2.3.1). */
export function basicCredentials(authorization: string | undefined): { name: string; secret: string } | undefined {
  const encoded = /^Basic +([A-Za-z0-9+/_-]+=*) *$/i.exec(authorization ?? '')?.[1]
  if (!encoded) return undefined
  const text = Buffer.from(encoded, 'base64').toString('utf8')
  const colon = text.indexOf(':')
  if (colon < 1 || text.includes('\0')) return undefined
  try {
    const [name, secret] = [text.slice(0, colon), text.slice(colon + 1)].map((part) =>
      decodeURIComponent(part.replaceAll('+', '%20'))
    )
    return name?.includes('\0') ? undefined : { name: name!, secret: secret! }
  } catch {
    return undefined
  }
}

export function cookie(req: FastifyRequest, name: string): string | undefined {
  for (const part of (req.headers.cookie ?? '').split(';')) {
    const equals = part.indexOf('=')
    if (equals > 0 && part.slice(0, equals).trim() === name) return part.slice(equals + 1).trim() || undefined
  }
  return undefined
}
